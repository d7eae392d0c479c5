//! The parser of patches: the output of `diff` and `git` between any other text.

use super::hunk::{Hunk, Kind};

/// The format of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Unified,
    Context,
    Normal,
}

/// The changes of one file.
#[derive(Default)]
pub(super) struct FilePatch {
    /// The names in the header lines.
    pub old: Option<Name>,
    pub new: Option<Name>,
    pub index: Option<String>,
    pub git: Option<GitHeader>,
    pub format: Option<Format>,
    pub hunks: Vec<Hunk>,
    /// The lines that name the file, for the question about it, and the number of the line after them.
    pub lead: Vec<String>,
    pub line: usize,
}

/// A file name in a header.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub path: String,
    /// The header line without its mark.
    pub text: String,
    /// The time stamp is the epoch, which says that the file does not exist.
    pub is_epoch: bool,
}

/// The attributes of a file in git's extended header.
#[derive(Default, Clone, Debug)]
pub(super) struct GitHeader {
    pub old: String,
    pub new: String,
    pub renamed: Option<(String, String)>,
    pub copied: Option<(String, String)>,
    pub new_mode: Option<u32>,
    pub is_new: bool,
    pub is_deleted: bool,
}

/// The message about a patch that cannot be parsed.
pub(super) struct Malformed(pub String);

