//! The bodies of the fuzz targets: a plain function for each, which asserts its invariants.
//!
//! `fuzz/fuzz_targets` passes the bytes of libFuzzer, `tests/fuzz.rs` those of a seeded generator. A body must not
//! panic.

mod archive;
mod edit;
mod frames;
mod glob;
mod guest_path;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
mod plan;
mod shell;
mod vfs;

pub use archive::archive;
pub use edit::edit;
pub use frames::frames;
pub use glob::glob;
pub use guest_path::guest_path;
#[cfg(feature = "http")]
#[allow(unused_imports, reason = "a target of the fuzzer uses one body")]
pub use http::{REQUESTS, http};
#[cfg(feature = "mcp")]
#[allow(unused_imports, reason = "a target of the fuzzer uses one body")]
pub use mcp::{MESSAGES, mcp};
pub use plan::plan;
pub use shell::shell;
pub use vfs::vfs;

/// A body and the name of its target.
pub type Body = (&'static str, fn(&[u8]));

/// All bodies.
#[allow(dead_code, reason = "a target of the fuzzer uses one")]
pub const BODIES: &[Body] = &[
    ("archive", archive),
    ("edit", edit),
    ("frames", frames),
    ("glob", glob),
    ("guest_path", guest_path),
    #[cfg(feature = "http")]
    ("http", http),
    #[cfg(feature = "mcp")]
    ("mcp", mcp),
    ("plan", plan),
    ("shell", shell),
    ("vfs", vfs),
];

/// Returns the bytes as texts, separated by 0xff.
fn texts(data: &[u8]) -> Vec<String> {
    data.split(|byte| *byte == 0xff).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// Returns the text with this index, or an empty one.
fn text(texts: &[String], at: usize) -> &str {
    texts.get(at).map_or("", String::as_str)
}

/// Returns an almost valid message: one of `seeds` with a part replaced. The first bytes select the seed and the part,
/// or say that all other bytes are the message.
#[cfg(any(feature = "http", feature = "mcp"))]
fn almost(seeds: &[&[u8]], data: &[u8]) -> Vec<u8> {
    match data {
        [] => Vec::new(),
        [0, whole @ ..] => whole.to_vec(),
        [which, from, length, part @ ..] => {
            let mut message = seeds[usize::from(*which) % seeds.len()].to_vec();
            let from = usize::from(*from).min(message.len());
            let to = (from + usize::from(*length) % 32).min(message.len());
            message.splice(from..to, part.iter().copied()).for_each(drop);
            message
        }
        short => short.to_vec(),
    }
}
