//! The one table from the library's errors to Python's exceptions.
//!
//! An error of a file system is an `OSError` with its number, from which Python chooses `FileNotFoundError`,
//! `PermissionError` and so on. All other errors are subclasses of `isopod.Error`, defined in `isopod/errors.py`.

use std::ffi::OsString;
use std::path::PathBuf;

use isopod::backend::BackendError;
use isopod::backend::profile::deerflow;
use isopod::error::Errno;
use isopod::provider::{ConfigError, ProviderError};
use isopod::vfs::{ArchiveError, CommitError};
use isopod::{BuildError, ExecuteError, FileError};
use pyo3::exceptions::{PyOSError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use rustix::io::Errno as Host;

/// An exception that is not yet raised.
pub(crate) enum Raised {
    /// An `OSError`: number, text, path.
    Os(i32, String, Option<OsString>),
    /// A class of `isopod.errors`, and its message.
    Own(&'static str, String),
    /// A class of Python's own, chosen by a profile.
    Builtin(deerflow::Exception),
}

impl Raised {
    pub(crate) fn of(class: &'static str, text: impl Into<String>) -> Raised {
        Raised::Own(class, text.into())
    }

    fn file(path: impl Into<OsString>, errno: Errno) -> Raised {
        Raised::Os(number(errno), errno.to_string(), Some(path.into()))
    }

    pub(crate) fn host(path: Option<PathBuf>, error: &std::io::Error) -> Raised {
        match error.raw_os_error() {
            Some(number) => Raised::Os(number, error.kind().to_string(), path.map(PathBuf::into_os_string)),
            None => Raised::of("Error", error.to_string()),
        }
    }

    /// Makes the exception.
    pub(crate) fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            Raised::Os(number, text, Some(path)) => PyOSError::new_err((number, text, path)),
            Raised::Os(number, text, None) => PyOSError::new_err((number, text)),
            Raised::Own(class, text) => raise(py, "isopod.errors", class, (text,)),
            Raised::Builtin(exception) => builtin(py, exception),
        }
    }
}

/// Makes an exception of a class of `isopod.errors`.
pub(crate) fn error(class: &'static str, text: impl Into<String>) -> PyErr {
    let text = text.into();
    Python::attach(|py| Raised::of(class, text).exception(py))
}

/// Makes the exception of an error outside of a call.
pub(crate) fn raised(error: impl Into<Raised>) -> PyErr {
    let error = error.into();
    Python::attach(|py| error.exception(py))
}

fn raise<'py>(py: Python<'py>, module: &str, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py.import(module).and_then(|module| module.getattr(class)).and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn builtin(py: Python<'_>, exception: deerflow::Exception) -> PyErr {
    let deerflow::Exception { class, errno, message } = exception;
    match (class, errno) {
        ("UnicodeDecodeError", _) => PyUnicodeDecodeError::new_err(("utf-8", b"".as_slice(), 0, 0, message)),
        // Python chooses the same class from the number.
        (_, Some(errno)) => PyOSError::new_err((errno, message)),
        (class, None) => raise(py, "builtins", class, (message,)),
    }
}

impl From<BackendError> for Raised {
    fn from(error: BackendError) -> Raised {
        use BackendError as E;
        let text = error.to_string();
        match error {
            E::File { path, errno } => Raised::file(path, errno),
            E::NotRegular(path) => {
                Raised::Os(Host::INVAL.raw_os_error(), "not a regular file".into(), Some(path.into()))
            }
            E::TimedOut(path) => Raised::file(path, Errno::TimedOut),
            E::TooLarge { path, .. } => Raised::file(path, Errno::FileTooLarge),
            E::NotText(_) => Raised::of("NotTextError", text),
            E::EmptyText(_) | E::TextNotFound(_) | E::Ambiguous { .. } => Raised::of("EditError", text),
            E::Conflict(_) => Raised::of("ConflictError", text),
            E::PastEnd { .. } | E::Pattern { .. } => Raised::of("RequestError", text),
            E::Refused { .. } => Raised::of("RefusedError", text),
            E::ExecutesNothing | E::Unsupported(_) => Raised::of("UnsupportedError", text),
            E::Execute(error) => error.into(),
            _ => Raised::of("Error", text),
        }
    }
}

