//! `xxd`: dumps bytes in hexadecimal, and reads dumps back.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, redirect};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, text};

use crate::lines::Lines;

/// `xxd`.
pub(crate) const PROGRAM: Program = Program {
    name: "xxd",
    operands: &["[OPTION]... [INFILE [OUTFILE]]", "-r [-p] [INFILE [OUTFILE]]"],
    about: "Make a hexdump or do the reverse.",
    syntax: Syntax::Own,
    options: &[
        Opt::letter('b', "b", "binary digit dump"),
        Opt::letter('c', "c", "format COLS octets per line (default 16)").takes("COLS"),
        Opt::letter('e', "e", "little-endian dump"),
        Opt::letter('g', "g", "number of octets per group in normal output (default 2)").takes("BYTES"),
        Opt::letter('i', "i", "output in C include file style"),
        Opt::letter('l', "l", "stop after LEN octets").takes("LEN"),
        Opt::letter('n', "n", "the variable name used in -i").takes("NAME"),
        Opt::letter('o', "o", "add OFF to the displayed file position").takes("OFF"),
        Opt::letter('p', "p", "output in postscript plain hexdump style"),
        Opt::letter('r', "r", "convert hexdump into binary"),
        Opt::letter('s', "s", "start at SEEK bytes").takes("SEEK"),
        Opt::letter('u', "u", "use upper case hex letters"),
        Opt::letter('d', "d", "show offset in decimal instead of hex"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

struct Dump {
    columns: usize,
    group: usize,
    bits: bool,
    little: bool,
    upper: bool,
    decimal: bool,
    offset: u64,
}

fn run(call: &Call) -> Result<u8, u8> {
    // Words such as -plain and -cols 8 have one dash.
    let mut operands = Vec::new();
    for arg in &call.operands {
        operands.push(match arg.as_str() {
            "-ps" | "-postscript" | "-plain" | "--plain" => "-p".to_owned(),
            "-revert" | "-reverse" | "--revert" => "-r".to_owned(),
            "-bits" | "--bits" => "-b".to_owned(),
            "-cols" | "--cols" => "-c".to_owned(),
            "-groupsize" => "-g".to_owned(),
            "-include" | "--include" => "-i".to_owned(),
            "-len" | "--len" => "-l".to_owned(),
            "-seek" | "-skip" | "--seek" => "-s".to_owned(),
            "-u" | "-uppercase" => "-u".to_owned(),
            "-v" | "-version" => "--version".to_owned(),
            _ => arg.clone(),
        });
    }
    let call = &call.read_operands(operands, true)?;
    call.at_most(2)?;
    let number = |option: &str| match call.value(option) {
        None => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| call.failed(&format!("invalid number {text}"))),
    };
    let (plain, bits, include) = (call.has("p"), call.has("b"), call.has("i"));
    let columns = number("c")?.map(|columns| columns as usize);
    let limit = number("l")?.unwrap_or(u64::MAX);
    let seek = number("s")?.unwrap_or(0);
    let path = call.operands.first().map_or("-", String::as_str);
    let fail = |path: &str, errno: Errno| {
        call.complain(&format!("{path}: {}", text(errno)));
        2
    };
    let input = Input::open(path).map_err(|errno| fail(path, errno))?;
    if let Some(output) = call.operands.get(1).filter(|output| *output != "-") {
        let truncate = if call.has("r") { OpenFlags::WRITE } else { OpenFlags::WRITE | OpenFlags::TRUNCATE };
        redirect(output, truncate | OpenFlags::CREATE).map_err(|errno| fail(output, errno))?;
    }
    let mut out = Out::new();
    if call.has("r") {
        revert(input, plain, &mut out).map_err(|errno| fail(path, errno))?;
        return Ok(call.finish(out, 0));
    }
    let default_columns = if plain {
        30
    } else if bits {
        6
    } else if include {
        12
    } else {
        16
    };
    let columns = match columns {
        Some(0) | None if !plain => default_columns,
        Some(0) => usize::MAX,
        Some(columns) if columns > 256 && !plain => {
            return Err(call.failed("invalid number of columns (max. 256)."));
        }
        Some(columns) => columns,
        None => default_columns,
    };
    let group = match number("g")? {
        Some(0) => columns,
        Some(group) => group as usize,
        None if call.has("e") => 4,
        None if bits => 1,
        None => 2,
    };
    if call.has("e") && !group.is_power_of_two() {
        return Err(call.failed("number of octets per group must be a power of 2 with -e."));
    }
    let dump = Dump {
        columns,
        group: group.max(1),
        bits,
        little: call.has("e"),
        upper: call.has("u"),
        decimal: call.has("d"),
        offset: number("o")?.unwrap_or(0),
    };
    let mut source = Source { input, skip: seek, left: limit, rest: Vec::new() };
    let result = if plain {
        dump.plain(&mut source, &mut out)
    } else if include {
        let name = call.value("n").map(str::to_owned).or_else(|| (path != "-").then(|| path.to_owned()));
        dump.include(&mut source, name.as_deref(), &mut out)
    } else {
        dump.lines(&mut source, seek, &mut out)
    };
    result.map_err(|errno| fail(path, errno))?;
    Ok(call.finish(out, 0))
}

fn parse(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// The part of an input that is shown, in blocks.
struct Source {
    input: Input,
    skip: u64,
    left: u64,
    rest: Vec<u8>,
}

impl Source {
    /// Reads so many bytes; fewer at the end.
    fn block(&mut self, size: usize) -> Result<Vec<u8>, Errno> {
        let want = size.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        while self.rest.len() < want || self.skip > 0 {
            let mut piece = self.input.read()?;
            if piece.is_empty() {
                break;
            }
            let skipped = self.skip.min(piece.len() as u64);
            self.skip -= skipped;
            self.rest.extend(piece.drain(skipped as usize..));
        }
        let count = want.min(self.rest.len());
        self.left -= count as u64;
        Ok(self.rest.drain(..count).collect())
    }
}

impl Dump {
    fn digits(&self, byte: u8) -> String {
        match (self.bits, self.upper) {
            (true, _) => format!("{byte:08b}"),
            (false, true) => format!("{byte:02X}"),
            (false, false) => format!("{byte:02x}"),
        }
    }

    fn lines(&self, source: &mut Source, start: u64, out: &mut Out) -> Result<(), Errno> {
        let mut at = start + self.offset;
        loop {
            let block = source.block(self.columns)?;
            if block.is_empty() || out.has_failed() {
                return Ok(());
            }
            let mut line = if self.decimal { format!("{at:08}: ") } else { format!("{at:08x}: ") };
            let cell = if self.bits { 8 } else { 2 };
            for group in 0..self.columns.div_ceil(self.group) {
                let size = self.group.min(self.columns - group * self.group);
                for place in 0..size {
                    let index =
                        if self.little { group * self.group + size - 1 - place } else { group * self.group + place };
                    match block.get(index) {
                        Some(byte) => line.push_str(&self.digits(*byte)),
                        None => line.push_str(&" ".repeat(cell)),
                    }
                }
                line.push(' ');
            }
            line.push(' ');
            line.extend(block.iter().map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' }));
            out.push(line.as_bytes());
            out.byte(b'\n');
            at += block.len() as u64;
        }
    }

    fn plain(&self, source: &mut Source, out: &mut Out) -> Result<(), Errno> {
        let mut column = 0;
        loop {
            let block = source.block(4096)?;
            if block.is_empty() || out.has_failed() {
                break;
            }
            for byte in block {
                out.push(self.digits(byte).as_bytes());
                column += 1;
                if column == self.columns {
                    out.byte(b'\n');
                    column = 0;
                }
            }
        }
        if column > 0 {
            out.byte(b'\n');
        }
        Ok(())
    }

    fn include(&self, source: &mut Source, name: Option<&str>, out: &mut Out) -> Result<(), Errno> {
        let name = name.map(|name| {
            let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            if name.starts_with(|c: char| c.is_ascii_digit()) { format!("__{name}") } else { name }
        });
        if let Some(name) = &name {
            out.push(format!("unsigned char {name}[] = {{\n").as_bytes());
        }
        let mut total = 0u64;
        loop {
            let block = source.block(self.columns)?;
            if block.is_empty() || out.has_failed() {
                break;
            }
            if total > 0 {
                out.push(b",\n");
            }
            let cells: Vec<String> = block
                .iter()
                .map(|byte| format!("{}{}", if self.upper { "0X" } else { "0x" }, self.digits(*byte)))
                .collect();
            out.push(format!("  {}", cells.join(", ")).as_bytes());
            total += block.len() as u64;
        }
        if total > 0 {
            out.byte(b'\n');
        }
        if let Some(name) = &name {
            out.push(format!("}};\nunsigned int {name}_len = {total};\n").as_bytes());
        }
        Ok(())
    }
}

/// Turns a dump back into bytes.
fn revert(input: Input, plain: bool, out: &mut Out) -> Result<(), Errno> {
    let mut lines = Lines::new(input, b'\n');
    let mut position = 0u64;
    let mut half: Option<u8> = None;
    while let Some(line) = lines.next()? {
        let nibble = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
        if plain {
            for byte in line {
                let Some(digit) = nibble(byte) else {
                    half = None;
                    continue;
                };
                match half.take() {
                    Some(high) => out.byte(high << 4 | digit),
                    None => half = Some(digit),
                }
            }
            continue;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let Ok(offset) = u64::from_str_radix(String::from_utf8_lossy(&line[..colon]).trim(), 16) else { continue };
        // A pipe has no position: the gap is filled with zeros.
        while position < offset {
            out.byte(0);
            position += 1;
        }
        let mut at = colon + 1;
        // Two blanks end the digits.
        let mut blanks = 0;
        while at + 1 < line.len() {
            match (nibble(&line[at]), nibble(&line[at + 1])) {
                (Some(high), Some(low)) => {
                    out.byte(high << 4 | low);
                    position += 1;
                    at += 2;
                    blanks = 0;
                }
                _ if line[at] == b' ' && blanks == 0 => {
                    blanks = 1;
                    at += 1;
                }
                _ => break,
            }
        }
    }
    Ok(())
}
