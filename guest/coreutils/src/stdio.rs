//! Standard streams through the kernel.
//!
//! libc would serve them through wasi:io, where a broken pipe is an error that each program reports in its own
//! way or not at all, and where a write is three calls. The kernel's write is one, and it ends a process that
//! nobody listens to any more, as Unix does. `build.rs` has the linker put these in place of libc's functions.

#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use isopod_sys::{Errno, files, write_all};

/// What libc calls a piece of a vectored write.
#[repr(C)]
struct Piece {
    base: *const u8,
    length: usize,
}

unsafe extern "C" {
    fn __real_lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn __real_read(fd: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn __real_write(fd: c_int, buffer: *const c_void, length: usize) -> isize;
    fn __real_writev(fd: c_int, pieces: *const Piece, count: c_int) -> isize;
    fn __errno_location() -> *mut c_int;
}

/// No program asks for more at once; what does gets less than it asked for, as read(2) may.
const MOST: usize = 1 << 20;

// SAFETY: the name and the signature are those that `--wrap=read` gives the callers of libc's read.
#[unsafe(no_mangle)]
extern "C" fn __wrap_read(fd: c_int, buffer: *mut c_void, length: usize) -> isize {
    if fd != 0 {
        // SAFETY: the caller's arguments, handed on to the function it meant to call.
        return unsafe { __real_read(fd, buffer, length) };
    }
    if length == 0 {
        return 0;
    }
    match files::read(0, length.min(MOST) as u32, None) {
        Ok(bytes) => {
            let count = bytes.len().min(length);
            // SAFETY: the caller owns `length` bytes at `buffer`, and `count` is no more than that.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), count) };
            count as isize
        }
        Err(errno) => fail(errno),
    }
}

// SAFETY: the name and the signature are those that `--wrap=write` gives the callers of libc's write.
#[unsafe(no_mangle)]
extern "C" fn __wrap_write(fd: c_int, buffer: *const c_void, length: usize) -> isize {
    if fd != 1 && fd != 2 {
        // SAFETY: the caller's arguments, handed on to the function it meant to call.
        return unsafe { __real_write(fd, buffer, length) };
    }
    // SAFETY: the caller owns `length` readable bytes at `buffer`; for none, the pointer may be anything.
    let bytes = if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(buffer.cast(), length) } };
    match write_all(fd as u32, bytes) {
        Ok(()) => length as isize,
        Err(errno) => fail(errno),
    }
}

// SAFETY: the name and the signature are those that `--wrap=writev` gives the callers of libc's writev.
#[unsafe(no_mangle)]
extern "C" fn __wrap_writev(fd: c_int, pieces: *const Piece, count: c_int) -> isize {
    if fd != 1 && fd != 2 {
        // SAFETY: the caller's arguments, handed on to the function it meant to call.
        return unsafe { __real_writev(fd, pieces, count) };
    }
    let pieces: &[Piece] = match usize::try_from(count) {
        Ok(count) if count > 0 => {
            // SAFETY: the caller owns `count` pieces there.
            unsafe { std::slice::from_raw_parts(pieces, count) }
        }
        _ => &[],
    };
    let mut written = 0;
    for piece in pieces.iter().filter(|piece| piece.length > 0) {
        match __wrap_write(fd, piece.base.cast(), piece.length) {
            // What is out is out: the next write reports the error.
            -1 if written > 0 => break,
            -1 => return -1,
            count => written += count,
        }
    }
    written
}

/// libc counts offsets itself, on whatever is open, and then takes a pipe for an empty file.
// SAFETY: the name and the signature are those that `--wrap=lseek` gives the callers of libc's lseek.
#[unsafe(no_mangle)]
extern "C" fn __wrap_lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: libc's fstat fills what it is given, or fails.
    let has_position = unsafe {
        libc::fstat(fd, found.as_mut_ptr()) != 0
            || matches!(found.assume_init().st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR)
    };
    if !has_position {
        return fail(Errno::Seek) as i64;
    }
    // SAFETY: the caller's arguments, handed on to the function it meant to call.
    unsafe { __real_lseek(fd, offset, whence) }
}

fn fail(errno: Errno) -> isize {
    // SAFETY: libc's errno is a variable of this instance, and there are no threads.
    unsafe { *__errno_location() = isopod_sys::number(errno) };
    -1
}
