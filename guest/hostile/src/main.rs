//! `hostile CASE [ARGUMENT…]`: a malicious program. It calls the kernel and WASI as no program of ours would.
//!
//! It is part of test builds only. Without a case it lists them; the test that runs them fails for a case that it does
//! not know, so none is forgotten. A case that should be refused panics if it is not: the process then ends with 134,
//! and the test fails.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a case reports that it was not refused")]
// Everything here concerns the boundary of a WebAssembly component; for another target there is nothing to build.
#![cfg_attr(not(target_arch = "wasm32"), allow(unused, reason = "compiled for the host only by lints"))]

#[cfg(target_arch = "wasm32")]
mod allocator;
#[cfg(target_arch = "wasm32")]
mod cases;
#[cfg(target_arch = "wasm32")]
mod random;
#[cfg(target_arch = "wasm32")]
mod storm;
#[cfg(target_arch = "wasm32")]
mod wild;

#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, unsafe_code, unreachable_pub, dead_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package isopod:hostile;
            world hostile {
                import isopod:kernel/files@0.1.0;
                import isopod:kernel/process@0.1.0;
                import wasi:io/poll@0.2.12;
                import wasi:io/streams@0.2.12;
                import wasi:clocks/monotonic-clock@0.2.12;
                import wasi:filesystem/types@0.2.12;
                import wasi:filesystem/preopens@0.2.12;
                import wasi:random/random@0.2.12;
            }
            package wasi:random@0.2.12 {
                interface random {
                    get-random-bytes: func(len: u64) -> list<u8>;
                    get-random-u64: func() -> u64;
                }
            }",
        world: "isopod:hostile/hostile",
        generate_all,
        pub_export_macro: false,
    });
}

#[cfg(target_arch = "wasm32")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    bindings::isopod::kernel::process::exit(cases::run(&words));
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {}
