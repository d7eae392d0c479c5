//! `cat`: files, one after the other.

use isopod_sys::files::{self, Kind, OpenFlags};
use isopod_sys::{Errno, Fd, text};

use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, PIECE};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `cat`.
pub(crate) const PROGRAM: Program = Program {
    name: "cat",
    operands: &["[OPTION]... [FILE]..."],
    about: "Concatenate FILE(s) to standard output.\nWith no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('A', "show-all", "equivalent to -vET"),
        Opt::flag('b', "number-nonblank", "number nonempty output lines, overrides -n"),
        Opt::letter('e', "e", "equivalent to -vE"),
        Opt::flag('E', "show-ends", "display $ at end of each line"),
        Opt::flag('n', "number", "number all output lines"),
        Opt::flag('s', "squeeze-blank", "suppress repeated empty output lines"),
        Opt::letter('t', "t", "equivalent to -vT"),
        Opt::flag('T', "show-tabs", "display TAB characters as ^I"),
        Opt::letter('u', "u", "(ignored: output is never held back)"),
        Opt::flag('v', "show-nonprinting", "use ^ and M- notation, except for LFD and TAB"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let mut format = Format::default();
    for found in &call.options {
        match found.option {
            "show-all" => (format.visible, format.ends, format.tabs) = (true, true, true),
            "number-nonblank" => format.number_filled = true,
            "e" => (format.visible, format.ends) = (true, true),
            "show-ends" => format.ends = true,
            "number" => format.number_all = true,
            "squeeze-blank" => format.squeeze = true,
            "t" => (format.visible, format.tabs) = (true, true),
            "show-tabs" => format.tabs = true,
            "show-nonprinting" => format.visible = true,
            _ => {}
        }
    }
    // `-b` wins over `-n`, whatever their order.
    format.number_all &= !format.number_filled;

    let mut out = Out::new();
    let mut code = 0;
    let standard_input = ["-".to_owned()];
    let operands = if call.operands.is_empty() { standard_input.as_slice() } else { &call.operands };
    for path in operands {
        if let Err(message) = copy(path, &mut format, &mut out) {
            call.complain(&format!("{}: {message}", quote::name(path)));
            code = 1;
        }
        if out.has_failed() {
            break;
        }
    }
    if format.held_return {
        out.byte(b'\r');
    }
    call.finish(out, code)
}

fn copy(path: &str, format: &mut Format, out: &mut Out) -> Result<(), &'static str> {
    let opened;
    let fd = if path == "-" {
        0
    } else {
        opened = Fd::open(path, OpenFlags::READ, 0).map_err(text)?;
        opened.raw()
    };
    if feeds_itself(fd) {
        return Err("input file is output file");
    }
    loop {
        let piece = match files::read(fd, PIECE as u32, None) {
            Ok(piece) => piece,
            Err(Errno::Interrupted) => continue,
            Err(errno) => return Err(text(errno)),
        };
        if piece.is_empty() {
            return Ok(());
        }
        if format.is_plain() {
            out.write(&piece);
        } else {
            format.apply(&piece, out);
            // Data from a pipe is written as it comes.
            out.flush();
        }
        if out.has_failed() {
            return Ok(());
        }
    }
}

/// Returns true if standard output is the file that is read: copying it would never end.
fn feeds_itself(fd: u32) -> bool {
    let (Ok(output), Ok(input)) = (files::stat_fd(1), files::stat_fd(fd)) else {
        return false;
    };
    output.kind == Kind::File
        && input.kind == Kind::File
        && (output.device, output.inode) == (input.device, input.inode)
        && files::seek(fd, 0, files::Whence::Current).is_ok_and(|offset| offset < input.size)
}

/// The notation of bytes, and the position in a line at which the last piece ended.
#[derive(Default)]
struct Format {
    number_all: bool,
    number_filled: bool,
    ends: bool,
    squeeze: bool,
    tabs: bool,
    visible: bool,
    line: u64,
    /// Newlines seen in a row, less one for the end of a line that has text: 1 or more is an empty line, -1 is
    /// inside a line. It goes on from one file to the next.
    newlines: i8,
    /// A carriage return was read: it is shown as `^M` if a newline follows, and as itself otherwise.
    held_return: bool,
}

impl Format {
    fn is_plain(&self) -> bool {
        !(self.number_all || self.number_filled || self.ends || self.squeeze || self.tabs || self.visible)
    }

    fn apply(&mut self, bytes: &[u8], out: &mut Out) {
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line(out);
                continue;
            }
            if std::mem::take(&mut self.held_return) {
                out.byte(b'\r');
            }
            if self.newlines >= 0 && (self.number_all || self.number_filled) {
                self.number(out);
            }
            self.newlines = -1;
            match byte {
                b'\t' if self.tabs => out.push(b"^I"),
                b'\r' if self.ends && !self.visible => self.held_return = true,
                byte if self.visible => show(byte, out),
                byte => out.byte(byte),
            }
        }
    }

    fn end_line(&mut self, out: &mut Out) {
        self.newlines += 1;
        if self.newlines > 0 {
            if self.newlines >= 2 {
                self.newlines = 2;
                if self.squeeze {
                    return;
                }
            }
            if self.number_all {
                self.number(out);
            }
        }
        if std::mem::take(&mut self.held_return) {
            out.push(b"^M");
        }
        out.push(if self.ends { b"$\n" } else { b"\n" });
    }

    fn number(&mut self, out: &mut Out) {
        self.line += 1;
        out.push(format!("{:6}\t", self.line).as_bytes());
    }
}

/// Writes a byte in `^` and `M-` notation.
fn show(byte: u8, out: &mut Out) {
    let low = byte & 0x7f;
    if byte >= 0x80 {
        out.push(b"M-");
    }
    match low {
        b'\t' if byte < 0x80 => out.byte(b'\t'),
        0x7f => out.push(b"^?"),
        0..0x20 => out.push(&[b'^', low + 0x40]),
        low => out.byte(low),
    }
}
