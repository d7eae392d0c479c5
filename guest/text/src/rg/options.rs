//! The values of rg's options.

use isopod_gnu::input::Input;
use isopod_gnu::program::Call;
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

/// The values of the options.
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) patterns: Vec<String>,
    pub(super) fixed: bool,
    pub(super) perl: bool,
    pub(super) icase: bool,
    pub(super) word: bool,
    pub(super) line: bool,
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
        let mut case = 's';
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
                "byte-offset" => options.byte_offset = true,
                "case-sensitive" => case = 's',
                "ignore-case" => case = 'i',
                "smart-case" => case = 'S',
                "color" => match value {
                    "never" | "auto" => options.color = false,
                    "always" | "ansi" => options.color = true,
                    _ => return Err(format!("'{value}' is not a valid value for '--color <WHEN>'")),
                },
                "column" => (options.column, options.line_number) = (true, true),
                "context-separator" => options.separator = Some(value.to_owned()),
                "no-context-separator" => options.separator = None,
                "count" => options.mode = Mode::Count,
                "count-matches" => options.mode = Mode::CountMatches,
                "encoding" => match value {
                    "auto" | "none" => {}
                    _ => return Err(format!("the encoding '{value}' is not supported")),
                },
                "files" => options.mode = Mode::Files,
                "files-with-matches" => options.mode = Mode::Matching,
                "files-without-match" => options.mode = Mode::NotMatching,
                "fixed-strings" => options.fixed = true,
                "follow" => options.follow = true,
                "glob" => options.globs.push(Rule::glob(value, false)),
                "iglob" => options.globs.push(Rule::glob(value, true)),
                "heading" => options.heading = true,
                "no-heading" => options.heading = false,
                "hidden" => options.hidden = true,
                "no-hidden" => options.hidden = false,
                "invert-match" => options.invert = true,
                "json" => options.mode = Mode::Json,
                "line-number" => options.line_number = true,
                "no-line-number" => options.line_number = false,
                "line-regexp" => options.line = true,
                "max-count" => options.most = number(found.option, value)? as u64,
                "max-depth" | "maxdepth" => options.depth = Some(number(found.option, value)?),
                "max-filesize" => options.largest = Some(size(value)?),
                "multiline" => options.multiline = true,
                "multiline-dotall" => options.dotall = true,
                "no-ignore" => options.ignore = false,
                "no-ignore-vcs" => options.ignore_vcs = false,
                "no-ignore-parent" => options.ignore_parents = false,
                "no-require-git" => options.require_git = false,
                "no-messages" => options.no_messages = true,
                "null" => options.null = true,
                "only-matching" => options.only_matching = true,
                "passthru" => options.passthru = true,
                "pcre2" => options.perl = true,
                "pretty" => (options.color, options.heading, options.line_number) = (true, true, true),
                "quiet" => options.quiet = true,
                "replace" => options.replace = Some(value.to_owned()),
                "sort" | "sortr" => {
                    options.descending = found.option == "sortr";
                    options.sort = match value {
                        "none" | "path" => Sort::Path,
                        "modified" => Sort::Modified,
                        _ => return Err(format!("sorting by '{value}' is not supported")),
                    };
                }
                "stats" => options.stats = true,
                "text" => options.text = true,
                "binary" => options.binary = true,
                "trim" => options.trim = true,
                "type" | "type-not" => {
                    let globs = types::globs(value).ok_or_else(|| format!("unrecognized file type: {value}"))?;
                    let sign = if found.option == "type-not" { "!" } else { "" };
                    options.types.extend(globs.iter().map(|glob| Rule::glob(&format!("{sign}{glob}"), false)));
                }
                "type-list" => options.mode = Mode::TypeList,
                "unrestricted" => unrestricted += 1,
                "vimgrep" => {
                    (options.vimgrep, options.column, options.line_number) = (true, true, true);
                    options.names = Some(true);
                }
                "with-filename" => options.names = Some(true),
                "no-filename" => options.names = Some(false),
                "word-regexp" => options.word = true,
                // These options affect speed only, not the output.
                "no-config" | "threads" | "line-buffered" | "block-buffered" | "mmap" | "no-mmap"
                | "one-file-system" | "no-pcre2-unicode" => {}
                other => return Err(format!("unsupported option --{other}")),
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
        let has_capital = options.patterns.iter().any(|pattern| has_capital(pattern));
        options.icase = case == 'i' || (case == 'S' && !has_capital);
        if options.invert && options.mode == Mode::CountMatches {
            options.mode = Mode::Count;
        }
        if options.only_matching && options.mode == Mode::Count && !options.invert {
            options.mode = Mode::CountMatches;
        }
        Ok(options)
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
            word: false,
            line: false,
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