pub(super) struct Parser<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8]) -> Parser<'a> {
        let lines = text.split_inclusive(|byte| *byte == b'\n').collect();
        Parser { lines, at: 0 }
    }

    fn line(&self, ahead: usize) -> &'a [u8] {
        let line = self.lines.get(self.at + ahead).copied().unwrap_or_default();
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.lines.len()
    }

    /// Returns the patch of the next file, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<FilePatch>, Malformed> {
        let mut patch = FilePatch::default();
        let start = self.at;
        while !self.is_at_end() {
            let line = self.line(0);
            if let Some(names) = line.strip_prefix(b"diff --git ") {
                // A header without hunks ends where the next one begins.
                if patch.git.as_ref().is_some_and(GitHeader::changes_attributes) {
                    return Ok(Some(self.finished(patch, start)));
                }
                patch = FilePatch { git: git_names(&shown(names)), ..FilePatch::default() };
                self.at += 1;
            } else if patch.git.is_some() && self.git_line(&mut patch) {
                self.at += 1;
            } else if let Some(name) = line.strip_prefix(b"Index: ") {
                patch.index = Some(shown(name).trim().to_owned());
                self.at += 1;
            } else if line.starts_with(b"--- ")
                && self.line(1).starts_with(b"+++ ")
                && self.line(2).starts_with(b"@@ -")
            {
                patch.old = Some(name(&line[4..]));
                patch.new = Some(name(&self.line(1)[4..]));
                patch.format = Some(Format::Unified);
                self.at += 2;
                return self.with_hunks(patch, start);
            } else if line.starts_with(b"*** ")
                && self.line(1).starts_with(b"--- ")
                && self.line(2).starts_with(b"***************")
            {
                patch.old = Some(name(&line[4..]));
                patch.new = Some(name(&self.line(1)[4..]));
                patch.format = Some(Format::Context);
                self.at += 2;
                return self.with_hunks(patch, start);
            } else if line.starts_with(b"@@ -") && unified_ranges(line).is_some() {
                patch.format = Some(Format::Unified);
                return self.with_hunks(patch, start);
            } else if normal_ranges(line).is_some() && matches!(self.line(1).get(..2), Some(b"< " | b"> ")) {
                patch.format = Some(Format::Normal);
                return self.with_hunks(patch, start);
            } else if is_ed_command(line) && !self.line(1).starts_with(b"<") && !self.line(1).starts_with(b">") {
                return Err(Malformed("ed scripts are not supported".into()));
            } else if line.starts_with(b"GIT binary patch") {
                return Err(Malformed("git binary diffs are not supported.".into()));
            } else {
                self.at += 1;
            }
        }
        if patch.git.as_ref().is_some_and(GitHeader::changes_attributes) {
            Ok(Some(self.finished(patch, start)))
        } else {
            Ok(None)
        }
    }

    fn finished(&self, mut patch: FilePatch, start: usize) -> FilePatch {
        let end = self.at.min(self.lines.len());
        patch.lead =
            self.lines[start..end].iter().map(|line| shown(line.strip_suffix(b"\n").unwrap_or(line))).collect();
        patch.line = self.at + 1;
        patch
    }

    fn git_line(&self, patch: &mut FilePatch) -> bool {
        let text = shown(self.line(0));
        let Some(git) = &mut patch.git else { return false };
        let mode = |text: &str| u32::from_str_radix(text.trim(), 8).ok().map(|mode| mode & 0o7777);
        if let Some(rest) = text.strip_prefix("rename from ") {
            git.renamed.get_or_insert_default().0 = rest.to_owned();
        } else if let Some(rest) = text.strip_prefix("rename to ") {
            git.renamed.get_or_insert_default().1 = rest.to_owned();
        } else if let Some(rest) = text.strip_prefix("copy from ") {
            git.copied.get_or_insert_default().0 = rest.to_owned();
        } else if let Some(rest) = text.strip_prefix("copy to ") {
            git.copied.get_or_insert_default().1 = rest.to_owned();
        } else if let Some(rest) = text.strip_prefix("new file mode ") {
            git.is_new = true;
            git.new_mode = mode(rest);
        } else if text.strip_prefix("deleted file mode ").is_some() {
            git.is_deleted = true;
        } else if let Some(rest) = text.strip_prefix("new mode ") {
            git.new_mode = mode(rest);
        } else {
            return text.starts_with("old mode ")
                || text.starts_with("similarity index ")
                || text.starts_with("index ");
        }
        true
    }

    fn with_hunks(&mut self, patch: FilePatch, start: usize) -> Result<Option<FilePatch>, Malformed> {
        let mut patch = self.finished(patch, start);
        loop {
            let hunk = match patch.format {
                Some(Format::Unified) if self.line(0).starts_with(b"@@ -") => self.unified()?,
                Some(Format::Context) if self.line(0).starts_with(b"***************") => self.context()?,
                Some(Format::Normal) if normal_ranges(self.line(0)).is_some() => self.normal()?,
                _ => return Ok(Some(patch)),
            };
            patch.hunks.push(hunk);
        }
    }

    fn malformed(&self) -> Malformed {
        Malformed(format!("malformed patch at line {}: {}", self.at + 1, shown(self.line(0))))
    }

    /// Returns the text of a line after its mark, with its newline unless the next line is `\ No newline`.
    fn text_of(&mut self, skip: usize) -> Vec<u8> {
        let line = self.lines.get(self.at).copied().unwrap_or_default();
        let mut text = line.get(skip..).unwrap_or_default().to_vec();
        self.at += 1;
        // The newline is missing if a line has lost the blank after its mark, or at the end of the patch.
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        if self.lines.get(self.at).is_some_and(|line| line.starts_with(b"\\ ")) {
            text.pop();
            self.at += 1;
        }
        text
    }

    fn unified(&mut self) -> Result<Hunk, Malformed> {
        let Some([old_start, old_count, new_start, new_count]) = unified_ranges(self.line(0)) else {
            return Err(self.malformed());
        };
        let mut hunk = Hunk { old_start, new_start, ..Hunk::default() };
        let header = self.line(0);
        if let Some(at) = header.windows(3).rposition(|part| part == b" @@") {
            hunk.function = header[at + 3..].to_vec();
        }
        self.at += 1;
        let (mut old, mut new) = (0, 0);
        while old < old_count || new < new_count {
            if self.is_at_end() {
                return Err(Malformed("unexpected end of file in patch".into()));
            }
            let kind = match self.line(0).first() {
                Some(b' ' | b'\t') | None => Kind::Common,
                Some(b'-') => Kind::Deleted,
                Some(b'+') => Kind::Inserted,
                _ => return Err(self.malformed()),
            };
            old += usize::from(kind != Kind::Inserted);
            new += usize::from(kind != Kind::Deleted);
            let skip = usize::from(self.line(0).first().is_some_and(|byte| *byte != b'\t'));
            hunk.lines.push((kind, self.text_of(skip)));
        }
        Ok(hunk)
    }

    fn context(&mut self) -> Result<Hunk, Malformed> {
        self.at += 1;
        let Some((old_start, old_end)) = context_range(self.line(0), b"*** ") else { return Err(self.malformed()) };
        self.at += 1;
        let old_count = if old_start == 0 && old_end == 0 { 0 } else { old_end + 1 - old_start };
        let old = self.half(old_count)?;
        let Some((new_start, new_end)) = context_range(self.line(0), b"--- ") else { return Err(self.malformed()) };
        self.at += 1;
        let new_count = if new_start == 0 && new_end == 0 { 0 } else { new_end + 1 - new_start };
        let new = self.half(new_count)?;
        let mut hunk = Hunk { old_start, new_start, ..Hunk::default() };
        hunk.lines = merged(old, new).ok_or_else(|| self.malformed())?;
        // An empty half is addressed by the line before it.
        if !hunk.lines.iter().any(|(kind, _)| *kind != Kind::Inserted) {
            hunk.old_start = old_end;
        }
        Ok(hunk)
    }

    /// Reads the lines of one half of a context hunk. It is empty if nothing in it changed.
    fn half(&mut self, count: usize) -> Result<Vec<(u8, Vec<u8>)>, Malformed> {
        let mut lines = Vec::new();
        while lines.len() < count && !self.is_at_end() {
            let mark = match self.line(0) {
                line if context_range(line, b"--- ").is_some() || line.starts_with(b"***************") => break,
                [mark @ (b' ' | b'-' | b'+' | b'!'), b' ' | b'\t', ..] => *mark,
                [b' '] | [] => b' ',
                _ if lines.is_empty() => break,
                _ => return Err(self.malformed()),
            };
            lines.push((mark, self.text_of(2.min(self.line(0).len()))));
        }
        Ok(lines)
    }

    fn normal(&mut self) -> Result<Hunk, Malformed> {
        let Some((old, command, new)) = normal_ranges(self.line(0)) else { return Err(self.malformed()) };
        self.at += 1;
        let mut hunk = Hunk { old_start: old.0, new_start: new.0, ..Hunk::default() };
        if command != b'a' {
            for _ in old.0..=old.1 {
                if !self.line(0).starts_with(b"<") {
                    return Err(self.malformed());
                }
                hunk.lines.push((Kind::Deleted, self.text_of(2)));
            }
        }
        if command == b'c' {
            if self.line(0) != b"---" {
                return Err(self.malformed());
            }
            self.at += 1;
        }
        if command != b'd' {
            for _ in new.0..=new.1 {
                if !self.line(0).starts_with(b">") {
                    return Err(self.malformed());
                }
                hunk.lines.push((Kind::Inserted, self.text_of(2)));
            }
        }
        Ok(hunk)
    }
}

