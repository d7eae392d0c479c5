//! `cargo +nightly fuzz run edit`: see `bodies/edit.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::edit(data));
