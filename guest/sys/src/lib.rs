//! The kernel's calls, as programs of the sandbox use them.
//!
//! `files` and `process` are the bindings of `wit/kernel.wit`. Around them stands only what every program
//! needs: an entry point that hands the true exit code to the kernel, an owned descriptor, error texts, and the
//! changes of the directory tree that WASI does.

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings {
    wit_bindgen::generate!({ world: "program", path: "../../wit", pub_export_macro: false });
}

mod entry;
mod errno;
mod fd;
pub mod fs;

pub use bindings::isopod::kernel::{files, process, types::Errno};
pub use entry::{entry, exit};
pub use errno::{from_number, number, text};
pub use fd::{Fd, write_all};
