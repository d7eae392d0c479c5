//! `cargo +nightly fuzz run frames`: see `bodies/frames.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::frames(data));
