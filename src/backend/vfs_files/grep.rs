//! Finding lines, with the engines of ripgrep.

use std::io::{self, Read};
use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::super::stop::Stop;
use super::super::{BackendError, Cut, GrepMatch, GrepRequest, Grepped, Pattern, PatternFault, Result, bounds};
use super::walk::{Visit, walk};
use super::{VfsFiles, shown};
use crate::error::Errno;
use crate::limits::TRANSFER_BYTES;
use crate::path::GuestPath;
use crate::vfs::{File, Kind, OpenHow, Opened};

impl VfsFiles {
    pub(super) fn grep(&self, request: &GrepRequest, stop: &Stop) -> Result<Grepped> {
        let mut search = Search::new(request)?;
        let include = request.include.as_deref().map(|glob| Pattern::new(glob, false)).transpose()?;
        let path = self.parse(&request.path)?;
        let (root, prefix) = match self.search_root(&request.path, &path) {
            Err(BackendError::File { errno: Errno::NotDirectory, .. }) => {
                return self.grep_file(request, &path, search, include.as_ref(), stop);
            }
            found => found?,
        };
        let start = include.as_ref().map(Pattern::start);
        let mut unreadable = false;
        let walked = walk(self.vfs(), &root, start, stop, |item| match item.entry.kind {
            Kind::Directory if request.skip.iter().any(|skip| skip == item.name()) => Visit::Next,
            Kind::Directory => match (&include, item.state) {
                (Some(include), Some(positions)) => {
                    include.enter(positions, item.name()).map_or(Visit::Next, |positions| Visit::Enter(Some(positions)))
                }
                _ => Visit::Enter(None),
            },
            Kind::File => {
                if let (Some(include), Some(positions)) = (&include, item.state)
                    && !include.accepts(positions, item.name(), false)
                {
                    return Visit::Next;
                }
                match item.path().and_then(|path| self.open_at(&path)) {
                    Ok(file) => {
                        let path = || [&prefix, "/", &item.relative()].concat();
                        unreadable |= search.file(&file, &path, stop).is_err();
                    }
                    Err(Errno::NoEntry) => {}
                    Err(_) => unreadable = true,
                }
                search.cut.map_or(Visit::Next, Visit::End)
            }
            _ => Visit::Next,
        });
        let walked = walked.map_err(|errno| BackendError::file(&request.path, errno))?;
        Ok(search.finish(walked.or(unreadable.then_some(Cut::Unreadable)), stop))
    }

    /// Searches the one file that the request names. Only an `include` pattern without a slash can exclude it.
    fn grep_file(
        &self,
        request: &GrepRequest,
        path: &GuestPath,
        mut search: Search,
        include: Option<&Pattern>,
        stop: &Stop,
    ) -> Result<Grepped> {
        let (file, _) = self.open_regular(&request.path, path)?;
        let name = path.file_name().unwrap_or_default();
        let mut cut = None;
        if !include.is_some_and(|include| include.is_about_names() && !include.matches(name)) {
            cut = search.file(&file, &|| shown(path), stop).is_err().then_some(Cut::Unreadable);
        }
        Ok(search.finish(cut, stop))
    }

    fn open_at(&self, path: &GuestPath) -> crate::error::Result<Arc<dyn File>> {
        let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
        match self.vfs().open(path, &how)? {
            Opened::File(file) if file.seekable() => Ok(file),
            _ => Err(Errno::NoDevice),
        }
    }
}

/// A search through files, one by one.
struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    matches: Vec<GrepMatch>,
    /// Bytes of text in `matches`.
    bytes: usize,
    /// The largest number of matches.
    most: usize,
    /// The largest size in bytes of a file that is searched.
    largest: u64,
    /// Lines of context before and after a match.
    before: usize,
    after: usize,
    /// The reason why the search ended early.
    cut: Option<Cut>,
}

impl Search {
    fn new(request: &GrepRequest) -> Result<Search> {
        let [before, after] = [request.before, request.after].map(|lines| lines.min(bounds::CONTEXT_LINES));
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(before)
            .after_context(after)
            .heap_limit(Some(bounds::LINE_BYTES))
            .binary_detection(BinaryDetection::quit(0))
            // A byte order mark would select another encoding than the one that pages and edits use.
            .bom_sniffing(false)
            .build();
        let (matcher, matches) = (matcher(request)?, Vec::new());
        let largest = request.largest.unwrap_or(u64::MAX);
        Ok(Search { matcher, searcher, matches, bytes: 0, most: request.most, largest, before, after, cut: None })
    }

