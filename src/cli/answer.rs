//! The answers of `isopod sandbox` and `isopod fs`: text or JSON, and an exit code.

use std::io::IsTerminal;
use std::process::ExitCode;

use isopod::backend::BackendError;
use isopod::provider::{ConfigError, ProviderError};
use serde_json::Value;

use super::{NO_SANDBOX, REFUSED, USAGE, escape, print, refuse, say};

/// An answer.
pub(super) struct Answer {
    /// For standard output, without `--json`.
    pub(super) text: Vec<u8>,
    /// For standard output, with `--json`.
    pub(super) json: Value,
    /// Lines for standard error; `--json` leaves them out.
    pub(super) notes: Vec<String>,
    /// The exit code.
    pub(super) code: u8,
}

/// A failure: a line and an exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    pub(super) why: String,
}

impl Answer {
    /// Makes an answer with exit code 0.
    pub(super) fn new(text: impl Into<Vec<u8>>, json: Value) -> Answer {
        Answer { text: text.into(), json, notes: Vec::new(), code: 0 }
    }

    /// Notes the reason for which the answer is not complete, if there is one.
    pub(super) fn cut(mut self, why: Option<&str>) -> Answer {
        self.notes.extend(why.map(|why| format!("there is more than this: {why}")));
        self
    }

    /// Adds a line for each part that was refused.
    pub(super) fn refused(mut self, lines: Vec<String>) -> Answer {
        if !lines.is_empty() {
            self.code = REFUSED;
        }
        self.notes.extend(lines);
        self
    }
}

impl Failure {
    /// A mistake of the caller.
    pub(super) fn usage(why: impl Into<String>) -> Failure {
        Failure { code: USAGE, why: why.into() }
    }

    /// An operation that was refused or failed.
    pub(super) fn refused(why: impl Into<String>) -> Failure {
        Failure { code: REFUSED, why: why.into() }
    }
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Failure {
        use ProviderError as E;
        let code = match &error {
            E::InvalidId | E::InvalidName { .. } => USAGE,
            E::Backend(error) => code_of(error),
            E::Build(_) | E::Host { .. } => NO_SANDBOX,
            _ => REFUSED,
        };
        Failure { code, why: error.to_string() }
    }
}

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Failure {
        Failure { code: code_of(&error), why: error.to_string() }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::usage(error.to_string())
    }
}

fn code_of(error: &BackendError) -> u8 {
    match error {
        BackendError::Execute(error) => super::command::code_of(error),
        BackendError::Pattern { .. } | BackendError::EmptyText(_) => USAGE,
        BackendError::Transport { .. } => NO_SANDBOX,
        _ => REFUSED,
    }
}

/// Prints an answer. Text for a terminal is escaped, unless the caller wants it raw.
pub(super) fn show(answer: Result<Answer, Failure>, as_json: bool, raw: bool) -> ExitCode {
    let Answer { text, json, notes, code } = match answer {
        Ok(answer) => answer,
        Err(Failure { code, why }) => return refuse(code, escape::for_terminal(&why)),
    };
    if as_json {
        return print(format!("{}\n", escape::json_for_terminal(&json.to_string())), code);
    }
    notes.iter().for_each(|note| say(escape::for_terminal(note)));
    match raw || !std::io::stdout().is_terminal() {
        true => print(text, code),
        false => print(escape::for_terminal(&String::from_utf8_lossy(&text)), code),
    }
}
