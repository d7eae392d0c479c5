//! `cargo +nightly fuzz run shell`: see `bodies/shell.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::shell(data));
