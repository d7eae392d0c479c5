//! `iconv`: converts text from one encoding to another.

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, redirect};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::name;
use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, text};

/// `iconv`.
pub(crate) const PROGRAM: Program = Program {
    name: "iconv",
    operands: &["[OPTION]... [-f ENCODING] [-t ENCODING] [FILE]..."],
    about: "Convert encoding of given files.  Known: UTF-8, UTF-16 (LE, BE), UTF-32 (LE, BE), ISO-8859-1 (latin1),\n\
            ISO-8859-15, WINDOWS-1252 and ASCII; //TRANSLIT and //IGNORE may follow the target.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('f', "from-code", "encoding of original text").takes("NAME"),
        Opt::flag('t', "to-code", "encoding for output").takes("NAME"),
        Opt::flag('l', "list", "list all known coded character sets"),
        Opt::letter('c', "c", "omit invalid characters from output"),
        Opt::flag('o', "output", "output file").takes("FILE"),
        Opt::flag('s', "silent", "suppress warnings"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Ascii,
    Latin1,
    Latin9,
    Windows1252,
    Utf8,
    /// With a byte order mark.
    Utf16,
    Utf16Le,
    Utf16Be,
    Utf32,
    Utf32Le,
    Utf32Be,
}

fn encoding(name: &str) -> Option<Encoding> {
    let name: String = name.to_ascii_uppercase().chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    Some(match name.as_str() {
        "ASCII" | "USASCII" | "ANSIX3.41968" | "646" | "C" => Encoding::Ascii,
        "ISO88591" | "LATIN1" | "L1" | "8859" | "88591" => Encoding::Latin1,
        "ISO885915" | "LATIN9" => Encoding::Latin9,
        "WINDOWS1252" | "CP1252" => Encoding::Windows1252,
        "UTF8" => Encoding::Utf8,
        "UTF16" | "UCS2" => Encoding::Utf16,
        "UTF16LE" | "UCS2LE" => Encoding::Utf16Le,
        "UTF16BE" | "UCS2BE" => Encoding::Utf16Be,
        "UTF32" | "UCS4" => Encoding::Utf32,
        "UTF32LE" => Encoding::Utf32Le,
        "UTF32BE" => Encoding::Utf32Be,
        _ => return None,
    })
}

/// The characters of 0x80 to 0x9f in Windows-1252; 0 is none.
const WINDOWS: [u32; 32] = [
    0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178,
];

/// The characters of ISO-8859-15 that differ from ISO-8859-1.
const LATIN9: [(u8, u32); 8] = [
    (0xa4, 0x20ac),
    (0xa6, 0x160),
    (0xa8, 0x161),
    (0xb4, 0x17d),
    (0xb8, 0x17e),
    (0xbc, 0x152),
    (0xbd, 0x153),
    (0xbe, 0x178),
];

fn run(call: &Call) -> Result<u8, u8> {
    if call.has("list") {
        return Ok(call.print(
            "ASCII//\nISO-8859-1// LATIN1//\nISO-8859-15//\nUTF-16//\nUTF-16BE//\nUTF-16LE//\nUTF-32//\nUTF-32BE//\n\
             UTF-32LE//\nUTF-8//\nWINDOWS-1252// CP1252//\n",
        ));
    }
    let split = |option: &str| {
        let full = call.value(option).unwrap_or("UTF-8");
        let (name, flags) = full.split_once("//").unwrap_or((full, ""));
        (if name.is_empty() { "UTF-8" } else { name }.to_owned(), flags.to_ascii_uppercase())
    };
    let ((from_name, _), (to_name, flags)) = (split("from-code"), split("to-code"));
    let (from, to) = match (encoding(&from_name), encoding(&to_name)) {
        (Some(from), Some(to)) => (from, to),
        (None, Some(_)) => return Err(unknown(call, &format!("conversion from `{from_name}' is not supported"))),
        (Some(_), None) => return Err(unknown(call, &format!("conversion to `{to_name}' is not supported"))),
        (None, None) => {
            return Err(unknown(call, &format!("conversions from `{from_name}' and to `{to_name}' are not supported")));
        }
    };
    if let Some(path) = call.value("output") {
        redirect(path, OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE)
            .map_err(|errno| call.failed(&format!("unable to open output file: {}", text(errno))))?;
    }
    let mut job = Job {
        from,
        to,
        translates: flags.contains("TRANSLIT"),
        ignores: call.has("c") || flags.contains("IGNORE"),
        big: false,
        marked: false,
        started: false,
        position: 0,
        lost: false,
        out: Out::new(),
    };
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        match Input::open(path).map_err(Stop::Unread).and_then(|input| job.file(&input)) {
            Ok(()) => {}
            Err(stop) => {
                job.out.flush();
                code = 1;
                match stop {
                    Stop::Unread(errno) if path == "-" => {
                        call.complain(&format!("unable to read input: {}", text(errno)))
                    }
                    Stop::Unread(errno) => {
                        call.complain(&format!("cannot open input file {}: {}", name(path), text(errno)))
                    }
                    Stop::Illegal(at) => {
                        call.complain(&format!("illegal input sequence at position {at}"));
                        break;
                    }
                    Stop::Incomplete => {
                        call.complain("incomplete character or shift sequence at end of buffer");
                        break;
                    }
                }
            }
        }
    }
    // With -c, characters that were left out are no failure.
    code = code.max(u8::from(job.lost && !call.has("c")));
    Ok(call.finish(job.out, code))
}

