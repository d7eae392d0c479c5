//! `cargo +nightly fuzz run http`: see `bodies/http.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::http(data));
