//! `hexdump` and `hd`: bytes in hexadecimal.

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::size;

use super::od::character;
use crate::lines::complain;

const OPTIONS: &[Opt] = &[
    Opt::flag('b', "one-byte-octal", "one-byte octal display"),
    Opt::flag('c', "one-byte-char", "one-byte character display"),
    Opt::flag('C', "canonical", "canonical hex+ASCII display"),
    Opt::flag('d', "two-bytes-decimal", "two-byte decimal display"),
    Opt::flag('n', "length", "interpret only length bytes of input").takes("LENGTH"),
    Opt::flag('o', "two-bytes-octal", "two-byte octal display"),
    Opt::flag('s', "skip", "skip offset bytes from the beginning").takes("OFFSET"),
    Opt::flag('v', "no-squeezing", "output identical lines"),
    Opt::flag('x', "two-bytes-hex", "two-byte hexadecimal display"),
    Opt::flag('e', "format", "formatted display: only the forms N/1 \"%02x\" and the like").takes("FORMAT"),
];

const fn program(name: &'static str) -> Program {
    Program {
        name,
        operands: &["[OPTION]... FILE..."],
        about: "Display file contents in hexadecimal, decimal, octal, or ascii.",
        syntax: Syntax::Mixed,
        options: OPTIONS,
        failure: 1,
        run: |call| run(call).unwrap_or_else(|code| code),
    }
}

/// `hexdump`.
pub(crate) const HEXDUMP: Program = program("hexdump");

/// `hd`: `hexdump -C`.
pub(crate) const HD: Program = program("hd");

fn run(call: &Call) -> Result<u8, u8> {
    let number = |option: &str| match call.value(option) {
        None => Ok(None),
        Some(text) => {
            let value = match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => size::parse(text),
            };
            value.map(Some).ok_or_else(|| call.failed(&format!("failed to parse {option}: '{text}'")))
        }
    };
    let (skip, limit) = (number("skip")?.unwrap_or(0), number("length")?.unwrap_or(u64::MAX));
    let mut styles: Vec<&str> = Vec::new();
    let mut format = None;
    for GivenOption { option, value } in &call.options {
        match *option {
            "length" | "skip" | "no-squeezing" => {}
            "format" => format = value.as_deref(),
            style => styles.push(style),
        }
    }
    let format = format
        .map(|text| {
            Format::parse(text)
                .ok_or_else(|| call.failed("unsupported format: only N/SIZE \"%0Wx\" with text around it"))
        })
        .transpose()?;
    if styles.is_empty() {
        styles.push(if call.program.name == "hd" { "canonical" } else { "default" });
    }
    let mut out = Out::new();
    let mut code = 0;
    let mut offset = 0u64;
    let mut rest: Vec<u8> = Vec::new();
    let mut printer = Printer { styles: &styles, squeeze: !call.has("no-squeezing"), previous: None, starred: false };
    let mut any = false;
    let mut at = skip;
    let width = format.as_ref().map_or(16, Format::width);
    'files: for path in or_standard_input(&call.operands) {
        let input = match Input::open(path) {
            Ok(input) => input,
            Err(errno) => {
                code = complain(call, path, errno);
                continue;
            }
        };
        any = true;
        loop {
            let piece = match input.read() {
                Ok(piece) => piece,
                Err(errno) => {
                    code = complain(call, path, errno);
                    break;
                }
            };
            if piece.is_empty() {
                break;
            }
            for byte in piece {
                offset += 1;
                if offset <= skip {
                    continue;
                }
                if offset - skip > limit {
                    break 'files;
                }
                rest.push(byte);
                if rest.len() == width {
                    match &format {
                        Some(format) => format.print(&rest, &mut out),
                        None => printer.print(at, &rest, &mut out),
                    }
                    at += width as u64;
                    rest.clear();
                }
            }
            if out.has_failed() {
                break 'files;
            }
        }
    }
    if !rest.is_empty() {
        match &format {
            Some(format) => format.print(&rest, &mut out),
            None => printer.print(at, &rest, &mut out),
        }
        at += rest.len() as u64;
    }
    if any && at > skip && format.is_none() {
        let end = if styles[0] == "canonical" { format!("{at:08x}\n") } else { format!("{at:07x}\n") };
        out.push(end.as_bytes());
    }
    if !any {
        call.complain("all input file arguments failed");
    }
    Ok(call.finish(out, code))
}

struct Printer<'a> {
    styles: &'a [&'a str],
    squeeze: bool,
    previous: Option<Vec<u8>>,
    starred: bool,
}

impl Printer<'_> {
    fn print(&mut self, at: u64, block: &[u8], out: &mut Out) {
        if self.squeeze && self.previous.as_deref() == Some(block) {
            if !self.starred {
                out.push(b"*\n");
            }
            self.starred = true;
            return;
        }
        self.starred = false;
        self.previous = Some(block.to_vec());
        for style in self.styles {
            out.push(line(style, at, block).as_bytes());
        }
    }
}

