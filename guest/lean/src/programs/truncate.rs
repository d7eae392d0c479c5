//! `truncate`: cuts or grows files to a size.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};
use isopod_gnu::size;
use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, process, text};

/// `truncate`.
pub(crate) const PROGRAM: Program = Program {
    name: "truncate",
    operands: &["OPTION... FILE..."],
    about: "Shrink or extend the size of each FILE to the specified size.\n\
            SIZE may be prefixed by: '+' extend by, '-' reduce by, '<' at most, '>' at least,\n\
            '/' round down to multiple of, '%' round up to multiple of.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('c', "no-create", "do not create any files"),
        Opt::flag('o', "io-blocks", "treat SIZE as number of IO blocks instead of bytes"),
        Opt::flag('r', "reference", "base size on RFILE").takes("RFILE"),
        Opt::flag('s', "size", "set or adjust the file size by SIZE bytes").takes("SIZE"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The block size of the sandbox's file systems.
const BLOCK: u64 = 4096;

fn run(call: &Call) -> Result<u8, u8> {
    let change = match call.value("size") {
        Some(text) => Some(parse(text).ok_or_else(|| {
            call.complain(&format!("Invalid number: {}", plain(text)));
            1
        })?),
        None => None,
    };
    if change.is_none() && !call.has("reference") {
        return Err(call.misused("you must specify either '--size' or '--reference'"));
    }
    if call.has("reference") && change.is_some_and(|(sign, _)| sign.is_none()) {
        return Err(call.misused("you must specify a relative '--size' with '--reference'"));
    }
    if call.has("io-blocks") && change.is_none() {
        return Err(call.misused("'--io-blocks' was specified but '--size' was not"));
    }
    if matches!(change, Some((Some('/' | '%'), 0))) {
        call.complain("division by zero");
        return Err(1);
    }
    if call.operands.is_empty() {
        return Err(call.misused("missing file operand"));
    }
    let reference = match call.value("reference") {
        None => None,
        Some(path) => Some(files::stat(path, true).map(|found| found.size).map_err(|errno| {
            call.complain(&format!("cannot stat {}: {}", shell(path), text(errno)));
            1
        })?),
    };
    let mut code = 0;
    for path in &call.operands {
        if let Err(message) = truncate(call, path, change, reference) {
            call.complain(&message);
            code = 1;
        }
    }
    Ok(code)
}

/// Reads a sign and a number.
fn parse(text: &str) -> Option<(Option<char>, u64)> {
    let text = text.trim_start();
    let sign = text.chars().next().filter(|c| "+-<>/%".contains(*c));
    let number = &text[sign.map_or(0, char::len_utf8)..];
    size::parse(number).map(|size| (sign, size))
}

fn truncate(
    call: &Call,
    path: &str,
    change: Option<(Option<char>, u64)>,
    reference: Option<u64>,
) -> Result<(), String> {
    match files::stat(path, true) {
        Ok(_) => {}
        Err(Errno::NoEntry) if call.has("no-create") => return Ok(()),
        Err(Errno::NoEntry) => {
            let made = Fd::open(path, OpenFlags::WRITE | OpenFlags::CREATE, 0o666);
            made.map_err(|errno| format!("cannot open {} for writing: {}", shell(path), text(errno)))?;
        }
        Err(errno) => return Err(format!("cannot open {} for writing: {}", shell(path), text(errno))),
    }
    let own = files::stat(path, true).map_err(|e| format!("cannot fstat {}: {}", shell(path), text(e)))?.size;
    let old = reference.unwrap_or(own);
    let new = match change {
        None => old,
        Some((sign, number)) => {
            let number = if call.has("io-blocks") { number.saturating_mul(BLOCK) } else { number };
            match sign {
                None => number,
                Some('+') => old.saturating_add(number),
                Some('-') => old.saturating_sub(number),
                Some('<') => old.min(number),
                Some('>') => old.max(number),
                Some('/') => old / number * number,
                Some(_) => old.div_ceil(number).saturating_mul(number),
            }
        }
    };
    let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", process::cwd()) };
    let result = std::fs::OpenOptions::new().write(true).open(absolute).and_then(|file| file.set_len(new));
    result.map_err(|error| {
        let why = error.raw_os_error().and_then(isopod_sys::from_number).map_or("File too large", text);
        format!("failed to truncate {} at {new} bytes: {why}", shell(path))
    })
}
