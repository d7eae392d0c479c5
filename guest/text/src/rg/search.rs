//! The search of one file, and its output.

use isopod_gnu::output::Out;
use memchr::{memchr, memchr_iter, memrchr};

use super::json;
use super::matcher::Matcher;
use super::options::{Mode, Options};

/// The search of one file.
pub(super) struct Search<'a> {
    pub(super) options: &'a Options,
    pub(super) matcher: &'a Matcher,
    pub(super) path: &'a str,
    /// Prints the path before lines.
    pub(super) with_name: bool,
    /// The offset of the first NUL in a binary file named by an operand. Only the fact that it matches is printed.
    pub(super) binary_at: Option<usize>,
}

/// The totals of all files.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) files: u64,
    pub(super) with_match: u64,
    pub(super) lines: u64,
    pub(super) matches: u64,
    pub(super) searched: u64,
    pub(super) printed: u64,
    /// Lines have been printed, so the next heading or group is separated from them.
    pub(super) used: bool,
}

/// Adjacent lines: a single one, or several joined by a match.
struct Block {
    start: usize,
    end: usize,
    matches: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// Searches a text. Returns true if a line was selected.
    pub(super) fn run(&self, text: &[u8], out: &mut Out, totals: &mut Totals) -> Result<bool, String> {
        totals.files += 1;
        totals.searched += text.len() as u64;
        let options = self.options;
        let stops_early = options.quiet || matches!(options.mode, Mode::Matching | Mode::NotMatching);
        let most =
            if stops_early || (self.binary_at.is_some() && options.mode == Mode::Lines) { 1 } else { options.most };
        let wants_matches = !options.invert
            && (options.only_matching
                || options.vimgrep
                || options.column
                || options.color
                || options.replace.is_some()
                || options.stats
                || matches!(options.mode, Mode::CountMatches | Mode::Json));
        let blocks =
            if options.invert { self.unmatched(text, most)? } else { self.matched(text, most, wants_matches)? };
        let lines: u64 = blocks.iter().map(|block| count_lines(&text[block.start..block.end])).sum();
        let matches: u64 = blocks.iter().map(|block| block.matches.len() as u64).sum();
        totals.lines += lines;
        totals.matches += if options.invert { lines } else { matches };
        totals.with_match += u64::from(!blocks.is_empty());
        if options.quiet {
            return Ok(!blocks.is_empty());
        }
        let mut page = Vec::new();
        match options.mode {
            Mode::Count | Mode::CountMatches if !blocks.is_empty() => {
                let count = if options.mode == Mode::Count { lines } else { matches };
                if self.with_name {
                    self.name(&mut page);
                    page.push(if options.null { 0 } else { b':' });
                }
                page.extend_from_slice(format!("{count}\n").as_bytes());
            }
            Mode::Matching if !blocks.is_empty() => self.list(&mut page),
            Mode::NotMatching if blocks.is_empty() => self.list(&mut page),
            Mode::Json if !blocks.is_empty() => self.json(text, &blocks, lines, matches, &mut page),
            Mode::Lines if !blocks.is_empty() || options.passthru => match self.binary_at {
                Some(at) if !blocks.is_empty() => {
                    if self.with_name {
                        self.name(&mut page);
                        page.extend_from_slice(b": ");
                    }
                    let note = format!("binary file matches (found \"\\0\" byte around offset {at})\n");
                    page.extend_from_slice(note.as_bytes());
                }
                Some(_) => {}
                None => self.lines(text, &blocks, totals.used, &mut page),
            },
            _ => {}
        }
        totals.used |= !page.is_empty();
        totals.printed += page.len() as u64;
        out.push(&page);
        Ok(blocks.is_empty() == (options.mode == Mode::NotMatching))
    }

