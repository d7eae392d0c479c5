//! `cmp`: compares two files byte by byte.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{quote, size};
use isopod_sys::{Errno, files, text};

/// `cmp`.
pub(crate) const PROGRAM: Program = Program {
    name: "cmp",
    operands: &["[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]"],
    about: "Compare two files byte by byte. SKIP1 and SKIP2 are bytes to skip at the start of each file.\n\
            If a FILE is '-' or missing, read standard input. Exit status is 0 if inputs are the same, 1 if\n\
            different, 2 if trouble.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "print-bytes", "print differing bytes"),
        Opt::flag('i', "ignore-initial", "skip first SKIP1 bytes of FILE1 and first SKIP2 bytes of FILE2")
            .takes("SKIP1:SKIP2"),
        Opt::flag('l', "verbose", "output byte numbers and differing byte values"),
        Opt::flag('n', "bytes", "compare at most LIMIT bytes").takes("LIMIT"),
        Opt::flag('s', "quiet", "suppress all normal output"),
        Opt::long("silent", ""),
    ],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A file that is read in pieces.
struct Bytes {
    name: String,
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Bytes {
    /// Reads the next piece when the buffer is used up. At the end of the file the buffer stays empty.
    fn fill(&mut self) -> Result<(), Errno> {
        if self.at == self.buffer.len() && !self.ended {
            self.buffer = self.input.read()?;
            self.at = 0;
            self.ended = self.buffer.is_empty();
        }
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    fn skip(&mut self, mut count: u64) -> Result<(), Errno> {
        while count > 0 {
            self.fill()?;
            let step = count.min(self.rest().len() as u64);
            if step == 0 {
                break;
            }
            self.at += step as usize;
            count -= step;
        }
        Ok(())
    }
}

struct Options {
    print_bytes: bool,
    verbose: bool,
    silent: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    let options = Options {
        print_bytes: call.has("print-bytes"),
        verbose: call.has("verbose"),
        silent: call.has("quiet") || call.has("silent"),
    };
    if options.verbose && options.silent {
        return Err(call.misused("options -l and -s are incompatible"));
    }
    if call.operands.is_empty() {
        return Err(call.misused(&format!("missing operand after {}", quote::plain(&call.name))));
    }
    call.at_most(4)?;
    let number = |text: &str, option: &str| {
        size::parse(text).ok_or_else(|| call.misused(&format!("invalid {option} value {}", quote::plain(text))))
    };
    let mut skips = [0, 0];
    if let Some(text) = call.value("ignore-initial") {
        let (first, second) = text.split_once(':').unwrap_or((text, text));
        skips = [number(first, "--ignore-initial")?, number(second, "--ignore-initial")?];
    }
    for (skip, operand) in skips.iter_mut().zip(call.operands.iter().skip(2)) {
        *skip = (*skip).max(number(operand, "--ignore-initial")?);
    }
    let limit = match call.value("bytes") {
        Some(text) => number(text, "--bytes")?,
        None => u64::MAX,
    };
    let names = [call.operands[0].clone(), call.operands.get(1).cloned().unwrap_or_else(|| "-".into())];
    let trouble = |name: &str, errno| {
        call.complain(&format!("{name}: {}", text(errno)));
        2
    };
    let mut sides = Vec::new();
    for (name, skip) in names.iter().zip(skips) {
        let input = Input::open(name).map_err(|errno| trouble(name, errno))?;
        let mut side = Bytes { name: name.clone(), input, buffer: Vec::new(), at: 0, ended: false };
        side.skip(skip).map_err(|errno| trouble(name, errno))?;
        sides.push(side);
    }
    let (Some(b), Some(a)) = (sides.pop(), sides.pop()) else { return Err(2) };
    compare(call, [a, b], &options, limit)
}

fn compare(call: &Call, mut sides: [Bytes; 2], options: &Options, limit: u64) -> Result<u8, u8> {
    let mut out = Out::new();
    // The bytes and newlines in the pieces compared so far.
    let (mut byte, mut newlines) = (0u64, 0u64);
    let mut code = 0;
    let mut ends_with_newline = true;
    let width = if options.verbose { number_width(&sides, limit) } else { 0 };
    loop {
        for side in &mut sides {
            if let Err(errno) = side.fill() {
                call.complain(&format!("{}: {}", side.name, text(errno)));
                return Err(2);
            }
        }
        let [a, b] = &mut sides;
        let common = (a.rest().len().min(b.rest().len()) as u64).min(limit - byte) as usize;
        if common == 0 {
            break;
        }
        let (first, second) = (&a.rest()[..common], &b.rest()[..common]);
        let differs = if first == second { None } else { first.iter().zip(second).position(|(x, y)| x != y) };
        match differs {
            None => {}
            Some(_) if options.silent => return Err(1),
            Some(at) if !options.verbose => {
                let (x, y) = (first[at], second[at]);
                let line = newlines + first[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
                let position = byte + at as u64 + 1;
                let message = if options.print_bytes {
                    let (shown_x, shown_y) = (shown(x), shown(y));
                    format!(
                        "{} {} differ: byte {position}, line {line} is {x:3o} {shown_x} {y:3o} {shown_y}\n",
                        a.name, b.name
                    )
                } else {
                    format!("{} {} differ: byte {position}, line {line}\n", a.name, b.name)
                };
                out.push(message.as_bytes());
                return Ok(call.finish(out, 1));
            }
            Some(start) => {
                code = 1;
                for (at, (x, y)) in first.iter().zip(second).enumerate().skip(start) {
                    if x == y {
                        continue;
                    }
                    let position = byte + at as u64 + 1;
                    let line = if options.print_bytes {
                        format!("{position:width$} {x:3o} {:<4} {y:3o} {}\n", shown(*x), shown(*y))
                    } else {
                        format!("{position:width$} {x:3o} {y:3o}\n")
                    };
                    out.push(line.as_bytes());
                }
            }
        }
        newlines += first.iter().filter(|byte| **byte == b'\n').count() as u64;
        ends_with_newline = first.last() == Some(&b'\n');
        byte += common as u64;
        a.at += common;
        b.at += common;
    }
    let [a, b] = &sides;
    if byte < limit && a.rest().is_empty() != b.rest().is_empty() {
        if !options.silent {
            out.flush();
            let shorter = if a.rest().is_empty() { &a.name } else { &b.name };
            call.complain(&ended(shorter, byte, newlines, ends_with_newline, options.verbose));
        }
        code = 1;
    }
    Ok(call.finish(out, code))
}

fn ended(name: &str, byte: u64, newlines: u64, ends_with_newline: bool, verbose: bool) -> String {
    if byte == 0 {
        return format!("EOF on {name} which is empty");
    }
    if verbose {
        return format!("EOF on {name} after byte {byte}");
    }
    let (preposition, line) = if ends_with_newline { ("", newlines) } else { ("in ", newlines + 1) };
    format!("EOF on {name} after byte {byte}, {preposition}line {line}")
}

/// Returns the width of the column of byte numbers: enough for the size of the smaller file.
fn number_width(sides: &[Bytes; 2], limit: u64) -> usize {
    let size = |side: &Bytes| match files::stat_fd(side.input.fd()) {
        Ok(found) if found.kind == files::Kind::File => found.size,
        _ => u64::MAX,
    };
    size(&sides[0]).min(size(&sides[1])).min(limit).to_string().len()
}

/// Formats a byte as `cat -v` does.
fn shown(byte: u8) -> String {
    let low = byte & 0x7f;
    let lead = if byte >= 0x80 { "M-" } else { "" };
    match low {
        0x7f => format!("{lead}^?"),
        0..0x20 => format!("{lead}^{}", char::from(low + 0x40)),
        low => format!("{lead}{}", char::from(low)),
    }
}
