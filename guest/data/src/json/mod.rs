//! JSON texts: reading piece by piece, and writing.

mod read;
mod stream;
mod write;

pub(crate) use read::{Reader, parse};
pub(crate) use stream::events;
pub(crate) use write::{Colors, Layout, compact, dump};

/// The deepest nesting of arrays and objects. jq 1.6 stops at 256, later ones at this.
pub(crate) const DEEPEST: usize = 10_000;
