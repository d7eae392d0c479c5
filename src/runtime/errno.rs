//! The table from an errno to the codes of WASI and of the kernel's package.

use super::bindings::isopod::kernel::types::Errno as Kernel;
use super::bindings::wasi::filesystem::types::ErrorCode as Wasi;
use crate::error::Errno;

macro_rules! errno_table {
    ($($errno:ident => $kernel:ident, $wasi:ident;)*) => {
        impl From<Errno> for Kernel {
            fn from(errno: Errno) -> Kernel {
                match errno { $(Errno::$errno => Kernel::$kernel,)* }
            }
        }
        impl From<Errno> for Wasi {
            fn from(errno: Errno) -> Wasi {
                match errno { $(Errno::$errno => Wasi::$wasi,)* }
            }
        }
    };
}

// Some have no code in WASI: they get the nearest one that a program would report.
errno_table! {
    Access => Access, Access;
    Again => Again, WouldBlock;
    BadDescriptor => BadDescriptor, BadDescriptor;
    Busy => Busy, Busy;
    Child => Child, Invalid;
    CrossDevice => CrossDevice, CrossDevice;
    Quota => Quota, Quota;
    Exist => Exist, Exist;
    FileTooLarge => FileTooLarge, FileTooLarge;
    IllegalSequence => IllegalSequence, IllegalByteSequence;
    Interrupted => Interrupted, Interrupted;
    Invalid => Invalid, Invalid;
    Io => Io, Io;
    IsDirectory => IsDirectory, IsDirectory;
    Loop => Loop, Loop;
    TooManyFiles => TooManyFiles, InsufficientMemory;
    TooManyLinks => TooManyLinks, TooManyLinks;
    NameTooLong => NameTooLong, NameTooLong;
    NoDevice => NoDevice, NoSuchDevice;
    NoEntry => NoEntry, NoEntry;
    NoExec => NoExec, Invalid;
    NoMemory => NoMemory, InsufficientMemory;
    NoSpace => NoSpace, InsufficientSpace;
    NotDirectory => NotDirectory, NotDirectory;
    NotEmpty => NotEmpty, NotEmpty;
    NotPermitted => NotPermitted, NotPermitted;
    NotSupported => NotSupported, Unsupported;
    NoProcess => NoProcess, Invalid;
    Pipe => Pipe, Pipe;
    ReadOnly => ReadOnly, ReadOnly;
    Seek => Seek, InvalidSeek;
    TooBig => TooBig, Overflow;
    TimedOut => TimedOut, WouldBlock;
}