    /// Searches a file. Fails only if the file cannot be read.
    fn file(&mut self, file: &Arc<dyn File>, path: &dyn Fn() -> String, stop: &Stop) -> io::Result<()> {
        let Search { matcher, searcher, matches, bytes, most, largest, before, after, cut } = self;
        if *largest < u64::MAX && file.stat().map_err(io::Error::other)?.size > *largest {
            return Ok(());
        }
        let (first, recent) = (matches.len(), Vec::new());
        let (most, before, after) = (*most, *before, *after);
        let sink = LineSink { path, matches, first, bytes, most, before, after, cut, recent };
        // Most files fit into one read, and are searched in memory.
        let piece = file.read_at(0, TRANSFER_BYTES).map_err(io::Error::other)?;
        let is_whole = piece.len() < TRANSFER_BYTES
            && file.read_at(piece.len() as u64, TRANSFER_BYTES).map_err(io::Error::other)?.is_empty();
        if is_whole {
            searcher.search_slice(&*matcher, &piece, sink)
        } else {
            searcher.search_reader(&*matcher, FileReader { file, at: 0, stop }, sink)
        }
    }

    fn finish(self, cut: Option<Cut>, stop: &Stop) -> Grepped {
        let cut = if stop.is_set() { Some(Cut::Budget.or(cut)) } else { cut };
        Grepped { matches: self.matches, cut: self.cut.or(cut) }
    }
}

fn matcher(request: &GrepRequest) -> Result<RegexMatcher> {
    if request.pattern.len() > bounds::PATTERN_BYTES {
        return Err(BackendError::pattern(&request.pattern, PatternFault::TooBroad));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(request.ignore_case)
        .fixed_strings(request.literal)
        .multi_line(true)
        .line_terminator(Some(b'\n'));
    builder.size_limit(bounds::REGEX_BYTES).dfa_size_limit(bounds::REGEX_BYTES);
    let built = if request.literal {
        // Each line is an alternative, as in `grep -F`.
        builder.build_many(&request.pattern.split('\n').collect::<Vec<_>>())
    } else {
        builder.build(&request.pattern)
    };
    built.map_err(|error| BackendError::pattern(&request.pattern, PatternFault::of_regex(&error)))
}

/// Reads a file of the VFS from its start.
struct FileReader<'a> {
    file: &'a Arc<dyn File>,
    at: u64,
    stop: &'a Stop,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let piece = self.file.read_at(self.at, buffer.len()).map_err(io::Error::other)?;
        let piece = &piece[..piece.len().min(buffer.len())];
        buffer[..piece.len()].copy_from_slice(piece);
        self.at += piece.len() as u64;
        Ok(piece.len())
    }
}

/// Collects the matches of one file.
struct LineSink<'a> {
    /// Called only for a match.
    path: &'a dyn Fn() -> String,
    matches: &'a mut Vec<GrepMatch>,
    /// The index of this file's first match in `matches`.
    first: usize,
    bytes: &'a mut usize,
    most: usize,
    before: usize,
    after: usize,
    cut: &'a mut Option<Cut>,
    /// The last lines with their numbers: the context before the next match.
    recent: Vec<(u64, String)>,
}

impl LineSink<'_> {
    /// Adds a line to the context after earlier matches, and to the context before the next one.
    fn note(&mut self, line: u64, text: &str) {
        let after = self.after as u64;
        for found in self.matches[self.first..].iter_mut().rev().take_while(|found| found.line + after >= line) {
            found.after.push(text.to_owned());
            *self.bytes += text.len();
        }
        if self.before > 0 {
            if self.recent.len() == self.before {
                self.recent.remove(0);
            }
            self.recent.push((line, text.to_owned()));
        }
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches.len() >= self.most {
            *self.cut = Some(Cut::Count);
            return Ok(false);
        }
        if *self.bytes > bounds::GREP_BYTES {
            *self.cut = Some(Cut::Budget);
            return Ok(false);
        }
        let (line, text) = (found.line_number().unwrap_or(0), text(found.bytes()));
        let from = line.saturating_sub(self.before as u64);
        let before = self.recent.iter().filter(|(number, _)| (from..line).contains(number));
        let before: Vec<String> = before.map(|(_, text)| text.clone()).collect();
        self.note(line, &text);
        *self.bytes += text.len() + before.iter().map(String::len).sum::<usize>();
        self.matches.push(GrepMatch { path: (self.path)(), line, text, before, after: Vec::new() });
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.note(context.line_number().unwrap_or(0), &text(context.bytes()));
        Ok(true)
    }
}

/// Decodes a line, without its newline.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(bytes)).into_owned()
}
