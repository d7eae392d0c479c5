//! The files to search, and the summary of each file.

use isopod_gnu::output::Out;
use isopod_gnu::path;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Kind, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, fs, text};

use super::matcher::Matcher;
use super::options::{Directories, List, Options};
use super::print::{Printer, SELECTED};
use super::scan::{Failure, Scan};

/// The deepest nesting of directories. A symbolic link can make it endless.
const DEPTH_LIMIT: usize = 200;

/// A search of all operands.
pub(super) struct Walk<'a> {
    call: &'a Call,
    options: &'a Options,
    matcher: &'a Matcher,
    out: Out,
    with_names: bool,
    used: bool,
    has_selected: bool,
    has_failed: bool,
    /// Device and inode of standard output, if it is a file. That file is not searched.
    output: Option<(u64, u64)>,
}

/// A directory being read: its path, its remaining entries, and its device and inode.
struct Level {
    path: String,
    entries: std::vec::IntoIter<fs::Entry>,
    identity: (u64, u64),
}

impl<'a> Walk<'a> {
    pub(super) fn new(call: &'a Call, options: &'a Options, matcher: &'a Matcher) -> Walk<'a> {
        let output = files::stat_fd(1).ok().filter(|found| found.kind == Kind::File);
        Walk {
            call,
            options,
            matcher,
            out: Out::new(),
            with_names: false,
            used: false,
            has_selected: false,
            has_failed: false,
            output: output.map(|found| (found.device, found.inode)),
        }
    }

    /// Searches all operands and returns the exit code.
    pub(super) fn run(mut self) -> u8 {
        let options = self.options;
        let recurses = matches!(options.directories, Directories::Recurse(_));
        self.with_names = options.names.unwrap_or(options.files.len() > 1 || recurses);
        let operands: Vec<&str> = options.files.iter().map(String::as_str).collect();
        match operands.as_slice() {
            [] if recurses => self.tree(".", true),
            [] => self.standard_input(),
            [file] if recurses && options.names.is_none() && *file == "-" => {
                self.with_names = false;
                self.standard_input();
            }
            [file] if recurses && options.names.is_none() => {
                // A single operand needs no file name unless it is a directory.
                self.with_names = !matches!(files::stat(file, true), Ok(found) if found.kind != Kind::Directory);
                self.operand(file);
            }
            operands => {
                for file in operands {
                    match *file {
                        "-" => self.standard_input(),
                        file => self.operand(file),
                    }
                    if self.is_done() {
                        break;
                    }
                }
            }
        }
        let code = match (self.has_failed, self.has_selected) {
            (true, true) if options.quiet => 0,
            (true, _) => 2,
            (false, true) => 0,
            (false, false) => 1,
        };
        self.call.finish(self.out, code)
    }

    fn is_done(&self) -> bool {
        (self.options.quiet && self.has_selected) || self.out.has_failed()
    }

    fn complain(&mut self, name: &str, message: &str) {
        if !self.options.no_messages {
            // Output comes before the message.
            self.out.flush();
            self.call.complain(&format!("{name}: {message}"));
        }
        self.has_failed = true;
    }

    fn standard_input(&mut self) {
        let label = self.options.label.clone();
        let start = files::seek(0, 0, Whence::Current).ok();
        self.open_file(0, &label, start);
    }

    fn operand(&mut self, file: &str) {
        if self.options.filter.leaves_out(file, true)
            && !matches!(files::stat(file, true), Ok(found) if found.kind == Kind::Directory)
        {
            return;
        }
        let found = match files::stat(file, true) {
            Ok(found) => found,
            Err(errno) => return self.complain(file, text(errno)),
        };
        match (found.kind, self.options.directories) {
            (Kind::Directory, Directories::Recurse(_)) => {
                if !self.options.filter.leaves_out_dir(file, true) {
                    self.tree(file, false);
                }
            }
            (Kind::Directory, _) if self.options.filter.leaves_out_dir(file, true) => {}
            (Kind::Directory, Directories::Skip) => {}
            (Kind::Directory, Directories::Read) => self.complain(file, text(Errno::IsDirectory)),
            (Kind::Device | Kind::Pipe, _) if self.options.skip_devices == Some(true) => {}
            _ => self.file(file),
        }
    }

    /// Searches the files below a directory. With `is_bare`, the directory is `.` and is not part of the printed
    /// names.
    fn tree(&mut self, root: &str, is_bare: bool) {
        let follow = self.options.directories == Directories::Recurse(true);
        let mut levels = Vec::new();
        self.enter(root, if is_bare { "" } else { root }, &mut levels);
        while let Some(level) = levels.last_mut() {
            let Some(entry) = level.entries.next() else {
                levels.pop();
                continue;
            };
            let shown = if level.path.is_empty() { entry.name.clone() } else { path::join(&level.path, &entry.name) };
            let kind = match entry.kind {
                Kind::Symlink if follow => match files::stat(&shown, true) {
                    Ok(found) => found.kind,
                    Err(errno) => {
                        self.complain(&shown, text(errno));
                        continue;
                    }
                },
                kind => kind,
            };
            match kind {
                Kind::Directory if !self.options.filter.leaves_out_dir(&entry.name, false) => {
                    self.enter(&shown, &shown, &mut levels);
                }
                Kind::File if !self.options.filter.leaves_out(&entry.name, false) => self.file(&shown),
                // Devices in a tree are skipped unless `--devices=read` is given.
                Kind::Device | Kind::Pipe if self.options.skip_devices == Some(false) => self.file(&shown),
                _ => {}
            }
            if self.is_done() {
                return;
            }
        }
    }

    fn enter(&mut self, directory: &str, shown: &str, levels: &mut Vec<Level>) {
        let found = files::stat(directory, true).and_then(|found| Ok((found, fs::entries(directory)?)));
        let (found, entries) = match found {
            Ok(found) => found,
            Err(errno) => return self.complain(if shown.is_empty() { directory } else { shown }, text(errno)),
        };
        let identity = (found.device, found.inode);
        if levels.iter().any(|level| level.identity == identity) {
            if !self.options.no_messages {
                self.call.complain(&format!("{shown}: warning: recursive directory loop"));
            }
            return;
        }
        if levels.len() >= DEPTH_LIMIT {
            return self.complain(shown, text(Errno::NameTooLong));
        }
        levels.push(Level { path: shown.to_owned(), entries: entries.into_iter(), identity });
    }

    fn file(&mut self, file: &str) {
        match Fd::open(file, OpenFlags::READ, 0) {
            Ok(fd) => self.open_file(fd.raw(), file, None),
            Err(errno) => self.complain(file, text(errno)),
        }
    }

    /// Searches an open file. `start` is the position of standard input, which is left after the last line used.
    fn open_file(&mut self, fd: u32, name: &str, start: Option<u64>) {
        let options = self.options;
        let mut width = 0;
        if self.output.is_some() || options.tab {
            let found = files::stat_fd(fd).ok();
            if let (Some(output), Some(found)) = (self.output, &found)
                && output == (found.device, found.inode)
                && !options.quiet
                && options.list == List::None
                && options.most > 1
            {
                return self.complain(name, "input file is also the output");
            }
            if options.tab {
                // As in GNU grep: the number of digits of the size, or of the largest offset.
                let size = found.filter(|found| found.kind == Kind::File).map_or(i64::MAX as u64, |found| found.size);
                width = size.to_string().len();
            }
        }
        let shown = self.with_names.then_some(name);
        let printer = Printer::new(options, self.matcher, shown, width);
        let selected = match Scan::new(printer, &mut self.out, &mut self.used).run(fd) {
            Ok(outcome) => {
                if outcome.is_binary_match {
                    self.out.flush();
                    self.call.complain(&format!("{name}: binary file matches"));
                }
                if let (Some(start), Some(end)) = (start, outcome.stopped_at) {
                    // An input that cannot seek stays where it is.
                    let _ = files::seek(fd, (start + end) as i64, Whence::Start);
                }
                outcome.selected
            }
            Err(failure) => {
                let message = failure.message();
                if let Failure::Match(message) = &failure {
                    self.out.flush();
                    self.call.complain(message);
                    self.has_failed = true;
                    return;
                }
                self.complain(name, &message);
                if let Failure::Read(_, selected) = failure { selected } else { 0 }
            }
        };
        self.has_selected |= selected > 0;
        self.summarize(name, selected);
    }

    /// Prints the count and the name of a file, if the options ask for them.
    fn summarize(&mut self, name: &str, selected: u64) {
        let options = self.options;
        if options.quiet {
            return;
        }
        let printer = Printer::new(options, self.matcher, None, 0);
        if options.count && options.list == List::None {
            if self.with_names {
                printer.print_name(name, &mut self.out);
                if options.null {
                    self.out.byte(0);
                } else {
                    printer.paint(|colors| &colors.separator, &[SELECTED], &mut self.out);
                }
            }
            self.out.push(selected.to_string().as_bytes());
            self.out.byte(b'\n');
        }
        let is_listed = match options.list {
            List::None => false,
            List::Matching => selected > 0,
            List::Others => selected == 0,
        };
        if is_listed {
            printer.print_name(name, &mut self.out);
            self.out.byte(if options.null { 0 } else { b'\n' });
        }
        if options.line_buffered {
            self.out.flush();
        }
    }
}