fn unknown(call: &Call, message: &str) -> u8 {
    call.misused(message)
}

enum Stop {
    Unread(Errno),
    Illegal(u64),
    Incomplete,
}

struct Job {
    from: Encoding,
    to: Encoding,
    translates: bool,
    ignores: bool,
    /// The input is big-endian, by its byte order mark.
    big: bool,
    marked: bool,
    /// The byte order mark was written.
    started: bool,
    position: u64,
    /// Characters were left out.
    lost: bool,
    out: Out,
}

/// The result of decoding one character.
enum Decoded {
    Character(u32, usize),
    /// No character; so many bytes are skipped with -c.
    Wrong(usize),
    /// The rest of the character is not read yet.
    Short,
}

impl Job {
    fn file(&mut self, input: &Input) -> Result<(), Stop> {
        let mut rest: Vec<u8> = Vec::new();
        self.position = 0;
        self.marked = false;
        loop {
            let piece = input.read().map_err(Stop::Unread)?;
            let last = piece.is_empty();
            rest.extend_from_slice(&piece);
            let mut at = 0;
            while at < rest.len() {
                match self.decode(&rest[at..]) {
                    Decoded::Character(code, length) => {
                        let is_mark =
                            !self.marked && code == 0xfeff && matches!(self.from, Encoding::Utf16 | Encoding::Utf32);
                        self.marked = true;
                        if !is_mark {
                            self.write(code)?;
                        }
                        at += length;
                        self.position += length as u64;
                    }
                    Decoded::Wrong(length) if self.ignores => {
                        self.lost = true;
                        at += length;
                        self.position += length as u64;
                    }
                    Decoded::Wrong(_) => return Err(Stop::Illegal(self.position)),
                    Decoded::Short if last && self.ignores => {
                        self.lost = true;
                        at = rest.len();
                    }
                    Decoded::Short if last => return Err(Stop::Incomplete),
                    Decoded::Short => break,
                }
            }
            rest.drain(..at);
            if last || self.out.has_failed() {
                return Ok(());
            }
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> Decoded {
        let first = bytes[0];
        match self.from {
            Encoding::Ascii if first < 0x80 => Decoded::Character(first.into(), 1),
            Encoding::Ascii => Decoded::Wrong(1),
            Encoding::Latin1 => Decoded::Character(first.into(), 1),
            Encoding::Latin9 => {
                let other = LATIN9.iter().find(|(byte, _)| *byte == first).map(|(_, code)| *code);
                Decoded::Character(other.unwrap_or(first.into()), 1)
            }
            Encoding::Windows1252 => match first {
                0x80..0xa0 if WINDOWS[usize::from(first - 0x80)] == 0 => Decoded::Wrong(1),
                0x80..0xa0 => Decoded::Character(WINDOWS[usize::from(first - 0x80)], 1),
                first => Decoded::Character(first.into(), 1),
            },
            Encoding::Utf8 => decode_utf8(bytes),
            Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be => self.decode_16(bytes),
            Encoding::Utf32 | Encoding::Utf32Le | Encoding::Utf32Be => {
                let Some(four) = bytes.get(..4) else { return Decoded::Short };
                let four = [four[0], four[1], four[2], four[3]];
                if self.from == Encoding::Utf32 && !self.marked {
                    self.big = four == [0, 0, 0xfe, 0xff];
                }
                let big = self.from == Encoding::Utf32Be || self.from == Encoding::Utf32 && self.big;
                let code = if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) };
                if char::from_u32(code).is_some() { Decoded::Character(code, 4) } else { Decoded::Wrong(4) }
            }
        }
    }

