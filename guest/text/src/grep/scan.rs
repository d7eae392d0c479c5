//! The search of one file in large pieces: selected lines and their context.

use isopod_gnu::output::Out;
use isopod_sys::{Errno, files, text};
use memchr::{memchr, memchr_iter, memrchr};

use super::matcher::Matcher;
use super::options::{Binary, List, Options};
use super::print::{CONTEXT, Position, Printer, SELECTED};

/// The number of bytes read at once, as in GNU grep. It decides how much of a binary file is printed before its first
/// NUL is seen.
const PIECE: u32 = 96 * 1024;

/// The search of one file.
pub(super) struct Scan<'a> {
    options: &'a Options,
    matcher: &'a Matcher,
    printer: Printer<'a>,
    out: &'a mut Out,
    /// Lines of this file or of another have been printed, so groups are separated.
    used: &'a mut bool,
    buffer: Vec<u8>,
    /// The number of bytes of the file before the buffer.
    base: u64,
    /// The number of lines before `counted`, which is an offset in the buffer.
    lines: u64,
    counted: usize,
    /// The end of the last printed line, if that is in the buffer.
    printed: Option<usize>,
    /// The number of context lines still to print.
    pending: usize,
    /// The number of lines that can still be selected.
    left: u64,
    selected: u64,
    /// The offset in the file at which the last selected line ends.
    after_last: u64,
    is_quiet: bool,
    ends_at_first: bool,
}

/// The result of searching a file.
pub(super) struct Outcome {
    pub(super) selected: u64,
    /// The file is binary, and selected lines were not printed.
    pub(super) is_binary_match: bool,
    /// The offset at which the last selected line ends, if `--max-count` ended the search.
    pub(super) stopped_at: Option<u64>,
}

