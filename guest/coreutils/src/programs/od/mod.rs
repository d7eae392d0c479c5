//! `od`: dumps bytes as numbers.

mod format;
mod options;

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use crate::lines::complain;
pub(super) use format::character;
use options::Settings;

/// `od`.
pub(crate) const PROGRAM: Program = Program {
    name: "od",
    operands: &["[OPTION]... [FILE]...", "[-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]"],
    about: "Write an unambiguous representation, octal bytes by default, of FILE to standard output.\n\
            With no FILE, or when FILE is -, read standard input.  TYPE is made up of: a (named character),\n\
            c (printable or escape), d[SIZE], f[SIZE], o[SIZE], u[SIZE], x[SIZE]; z adds printable characters.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('A', "address-radix", "output format for file offsets: d, o, x or n").takes("RADIX"),
        Opt::long("endian", "swap input bytes according the specified order: big or little").takes("ORDER"),
        Opt::flag('j', "skip-bytes", "skip BYTES input bytes first").takes("BYTES"),
        Opt::flag('N', "read-bytes", "limit dump to BYTES input bytes").takes("BYTES"),
        Opt::letter('S', "strings", "output strings of at least BYTES graphic chars").takes("BYTES"),
        Opt::long("strings", "same as -S; 3 is implied when BYTES is not specified").may_take("BYTES"),
        Opt::flag('t', "format", "select output format or formats").takes("TYPE"),
        Opt::flag('v', "output-duplicates", "do not use * to mark line suppression"),
        Opt::flag('w', "width", "output BYTES bytes per output line").may_take("BYTES"),
        Opt::long("traditional", "accept arguments in third form"),
        Opt::letter('a', "a", "same as -t a"),
        Opt::letter('b', "o1", "same as -t o1"),
        Opt::letter('c', "c", "same as -t c"),
        Opt::letter('d', "u2", "same as -t u2"),
        Opt::letter('f', "fF", "same as -t fF"),
        Opt::letter('i', "dI", "same as -t dI"),
        Opt::letter('l', "dL", "same as -t dL"),
        Opt::letter('o', "o2", "same as -t o2"),
        Opt::letter('s', "d2", "same as -t d2"),
        Opt::letter('x', "x2", "same as -t x2"),
        Opt::letter('B', "o2", ""),
        Opt::letter('D', "u4", ""),
        Opt::letter('H', "x4", ""),
        Opt::letter('O', "o4", ""),
        Opt::letter('X', "x4", ""),
        Opt::letter('e', "fD", ""),
        Opt::letter('F', "fD", ""),
        Opt::letter('h', "x2", ""),
        Opt::letter('I', "dL", ""),
        Opt::letter('L', "dL", ""),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let (settings, operands) = Settings::read(call)?;
    let mut bytes = Bytes {
        call,
        paths: or_standard_input(&operands),
        next: 0,
        input: None,
        piece: Vec::new(),
        opened: false,
        code: 0,
    };
    let skipped = bytes.skip(settings.skip);
    let mut out = Out::new();
    if skipped < settings.skip && bytes.opened {
        call.complain("cannot skip past end of combined input");
        return Ok(1);
    }
    bytes.piece = bytes.read();
    if !bytes.opened {
        return Ok(1);
    }
    bytes.limit(settings.limit, |bytes| match settings.strings {
        Some(least) => strings(bytes, least, &settings, &mut out),
        None => dump(bytes, &settings, &mut out),
    });
    let code = bytes.code;
    Ok(call.finish(out, code))
}

/// The bytes of all files, one after the other.
struct Bytes<'a> {
    call: &'a Call,
    paths: Vec<&'a str>,
    next: usize,
    input: Option<Input>,
    piece: Vec<u8>,
    /// A file could be opened.
    opened: bool,
    code: u8,
}

