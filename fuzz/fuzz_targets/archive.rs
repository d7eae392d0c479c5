//! `cargo +nightly fuzz run archive`: see `bodies/archive.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::archive(data));
