//! The engine settings that affect compiled code.
//!
//! This file is compiled twice: into the library, which runs the code, and into the build tool, which produces it.
//! wasmtime refuses code that was compiled with other settings, so both take them from here.

use wasmtime::{Config, Result, WasmFeatures};

/// The CPU that precompiled code needs, so that a binary built here runs on the next machine.
///
/// x86-64-v2 is every x86 server since about 2009. A build for the CPU of the build machine would fail, or crash,
/// elsewhere. On aarch64 the base architecture is enough.
#[allow(dead_code, reason = "the library only reports it, the build tool compiles for it")]
pub(crate) const X86_64_BASELINE: &[&str] =
    &["has_cmpxchg16b", "has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// The metering of a process's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Metering {
    /// By the clock alone: an epoch check at loops and calls.
    Epoch,
    /// Also by instructions. Up to twice as slow where calls are many, so it has code of its own.
    Fuel,
}

/// The settings for one kind of metering.
pub(crate) fn config(metering: Metering) -> Result<Config> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .consume_fuel(metering == Metering::Fuel)
        // Guest frames are never shown, and collecting them costs a third of a short process.
        .wasm_backtrace_max_frames(None)
        .native_unwind_info(false)
        .generate_address_map(false)
        .memory_init_cow(true)
        .concurrency_support(false);
    // Features that the guest does not use are off, so that they cannot be attacked.
    config
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        // Constant expressions with additions: Python's modules are linked with them.
        .wasm_extended_const(true)
        .shared_memory(false)
        .gc_support(false)
        .wasm_features(WasmFeatures::THREADS | WasmFeatures::EXCEPTIONS | WasmFeatures::GC, false)
        .wasm_features(WasmFeatures::STACK_SWITCHING | WasmFeatures::CM_ASYNC, false);
    Ok(config)
}
