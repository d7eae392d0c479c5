//! `cargo +nightly fuzz run guest_path`: see `bodies/guest_path.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::guest_path(data));
