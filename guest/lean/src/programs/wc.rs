//! `wc`: lines, words and bytes.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, text};

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, read_file};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{quote, width};
use memchr::memchr_iter;

/// `wc`.
pub(crate) const PROGRAM: Program = Program {
    name: "wc",
    operands: &["[OPTION]... [FILE]...", "[OPTION]... --files0-from=F"],
    about: "Print newline, word, and byte counts for each FILE, and a total line if more than one FILE is specified.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('c', "bytes", "print the byte counts"),
        Opt::flag('m', "chars", "print the character counts"),
        Opt::flag('l', "lines", "print the newline counts"),
        Opt::long("files0-from", "read input from the files specified by NUL-terminated names in file F").takes("F"),
        Opt::flag('L', "max-line-length", "print the maximum display width"),
        Opt::flag('w', "words", "print the word counts"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The most bytes that are read of a list of names.
const MOST_NAMES: usize = 64 << 20;

/// The counts that are printed.
#[derive(Clone, Copy)]
struct Selection {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    longest: bool,
}

#[derive(Default)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    longest: u64,
}

fn run(call: &Call) -> Result<u8, u8> {
    let none = !["bytes", "chars", "lines", "max-line-length", "words"].iter().any(|option| call.has(option));
    let wanted = Selection {
        lines: none || call.has("lines"),
        words: none || call.has("words"),
        chars: call.has("chars"),
        bytes: none || call.has("bytes"),
        longest: call.has("max-line-length"),
    };
    let listed = names_from(call)?;
    let (inputs, named) = match &listed {
        Some(names) => (names.iter().map(String::as_str).collect(), true),
        None => (or_standard_input(&call.operands), !call.operands.is_empty()),
    };
    let number_width = if listed.is_some() { 1 } else { wanted.width(&inputs) };
    let mut out = Out::new();
    let mut total = Counts::default();
    let mut code = 0;
    for path in &inputs {
        let shown = if named { Some(*path) } else { None };
        let mut counts = Counts::default();
        let result = if path.is_empty() {
            call.complain("invalid zero-length file name");
            code = 1;
            continue;
        } else {
            Input::open(path).and_then(|input| counts.read(&input, wanted))
        };
        if let Err(errno) = result {
            call.complain(&format!("{}: {}", quote::name(path), text(errno)));
            code = 1;
            // A file that was opened and could not be read has its line all the same.
            if Input::open(path).is_err() {
                continue;
            }
        }
        counts.print(wanted, number_width, shown, &mut out);
        total.add(&counts);
    }
    if inputs.len() > 1 {
        total.print(wanted, number_width, Some("total"), &mut out);
    }
    Ok(call.finish(out, code))
}

fn names_from(call: &Call) -> Result<Option<Vec<String>>, u8> {
    let Some(from) = call.value("files0-from") else { return Ok(None) };
    if let Some(extra) = call.operands.first() {
        call.complain(&format!("extra operand {}", quote::plain(extra)));
        call.complain("file operands cannot be combined with --files0-from");
        return Err(call.hint());
    }
    let bytes = match from {
        "-" => Input::open("-").and_then(|input| input.read_all()),
        path => read_file(path, MOST_NAMES),
    };
    let bytes = bytes.map_err(|errno| {
        call.complain(&format!("cannot open {} for reading: {}", quote::shell(from), text(errno)));
        1
    })?;
    let list = String::from_utf8_lossy(&bytes).into_owned();
    let list = list.strip_suffix('\0').unwrap_or(&list);
    Ok(Some(if list.is_empty() { Vec::new() } else { list.split('\0').map(str::to_owned).collect() }))
}

impl Selection {
    fn count(self) -> usize {
        [self.lines, self.words, self.chars, self.bytes, self.longest].into_iter().filter(|wanted| *wanted).count()
    }

    /// Returns the width of numbers: that of the sum of all sizes, and at least seven if a file has no size.
    fn width(self, inputs: &[&str]) -> usize {
        if inputs.len() == 1 && self.count() == 1 {
            return 1;
        }
        let (mut total, mut least) = (0, 1);
        for path in inputs {
            let found = if *path == "-" { files::stat_fd(0) } else { files::stat(path, true) };
            match found {
                Ok(found) if found.kind == Kind::File => total += found.size,
                Ok(_) => least = 7,
                Err(_) => {}
            }
        }
        total.to_string().len().max(least)
    }
}

impl Counts {
    fn read(&mut self, input: &Input, wanted: Selection) -> Result<(), Errno> {
        let by_character = wanted.chars || wanted.words || wanted.longest;
        let mut text = Text::default();
        // Bytes of a character that the last piece cut in two.
        let mut rest: Vec<u8> = Vec::new();
        loop {
            let piece = input.read()?;
            self.bytes += piece.len() as u64;
            if piece.is_empty() {
                break;
            }
            if wanted.lines {
                self.lines += memchr_iter(b'\n', &piece).count() as u64;
            }
            if by_character {
                let joined = if rest.is_empty() { piece } else { [rest.as_slice(), &piece].concat() };
                let used = text.read(&joined, false);
                rest = joined[used..].to_vec();
            }
        }
        text.read(&rest, true);
        (self.words, self.chars) = (text.words + u64::from(text.in_word), text.chars);
        self.longest = text.longest.max(text.column);
        Ok(())
    }

    fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.words += other.words;
        self.chars += other.chars;
        self.bytes += other.bytes;
        self.longest = self.longest.max(other.longest);
    }

    fn print(&self, wanted: Selection, width: usize, name: Option<&str>, out: &mut Out) {
        let columns = [
            (wanted.lines, self.lines),
            (wanted.words, self.words),
            (wanted.chars, self.chars),
            (wanted.bytes, self.bytes),
            (wanted.longest, self.longest),
        ];
        let numbers: Vec<String> =
            columns.iter().filter(|(wanted, _)| *wanted).map(|(_, number)| format!("{number:>width$}")).collect();
        let mut line = numbers.join(" ");
        if let Some(name) = name {
            line.push(' ');
            // A newline in a name would make two lines of one.
            line.push_str(&if name.contains('\n') { quote::shell(name) } else { name.to_owned() });
        }
        line.push('\n');
        out.push(line.as_bytes());
    }
}