    fn decode_16(&mut self, bytes: &[u8]) -> Decoded {
        if bytes.len() < 2 {
            return Decoded::Short;
        }
        if self.from == Encoding::Utf16 && !self.marked {
            self.big = bytes[..2] == [0xfe, 0xff];
        }
        let big = self.from == Encoding::Utf16Be || self.from == Encoding::Utf16 && self.big;
        let unit = |at: usize| {
            let pair = [bytes[at], bytes[at + 1]];
            u32::from(if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
        };
        match unit(0) {
            0xd800..0xdc00 if bytes.len() < 4 => Decoded::Short,
            high @ 0xd800..0xdc00 => match unit(2) {
                low @ 0xdc00..0xe000 => Decoded::Character(0x10000 + ((high - 0xd800) << 10) + low - 0xdc00, 4),
                _ => Decoded::Wrong(2),
            },
            0xdc00..0xe000 => Decoded::Wrong(2),
            code => Decoded::Character(code, 2),
        }
    }

    fn write(&mut self, code: u32) -> Result<(), Stop> {
        if !std::mem::replace(&mut self.started, true) && matches!(self.to, Encoding::Utf16 | Encoding::Utf32) {
            self.encode(0xfeff);
        }
        if self.encode(code) {
            return Ok(());
        }
        if self.translates {
            let similar = similar(code);
            if similar.chars().all(|c| self.encode(c.into())) {
                return Ok(());
            }
        }
        if self.ignores {
            self.lost = true;
            return Ok(());
        }
        Err(Stop::Illegal(self.position))
    }

    /// Writes a character; returns false if the target does not have it.
    fn encode(&mut self, code: u32) -> bool {
        let byte = match self.to {
            Encoding::Ascii => u8::try_from(code).ok().filter(u8::is_ascii),
            Encoding::Latin1 => u8::try_from(code).ok(),
            Encoding::Latin9 => match LATIN9.iter().find(|(_, known)| *known == code) {
                Some((byte, _)) => Some(*byte),
                None => u8::try_from(code).ok().filter(|byte| !LATIN9.iter().any(|(other, _)| other == byte)),
            },
            Encoding::Windows1252 => match WINDOWS.iter().position(|known| *known == code && code != 0) {
                Some(place) => Some(0x80 + place as u8),
                None => u8::try_from(code).ok().filter(|byte| !(0x80..0xa0).contains(byte)),
            },
            Encoding::Utf8 => {
                let Some(c) = char::from_u32(code) else { return false };
                self.out.push(c.encode_utf8(&mut [0; 4]).as_bytes());
                return true;
            }
            Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be => {
                let Some(c) = char::from_u32(code) else { return false };
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let pair = if self.to == Encoding::Utf16Be { unit.to_be_bytes() } else { unit.to_le_bytes() };
                    self.out.push(&pair);
                }
                return true;
            }
            Encoding::Utf32Be => {
                self.out.push(&code.to_be_bytes());
                return true;
            }
            Encoding::Utf32 | Encoding::Utf32Le => {
                self.out.push(&code.to_le_bytes());
                return true;
            }
        };
        byte.inspect(|byte| self.out.byte(*byte)).is_some()
    }
}

