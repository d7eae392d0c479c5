//! `base64`, `base32` and `basenc`: bytes as text, and back.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::{Errno, text};

use crate::lines::complain;

const OPTIONS: &[Opt] = &[
    Opt::flag('d', "decode", "decode data"),
    Opt::flag('i', "ignore-garbage", "when decoding, ignore non-alphabet characters"),
    Opt::flag('w', "wrap", "wrap encoded lines after COLS character (default 76); 0 disables it").takes("COLS"),
];

const BASENC_OPTIONS: &[Opt] = &[
    Opt::long("base64", "same as 'base64' program"),
    Opt::long("base64url", "file- and url-safe base64"),
    Opt::long("base32", "same as 'base32' program"),
    Opt::long("base32hex", "extended hex alphabet base32"),
    Opt::long("base16", "hex encoding"),
    Opt::long("base2msbf", "bit string with most significant bit first"),
    Opt::long("base2lsbf", "bit string with least significant bit first"),
    Opt::long("z85", "ascii85-like encoding (ZeroMQ spec:32/Z85)"),
    Opt::flag('d', "decode", "decode data"),
    Opt::flag('i', "ignore-garbage", "when decoding, ignore non-alphabet characters"),
    Opt::flag('w', "wrap", "wrap encoded lines after COLS character (default 76); 0 disables it").takes("COLS"),
];

const fn program(name: &'static str, about: &'static str, options: &'static [Opt], run: fn(&Call) -> u8) -> Program {
    Program { name, operands: &["[OPTION]... [FILE]"], about, syntax: Syntax::Mixed, options, failure: 1, run }
}

/// `base64`.
pub(crate) const BASE64: Program =
    program("base64", "Base64 encode or decode FILE, or standard input, to standard output.", OPTIONS, |call| {
        code(call, &B64).unwrap_or_else(|code| code)
    });

/// `base32`.
pub(crate) const BASE32: Program =
    program("base32", "Base32 encode or decode FILE, or standard input, to standard output.", OPTIONS, |call| {
        code(call, &B32).unwrap_or_else(|code| code)
    });

/// `basenc`.
pub(crate) const BASENC: Program =
    program("basenc", "Encode or decode FILE, or standard input, to standard output.", BASENC_OPTIONS, |call| {
        let Some(base) =
            call.options.iter().rev().find_map(|found| BASES.iter().find(|base| base.name == found.option))
        else {
            return call.misused("missing encoding type");
        };
        code(call, base).unwrap_or_else(|code| code)
    });

/// How bytes become letters: groups of bytes become groups of letters.
struct Base {
    name: &'static str,
    alphabet: &'static [u8],
    /// Bytes of a group, and letters.
    group: (usize, usize),
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Bits in order, filled up with `=`.
    Padded,
    /// Bits in order; a group is one byte.
    Plain,
    /// The lowest bit first.
    Reversed,
    /// A number in base 85.
    Z85,
}

const B64: Base = Base {
    name: "base64",
    alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    group: (3, 4),
    kind: Kind::Padded,
};
const B32: Base =
    Base { name: "base32", alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", group: (5, 8), kind: Kind::Padded };
static BASES: [Base; 8] = [
    B64,
    B32,
    Base {
        name: "base64url",
        alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        group: (3, 4),
        kind: Kind::Padded,
    },
    Base { name: "base32hex", alphabet: b"0123456789ABCDEFGHIJKLMNOPQRSTUV", group: (5, 8), kind: Kind::Padded },
    Base { name: "base16", alphabet: b"0123456789ABCDEF", group: (1, 2), kind: Kind::Plain },
    Base { name: "base2msbf", alphabet: b"01", group: (1, 8), kind: Kind::Plain },
    Base { name: "base2lsbf", alphabet: b"01", group: (1, 8), kind: Kind::Reversed },
    Base {
        name: "z85",
        alphabet: b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
        group: (4, 5),
        kind: Kind::Z85,
    },
];

fn code(call: &Call, base: &Base) -> Result<u8, u8> {
    let wrap = match call.value("wrap") {
        None => 76,
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().unwrap_or(usize::MAX)
        }
        Some(wrong) => {
            return Err(call.failed(&format!("invalid wrap size: {}", plain(wrong))));
        }
    };
    call.at_most(1)?;
    let path = call.operands.first().map_or("-", String::as_str);
    let input = Input::open(path).map_err(|errno| complain(call, path, errno))?;
    let mut out = Out::new();
    let result = if call.has("decode") {
        base.decode(&input, call.has("ignore-garbage"), &mut out)
    } else {
        base.encode(&input, wrap, &mut out)
    };
    let code = match result {
        Ok(()) => 0,
        Err(stop) => {
            out.flush();
            call.failed(&match stop {
                Stop::Invalid(what) => what.to_owned(),
                Stop::Unread(errno) => format!("read error: {}", text(errno)),
            })
        }
    };
    Ok(call.finish(out, code))
}

enum Stop {
    Invalid(&'static str),
    Unread(Errno),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Unread(errno)
    }
}

impl Base {
    fn bits(&self) -> u32 {
        self.alphabet.len().ilog2()
    }