impl Bytes<'_> {
    /// Reads the next piece; empty after the last file.
    fn read(&mut self) -> Vec<u8> {
        if !self.piece.is_empty() {
            return std::mem::take(&mut self.piece);
        }
        loop {
            if self.input.is_none() {
                let Some(path) = self.paths.get(self.next) else { return Vec::new() };
                self.next += 1;
                match Input::open(path) {
                    Ok(input) => {
                        self.opened = true;
                        self.input = Some(input);
                    }
                    Err(errno) => {
                        complain(self.call, path, errno);
                        self.code = 1;
                        continue;
                    }
                }
            }
            let Some(input) = &self.input else { continue };
            match input.read() {
                Ok(piece) if !piece.is_empty() => return piece,
                Ok(_) => self.input = None,
                Err(errno) => {
                    complain(self.call, self.paths[self.next - 1], errno);
                    self.code = 1;
                    self.input = None;
                }
            }
        }
    }

    fn skip(&mut self, count: u64) -> u64 {
        let mut skipped = 0;
        while skipped < count {
            let mut piece = self.read();
            if piece.is_empty() {
                break;
            }
            let here = (count - skipped).min(piece.len() as u64);
            skipped += here;
            self.piece = piece.split_off(here as usize);
        }
        skipped
    }

    /// Passes pieces on, up to a number of bytes.
    fn limit(&mut self, limit: Option<u64>, run: impl FnOnce(&mut dyn FnMut() -> Vec<u8>)) {
        let mut left = limit.unwrap_or(u64::MAX);
        run(&mut || {
            if left == 0 {
                return Vec::new();
            }
            let mut piece = self.read();
            piece.truncate(left.min(piece.len() as u64) as usize);
            left -= piece.len() as u64;
            piece
        });
    }
}

fn dump(read: &mut dyn FnMut() -> Vec<u8>, settings: &Settings, out: &mut Out) {
    let width = settings.width;
    let mut offset = settings.skip;
    let mut previous: Option<Vec<u8>> = None;
    let mut starred = false;
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let piece = read();
        let last = piece.is_empty();
        rest.extend_from_slice(&piece);
        let whole = if last { rest.len() } else { rest.len() / width * width };
        for block in rest[..whole].chunks(width) {
            let same = block.len() == width && previous.as_deref() == Some(block);
            if same && !settings.all {
                if !starred {
                    out.push(b"*\n");
                }
                starred = true;
            } else {
                starred = false;
                settings.block(offset, block, out);
                if block.len() == width {
                    previous = Some(block.to_vec());
                }
            }
            offset += block.len() as u64;
        }
        rest.drain(..whole);
        if last || out.has_failed() {
            break;
        }
    }
    let address = settings.address(offset);
    if !address.is_empty() {
        out.push(format!("{address}\n").as_bytes());
    }
}

/// Prints runs of printable characters that end with a NUL.
fn strings(read: &mut dyn FnMut() -> Vec<u8>, least: usize, settings: &Settings, out: &mut Out) {
    let mut offset = settings.skip;
    let mut found: Vec<u8> = Vec::new();
    loop {
        let piece = read();
        if piece.is_empty() {
            return;
        }
        for byte in piece {
            offset += 1;
            if byte == 0 && found.len() >= least {
                let address = settings.address(offset - 1 - found.len() as u64);
                if !address.is_empty() {
                    out.push(format!("{address} ").as_bytes());
                }
                for byte in &found {
                    match byte {
                        7 => out.push(b"\\a"),
                        8 => out.push(b"\\b"),
                        9 => out.push(b"\\t"),
                        10 => out.push(b"\\n"),
                        11 => out.push(b"\\v"),
                        12 => out.push(b"\\f"),
                        13 => out.push(b"\\r"),
                        byte => out.byte(*byte),
                    }
                }
                out.byte(b'\n');
            }
            if byte.is_ascii_graphic() || byte == b' ' {
                found.push(byte);
            } else {
                found.clear();
            }
        }
    }
}