impl GitHeader {
    /// Returns true if the header changes the file even without hunks.
    fn changes_attributes(&self) -> bool {
        self.renamed.is_some() || self.copied.is_some() || self.new_mode.is_some() || self.is_new || self.is_deleted
    }
}

/// Merges the two halves of a context hunk. Returns `None` if they do not fit.
fn merged(old: Vec<(u8, Vec<u8>)>, new: Vec<(u8, Vec<u8>)>) -> Option<Vec<(Kind, Vec<u8>)>> {
    let mut lines = Vec::new();
    // An empty half has only the common lines of the other.
    let (no_old, no_new) = (old.is_empty(), new.is_empty());
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        match (old.peek().map(|line| line.0), new.peek().map(|line| line.0)) {
            (None, None) => return Some(lines),
            (Some(b'-' | b'!'), _) => lines.extend(old.next().map(|line| (Kind::Deleted, line.1))),
            (_, Some(b'+' | b'!')) => lines.extend(new.next().map(|line| (Kind::Inserted, line.1))),
            (Some(b' '), Some(b' ')) => {
                new.next();
                lines.extend(old.next().map(|line| (Kind::Common, line.1)));
            }
            (Some(b' '), None) if no_new => lines.extend(old.next().map(|line| (Kind::Common, line.1))),
            (None, Some(b' ')) if no_old => lines.extend(new.next().map(|line| (Kind::Common, line.1))),
            _ => return None,
        }
    }
}