    fn encode(&self, input: &Input, wrap: usize, out: &mut Out) -> Result<(), Stop> {
        let mut rest: Vec<u8> = Vec::new();
        let mut column = 0;
        let mut letters = Vec::new();
        loop {
            let piece = input.read()?;
            let last = piece.is_empty();
            rest.extend_from_slice(&piece);
            let whole = if last { rest.len() } else { rest.len() / self.group.0 * self.group.0 };
            letters.clear();
            for group in rest[..whole].chunks(self.group.0) {
                self.encode_group(group, &mut letters)?;
            }
            rest.drain(..whole);
            if wrap == 0 {
                out.push(&letters);
            } else {
                let mut left = letters.as_slice();
                while !left.is_empty() {
                    if column == wrap {
                        out.byte(b'\n');
                        column = 0;
                    }
                    let count = left.len().min(wrap - column);
                    out.push(&left[..count]);
                    column += count;
                    left = &left[count..];
                }
            }
            if last || out.has_failed() {
                if column > 0 {
                    out.byte(b'\n');
                }
                return Ok(());
            }
        }
    }

    fn encode_group(&self, group: &[u8], letters: &mut Vec<u8>) -> Result<(), Stop> {
        // Nearly all that is ever encoded.
        if let ([a, b, c], (3, 4)) = (group, self.group) {
            let value = u32::from_be_bytes([0, *a, *b, *c]);
            let letter = |shift: u32| self.alphabet[(value >> shift & 63) as usize];
            letters.extend_from_slice(&[letter(18), letter(12), letter(6), letter(0)]);
            return Ok(());
        }
        match self.kind {
            Kind::Z85 => {
                let [a, b, c, d] = *group else {
                    return Err(Stop::Invalid("invalid input (length must be multiple of 4 characters)"));
                };
                let value = u32::from_be_bytes([a, b, c, d]);
                for power in [85u32.pow(4), 85u32.pow(3), 85 * 85, 85, 1] {
                    letters.push(self.alphabet[(value / power % 85) as usize]);
                }
            }
            Kind::Reversed => letters.extend((0..8).map(|bit| b'0' + (group[0] >> bit & 1))),
            _ => {
                let bits = self.bits() as usize;
                let total = self.group.0 * 8;
                let mut value = group.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
                value <<= (self.group.0 - group.len()) * 8;
                let used = (group.len() * 8).div_ceil(bits);
                for index in 0..self.group.1 {
                    let letter = value >> (total - bits * (index + 1)) & ((1 << bits) - 1);
                    letters.push(if index < used { self.alphabet[letter as usize] } else { b'=' });
                }
            }
        }
        Ok(())
    }

    fn decode(&self, input: &Input, ignore: bool, out: &mut Out) -> Result<(), Stop> {
        let mut table = [255u8; 256];
        for (value, letter) in self.alphabet.iter().enumerate() {
            table[usize::from(*letter)] = value as u8;
        }
        let mut group: Vec<u8> = Vec::new();
        let mut bytes = Vec::new();
        loop {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            bytes.clear();
            for letter in piece {
                let padding = letter == b'=' && self.kind == Kind::Padded;
                if letter == b'\n' || ignore && table[usize::from(letter)] == 255 && !padding {
                    continue;
                }
                group.push(letter);
                if group.len() == self.group.1 {
                    let fine = self.decode_group(&group, &table, &mut bytes);
                    group.clear();
                    if !fine {
                        out.push(&bytes);
                        return Err(Stop::Invalid("invalid input"));
                    }
                }
            }
            out.push(&bytes);
        }
        if !group.is_empty() {
            bytes.clear();
            // Only base64 has something to say about a group that is cut off.
            if self.group.1 == 4 {
                self.decode_group(&group, &table, &mut bytes);
            }
            out.push(&bytes);
            return Err(Stop::Invalid("invalid input"));
        }
        Ok(())
    }

    /// Adds the bytes of a group, as far as they can be told, and says whether it is a right one.
    fn decode_group(&self, group: &[u8], table: &[u8; 256], bytes: &mut Vec<u8>) -> bool {
        let value = |index: usize| group.get(index).map(|letter| table[usize::from(*letter)]).filter(|v| *v != 255);
        if self.kind == Kind::Z85 {
            let mut number = 0u64;
            for index in 0..5 {
                let Some(digit) = value(index) else { return false };
                number = number * 85 + u64::from(digit);
            }
            let Ok(number) = u32::try_from(number) else { return false };
            bytes.extend_from_slice(&number.to_be_bytes());
            return true;
        }
        let bits = self.bits() as usize;
        let (mut held, mut count, mut index) = (0u32, 0, 0);
        while index < self.group.1 {
            let Some(digit) = value(index) else {
                // Letters may end where a byte does, and then nothing but padding follows.
                let ends = self.kind == Kind::Padded && index >= 2 && count < bits;
                return ends && group.len() == self.group.1 && group[index..].iter().all(|letter| *letter == b'=');
            };
            if self.kind == Kind::Reversed {
                held |= u32::from(digit) << count;
            } else {
                held = held << bits | u32::from(digit);
            }
            count += bits;
            index += 1;
            if count >= 8 {
                count -= 8;
                bytes.push((held >> count) as u8);
                held &= (1 << count) - 1;
            }
        }
        true
    }
}