/// The reason why a file could not be searched to its end.
pub(super) enum Failure {
    /// The file could not be read. Lines selected before still count.
    Read(Errno, u64),
    /// A pattern could not be matched.
    Match(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Match(message)
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(printer: Printer<'a>, out: &'a mut Out, used: &'a mut bool) -> Scan<'a> {
        let (options, matcher) = (printer.options, printer.matcher);
        let ends_at_first = options.quiet || options.list != List::None;
        Scan {
            options,
            matcher,
            printer,
            out,
            used,
            buffer: Vec::new(),
            base: 0,
            lines: 0,
            counted: 0,
            printed: None,
            pending: 0,
            left: options.most,
            selected: 0,
            after_last: 0,
            is_quiet: ends_at_first || options.count,
            ends_at_first,
        }
    }

    /// Searches an open file.
    pub(super) fn run(mut self, fd: u32) -> Result<Outcome, Failure> {
        let end = self.options.end;
        let watches_nul = end != 0 && self.options.binary != Binary::Text;
        let was_quiet = self.is_quiet;
        // The number of lines selected before the first NUL.
        let mut before_nul = None;
        // The part of the buffer that has been searched. It is kept for context only.
        let mut done = 0;
        let mut has_ended = self.left == 0;
        while !has_ended {
            let piece = match files::read(fd, PIECE, None) {
                Ok(piece) => piece,
                Err(Errno::Interrupted) => continue,
                Err(errno) => return Err(Failure::Read(errno, self.selected)),
            };
            has_ended = piece.is_empty();
            let fresh = self.buffer.len();
            if self.buffer.is_empty() {
                self.buffer = piece;
            } else {
                self.buffer.extend_from_slice(&piece);
            }
            if watches_nul && before_nul.is_none() && memchr(0, &self.buffer[fresh..]).is_some() {
                if self.options.binary == Binary::WithoutMatch {
                    return Ok(Outcome { selected: 0, is_binary_match: false, stopped_at: None });
                }
                if !self.options.count {
                    (self.is_quiet, self.ends_at_first) = (true, true);
                }
                before_nul = Some(self.selected);
            }
            if before_nul.is_some() {
                // In a binary file a NUL ends a line, too.
                self.buffer[done..].iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = end);
            }
            if has_ended && self.buffer.len() > done && self.buffer.last() != Some(&end) {
                self.buffer.push(end);
            }
            let fresh = if has_ended { done } else { fresh.max(done) };
            let Some(stop) = memrchr(end, &self.buffer[fresh..]).map(|at| fresh + at + 1) else { continue };
            if self.left > 0 {
                self.lines(done, stop)?;
            }
            if self.pending > 0 {
                self.print_pending(stop)?;
            }
            if (self.left == 0 && self.pending == 0) || (self.ends_at_first && self.selected > 0) {
                break;
            }
            done = self.compact(stop);
            if self.out.has_failed() {
                break;
            }
        }
        let quiet_by_nul = before_nul.is_some_and(|before| before < self.selected);
        Ok(Outcome {
            selected: self.selected,
            is_binary_match: !was_quiet
                && (quiet_by_nul || (self.printer.met_bytes && self.options.binary == Binary::Named)),
            stopped_at: (self.left == 0).then_some(self.after_last),
        })
    }

    /// Searches whole lines of the buffer.
    fn lines(&mut self, start: usize, stop: usize) -> Result<(), Failure> {
        let (end, invert) = (self.options.end, self.options.invert);
        let mut at = start;
        while at < stop {
            let found = self.matcher.next_line(&self.buffer[at..stop])?.map(|found| at + found);
            // An empty match after the last line belongs to no line.
            let found = found.filter(|found| *found < stop);
            let (from, next) = match found {
                Some(found) => {
                    let from = memrchr(end, &self.buffer[at..found]).map_or(at, |before| at + before + 1);
                    let next = memchr(end, &self.buffer[found..stop]).map_or(stop, |after| found + after + 1);
                    (from, next)
                }
                None if invert => (stop, stop),
                None => break,
            };
            if !invert {
                self.select(from, next)?;
            } else if at < from {
                self.select(at, from)?;
            }
            if self.left == 0 || (self.ends_at_first && self.selected > 0) {
                break;
            }
            at = next;
        }
        Ok(())
    }

    /// Selects one line, or with `-v` all lines between two matching ones.
    fn select(&mut self, start: usize, stop: usize) -> Result<(), Failure> {
        let end = self.options.end;
        if !self.is_quiet {
            if self.pending > 0 {
                self.print_pending(start)?;
            }
            let least = self.printed.unwrap_or(0);
            let mut at = start;
            for _ in 0..self.options.before {
                if at <= least {
                    break;
                }
                at = memrchr(end, &self.buffer[least..at - 1]).map_or(least, |before| least + before + 1);
            }
            if self.options.has_context && *self.used && Some(at) != self.printed {
                self.printer.separator(self.out);
            }
            while at < start {
                at = self.print(at, CONTEXT)?;
            }
        }
        let mut at = start;
        while at < stop && self.left > 0 {
            if self.is_quiet {
                at = self.line_end(at) + 1;
            } else {
                at = self.print(at, SELECTED)?;
            }
            self.selected += 1;
            self.left -= 1;
            if self.ends_at_first {
                break;
            }
        }
        self.after_last = self.base + at as u64;
        self.pending = if self.is_quiet { 0 } else { self.options.after };
        *self.used |= !self.is_quiet;
        Ok(())
    }

    fn print_pending(&mut self, stop: usize) -> Result<(), Failure> {
        let mut at = self.printed.unwrap_or(0);
        while self.pending > 0 && at < stop {
            at = self.print(at, CONTEXT)?;
            self.pending -= 1;
        }
        Ok(())
    }

    /// Prints the line at an offset. Returns the offset of the next line.
    fn print(&mut self, at: usize, sep: u8) -> Result<usize, Failure> {
        if self.options.line_number && at > self.counted {
            self.lines += memchr_iter(self.options.end, &self.buffer[self.counted..at]).count() as u64;
            self.counted = at;
        }
        let stop = self.line_end(at);
        let position = Position { number: self.lines + 1, offset: self.base + at as u64 };
        self.printer.line(&self.buffer[at..stop], position, sep, self.out)?;
        self.printed = Some(stop + 1);
        Ok(stop + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(self.options.end, &self.buffer[at..]).map_or(self.buffer.len(), |length| at + length)
    }

    /// Drops lines that are neither unsearched nor context. Returns the offset at which the search continues.
    fn compact(&mut self, stop: usize) -> usize {
        let mut keep = stop;
        let least = self.printed.unwrap_or(0);
        for _ in 0..self.options.before {
            if keep <= least {
                break;
            }
            keep = memrchr(self.options.end, &self.buffer[least..keep - 1]).map_or(least, |at| least + at + 1);
        }
        if self.options.line_number && self.counted < keep {
            self.lines += memchr_iter(self.options.end, &self.buffer[self.counted..keep]).count() as u64;
            self.counted = keep;
        }
        self.counted = self.counted.saturating_sub(keep);
        self.base += keep as u64;
        // A printed line that has been dropped is not adjacent to the next one.
        self.printed = self.printed.and_then(|printed| printed.checked_sub(keep));
        self.buffer.drain(..keep);
        stop - keep
    }
}

impl Failure {
    /// Returns the text of the error message.
    pub(super) fn message(&self) -> String {
        match self {
            Failure::Read(errno, _) => text(*errno).to_owned(),
            Failure::Match(message) => message.clone(),
        }
    }
}
