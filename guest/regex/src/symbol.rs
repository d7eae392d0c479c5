//! Symbols: the characters of a text, and the bytes that are not part of a character.

/// The code point of a character, or `RAW` plus its value for a byte that is not part of a character.
pub(crate) type Symbol = u32;

/// The first symbol that is a byte.
pub(crate) const RAW: Symbol = 0x11_0000;

/// The decoding of bytes to symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Characters are UTF-8.
    Utf8,
    /// Every byte is a character: the locale `C`.
    Bytes,
}

impl Encoding {
    /// Returns the symbol at an offset and its length. The offset has to be within the text.
    #[inline]
    pub(crate) fn at(self, text: &[u8], at: usize) -> (Symbol, usize) {
        let first = text[at];
        if first < 0x80 {
            return (Symbol::from(first), 1);
        }
        if self == Encoding::Utf8
            && let Some((c, length)) = decode(&text[at..])
        {
            return (Symbol::from(c), length);
        }
        (RAW + Symbol::from(first), 1)
    }

    /// Returns the symbol that ends at an offset, if there is one.
    pub(crate) fn before(self, text: &[u8], at: usize) -> Option<Symbol> {
        let last = *text[..at].last()?;
        if last < 0x80 {
            return Some(Symbol::from(last));
        }
        if self == Encoding::Utf8 {
            for length in 2..=4.min(at) {
                if let Some((c, found)) = decode(&text[at - length..at])
                    && found == length
                {
                    return Some(Symbol::from(c));
                }
            }
        }
        Some(RAW + Symbol::from(last))
    }

    /// Returns true if an offset is inside of a character.
    pub(crate) fn splits(self, text: &[u8], at: usize) -> bool {
        if self == Encoding::Bytes || text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80) {
            return false;
        }
        (1..=3.min(at)).any(|back| decode(&text[at - back..]).is_some_and(|(_, length)| length > back))
    }

    /// Appends the bytes of a symbol.
    pub(crate) fn push(symbol: Symbol, bytes: &mut Vec<u8>) {
        match char::from_u32(symbol) {
            Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => bytes.push((symbol & 0xff) as u8),
        }
    }
}

/// Decodes the first character and returns its length.
pub(crate) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let length = match bytes.first()? {
        0..0x80 => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    text.chars().next().map(|c| (c, length))
}
