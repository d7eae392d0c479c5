//! Shell scripts that operate on a file, and their output.

use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::super::{BackendError, Result, bounds};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::sandbox::{Command, Output};

/// The exit codes by which scripts report faults. Programs do not use them.
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

/// The errors whose message programs print: the texts of `strerror` in the C locale.
const MESSAGES: [Errno; 13] = [
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

/// A script. `$p` is the path that it operates on.
pub(super) struct Script {
    text: String,
    /// The largest number of bytes of output.
    output: u64,
    timeout: Duration,
}

impl Script {
    pub(super) fn new(text: impl Into<String>) -> Script {
        Script { text: text.into(), output: bounds::OUTPUT_BYTES, timeout: bounds::FILE_TIME }
    }

    /// Sets `$p`.
    pub(super) fn path(self, path: &GuestPath) -> Script {
        let slash = if path.must_be_dir() && !path.is_root() { "/" } else { "" };
        let text = format!("p={}\n{}", quote(&format!("{path}{slash}")), self.text);
        Script { text, ..self }
    }

    /// Sets the largest number of bytes of output.
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

/// The output of a script.
pub(super) struct ScriptOutput {
    pub(super) stdout: Vec<u8>,
    pub(super) exit_code: u8,
    /// True if a part of the output is missing.
    pub(super) is_cut: bool,
    pub(super) timed_out: bool,
    pub(super) stderr: String,
}

impl ScriptOutput {
    /// The output of a script that succeeded, or the error of one that failed.
    pub(super) fn new(path: &str, output: Output) -> Result<ScriptOutput> {
        let answer = ScriptOutput::of(output);
        if answer.timed_out {
            return Err(BackendError::TimedOut(path.to_owned()));
        }
        match answer.exit_code {
            0 if answer.is_cut => Err(transport("the answer was cut")),
            0 => Ok(answer),
            code => Err(refused(path, code, &answer.stderr)),
        }
    }

    /// The output of a script, whatever its exit code. If it was cut, the part before the cut.
    pub(super) fn of(output: Output) -> ScriptOutput {
        ScriptOutput {
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

/// Translates an exit code and the messages of a script to an error.
pub(super) fn refused(path: &str, code: u8, stderr: &str) -> BackendError {
    match FAULTS.iter().find(|(fault, _)| *fault == code) {
        Some((_, Fault::Errno(errno))) => return BackendError::file(path, *errno),
        Some((_, Fault::NotRegular)) => return BackendError::NotRegular(path.to_owned()),
        Some((_, Fault::Changed)) => return BackendError::Conflict(path.to_owned()),
        None => {}
    }
    // `mkdir -p` prints "File exists" if a part of the path is a file.
    if stderr.contains(&Errno::Exist.to_string()) {
        return BackendError::file(path, Errno::NotDirectory);
    }
    let is_reported = |errno: &&Errno| stderr.contains(&errno.to_string());
    match MESSAGES.iter().find(is_reported) {
        Some(errno) => BackendError::file(path, *errno),
        None => transport(&format!("exit code {code}: {}", stderr.lines().next().unwrap_or_default())),
    }
}

pub(super) fn transport(reason: &str) -> BackendError {
    BackendError::Transport { backend: "exec files", reason: reason.to_owned() }
}

/// Quotes a text as one word of the shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Base64 as shells and their tools write it: padding is optional, and unused bits may be set.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD_ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Encodes bytes as base64, in lines of `width` characters, or in one line if `width` is 0.
pub(in super::super) fn encode(bytes: &[u8], width: usize) -> String {
    let text = LENIENT.encode(bytes);
    if width == 0 {
        return text;
    }
    let line = |at| &text[at..text.len().min(at + width)];
    (0..text.len()).step_by(width).map(line).collect::<Vec<_>>().join("\n")
}

/// Decodes base64. White space and padding are skipped. Returns `None` if the text is not base64.
pub(in super::super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    LENIENT.decode(digits).ok()
}

/// Appends bytes to a command as a here-document of base64, which cannot contain its end marker.
pub(super) fn here_document(command: &str, bytes: &[u8]) -> String {
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
