//! The options of `ls`, and the settings that they make.

use isopod_gnu::pattern::{Pattern, Rules};
use isopod_sys::files::Attributes;

use super::run;
use isopod_gnu::human::Unit;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `ls`.
pub(crate) const PROGRAM: Program = Program {
    name: "ls",
    operands: &["[OPTION]... [FILE]..."],
    about: "List information about the FILEs (the current directory by default), sorted by name.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all", "do not ignore entries starting with ."),
        Opt::flag('A', "almost-all", "do not list implied . and .."),
        Opt::flag('b', "escape", "print C-style escapes for nongraphic characters"),
        Opt::long("block-size", "with -l, scale sizes by SIZE when printing them").takes("SIZE"),
        Opt::flag('B', "ignore-backups", "do not list implied entries ending with ~"),
        Opt::letter('c', "c", "sort by, and show, time of last change of file status"),
        Opt::letter('C', "C", "list entries by columns"),
        Opt::long("color", "color the output WHEN: 'auto' and 'never' are supported").may_take("WHEN"),
        Opt::flag('d', "directory", "list directories themselves, not their contents"),
        Opt::letter('f', "f", "list all entries in directory order"),
        Opt::flag('F', "classify", "append indicator (one of */=>@|) to entries").may_take("WHEN"),
        Opt::long("file-type", "likewise, except do not append '*'"),
        Opt::long("format", "across, commas, horizontal, long, single-column, verbose, vertical").takes("WORD"),
        Opt::long("full-time", "like -l --time-style=full-iso"),
        Opt::letter('g', "g", "like -l, but do not list owner"),
        Opt::long("group-directories-first", "group directories before files"),
        Opt::flag('G', "no-group", "in a long listing, don't print group names"),
        Opt::flag('h', "human-readable", "with -l and -s, print sizes like 1K 234M 2G etc."),
        Opt::long("si", "likewise, but use powers of 1000 not 1024"),
        Opt::flag('H', "dereference-command-line", "follow symbolic links listed on the command line"),
        Opt::long("dereference-command-line-symlink-to-dir", "follow those that point to a directory"),
        Opt::long("hide", "do not list implied entries matching shell PATTERN").takes("PATTERN"),
        Opt::long("indicator-style", "append indicator with style WORD: none, slash, file-type, classify")
            .takes("WORD"),
        Opt::flag('i', "inode", "print the index number of each file"),
        Opt::flag('I', "ignore", "do not list implied entries matching shell PATTERN").takes("PATTERN"),
        Opt::flag('k', "kibibytes", "default to 1024-byte blocks for disk usage"),
        Opt::letter('l', "l", "use a long listing format"),
        Opt::flag('L', "dereference", "show information for the file a symbolic link references"),
        Opt::letter('m', "m", "fill width with a comma separated list of entries"),
        Opt::flag('n', "numeric-uid-gid", "like -l, but list numeric user and group IDs"),
        Opt::flag('N', "literal", "print entry names without quoting"),
        Opt::letter('o', "o", "like -l, but do not list group information"),
        Opt::letter('p', "p", "append / indicator to directories"),
        Opt::flag('q', "hide-control-chars", "print ? instead of nongraphic characters"),
        Opt::long("show-control-chars", "show nongraphic characters as-is"),
        Opt::flag('Q', "quote-name", "enclose entry names in double quotes"),
        Opt::long("quoting-style", "literal, shell, shell-always, shell-escape, shell-escape-always, c, escape")
            .takes("WORD"),
        Opt::flag('r', "reverse", "reverse order while sorting"),
        Opt::flag('R', "recursive", "list subdirectories recursively"),
        Opt::flag('s', "size", "print the allocated size of each file, in blocks"),
        Opt::letter('S', "S", "sort by file size, largest first"),
        Opt::long("sort", "sort by WORD: none, size, time, version, extension, width").takes("WORD"),
        Opt::long("time", "select which timestamp: atime, access, use, ctime, status, mtime, modification")
            .takes("WORD"),
        Opt::long("time-style", "full-iso, long-iso, iso, locale, or +FORMAT").takes("STYLE"),
        Opt::letter('t', "t", "sort by time, newest first"),
        Opt::flag('T', "tabsize", "assume tab stops at each COLS instead of 8").takes("COLS"),
        Opt::letter('u', "u", "sort by, and show, access time"),
        Opt::letter('U', "U", "do not sort; list entries in directory order"),
        Opt::letter('v', "v", "natural sort of (version) numbers within text"),
        Opt::flag('w', "width", "set output width to COLS.  0 means no limit").takes("COLS"),
        Opt::letter('x', "x", "list entries by lines instead of by columns"),
        Opt::letter('X', "X", "sort alphabetically by entry extension"),
        Opt::long("zero", "end each output line with NUL, not newline"),
        Opt::letter('1', "1", "list one file per line"),
    ],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// `dir`: in columns, with escapes.
