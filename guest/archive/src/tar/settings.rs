//! The command line of `tar`.

use std::time::{SystemTime, UNIX_EPOCH};

use isopod_gnu::moment;
use isopod_gnu::options;
use isopod_gnu::output::read_file;
use isopod_gnu::program::Call;
use isopod_sys::{files, text};

use super::select::{Exclusions, Matching};
use super::transform::{Role, Transform};
use super::writer::Dialect;
use crate::codec::Format;

/// The operation of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Append,
    Update,
    Extract,
    List,
}

/// The treatment of existing files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Replace,
    Overwrite,
    Keep,
    Skip,
    KeepNewer,
}

/// The settings of a run.
pub(super) struct Settings {
    pub(super) operation: Operation,
    /// The archive; `-` is standard input or output.
    pub(super) file: String,
    pub(super) format: Option<Format>,
    pub(super) level: u32,
    pub(super) verbosity: u32,
    /// The directories of `-C`, in their order. The first is the working directory.
    pub(super) directories: Vec<String>,
    /// The names, each with the number of its directory.
    pub(super) names: Vec<(String, usize)>,
    /// True if names were read from a file (`-T`).
    pub(super) has_list: bool,
    pub(super) excluded: Exclusions,
    /// The exclusions after the last name, which have no effect.
    pub(super) late_exclusions: Vec<String>,
    pub(super) matching: Matching,
    /// The number of leading names that are removed: `--strip-components`.
    pub(super) strip: usize,
    pub(super) transforms: Vec<Transform>,
    pub(super) shows_transformed: bool,
    pub(super) existing: Existing,
    pub(super) to_stdout: bool,
    /// False with `--touch`.
    pub(super) keeps_time: bool,
    /// `--preserve-permissions`
    pub(super) keeps_mode: bool,
    /// `--same-owner`
    pub(super) keeps_owner: bool,
    /// `--numeric-owner`: users and groups have no names.
    pub(super) has_numbers: bool,
    /// `--dereference`: symbolic links are followed.
    pub(super) dereferences: bool,
    /// `--hard-dereference`: each name of a file is stored as a file.
    pub(super) follows_hard: bool,
    /// `--absolute-names`
    pub(super) is_absolute: bool,
    pub(super) is_recursive: bool,
    /// `--one-file-system`
    pub(super) one_device: bool,
    /// `--remove-files`
    pub(super) removes: bool,
    /// `--ignore-failed-read`
    pub(super) forgives: bool,
    pub(super) owner: Option<(String, Option<u64>)>,
    pub(super) group: Option<(String, Option<u64>)>,
    pub(super) mode: Option<String>,
    /// The time of `--mtime`, in nanoseconds since 1970.
    pub(super) modified: Option<i128>,
    pub(super) dialect: Dialect,
    /// The size of a record in bytes.
    pub(super) record: u64,
    pub(super) ignores_zeros: bool,
    pub(super) full_time: bool,
}

/// The state of reading the options.
struct OptionReader<'a> {
    call: &'a Call,
    operations: Vec<Operation>,
    settings: Settings,
    /// `--auto-compress`
    automatic: bool,
    /// True if names in a list end with a NUL byte: `--null`.
    has_null: bool,
    is_verbatim: bool,
    /// The interpretation of exclusions, which is looser than that of names.
    excluding: Matching,
    /// The exclusions, each with the number of names before it.
    exclusions: Vec<(String, usize)>,
}

const VERSION_CONTROL: [&str; 23] = [
    "CVS",
    ".cvsignore",
    "RCS",
    "SCCS",
    ".svn",
    ".git",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".arch-ids",
    "{arch}",
    "=RELEASE-ID",
    "=meta-update",
    "=update",
    ".bzr",
    ".bzrignore",
    ".bzrtags",
    ".hg",
    ".hgignore",
    ".hgtags",
    ".hgrags",
    "_darcs",
    ".cvs",
];

/// The largest list of names that is read.
const LONGEST_LIST: usize = 64 << 20;

/// A placeholder for the next argument while an option is parsed, so that the argument itself is never parsed as an
/// option.
const NEXT: &str = "\u{1}next";

