//! Tests from the outside in, a file a topic: `cargo test --test all limits` runs one topic.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests look at the host from outside")]

mod bad_input;
mod cases;
mod cli_fs;
mod cli_sandbox;
mod command_line;
mod doctor;
mod documents;
mod execute;
mod files;
#[cfg(feature = "http")]
mod http;
mod interactive;
#[cfg(all(feature = "http", feature = "mcp"))]
mod isolation;
mod leaks;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(any(feature = "http", feature = "mcp"))]
#[path = "../../fuzz/bodies/mutant.rs"]
mod mutant;
#[cfg(feature = "node")]
mod node;
mod one_result;
mod overlays;
mod permits;
mod processes;
mod programs;
mod provider;
mod provider_config;
#[cfg(feature = "python")]
mod python;
mod sessions;
mod streams;
mod support;
mod visibility;
mod worker;
