//! Errors of the lower layers: one errno for the VFS and the kernel, as on a Unix.
//!
//! The texts are those of `strerror`. The table from an errno to the codes of WASI and of the kernel package is in
//! `runtime`, next to the calls that use it.

/// The reason why the VFS or the kernel refused an operation, named after the POSIX error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Errno {
    /// EACCES
    #[error("Permission denied")]
    Access,
    /// EAGAIN
    #[error("Resource temporarily unavailable")]
    Again,
    /// EBADF
    #[error("Bad file descriptor")]
    BadDescriptor,
    /// EBUSY
    #[error("Device or resource busy")]
    Busy,
    /// ECHILD
    #[error("No child processes")]
    Child,
    /// EXDEV
    #[error("Invalid cross-device link")]
    CrossDevice,
    /// EDQUOT
    #[error("Disk quota exceeded")]
    Quota,
    /// EEXIST
    #[error("File exists")]
    Exist,
    /// EFBIG
    #[error("File too large")]
    FileTooLarge,
    /// EILSEQ
    #[error("Invalid or incomplete multibyte or wide character")]
    IllegalSequence,
    /// EINTR
    #[error("Interrupted system call")]
    Interrupted,
    /// EINVAL
    #[error("Invalid argument")]
    Invalid,
    /// EIO
    #[error("Input/output error")]
    Io,
    /// EISDIR
    #[error("Is a directory")]
    IsDirectory,
    /// ELOOP
    #[error("Too many levels of symbolic links")]
    Loop,
    /// EMFILE
    #[error("Too many open files")]
    TooManyFiles,
    /// EMLINK
    #[error("Too many links")]
    TooManyLinks,
    /// ENAMETOOLONG
    #[error("File name too long")]
    NameTooLong,
    /// ENXIO
    #[error("No such device or address")]
    NoDevice,
    /// ENOENT
    #[error("No such file or directory")]
    NoEntry,
    /// ENOEXEC
    #[error("Exec format error")]
    NoExec,
    /// ENOMEM
    #[error("Cannot allocate memory")]
    NoMemory,
    /// ENOSPC
    #[error("No space left on device")]
    NoSpace,
    /// ENOTDIR
    #[error("Not a directory")]
    NotDirectory,
    /// ENOTEMPTY
    #[error("Directory not empty")]
    NotEmpty,
    /// EPERM
    #[error("Operation not permitted")]
    NotPermitted,
    /// ENOTSUP
    #[error("Operation not supported")]
    NotSupported,
    /// ESRCH
    #[error("No such process")]
    NoProcess,
    /// EPIPE
    #[error("Broken pipe")]
    Pipe,
    /// EROFS
    #[error("Read-only file system")]
    ReadOnly,
    /// ESPIPE
    #[error("Illegal seek")]
    Seek,
    /// E2BIG
    #[error("Argument list too long")]
    TooBig,
    /// ETIMEDOUT
    #[error("Connection timed out")]
    TimedOut,
}

/// The result of an operation of the VFS or the kernel.
pub type Result<T> = std::result::Result<T, Errno>;
