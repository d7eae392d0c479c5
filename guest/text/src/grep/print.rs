//! Output of lines: prefixes, colours, and single matches.

use isopod_gnu::locale;
use isopod_gnu::output::Out;

use super::color::Colors;
use super::matcher::Matcher;
use super::options::{Binary, Options};

/// The separators after the prefix of a selected line and of a context line.
pub(super) const SELECTED: u8 = b':';
pub(super) const CONTEXT: u8 = b'-';

/// The position of a line.
#[derive(Clone, Copy)]
pub(super) struct Position {
    /// The line number. Only valid with `--line-number`.
    pub(super) number: u64,
    /// The number of bytes before the line.
    pub(super) offset: u64,
}

/// Prints the lines of one file.
pub(super) struct Printer<'a> {
    pub(super) options: &'a Options,
    pub(super) matcher: &'a Matcher,
    /// The file name to print before lines.
    pub(super) name: Option<&'a str>,
    /// The width of numbers with `--initial-tab`.
    pub(super) width: usize,
    /// A line was not printed because it is not UTF-8.
    pub(super) met_bytes: bool,
    checks_text: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(options: &'a Options, matcher: &'a Matcher, name: Option<&'a str>, width: usize) -> Printer<'a> {
        let checks_text = options.binary != Binary::Text && !locale::is_bytes();
        Printer { options, matcher, name, width, met_bytes: false, checks_text }
    }

    /// Prints a line, which comes without its terminator.
    pub(super) fn line(&mut self, line: &[u8], position: Position, sep: u8, out: &mut Out) -> Result<(), String> {
        let options = self.options;
        let matching = (sep == SELECTED) != options.invert;
        let colors = options.colors.as_ref();
        let (line_color, match_color) = match colors {
            Some(colors) => {
                // With `rv`, lines selected by `-v` get the colour of context lines.
                let is_selected = if colors.reverse { (sep == SELECTED) != options.invert } else { sep == SELECTED };
                let line = if is_selected { &colors.selected_line } else { &colors.context_line };
                let matched = if sep == SELECTED { &colors.selected_match } else { &colors.context_match };
                (line.as_str(), matched.as_str())
            }
            None => ("", ""),
        };
        if options.only_matching {
            if matching && sep == SELECTED {
                self.matches(line, position, sep, match_color, out)?;
            }
            return self.flush(out);
        }
        if !self.head(line, position, sep, out) {
            return Ok(());
        }
        match colors {
            Some(colors) if matching && (!line_color.is_empty() || !match_color.is_empty()) => {
                self.colored(line, colors, line_color, match_color, out)?;
            }
            Some(colors) => {
                colors.start(line_color, out);
                out.push(line);
                colors.end(line_color, out);
            }
            None => out.push(line),
        }
        out.byte(options.end);
        self.flush(out)
    }

    /// Prints the separator between groups of lines.
    pub(super) fn separator(&self, out: &mut Out) {
        if let Some(separator) = &self.options.separator {
            self.paint(|colors| &colors.separator, separator.as_bytes(), out);
            out.byte(b'\n');
        }
    }

    /// Prints a file name in its colour, without a separator.
    pub(super) fn print_name(&self, name: &str, out: &mut Out) {
        self.paint(|colors| &colors.name, name.as_bytes(), out);
    }

    pub(super) fn paint(&self, color: fn(&Colors) -> &String, text: &[u8], out: &mut Out) {
        match &self.options.colors {
            Some(colors) => {
                colors.start(color(colors), out);
                out.push(text);
                colors.end(color(colors), out);
            }
            None => out.push(text),
        }
    }

    fn flush(&self, out: &mut Out) -> Result<(), String> {
        if self.options.line_buffered {
            out.flush();
        }
        Ok(())
    }

    /// Prints file name and numbers. Returns false, and prints nothing, if the text is not UTF-8.
    fn head(&mut self, shown: &[u8], position: Position, sep: u8, out: &mut Out) -> bool {
        if self.checks_text && std::str::from_utf8(shown).is_err() {
            self.met_bytes = true;
            return false;
        }
        let options = self.options;
        if let Some(name) = self.name {
            self.print_name(name, out);
            if options.null {
                out.byte(0);
            } else {
                self.paint(|colors| &colors.separator, &[sep], out);
            }
        }
        let width = self.width;
        if options.line_number {
            let number = format!("{:>width$}", position.number);
            self.paint(|colors| &colors.line_number, number.as_bytes(), out);
            self.paint(|colors| &colors.separator, &[sep], out);
        }
        if options.byte_offset {
            let offset = format!("{:>width$}", position.offset);
            self.paint(|colors| &colors.byte_offset, offset.as_bytes(), out);
            self.paint(|colors| &colors.separator, &[sep], out);
        }
        if options.tab && (self.name.is_some() || options.line_number || options.byte_offset) && !shown.is_empty() {
            out.byte(b'\t');
        }
        true
    }

    /// Prints each match on a line of its own.
    fn matches(
        &mut self,
        line: &[u8],
        position: Position,
        sep: u8,
        match_color: &str,
        out: &mut Out,
    ) -> Result<(), String> {
        let mut at = 0;
        while let Some((start, end)) = self.next_match(line, at)? {
            let position = Position { offset: position.offset + start as u64, ..position };
            if self.head(&line[start..end], position, sep, out) {
                if let Some(colors) = &self.options.colors {
                    colors.start(match_color, out);
                    out.push(&line[start..end]);
                    colors.end(match_color, out);
                } else {
                    out.push(&line[start..end]);
                }
                out.byte(self.options.end);
            }
            at = end;
        }
        Ok(())
    }

    /// Prints a line with its matches in colour.
    fn colored(
        &self,
        line: &[u8],
        colors: &Colors,
        line_color: &str,
        match_color: &str,
        out: &mut Out,
    ) -> Result<(), String> {
        let mut at = 0;
        while let Some((start, end)) = self.next_match(line, at)? {
            // As in GNU grep, the colour of the line is not ended before that of the match starts.
            colors.start(line_color, out);
            out.push(&line[at..start]);
            colors.start(match_color, out);
            out.push(&line[start..end]);
            colors.end(match_color, out);
            at = end;
        }
        if at < line.len() {
            colors.start(line_color, out);
            out.push(&line[at..]);
            colors.end(line_color, out);
        }
        Ok(())
    }

    /// Returns the next match that is not empty.
    fn next_match(&self, line: &[u8], mut at: usize) -> Result<Option<(usize, usize)>, String> {
        while at <= line.len() {
            match self.matcher.find_at(line, at)? {
                Some((start, end)) if start == end => at = end + 1,
                found => return Ok(found),
            }
        }
        Ok(None)
    }
}
