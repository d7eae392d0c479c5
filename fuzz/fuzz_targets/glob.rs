//! `cargo +nightly fuzz run glob`: see `bodies/glob.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::glob(data));
