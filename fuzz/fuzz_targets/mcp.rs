//! `cargo +nightly fuzz run mcp`: see `bodies/mcp.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::mcp(data));
