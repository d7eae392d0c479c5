//! What is done with the bytes that a fuzzer thinks up: a plain function for each target, with what has to hold.
//!
//! `fuzz/fuzz_targets` hands them the bytes of libFuzzer, `tests/fuzz.rs` those of a seeded generator. A body must not panic, and
//! asserts what must hold of its answer.

mod archive;
mod edit;
mod frames;
mod glob;
mod guest_path;
mod plan;
mod shell;
mod vfs;

pub use archive::archive;
pub use edit::edit;
pub use frames::frames;
pub use glob::glob;
pub use guest_path::guest_path;
pub use plan::plan;
pub use shell::shell;
pub use vfs::vfs;

/// A body and the name of its target.
pub type Body = (&'static str, fn(&[u8]));

/// All of them.
#[allow(dead_code, reason = "a target of the fuzzer uses one")]
pub const BODIES: [Body; 8] = [
    ("archive", archive),
    ("edit", edit),
    ("frames", frames),
    ("glob", glob),
    ("guest_path", guest_path),
    ("plan", plan),
    ("shell", shell),
    ("vfs", vfs),
];

/// The bytes as text, in parts as they are divided by 0xff.
fn texts(data: &[u8]) -> Vec<String> {
    data.split(|byte| *byte == 0xff).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// The text of this number, or none.
fn text(texts: &[String], at: usize) -> &str {
    texts.get(at).map_or("", String::as_str)
}
