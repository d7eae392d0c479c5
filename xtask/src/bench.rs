//! The benchmarks. Each compares within one run and fails if a promise is not kept.

use crate::Result;
use crate::process::run as run_line;

const BENCHMARKS: [&str; 9] =
    ["baseline", "files", "shell", "programs", "backend", "interpreters", "http", "worker", "soak"];

/// Runs all of them. The comparison with containers takes those that are installed; `benches/versus/all` builds the rest.
pub(crate) fn run(arguments: &[String]) -> Result {
    let quick = if arguments.iter().any(|argument| argument == "--long") { "" } else { "--quick" };
    for name in BENCHMARKS {
        run_line(&format!("cargo bench --features bench --bench {name} -- {quick}"))?;
    }
    run_line(&format!("cargo bench --features bench --bench versus -- {quick} --out target/versus"))
}
