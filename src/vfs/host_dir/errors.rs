//! Translation of host errors. Only the error number passes: no text and no path of the host.

use std::io;

use rustix::io::Errno as Host;

use crate::error::Errno;

/// Returns the errno of a host error.
pub(super) fn errno(error: impl Into<io::Error>) -> Errno {
    let error = error.into();
    let Some(raw) = error.raw_os_error() else {
        // cap-std creates these itself when a name would lead out of the directory.
        return match error.kind() {
            io::ErrorKind::PermissionDenied => Errno::NotPermitted,
            io::ErrorKind::InvalidInput => Errno::Invalid,
            io::ErrorKind::NotFound => Errno::NoEntry,
            _ => Errno::Io,
        };
    };
    match Host::from_raw_os_error(raw) {
        Host::ACCESS => Errno::Access,
        Host::AGAIN => Errno::Again,
        Host::BADF => Errno::BadDescriptor,
        Host::BUSY | Host::TXTBSY => Errno::Busy,
        Host::DQUOT => Errno::Quota,
        Host::EXIST => Errno::Exist,
        Host::FBIG | Host::OVERFLOW => Errno::FileTooLarge,
        Host::ILSEQ => Errno::IllegalSequence,
        Host::INTR => Errno::Interrupted,
        Host::INVAL => Errno::Invalid,
        Host::ISDIR => Errno::IsDirectory,
        Host::LOOP => Errno::Loop,
        Host::MFILE | Host::NFILE => Errno::TooManyFiles,
        Host::MLINK => Errno::TooManyLinks,
        Host::NAMETOOLONG => Errno::NameTooLong,
        Host::NODEV | Host::NXIO => Errno::NoDevice,
        Host::NOENT => Errno::NoEntry,
        Host::NOMEM => Errno::NoMemory,
        Host::NOSPC => Errno::NoSpace,
        Host::NOTDIR => Errno::NotDirectory,
        Host::NOTEMPTY => Errno::NotEmpty,
        Host::NOTSUP => Errno::NotSupported,
        Host::PERM => Errno::NotPermitted,
        Host::ROFS => Errno::ReadOnly,
        Host::SPIPE => Errno::Seek,
        Host::XDEV => Errno::CrossDevice,
        _ => Errno::Io,
    }
}
