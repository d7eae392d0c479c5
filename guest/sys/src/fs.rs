//! Changes of the directory tree. WASI has calls for them, so the kernel has none.
//!
//! std and libc resolve paths on their own and do not know the kernel's working directory. Here a relative
//! path starts at the kernel's working directory, as in every other call.

use std::io;

use crate::{Errno, files, process};

pub use files::{Entry, entries};

/// Makes a directory with all rights but those of the umask.
pub fn create_dir(path: &str) -> Result<(), Errno> {
    std::fs::create_dir(absolute(path)?).map_err(reason)
}

/// Removes an empty directory.
pub fn remove_dir(path: &str) -> Result<(), Errno> {
    std::fs::remove_dir(absolute(path)?).map_err(reason)
}

/// Removes a file or a link.
pub fn remove_file(path: &str) -> Result<(), Errno> {
    std::fs::remove_file(absolute(path)?).map_err(reason)
}

/// Renames a file and replaces an existing one.
pub fn rename(from: &str, to: &str) -> Result<(), Errno> {
    std::fs::rename(absolute(from)?, absolute(to)?).map_err(reason)
}

/// Makes a hard link.
pub fn hard_link(file: &str, name: &str) -> Result<(), Errno> {
    std::fs::hard_link(absolute(file)?, absolute(name)?).map_err(reason)
}

/// Makes a symbolic link that points to `target`.
pub fn symlink(target: &str, path: &str) -> Result<(), Errno> {
    if target.contains('\0') {
        return Err(Errno::Invalid);
    }
    libc::symlink(target, &absolute(path)?)
}

/// Returns the target of a symbolic link.
pub fn read_link(path: &str) -> Result<String, Errno> {
    let target = std::fs::read_link(absolute(path)?).map_err(reason)?;
    target.into_os_string().into_string().map_err(|_| Errno::IllegalSequence)
}

/// Sets the times of last access and of last change of the content, in nanoseconds since 1970; of the link
/// itself unless `follow`.
pub fn set_times(path: &str, accessed: u64, modified: u64, follow: bool) -> Result<(), Errno> {
    libc::set_times(&absolute(path)?, accessed, modified, follow)
}

fn absolute(path: &str) -> Result<String, Errno> {
    match path {
        // An empty path names nothing; joined to the working directory it would name that directory.
        "" => Err(Errno::NoEntry),
        path if path.contains('\0') => Err(Errno::Invalid),
        path if path.starts_with('/') => Ok(path.to_owned()),
        path => Ok(format!("{}/{path}", process::cwd())),
    }
}

#[cfg(target_arch = "wasm32")]
fn reason(error: io::Error) -> Errno {
    error.raw_os_error().and_then(crate::from_number).unwrap_or(Errno::Io)
}

#[cfg(not(target_arch = "wasm32"))]
fn reason(error: io::Error) -> Errno {
    crate::native::reason(&error)
}

/// The two calls that std does not have for this target.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
mod libc {
    use std::ffi::{CString, c_char, c_int, c_long};

    use super::{Errno, reason};

    /// C's timespec.
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanos: c_long,
    }

    unsafe extern "C" {
        #[link_name = "symlink"]
        fn c_symlink(target: *const c_char, path: *const c_char) -> c_int;
        fn utimensat(directory: c_int, path: *const c_char, times: *const Time, flags: c_int) -> c_int;
    }

    /// wasi-libc's AT_FDCWD; it has no effect, since the paths here are absolute.
    const NO_DIRECTORY: c_int = -2;
    const DO_NOT_FOLLOW: c_int = 1;

    pub(super) fn symlink(target: &str, path: &str) -> Result<(), Errno> {
        let (target, path) = (c_string(target)?, c_string(path)?);
        // SAFETY: both are C strings that outlive the call.
        checked(unsafe { c_symlink(target.as_ptr(), path.as_ptr()) })
    }

    pub(super) fn set_times(path: &str, accessed: u64, modified: u64, follow: bool) -> Result<(), Errno> {
        let path = c_string(path)?;
        let time =
            |nanos: u64| Time { seconds: (nanos / 1_000_000_000) as i64, nanos: (nanos % 1_000_000_000) as c_long };
        let times = [time(accessed), time(modified)];
        let flags = if follow { 0 } else { DO_NOT_FOLLOW };
        // SAFETY: the path is a C string and the times are two, as the call wants them; both outlive it.
        checked(unsafe { utimensat(NO_DIRECTORY, path.as_ptr(), times.as_ptr(), flags) })
    }

    fn c_string(text: &str) -> Result<CString, Errno> {
        CString::new(text).map_err(|_| Errno::Invalid)
    }

    fn checked(result: c_int) -> Result<(), Errno> {
        if result == 0 { Ok(()) } else { Err(reason(std::io::Error::last_os_error())) }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod libc {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

    use super::{Errno, reason};

    pub(super) fn symlink(target: &str, path: &str) -> Result<(), Errno> {
        std::os::unix::fs::symlink(target, path).map_err(reason)
    }

    pub(super) fn set_times(path: &str, accessed: u64, modified: u64, follow: bool) -> Result<(), Errno> {
        let time =
            |nanos: u64| Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
        let times = Timestamps { last_access: time(accessed), last_modification: time(modified) };
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        rustix::fs::utimensat(CWD, path, &times, flags).map_err(|errno| reason(errno.into()))
    }
}
