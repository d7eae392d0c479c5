//! YAML texts: reading into values, and writing in block style.
//!
//! Comments, anchors and the quotes of scalars are not part of a value, so a rewritten text loses them.

mod read;
mod write;

pub(crate) use read::parse;
pub(crate) use write::dump;
