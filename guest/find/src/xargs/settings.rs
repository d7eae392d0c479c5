//! The options of `xargs`.

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;

/// The settings of a run.
pub(super) struct Settings {
    pub(super) command: Vec<String>,
    pub(super) split: Split,
    /// The byte between items. Without one, blanks separate items and quotes protect them.
    pub(super) delimiter: Option<u8>,
    /// The item that ends the input.
    pub(super) end: Option<String>,
    /// The file with the items; standard input if there is none.
    pub(super) source: Option<String>,
    pub(super) max_chars: usize,
    /// The number of commands that may run at once; 0 is no limit.
    pub(super) max_procs: usize,
    pub(super) slot_variable: Option<String>,
    pub(super) is_verbose: bool,
    pub(super) skips_empty: bool,
    pub(super) exits_when_full: bool,
    pub(super) shows_limits: bool,
}

/// The distribution of items over commands.
#[derive(PartialEq)]
pub(super) enum Split {
    /// As many as fit.
    Fill,
    /// A number of arguments a command: `-n`.
    Args(usize),
    /// A number of lines a command: `-L`.
    Lines(usize),
    /// One line a command, in place of this mark: `-I`.
    Replace(String),
}

/// GNU's default length of a command line, well under the kernel's limit.
const USUAL_CHARS: usize = 128 * 1024;

/// The kernel's limit on arguments and environment is 2 MiB, of which some is left for the environment.
pub(super) const MOST_CHARS: usize = (2 << 20) - 4096;

impl Settings {
    /// Reads the options. An error is the exit code, after its message has been printed.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let command = if call.operands.is_empty() { vec!["echo".to_owned()] } else { call.operands.clone() };
        let mut settings = Settings {
            command,
            split: Split::Fill,
            delimiter: None,
            end: None,
            source: None,
            max_chars: USUAL_CHARS,
            max_procs: 1,
            slot_variable: None,
            is_verbose: false,
            skips_empty: false,
            exits_when_full: false,
            shows_limits: false,
        };
        for GivenOption { option, value } in &call.options {
            settings.set(call, option, value.as_deref())?;
        }
        Ok(settings)
    }

    fn set(&mut self, call: &Call, option: &str, value: Option<&str>) -> Result<(), u8> {
        let text = value.unwrap_or_default();
        match option {
            "null" => self.delimiter = Some(0),
            "delimiter" => {
                self.delimiter = Some(delimiter(text).map_err(|message| {
                    call.complain(&message);
                    1
                })?);
            }
            "arg-file" => self.source = Some(text.to_owned()),
            "eof" => self.end = value.filter(|end| !end.is_empty()).map(str::to_owned),
            "I" | "replace" => {
                self.choose(call, Split::Replace(value.unwrap_or("{}").to_owned()), "--replace/-I/-i");
                self.exits_when_full = true;
            }
            "L" => self.choose(call, Split::Lines(number(call, 'L', text, 1)?), "-L"),
            "max-lines" => {
                let lines = value.map_or(Ok(1), |text| number(call, 'l', text, 1))?;
                self.choose(call, Split::Lines(lines), "--max-lines/-l");
                self.exits_when_full = true;
            }
            "max-args" => self.choose(call, Split::Args(number(call, 'n', text, 1)?), "--max-args/-n"),
            "max-procs" => self.max_procs = number(call, 'P', text, 0)?,
            "max-chars" => {
                self.max_chars = number(call, 's', text, 1)?;
                if self.max_chars > MOST_CHARS {
                    call.complain(&format!("value {text} for -s option should be <= {MOST_CHARS}"));
                    self.max_chars = MOST_CHARS;
                }
            }
            "process-slot-var" => {
                if text.contains('=') {
                    call.complain("option --process-slot-var may not be set to a value which includes '='");
                    return Err(1);
                }
                self.slot_variable = Some(text.to_owned());
            }
            "open-tty" | "interactive" => {
                call.complain(&format!("--{option}: there is no terminal here"));
                return Err(1);
            }
            "no-run-if-empty" => self.skips_empty = true,
            "show-limits" => self.shows_limits = true,
            "verbose" => self.is_verbose = true,
            "exit" => self.exits_when_full = true,
            _ => {}
        }
        Ok(())
    }

    /// Sets the distribution, and warns if another was set before: the last of `-n`, `-L` and `-I` counts.
    fn choose(&mut self, call: &Call, split: Split, name: &str) {
        let earlier = match (&self.split, &split) {
            (Split::Args(_), Split::Lines(_) | Split::Replace(_)) => "--max-args",
            (Split::Lines(_), Split::Args(_) | Split::Replace(_)) => "--max-lines",
            // `-n 1` is the same as `-I` already does.
            (Split::Replace(_), Split::Args(1)) => return,
            (Split::Replace(_), Split::Args(_) | Split::Lines(_)) => "--replace",
            _ => {
                self.split = split;
                return;
            }
        };
        call.complain(&format!(
            "warning: options {earlier} and {name} are mutually exclusive, ignoring previous {earlier} value"
        ));
        self.split = split;
    }
}

fn number(call: &Call, letter: char, text: &str, least: usize) -> Result<usize, u8> {
    let Ok(number) = text.parse::<i64>() else {
        return Err(call.misused(&format!("invalid number \"{text}\" for -{letter} option")));
    };
    if number < least as i64 {
        return Err(call.misused(&format!("value {text} for -{letter} option should be >= {least}")));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Reads a character, or an escape sequence.
fn delimiter(text: &str) -> Result<u8, String> {
    let wrong = || {
        format!(
            "Invalid input delimiter specification {text}: the delimiter must be either a single character or an \
             escape sequence starting with \\."
        )
    };
    match text.as_bytes() {
        [byte] => Ok(*byte),
        [b'\\', rest @ ..] => escaped(text, rest),
        _ => Err(wrong()),
    }
}

fn escaped(text: &str, rest: &[u8]) -> Result<u8, String> {
    let wrong = || format!("Invalid escape sequence {text} in input delimiter specification.");
    let digits = |digits: &[u8], base| {
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        u8::from_str_radix(digits, base).map_err(|_| wrong())
    };
    match rest {
        b"a" => Ok(0x07),
        b"b" => Ok(0x08),
        b"f" => Ok(0x0c),
        b"n" => Ok(b'\n'),
        b"r" => Ok(b'\r'),
        b"t" => Ok(b'\t'),
        b"v" => Ok(0x0b),
        b"\\" => Ok(b'\\'),
        [b'x', hex @ ..] => digits(hex, 16),
        [b'0'..=b'7', ..] => digits(rest, 8),
        _ => Err(wrong()),
    }
}
