//! The kernel's calls, as programs of the sandbox use them.
//!
//! `files` and `process` are the bindings of `wit/kernel.wit`. The rest is needed by every program: an entry point that
//! hands the true exit code to the kernel, an owned descriptor, error texts, and the changes of the directory tree that
//! WASI does.
//!
//! Compiled for the host, the same calls are the host's own (`native`). So a program can be tested against GNU's
//! without a build of the sandbox, and its time compared with that in the sandbox.

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings {
    wit_bindgen::generate!({ world: "program", path: "../../wit", pub_export_macro: false });
}

#[cfg(not(target_arch = "wasm32"))]
mod native;

mod entry;
mod errno;
mod fd;
#[cfg(target_arch = "wasm32")]
pub mod files;
pub mod fs;

#[cfg(target_arch = "wasm32")]
pub use bindings::isopod::kernel::process;
pub use bindings::isopod::kernel::types::Errno;
pub use entry::{entry, exit};
pub use errno::{from_number, number, text};
pub use fd::{Fd, write_all};
#[cfg(not(target_arch = "wasm32"))]
pub use native::{files, process};
