//! Merging of sorted inputs.

use std::cmp::Ordering;

use isopod_sys::text;
use memchr::memchr;

use super::{Failure, Settings, Sink};
use isopod_gnu::input::Input;

/// An input, line by line.
pub(super) struct Source {
    input: Option<Input>,
    buffer: Vec<u8>,
    /// The start of the next line in the buffer.
    at: usize,
    /// The end of that line, if it is complete.
    line_end: usize,
    end: u8,
}

impl Source {
    /// Lines of a file.
    pub(super) fn file(input: Input, end: u8) -> Source {
        Source { input: Some(input), buffer: Vec::new(), at: 0, line_end: 0, end }
    }

    /// Lines that are in memory.
    pub(super) fn memory(bytes: Vec<u8>, end: u8) -> Source {
        Source { input: None, buffer: bytes, at: 0, line_end: 0, end }
    }

    /// Returns the line that `advance` went to.
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer[self.at..self.line_end]
    }

    /// Goes to the first line. Returns false if there is none.
    pub(super) fn first(&mut self) -> Result<bool, Failure> {
        self.find_end()
    }

    /// Goes to the next line. Returns false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, Failure> {
        self.at = (self.line_end + 1).min(self.buffer.len());
        self.find_end()
    }

    fn find_end(&mut self) -> Result<bool, Failure> {
        let mut searched = self.at;
        loop {
            if let Some(found) = memchr(self.end, &self.buffer[searched..]) {
                self.line_end = searched + found;
                return Ok(true);
            }
            searched = self.buffer.len();
            let piece = match &self.input {
                Some(input) => input.read().map_err(|errno| format!("read failed: {}", text(errno)))?,
                None => Vec::new(),
            };
            if piece.is_empty() {
                self.input = None;
                self.line_end = self.buffer.len();
                return Ok(self.at < self.buffer.len());
            }
            // Lines before this one are not needed any more.
            self.buffer.drain(..self.at);
            searched -= self.at;
            self.at = 0;
            self.buffer.extend_from_slice(&piece);
        }
    }
}

/// Merges inputs that are in order. Of equal lines, those of an earlier input come first.
pub(super) fn run(settings: &Settings, mut sources: Vec<Source>, sink: &mut Sink) -> Result<(), Failure> {
    // A heap of the inputs by their next line, the least first.
    let mut heap = Vec::new();
    for (index, source) in sources.iter_mut().enumerate() {
        if source.first()? {
            heap.push(index);
        }
    }
    let mut last: Option<Vec<u8>> = None;
    let count = heap.len();
    for at in (0..count / 2).rev() {
        sift(&mut heap, at, &sources, settings);
    }
    while let Some(&index) = heap.first() {
        let line = sources[index].line();
        let repeated =
            settings.unique && last.as_deref().is_some_and(|last| settings.compare_keys(last, line) == Ordering::Equal);
        if !repeated {
            sink.line(line);
            if settings.unique {
                last = Some(line.to_vec());
            }
        }
        if !sources[index].advance()? {
            heap.swap_remove(0);
        }
        sift(&mut heap, 0, &sources, settings);
    }
    sink.flush();
    sink.result.map_err(|errno| format!("write failed: {}: {}", isopod_gnu::quote::shell(&sink.path), text(errno)))
}

fn sift(heap: &mut [usize], mut at: usize, sources: &[Source], settings: &Settings) {
    let less = |a: usize, b: usize| {
        settings.compare(sources[a].line(), sources[b].line()).then_with(|| a.cmp(&b)) == Ordering::Less
    };
    loop {
        let mut least = at;
        for child in [2 * at + 1, 2 * at + 2] {
            if child < heap.len() && less(heap[child], heap[least]) {
                least = child;
            }
        }
        if least == at {
            return;
        }
        heap.swap(at, least);
        at = least;
    }
}
