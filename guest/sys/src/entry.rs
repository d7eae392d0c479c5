//! Start and end of a program.
//!
//! wasi:cli knows success and failure only, and libc turns every exit code but 0 into 1. So the end of a
//! program goes through the kernel: `entry` for programs of ours, and libc's own `_Exit` replaced for crates
//! that call `std::process::exit`.

use crate::process;

/// Runs a program's main function and ends the process with the code that it returns.
///
/// std ignores the working directory of a process, so it is set here, before anything opens a file.
pub fn entry(main: impl FnOnce() -> u8) -> ! {
    // A working directory that has gone is no reason not to start: `pwd` and `cd` still have work to do.
    let _ = std::env::set_current_dir(process::cwd());
    exit(main())
}

/// Ends the process with this code, without flushing std's buffers.
pub fn exit(code: u8) -> ! {
    process::exit(code);
    unreachable!("the kernel does not return from exit")
}

/// Replaces libc's `_Exit`, to end with the true code.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
// SAFETY: the name and the signature are those of C's `_Exit`, which this replaces at link time.
#[unsafe(no_mangle)]
extern "C" fn _Exit(code: i32) -> ! {
    exit(code as u8)
}