fn decode_utf8(bytes: &[u8]) -> Decoded {
    let length = match bytes[0] {
        0..0x80 => return Decoded::Character(bytes[0].into(), 1),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Decoded::Wrong(1),
    };
    let present = &bytes[..length.min(bytes.len())];
    if let Some(bad) = present.iter().skip(1).position(|byte| byte & 0xc0 != 0x80) {
        return Decoded::Wrong(bad + 1);
    }
    if present.len() < length {
        return Decoded::Short;
    }
    match std::str::from_utf8(present).ok().and_then(|text| text.chars().next()) {
        Some(c) => Decoded::Character(c.into(), length),
        None => Decoded::Wrong(1),
    }
}

/// Returns the replacement of C's library for a character that the target does not have; `?` if it has none.
fn similar(code: u32) -> &'static str {
    match code {
        0xa0 | 0x2002..=0x200a | 0x202f => " ",
        0xa9 => "(C)",
        0xab => "<<",
        0xbb => ">>",
        0xad | 0x2010..=0x2013 => "-",
        0x2014 => "-",
        0xae => "(R)",
        0xb5 => "u",
        0xb8 => ",",
        0xbc => " 1/4 ",
        0xbd => " 1/2 ",
        0xbe => " 3/4 ",
        0xc0..=0xc5 | 0x100 | 0x102 | 0x104 => "A",
        0xc7 | 0x106 | 0x108 | 0x10a | 0x10c => "C",
        0x10e => "D",
        0xc8..=0xcb | 0x112 | 0x114 | 0x116 | 0x118 | 0x11a => "E",
        0x11c | 0x11e | 0x120 | 0x122 => "G",
        0xcc..=0xcf | 0x128 | 0x12a | 0x12c | 0x12e | 0x130 => "I",
        0x139 | 0x13b | 0x13d | 0x141 => "L",
        0xd1 | 0x143 | 0x145 | 0x147 => "N",
        0xd2..=0xd6 | 0xd8 | 0x14c | 0x14e | 0x150 => "O",
        0x154 | 0x156 | 0x158 => "R",
        0x15a | 0x15c | 0x15e | 0x160 => "S",
        0x162 | 0x164 => "T",
        0xd9..=0xdc | 0x168 | 0x16a | 0x16c | 0x16e | 0x170 | 0x172 => "U",
        0xdd | 0x176 | 0x178 => "Y",
        0x179 | 0x17b | 0x17d => "Z",
        0xe0..=0xe5 | 0x101 | 0x103 | 0x105 => "a",
        0xe7 | 0x107 | 0x109 | 0x10b | 0x10d => "c",
        0x10f => "d",
        0xe8..=0xeb | 0x113 | 0x115 | 0x117 | 0x119 | 0x11b => "e",
        0x11d | 0x11f | 0x121 | 0x123 => "g",
        0xec..=0xef | 0x129 | 0x12b | 0x12d | 0x12f | 0x131 => "i",
        0x13a | 0x13c | 0x13e | 0x142 => "l",
        0xf1 | 0x144 | 0x146 | 0x148 => "n",
        0xf2..=0xf6 | 0xf8 | 0x14d | 0x14f | 0x151 => "o",
        0x155 | 0x157 | 0x159 => "r",
        0x15b | 0x15d | 0x15f | 0x161 => "s",
        0x163 | 0x165 => "t",
        0xf9..=0xfc | 0x169 | 0x16b | 0x16d | 0x16f | 0x171 | 0x173 => "u",
        0xfd | 0xff | 0x177 => "y",
        0x17a | 0x17c | 0x17e => "z",
        0xc6 => "AE",
        0xe6 => "ae",
        0xd7 => "x",
        0xdf => "ss",
        0x152 => "OE",
        0x153 => "oe",
        0x2018 | 0x2019 => "'",
        0x201a => ",",
        0x201c | 0x201d => "\"",
        0x201e => ",,",
        0x2022 => "o",
        0x2026 => "...",
        0x2039 => "<",
        0x203a => ">",
        0x20ac => "EUR",
        0x2122 => "(TM)",
        0x2190 => "<-",
        0x2192 => "->",
        0x21d0 => "<=",
        0x21d2 => "=>",
        0x2212 => "-",
        _ => "?",
    }
}