impl Settings {
    /// Reads the command line. An error is the exit code, after its message has been printed.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let strict = Matching { is_anchored: true, has_wildcards: false, stars_match_slashes: true, folds: false };
        let settings = Settings {
            operation: Operation::List,
            file: "-".into(),
            format: None,
            level: 6,
            verbosity: 0,
            directories: vec![String::new()],
            names: Vec::new(),
            has_list: false,
            excluded: Exclusions::default(),
            late_exclusions: Vec::new(),
            matching: strict,
            strip: 0,
            transforms: Vec::new(),
            shows_transformed: false,
            existing: Existing::Replace,
            to_stdout: false,
            keeps_time: true,
            keeps_mode: false,
            keeps_owner: false,
            has_numbers: false,
            dereferences: false,
            follows_hard: false,
            is_absolute: false,
            is_recursive: true,
            one_device: false,
            removes: false,
            forgives: false,
            owner: None,
            group: None,
            mode: None,
            modified: None,
            dialect: Dialect::Gnu,
            record: 20 * 512,
            ignores_zeros: false,
            full_time: false,
        };
        let mut reading = OptionReader {
            call,
            operations: Vec::new(),
            settings,
            automatic: false,
            has_null: false,
            is_verbatim: false,
            excluding: Matching { is_anchored: false, has_wildcards: true, ..strict },
            exclusions: Vec::new(),
        };
        reading.arguments()?;
        reading.finish()
    }

    /// Returns a name after all transformations.
    pub(super) fn transformed(&self, name: &str, role: Role) -> String {
        self.transforms.iter().fold(name.to_owned(), |name, one| one.apply(&name, role))
    }

    /// Returns a path in the directory of a number.
    pub(super) fn in_directory(&self, number: usize, path: &str) -> String {
        let directory = self.directories.get(number).or(self.directories.last()).map_or("", String::as_str);
        match (directory, path) {
            ("", path) => path.to_owned(),
            (directory, "") => directory.to_owned(),
            (_, path) if path.starts_with('/') => path.to_owned(),
            (directory, path) => format!("{}/{path}", directory.trim_end_matches('/')),
        }
    }
}