impl From<ExecuteError> for Raised {
    fn from(error: ExecuteError) -> Raised {
        use ExecuteError as E;
        let text = error.to_string();
        match error {
            E::Cwd(path, errno) | E::Program(path, errno) => Raised::file(path, errno),
            E::Limit(_) => Raised::of("LimitError", text),
            E::Empty | E::Nul | E::ZeroTimeout | E::Variable(_) | E::OfSession(_) => Raised::of("RequestError", text),
            E::Ended => Raised::of("SessionEndedError", text),
            _ => Raised::of("Error", text),
        }
    }
}

impl From<BuildError> for Raised {
    fn from(error: BuildError) -> Raised {
        use BuildError as E;
        let text = error.to_string();
        match error {
            E::Host { host, error } => Raised::host(Some(host), &error),
            E::Guest(path, errno) | E::Cwd(path, errno) => Raised::file(path, errno),
            E::Room(..) => Raised::of("LimitError", text),
            E::Variable(error) => error.into(),
            _ => Raised::of("Error", text),
        }
    }
}

impl From<FileError> for Raised {
    fn from(error: FileError) -> Raised {
        Raised::file(error.path, error.errno)
    }
}

impl From<CommitError> for Raised {
    fn from(error: CommitError) -> Raised {
        Raised::file(error.path, error.errno)
    }
}

impl From<Errno> for Raised {
    fn from(errno: Errno) -> Raised {
        Raised::Os(number(errno), errno.to_string(), None)
    }
}

impl From<ArchiveError> for Raised {
    fn from(error: ArchiveError) -> Raised {
        match error {
            ArchiveError::Io(error) => Raised::host(None, &error),
            ArchiveError::Files { path, errno } => Raised::file(path, errno),
            error => Raised::of("SnapshotError", error.to_string()),
        }
    }
}

impl From<ProviderError> for Raised {
    fn from(error: ProviderError) -> Raised {
        use ProviderError as E;
        let text = error.to_string();
        match error {
            E::InvalidId | E::InvalidName { .. } => Raised::of("RequestError", text),
            E::NotFound(_) => Raised::of("SandboxNotFoundError", text),
            E::InUse(_) | E::NotLeased(_) | E::OtherOwner(_) | E::AllLeased(_) | E::ShutDown => {
                Raised::of("LeaseError", text)
            }
            E::Build(error) => error.into(),
            E::Backend(error) => error.into(),
            E::Archive(error) => error.into(),
            E::Host { error, .. } => Raised::host(None, &error),
            _ => Raised::of("Error", text),
        }
    }
}

impl From<ConfigError> for Raised {
    fn from(error: ConfigError) -> Raised {
        Raised::of("RequestError", error.to_string())
    }
}

impl From<deerflow::Exception> for Raised {
    fn from(exception: deerflow::Exception) -> Raised {
        Raised::Builtin(exception)
    }
}

/// Returns the Linux number of an errno.
fn number(errno: Errno) -> i32 {
    let host = match errno {
        Errno::Access => Host::ACCESS,
        Errno::Again => Host::AGAIN,
        Errno::BadDescriptor => Host::BADF,
        Errno::Busy => Host::BUSY,
        Errno::Child => Host::CHILD,
        Errno::CrossDevice => Host::XDEV,
        Errno::Quota => Host::DQUOT,
        Errno::Exist => Host::EXIST,
        Errno::FileTooLarge => Host::FBIG,
        Errno::IllegalSequence => Host::ILSEQ,
        Errno::Interrupted => Host::INTR,
        Errno::Invalid => Host::INVAL,
        Errno::IsDirectory => Host::ISDIR,
        Errno::Loop => Host::LOOP,
        Errno::TooManyFiles => Host::MFILE,
        Errno::TooManyLinks => Host::MLINK,
        Errno::NameTooLong => Host::NAMETOOLONG,
        Errno::NoDevice => Host::NXIO,
        Errno::NoEntry => Host::NOENT,
        Errno::NoExec => Host::NOEXEC,
        Errno::NoMemory => Host::NOMEM,
        Errno::NoSpace => Host::NOSPC,
        Errno::NotDirectory => Host::NOTDIR,
        Errno::NotEmpty => Host::NOTEMPTY,
        Errno::NotPermitted => Host::PERM,
        Errno::NotSupported => Host::NOTSUP,
        Errno::NoProcess => Host::SRCH,
        Errno::Pipe => Host::PIPE,
        Errno::ReadOnly => Host::ROFS,
        Errno::Seek => Host::SPIPE,
        Errno::TooBig => Host::TOOBIG,
        Errno::TimedOut => Host::TIMEDOUT,
        _ => Host::IO,
    };
    host.raw_os_error()
}
