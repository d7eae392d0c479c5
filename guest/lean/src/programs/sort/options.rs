//! The options of `sort`, and the settings that they make.

use std::cmp::Ordering;

use isopod_sys::files::OpenFlags;
use isopod_sys::{Fd, text};

use super::key::{Comparison, Key, Kind};
use super::{order, run};
use isopod_gnu::input::Input;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{quote, size};

/// `sort`.
pub(crate) const PROGRAM: Program = Program {
    name: "sort",
    operands: &["[OPTION]... [FILE]...", "[OPTION]... --files0-from=F"],
    about: "Write sorted concatenation of all FILE(s) to standard output.\n\
            With no FILE, or when FILE is -, read standard input.\n\n\
            KEYDEF is F[.C][OPTS][,F[.C][OPTS]] for start and stop position, where F is a field number and C a\n\
            character position in the field; both are origin 1, and the stop position defaults to the line's end.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "ignore-leading-blanks", "ignore leading blanks"),
        Opt::flag('d', "dictionary-order", "consider only blanks and alphanumeric characters"),
        Opt::flag('f', "ignore-case", "fold lower case to upper case characters"),
        Opt::flag('g', "general-numeric-sort", "compare according to general numerical value"),
        Opt::flag('i', "ignore-nonprinting", "consider only printable characters"),
        Opt::flag('M', "month-sort", "compare (unknown) < 'JAN' < ... < 'DEC'"),
        Opt::flag('h', "human-numeric-sort", "compare human readable numbers (e.g., 2K 1G)"),
        Opt::flag('n', "numeric-sort", "compare according to string numerical value"),
        Opt::flag('R', "random-sort", "shuffle, but group identical keys"),
        Opt::flag('r', "reverse", "reverse the result of comparisons"),
        Opt::long("sort", "sort according to WORD: general-numeric, human-numeric, month, numeric, random, version")
            .takes("WORD"),
        Opt::flag('V', "version-sort", "natural sort of (version) numbers within text"),
        Opt::long("batch-size", "accepted: all inputs are merged at once").takes("NMERGE"),
        Opt::letter('c', "check", "check for sorted input; do not sort"),
        Opt::letter('C', "C", "like -c, but do not report first bad line"),
        Opt::long("check", "like -c; with 'quiet' or 'silent', like -C").may_take("WORD"),
        Opt::long("files0-from", "read input from the files specified by NUL-terminated names in file F").takes("F"),
        Opt::flag('k', "key", "sort via a key; KEYDEF gives location and type").takes("KEYDEF"),
        Opt::flag('m', "merge", "merge already sorted files; do not sort"),
        Opt::flag('o', "output", "write result to FILE instead of standard output").takes("FILE"),
        Opt::flag('s', "stable", "stabilize sort by disabling last-resort comparison"),
        Opt::flag('S', "buffer-size", "use SIZE for main memory buffer").takes("SIZE"),
        Opt::flag('t', "field-separator", "use SEP instead of non-blank to blank transition").takes("SEP"),
        Opt::flag('T', "temporary-directory", "use DIR for temporaries, not $TMPDIR or /tmp").takes("DIR"),
        Opt::long("parallel", "accepted: a process has one processor").takes("N"),
        Opt::flag('u', "unique", "output only the first of an equal run; with -c, check for strict ordering"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The task of a run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    Sort,
    Merge,
    Check { quiet: bool },
}

/// The most bytes that are sorted at once; `room` limits them to the memory of the process.
const MEMORY: usize = 256 << 20;
/// With less than this there would be more pieces than open files.
const LEAST_MEMORY: usize = 1 << 20;

/// The settings that all options make.
pub(super) struct Settings {
    pub(super) mode: Mode,
    keys: Vec<Key>,
    reverse: bool,
    stable: bool,
    pub(super) unique: bool,
    separator: Option<u8>,
    pub(super) end: u8,
    pub(super) output: Option<String>,
    pub(super) memory: usize,
    pub(super) directory: String,
    seed: u64,
}

impl Settings {
    /// Reads the options. An error is the exit code, after the message was written.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let refuse = |message: String| {
            call.complain(&message);
            2
        };
        let mut settings = Settings {
            mode: Mode::Sort,
            keys: Vec::new(),
            reverse: false,
            stable: false,
            unique: false,
            separator: None,
            end: b'\n',
            output: None,
            memory: MEMORY,
            directory: std::env::var("TMPDIR").ok().filter(|value| !value.is_empty()).unwrap_or("/tmp".to_owned()),
            seed: 0,
        };
        let mut global = Comparison::default();
        let mut kinds: Vec<(char, Kind)> = Vec::new();
        for GivenOption { option, value } in &call.options {
            let value = value.as_deref().unwrap_or_default();
            match *option {
                "ignore-leading-blanks" => (global.skip_start_blanks, global.skip_end_blanks) = (true, true),
                "dictionary-order" => global.dictionary = true,
                "ignore-case" => global.fold = true,
                "ignore-nonprinting" => global.printable = true,
                "general-numeric-sort" => kinds.push(('g', Kind::General)),
                "human-numeric-sort" => kinds.push(('h', Kind::Human)),
                "month-sort" => kinds.push(('M', Kind::Month)),
                "numeric-sort" => kinds.push(('n', Kind::Numeric)),
                "random-sort" => kinds.push(('R', Kind::Random)),
                "version-sort" => kinds.push(('V', Kind::Version)),
                "sort" => {
                    kinds.push(sort_word(value).ok_or_else(|| {
                        call.misused(&format!("invalid argument {} for '--sort'", quote::plain(value)))
                    })?)
                }
                "reverse" => global.reverse = true,
                "check" if matches!(value, "" | "diagnose-first") => settings.mode = Mode::Check { quiet: false },
                "check" if matches!(value, "quiet" | "silent") => settings.mode = Mode::Check { quiet: true },
                "check" => return Err(call.misused(&format!("invalid argument {} for '--check'", quote::plain(value)))),
                "C" => settings.mode = Mode::Check { quiet: true },
                "merge" if settings.mode == Mode::Sort => settings.mode = Mode::Merge,
                "key" => settings.keys.push(parse_key(value).map_err(&refuse)?),
                "output" if settings.output.as_deref().is_some_and(|known| known != value) => {
                    return Err(refuse("multiple output files specified".to_owned()));
                }
                "output" => settings.output = Some(value.to_owned()),
                "stable" => settings.stable = true,
                "unique" => settings.unique = true,
                "zero-terminated" => settings.end = 0,
                "field-separator" => settings.separator = Some(separator(value).map_err(&refuse)?),
                "temporary-directory" => settings.directory = value.to_owned(),
                "buffer-size" => {
                    let size = buffer_size(value)
                        .ok_or_else(|| refuse(format!("invalid -S argument {}", quote::plain(value))))?;
                    settings.memory = size.clamp(LEAST_MEMORY, MEMORY);
                }
                "parallel" | "batch-size" if value.parse::<u64>().is_err() => {
                    return Err(refuse(format!("invalid --{option} argument {}", quote::plain(value))));
                }
                _ => {}
            }
        }
        kinds.dedup();
        if let [(first, _), (second, _), ..] = kinds.as_slice() {
            return Err(refuse(format!("options '-{first}{second}' are incompatible")));
        }
        global.kind = kinds.first().map(|(_, kind)| *kind).unwrap_or_default();
        settings.reverse = global.reverse;
        for key in settings.keys.iter_mut().filter(|key| key.how.is_default()) {
            key.how = global.clone();
        }
        if settings.keys.is_empty() && !global.is_plain() {
            settings.keys.push(Key::whole(global));
        }
        for key in &settings.keys {
            if let Some(pair) = contradiction(&key.how) {
                return Err(refuse(format!("options '-{pair}' are incompatible")));
            }
        }
        if matches!(settings.mode, Mode::Check { .. }) && settings.output.is_some() {
            return Err(refuse("options '-co' are incompatible".to_owned()));
        }
        if settings.keys.iter().any(|key| key.how.kind == Kind::Random) {
            settings.seed = chance().map_err(&refuse)?;
        }
        Ok(settings)
    }

    /// Reads the names that `--files0-from` lists.
    pub(super) fn names(&self, call: &Call) -> Result<Option<Vec<String>>, u8> {
        let Some(from) = call.value("files0-from") else { return Ok(None) };
        if let Some(extra) = call.operands.first() {
            call.complain(&format!("extra operand {}", quote::plain(extra)));
            call.complain("file operands cannot be combined with --files0-from");
            return Err(call.hint());
        }
        let bytes = Input::open(from).and_then(|input| input.read_all()).map_err(|errno| {
            call.complain(&format!("open failed: {}: {}", quote::name(from), text(errno)));
            2
        })?;
        let list = String::from_utf8_lossy(&bytes).into_owned();
        let list = list.strip_suffix('\0').unwrap_or(&list);
        if list.is_empty() {
            call.complain(&format!("no input from {}", quote::shell(from)));
            return Err(2);
        }
        Ok(Some(list.split('\0').map(str::to_owned).collect()))
    }

    /// Compares two lines.
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.or_lines(self.compare_keys(a, b), a, b)
    }

    /// Compares two lines that have the same hint.
    pub(super) fn compare_hinted(&self, a: &[u8], b: &[u8], hint: u64) -> Ordering {
        match self.keys.split_first() {
            Some((first, others)) if order::is_all(hint, &first.how) => self.or_lines(self.by_keys(others, a, b), a, b),
            _ => self.compare(a, b),
        }
    }

    /// Compares lines with equal keys by all their bytes, unless `-s` or `-u` says otherwise.
    fn or_lines(&self, by_keys: Ordering, a: &[u8], b: &[u8]) -> Ordering {
        if by_keys != Ordering::Equal || self.stable || self.unique {
            return by_keys;
        }
        let last = a.cmp(b);
        if self.reverse { last.reverse() } else { last }
    }

    /// Compares two lines by their keys.
    pub(super) fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            let order = a.cmp(b);
            return if self.reverse { order.reverse() } else { order };
        }
        self.by_keys(&self.keys, a, b)
    }

    fn by_keys(&self, keys: &[Key], a: &[u8], b: &[u8]) -> Ordering {
        for key in keys {
            let (a, b) = (key.of(a, self.separator), key.of(b, self.separator));
            let order = order::compare(a, b, &key.how, self.seed);
            if order != Ordering::Equal {
                return if key.how.reverse { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Returns a number that decides most comparisons: see `order::hint`.
    pub(super) fn hint(&self, line: &[u8]) -> u64 {
        match self.keys.first() {
            Some(key) => order::hint(key.of(line, self.separator), &key.how),
            None => order::hint(line, &Comparison::default()),
        }
    }

    /// Returns true if a greater hint comes first.
    pub(super) fn hint_reversed(&self) -> bool {
        self.keys.first().map_or(self.reverse, |key| key.how.reverse)
    }

    /// Returns true if lines are compared by their bytes.
    pub(super) fn is_plain(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns true if only identical lines compare equal.
    pub(super) fn is_total(&self) -> bool {
        self.keys.is_empty() || !self.stable && !self.unique
    }
}

/// Reads a key: `F[.C][OPTS][,F[.C][OPTS]]`.
fn parse_key(text: &str) -> Result<Key, String> {
    let invalid = |what: &str| format!("{what}: invalid field specification {}", quote::plain(text));
    let mut how = Comparison::default();
    let (start, end) = text.split_once(',').map_or((text, None), |(start, end)| (start, Some(end)));
    let (field, chars, letters) = position(start).ok_or_else(|| invalid("invalid number at field start"))?;
    if field == 0 {
        return Err(invalid("field number is zero"));
    }
    if chars == Some(0) {
        return Err(invalid("character offset is zero"));
    }
    let mut key =
        Key { start_field: field - 1, start_char: chars.unwrap_or(1) - 1, end: None, how: Comparison::default() };
    if !letters.chars().all(|letter| how.set(letter, false)) {
        return Err(invalid("stray character in field spec"));
    }
    if let Some(end) = end {
        let (field, chars, letters) = position(end).ok_or_else(|| invalid("invalid number after ','"))?;
        if field == 0 {
            return Err(invalid("field number is zero"));
        }
        if !letters.chars().all(|letter| how.set(letter, true)) {
            return Err(invalid("stray character in field spec"));
        }
        key.end = Some((field - 1, chars.unwrap_or(0)));
    }
    key.how = how;
    Ok(key)
}

/// Reads a field, a character in it, and the letters that follow.
fn position(text: &str) -> Option<(usize, Option<usize>, &str)> {
    let number = |text: &str| -> Option<(usize, usize)> {
        let length = text.bytes().take_while(u8::is_ascii_digit).count();
        // A number that is too large is beyond all fields.
        (length > 0).then(|| (text[..length].parse().unwrap_or(usize::MAX / 2), length))
    };
    let (field, length) = number(text)?;
    let rest = &text[length..];
    match rest.strip_prefix('.') {
        Some(after) => {
            let (chars, length) = number(after)?;
            Some((field, Some(chars), &after[length..]))
        }
        None => Some((field, None, rest)),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [] => Err("empty tab".to_owned()),
        [byte] => Ok(*byte),
        b"\\0" => Ok(0),
        _ => Err(format!("multi-character tab {}", quote::plain(text))),
    }
}

fn sort_word(word: &str) -> Option<(char, Kind)> {
    let words = [
        ("general-numeric", 'g', Kind::General),
        ("human-numeric", 'h', Kind::Human),
        ("month", 'M', Kind::Month),
        ("numeric", 'n', Kind::Numeric),
        ("random", 'R', Kind::Random),
        ("version", 'V', Kind::Version),
    ];
    words
        .into_iter()
        .find(|(known, ..)| !word.is_empty() && known.starts_with(word))
        .map(|(_, letter, kind)| (letter, kind))
}

/// Returns the letters of two comparisons that exclude each other.
fn contradiction(how: &Comparison) -> Option<String> {
    let kind = match how.kind {
        Kind::Numeric => 'n',
        Kind::General => 'g',
        Kind::Human => 'h',
        Kind::Month => 'M',
        Kind::Text | Kind::Random | Kind::Version => return None,
    };
    let other = if how.dictionary {
        'd'
    } else if how.printable && kind != 'M' {
        'i'
    } else {
        return None;
    };
    let mut pair = [other, kind];
    pair.sort_unstable();
    Some(pair.iter().collect())
}

/// Reads a size in KiB unless it has a unit; a percentage is of the memory of a process.
fn buffer_size(text: &str) -> Option<usize> {
    if let Some(percent) = text.strip_suffix('%') {
        return percent.parse::<usize>().ok().map(|percent| MEMORY / 100 * percent.min(100));
    }
    let bytes = match text.strip_suffix('b') {
        Some(bytes) => bytes.parse().ok()?,
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => size::parse(text)?.saturating_mul(1024),
        None => size::parse(text)?,
    };
    Some(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn chance() -> Result<u64, String> {
    let bytes = Fd::open("/dev/urandom", OpenFlags::READ, 0).and_then(|file| file.read(8));
    let bytes = bytes.map_err(|errno| format!("open failed: /dev/urandom: {}", text(errno)))?;
    Ok(bytes.iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
}
