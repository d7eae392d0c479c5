//! The statements of ARCHITECTURE.md about the source, checked by reading it.
//!
//! | file | statement |
//! |---|---|
//! | `layers` | a module uses only modules to its left |
//! | `confinement` | `unsafe`, wasmtime and the host's files are named in few files |
//! | `limits` | a limit is defined in `src/limits` |
//! | `shape` | no long file, no long function |
//! | `prose` | doc comments start with a verb or a noun |
//! | `pins` | every dependency is pinned |

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests read the repository"
)]

mod confinement;
mod layers;
mod limits;
mod pins;
mod prose;
mod shape;
mod tree;
