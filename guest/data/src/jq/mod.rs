//! `jq`: a language to process JSON.
//!
//! The language and its results are those of jq 1.6, with the additions of 1.7 and 1.8. There are no modules.
//! ARCHITECTURE.md says why this is not `jaq`.
//!
//! # Layout
//! - `lexer`, `parser`, `program`: a program's text, parsed and resolved
//! - `machine`: runs programs
//! - `access`, `arithmetic`, `formats`, `natives`: operations on values
//! - `library`: functions in jq's own language
//! - `options`, `inputs`, this file: the command line

pub(crate) mod access;
pub(crate) mod arithmetic;
pub(crate) mod formats;
mod inputs;
mod lexer;
mod library;
pub(crate) mod machine;
pub(crate) mod natives;
mod options;
pub(crate) mod parser;
pub(crate) mod program;

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use crate::json;
use crate::value::Value;
use inputs::Inputs;
use machine::{Host, Machine, Stop};
use options::{Options, Output};

/// `jq`.
pub(crate) const PROGRAM: Program = Program {
    name: "jq",
    operands: &[
        "[options] <jq filter> [file...]",
        "[options] --args <jq filter> [strings...]",
        "[options] --jsonargs <jq filter> [JSON_TEXTS...]",
    ],
    about: options::ABOUT,
    syntax: Syntax::Own,
    options: &[],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The exit code if a program cannot be parsed.
const NOT_COMPILED: u8 = 3;
/// The exit code of `-e` without any output; jq 1.6 has it for invalid JSON too.
const NO_OUTPUT: u8 = 4;
/// The exit code after an error.
const FAILED: u8 = 5;

fn run(call: &Call) -> Result<u8, u8> {
    let options = Options::read(call)?;
    let (program, main) = parser::parse(&options.filter, &options.variables).map_err(|(message, at)| {
        refuse(call, &options.filter, &message, at);
        NOT_COMPILED
    })?;
    let mut inputs = Inputs::new(call, &options);
    let mut out = Out::new();
    let mut status = Status::default();
    let mut buffer = Vec::new();
    let mut is_first = true;
    loop {
        let input = if options.null_input {
            if !is_first {
                break;
            }
            Value::Null
        } else {
            match inputs.next_input() {
                Ok(Some(value)) => value,
                Ok(None) => break,
                Err(message) => {
                    out.flush();
                    inputs.complain(&format!("parse error: {message}\n"));
                    status.broken = true;
                    if options.sequence {
                        continue;
                    }
                    break;
                }
            }
        };
        is_first = false;
        // Only the result of the last input counts.
        status = Status { inputs: status.inputs + 1, ..Status::default() };
        let mut machine = Machine::new(&program, main, input);
        loop {
            match machine.next(&mut inputs) {
                Ok(Some(value)) => {
                    status.last = Some(value.is_true());
                    options.print(&value, &mut buffer);
                    out.push(&buffer);
                    buffer.clear();
                    if options.unbuffered {
                        out.flush();
                    }
                    if out.has_failed() {
                        return Ok(call.finish(out, FAILED));
                    }
                }
                Ok(None) => break,
                Err(Stop::Error(error)) => {
                    status.failed = true;
                    let origin = inputs.origin();
                    inputs.complain(&error_message(&error, &origin));
                    break;
                }
                Err(Stop::Halt(code, message)) => {
                    match message {
                        Some(Value::Text(text)) => inputs.complain(&text),
                        Some(Value::Null) => {}
                        Some(value) => inputs.complain(&format!("{}\n", json::compact(&value))),
                        None => {}
                    }
                    return Ok(call.finish(out, code));
                }
            }
        }
    }
    Ok(call.finish(out, status.code(inputs.has_failed(), options.exit_status)))
}

/// The facts that decide the exit code.
#[derive(Default)]
struct Status {
    /// The number of inputs so far.
    inputs: usize,
    /// True if an error was not caught.
    failed: bool,
    /// True if an input was invalid JSON.
    broken: bool,
    /// True if the last output was neither false nor null.
    last: Option<bool>,
}

impl Status {
    fn code(&self, no_input: bool, by_output: bool) -> u8 {
        if no_input {
            return 2;
        }
        if self.broken {
            return NO_OUTPUT;
        }
        if self.failed {
            return FAILED;
        }
        match self.last {
            _ if !by_output || self.inputs == 0 => 0,
            Some(true) => 0,
            Some(false) => 1,
            None => NO_OUTPUT,
        }
    }
}

impl Options {
    /// Adds an output.
    fn print(&self, value: &Value, out: &mut Vec<u8>) {
        if self.sequence {
            out.push(0x1e);
        }
        match (value, &self.output) {
            (Value::Text(text), Output::Raw | Output::Joined | Output::Raw0) if !self.layout.ascii => {
                out.extend_from_slice(text.as_bytes());
            }
            _ => json::dump(value, &self.layout, out),
        }
        match self.output {
            Output::Json | Output::Raw => out.push(b'\n'),
            Output::Joined => {}
            Output::Raw0 => out.push(0),
        }
    }
}

/// Returns the message for an error that was not caught.
fn error_message(error: &Value, origin: &str) -> String {
    match error {
        Value::Text(text) => format!("jq: error (at {origin}): {text}\n"),
        other => format!("jq: error (at {origin}) (not a string): {}\n", json::compact(other)),
    }
}

/// Reports why a program cannot be parsed, and shows the program.
fn refuse(call: &Call, filter: &str, message: &str, at: usize) {
    let line = filter[..at.min(filter.len())].matches('\n').count() + 1;
    call.complain(&format!("error: {message} at <top-level>, line {line}:\n{filter}"));
    call.complain("1 compile error");
}
