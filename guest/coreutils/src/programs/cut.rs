//! `cut`: parts of each line.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;
use memchr::memchr;

use crate::lines::{Lines, each_input};

/// `cut`.
pub(crate) const PROGRAM: Program = Program {
    name: "cut",
    operands: &["OPTION... [FILE]..."],
    about: "Print selected parts of lines from each FILE to standard output.\n\
            With no FILE, or when FILE is -, read standard input.\n\
            LIST is made up of ranges separated by commas: N, N-, N-M or -M.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "bytes", "select only these bytes").takes("LIST"),
        Opt::flag('c', "characters", "select only these characters: as in GNU's, they are bytes").takes("LIST"),
        Opt::flag('d', "delimiter", "use DELIM instead of TAB for field delimiter").takes("DELIM"),
        Opt::flag('f', "fields", "select only these fields; also print lines without delimiter, unless -s")
            .takes("LIST"),
        Opt::letter('n', "n", "(ignored)"),
        Opt::long("complement", "complement the set of selected bytes, characters or fields"),
        Opt::flag('s', "only-delimited", "do not print lines not containing delimiters"),
        Opt::long("output-delimiter", "use STRING as the output delimiter").takes("STRING"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// Positions from 1, first and last, in order and apart.
type Ranges = Vec<(usize, usize)>;

fn run(call: &Call) -> Result<u8, u8> {
    let mut lists = call.options.iter().filter(|found| matches!(found.option, "bytes" | "characters" | "fields"));
    let Some(list) = lists.next() else {
        return Err(call.misused("you must specify a list of bytes, characters, or fields"));
    };
    if lists.next().is_some() {
        return Err(call.misused("only one list may be specified"));
    }
    let by_field = list.option == "fields";
    let delimiter = match call.value("delimiter").map(str::as_bytes) {
        None => b'\t',
        Some(_) if !by_field => {
            return Err(call.misused("an input delimiter may be specified only when operating on fields"));
        }
        Some([]) => 0,
        Some([byte]) => *byte,
        Some(_) => return Err(call.misused("the delimiter must be a single character")),
    };
    if call.has("only-delimited") && !by_field {
        return Err(call.misused("suppressing non-delimited lines makes sense\n\tonly when operating on fields"));
    }
    let text = list.value.as_deref().unwrap_or_default();
    let mut ranges = parse(text, by_field).map_err(|message| call.misused(&message))?;
    if call.has("complement") {
        ranges = complement(&ranges);
    }
    let cut = Cut {
        ranges,
        delimiter,
        // An empty delimiter is a NUL.
        output: call.value("output-delimiter").map(|text| if text.is_empty() { vec![0] } else { text.into() }),
        only_delimited: call.has("only-delimited"),
        end: if call.has("zero-terminated") { 0 } else { b'\n' },
    };
    let mut out = Out::new();
    let code =
        each_input(call, |input| if by_field { cut.fields(input, &mut out) } else { cut.bytes(input, &mut out) });
    Ok(call.finish(out, code))
}

fn parse(list: &str, by_field: bool) -> Result<Ranges, String> {
    let (range, position) =
        if by_field { ("field range", "field value") } else { ("byte or character range", "byte/character position") };
    let zero = if by_field { "fields are numbered from 1" } else { "byte/character positions are numbered from 1" };
    let number = |text: &str| -> Result<usize, String> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("invalid {position} {}", plain(text)));
        }
        match text.parse() {
            Ok(0) => Err(zero.to_owned()),
            Ok(usize::MAX) | Err(_) if by_field => Err(format!("field number {} is too large", plain(text))),
            Ok(usize::MAX) | Err(_) => Err(format!("byte/character offset {} is too large", plain(text))),
            Ok(number) => Ok(number),
        }
    };
    let mut ranges = Ranges::new();
    for part in list.split([',', ' ', '\t']) {
        ranges.push(match part.split_once('-') {
            // An empty part is a zero to GNU's.
            None if part.is_empty() => return Err(zero.to_owned()),
            None => (number(part)?, number(part)?),
            Some(("", "")) => return Err("invalid range with no endpoint: -".to_owned()),
            Some((_, last)) if last.contains('-') => return Err(format!("invalid {range}")),
            Some((first, "")) => (number(first)?, usize::MAX),
            Some(("", last)) => (1, number(last)?),
            Some((first, last)) => (number(first)?, number(last)?),
        });
        if ranges.last().is_some_and(|(first, last)| first > last) {
            return Err("invalid decreasing range".to_owned());
        }
    }
    ranges.sort_unstable();
    // Only overlapping ranges are merged: an output delimiter stands between neighbours.
    let mut merged = Ranges::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    Ok(merged)
}

