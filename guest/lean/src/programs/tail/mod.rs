//! `tail`: the last part of files.

mod follow;

use std::collections::VecDeque;

use isopod_sys::files::{self, Kind, Whence};
use isopod_sys::{Errno, text};

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, PIECE};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{duration, quote, size};

use crate::headers::Headers;

/// `tail`.
pub(crate) const PROGRAM: Program = Program {
    name: "tail",
    operands: &["[OPTION]... [FILE]..."],
    about: "Print the last 10 lines of each FILE to standard output.\n\
            With more than one FILE, precede each with a header giving the file name.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('c', "bytes", "output the last NUM bytes; or use -c +NUM to start with byte NUM").takes("[+]NUM"),
        Opt::flag('f', "follow", "output appended data as the file grows: by descriptor or by name")
            .may_take("{name|descriptor}"),
        Opt::letter('F', "F", "same as --follow=name --retry"),
        Opt::flag('n', "lines", "output the last NUM lines; or use -n +NUM to start with line NUM").takes("[+]NUM"),
        Opt::long("max-unchanged-stats", "accepted: names are looked up each time").takes("N"),
        Opt::long("pid", "with -f, terminate after process ID, PID dies").takes("PID"),
        Opt::flag('q', "quiet", "never output headers giving file names"),
        Opt::long("silent", ""),
        Opt::long("retry", "keep trying to open a file if it is inaccessible"),
        Opt::flag('s', "sleep-interval", "with -f, sleep for approximately N seconds between iterations").takes("N"),
        Opt::flag('v', "verbose", "always output headers giving file names"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The part of a file that is printed.
#[derive(Clone, Copy)]
struct Part {
    /// True if `count` is a number of lines, false if it is one of bytes.
    lines: bool,
    count: u64,
    /// True if the part begins at line or byte `count`, counted from the start of the file.
    from_start: bool,
    /// The byte that ends a line.
    end: u8,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut operands = call.operands.clone();
    spell_out(&mut operands);
    take_bare_follow(&mut operands);
    let call = call.read_operands(operands, true)?;
    let part = part(&call)?;
    let follow = follow::Follow::read(&call)?;
    if part.count == 0 && !part.from_start && follow.is_none() {
        // Nothing is printed, and the files are not opened, as in GNU's.
        return Ok(0);
    }
    let inputs = or_standard_input(&call.operands);
    let mut headers = Headers::new(&call, inputs.len());
    let mut out = Out::new();
    let mut code = 0;
    let mut opened = Vec::new();
    for path in inputs {
        match Input::open(path) {
            Ok(input) => {
                headers.print(path, &mut out);
                if let Err(errno) = part.copy(&input, &mut out) {
                    call.complain(&format!("error reading {}: {}", quote::shell(path), text(errno)));
                    code = 1;
                }
                opened.push((path, Some(input)));
            }
            Err(errno) => {
                call.complain(&format!("cannot open {} for reading: {}", quote::shell(path), text(errno)));
                code = 1;
                opened.push((path, None));
            }
        }
    }
    if let Some(follow) = follow {
        out.flush();
        return follow.run(&call, opened, headers, out);
    }
    Ok(call.finish(out, code))
}

/// Rewrites an obsolete first argument: `-5` as `-n5`, `+5` as `-n+5`, `-5c` as `-c5`, `-5f` as `-fn5`.
fn spell_out(args: &mut [String]) {
    let Some(first) = args.first_mut() else { return };
    let (sign, rest) = match (first.strip_prefix('-'), first.strip_prefix('+')) {
        (Some(rest), _) => ("", rest),
        (_, Some(rest)) => ("+", rest),
        _ => return,
    };
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return;
    }
    let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
    *first = match &rest[digits.len()..] {
        "" | "l" => format!("-n{sign}{digits}"),
        "c" => format!("-c{sign}{digits}"),
        "b" => format!("-c{sign}{digits}b"),
        "f" | "lf" => format!("-fn{sign}{digits}"),
        _ => return,
    };
}

/// Splits `-f` from letters after it, because it takes a value only in its long form: `-fn5` is `-f -n5`.
fn take_bare_follow(args: &mut Vec<String>) {
    let mut index = 0;
    while index < args.len() && args[index] != "--" {
        let arg = args[index].clone();
        if let Some(letters) = arg.strip_prefix('-')
            && !letters.starts_with('-')
            && let Some(at) = letters.find('f')
            && letters.len() > 1
            && letters[..at].chars().all(|c| "qvzF".contains(c))
        {
            let rest = format!("-{}{}", &letters[..at], &letters[at + 1..]);
            args[index] = "-f".to_owned();
            args.insert(index + 1, rest);
        }
        index += 1;
    }
}

fn part(call: &Call) -> Result<Part, u8> {
    let end = if call.has("zero-terminated") { 0 } else { b'\n' };
    let mut part = Part { lines: true, count: 10, from_start: false, end };
    for found in &call.options {
        let what = match found.option {
            "lines" => "lines",
            "bytes" => "bytes",
            _ => continue,
        };
        let value = found.value.as_deref().unwrap_or_default();
        let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
        let Some(count) = size::parse(digits) else {
            call.complain(&format!("invalid number of {what}: {}", quote::plain(value)));
            return Err(1);
        };
        part = Part { lines: what == "lines", count, from_start: value.starts_with('+'), end };
    }
    Ok(part)
}

impl Part {
    fn copy(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        if self.from_start {
            return self.copy_from(input, out);
        }
        match files::stat_fd(input.fd()) {
            Ok(found) if found.kind == Kind::File => self.copy_last(input, found.size, out),
            _ => self.copy_stream(input, out),
        }
    }

    fn copy_from(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        // `+0` and `+1` both start at the first line.
        let mut skip = self.count.saturating_sub(1);
        while !out.has_failed() {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            let mut start = 0;
            if skip > 0 && !self.lines {
                start = skip.min(piece.len() as u64) as usize;
                skip -= start as u64;
            } else if skip > 0 {
                start = piece.len();
                for (at, _) in piece.iter().enumerate().filter(|(_, byte)| **byte == self.end) {
                    skip -= 1;
                    if skip == 0 {
                        start = at + 1;
                        break;
                    }
                }
            }
            out.push(&piece[start..]);
        }
        Ok(())
    }

    /// Copies the end of a file. Searches backwards for its start, so that the rest of the file is never read.
    fn copy_last(self, input: &Input, size: u64, out: &mut Out) -> Result<(), Errno> {
        let current = files::seek(input.fd(), 0, Whence::Current)?;
        let start = if self.lines {
            self.start_of_lines(input, current, size)?
        } else {
            current.max(size.saturating_sub(self.count))
        };
        files::seek(input.fd(), start as i64, Whence::Start)?;
        while !out.has_failed() {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            out.push(&piece);
        }
        Ok(())
    }

    fn start_of_lines(self, input: &Input, current: u64, size: u64) -> Result<u64, Errno> {
        let mut left = self.count;
        let mut end = size;
        if left == 0 {
            return Ok(size.max(current));
        }
        while end > current {
            let start = current.max(end.saturating_sub(PIECE as u64));
            files::seek(input.fd(), start as i64, Whence::Start)?;
            let mut block = Vec::new();
            while (block.len() as u64) < end - start {
                let piece = input.read()?;
                if piece.is_empty() {
                    break;
                }
                block.extend_from_slice(&piece);
            }
            block.truncate((end - start) as usize);
            for (at, _) in block.iter().enumerate().rev().filter(|(_, byte)| **byte == self.end) {
                // A newline at the end of the file does not start a line.
                if start + at as u64 + 1 == size {
                    continue;
                }
                left -= 1;
                if left == 0 {
                    return Ok(start + at as u64 + 1);
                }
            }
            end = start;
        }
        Ok(current)
    }

    /// Copies the end of a pipe, and keeps only the bytes that may be printed.
    fn copy_stream(self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        let mut pieces: VecDeque<Vec<u8>> = VecDeque::new();
        let mut ends: VecDeque<u64> = VecDeque::new();
        let (mut bytes, mut lines) = (0u64, 0u64);
        loop {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            let count = if self.lines { piece.iter().filter(|byte| **byte == self.end).count() as u64 } else { 0 };
            bytes += piece.len() as u64;
            lines += count;
            ends.push_back(count);
            pieces.push_back(piece);
            while let (Some(first), Some(first_ends)) = (pieces.front(), ends.front()) {
                // One line more is kept: the last may have no newline.
                let spare =
                    if self.lines { lines - first_ends > self.count } else { bytes - first.len() as u64 >= self.count };
                if !spare {
                    break;
                }
                bytes -= first.len() as u64;
                lines -= first_ends;
                pieces.pop_front();
                ends.pop_front();
            }
        }
        let all: Vec<u8> = pieces.into_iter().flatten().collect();
        out.push(&all[self.start_in(&all)..]);
        Ok(())
    }

    fn start_in(self, all: &[u8]) -> usize {
        if !self.lines {
            return all.len().saturating_sub(usize::try_from(self.count).unwrap_or(usize::MAX));
        }
        if self.count == 0 {
            return all.len();
        }
        let body = all.strip_suffix(&[self.end]).unwrap_or(all);
        let mut left = self.count;
        for (at, _) in body.iter().enumerate().rev().filter(|(_, byte)| **byte == self.end) {
            left -= 1;
            if left == 0 {
                return at + 1;
            }
        }
        0
    }
}

/// Reads the interval between checks.
fn interval(call: &Call, value: &str) -> Result<std::time::Duration, u8> {
    duration::parse(value).ok_or_else(|| {
        call.complain(&format!("invalid number of seconds: {}", quote::plain(value)));
        1
    })
}
