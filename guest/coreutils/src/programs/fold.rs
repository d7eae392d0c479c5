//! `fold`: breaks long lines.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;

use crate::lines::each_input;

/// `fold`.
pub(crate) const PROGRAM: Program = Program {
    name: "fold",
    operands: &["[OPTION]... [FILE]..."],
    about: "Wrap input lines in each FILE, writing to standard output.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "bytes", "count bytes rather than columns"),
        Opt::flag('s', "spaces", "break at spaces"),
        Opt::flag('w', "width", "use WIDTH columns instead of 80").takes("WIDTH"),
        Opt::number("width"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let mut fold = Fold { width: 80, bytes: call.has("bytes"), spaces: call.has("spaces") };
    for found in &call.options {
        let ("width", Some(text)) = (found.option, &found.value) else { continue };
        fold.width = text
            .parse()
            .ok()
            .filter(|width| *width > 0)
            .ok_or_else(|| call.failed(&format!("invalid number of columns: {}", plain(text))))?;
    }
    let mut out = Out::new();
    let code = each_input(call, |input| fold.fold(&input, &mut out));
    Ok(call.finish(out, code))
}

struct Fold {
    width: usize,
    bytes: bool,
    spaces: bool,
}

impl Fold {
    fn fold(&self, input: &Input, out: &mut Out) -> Result<(), Errno> {
        let mut line: Vec<u8> = Vec::new();
        let mut column = 0;
        loop {
            let piece = input.read()?;
            if piece.is_empty() || out.has_failed() {
                break;
            }
            for byte in piece {
                if byte == b'\n' {
                    line.push(byte);
                    out.push(&line);
                    line.clear();
                    column = 0;
                    continue;
                }
                let mut after = self.advance(column, byte);
                while after > self.width && !line.is_empty() {
                    let blank = if self.spaces { line.iter().rposition(|c| matches!(c, b' ' | b'\t')) } else { None };
                    let rest = blank.map_or_else(Vec::new, |blank| line.split_off(blank + 1));
                    out.push(&line);
                    out.byte(b'\n');
                    line = rest;
                    column = line.iter().fold(0, |column, byte| self.advance(column, *byte));
                    after = self.advance(column, byte);
                }
                line.push(byte);
                column = after;
            }
        }
        out.push(&line);
        Ok(())
    }

    fn advance(&self, column: usize, byte: u8) -> usize {
        match byte {
            _ if self.bytes => column + 1,
            8 => column.saturating_sub(1),
            b'\r' => 0,
            b'\t' => column + 8 - column % 8,
            _ => column + 1,
        }
    }
}