fn line(style: &str, at: u64, block: &[u8]) -> String {
    let pair = |index: usize| {
        let low = block[index];
        u16::from_le_bytes([low, block.get(index + 1).copied().unwrap_or(0)])
    };
    let mut text = if style == "canonical" { format!("{at:08x} ") } else { format!("{at:07x}") };
    match style {
        "canonical" => {
            for index in 0..16 {
                if index == 8 {
                    text.push(' ');
                }
                text.push_str(&block.get(index).map_or("   ".to_owned(), |byte| format!(" {byte:02x}")));
            }
            text.push_str("  |");
            text.extend(block.iter().map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' }));
            text.push('|');
        }
        "one-byte-octal" | "one-byte-char" => {
            for index in 0..16 {
                text.push_str(&match block.get(index) {
                    None => "    ".to_owned(),
                    Some(byte) if style == "one-byte-octal" => format!(" {byte:03o}"),
                    Some(byte) => format!(" {:>3}", character(*byte)),
                });
            }
        }
        style => {
            let (gap, cell) = match style {
                "two-bytes-hex" => (4, 4),
                "two-bytes-octal" => (2, 6),
                "two-bytes-decimal" => (3, 5),
                _ => (1, 4),
            };
            for index in (0..16).step_by(2) {
                if index >= block.len() {
                    text.push_str(&" ".repeat(gap + cell));
                    continue;
                }
                let value = pair(index);
                text.push_str(&" ".repeat(gap));
                text.push_str(&match style {
                    "two-bytes-octal" => format!("{value:06o}"),
                    "two-bytes-decimal" => format!("{value:05}"),
                    _ => format!("{value:04x}"),
                });
            }
        }
    }
    text.push('\n');
    text
}

/// `-e`: units of the form `N/SIZE "text%02xtext"`, with texts in quotes among them.
struct Format {
    units: Vec<Unit>,
}

struct Unit {
    count: usize,
    size: usize,
    before: String,
    width: usize,
    zero: bool,
    letter: char,
    after: String,
}

impl Format {
    fn parse(text: &str) -> Option<Format> {
        let mut units = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let quote = rest.find('"')?;
            let head = rest[..quote].trim();
            let end = quote + 1 + rest[quote + 1..].find('"')?;
            let body = rest[quote + 1..end].replace("\\n", "\n").replace("\\t", "\t");
            let (count, size) = match head.split_once('/') {
                None if head.is_empty() => (1, 1),
                None => (head.parse().ok()?, 1),
                Some((count, size)) => (if count.is_empty() { 1 } else { count.parse().ok()? }, size.parse().ok()?),
            };
            if !matches!(size, 1 | 2 | 4) || count == 0 || count > 4096 {
                return None;
            }
            let (before, spec) = match body.split_once('%') {
                Some((before, spec)) => (before.to_owned(), spec),
                None => (body.clone(), ""),
            };
            let flags: String = spec.chars().take_while(char::is_ascii_digit).collect();
            let letter = spec[flags.len()..].chars().next();
            let after = spec.get(flags.len() + letter.map_or(0, char::len_utf8)..).unwrap_or_default().to_owned();
            let letter = letter.unwrap_or('\0');
            if !matches!(letter, 'x' | 'X' | 'd' | 'u' | 'o' | 'c' | '\0') || after.contains('%') {
                return None;
            }
            let width = flags.trim_start_matches('0').parse().unwrap_or(0);
            units.push(Unit { count, size, before, width, zero: flags.starts_with('0'), letter, after });
            rest = rest[end + 1..].trim_start();
        }
        (!units.is_empty() && units.iter().any(|unit| unit.letter != '\0')).then_some(Format { units })
    }

    fn width(&self) -> usize {
        self.units.iter().filter(|unit| unit.letter != '\0').map(|unit| unit.count * unit.size).sum::<usize>().max(1)
    }

    fn print(&self, block: &[u8], out: &mut Out) {
        let mut at = 0;
        for unit in &self.units {
            if unit.letter == '\0' {
                out.push(unit.before.as_bytes());
                continue;
            }
            for index in 0..unit.count {
                let last = index + 1 == unit.count && unit.count > 1;
                // Blanks after the last of a repeated unit are left out.
                let after = if last { unit.after.trim_end_matches(' ') } else { &unit.after };
                let Some(bytes) = block.get(at..(at + unit.size).min(block.len())).filter(|bytes| !bytes.is_empty())
                else {
                    // A unit beyond the end of the input is filled with blanks.
                    let width = unit.before.len() + unit.width + after.len();
                    out.push(" ".repeat(width).as_bytes());
                    continue;
                };
                let value = bytes.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
                let digits = match unit.letter {
                    'X' => format!("{value:X}"),
                    'x' => format!("{value:x}"),
                    'o' => format!("{value:o}"),
                    'c' => String::from_utf8_lossy(bytes).into_owned(),
                    _ => value.to_string(),
                };
                let width = unit.width;
                let padded = if unit.zero { format!("{digits:0>width$}") } else { format!("{digits:>width$}") };
                out.push(unit.before.as_bytes());
                out.push(padded.as_bytes());
                out.push(after.as_bytes());
                at += unit.size;
            }
        }
    }
}
