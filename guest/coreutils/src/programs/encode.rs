//! `base64`, `base32` and `basenc`: bytes as text, and back.
//!
//! The crate `data-encoding` has all encodings but Z85, and its errors tell how many bytes were valid: GNU's programs
//! write those before they fail.

use data_encoding::{BitOrder, Encoding, Specification};
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

/// An encoding of `basenc`.
struct Base {
    name: &'static str,
    symbols: &'static str,
    /// Bytes of a group, and letters.
    group: (usize, usize),
    is_padded: bool,
}

const B64: Base = Base {
    name: "base64",
    symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    group: (3, 4),
    is_padded: true,
};
const B32: Base = Base { name: "base32", symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", group: (5, 8), is_padded: true };
static BASES: [Base; 8] = [
    B64,
    B32,
    Base {
        name: "base64url",
        symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        group: (3, 4),
        is_padded: true,
    },
    Base { name: "base32hex", symbols: "0123456789ABCDEFGHIJKLMNOPQRSTUV", group: (5, 8), is_padded: true },
    Base { name: "base16", symbols: "0123456789ABCDEF", group: (1, 2), is_padded: false },
    Base { name: "base2msbf", symbols: "01", group: (1, 8), is_padded: false },
    Base { name: "base2lsbf", symbols: "01", group: (1, 8), is_padded: false },
    Base {
        name: "z85",
        symbols: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
        group: (4, 5),
        is_padded: false,
    },
];

/// The way from groups of bytes to groups of letters.
enum Coding {
    /// A few bits a letter. The second encoding has no padding, for the start of a group that is not valid.
    Bits(Encoding, Encoding),
    /// Four bytes as a number in base 85.
    Z85([u8; 85]),
}

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
    let coding = base.coding().ok_or_else(|| call.failed("invalid encoding"))?;
    let result = if call.has("decode") {
        base.decode(&coding, &input, call.has("ignore-garbage"), &mut out)
    } else {
        base.encode(&coding, &input, wrap, &mut out)
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
    /// Returns the coding; `None` would be an error in the table above.
    fn coding(&self) -> Option<Coding> {
        if self.name == "z85" {
            return self.symbols.as_bytes().try_into().ok().map(Coding::Z85);
        }
        let mut specification = Specification::new();
        specification.symbols.push_str(self.symbols);
        specification.check_trailing_bits = false;
        if self.name == "base2lsbf" {
            specification.bit_order = BitOrder::LeastSignificantFirst;
        }
        let plain = specification.encoding().ok()?;
        specification.padding = self.is_padded.then_some('=');
        Some(Coding::Bits(specification.encoding().ok()?, plain))
    }

    fn encode(&self, coding: &Coding, input: &Input, wrap: usize, out: &mut Out) -> Result<(), Stop> {
        let mut rest: Vec<u8> = Vec::new();
        let mut column = 0;
        let mut letters = Vec::new();
        loop {
            let piece = input.read()?;
            let last = piece.is_empty();
            rest.extend_from_slice(&piece);
            let whole = if last { rest.len() } else { rest.len() / self.group.0 * self.group.0 };
            coding.encode(&rest[..whole], &mut letters)?;
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

    fn decode(&self, coding: &Coding, input: &Input, ignore: bool, out: &mut Out) -> Result<(), Stop> {
        let mut letters: Vec<u8> = Vec::new();
        let mut bytes = Vec::new();
        loop {
            let piece = input.read()?;
            if piece.is_empty() {
                break;
            }
            let is_known = |letter: u8| coding.knows(letter) || letter == b'=' && self.is_padded;
            letters.extend(piece.iter().filter(|letter| **letter != b'\n' && (!ignore || is_known(**letter))));
            let whole = letters.len() / self.group.1 * self.group.1;
            let is_valid = coding.decode(&letters[..whole], self.group.1, &mut bytes);
            out.push(&bytes);
            if !is_valid {
                return Err(Stop::Invalid("invalid input"));
            }
            letters.drain(..whole);
        }
        if letters.is_empty() {
            return Ok(());
        }
        // GNU's writes the bytes of a group that is cut off for base64 only.
        if let (Coding::Bits(_, plain), 4) = (coding, self.group.1) {
            bytes.clear();
            start_of(&letters, plain, &mut bytes);
            out.push(&bytes);
        }
        Err(Stop::Invalid("invalid input"))
    }
}

impl Coding {
    fn encode(&self, bytes: &[u8], letters: &mut Vec<u8>) -> Result<(), Stop> {
        letters.clear();
        match self {
            Coding::Bits(encoding, _) => {
                letters.resize(encoding.encode_len(bytes.len()), 0);
                encoding.encode_mut(bytes, letters);
            }
            Coding::Z85(alphabet) => {
                let (groups, []) = bytes.as_chunks::<4>() else {
                    return Err(Stop::Invalid("invalid input (length must be multiple of 4 characters)"));
                };
                for group in groups {
                    let value = u32::from_be_bytes(*group);
                    let digits = [85u32.pow(4), 85u32.pow(3), 85 * 85, 85, 1].map(|power| value / power % 85);
                    letters.extend(digits.map(|digit| alphabet[digit as usize]));
                }
            }
        }
        Ok(())
    }

    /// Decodes whole groups of letters and replaces the content of `bytes` by the result. Stops at an invalid group and
    /// returns false. `bytes` then ends with the bytes of that group's valid start, except for Z85.
    fn decode(&self, letters: &[u8], group: usize, bytes: &mut Vec<u8>) -> bool {
        match self {
            Coding::Bits(encoding, plain) => {
                bytes.resize(encoding.decode_len(letters.len()).unwrap_or(0), 0);
                match encoding.decode_mut(letters, bytes) {
                    Ok(count) => {
                        bytes.truncate(count);
                        true
                    }
                    Err(partial) => {
                        bytes.truncate(partial.written);
                        let end = letters.len().min(partial.read + group);
                        start_of(&letters[partial.read..end], plain, bytes);
                        false
                    }
                }
            }
            Coding::Z85(alphabet) => {
                bytes.clear();
                letters.chunks(group).all(|group| {
                    let digit = |letter: &u8| alphabet.iter().position(|known| known == letter);
                    let number =
                        group.iter().try_fold(0u64, |number, letter| Some(number * 85 + digit(letter)? as u64));
                    let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { return false };
                    bytes.extend_from_slice(&number.to_be_bytes());
                    true
                })
            }
        }
    }

    fn knows(&self, letter: u8) -> bool {
        match self {
            Coding::Bits(encoding, _) => encoding.interpret_byte(letter).is_symbol().is_some(),
            Coding::Z85(alphabet) => alphabet.contains(&letter),
        }
    }
}

/// Adds the whole bytes of the symbols that a group starts with.
fn start_of(group: &[u8], plain: &Encoding, bytes: &mut Vec<u8>) {
    let symbols = group.iter().take_while(|letter| plain.interpret_byte(**letter).is_symbol().is_some()).count();
    let decoded = (0..=symbols).rev().find_map(|length| plain.decode(&group[..length]).ok());
    bytes.extend(decoded.unwrap_or_default());
}