    /// Returns the blocks of lines with a match, up to a limit.
    fn matched(&self, text: &[u8], most: u64, all: bool) -> Result<Vec<Block>, String> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut at = 0;
        while at <= text.len() && (blocks.len() as u64) < most {
            let Some((start, end)) = self.matcher.find_at(text, at)? else { break };
            // An empty match after the last newline belongs to no line.
            if start == text.len() && (text.is_empty() || text.ends_with(b"\n")) {
                break;
            }
            let line_start = memrchr(b'\n', &text[..start]).map_or(0, |before| before + 1);
            let line_end = next_line(text, if self.options.multiline { end.max(start + 1) - 1 } else { start });
            if self.options.multiline {
                match blocks.last_mut() {
                    Some(last) if line_start < last.end => {
                        last.end = last.end.max(line_end);
                        last.matches.push((start, end));
                    }
                    _ => blocks.push(Block { start: line_start, end: line_end, matches: vec![(start, end)] }),
                }
                at = if end > start { end } else { end + 1 };
                continue;
            }
            // A match that spans several lines may be none or a shorter one within its first line.
            let matches = self.in_line(&text[line_start..line_end], line_start, all)?;
            if !matches.is_empty() {
                blocks.push(Block { start: line_start, end: line_end, matches });
            }
            at = line_end;
            if line_end == text.len() {
                break;
            }
        }
        Ok(blocks)
    }

    /// Returns all matches in one line, or only the first.
    fn in_line(&self, line: &[u8], offset: usize, all: bool) -> Result<Vec<(usize, usize)>, String> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut matches = Vec::new();
        let mut at = 0;
        while at <= line.len() {
            let Some((start, end)) = self.matcher.find_at(line, at)? else { break };
            matches.push((offset + start, offset + end));
            if !all {
                break;
            }
            at = if end > start { end } else { end + 1 };
        }
        Ok(matches)
    }

    fn unmatched(&self, text: &[u8], most: u64) -> Result<Vec<Block>, String> {
        let matched = self.matched(text, u64::MAX, false)?;
        let mut matched = matched.iter().peekable();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < text.len() && (blocks.len() as u64) < most {
            let end = next_line(text, at);
            while matched.next_if(|block| block.end <= at).is_some() {}
            if matched.peek().is_none_or(|block| block.start >= end) {
                blocks.push(Block { start: at, end, matches: Vec::new() });
            }
            at = end;
        }
        Ok(blocks)
    }

    fn name(&self, page: &mut Vec<u8>) {
        self.paint("35", self.path.as_bytes(), page);
    }

    fn paint(&self, color: &str, text: &[u8], page: &mut Vec<u8>) {
        if self.options.color {
            page.extend_from_slice(format!("\x1b[0m\x1b[{color}m").as_bytes());
            page.extend_from_slice(text);
            page.extend_from_slice(b"\x1b[0m");
        } else {
            page.extend_from_slice(text);
        }
    }

    fn list(&self, page: &mut Vec<u8>) {
        self.name(page);
        page.push(if self.options.null { 0 } else { b'\n' });
    }

    fn lines(&self, text: &[u8], blocks: &[Block], used: bool, page: &mut Vec<u8>) {
        let options = self.options;
        let has_context = options.before > 0 || options.after > 0;
        if options.heading && self.with_name {
            if used {
                page.push(b'\n');
            }
            self.name(page);
            page.push(b'\n');
        } else if used
            && has_context
            && !options.passthru
            && let Some(separator) = &options.separator
        {
            page.extend_from_slice(format!("{separator}\n").as_bytes());
        }
        let (mut counted, mut number) = (0, 1);
        let mut number_at = |at: usize| {
            number += memchr_iter(b'\n', &text[counted..at]).count() as u64;
            counted = at;
            number
        };
        let mut printed = 0;
        for (index, block) in blocks.iter().enumerate() {
            let mut from = block.start;
            if options.passthru {
                from = printed;
            } else {
                for _ in 0..options.before {
                    if from <= printed {
                        break;
                    }
                    from = memrchr(b'\n', &text[printed..from - 1]).map_or(printed, |at| printed + at + 1);
                }
            }
            if has_context
                && !options.passthru
                && index > 0
                && from > printed
                && let Some(separator) = &options.separator
            {
                page.extend_from_slice(format!("{separator}\n").as_bytes());
            }
            while from < block.start {
                let end = next_line(text, from);
                self.line(text, from, end, number_at(from), None, page);
                from = end;
            }
            self.block(text, block, &mut number_at, page);
            printed = block.end;
            let stop = blocks.get(index + 1).map_or(text.len(), |next| next.start);
            let after = if options.passthru { usize::MAX } else { options.after };
            for _ in 0..after {
                if printed >= stop {
                    break;
                }
                let end = next_line(text, printed);
                self.line(text, printed, end, number_at(printed), None, page);
                printed = end;
            }
        }
        if blocks.is_empty() && options.passthru {
            while printed < text.len() {
                let end = next_line(text, printed);
                self.line(text, printed, end, number_at(printed), None, page);
                printed = end;
            }
        }
    }

    fn block(&self, text: &[u8], block: &Block, number_at: &mut dyn FnMut(usize) -> u64, page: &mut Vec<u8>) {
        if self.options.vimgrep && !block.matches.is_empty() {
            for found in &block.matches {
                let start = memrchr(b'\n', &text[..found.0]).map_or(0, |at| at + 1);
                let one = Block { start, end: next_line(text, found.0), matches: vec![*found] };
                self.line(text, one.start, one.end, number_at(one.start), Some(&one), page);
            }
            return;
        }
        let mut start = block.start;
        while start < block.end {
            let end = next_line(text, start);
            let number = number_at(start);
            self.line(text, start, end, number, Some(block), page);
            start = end;
        }
    }

    /// Prints one line. `block` is its block if the line is selected.
    fn line(&self, text: &[u8], start: usize, end: usize, number: u64, block: Option<&Block>, page: &mut Vec<u8>) {
        let options = self.options;
        let in_line: Vec<(usize, usize)> = block.map_or_else(Vec::new, |block| {
            let touches = |(from, to): &&(usize, usize)| *from < end && (*to > start || *from >= start);
            block.matches.iter().filter(touches).map(|(from, to)| ((*from).max(start), (*to).min(end))).collect()
        });
        let mut line = &text[start..end];
        line = line.strip_suffix(b"\n").unwrap_or(line);
        if options.only_matching && block.is_some() && !options.invert {
            for (from, to) in in_line.iter().filter(|(from, to)| from < to) {
                self.head(number, from - start + 1, *from, true, page);
                // A match over several lines contains its own line end.
                let to = if *to > *from && text[*to - 1] == b'\n' { *to - 1 } else { *to };
                self.matched_text(text, (*from, to), page);
                page.push(b'\n');
            }
            return;
        }
        let column = in_line.first().map_or(1, |(from, _)| from - start + 1);
        self.head(number, column, start, block.is_some(), page);
        let mut at = start;
        if options.trim {
            at += line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        }
        if block.is_some() && (options.color || options.replace.is_some()) {
            for (from, to) in in_line {
                page.extend_from_slice(&text[at.min(from)..from]);
                self.matched_text(text, (from, to), page);
                at = to;
            }
        }
        let stop = start + line.len();
        page.extend_from_slice(&text[at.min(stop)..stop]);
        page.push(b'\n');
    }

    fn matched_text(&self, text: &[u8], span: (usize, usize), page: &mut Vec<u8>) {
        let mut shown = Vec::new();
        match &self.options.replace {
            Some(template) => {
                // The search stays within the line, so that the pattern cannot match beyond it.
                let end = if self.options.multiline { text.len() } else { span.0 + line_length(&text[span.0..]) };
                self.matcher.replace(&text[..end], span, template, &mut shown);
            }
            None => shown.extend_from_slice(&text[span.0..span.1]),
        }
        if self.options.color {
            page.extend_from_slice(b"\x1b[0m\x1b[1m\x1b[31m");
            page.extend_from_slice(&shown);
            page.extend_from_slice(b"\x1b[0m");
        } else {
            page.extend_from_slice(&shown);
        }
    }

    fn head(&self, number: u64, column: usize, offset: usize, selected: bool, page: &mut Vec<u8>) {
        let options = self.options;
        let sep = if selected { b':' } else { b'-' };
        if self.with_name && !options.heading {
            self.name(page);
            page.push(if options.null { 0 } else { sep });
        }
        if options.line_number {
            self.paint("32", number.to_string().as_bytes(), page);
            page.push(sep);
        }
        if options.column && selected {
            self.paint("", column.to_string().as_bytes(), page);
            page.push(sep);
        }
        if options.byte_offset {
            page.extend_from_slice(offset.to_string().as_bytes());
            page.push(sep);
        }
    }

    fn json(&self, text: &[u8], blocks: &[Block], lines: u64, matches: u64, page: &mut Vec<u8>) {
        let path = json::text(self.path.as_bytes());
        page.extend_from_slice(format!("{{\"type\":\"begin\",\"data\":{{\"path\":{path}}}}}\n").as_bytes());
        let (mut counted, mut number) = (0, 1);
        let mut object = |kind: &str, start: usize, end: usize, found: &[(usize, usize)], page: &mut Vec<u8>| {
            number += memchr_iter(b'\n', &text[counted..start]).count() as u64;
            counted = start;
            let submatches: Vec<String> = found
                .iter()
                .map(|(from, to)| {
                    let matched = json::text(&text[*from..*to]);
                    format!("{{\"match\":{matched},\"start\":{},\"end\":{}}}", from - start, to - start)
                })
                .collect();
            let line = format!(
                "{{\"type\":\"{kind}\",\"data\":{{\"path\":{path},\"lines\":{},\"line_number\":{number},\
                 \"absolute_offset\":{start},\"submatches\":[{}]}}}}\n",
                json::text(&text[start..end]),
                submatches.join(",")
            );
            page.extend_from_slice(line.as_bytes());
        };
        let mut printed = 0;
        for (index, block) in blocks.iter().enumerate() {
            let mut from = block.start;
            for _ in 0..self.options.before {
                if from <= printed {
                    break;
                }
                from = memrchr(b'\n', &text[printed..from - 1]).map_or(printed, |at| printed + at + 1);
            }
            while from < block.start {
                let end = next_line(text, from);
                object("context", from, end, &[], page);
                from = end;
            }
            object("match", block.start, block.end, &block.matches, page);
            printed = block.end;
            let stop = blocks.get(index + 1).map_or(text.len(), |next| next.start);
            for _ in 0..self.options.after {
                if printed >= stop {
                    break;
                }
                let end = next_line(text, printed);
                object("context", printed, end, &[], page);
                printed = end;
            }
        }
        let stats = json::stats(1, 1, text.len() as u64, page.len() as u64, lines, matches);
        let end =
            format!("{{\"type\":\"end\",\"data\":{{\"path\":{path},\"binary_offset\":null,\"stats\":{stats}}}}}\n");
        page.extend_from_slice(end.as_bytes());
    }
}

/// Returns the start of the line after the one at an offset.
fn next_line(text: &[u8], at: usize) -> usize {
    at + line_length(&text[at..]) + usize::from(at + line_length(&text[at..]) < text.len())
}

fn line_length(text: &[u8]) -> usize {
    memchr(b'\n', text).unwrap_or(text.len())
}

fn count_lines(text: &[u8]) -> u64 {
    let ends = memchr_iter(b'\n', text).count() as u64;
    ends + u64::from(!text.is_empty() && !text.ends_with(b"\n"))
}
