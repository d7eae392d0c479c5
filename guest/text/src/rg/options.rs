//! The values of rg's options.

use isopod_gnu::input::Input;
use isopod_gnu::program::Call;
use isopod_regex::Whole;
use isopod_sys::text;

use super::ignore::Rule;
use super::types;

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Lines,
    Count,
    CountMatches,
    Matching,
    NotMatching,
    Files,
    TypeList,
    Json,
}

/// The order of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Path,
    Modified,
}

/// The treatment of case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Sensitive,
    Ignored,
    /// Ignored unless a pattern contains a capital letter.
    Smart,
}

/// The values of the options.
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) patterns: Vec<String>,
    pub(super) fixed: bool,
    pub(super) perl: bool,
    pub(super) icase: bool,
    pub(super) whole: Whole,
    pub(super) multiline: bool,
    pub(super) dotall: bool,
    pub(super) invert: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) separator: Option<String>,
    pub(super) byte_offset: bool,
    pub(super) color: bool,
    pub(super) column: bool,
    pub(super) line_number: bool,
    pub(super) heading: bool,
    pub(super) vimgrep: bool,
    pub(super) only_matching: bool,
    pub(super) passthru: bool,
    pub(super) replace: Option<String>,
    pub(super) trim: bool,
    pub(super) most: u64,
    pub(super) null: bool,
    pub(super) quiet: bool,
    pub(super) stats: bool,
    pub(super) names: Option<bool>,
    pub(super) follow: bool,
    pub(super) hidden: bool,
    pub(super) ignore: bool,
    pub(super) ignore_vcs: bool,
    pub(super) ignore_parents: bool,
    pub(super) require_git: bool,
    pub(super) no_messages: bool,
    pub(super) globs: Vec<Rule>,
    pub(super) types: Vec<Rule>,
    pub(super) depth: Option<usize>,
    pub(super) largest: Option<u64>,
    pub(super) text: bool,
    pub(super) binary: bool,
    pub(super) sort: Sort,
    pub(super) descending: bool,
    pub(super) paths: Vec<String>,
}

impl Options {
    pub(super) fn read(call: &Call) -> Result<Options, String> {
        let mut options = Options::default();
        let mut patterns: Option<Vec<String>> = None;
        let mut case = Case::Sensitive;
        let mut unrestricted = 0;
        let (mut context, mut before, mut after) = (None, None, None);
        for found in &call.options {
            let value = found.value.as_deref().unwrap_or_default();
            match found.option {
                "regexp" => patterns.get_or_insert_default().push(value.to_owned()),
                "file" => {
                    let bytes = Input::open(value).and_then(|input| input.read_all());
                    let bytes = bytes.map_err(|errno| format!("{value}: {}", text(errno)))?;
                    let lines = String::from_utf8(bytes).map_err(|_| format!("{value}: not UTF-8"))?;
                    patterns.get_or_insert_default().extend(lines.lines().map(str::to_owned));
                }
                "after-context" => after = Some(number(found.option, value)?),
                "before-context" => before = Some(number(found.option, value)?),
                "context" => context = Some(number(found.option, value)?),
                "case-sensitive" => case = Case::Sensitive,
                "ignore-case" => case = Case::Ignored,
                "smart-case" => case = Case::Smart,
                "unrestricted" => unrestricted += 1,
                option => {
                    if !options.set_flag(option) {
                        options.set_value(option, value)?;
                    }
                }
            }
        }
        options.ignore &= unrestricted < 1;
        options.hidden |= unrestricted > 1;
        options.binary |= unrestricted > 2;
        options.before = before.or(context).unwrap_or(0);
        options.after = after.or(context).unwrap_or(0);
        let mut operands = call.operands.iter();
        let needs_pattern = !matches!(options.mode, Mode::Files | Mode::TypeList);
        options.patterns = match patterns {
            Some(patterns) => patterns,
            None if needs_pattern => match operands.next() {
                Some(pattern) => vec![pattern.clone()],
                None => return Err("a pattern is required".to_owned()),
            },
            None => Vec::new(),
        };
        options.paths = operands.cloned().collect();
        options.icase = match case {
            Case::Sensitive => false,
            Case::Ignored => true,
            Case::Smart => !options.patterns.iter().any(|pattern| has_capital(pattern)),
        };
        if options.invert && options.mode == Mode::CountMatches {
            options.mode = Mode::Count;
        }
        if options.only_matching && options.mode == Mode::Count && !options.invert {
            options.mode = Mode::CountMatches;
        }
        Ok(options)
    }

