//! The files to search.

use isopod_gnu::input::Input;
use isopod_gnu::output::Out;
use isopod_gnu::path;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, process, text};
use memchr::memchr;

use super::ignore::{self, Rules};
use super::json;
use super::matcher::Matcher;
use super::options::{Mode, Options, Sort};
use super::search::{Search, Totals};

/// The range in which a NUL makes a file binary: ripgrep's first buffer.
const HEAD: usize = 64 * 1024;

/// The deepest nesting of directories. A symbolic link can make it endless.
const DEPTH_LIMIT: usize = 200;

/// A search of all operands.
pub(super) struct Walk<'a> {
    call: &'a Call,
    options: &'a Options,
    matcher: Option<Matcher>,
    out: Out,
    totals: Totals,
    with_names: bool,
    has_found: bool,
    has_failed: bool,
}

/// A directory being read.
struct Level {
    /// The prefix of printed paths, with a slash at its end unless it is empty.
    prefix: String,
    entries: std::vec::IntoIter<fs::Entry>,
    rules: usize,
    /// Device and inode, if links are followed, to detect loops.
    identity: Option<(u64, u64)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(call: &'a Call, options: &'a Options) -> Result<Walk<'a>, u8> {
        let matcher = match options.mode {
            Mode::Files => None,
            _ => Some(Matcher::new(options).map_err(|message| {
                // A failed write to standard error cannot be reported anywhere.
                let _ = isopod_sys::write_all(2, format!("{message}\n").as_bytes());
                2
            })?),
        };
        Ok(Walk {
            call,
            options,
            matcher,
            out: Out::new(),
            totals: Totals::default(),
            with_names: false,
            has_found: false,
            has_failed: false,
        })
    }

    pub(super) fn run(mut self) -> Result<u8, u8> {
        let options = self.options;
        let paths = &options.paths;
        let reads_input = paths.is_empty()
            && options.mode != Mode::Files
            && matches!(files::stat_fd(0), Ok(found) if matches!(found.kind, Kind::File | Kind::Pipe));
        let is_one_file = match paths.as_slice() {
            [] => reads_input,
            [only] => only == "-" || matches!(files::stat(only, true), Ok(found) if found.kind != Kind::Directory),
            _ => false,
        };
        self.with_names = options.names.unwrap_or(!is_one_file);
        let searches_here = match (paths.is_empty(), reads_input) {
            (true, true) => self.is_input_empty(),
            (is_bare, _) => is_bare,
        };
        if searches_here {
            self.with_names = options.names.unwrap_or(true);
            self.tree(".", "");
        }
        for operand in paths {
            if operand == "-" {
                self.standard_input();
                continue;
            }
            match files::stat(operand, true) {
                Ok(found) if found.kind == Kind::Directory => {
                    let prefix = format!("{}/", path::trim_slashes(operand).trim_end_matches('/'));
                    self.tree(operand, &prefix);
                }
                Ok(_) => self.file(operand, true),
                Err(errno) => self.complain(operand, errno),
            }
            if self.is_done() {
                break;
            }
        }
        if options.mode == Mode::Json && !options.quiet {
            let all = &self.totals;
            let stats = json::stats(all.files, all.with_match, all.searched, all.printed, all.lines, all.matches);
            let line = format!(
                "{{\"data\":{{\"elapsed_total\":{{\"human\":\"0.000000s\",\"nanos\":0,\"secs\":0}},\
                 \"stats\":{stats}}},\"type\":\"summary\"}}\n"
            );
            self.out.push(line.as_bytes());
        } else if options.stats {
            let all = &self.totals;
            let text = format!(
                "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n\
                 {} bytes searched\n0.000000 seconds spent searching\n0.000000 seconds\n",
                all.matches, all.lines, all.with_match, all.files, all.printed, all.searched
            );
            self.out.push(text.as_bytes());
        }
        let code = match (self.has_found, self.has_failed) {
            (true, true) if options.quiet => 0,
            (_, true) => 2,
            (true, false) => 0,
            (false, false) => 1,
        };
        Ok(self.call.finish(self.out, code))
    }

    fn is_done(&self) -> bool {
        (self.options.quiet && self.has_found) || self.out.has_failed()
    }

    fn complain(&mut self, name: &str, errno: Errno) {
        self.complain_of(&format!("{name}: {}", text(errno)));
    }

    fn complain_of(&mut self, message: &str) {
        if !self.options.no_messages {
            self.out.flush();
            self.call.complain(message);
        }
        self.has_failed = true;
    }

    /// Searches standard input. Returns true if it is empty: callers without input often pass an empty pipe, and then
    /// `rg` without a path means the working directory.
    fn is_input_empty(&mut self) -> bool {
        match Input::open("-").and_then(|input| input.read_all()) {
            Ok(bytes) if bytes.is_empty() => return true,
            Ok(bytes) => self.bytes("<stdin>", &bytes, true),
            Err(errno) => self.complain("<stdin>", errno),
        }
        false
    }

    fn standard_input(&mut self) {
        match Input::open("-").and_then(|input| input.read_all()) {
            Ok(bytes) => self.bytes("<stdin>", &bytes, true),
            Err(errno) => self.complain("<stdin>", errno),
        }
    }

    /// Searches the files below a directory.
    fn tree(&mut self, root: &str, prefix: &str) {
        let options = self.options;
        let mut rules = Vec::new();
        let mut in_repository = !options.require_git;
        if options.ignore {
            in_repository |= self.parents(root, prefix, &mut rules);
        }
        let mut levels = Vec::new();
        self.enter(root, prefix, in_repository, &mut rules, &mut levels);
        while let Some(level) = levels.last_mut() {
            let Some(entry) = level.entries.next() else {
                rules.truncate(level.rules);
                levels.pop();
                continue;
            };
            let shown = format!("{}{}", level.prefix, entry.name);
            if entry.name.starts_with('.') && !options.hidden && !self.is_whitelisted(&shown, prefix) {
                continue;
            }
            let kind = match entry.kind {
                Kind::Symlink if options.follow => match files::stat(&shown, true) {
                    Ok(found) => found.kind,
                    Err(errno) => {
                        self.complain(&shown, errno);
                        continue;
                    }
                },
                kind => kind,
            };
            let is_dir = kind == Kind::Directory;
            let below = shown.strip_prefix(prefix).unwrap_or(&shown).to_owned();
            let by_glob = options.globs.iter().rev().find(|rule| rule.fits(&below, is_dir)).map(|rule| rule.negated);
            let is_ignored = match by_glob {
                Some(negated) => negated,
                None => {
                    ignore::leaves_out(&options.globs, &below, is_dir)
                        || rules.iter().rev().find_map(|rules: &Rules| rules.verdict(&shown, is_dir)).unwrap_or(false)
                }
            };
            if is_ignored || (!is_dir && ignore::leaves_out(&options.types, &below, false)) {
                continue;
            }
            match kind {
                Kind::Directory if options.depth.is_none_or(|depth| levels.len() < depth) => {
                    let prefix = format!("{shown}/");
                    self.enter(&shown, &prefix, in_repository, &mut rules, &mut levels);
                }
                Kind::File => self.file(&shown, false),
                _ => {}
            }
            if self.is_done() {
                return;
            }
        }
    }

    fn is_whitelisted(&self, shown: &str, prefix: &str) -> bool {
        let below = shown.strip_prefix(prefix).unwrap_or(shown);
        self.options.globs.iter().rev().find(|rule| rule.fits(below, false)).is_some_and(|rule| !rule.negated)
    }

    /// Adds the rules of the directories above the root. Returns true if one of them is a repository.
    fn parents(&self, root: &str, prefix: &str, rules: &mut Vec<Rules>) -> bool {
        let start = if root.starts_with('/') { root.to_owned() } else { path::join(&process::cwd(), root) };
        let mut names: Vec<&str> = Vec::new();
        for part in start.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                names.pop();
            } else {
                names.push(part);
            }
        }
        let directories: Vec<String> =
            (0..=names.len()).map(|count| format!("/{}", names[..count].join("/"))).collect();
        let repository = directories.iter().rposition(|dir| files::stat(&path::join(dir, ".git"), true).is_ok());
        if self.options.ignore_parents {
            for (index, directory) in directories.iter().enumerate().take(names.len()) {
                // The rules of a parent directory match paths with the names in between in front.
                let between = names[index..].join("/");
                let from = format!("{between}/");
                let is_inside = repository.is_some_and(|top| index >= top);
                for name in [".gitignore", ".ignore", ".rgignore"] {
                    let is_vcs = name == ".gitignore";
                    if is_vcs && !(self.options.ignore_vcs && (is_inside || !self.options.require_git)) {
                        continue;
                    }
                    if let Some(found) = Rules::read(&path::join(directory, name), "") {
                        rules.push(found.seen_from(prefix, &from));
                    }
                }
            }
        }
        repository.is_some()
    }

    fn enter(
        &mut self,
        directory: &str,
        prefix: &str,
        in_repository: bool,
        rules: &mut Vec<Rules>,
        levels: &mut Vec<Level>,
    ) {
        let identity = match self.options.follow {
            true => files::stat(directory, true).ok().map(|found| (found.device, found.inode)),
            false => None,
        };
        if let Some(above) = levels.iter().find(|level| identity.is_some() && level.identity == identity) {
            let ancestor = match above.prefix.trim_end_matches('/') {
                "" => ".",
                prefix => prefix,
            };
            let message = format!("File system loop found: {directory} points to an ancestor {ancestor}");
            return self.complain_of(&message);
        }
        let mut entries = match fs::entries(directory) {
            Ok(entries) => entries,
            Err(errno) => return self.complain(directory, errno),
        };
        if levels.len() >= DEPTH_LIMIT {
            return self.complain(directory, Errno::Loop);
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        if self.options.sort == Sort::Modified {
            let time =
                |entry: &fs::Entry| files::stat(&format!("{prefix}{}", entry.name), true).map_or(0, |f| f.modified);
            entries.sort_by_cached_key(time);
        }
        if self.options.descending {
            entries.reverse();
        }
        let before = rules.len();
        if self.options.ignore {
            for name in [".gitignore", ".ignore", ".rgignore"] {
                let is_there = entries.iter().any(|entry| entry.name == name);
                let counts = name != ".gitignore" || (self.options.ignore_vcs && in_repository);
                if is_there && counts {
                    rules.extend(Rules::read(&format!("{prefix}{name}"), prefix));
                }
            }
        }
        levels.push(Level { prefix: prefix.to_owned(), entries: entries.into_iter(), rules: before, identity });
    }

    fn file(&mut self, name: &str, is_operand: bool) {
        if self.options.mode == Mode::Files {
            self.has_found = true;
            self.out.push(name.as_bytes());
            return self.out.byte(if self.options.null { 0 } else { b'\n' });
        }
        if let Some(largest) = self.options.largest
            && files::stat(name, true).is_ok_and(|found| found.size > largest)
        {
            return;
        }
        match Input::open(name).and_then(|input| input.read_all()) {
            Ok(bytes) => self.bytes(name, &bytes, is_operand),
            Err(errno) => self.complain(name, errno),
        }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8], is_operand: bool) {
        let options = self.options;
        let mut text = bytes;
        let mut binary_at = None;
        if !options.text
            && let Some(at) = memchr(0, bytes)
        {
            if is_operand || options.binary {
                binary_at = Some(at);
            } else if at < HEAD {
                return;
            } else {
                // The part before the NUL is text.
                text = &bytes[..at];
            }
        }
        let Some(matcher) = &self.matcher else { return };
        let search = Search { options, matcher, path: name, with_name: self.with_names, binary_at };
        match search.run(text, &mut self.out, &mut self.totals) {
            Ok(found) => self.has_found |= found,
            Err(message) => {
                self.out.flush();
                self.call.complain(&format!("{name}: {message}"));
                self.has_failed = true;
            }
        }
    }
}
