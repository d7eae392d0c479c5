//! A shell script that does something to a file, and its answer.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::{BackendError, Result, bounds};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::sandbox::{Command, Output};

/// Exit codes by which a script says what is wrong, beyond those that programs use.
const FAULTS: [(u8, Fault); 8] = [
    (40, Fault::Errno(Errno::NoEntry)),
    (41, Fault::Errno(Errno::IsDirectory)),
    (42, Fault::Errno(Errno::NotDirectory)),
    (43, Fault::NotRegular),
    (44, Fault::Errno(Errno::Access)),
    (45, Fault::Changed),
    (46, Fault::Errno(Errno::Exist)),
    (47, Fault::Errno(Errno::Loop)),
];

#[derive(Clone, Copy)]
enum Fault {
    Errno(Errno),
    NotRegular,
    Changed,
}

/// Errors that programs report in words: those of `strerror` in the C locale.
const SPOKEN: [Errno; 13] = [
    Errno::Access,
    Errno::Busy,
    Errno::Quota,
    Errno::FileTooLarge,
    Errno::IsDirectory,
    Errno::Loop,
    Errno::NameTooLong,
    Errno::NoEntry,
    Errno::NoSpace,
    Errno::NotDirectory,
    Errno::NotPermitted,
    Errno::ReadOnly,
    Errno::Invalid,
];

/// A script. The path it is about is `$p`.
pub(super) struct Script {
    text: String,
    output: u64,
    timeout: Duration,
}

impl Script {
    pub(super) fn new(text: impl Into<String>) -> Script {
        Script { text: text.into(), output: bounds::OUTPUT_BYTES, timeout: bounds::FILE_TIME }
    }

    /// About a path.
    pub(super) fn path(self, path: &GuestPath) -> Script {
        let slash = if path.must_be_dir() && !path.is_root() { "/" } else { "" };
        let text = format!("p={}\n{}", quote(&format!("{path}{slash}")), self.text);
        Script { text, ..self }
    }

    /// That answers with this much.
    pub(super) fn output(self, bytes: u64) -> Script {
        Script { output: bytes, ..self }
    }

    pub(super) fn timeout(self, timeout: Duration) -> Script {
        Script { timeout, ..self }
    }

    pub(super) fn request(self) -> Command {
        let command = format!("LC_ALL=C; export LC_ALL\n{}", self.text);
        Command::shell(command).output_limit(self.output).timeout(self.timeout)
    }
}

/// What a script that succeeded wrote.
pub(super) struct Answer {
    pub(super) stdout: Vec<u8>,
    pub(super) exit_code: u8,
    /// Whether a part of it did not come back.
    pub(super) is_cut: bool,
    pub(super) timed_out: bool,
    pub(super) stderr: String,
}

impl Answer {
    /// The answer, or the error that it is.
    pub(super) fn new(path: &str, output: Output) -> Result<Answer> {
        let answer = Answer::of(output);
        if answer.timed_out {
            return Err(BackendError::TimedOut(path.to_owned()));
        }
        match answer.exit_code {
            0 if answer.is_cut => Err(transport("the answer was cut")),
            0 => Ok(answer),
            code => Err(refused(path, code, &answer.stderr)),
        }
    }

    /// The answer, whatever it is; of one that was cut, what came before the cut.
    pub(super) fn of(output: Output) -> Answer {
        Answer {
            exit_code: output.exit_code,
            is_cut: output.truncated,
            timed_out: output.timed_out,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            stdout: if output.truncated { output.head().to_vec() } else { output.stdout },
        }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// What an exit code and the words beside it mean.
pub(super) fn refused(path: &str, code: u8, stderr: &str) -> BackendError {
    match FAULTS.iter().find(|(fault, _)| *fault == code) {
        Some((_, Fault::Errno(errno))) => return BackendError::file(path, *errno),
        Some((_, Fault::NotRegular)) => return BackendError::NotRegular(path.to_owned()),
        Some((_, Fault::Changed)) => return BackendError::Conflict(path.to_owned()),
        None => {}
    }
    // What mkdir says of a file that is in the way of a directory.
    if stderr.contains(&Errno::Exist.to_string()) {
        return BackendError::file(path, Errno::NotDirectory);
    }
    let said = |errno: &&Errno| stderr.contains(&errno.to_string());
    match SPOKEN.iter().find(said) {
        Some(errno) => BackendError::file(path, *errno),
        None => transport(&format!("exit code {code}: {}", stderr.lines().next().unwrap_or_default())),
    }
}

pub(super) fn transport(reason: &str) -> BackendError {
    BackendError::Transport { backend: "exec files", reason: reason.to_owned() }
}

/// A word of the shell that is this text and nothing else.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64, in lines.
pub(in super::super) fn encode(bytes: &[u8], width: usize) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + bytes.len() / 50 + 4);
    for (at, group) in bytes.chunks(3).enumerate() {
        if width > 0 && at > 0 && (at * 4).is_multiple_of(width) {
            text.push('\n');
        }
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            text.push(if digit <= group.len() {
                DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

/// The bytes that base64 stands for; white space in it means nothing. None if it is not base64.
pub(in super::super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'=') {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        bits = bits << 6 | digit as u32;
        count += 1;
        if count % 4 == 0 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    match count % 4 {
        0 => {}
        2 => bytes.push((bits >> 4) as u8),
        3 => bytes.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(bytes)
}

/// Lines of base64 for a here-document, which cannot hold its end.
pub(super) fn here(command: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{command} <<'BASE64_END'\n{}\nBASE64_END\n", encode(bytes, 1000));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes, 0), text);
            assert_eq!(decode(text.as_bytes()).unwrap(), bytes);
        }
        let all: Vec<u8> = (0..=255).cycle().take(1000).collect();
        assert_eq!(decode(encode(&all, 76).as_bytes()).unwrap(), all);
        assert!(decode(b"Zg*=").is_none());
    }

    #[test]
    fn a_quoted_word_is_itself() {
        assert_eq!(quote("it's $(x)"), "'it'\\''s $(x)'");
    }
}