/// Counts that go by character.
#[derive(Default)]
struct Text {
    words: u64,
    chars: u64,
    longest: u64,
    column: u64,
    in_word: bool,
}

impl Text {
    /// Counts bytes and returns the number used: all, unless the last character is cut and more may come.
    fn read(&mut self, bytes: &[u8], ended: bool) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte < 0x80 {
                self.chars += 1;
                self.ascii(byte);
                at += 1;
                continue;
            }
            let length = match byte {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => 1,
            };
            let Some(encoded) = bytes.get(at..at + length) else {
                if !ended {
                    return at;
                }
                at += 1;
                continue;
            };
            match std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next()) {
                Some(c) => {
                    self.chars += 1;
                    self.wide(c);
                    at += length;
                }
                // A byte that is no character counts as a byte only.
                None => at += 1,
            }
        }
        bytes.len()
    }

    fn ascii(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\r' | b'\x0c' => {
                self.longest = self.longest.max(self.column);
                self.column = 0;
                self.end_word();
            }
            b'\t' => {
                self.column += 8 - self.column % 8;
                self.end_word();
            }
            b' ' => {
                self.column += 1;
                self.end_word();
            }
            b'\x0b' => self.end_word(),
            0x21..0x7f => {
                self.column += 1;
                self.in_word = true;
            }
            _ => {}
        }
    }

    fn wide(&mut self, c: char) {
        self.column += width::of(c) as u64;
        if c.is_whitespace() {
            self.end_word();
        } else if !c.is_control() {
            self.in_word = true;
        }
    }

    fn end_word(&mut self) {
        self.words += u64::from(std::mem::take(&mut self.in_word));
    }
}