pub(crate) const DIR: Program = Program { name: "dir", ..PROGRAM };

/// `vdir`: long, with escapes.
pub(crate) const VDIR: Program = Program { name: "vdir", ..PROGRAM };

/// The layout of entries.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    Long,
    Single,
    Vertical,
    Across,
    Commas,
}

/// The sort key of entries.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sort {
    None,
    Name,
    Time,
    Size,
    Extension,
    Version,
    Width,
}

/// The time that is shown.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Time {
    Modified,
    Accessed,
    Changed,
}

/// The symbolic links that are followed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Follow {
    Never,
    NamedDirectories,
    Named,
    Always,
}

/// The names that are left out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hidden {
    /// None: even `.` and `..` are shown.
    All,
    /// Only those two.
    Almost,
    /// Names that start with a dot.
    Dots,
}

/// The characters behind names that show their type.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

/// The quoting of names.
#[derive(Clone, Copy, PartialEq)]
enum Quoting {
    Literal,
    Shell,
    ShellAlways,
    C,
    Escape,
}

/// The settings that all options make.
pub(super) struct Settings {
    pub(super) format: Format,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) time: Time,
    pub(super) time_style: String,
    pub(super) follow: Follow,
    pub(super) hidden: Hidden,
    ignored: Vec<Pattern>,
    hides: Vec<Pattern>,
    pub(super) indicator: Indicator,
    quoting: Quoting,
    hides_control: bool,
    pub(super) directory: bool,
    pub(super) directories_first: bool,
    pub(super) recursive: bool,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) numeric: bool,
    pub(super) size_unit: Unit,
    block_unit: Unit,
    pub(super) width: usize,
    pub(super) tab: usize,
    pub(super) end: u8,
}

