//! `numfmt`: converts numbers with units.

mod amount;
mod options;

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use crate::lines::Lines;
use options::{Invalid, Settings};

/// `numfmt`.
pub(crate) const PROGRAM: Program = Program {
    name: "numfmt",
    operands: &["[OPTION]... [NUMBER]..."],
    about: "Reformat NUMBER(s), or the numbers from standard input if none are specified.\n\
            UNIT is none, si (1K = 1000), iec (1K = 1024), iec-i (1Ki = 1024) or auto (for --from).",
    syntax: Syntax::Mixed,
    options: &[
        Opt::long("debug", "print warnings about invalid input"),
        Opt::flag('d', "delimiter", "use X instead of whitespace for field delimiter").takes("X"),
        Opt::long("field", "replace the numbers in these input fields (default=1)").takes("FIELDS"),
        Opt::long("format", "use printf style floating-point FORMAT").takes("FORMAT"),
        Opt::long("from", "auto-scale input numbers to UNITs").takes("UNIT"),
        Opt::long("from-unit", "specify the input unit size (instead of the default 1)").takes("N"),
        Opt::long("grouping", "use locale-defined grouping of digits: this locale has none"),
        Opt::long("header", "print (without converting) the first N header lines").may_take("N"),
        Opt::long("invalid", "failure mode for invalid numbers: abort, fail, warn, ignore").takes("MODE"),
        Opt::long("padding", "pad the output to N characters; negative N will left-align").takes("N"),
        Opt::long("round", "use METHOD for rounding: up, down, from-zero, towards-zero, nearest").takes("METHOD"),
        Opt::long("suffix", "add SUFFIX to output numbers, and accept optional SUFFIX in input numbers")
            .takes("SUFFIX"),
        Opt::long("to", "auto-scale output numbers to UNITs").takes("UNIT"),
        Opt::long("to-unit", "the output unit size (instead of the default 1)").takes("N"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let mut out = Out::new();
    let mut failed = false;
    let mut line = |text: &[u8], out: &mut Out| -> Result<(), u8> {
        let fine = process(call, &settings, text, out)?;
        failed |= !fine;
        out.byte(settings.end);
        Ok(())
    };
    if call.operands.is_empty() {
        let unread = |errno| call.failed(&format!("error reading input: {}", isopod_sys::text(errno)));
        let mut lines = Lines::open("-", settings.end).map_err(unread)?;
        let mut number = 0;
        while let Some(text) = lines.next().map_err(unread)? {
            number += 1;
            if number <= settings.header {
                out.push(text);
                out.byte(settings.end);
                continue;
            }
            let text = text.to_vec();
            line(&text, &mut out).inspect_err(|_| out.flush())?;
        }
    } else {
        for text in &call.operands {
            line(text.as_bytes(), &mut out).inspect_err(|_| out.flush())?;
        }
    }
    Ok(call.finish(out, if failed { 2 } else { 0 }))
}

/// Writes a line with its numbers converted. Returns false if a field was no number.
fn process(call: &Call, settings: &Settings, line: &[u8], out: &mut Out) -> Result<bool, u8> {
    let mut fine = true;
    let mut at = 0;
    let mut number = 0;
    loop {
        number += 1;
        let end = match settings.delimiter {
            Some(delimiter) => memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |found| at + found),
            None => {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
                let start = line[at..].iter().position(|byte| !blank(byte)).map_or(line.len(), |found| at + found);
                line[start..].iter().position(blank).map_or(line.len(), |found| start + found)
            }
        };
        let field = &line[at..end];
        if settings.has_field(number) {
            match settings.convert(&String::from_utf8_lossy(field), number) {
                Ok(text) => out.push(text.as_bytes()),
                Err(message) => {
                    if settings.invalid != Invalid::Ignore {
                        out.flush();
                        call.complain(&message);
                    }
                    if settings.invalid == Invalid::Abort {
                        return Err(2);
                    }
                    fine &= settings.invalid != Invalid::Fail;
                    out.push(field);
                }
            }
        } else {
            out.push(field);
        }
        if end == line.len() {
            return Ok(fine);
        }
        out.byte(settings.delimiter.unwrap_or(b' '));
        at = end + 1;
    }
}
