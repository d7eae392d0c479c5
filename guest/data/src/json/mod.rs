//! JSON texts: read piece by piece, and written.

mod read;
mod stream;
mod write;

pub(crate) use read::{Reader, parse};
pub(crate) use stream::events;
pub(crate) use write::{Colors, Layout, compact, dump};

/// How deep arrays and objects may be in each other. jq 1.6 stops at 256, later ones at this.
pub(crate) const DEEPEST: usize = 10_000;
