//! `strings`: prints the printable texts of a file.

use isopod_gnu::input::Input;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::Errno;

use crate::lines::complain;

/// `strings`.
pub(crate) const PROGRAM: Program = Program {
    name: "strings",
    operands: &["[OPTION]... [FILE]..."],
    about: "Display printable strings in FILE(s), or in standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all", "scan the entire file (this is always done)"),
        Opt::flag('f', "print-file-name", "print the name of the file before each string"),
        Opt::flag('n', "bytes", "print any sequence of at least NUMBER displayable characters").takes("NUMBER"),
        Opt::flag('t', "radix", "print the location of the string in base 8, 10 or 16: o, d, x").takes("RADIX"),
        Opt::letter('o', "o", "an alias for --radix=o"),
        Opt::flag('w', "include-all-whitespace", "include all whitespace as valid string characters"),
        Opt::flag('s', "output-separator", "string used to separate strings in output").takes("STRING"),
        Opt::flag('e', "encoding", "character size: s and S are supported").takes("ENCODING"),
        Opt::number("bytes"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

struct Search<'a> {
    least: usize,
    radix: Option<char>,
    whitespace: bool,
    high: bool,
    separator: &'a str,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut search = Search {
        least: 4,
        radix: None,
        whitespace: call.has("include-all-whitespace"),
        high: false,
        separator: call.value("output-separator").unwrap_or("\n"),
    };
    for GivenOption { option, value } in &call.options {
        let text = value.as_deref().unwrap_or_default();
        match *option {
            "bytes" => search.least = number(call, text)?,
            "o" => search.radix = Some('o'),
            "radix" => match text {
                "o" | "d" | "x" => search.radix = text.chars().next(),
                _ => return Err(call.misused(&format!("invalid radix '{text}'"))),
            },
            "encoding" => match text {
                "s" => search.high = false,
                "S" => search.high = true,
                _ => {
                    return Err(call.failed(&format!("unsupported encoding '{text}'")));
                }
            },
            _ => {}
        }
    }
    let mut out = Out::new();
    let mut code = 0;
    let standard = ["-".to_owned()];
    let paths = if call.operands.is_empty() { standard.as_slice() } else { &call.operands };
    for path in paths {
        let name = call.has("print-file-name").then_some(if path == "-" { "{standard input}" } else { path });
        let result = Input::open(path).and_then(|input| search.run(&input, name, &mut out));
        match result {
            Ok(()) => {}
            Err(Errno::NoEntry) => {
                call.complain(&format!("'{path}': No such file"));
                code = 1;
            }
            Err(Errno::IsDirectory) => {
                call.complain(&format!("Warning: '{path}' is a directory"));
                code = 1;
            }
            Err(errno) => {
                code = complain(call, path, errno);
            }
        }
    }
    Ok(call.finish(out, code))
}

fn number(call: &Call, text: &str) -> Result<usize, u8> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| call.failed(&format!("invalid minimum string length {text}")))
}

impl Search<'_> {
    fn is_printable(&self, byte: u8) -> bool {
        (0x20..0x7f).contains(&byte)
            || byte == b'\t'
            || self.high && byte >= 0x80
            || self.whitespace && (9..=13).contains(&byte)
    }

    fn run(&self, input: &Input, name: Option<&str>, out: &mut Out) -> Result<(), Errno> {
        let mut found: Vec<u8> = Vec::new();
        let mut offset = 0u64;
        loop {
            let piece = input.read()?;
            for &byte in &piece {
                if self.is_printable(byte) {
                    found.push(byte);
                } else {
                    self.print(&mut found, offset, name, out);
                }
                offset += 1;
            }
            if piece.is_empty() || out.has_failed() {
                self.print(&mut found, offset, name, out);
                return Ok(());
            }
        }
    }

    fn print(&self, found: &mut Vec<u8>, end: u64, name: Option<&str>, out: &mut Out) {
        if found.len() >= self.least {
            let start = end - found.len() as u64;
            if let Some(name) = name {
                out.push(format!("{name}: ").as_bytes());
            }
            match self.radix {
                Some('o') => out.push(format!("{start:7o} ").as_bytes()),
                Some('d') => out.push(format!("{start:7} ").as_bytes()),
                Some(_) => out.push(format!("{start:7x} ").as_bytes()),
                None => {}
            }
            out.push(found);
            out.push(self.separator.as_bytes());
        }
        found.clear();
    }
}
