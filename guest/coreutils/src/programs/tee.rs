//! `tee`: copies standard input to files and to standard output.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{name, plain};
use isopod_sys::files::OpenFlags;
use isopod_sys::process::{self, Disposition};
use isopod_sys::{Errno, Fd, text, write_all};

/// `tee`.
pub(crate) const PROGRAM: Program = Program {
    name: "tee",
    operands: &["[OPTION]... [FILE]..."],
    about: "Copy standard input to each FILE, and also to standard output.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "append", "append to the given FILEs, do not overwrite"),
        Opt::flag('i', "ignore-interrupts", "ignore interrupt signals"),
        Opt::letter('p', "p", "diagnose errors writing to non pipes"),
        Opt::long("output-error", "set behavior on write error: warn, warn-nopipe, exit, exit-nopipe").may_take("MODE"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

const PIPE: u8 = 13;
const INT: u8 = 2;

/// The treatment of write errors.
#[derive(Clone, Copy)]
struct OnError {
    exit: bool,
    /// A pipe without a reader is an error too.
    pipes: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mode = match call.options.iter().rev().find(|found| matches!(found.option, "p" | "output-error")) {
        None => None,
        Some(found) => Some(match found.value.as_deref() {
            None | Some("warn-nopipe") => OnError { exit: false, pipes: false },
            Some("warn") => OnError { exit: false, pipes: true },
            Some("exit") => OnError { exit: true, pipes: true },
            Some("exit-nopipe") => OnError { exit: true, pipes: false },
            Some(wrong) => {
                return Err(call.misused(&format!("invalid argument {} for '--output-error'", plain(wrong))));
            }
        }),
    };
    if mode.is_some() {
        // The call can only fail on a number that is no signal.
        let _ = process::on_signal(PIPE, Disposition::Ignore);
    }
    if call.has("ignore-interrupts") {
        let _ = process::on_signal(INT, Disposition::Ignore);
    }
    let mode = mode.unwrap_or(OnError { exit: false, pipes: true });
    let flags =
        OpenFlags::WRITE | OpenFlags::CREATE | if call.has("append") { OpenFlags::APPEND } else { OpenFlags::TRUNCATE };
    let mut code = 0;
    let mut outputs = vec![("standard output", Fd::from_raw(1))];
    for path in &call.operands {
        match Fd::open(path, flags, 0o666) {
            Ok(file) => outputs.push((path, file)),
            Err(errno) => {
                call.complain(&format!("{}: {}", name(path), text(errno)));
                code = 1;
            }
        }
    }
    let input = Input::open("-").map_err(|_| 1)?;
    while !outputs.is_empty() {
        let piece = match input.read() {
            Ok(piece) => piece,
            Err(errno) => {
                call.complain(&format!("read error: {}", text(errno)));
                code = 1;
                break;
            }
        };
        if piece.is_empty() {
            break;
        }
        let mut stop = false;
        outputs.retain(|(path, file)| match write_all(file.raw(), &piece) {
            Ok(()) => true,
            Err(Errno::Pipe) if !mode.pipes => false,
            Err(errno) => {
                call.complain(&format!("{}: {}", name(path), text(errno)));
                code = 1;
                stop |= mode.exit;
                false
            }
        });
        if stop {
            break;
        }
    }
    Ok(code)
}
