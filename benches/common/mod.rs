//! The common parts of the benchmarks: measurement in turns, the report, the host's own processes, and the arguments.

#![allow(dead_code, reason = "each benchmark needs a part of it")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, unreachable_pub, reason = "a benchmark")]

pub mod host;
pub mod measure;
pub mod report;

use measure::Plan;
use report::Report;

/// Reads the arguments: `--quick`, `--json`, and words that select measurements.
pub fn asked() -> (Plan, Report, Chosen) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let (plan, report) = (Plan { quick: has("--quick") }, Report::new(has("--json")));
    (plan, report, Chosen(words.into_iter().filter(|word| !word.starts_with("--")).collect()))
}

/// The words that select measurements.
pub struct Chosen(Vec<String>);

impl Chosen {
    /// Returns true if a measurement of this name is selected: it contains one of the words, or there are none.
    pub fn is(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| name.contains(word.as_str()))
    }
}
