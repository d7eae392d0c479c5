//! Errors: their texts, as GNU programs print them, and their numbers in libc.

use crate::Errno;

/// Returns the text of an error as `strerror` has it.
pub fn text(errno: Errno) -> &'static str {
    match errno {
        Errno::Access => "Permission denied",
        Errno::Again => "Resource temporarily unavailable",
        Errno::BadDescriptor => "Bad file descriptor",
        Errno::Busy => "Device or resource busy",
        Errno::Child => "No child processes",
        Errno::CrossDevice => "Invalid cross-device link",
        Errno::Quota => "Disk quota exceeded",
        Errno::Exist => "File exists",
        Errno::FileTooLarge => "File too large",
        Errno::IllegalSequence => "Invalid or incomplete multibyte or wide character",
        Errno::Interrupted => "Interrupted system call",
        Errno::Invalid => "Invalid argument",
        Errno::Io => "Input/output error",
        Errno::IsDirectory => "Is a directory",
        Errno::Loop => "Too many levels of symbolic links",
        Errno::TooManyFiles => "Too many open files",
        Errno::TooManyLinks => "Too many links",
        Errno::NameTooLong => "File name too long",
        Errno::NoDevice => "No such device or address",
        Errno::NoEntry => "No such file or directory",
        Errno::NoExec => "Exec format error",
        Errno::NoMemory => "Cannot allocate memory",
        Errno::NoSpace => "No space left on device",
        Errno::NotDirectory => "Not a directory",
        Errno::NotEmpty => "Directory not empty",
        Errno::NotPermitted => "Operation not permitted",
        Errno::NotSupported => "Operation not supported",
        Errno::NoProcess => "No such process",
        Errno::Pipe => "Broken pipe",
        Errno::ReadOnly => "Read-only file system",
        Errno::Seek => "Illegal seek",
        Errno::TooBig => "Argument list too long",
        Errno::TimedOut => "Connection timed out",
    }
}

/// Returns the number of an error in wasi-libc's `errno.h`.
pub fn number(errno: Errno) -> i32 {
    NUMBERS.iter().find(|(known, _)| *known == errno).map_or(29, |(_, number)| *number)
}

/// Returns the error of a number in wasi-libc's `errno.h`, if the kernel has it.
pub fn from_number(number: i32) -> Option<Errno> {
    NUMBERS.iter().find(|(_, known)| *known == number).map(|(errno, _)| *errno)
}

const NUMBERS: [(Errno, i32); 33] = [
    (Errno::Access, 2),
    (Errno::Again, 6),
    (Errno::BadDescriptor, 8),
    (Errno::Busy, 10),
    (Errno::Child, 12),
    (Errno::CrossDevice, 75),
    (Errno::Quota, 19),
    (Errno::Exist, 20),
    (Errno::FileTooLarge, 22),
    (Errno::IllegalSequence, 25),
    (Errno::Interrupted, 27),
    (Errno::Invalid, 28),
    (Errno::Io, 29),
    (Errno::IsDirectory, 31),
    (Errno::Loop, 32),
    (Errno::TooManyFiles, 33),
    (Errno::TooManyLinks, 34),
    (Errno::NameTooLong, 37),
    (Errno::NoDevice, 60),
    (Errno::NoEntry, 44),
    (Errno::NoExec, 45),
    (Errno::NoMemory, 48),
    (Errno::NoSpace, 51),
    (Errno::NotDirectory, 54),
    (Errno::NotEmpty, 55),
    (Errno::NotPermitted, 63),
    (Errno::NotSupported, 58),
    (Errno::NoProcess, 71),
    (Errno::Pipe, 64),
    (Errno::ReadOnly, 69),
    (Errno::Seek, 70),
    (Errno::TooBig, 1),
    (Errno::TimedOut, 73),
];
