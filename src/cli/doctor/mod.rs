//! `isopod doctor`: the features of this machine that isopod uses.

mod machine;
mod program;

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::answer::{Answer, show};
use super::location::RootOptions;
use super::{REFUSED, escape};

/// Check this machine for the features that isopod uses
///
/// A line each: `ok`; `note` for a feature that works less well than it could; `problem` for one that does not work.
/// The exit code is 1 if there is a problem.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Doctor {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: RootOptions,
}

/// The result of one check.
struct Finding {
    name: &'static str,
    state: State,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// It works, but less well than it could.
    Note,
    /// It does not work.
    Problem,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Problem => "problem",
        }
    }
}

impl Finding {
    fn ok(name: &'static str, text: impl Into<String>) -> Finding {
        Finding { name, state: State::Ok, text: text.into() }
    }

    fn note(name: &'static str, text: impl Into<String>) -> Finding {
        Finding { name, state: State::Note, text: text.into() }
    }

    fn problem(name: &'static str, text: impl Into<String>) -> Finding {
        Finding { name, state: State::Problem, text: text.into() }
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "state": self.state.word(), "text": self.text })
    }
}

impl Doctor {
    pub(super) fn run(self) -> ExitCode {
        let findings: Vec<Finding> = machine::findings().into_iter().chain(program::findings(&self.place)).collect();
        let is_ok = findings.iter().all(|finding| finding.state != State::Problem);
        let line = |finding: &Finding| {
            let text = escape::for_terminal(&finding.text);
            format!("{:<8} {:<16} {text}\n", finding.state.word(), finding.name)
        };
        let text: String = findings.iter().map(line).collect();
        let json = json!({ "ok": is_ok, "findings": findings.iter().map(Finding::json).collect::<Vec<_>>() });
        let code = if is_ok { 0 } else { REFUSED };
        show(Ok(Answer { code, ..Answer::new(text, json) }), self.json, false)
    }
}