    /// Sets an option that has no value. Returns false if there is no such option.
    fn set_flag(&mut self, option: &str) -> bool {
        match option {
            "byte-offset" => self.byte_offset = true,
            "column" => (self.column, self.line_number) = (true, true),
            "no-context-separator" => self.separator = None,
            "count" => self.mode = Mode::Count,
            "count-matches" => self.mode = Mode::CountMatches,
            "files" => self.mode = Mode::Files,
            "files-with-matches" => self.mode = Mode::Matching,
            "files-without-match" => self.mode = Mode::NotMatching,
            "fixed-strings" => self.fixed = true,
            "follow" => self.follow = true,
            "heading" => self.heading = true,
            "no-heading" => self.heading = false,
            "hidden" => self.hidden = true,
            "no-hidden" => self.hidden = false,
            "invert-match" => self.invert = true,
            "json" => self.mode = Mode::Json,
            "line-number" => self.line_number = true,
            "no-line-number" => self.line_number = false,
            "line-regexp" => self.whole = Whole::Line,
            "word-regexp" if self.whole == Whole::Any => self.whole = Whole::Word,
            "word-regexp" => {}
            "multiline" => self.multiline = true,
            "multiline-dotall" => self.dotall = true,
            "no-ignore" => self.ignore = false,
            "no-ignore-vcs" => self.ignore_vcs = false,
            "no-ignore-parent" => self.ignore_parents = false,
            "no-require-git" => self.require_git = false,
            "no-messages" => self.no_messages = true,
            "null" => self.null = true,
            "only-matching" => self.only_matching = true,
            "passthru" => self.passthru = true,
            "pcre2" => self.perl = true,
            "pretty" => (self.color, self.heading, self.line_number) = (true, true, true),
            "quiet" => self.quiet = true,
            "stats" => self.stats = true,
            "text" => self.text = true,
            "binary" => self.binary = true,
            "trim" => self.trim = true,
            "type-list" => self.mode = Mode::TypeList,
            "vimgrep" => {
                (self.vimgrep, self.column, self.line_number) = (true, true, true);
                self.names = Some(true);
            }
            "with-filename" => self.names = Some(true),
            "no-filename" => self.names = Some(false),
            // These options affect speed only, not the output.
            "no-config" | "line-buffered" | "block-buffered" | "mmap" | "no-mmap" | "one-file-system"
            | "no-pcre2-unicode" => {}
            _ => return false,
        }
        true
    }

    /// Sets an option that has a value.
    fn set_value(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "color" => match value {
                "never" | "auto" => self.color = false,
                "always" | "ansi" => self.color = true,
                _ => return Err(format!("'{value}' is not a valid value for '--color <WHEN>'")),
            },
            "context-separator" => self.separator = Some(value.to_owned()),
            "encoding" => match value {
                "auto" | "none" => {}
                _ => return Err(format!("the encoding '{value}' is not supported")),
            },
            "glob" => self.globs.push(Rule::glob(value, false)),
            "iglob" => self.globs.push(Rule::glob(value, true)),
            "max-count" => self.most = number(option, value)? as u64,
            "max-depth" | "maxdepth" => self.depth = Some(number(option, value)?),
            "max-filesize" => self.largest = Some(size(value)?),
            "replace" => self.replace = Some(value.to_owned()),
            "sort" | "sortr" => {
                self.descending = option == "sortr";
                self.sort = match value {
                    "none" | "path" => Sort::Path,
                    "modified" => Sort::Modified,
                    _ => return Err(format!("sorting by '{value}' is not supported")),
                };
            }
            // The number of threads affects speed only.
            "threads" => {}
            "type" | "type-not" => {
                let globs = types::globs(value).ok_or_else(|| format!("unrecognized file type: {value}"))?;
                let sign = if option == "type-not" { "!" } else { "" };
                self.types.extend(globs.iter().map(|glob| Rule::glob(&format!("{sign}{glob}"), false)));
            }
            other => return Err(format!("unsupported option --{other}")),
        }
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Lines,
            patterns: Vec::new(),
            fixed: false,
            perl: false,
            icase: false,
            whole: Whole::Any,
            multiline: false,
            dotall: false,
            invert: false,
            before: 0,
            after: 0,
            separator: Some("--".to_owned()),
            byte_offset: false,
            color: false,
            column: false,
            line_number: false,
            heading: false,
            vimgrep: false,
            only_matching: false,
            passthru: false,
            replace: None,
            trim: false,
            most: u64::MAX,
            null: false,
            quiet: false,
            stats: false,
            names: None,
            follow: false,
            hidden: false,
            ignore: true,
            ignore_vcs: true,
            ignore_parents: true,
            require_git: true,
            no_messages: false,
            globs: Vec::new(),
            types: Vec::new(),
            depth: None,
            largest: None,
            text: false,
            binary: false,
            sort: Sort::Path,
            descending: false,
            paths: Vec::new(),
        }
    }
}

/// Returns true if a pattern contains a capital letter outside of an escape.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

fn number(option: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("error parsing --{option}: '{value}' is not a number"))
}

fn size(value: &str) -> Result<u64, String> {
    let (digits, unit) = match value.char_indices().next_back() {
        Some((at, 'K')) => (&value[..at], 1 << 10),
        Some((at, 'M')) => (&value[..at], 1 << 20),
        Some((at, 'G')) => (&value[..at], 1 << 30),
        _ => (value, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("invalid format for size '{value}'"))?;
    Ok(number.saturating_mul(unit))
}
