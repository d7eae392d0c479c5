//! `cargo +nightly fuzz run plan`: see `bodies/plan.rs`.

#![no_main]

#[path = "../bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::plan(data));
