//! `head`: the first part of files.

use isopod_sys::{Errno, files, text};

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{quote, size};

use crate::headers::Headers;

/// `head`.
pub(crate) const PROGRAM: Program = Program {
    name: "head",
    operands: &["[OPTION]... [FILE]..."],
    about: "Print the first 10 lines of each FILE to standard output.\n\
            With more than one FILE, precede each with a header giving the file name.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('c', "bytes", "print the first NUM bytes; with '-', all but the last NUM").takes("[-]NUM"),
        Opt::flag('n', "lines", "print the first NUM lines; with '-', all but the last NUM").takes("[-]NUM"),
        Opt::flag('q', "quiet", "never print headers giving file names"),
        Opt::long("silent", ""),
        Opt::flag('v', "verbose", "always print headers giving file names"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The part of a file that is printed.
#[derive(Clone, Copy)]
struct Part {
    lines: bool,
    count: u64,
    /// All but the last `count` are printed.
    but_last: bool,
    end: u8,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut operands = call.operands.clone();
    spell_out(&mut operands);
    let call = call.read_operands(operands, true)?;
    let mut part =
        Part { lines: true, count: 10, but_last: false, end: if call.has("zero-terminated") { 0 } else { b'\n' } };
    for found in &call.options {
        let value = found.value.as_deref().unwrap_or_default();
        let what = match found.option {
            "lines" => "lines",
            "bytes" => "bytes",
            _ => continue,
        };
        let (digits, but_last) = value.strip_prefix('-').map_or((value, false), |rest| (rest, true));
        let Some(count) = size::parse(digits.strip_prefix('+').unwrap_or(digits)) else {
            call.complain(&format!("invalid number of {what}: {}", quote::plain(digits)));
            return Err(1);
        };
        part = Part { lines: what == "lines", count, but_last, ..part };
    }
    let inputs = or_standard_input(&call.operands);
    let mut headers = Headers::new(&call, inputs.len());
    let mut out = Out::new();
    let mut code = 0;
    for path in inputs {
        let input = match Input::open(path) {
            Ok(input) => input,
            Err(errno) => {
                call.complain(&format!("cannot open {} for reading: {}", quote::shell(path), text(errno)));
                code = 1;
                continue;
            }
        };
        headers.print(path, &mut out);
        if let Err(errno) = part.copy(&input, &mut out) {
            call.complain(&format!("error reading {}: {}", quote::shell(path), text(errno)));
            code = 1;
        }
        if out.has_failed() {
            break;
        }
    }
    Ok(call.finish(out, code))
}

/// `-5` stands for `-n 5`, `-5c` for `-c 5`.
fn spell_out(args: &mut [String]) {
    if let Some(first) = args.first_mut()
        && let Some(rest) = first.strip_prefix('-')
        && rest.starts_with(|c: char| c.is_ascii_digit())
    {
        let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
        *first = match &rest[digits.len()..] {
            "" | "l" => format!("-n{digits}"),
            "c" => format!("-c{digits}"),
            unit @ ("b" | "k" | "m") => format!("-c{digits}{unit}"),
            "q" => format!("-qn{digits}"),
            "v" => format!("-vn{digits}"),
            _ => return,
        };
    }
}

impl Part {
    fn copy(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        match (self.lines, self.but_last) {
            (false, false) => self.first_bytes(input, out),
            (true, false) => self.first_lines(input, out),
            (_, true) => self.all_but_last(input, out),
        }
    }

    fn first_bytes(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        let mut left = self.count;
        while left > 0 && !out.has_failed() {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            let take = left.min(piece.len() as u64) as usize;
            out.push(&piece[..take]);
            left -= take as u64;
            give_back(input, piece.len() - take);
        }
        Ok(())
    }

    fn first_lines(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        let mut left = self.count;
        while left > 0 && !out.has_failed() {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            let mut take = piece.len();
            for (at, _) in piece.iter().enumerate().filter(|(_, byte)| **byte == self.end) {
                left -= 1;
                if left == 0 {
                    take = at + 1;
                    break;
                }
            }
            out.push(&piece[..take]);
            // Written at once: more may never come.
            out.flush();
            give_back(input, piece.len() - take);
        }
        Ok(())
    }

    fn all_but_last(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        let mut held: Vec<u8> = Vec::new();
        loop {
            let piece = input.read()?;
            let ended = piece.is_empty();
            held.extend_from_slice(&piece);
            let take = if self.lines { self.before_last_lines(&held, ended) } else { self.before_last_bytes(&held) };
            out.push(&held[..take]);
            held.drain(..take);
            if ended || out.has_failed() {
                return Ok(());
            }
        }
    }

    fn before_last_bytes(self, held: &[u8]) -> usize {
        held.len().saturating_sub(usize::try_from(self.count).unwrap_or(usize::MAX))
    }

    /// Returns the start of the last lines. While more may come, a line that has not ended is not yet one of them.
    fn before_last_lines(self, held: &[u8], ended: bool) -> usize {
        let mut left = self.count;
        if ended && held.last().is_some_and(|byte| *byte != self.end) {
            // The last line counts, though it has no end.
            if left == 0 {
                return held.len();
            }
            left -= 1;
        }
        if left == 0 {
            return match held.iter().rposition(|byte| *byte == self.end) {
                Some(at) => at + 1,
                None => 0,
            };
        }
        for (at, _) in held.iter().enumerate().rev().filter(|(_, byte)| **byte == self.end) {
            if left == 0 {
                return at + 1;
            }
            left -= 1;
        }
        0
    }
}

/// Seeks back over bytes that were read too much, for the next reader of the file. A pipe has no position.
fn give_back(input: &Input, count: usize) {
    if count > 0 {
        let _ = files::seek(input.fd(), -(count as i64), files::Whence::Current);
    }
}
