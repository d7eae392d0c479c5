//! `paste`: joins lines of several files side by side.

use isopod_gnu::input::or_standard_input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;

use crate::lines::{Lines, complain};

/// `paste`.
pub(crate) const PROGRAM: Program = Program {
    name: "paste",
    operands: &["[OPTION]... [FILE]..."],
    about: "Write lines consisting of the sequentially corresponding lines from each FILE, separated by TABs.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('d', "delimiters", "reuse characters from LIST instead of TABs").takes("LIST"),
        Opt::flag('s', "serial", "paste one file at a time instead of in parallel"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let list = call.value("delimiters").unwrap_or("\t");
    let delimiters = delimiters(list)
        .ok_or_else(|| call.failed(&format!("delimiter list ends with an unescaped backslash: {}", plain(list))))?;
    let end = if call.has("zero-terminated") { 0 } else { b'\n' };
    let mut out = Out::new();
    let code = if call.has("serial") {
        serial(call, &delimiters, end, &mut out)
    } else {
        parallel(call, &delimiters, end, &mut out)?
    };
    Ok(call.finish(out, code))
}

/// Reads the delimiters, which are used in turn; `\0` is an empty one.
fn delimiters(list: &str) -> Option<Vec<Option<u8>>> {
    let mut delimiters = Vec::new();
    let mut bytes = list.bytes();
    while let Some(byte) = bytes.next() {
        delimiters.push(match byte {
            b'\\' => match bytes.next()? {
                b'0' => None,
                b'b' => Some(8),
                b'f' => Some(12),
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                b'v' => Some(11),
                other => Some(other),
            },
            byte => Some(byte),
        });
    }
    if delimiters.is_empty() {
        delimiters.push(None);
    }
    Some(delimiters)
}

fn serial(call: &Call, delimiters: &[Option<u8>], end: u8, out: &mut Out) -> u8 {
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        let mut turn = delimiters.iter().cycle();
        let mut read = || -> Result<(), Errno> {
            let mut lines = Lines::open(path, end)?;
            let mut is_first = true;
            while let Some(line) = lines.next()? {
                if !is_first {
                    turn.next().copied().flatten().into_iter().for_each(|byte| out.byte(byte));
                }
                is_first = false;
                out.push(line);
            }
            out.byte(end);
            Ok(())
        };
        if let Err(errno) = read() {
            code = complain(call, path, errno);
        }
    }
    code
}

fn parallel(call: &Call, delimiters: &[Option<u8>], end: u8, out: &mut Out) -> Result<u8, u8> {
    let paths = or_standard_input(&call.operands);
    // Standard input may be named several times; its lines are dealt out in turn.
    let mut standard: Option<Lines> = None;
    let mut inputs: Vec<Option<Lines>> = Vec::new();
    let fatal = |path: &str, errno| complain(call, path, errno);
    let mut ended = vec![false; paths.len()];
    let mut code = 0;
    for (index, path) in paths.iter().enumerate() {
        let lines = match Lines::open(path, end) {
            Ok(lines) => lines,
            // A directory can be opened, and has no lines.
            Err(Errno::IsDirectory) => {
                code = fatal(path, Errno::IsDirectory);
                ended[index] = true;
                inputs.push(None);
                continue;
            }
            Err(errno) => return Err(fatal(path, errno)),
        };
        if *path == "-" {
            standard = Some(lines);
            inputs.push(None);
        } else {
            inputs.push(Some(lines));
        }
    }
    let mut row: Vec<u8> = Vec::new();
    loop {
        let mut any = false;
        row.clear();
        for index in 0..paths.len() {
            if index > 0 {
                row.extend(delimiters[(index - 1) % delimiters.len()]);
            }
            if ended[index] {
                continue;
            }
            let Some(lines) = inputs[index].as_mut().or(standard.as_mut()) else { continue };
            match lines.next() {
                Ok(Some(line)) => {
                    any = true;
                    row.extend_from_slice(line);
                }
                Ok(None) => ended[index] = true,
                Err(errno) => {
                    code = complain(call, paths[index], errno);
                    ended[index] = true;
                }
            }
        }
        if !any || out.has_failed() {
            return Ok(code);
        }
        out.push(&row);
        out.byte(end);
    }
}