fn name(text: &[u8]) -> Name {
    let text = shown(text);
    let text = text.trim_end_matches('\r');
    let (path, time) = if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"').unwrap_or(quoted.len());
        (unquoted(&quoted[..end]), quoted.get(end + 1..).unwrap_or_default().trim())
    } else if let Some((path, time)) = text.split_once('\t') {
        (path.to_owned(), time.trim())
    } else {
        let (path, time) = text.split_once(' ').unwrap_or((text, ""));
        (path.to_owned(), time.trim())
    };
    let is_epoch = time.starts_with("1970-01-01 00:00:00") || time.starts_with("Thu Jan  1 00:00:00 1970");
    Name { path, text: text.to_owned(), is_epoch }
}

/// Decodes a path in C quotes, as git writes it.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                while let Some(digit @ b'0'..=b'7') = rest.peek().copied() {
                    code = code * 8 + u32::from(digit - b'0');
                    rest.next();
                }
                bytes.push(code as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn git_names(text: &str) -> Option<GitHeader> {
    // Unquoted names differ only in their first letter, so the line is cut in the middle.
    let (old, new) = match text.strip_prefix('"') {
        Some(rest) => {
            let (old, new) = rest.split_once("\" ")?;
            (unquoted(old), unquoted(new.trim_matches('"')))
        }
        None => {
            let middle = text.len() / 2;
            let cut = if text.as_bytes().get(middle) == Some(&b' ') { middle } else { text.find(' ')? };
            (text[..cut].to_owned(), text[cut + 1..].to_owned())
        }
    };
    Some(GitHeader { old, new, ..GitHeader::default() })
}

fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    Some((number, &text[digits..]))
}

/// A number, and a second one after a comma.
type Numbers = (usize, Option<usize>);

/// Parses `5` or `5,7`.
fn range(text: &[u8]) -> Option<(Numbers, &[u8])> {
    let (first, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (second, rest) = number(rest)?;
            Some(((first, Some(second)), rest))
        }
        None => Some(((first, None), rest)),
    }
}

fn unified_ranges(line: &[u8]) -> Option<[usize; 4]> {
    let (old, rest) = range(line.strip_prefix(b"@@ -")?)?;
    let (new, rest) = range(rest.strip_prefix(b" +")?)?;
    rest.starts_with(b" @@").then_some([old.0, old.1.unwrap_or(1), new.0, new.1.unwrap_or(1)])
}

fn context_range(line: &[u8], mark: &[u8]) -> Option<(usize, usize)> {
    let (range, rest) = range(line.strip_prefix(mark)?)?;
    rest.starts_with(b" ").then_some((range.0, range.1.unwrap_or(range.0)))
}

/// The ranges and the command of a hunk in the normal format.
type NormalRanges = ((usize, usize), u8, (usize, usize));

fn normal_ranges(line: &[u8]) -> Option<NormalRanges> {
    let (old, rest) = range(line)?;
    let (command, rest) = rest.split_first()?;
    if !matches!(command, b'a' | b'c' | b'd') {
        return None;
    }
    let (new, rest) = range(rest)?;
    let whole = |range: Numbers| (range.0, range.1.unwrap_or(range.0));
    rest.is_empty().then_some((whole(old), *command, whole(new)))
}

fn is_ed_command(line: &[u8]) -> bool {
    range(line).is_some_and(|(_, rest)| matches!(rest, b"a" | b"c" | b"d"))
}
