//! The values of grep's options.

use isopod_gnu::input::Input;
use isopod_gnu::program::Call;
use isopod_gnu::quote;
use isopod_regex::Whole;
use isopod_sys::text;

use super::color::Colors;
use super::filter::Filter;

/// The syntax of the patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Basic,
    Extended,
    Fixed,
    Perl,
    Awk,
}

/// The treatment of binary files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    /// Reports only that the file matches.
    Named,
    /// Treats the file as text.
    Text,
    /// Treats the file as one without a match.
    WithoutMatch,
}

/// The treatment of directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    Read,
    Skip,
    /// Searches the files below; with `true`, also those behind symbolic links.
    Recurse(bool),
}

/// The files to list in place of matching lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    None,
    Matching,
    Others,
}

/// The values of the options.
pub(super) struct Options {
    pub(super) dialect: Dialect,
    pub(super) patterns: Vec<Vec<u8>>,
    pub(super) icase: bool,
    pub(super) whole: Whole,
    /// The line terminator.
    pub(super) end: u8,
    pub(super) no_messages: bool,
    pub(super) invert: bool,
    /// The largest number of selected lines per file.
    pub(super) most: u64,
    pub(super) byte_offset: bool,
    pub(super) line_number: bool,
    pub(super) line_buffered: bool,
    /// Prints file names. By default that depends on the number of files.
    pub(super) names: Option<bool>,
    pub(super) label: String,
    pub(super) only_matching: bool,
    pub(super) quiet: bool,
    pub(super) binary: Binary,
    pub(super) directories: Directories,
    pub(super) skip_devices: Option<bool>,
    pub(super) filter: Filter,
    pub(super) list: List,
    pub(super) count: bool,
    pub(super) tab: bool,
    /// Writes a NUL after a file name.
    pub(super) null: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) has_context: bool,
    pub(super) separator: Option<String>,
    pub(super) colors: Option<Colors>,
    pub(super) files: Vec<String>,
}

impl Options {
    /// Reads the options. An error has been reported, and its value is the exit code.
    pub(super) fn read(call: &Call, matcher: Option<&str>) -> Result<Options, u8> {
        let mut options = Options::default();
        let mut dialect = matcher;
        let mut patterns: Option<Vec<Vec<u8>>> = None;
        let (mut context, mut before, mut after) = (None, None, None);
        let mut digits: Option<usize> = None;
        let mut color = false;
        for found in &call.options {
            let value = found.value.as_deref().unwrap_or_default();
            if let [digit @ b'0'..=b'9'] = found.option.as_bytes() {
                let digit = usize::from(digit - b'0');
                digits = Some(digits.unwrap_or(0).saturating_mul(10).saturating_add(digit));
                context = digits;
                continue;
            }
            digits = None;
            match found.option {
                "extended-regexp" | "fixed-strings" | "basic-regexp" | "perl-regexp" | "matcher" => {
                    let new = if found.option == "matcher" { value } else { found.option };
                    dialect = Some(choose(dialect, new).map_err(|message| complain(call, &message))?);
                }
                "regexp" => patterns.get_or_insert_default().extend(lines(value.as_bytes())),
                "file" => {
                    let bytes = read_all(value).map_err(|message| complain(call, &message))?;
                    patterns.get_or_insert_default().extend(file_lines(&bytes));
                }
                "before-context" => before = Some(length(call, value)?),
                "after-context" => after = Some(length(call, value)?),
                "context" => context = Some(length(call, value)?),
                "color" | "colour" => color = wants_color(call, found.value.as_deref())?,
                option => options.set(call, option, value)?,
            }
        }
        options.has_context = context.is_some() || before.is_some() || after.is_some();
        options.before = before.or(context).unwrap_or(0);
        options.after = after.or(context).unwrap_or(0);
        options.dialect = Dialect::of_matcher(dialect);
        let mut operands = call.operands.iter();
        options.patterns = match patterns {
            Some(patterns) => patterns,
            None => match operands.next() {
                Some(pattern) => lines(pattern.as_bytes()).collect(),
                None => {
                    call.complain("no pattern");
                    return Err(call.hint());
                }
            },
        };
        options.files = operands.cloned().collect();
        if color {
            options.colors = Some(Colors::from_environment(call));
        }
        Ok(options)
    }

    /// Sets an option that does not depend on others.
    fn set(&mut self, call: &Call, option: &str, value: &str) -> Result<(), u8> {
        match option {
            "ignore-case" => self.icase = true,
            "no-ignore-case" => self.icase = false,
            "word-regexp" if self.whole == Whole::Any => self.whole = Whole::Word,
            "word-regexp" => {}
            "line-regexp" => self.whole = Whole::Line,
            "null-data" => self.end = 0,
            "no-messages" => self.no_messages = true,
            "invert-match" => self.invert = true,
            "max-count" => self.most = most(value).ok_or_else(|| complain(call, "invalid max count"))?,
            "byte-offset" => self.byte_offset = true,
            "unix-byte-offsets" => call.complain("warning: --unix-byte-offsets (-u) is obsolete"),
            "line-number" => self.line_number = true,
            "line-buffered" => self.line_buffered = true,
            "with-filename" => self.names = Some(true),
            "no-filename" => self.names = Some(false),
            "label" => self.label = value.to_owned(),
            "only-matching" => self.only_matching = true,
            "quiet" | "silent" => self.quiet = true,
            "text" => self.binary = Binary::Text,
            "without-match" => self.binary = Binary::WithoutMatch,
            "recursive" => self.directories = Directories::Recurse(false),
            "dereference-recursive" => self.directories = Directories::Recurse(true),
            "binary-files" | "directories" | "devices" => self.set_file_kind(call, option, value)?,
            "include" => self.filter.include(value),
            "exclude" => self.filter.exclude(value),
            "exclude-dir" => self.filter.exclude_dir(value),
            "exclude-from" => {
                let bytes = read_all(value).map_err(|message| complain(call, &message))?;
                for line in String::from_utf8_lossy(&bytes).lines().filter(|line| !line.is_empty()) {
                    self.filter.exclude(line);
                }
            }
            "files-without-match" => self.list = List::Others,
            "files-with-matches" => self.list = List::Matching,
            "count" => self.count = true,
            "initial-tab" => self.tab = true,
            "null" => self.null = true,
            "group-separator" => self.separator = Some(value.to_owned()),
            "no-group-separator" => self.separator = None,
            // `--binary` keeps carriage returns, which are never removed here.
            _ => {}
        }
        Ok(())
    }