impl Settings {
    /// Reads the options. An error is the exit code, after the message was written.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let mut settings = Settings {
            format: Format::Single,
            sort: Sort::Name,
            reverse: false,
            time: Time::Modified,
            time_style: std::env::var("TIME_STYLE").unwrap_or_else(|_| "locale".to_owned()),
            follow: Follow::NamedDirectories,
            hidden: Hidden::Dots,
            ignored: Vec::new(),
            hides: Vec::new(),
            indicator: Indicator::None,
            quoting: Quoting::Literal,
            hides_control: false,
            directory: false,
            directories_first: false,
            recursive: false,
            inode: false,
            blocks: false,
            owner: true,
            group: true,
            numeric: false,
            size_unit: Unit::Bytes(1, ""),
            block_unit: Unit::Bytes(1024, ""),
            width: std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(80),
            tab: 8,
            end: b'\n',
        };
        match call.program.name {
            "dir" => (settings.format, settings.quoting) = (Format::Vertical, Quoting::Escape),
            "vdir" => (settings.format, settings.quoting) = (Format::Long, Quoting::Escape),
            _ => {}
        }
        let mut sort = None;
        let mut follow = None;
        for GivenOption { option, value } in &call.options {
            let word = value.as_deref().unwrap_or_default();
            match *option {
                "sort" => sort = Some(choose(call, option, word, SORTS)?),
                "S" => sort = Some(Sort::Size),
                "t" => sort = Some(Sort::Time),
                "U" => sort = Some(Sort::None),
                "v" => sort = Some(Sort::Version),
                "X" => sort = Some(Sort::Extension),
                "f" => {
                    sort = Some(Sort::None);
                    settings.hidden = Hidden::All;
                    settings.blocks = false;
                    if settings.format == Format::Long {
                        settings.format = Format::Single;
                    }
                }
                "dereference" => follow = Some(Follow::Always),
                "dereference-command-line" => follow = Some(Follow::Named),
                "dereference-command-line-symlink-to-dir" => follow = Some(Follow::NamedDirectories),
                option => settings.apply(call, option, value.as_deref(), word)?,
            }
        }
        let is_long = settings.format == Format::Long;
        // -c and -u alone sort by the time they choose, unless that time is shown.
        let by_time = settings.time != Time::Modified && !is_long;
        settings.sort = sort.unwrap_or(if by_time { Sort::Time } else { Sort::Name });
        let shows_links = is_long || settings.directory || settings.indicator == Indicator::Classify;
        settings.follow = follow.unwrap_or(if shows_links { Follow::Never } else { Follow::NamedDirectories });
        Ok(settings)
    }

    fn apply(&mut self, call: &Call, option: &str, value: Option<&str>, word: &str) -> Result<(), u8> {
        match option {
            "all" => self.hidden = Hidden::All,
            "almost-all" => self.hidden = Hidden::Almost,
            "ignore-backups" => self.ignored.extend(["*~", ".*~"].map(pattern)),
            "ignore" => self.ignored.push(pattern(word)),
            "hide" => self.hides.push(pattern(word)),
            "c" => self.time = Time::Changed,
            "u" => self.time = Time::Accessed,
            "time" => self.time = choose(call, option, word, TIMES)?,
            "time-style" => self.time_style = word.to_owned(),
            "full-time" => (self.format, self.time_style) = (Format::Long, "full-iso".to_owned()),
            "C" => self.format = Format::Vertical,
            "x" => self.format = Format::Across,
            "m" => self.format = Format::Commas,
            // One a line, but a long listing stays long.
            "1" if self.format != Format::Long => self.format = Format::Single,
            "l" => self.format = Format::Long,
            "g" => (self.format, self.owner) = (Format::Long, false),
            "o" => (self.format, self.group) = (Format::Long, false),
            "numeric-uid-gid" => (self.format, self.numeric) = (Format::Long, true),
            "no-group" => self.group = false,
            "format" => self.format = choose(call, option, word, FORMATS)?,
            "zero" => {
                self.end = 0;
                if self.format != Format::Long {
                    self.format = Format::Single;
                }
            }
            "directory" => self.directory = true,
            "group-directories-first" => self.directories_first = true,
            "recursive" => self.recursive = true,
            "reverse" => self.reverse = true,
            "inode" => self.inode = true,
            "size" => self.blocks = true,
            "kibibytes" => self.block_unit = Unit::Bytes(1024, ""),
            "human-readable" => (self.size_unit, self.block_unit) = (Unit::Human(1024), Unit::Human(1024)),
            "si" => (self.size_unit, self.block_unit) = (Unit::Human(1000), Unit::Human(1000)),
            "block-size" => match Unit::parse(word) {
                Some(unit) => (self.size_unit, self.block_unit) = (unit, unit),
                None => {
                    call.complain(&format!("invalid --block-size argument {}", quote::plain(word)));
                    return Err(2);
                }
            },
            "p" => self.indicator = Indicator::Slash,
            "file-type" => self.indicator = Indicator::FileType,
            "indicator-style" => self.indicator = choose(call, option, word, INDICATORS)?,
            // Standard output is no terminal, so `auto` is `never`.
            "classify" => {
                self.indicator = match choose(call, option, value.unwrap_or("always"), WHEN)? {
                    true => Indicator::Classify,
                    false => Indicator::None,
                }
            }
            "color" if choose(call, option, value.unwrap_or("always"), WHEN)? => {
                call.complain("colors are not supported: use --color=never");
                return Err(2);
            }
            "escape" => self.quoting = Quoting::Escape,
            "literal" => self.quoting = Quoting::Literal,
            "quote-name" => self.quoting = Quoting::C,
            "quoting-style" => self.quoting = choose(call, option, word, QUOTINGS)?,
            "hide-control-chars" => self.hides_control = true,
            "show-control-chars" => self.hides_control = false,
            "width" | "tabsize" => {
                let Ok(number) = word.parse() else {
                    let what = if option == "width" { "line width" } else { "tab size" };
                    call.complain(&format!("invalid {what}: {}", quote::plain(word)));
                    return Err(2);
                };
                *(if option == "width" { &mut self.width } else { &mut self.tab }) = number;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns true if a name in a directory is shown.
    pub(super) fn shows(&self, name: &str) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        if any(&self.ignored) {
            return false;
        }
        self.hidden != Hidden::Dots || !name.starts_with('.') && !any(&self.hides)
    }

    /// Quotes a name.
    pub(super) fn quoted(&self, name: &str) -> String {
        match self.quoting {
            Quoting::Literal if self.hides_control => {
                name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
            }
            Quoting::Literal => name.to_owned(),
            Quoting::Shell => quote::argument(name),
            Quoting::ShellAlways => quote::shell(name),
            Quoting::C => format!("\"{}\"", quote::c_escaped(name, '"')),
            Quoting::Escape => quote::c_escaped(name, ' '),
        }
    }

    /// Formats a number of blocks of 512 bytes in the unit for blocks.
    pub(super) fn block_text(&self, blocks: u64) -> String {
        self.block_unit.text(blocks * 512)
    }
}

impl Time {
    /// Returns this time of a file.
    pub(super) fn of(self, attributes: &Attributes) -> u64 {
        match self {
            Time::Modified => attributes.modified,
            Time::Accessed => attributes.accessed,
            Time::Changed => attributes.changed,
        }
    }
}

const SORTS: &[(&str, Sort)] = &[
    ("none", Sort::None),
    ("time", Sort::Time),
    ("size", Sort::Size),
    ("extension", Sort::Extension),
    ("version", Sort::Version),
    ("width", Sort::Width),
];
const TIMES: &[(&str, Time)] = &[
    ("atime", Time::Accessed),
    ("access", Time::Accessed),
    ("use", Time::Accessed),
    ("ctime", Time::Changed),
    ("status", Time::Changed),
    ("mtime", Time::Modified),
    ("modification", Time::Modified),
];
const FORMATS: &[(&str, Format)] = &[
    ("verbose", Format::Long),
    ("long", Format::Long),
    ("commas", Format::Commas),
    ("horizontal", Format::Across),
    ("across", Format::Across),
    ("vertical", Format::Vertical),
    ("single-column", Format::Single),
];
const INDICATORS: &[(&str, Indicator)] = &[
    ("none", Indicator::None),
    ("slash", Indicator::Slash),
    ("file-type", Indicator::FileType),
    ("classify", Indicator::Classify),
];
const QUOTINGS: &[(&str, Quoting)] = &[
    ("literal", Quoting::Literal),
    ("shell", Quoting::Shell),
    ("shell-always", Quoting::ShellAlways),
    ("shell-escape", Quoting::Shell),
    ("shell-escape-always", Quoting::ShellAlways),
    ("c", Quoting::C),
    ("escape", Quoting::Escape),
];
const WHEN: &[(&str, bool)] = &[
    ("always", true),
    ("yes", true),
    ("force", true),
    ("never", false),
    ("no", false),
    ("none", false),
    ("auto", false),
    ("tty", false),
    ("if-tty", false),
];

/// Compiles a pattern for names that are left out. A star does not match a leading dot, as in the shell.
fn pattern(text: &str) -> Pattern {
    Pattern::new(text, Rules { leading_dot: true, ..Rules::default() })
}

/// Returns the value of a word, which may be abbreviated.
fn choose<T: Copy>(call: &Call, option: &str, word: &str, words: &[(&str, T)]) -> Result<T, u8> {
    let found = words.iter().find(|(known, _)| *known == word);
    match found.or_else(|| words.iter().find(|(known, _)| !word.is_empty() && known.starts_with(word))) {
        Some((_, meaning)) => Ok(*meaning),
        None => Err(call.misused(&format!("invalid argument {} for '--{option}'", quote::plain(word)))),
    }
}
