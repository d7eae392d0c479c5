//! The JSON form of a command and of its result. The command line, HTTP, MCP and Python all use it, so that the same fields
//! have the same names everywhere.

use serde::{Deserialize, Serialize};

use super::profile;
use crate::kernel::Usage;
use crate::limits::{Exceeded, Limit};
use crate::sandbox::{CommandLine, Completion, Output};

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Output))]
#[cfg_attr(feature = "mcp", derive(rmcp::schemars::JsonSchema), schemars(crate = "rmcp::schemars"))]
#[non_exhaustive]
pub struct OutputJson {
    /// 0 if the command succeeded; 124 if its time was over; 128 and the signal's number if it was killed.
    pub exit_code: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error, with a line at its end for each limit that ended the command.
    pub stderr: String,
    /// Both, in the order of writing.
    pub output: String,
    /// The encoding of the three texts: base64 if one of them is not UTF-8.
    pub encoding: Encoding,
    /// Output was left out of the middle because there was too much.
    pub truncated: bool,
    /// The command's time was over.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<LimitJson>,
    /// The resources that the command used.
    pub usage: UsageJson,
}

/// The end of a command whose output was streamed: the same fields without the texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Completion))]
#[non_exhaustive]
pub struct CompletionJson {
    /// 0 if the command succeeded; 124 if its time was over; 128 and the signal's number if it was killed.
    pub exit_code: u8,
    /// The command's time was over.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<LimitJson>,
    /// The resources that the command used.
    pub usage: UsageJson,
}

/// A limit that a command hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = LimitHit))]
#[cfg_attr(feature = "mcp", derive(rmcp::schemars::JsonSchema), schemars(crate = "rmcp::schemars"))]
#[non_exhaustive]
pub struct LimitJson {
    /// The name of the limit.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    #[cfg_attr(feature = "mcp", schemars(with = "String"))]
    pub limit: Limit,
    /// The amount that was allowed: milliseconds, instructions, bytes or a count.
    pub value: u64,
    /// The same in a sentence.
    pub message: String,
}

/// The resources that a command used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Usage))]
#[cfg_attr(feature = "mcp", derive(rmcp::schemars::JsonSchema), schemars(crate = "rmcp::schemars"))]
#[non_exhaustive]
pub struct UsageJson {
    /// Milliseconds from start to end.
    pub wall_ms: f64,
    /// Milliseconds that its processes computed, added up.
    pub cpu_ms: f64,
    /// The most memory that the sandbox's processes held together, in bytes.
    pub peak_memory: u64,
    /// Processes started.
    pub processes: u32,
    /// Bytes read from files and pipes.
    pub bytes_read: u64,
    /// Bytes written to files, pipes and outputs.
    pub bytes_written: u64,
    /// Instructions, if there was a budget.
    pub fuel: Option<u64>,
}

/// The encoding of bytes in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "mcp", derive(rmcp::schemars::JsonSchema), schemars(crate = "rmcp::schemars"))]
pub enum Encoding {
    /// Text as it is.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Base64.
    #[serde(rename = "base64")]
    Base64,
}

/// A command in JSON: a text for the shell, or a list of a program and its arguments, which no shell reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = CommandLine))]
#[cfg_attr(feature = "mcp", derive(rmcp::schemars::JsonSchema), schemars(crate = "rmcp::schemars", inline))]
#[serde(untagged, expecting = "a command is a string, or an array of strings")]
pub enum CommandLineJson {
    /// A command line for the shell.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

impl From<CommandLineJson> for CommandLine {
    fn from(line: CommandLineJson) -> CommandLine {
        match line {
            CommandLineJson::Shell(text) => CommandLine::Shell(text),
            CommandLineJson::Program(argv) => CommandLine::Program(argv),
        }
    }
}

impl From<CommandLine> for CommandLineJson {
    fn from(line: CommandLine) -> CommandLineJson {
        match line {
            CommandLine::Shell(text) => CommandLineJson::Shell(text),
            CommandLine::Program(argv) => CommandLineJson::Program(argv),
        }
    }
}

impl From<Output> for OutputJson {
    fn from(result: Output) -> OutputJson {
        // Both outputs can be UTF-8 and their mixture not, if one interrupts a character of the other.
        let encoding = Encoding::of(&[&result.stdout, &result.stderr, &result.output]);
        OutputJson {
            exit_code: result.exit_code,
            truncated: result.truncated,
            timed_out: result.timed_out,
            limits: limits(&result.limits),
            usage: result.usage.into(),
            stdout: encoding.write(result.stdout),
            stderr: encoding.write(result.stderr),
            output: encoding.write(result.output),
            encoding,
        }
    }
}

impl From<Completion> for CompletionJson {
    fn from(completion: Completion) -> CompletionJson {
        let Completion { exit_code, timed_out, limits: hits, usage } = completion;
        CompletionJson { exit_code, timed_out, limits: limits(&hits), usage: usage.into() }
    }
}

impl From<&Exceeded> for LimitJson {
    fn from(exceeded: &Exceeded) -> LimitJson {
        LimitJson { limit: exceeded.kind, value: exceeded.value, message: exceeded.to_string() }
    }
}

impl From<Usage> for UsageJson {
    fn from(usage: Usage) -> UsageJson {
        UsageJson {
            wall_ms: usage.wall.as_secs_f64() * 1e3,
            cpu_ms: usage.cpu.as_secs_f64() * 1e3,
            peak_memory: usage.peak_memory,
            processes: usage.processes,
            bytes_read: usage.bytes_read,
            bytes_written: usage.bytes_written,
            fuel: usage.fuel,
        }
    }
}

impl Encoding {
    /// Text if all of these are UTF-8, else base64.
    pub fn of(all: &[&[u8]]) -> Encoding {
        match all.iter().all(|bytes| std::str::from_utf8(bytes).is_ok()) {
            true => Encoding::Utf8,
            false => Encoding::Base64,
        }
    }

    /// Encodes bytes.
    pub fn write(self, bytes: Vec<u8>) -> String {
        match self {
            Encoding::Utf8 => String::from_utf8(bytes).unwrap_or_else(|error| profile::base64(error.as_bytes())),
            Encoding::Base64 => profile::base64(&bytes),
        }
    }

    /// Decodes a text, unless it is not base64 and should be.
    pub fn read(self, text: String) -> Option<Vec<u8>> {
        match self {
            Encoding::Utf8 => Some(text.into_bytes()),
            Encoding::Base64 => profile::from_base64(&text),
        }
    }
}

fn limits(hits: &[Exceeded]) -> Vec<LimitJson> {
    hits.iter().map(LimitJson::from).collect()
}
