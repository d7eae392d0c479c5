//! An output format of `od`.

use isopod_gnu::long_double::{LongDouble, Notation, Style};
use isopod_gnu::output::Out;
use isopod_gnu::quote::plain;

use super::options::Settings;

/// The interpretation of bytes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Named,
    Character,
    Signed,
    Unsigned,
    Octal,
    Hexadecimal,
    Float,
}

/// An output format.
pub(super) struct Format {
    kind: Kind,
    /// The size of a value in bytes.
    pub(super) size: usize,
    /// Printable characters follow the line (`z`).
    shows_text: bool,
}

const NAMES: [&str; 34] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle",
    "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp", "del",
];

impl Format {
    pub(super) fn new(kind: Kind, size: usize) -> Format {
        Format { kind, size, shows_text: false }
    }

    /// Reads types such as `x1z` and `d4u2`.
    pub(super) fn parse(text: &str) -> Result<Vec<Format>, String> {
        let bytes = text.as_bytes();
        let mut formats = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let kind = match bytes[at] {
                b'a' => Kind::Named,
                b'c' => Kind::Character,
                b'd' => Kind::Signed,
                b'u' => Kind::Unsigned,
                b'o' => Kind::Octal,
                b'x' => Kind::Hexadecimal,
                b'f' => Kind::Float,
                _ => {
                    let c = text[at..].chars().next().unwrap_or(' ');
                    return Err(format!("invalid character '{c}' in type string {}", plain(text)));
                }
            };
            at += 1;
            let mut size = 1;
            if !matches!(kind, Kind::Named | Kind::Character) {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                size = if kind == Kind::Float { 8 } else { 4 };
                if digits > 0 {
                    let sizes: &[usize] = if kind == Kind::Float { &[4, 8, 16] } else { &[1, 2, 4, 8] };
                    let number = &text[at..at + digits];
                    size = number.parse().ok().filter(|size| sizes.contains(size)).ok_or_else(|| {
                        let what = if kind == Kind::Float { "floating point" } else { "integral" };
                        format!(
                            "invalid type string {};\nthis system doesn't provide a {number}-byte {what} type",
                            plain(text)
                        )
                    })?;
                    at += digits;
                } else if let Some(letter) = bytes.get(at) {
                    let named = match (kind, letter) {
                        (Kind::Float, b'F') => Some(4),
                        (Kind::Float, b'D') => Some(8),
                        (Kind::Float, b'L') => Some(16),
                        (Kind::Float, _) => None,
                        (_, b'C') => Some(1),
                        (_, b'S') => Some(2),
                        (_, b'I') => Some(4),
                        (_, b'L') => Some(8),
                        _ => None,
                    };
                    size = named.unwrap_or(size);
                    at += usize::from(named.is_some());
                }
            }
            let shows_text = bytes.get(at) == Some(&b'z');
            at += usize::from(shows_text);
            formats.push(Format { kind, size, shows_text });
        }
        Ok(formats)
    }

    /// Returns the columns of a value, without the space before it.
    fn width(&self) -> usize {
        let index = self.size.ilog2() as usize;
        match self.kind {
            Kind::Named | Kind::Character => 3,
            Kind::Signed => [4, 6, 11, 20][index],
            Kind::Unsigned => [3, 5, 10, 20][index],
            Kind::Octal => [3, 6, 11, 22][index],
            Kind::Hexadecimal => [2, 4, 8, 16][index],
            Kind::Float => [0, 0, 15, 24, 29][index],
        }
    }

    fn text(&self, bytes: &[u8], big_endian: bool) -> String {
        let mut ordered = [0u8; 16];
        ordered[..bytes.len()].copy_from_slice(bytes);
        if big_endian {
            ordered[..bytes.len()].reverse();
        }
        let value = u128::from_le_bytes(ordered) as u64;
        let width = self.width();
        match self.kind {
            Kind::Named => match bytes[0] & 0x7f {
                byte @ 0..=32 => NAMES[usize::from(byte)].to_owned(),
                127 => NAMES[33].to_owned(),
                byte => char::from(byte).to_string(),
            },
            Kind::Character => character(bytes[0]),
            Kind::Signed => {
                let unused = 64 - self.size * 8;
                ((value << unused) as i64 >> unused).to_string()
            }
            Kind::Unsigned => value.to_string(),
            Kind::Octal => format!("{value:0width$o}"),
            Kind::Hexadecimal => format!("{value:0width$x}"),
            Kind::Float => self.float(ordered),
        }
    }

    /// Formats a number with as few digits as tell it from its neighbours.
    fn float(&self, bytes: [u8; 16]) -> String {
        let style = |precision| Style {
            notation: Notation::General,
            upper: false,
            precision: Some(precision),
            alternate: false,
        };
        let low = u128::from_le_bytes(bytes) as u64;
        let (number, first, last) = match self.size {
            4 => (LongDouble::double(f32::from_bits(low as u32).into()), 6, 9),
            8 => (LongDouble::double(f64::from_bits(low)), 15, 17),
            _ => {
                let mut ten = [0; 10];
                ten.copy_from_slice(&bytes[..10]);
                (LongDouble::from_bytes(ten), 18, 21)
            }
        };
        let same = |text: &str| match self.size {
            4 => text.parse::<f32>().is_ok_and(|read| read.to_bits() == low as u32),
            8 => text.parse::<f64>().is_ok_and(|read| read.to_bits() == low),
            _ => isopod_gnu::long_double::parse(text).number == number,
        };
        // Subnormal numbers have fewer significant digits.
        let subnormal = match self.size {
            4 => f32::from_bits(low as u32).is_subnormal(),
            8 => f64::from_bits(low).is_subnormal(),
            _ => bytes[7] >> 7 == 0,
        };
        for precision in if subnormal { 1 } else { first }..=last {
            let text = number.text(style(precision));
            if precision == last || same(&text) {
                return text;
            }
        }
        String::new()
    }
}

impl Settings {
    /// Writes the lines for one block of bytes.
    pub(super) fn block(&self, offset: u64, block: &[u8], out: &mut Out) {
        let columns = |format: &Format| (format.width() + 1) * (self.width / format.size);
        let widest = self.formats.iter().map(columns).max().unwrap_or(0);
        let address = self.address(offset);
        for (index, format) in self.formats.iter().enumerate() {
            let mut line = if index == 0 { address.clone() } else { " ".repeat(address.len()) };
            let fields = self.width / format.size;
            let used = block.len().div_ceil(format.size);
            let padding = widest - format.width() * fields;
            let mut left = padding;
            for field in 0..used {
                let next = padding * (fields - field - 1) / fields;
                let mut bytes = block[field * format.size..].to_vec();
                bytes.resize(format.size, 0);
                let text = format.text(&bytes, self.big_endian);
                line.push_str(&format!("{text:>width$}", width = left - next + format.width()));
                left = next;
            }
            if format.shows_text {
                let blank = fields - used;
                line.push_str(&" ".repeat(blank * format.width() + left));
                line.push_str("  >");
                line.extend(block.iter().map(|byte| match byte {
                    0x20..0x7f => char::from(*byte),
                    _ => '.',
                }));
                line.push('<');
            }
            line.push('\n');
            out.push(line.as_bytes());
        }
    }
}

/// Formats a byte as a character: with C's escapes, or in octal.
pub(crate) fn character(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        9 => "\\t".to_owned(),
        10 => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        13 => "\\r".to_owned(),
        0x20..0x7f => char::from(byte).to_string(),
        byte => format!("{byte:03o}"),
    }
}
