//! The calls of the kernel and of the engine that the library uses: the object `sys` of `lib/*.js`.
//!
//! A call that the kernel refuses throws an error whose message is the name of the errno; the library turns it into
//! Node's error. Numbers come as JavaScript has them, and are cut to the kernel's range.

mod bytes;
mod code;
mod files;
mod processes;
mod text;
mod view;

use std::cell::RefCell;

use isopod_gnu::output::Out;
use isopod_sys::Errno;
use rquickjs::{Ctx, Error, Exception, Object, Result, TypedArray};

pub(crate) use code::script;
use text::Text;
use view::View;

thread_local! {
    /// Standard output, which is flushed before any other effect, so that their order can be observed.
    static OUT: RefCell<Out> = const { RefCell::new(Out::new()) };
}

/// Creates the object `sys`.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let sys = Object::new(ctx.clone())?;
    files::add(&sys)?;
    processes::add(&sys)?;
    bytes::add(&sys)?;
    code::add(&sys)?;
    Ok(sys)
}

/// Flushes standard output.
pub(crate) fn flush() {
    OUT.with_borrow_mut(Out::flush);
}

/// Returns bytes as a typed array.
fn array<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx.clone(), bytes)
}

/// Converts milliseconds to the kernel's nanoseconds.
fn nanos(milliseconds: f64) -> u64 {
    (milliseconds.max(0.0) * 1e6) as u64
}

/// Throws the error of a refused call.
fn refused(ctx: &Ctx<'_>, errno: Errno) -> Error {
    Exception::throw_message(ctx, name(errno))
}

fn name(errno: Errno) -> &'static str {
    match errno {
        Errno::Access => "EACCES",
        Errno::Again => "EAGAIN",
        Errno::BadDescriptor => "EBADF",
        Errno::Busy => "EBUSY",
        Errno::Child => "ECHILD",
        Errno::CrossDevice => "EXDEV",
        Errno::Quota => "EDQUOT",
        Errno::Exist => "EEXIST",
        Errno::FileTooLarge => "EFBIG",
        Errno::IllegalSequence => "EILSEQ",
        Errno::Interrupted => "EINTR",
        Errno::Invalid => "EINVAL",
        Errno::Io => "EIO",
        Errno::IsDirectory => "EISDIR",
        Errno::Loop => "ELOOP",
        Errno::TooManyFiles => "EMFILE",
        Errno::TooManyLinks => "EMLINK",
        Errno::NameTooLong => "ENAMETOOLONG",
        Errno::NoDevice => "ENXIO",
        Errno::NoEntry => "ENOENT",
        Errno::NoExec => "ENOEXEC",
        Errno::NoMemory => "ENOMEM",
        Errno::NoSpace => "ENOSPC",
        Errno::NotDirectory => "ENOTDIR",
        Errno::NotEmpty => "ENOTEMPTY",
        Errno::NotPermitted => "EPERM",
        Errno::NotSupported => "ENOTSUP",
        Errno::NoProcess => "ESRCH",
        Errno::Pipe => "EPIPE",
        Errno::ReadOnly => "EROFS",
        Errno::Seek => "ESPIPE",
        Errno::TooBig => "E2BIG",
        Errno::TimedOut => "ETIMEDOUT",
    }
}
