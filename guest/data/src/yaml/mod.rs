//! YAML texts: read into values, and written in block style.
//!
//! Comments, anchors and the quotes of scalars are not part of a value: they are lost between reading and writing.

mod read;
mod write;

pub(crate) use read::parse;
pub(crate) use write::dump;