impl OptionReader<'_> {
    fn arguments(&mut self) -> Result<(), u8> {
        let mut args = old_style(self.call)?.into_iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                for name in args.by_ref() {
                    self.name(name);
                }
            } else if arg.len() < 2 || !arg.starts_with('-') {
                self.name(arg);
            } else {
                let table = self.call.program.options;
                let read = options::parse(table, vec![arg.clone(), NEXT.to_owned()], false);
                let (found, _) = read.map_err(|message| misused(self.call, &message, 64))?;
                for mut option in found {
                    if option.value.as_deref() == Some(NEXT) {
                        option.value = args.next();
                        if option.value.is_none() {
                            let message = options::parse(table, vec![arg.clone()], false).err().unwrap_or_default();
                            return Err(misused(self.call, &message, 64));
                        }
                    }
                    self.option(option.option, option.value.as_deref().unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, name: String) {
        self.settings.names.push((name, self.settings.directories.len() - 1));
    }

    fn exclude(&mut self, pattern: &str) {
        self.settings.excluded.add(pattern, self.excluding, self.settings.names.len());
        self.exclusions.push((pattern.to_owned(), self.settings.names.len()));
    }

    fn option(&mut self, option: &str, value: &str) -> Result<(), u8> {
        let settings = &mut self.settings;
        match option {
            "help" => return Err(self.call.help()),
            "version" => return Err(self.call.version()),
            "create" => self.operations.push(Operation::Create),
            "extract" | "get" => self.operations.push(Operation::Extract),
            "list" => self.operations.push(Operation::List),
            "append" => self.operations.push(Operation::Append),
            "update" => self.operations.push(Operation::Update),
            "file" => settings.file = value.to_owned(),
            "directory" => {
                let below = settings.in_directory(usize::MAX, value);
                settings.directories.push(below);
            }
            "gzip" | "gunzip" => settings.format = Some(Format::Gzip),
            "bzip2" => settings.format = Some(Format::Bzip2),
            "xz" => settings.format = Some(Format::Xz),
            "lzma" => settings.format = Some(Format::Lzma),
            "zstd" => settings.format = Some(Format::Zstd),
            "auto-compress" => self.automatic = true,
            "no-auto-compress" => self.automatic = false,
            "use-compress-program" => return self.compressor(value),
            "verbose" => settings.verbosity += 1,
            "keep-old-files" => settings.existing = Existing::Keep,
            "skip-old-files" => settings.existing = Existing::Skip,
            "keep-newer-files" => settings.existing = Existing::KeepNewer,
            "overwrite" => settings.existing = Existing::Overwrite,
            "unlink-first" => settings.existing = Existing::Replace,
            "to-stdout" => settings.to_stdout = true,
            "touch" => settings.keeps_time = false,
            "preserve-permissions" | "same-permissions" => settings.keeps_mode = true,
            "no-same-permissions" => settings.keeps_mode = false,
            "no-same-owner" => settings.keeps_owner = false,
            "same-owner" => settings.keeps_owner = true,
            "numeric-owner" => settings.has_numbers = true,
            "dereference" => settings.dereferences = true,
            "hard-dereference" => settings.follows_hard = true,
            "absolute-names" => settings.is_absolute = true,
            "files-from" => return self.names_from(value),
            "null" => (self.has_null, self.is_verbatim) = (true, true),
            "no-null" => (self.has_null, self.is_verbatim) = (false, false),
            "verbatim-files-from" => self.is_verbatim = true,
            "exclude-from" => {
                for line in self.lines(value, '\n')? {
                    self.exclude(&line);
                }
            }
            "exclude" => self.exclude(value),
            "exclude-vcs" => VERSION_CONTROL.iter().for_each(|name| self.exclude(name)),
            "recursion" => settings.is_recursive = true,
            "no-recursion" => settings.is_recursive = false,
            "one-file-system" => settings.one_device = true,
            "remove-files" => settings.removes = true,
            "ignore-failed-read" => settings.forgives = true,
            "numbers" => settings.has_numbers = true,
            "ignore-zeros" => settings.ignores_zeros = true,
            "full-time" => settings.full_time = true,
            "show-transformed-names" => settings.shows_transformed = true,
            "mode" => settings.mode = Some(value.to_owned()),
            "posix" => settings.dialect = Dialect::Pax,
            _ => return self.other_option(option, value),
        }
        Ok(())
    }

    /// Reads options whose value can be invalid.
    fn other_option(&mut self, option: &str, value: &str) -> Result<(), u8> {
        let call = self.call;
        let settings = &mut self.settings;
        match option {
            "anchored" | "no-anchored" => {
                let is_anchored = option == "anchored";
                (self.excluding.is_anchored, settings.matching.is_anchored) = (is_anchored, is_anchored);
            }
            "wildcards" | "no-wildcards" => {
                let has_wildcards = option == "wildcards";
                (self.excluding.has_wildcards, settings.matching.has_wildcards) = (has_wildcards, has_wildcards);
            }
            "wildcards-match-slash" => self.excluding.stars_match_slashes = true,
            "no-wildcards-match-slash" => self.excluding.stars_match_slashes = false,
            "ignore-case" | "no-ignore-case" => {
                let folds = option == "ignore-case";
                (self.excluding.folds, settings.matching.folds) = (folds, folds);
            }
            "strip-components" => {
                settings.strip =
                    value.parse().map_err(|_| fatal(call, &format!("{value}: Invalid number of elements")))?;
            }
            "transform" | "xform" => {
                settings.transforms.extend(Transform::parse(value).map_err(|message| fatal(call, &message))?);
            }
            "owner" | "group" => {
                let (name, number) = match value.split_once(':') {
                    Some((name, number)) => {
                        let number = number.parse().map_err(|_| fatal(call, &format!("{value}: Invalid {option}")))?;
                        (name.to_owned(), Some(number))
                    }
                    None => match value.trim_start_matches('+').parse() {
                        Ok(number) => (String::new(), Some(number)),
                        Err(_) => (value.to_owned(), None),
                    },
                };
                *(if option == "owner" { &mut settings.owner } else { &mut settings.group }) = Some((name, number));
            }
            "mtime" => settings.modified = Some(moment_of(call, value)?),
            "sort" if matches!(value, "name" | "none" | "inode") => {}
            "format" => {
                settings.dialect = match value {
                    "gnu" | "oldgnu" => Dialect::Gnu,
                    "pax" | "posix" => Dialect::Pax,
                    "ustar" => Dialect::Ustar,
                    _ => return Err(misused(call, &format!("'{value}': Invalid archive format"), 2)),
                };
            }
            "blocking-factor" => match value.parse::<u64>() {
                Ok(factor @ 1..=65535) => settings.record = factor * 512,
                _ => return Err(misused(call, "Invalid blocking factor", 2)),
            },
            "read-full-records" | "force-local" | "utc" | "warning" => {}
            _ => {
                return Err(misused(
                    call,
                    &format!("--{option}{}{value} is not supported", if value.is_empty() { "" } else { "=" }),
                    2,
                ));
            }
        }
        Ok(())
    }

    /// Reads `-I`: a program whose format is known, with a level at most.
    fn compressor(&mut self, command: &str) -> Result<(), u8> {
        let mut words = command.split_whitespace();
        self.settings.format = match words.next().map(|word| word.rsplit('/').next().unwrap_or(word)) {
            Some("gzip" | "pigz") => Some(Format::Gzip),
            Some("bzip2" | "pbzip2" | "lbzip2") => Some(Format::Bzip2),
            Some("xz" | "pixz") => Some(Format::Xz),
            Some("lzma") => Some(Format::Lzma),
            Some("zstd" | "zstdmt") => Some(Format::Zstd),
            _ => return Err(fatal(self.call, &format!("{command}: only gzip, bzip2, xz, lzma and zstd can be used"))),
        };
        for word in words {
            match word.strip_prefix('-').and_then(|level| level.parse::<u32>().ok()) {
                Some(level) => self.settings.level = level.clamp(1, 9),
                None if word.starts_with("-T") || matches!(word, "-d" | "-c" | "-e") => {}
                None => return Err(fatal(self.call, &format!("{command}: {word} is not supported"))),
            }
        }
        Ok(())
    }

    fn names_from(&mut self, path: &str) -> Result<(), u8> {
        self.settings.has_list = true;
        let lines = self.lines(path, if self.has_null { '\0' } else { '\n' })?;
        let mut lines = lines.into_iter();
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            match line.strip_prefix("-C").filter(|_| !self.is_verbatim) {
                Some("") => {
                    let directory = lines.next().unwrap_or_default();
                    self.option("directory", &directory)?;
                }
                Some(directory) => self.option("directory", directory.trim_start())?,
                None if line.starts_with('-') && !self.is_verbatim && line.len() > 1 => {
                    return Err(fatal(
                        self.call,
                        &format!("{path}: options in a list of names are not supported: {line}"),
                    ));
                }
                None => self.name(line),
            }
        }
        Ok(())
    }

    fn lines(&self, path: &str, end: char) -> Result<Vec<String>, u8> {
        let source = if path == "-" { "/dev/stdin" } else { path };
        let bytes = read_file(source, LONGEST_LIST)
            .map_err(|errno| fatal(self.call, &format!("{path}: Cannot open: {}", text(errno))))?;
        let text = String::from_utf8(bytes).map_err(|_| fatal(self.call, &format!("{path}: a name is not UTF-8")))?;
        Ok(text.split_terminator(end).map(str::to_owned).collect())
    }

    fn finish(mut self) -> Result<Settings, u8> {
        let call = self.call;
        self.operations.dedup();
        self.settings.operation = match self.operations.as_slice() {
            [one] => *one,
            [] => {
                return Err(misused(
                    call,
                    "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options",
                    2,
                ));
            }
            _ => {
                let message = "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option";
                return Err(misused(call, message, 2));
            }
        };
        let settings = &mut self.settings;
        let count = settings.names.len();
        let late = self.exclusions.iter().filter(|(_, before)| *before == count && count > 0);
        settings.late_exclusions = late.map(|(pattern, _)| pattern.clone()).collect();
        if self.automatic && settings.format.is_none() && settings.operation == Operation::Create {
            settings.format = Format::by_name(&settings.file);
        }
        if settings.operation == Operation::Create && settings.names.is_empty() && !settings.has_list {
            return Err(misused(call, "Cowardly refusing to create an empty archive", 2));
        }
        Ok(self.settings)
    }
}

