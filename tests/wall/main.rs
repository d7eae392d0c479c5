//! The second wall, from both sides: each test starts this program again, which raises a wall and tries forbidden
//! operations.
//!
//! A wall is raised in a process with one thread. The usual harness has two, so this program has a `main`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests look at the host from outside")]

mod inside;
mod outside;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let first = args.next().unwrap_or_default();
    if let Some(role) = first.strip_prefix("inside:") {
        inside::play(role, &args.collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    let chosen: Vec<_> = outside::TESTS.iter().filter(|(name, _)| name.contains(first.as_str())).collect();
    println!("\nrunning {} tests", chosen.len());
    let failed = chosen.iter().filter(|(name, test)| {
        let failed = std::panic::catch_unwind(test).is_err();
        println!("test {name} ... {}", if failed { "FAILED" } else { "ok" });
        failed
    });
    let failed = failed.count();
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, chosen.len() - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