fn complement(ranges: &Ranges) -> Ranges {
    let mut others = Ranges::new();
    let mut next = 1;
    for &(first, last) in ranges {
        if first > next {
            others.push((next, first - 1));
        }
        if last == usize::MAX {
            return others;
        }
        next = last + 1;
    }
    others.push((next, usize::MAX));
    others
}

struct Cut {
    ranges: Ranges,
    delimiter: u8,
    output: Option<Vec<u8>>,
    only_delimited: bool,
    end: u8,
}

impl Cut {
    fn bytes(&self, input: Input, out: &mut Out) -> Result<(), Errno> {
        let mut lines = Lines::new(input, self.end);
        while let Some(line) = lines.next()? {
            let mut is_first = true;
            for &(first, last) in &self.ranges {
                if first > line.len() {
                    break;
                }
                if let (Some(output), false) = (&self.output, is_first) {
                    out.push(output);
                }
                is_first = false;
                out.push(&line[first - 1..last.min(line.len())]);
            }
            out.byte(self.end);
        }
        Ok(())
    }

    fn fields(&self, input: Input, out: &mut Out) -> Result<(), Errno> {
        if self.delimiter == self.end {
            return self.lines_as_fields(input, out);
        }
        let mut lines = Lines::new(input, self.end);
        // Neighbouring fields may be copied with their delimiters only if those do not change.
        let same = self.output.as_deref().is_none_or(|output| output == [self.delimiter]);
        while let Some(line) = lines.next()? {
            let Some(first_end) = find(self.delimiter, line) else {
                if !self.only_delimited {
                    out.push(line);
                    out.byte(self.end);
                }
                continue;
            };
            self.line(line, first_end, same, out);
            out.byte(self.end);
        }
        Ok(())
    }

    fn line(&self, line: &[u8], first_end: usize, same: bool, out: &mut Out) {
        let delimiter = [self.delimiter];
        let output = self.output.as_deref().unwrap_or(&delimiter);
        let (mut number, mut start, mut end) = (1, 0, first_end);
        let mut is_first = true;
        for &(first, last) in &self.ranges {
            while number < first {
                if end == line.len() {
                    return;
                }
                (number, start) = (number + 1, end + 1);
                end = find(self.delimiter, &line[start..]).map_or(line.len(), |found| start + found);
            }
            if same && last == usize::MAX {
                if !is_first {
                    out.push(output);
                }
                out.push(&line[start..]);
                return;
            }
            loop {
                if !is_first {
                    out.push(output);
                }
                is_first = false;
                out.push(&line[start..end]);
                if number == last || end == line.len() {
                    break;
                }
                (number, start) = (number + 1, end + 1);
                end = find(self.delimiter, &line[start..]).map_or(line.len(), |found| start + found);
            }
        }
    }

    /// Cuts an input whose delimiter is the line's end: the whole input is one line.
    fn lines_as_fields(&self, input: Input, out: &mut Out) -> Result<(), Errno> {
        let mut lines = Lines::new(input, self.end);
        let (mut number, mut is_first) = (0, true);
        let mut only = Vec::new();
        while let Some(line) = lines.next()? {
            number += 1;
            if number == 1 {
                only = line.to_vec();
            }
            if self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
                if !is_first {
                    out.push(self.output.as_deref().unwrap_or(&[self.end]));
                }
                is_first = false;
                out.push(line);
            }
        }
        if number == 1 && is_first && !self.only_delimited {
            out.push(&only);
        }
        if number > 0 {
            out.byte(self.end);
        }
        Ok(())
    }
}

/// Finds a byte by a plain loop. Fields are short, so this is faster than a vector search with its set-up.
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let near = bytes.len().min(16);
    match bytes[..near].iter().position(|other| *other == byte) {
        None if near < bytes.len() => memchr(byte, &bytes[near..]).map(|found| found + near),
        found => found,
    }
}
