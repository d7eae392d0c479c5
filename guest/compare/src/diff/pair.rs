//! The comparison of two files.

use isopod_gnu::input::Input;
use isopod_gnu::path;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs, text};

use super::hunk::Hunks;
use super::settings::Style;
use super::{Diff, TROUBLE};
use crate::lines::{self, Text};

/// One of the two files to compare.
pub(super) struct Side {
    pub path: String,
    /// `None` if the file does not exist and is treated as empty.
    pub found: Option<Attributes>,
}

impl Diff<'_> {
    /// Compares the files named by two operands.
    pub(super) fn operands(&mut self, first: &str, second: &str) -> u8 {
        let (mut first, mut second) = (first.to_owned(), second.to_owned());
        let is_directory =
            |path: &str| path != "-" && files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory);
        match (is_directory(&first), is_directory(&second)) {
            (true, false) if second != "-" => first = path::join(&first, path::last_part(&second)),
            (false, true) if first != "-" => second = path::join(&second, path::last_part(&first)),
            (true, false) | (false, true) => {
                self.complain("cannot compare '-' to a directory");
                return TROUBLE;
            }
            _ => {}
        }
        self.paths(&first, &second, true)
    }

    /// Compares two paths. A missing file is an error unless it is treated as empty.
    pub(super) fn paths(&mut self, first: &str, second: &str, top: bool) -> u8 {
        let found = [self.attributes(first), self.attributes(second)];
        let missing = found.iter().filter(|found| matches!(found, Err(Errno::NoEntry))).count();
        let mut sides = Vec::new();
        let mut failed = false;
        for (index, (path, found)) in [first, second].into_iter().zip(found).enumerate() {
            let may_miss = missing == 1 && (self.settings.new_file || (index == 0 && self.settings.new_first_file));
            match found {
                Ok(found) => sides.push(Side { path: path.to_owned(), found: Some(found) }),
                Err(Errno::NoEntry) if may_miss => sides.push(Side { path: path.to_owned(), found: None }),
                Err(errno) => {
                    self.complain(&format!("{path}: {}", text(errno)));
                    failed = true;
                }
            }
        }
        let (false, [a, b]) = (failed, sides.as_slice()) else { return TROUBLE };
        let kinds = [a, b].map(|side| side.found.as_ref().map(|found| found.kind));
        match kinds {
            [Some(Kind::Directory), Some(Kind::Directory)] => self.directories(a, b, top),
            [Some(Kind::Directory), None] | [None, Some(Kind::Directory)] => self.directories(a, b, top),
            [Some(Kind::Symlink), Some(Kind::Symlink)] => self.links(a, b),
            [Some(first), Some(second)] if is_incomparable(first, second) => {
                let line = format!("File {} is a {} while file {} is a {}\n", a.path, kind(a), b.path, kind(b));
                self.out.push(line.as_bytes());
                1
            }
            _ => self.files(a, b, top),
        }
    }

    fn attributes(&self, path: &str) -> Result<Attributes, Errno> {
        if path == "-" { files::stat_fd(0) } else { files::stat(path, !self.settings.no_dereference) }
    }

    pub(super) fn complain(&mut self, message: &str) {
        self.out.flush();
        self.call.complain(message);
    }

    fn links(&mut self, a: &Side, b: &Side) -> u8 {
        match (fs::read_link(&a.path), fs::read_link(&b.path)) {
            (Ok(first), Ok(second)) if first == second => self.same(a, b),
            (Ok(_), Ok(_)) => {
                self.out.push(format!("Symbolic links {} and {} differ\n", a.path, b.path).as_bytes());
                1
            }
            (Err(errno), _) | (_, Err(errno)) => {
                self.complain(&format!("{}: {}", a.path, text(errno)));
                TROUBLE
            }
        }
    }

    fn same(&mut self, a: &Side, b: &Side) -> u8 {
        if self.settings.report_identical {
            self.out.push(format!("Files {} and {} are identical\n", a.path, b.path).as_bytes());
        }
        0
    }

    fn files(&mut self, a: &Side, b: &Side, top: bool) -> u8 {
        // Two names of one file need no comparison.
        let is_one = match (&a.found, &b.found) {
            (Some(first), Some(second)) => {
                first.kind == Kind::File && (first.device, first.inode) == (second.device, second.inode)
            }
            _ => false,
        };
        if is_one && (self.settings.style != Style::SideBySide || self.settings.suppress_common) {
            return self.same(a, b);
        }
        let mut contents = Vec::new();
        for side in [a, b] {
            if side.found.is_none() {
                contents.push(Vec::new());
                continue;
            }
            match Input::open(&side.path).and_then(|input| input.read_all()) {
                Ok(content) => contents.push(content),
                Err(errno) => {
                    self.complain(&format!("{}: {}", side.path, text(errno)));
                    return TROUBLE;
                }
            }
        }
        let (Some(mut second), Some(mut first)) = (contents.pop(), contents.pop()) else { return TROUBLE };
        if !self.settings.text && (lines::is_binary(&first) || lines::is_binary(&second)) {
            if first == second {
                return self.same(a, b);
            }
            let names = if self.settings.brief { "Files" } else { "Binary files" };
            self.out.push(format!("{names} {} and {} differ\n", a.path, b.path).as_bytes());
            return 1;
        }
        if self.settings.strip_cr {
            first = lines::without_carriage_returns(&first);
            second = lines::without_carriage_returns(&second);
        }
        if self.settings.brief && !self.settings.ignores() {
            return if first == second { self.same(a, b) } else { self.differ(a, b) };
        }
        let incomplete = [&first, &second].map(|content| content.last().is_some_and(|byte| *byte != b'\n'));
        if self.settings.style == Style::Ed {
            // A script for `ed` cannot express a missing newline at the end, so one is added.
            for (content, incomplete) in [&mut first, &mut second].into_iter().zip(incomplete) {
                content.extend(incomplete.then_some(b'\n'));
            }
        }
        let texts = [Text::new(first), Text::new(second)];
        let changes = lines::changes(&texts[0], &texts[1], &self.settings.rules);
        let hunks = Hunks::new(changes, &texts, &self.settings);
        if !hunks.has_changes() && self.settings.style != Style::SideBySide {
            return self.same(a, b);
        }
        if self.settings.brief && hunks.has_changes() {
            return self.differ(a, b);
        }
        if !top && (hunks.has_changes() || self.settings.style == Style::SideBySide) {
            let name = |index: usize, side: &Side| {
                self.settings.labels.get(index).cloned().unwrap_or_else(|| quoted(&side.path))
            };
            let line = format!("diff{} {} {}\n", self.settings.given, name(0, a), name(1, b));
            self.paint_header(&line);
        }
        match self.settings.style {
            Style::Normal => self.normal(&hunks),
            Style::Context => self.context([a, b], &hunks),
            Style::Unified => self.unified([a, b], &hunks),
            Style::Ed => {
                self.ed(&hunks);
                for (side, incomplete) in [a, b].into_iter().zip(incomplete) {
                    if incomplete {
                        self.complain(&format!("{}: No newline at end of file\n", side.path));
                    }
                }
            }
            Style::Rcs => self.rcs(&hunks),
            Style::SideBySide => self.side_by_side(&hunks),
        }
        match (self.settings.style, incomplete) {
            (Style::Ed, [true, _] | [_, true]) => TROUBLE,
            _ if hunks.has_changes() => 1,
            _ => self.same(a, b),
        }
    }

    fn differ(&mut self, a: &Side, b: &Side) -> u8 {
        self.out.push(format!("Files {} and {} differ\n", a.path, b.path).as_bytes());
        1
    }
}

/// Returns true if two files are of kinds that cannot be compared line by line.
fn is_incomparable(first: Kind, second: Kind) -> bool {
    let odd = |kind: Kind| matches!(kind, Kind::Directory | Kind::Symlink);
    first != second && (odd(first) || odd(second))
}

pub(super) fn kind(side: &Side) -> &'static str {
    match side.found.as_ref().map(|found| (found.kind, found.size)) {
        Some((Kind::Directory, _)) => "directory",
        Some((Kind::Symlink, _)) => "symbolic link",
        Some((Kind::Device, _)) => "character special file",
        Some((Kind::Pipe, _)) => "fifo",
        Some((Kind::File, 0)) => "regular empty file",
        _ => "regular file",
    }
}

/// Quotes a path for a header that `patch` reads back: as in C, if it contains a special character.
pub(super) fn quoted(path: &str) -> String {
    let odd = |c: char| c == '"' || c == '\\' || c == ' ' || c.is_control();
    if path.contains(odd) { format!("\"{}\"", isopod_gnu::quote::c_escaped(path, '"')) } else { path.to_owned() }
}
