//! The options of `split`.

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;
use isopod_gnu::quote::plain;
use isopod_gnu::size;

/// The division of a file.
pub(super) enum Division {
    Lines(u64),
    Bytes(u64),
    LineBytes(u64),
    Chunks(Chunks),
}

/// `-n`.
pub(super) struct Chunks {
    pub(super) kind: Kind,
    /// The only chunk that is wanted.
    pub(super) only: Option<u64>,
    pub(super) count: u64,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Bytes,
    Lines,
    Turns,
}

/// The options of a run.
pub(super) struct Settings {
    pub(super) division: Division,
    pub(super) separator: u8,
    pub(super) prefix: String,
    /// The letters of suffixes.
    pub(super) digits: &'static [u8],
    pub(super) length: usize,
    /// Suffixes may become longer.
    pub(super) grows: bool,
    pub(super) first: String,
    pub(super) additional: String,
    pub(super) filter: Option<String>,
    pub(super) skips_empty: bool,
    pub(super) verbose: bool,
}

impl Settings {
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let mut division = None;
        let mut digits: &'static [u8] = b"abcdefghijklmnopqrstuvwxyz";
        let mut first = String::new();
        let mut old_lines = String::new();
        let mut separator = b'\n';
        for GivenOption { option, value } in &call.options {
            let text = value.as_deref().unwrap_or_default();
            let number = |what: &str| amount(call, text, what);
            let found = match *option {
                "lines" => Some(Division::Lines(count(call, text, "number of lines")?)),
                "bytes" => Some(Division::Bytes(number("number of bytes")?)),
                "line-bytes" => Some(Division::LineBytes(number("number of lines")?)),
                "number" => Some(Division::Chunks(chunks(call, text)?)),
                "numeric-suffixes" | "hex-suffixes" => {
                    digits = if *option == "hex-suffixes" { b"0123456789abcdef" } else { b"0123456789" };
                    if let Some(from) = value {
                        let fits = from.bytes().all(|byte| digits.contains(&byte));
                        if from.is_empty() || !fits {
                            return Err(call.failed(&format!(
                                "{}: invalid start value for {} suffix",
                                plain(from),
                                if *option == "hex-suffixes" { "hexadecimal" } else { "numerical" }
                            )));
                        }
                        first.clone_from(from);
                    }
                    None
                }
                "separator" => {
                    separator = match text.as_bytes() {
                        [byte] => *byte,
                        b"\\0" => 0,
                        [] => {
                            return Err(call.failed("empty record separator"));
                        }
                        _ => {
                            return Err(call.failed(&format!("multi-character separator {}", plain(text))));
                        }
                    };
                    None
                }
                "old-lines" => {
                    old_lines.push_str(text);
                    None
                }
                _ => None,
            };
            if let Some(found) = found
                && division.replace(found).is_some()
            {
                return Err(call.misused("cannot split in more than one way"));
            }
        }
        if !old_lines.is_empty() {
            if division.is_some() {
                return Err(call.misused("cannot split in more than one way"));
            }
            division = Some(Division::Lines(count(call, &old_lines, "number of lines")?));
        }
        let division = division.unwrap_or(Division::Lines(1000));
        let additional = call.value("additional-suffix").unwrap_or_default().to_owned();
        if additional.contains('/') {
            return Err(call.misused(&format!("invalid suffix {}, contains directory separator", plain(&additional))));
        }
        let (length, grows) = suffix_length(call, &division, digits.len() as u64, &first)?;
        Ok(Settings {
            division,
            separator,
            prefix: call.operands.get(1).cloned().unwrap_or_else(|| "x".to_owned()),
            digits,
            length,
            grows,
            first,
            additional,
            filter: call.value("filter").map(str::to_owned),
            skips_empty: call.has("elide-empty-files"),
            verbose: call.has("verbose"),
        })
    }
}

/// Returns the length of suffixes, and true if they may become longer.
fn suffix_length(call: &Call, division: &Division, base: u64, first: &str) -> Result<(usize, bool), u8> {
    let given = match call.value("suffix-length") {
        None => None,
        Some(text) => {
            Some(text.parse::<usize>().map_err(|_| call.failed(&format!("invalid suffix length: {}", plain(text))))?)
        }
    };
    let mut needed = 2;
    if let Division::Chunks(chunks) = division {
        let start = u64::from_str_radix(first, base.min(36) as u32).unwrap_or(0);
        let last = if start < chunks.count { start + chunks.count - 1 } else { chunks.count - 1 };
        let (mut rest, mut length) = (last / base, 1);
        while rest > 0 {
            rest /= base;
            length += 1;
        }
        needed = length.max(2);
        if given.is_some_and(|given| given > 0 && given < length) {
            return Err(call.failed(&format!("the suffix length needs to be at least {length}")));
        }
    }
    Ok(match given {
        Some(0) | None if matches!(division, Division::Chunks(_)) && first.len() > needed => {
            call.complain("numerical suffix start value is too large for the suffix length");
            return Err(call.hint());
        }
        Some(0) | None => (needed.max(first.len()), !matches!(division, Division::Chunks(_)) && first.is_empty()),
        Some(given) if first.len() > given => {
            call.complain("numerical suffix start value is too large for the suffix length");
            return Err(call.hint());
        }
        Some(given) => (given, false),
    })
}

fn amount(call: &Call, text: &str, what: &str) -> Result<u64, u8> {
    match size::parse(text).filter(|number| *number > 0) {
        Some(number) => Ok(number),
        None => Err(call.failed(&format!("invalid {what}: {}", plain(text)))),
    }
}

/// Reads a number without a unit.
fn count(call: &Call, text: &str, what: &str) -> Result<u64, u8> {
    match text.parse::<u64>() {
        Ok(number) if number > 0 && !text.starts_with('+') => Ok(number),
        _ => Err(call.failed(&format!("invalid {what}: {}", plain(text)))),
    }
}

fn chunks(call: &Call, text: &str) -> Result<Chunks, u8> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, numbers) = match parts.as_slice() {
        ["l", rest @ ..] => (Kind::Lines, rest),
        ["r", rest @ ..] => (Kind::Turns, rest),
        all => (Kind::Bytes, all),
    };
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let invalid = |what: &str, text: &str| call.failed(&format!("invalid {what}: {}", plain(text)));
    match numbers {
        [count] => {
            let count = number(count).ok_or_else(|| invalid("number of chunks", count))?;
            Ok(Chunks { kind, only: None, count })
        }
        [only, count] => {
            let count = number(count).ok_or_else(|| invalid("number of chunks", count))?;
            let only = number(only).filter(|only| *only <= count).ok_or_else(|| invalid("chunk number", only))?;
            Ok(Chunks { kind, only: Some(only), count })
        }
        _ => Err(invalid("number of chunks", text)),
    }
}