    /// Sets the treatment of a kind of file, which is named by a word.
    fn set_file_kind(&mut self, call: &Call, option: &str, value: &str) -> Result<(), u8> {
        match (option, value) {
            ("binary-files", "binary") => self.binary = Binary::Named,
            ("binary-files", "text") => self.binary = Binary::Text,
            ("binary-files", "without-match") => self.binary = Binary::WithoutMatch,
            ("binary-files", _) => return Err(complain(call, "unknown binary-files type")),
            ("devices", "read") => self.skip_devices = Some(false),
            ("devices", "skip") => self.skip_devices = Some(true),
            ("devices", _) => return Err(complain(call, "unknown devices method")),
            _ => {
                self.directories = match unique(value, &["read", "recurse", "skip"]) {
                    Some("read") => Directories::Read,
                    Some("recurse") => Directories::Recurse(false),
                    Some(_) => Directories::Skip,
                    None => return Err(invalid(call, value, "--directories", &["read", "recurse", "skip"])),
                }
            }
        }
        Ok(())
    }
}

impl Dialect {
    fn of_matcher(name: Option<&str>) -> Dialect {
        match name {
            Some("extended-regexp" | "egrep") => Dialect::Extended,
            Some("fixed-strings" | "fgrep") => Dialect::Fixed,
            Some("perl-regexp" | "perl") => Dialect::Perl,
            Some("awk" | "gawk" | "posixawk") => Dialect::Awk,
            _ => Dialect::Basic,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dialect: Dialect::Basic,
            patterns: Vec::new(),
            icase: false,
            whole: Whole::Any,
            end: b'\n',
            no_messages: false,
            invert: false,
            most: u64::MAX,
            byte_offset: false,
            line_number: false,
            line_buffered: false,
            names: None,
            label: "(standard input)".to_owned(),
            only_matching: false,
            quiet: false,
            binary: Binary::Named,
            directories: Directories::Read,
            skip_devices: None,
            filter: Filter::default(),
            list: List::None,
            count: false,
            tab: false,
            null: false,
            before: 0,
            after: 0,
            has_context: false,
            separator: Some("--".to_owned()),
            colors: None,
            files: Vec::new(),
        }
    }
}

fn complain(call: &Call, message: &str) -> u8 {
    call.complain(message);
    2
}

/// Reads the value of `--color`. There is no terminal in the sandbox, so `auto` means no colours.
fn wants_color(call: &Call, when: Option<&str>) -> Result<bool, u8> {
    match when {
        Some("always" | "yes" | "force") => Ok(true),
        None | Some("never" | "no" | "none" | "auto" | "tty" | "if-tty") => Ok(false),
        Some(_) => {
            call.help();
            Err(2)
        }
    }
}

fn invalid(call: &Call, value: &str, option: &str, valid: &[&str]) -> u8 {
    call.complain(&format!("invalid argument {} for {}", quote::plain(value), quote::plain(option)));
    let list: String = valid.iter().map(|name| format!("\n  - {}", quote::plain(name))).collect();
    // A failed write to standard error cannot be reported anywhere.
    let _ = isopod_sys::write_all(2, format!("Valid arguments are:{list}\n").as_bytes());
    call.hint()
}

/// Returns the only name that a text is a prefix of.
fn unique<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut fitting = names.iter().filter(|name| name.starts_with(text));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Combines the dialect with one given later. Two different ones are an error.
fn choose<'a>(old: Option<&'a str>, new: &'a str) -> Result<&'a str, String> {
    const KNOWN: [&str; 11] = [
        "extended-regexp",
        "fixed-strings",
        "basic-regexp",
        "perl-regexp",
        "egrep",
        "fgrep",
        "grep",
        "perl",
        "awk",
        "gawk",
        "posixawk",
    ];
    if !KNOWN.contains(&new) {
        return Err(format!("invalid matcher {new}"));
    }
    match old {
        Some(old) if old != new => Err("conflicting matchers specified".to_owned()),
        _ => Ok(new),
    }
}

fn most(text: &str) -> Option<u64> {
    let value: i128 = text.parse().ok()?;
    // A negative number means no limit.
    Some(u64::try_from(value).unwrap_or(u64::MAX))
}

fn length(call: &Call, text: &str) -> Result<usize, u8> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.parse().unwrap_or(usize::MAX));
    }
    Err(complain(call, &format!("{text}: invalid context length argument")))
}

fn read_all(path: &str) -> Result<Vec<u8>, String> {
    let read = Input::open(path).and_then(|input| input.read_all());
    read.map_err(|errno| format!("{path}: {}", text(errno)))
}

fn lines(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec)
}

/// Returns the lines of a pattern file: none if it is empty, and no empty line after the last newline.
fn file_lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    if bytes.is_empty() {
        return Vec::new();
    }
    lines(bytes.strip_suffix(b"\n").unwrap_or(bytes)).collect()
}
