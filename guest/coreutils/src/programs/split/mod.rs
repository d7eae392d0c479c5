//! `split`: splits a file into pieces.

mod chunks;
mod options;
mod output;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::{Errno, text};

use crate::lines::{Lines, complain};
use options::{Division, Settings};
use output::{Failure, Outputs};

/// `split`.
pub(crate) const PROGRAM: Program = Program {
    name: "split",
    operands: &["[OPTION]... [FILE [PREFIX]]"],
    about: "Output pieces of FILE to PREFIXaa, PREFIXab, ...; default size is 1000 lines, and default PREFIX is 'x'.\n\
            With no FILE, or when FILE is -, read standard input.\n\
            CHUNKS may be: N, K/N (to standard output), l/N, l/K/N (without splitting lines), r/N, r/K/N (round robin).",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "suffix-length", "generate suffixes of length N (default 2)").takes("N"),
        Opt::long("additional-suffix", "append an additional SUFFIX to file names").takes("SUFFIX"),
        Opt::flag('b', "bytes", "put SIZE bytes per output file").takes("SIZE"),
        Opt::flag('C', "line-bytes", "put at most SIZE bytes of records per output file").takes("SIZE"),
        Opt::letter('d', "numeric-suffixes", "use numeric suffixes starting at 0, not alphabetic"),
        Opt::long("numeric-suffixes", "same as -d, but allow setting the start value").may_take("FROM"),
        Opt::letter('x', "hex-suffixes", "use hex suffixes starting at 0, not alphabetic"),
        Opt::long("hex-suffixes", "same as -x, but allow setting the start value").may_take("FROM"),
        Opt::flag('e', "elide-empty-files", "do not generate empty output files with '-n'"),
        Opt::long("filter", "write to shell COMMAND; file name is $FILE").takes("COMMAND"),
        Opt::flag('l', "lines", "put NUMBER lines/records per output file").takes("NUMBER"),
        Opt::flag('n', "number", "generate CHUNKS output files; see explanation above").takes("CHUNKS"),
        Opt::flag('t', "separator", "use SEP instead of newline as the record separator").takes("SEP"),
        Opt::flag('u', "unbuffered", "immediately copy input to output with '-n r/...'"),
        Opt::long("verbose", "print a diagnostic just before each output file is opened"),
        Opt::number("old-lines"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    call.at_most(2)?;
    let path = call.operands.first().map_or("-", String::as_str);
    let input = Input::open(path).map_err(|errno| {
        let shown = isopod_gnu::quote::shell(path);
        call.failed(&format!("cannot open {shown} for reading: {}", text(errno)))
    })?;
    let mut outputs = Outputs::new(call, &settings);
    let result = match settings.division {
        Division::Lines(count) => by_lines(Lines::new(input, settings.separator), count, &settings, &mut outputs),
        Division::Bytes(count) => by_bytes(&input, count, &mut outputs),
        Division::LineBytes(count) => {
            by_line_bytes(Lines::new(input, settings.separator), count, &settings, &mut outputs)
        }
        Division::Chunks(ref chunks) => chunks::split(input, chunks, &settings, &mut outputs),
    };
    match result.and_then(|()| outputs.close()) {
        Ok(()) => Ok(outputs.code),
        Err(Failure::Unread(errno)) => Err(complain(call, path, errno)),
        Err(Failure::Reported) => Err(1),
        Err(Failure::Unwritten(file, errno)) => Err(call.failed(&format!("{file}: {}", text(errno)))),
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        Failure::Unread(errno)
    }
}

fn by_lines(mut lines: Lines, count: u64, settings: &Settings, outputs: &mut Outputs) -> Result<(), Failure> {
    let mut number = 0;
    while let Some(line) = lines.next()? {
        if number % count == 0 {
            outputs.next()?;
        }
        number += 1;
        outputs.write(line)?;
        if lines.is_complete() {
            outputs.write(&[settings.separator])?;
        }
    }
    Ok(())
}

fn by_bytes(input: &Input, count: u64, outputs: &mut Outputs) -> Result<(), Failure> {
    let mut room = 0;
    loop {
        let piece = input.read()?;
        let mut rest = piece.as_slice();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            if room == 0 {
                outputs.next()?;
                room = count;
            }
            let here = room.min(rest.len() as u64) as usize;
            outputs.write(&rest[..here])?;
            room -= here as u64;
            rest = &rest[here..];
        }
    }
}

/// Writes as many whole lines as fit; a line that is longer than a file is cut.
fn by_line_bytes(mut lines: Lines, count: u64, settings: &Settings, outputs: &mut Outputs) -> Result<(), Failure> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut room = 0;
    while let Some(line) = lines.next()? {
        let mut whole = line.to_vec();
        if lines.is_complete() {
            whole.push(settings.separator);
        }
        let mut rest = whole.as_slice();
        if rest.len() > room {
            room = 0;
        }
        while !rest.is_empty() {
            if room == 0 {
                outputs.next()?;
                room = count;
            }
            let here = room.min(rest.len());
            outputs.write(&rest[..here])?;
            room -= here;
            rest = &rest[here..];
        }
    }
    Ok(())
}