/// Rewrites `tar xzf FILE` as `tar -x -z -f FILE`: the letters, and then the values of those that take one.
fn old_style(call: &Call) -> Result<Vec<String>, u8> {
    let Some((first, rest)) =
        call.operands.split_first().filter(|(first, _)| !first.starts_with('-') && !first.is_empty())
    else {
        return Ok(call.operands.clone());
    };
    let (mut args, mut rest) = (Vec::new(), rest.iter());
    for letter in first.chars() {
        args.push(format!("-{letter}"));
        if "fCITXbHKVNgF".contains(letter) {
            let Some(value) = rest.next() else {
                return Err(misused(call, &format!("Old option '{letter}' requires an argument."), 2));
            };
            args.push(value.clone());
        }
    }
    args.extend(rest.cloned());
    Ok(args)
}

/// Reads a date, or the time of a file if the text looks like a path.
fn moment_of(call: &Call, text_of: &str) -> Result<i128, u8> {
    if text_of.starts_with(['/', '.']) {
        let found = files::stat(text_of, true)
            .map_err(|errno| fatal(call, &format!("{text_of}: Cannot stat: {}", text(errno))))?;
        return Ok(found.modified.into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    moment::parse(text_of, now).ok_or_else(|| fatal(call, &format!("'{text_of}': Invalid date")))
}

fn fatal(call: &Call, message: &str) -> u8 {
    call.complain(message);
    call.complain("Error is not recoverable: exiting now");
    2
}

fn misused(call: &Call, message: &str, code: u8) -> u8 {
    call.complain(message);
    let hint = format!("Try '{0} --help' or '{0} --usage' for more information.\n", call.name);
    // There is no place left to report that standard error is gone.
    let _ = isopod_sys::write_all(2, hint.as_bytes());
    code
}
