//! `cargo +nightly fuzz run vfs`: see `bodies/vfs.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::vfs(data));
