//! The character classes of POSIX: `[:alpha:]` and the rest, as glibc defines them for UTF-8.
//!
//! One table for shell patterns, regular expressions, `fnmatch` and `tr`. The standard library has Unicode's
//! properties; this crate adds the places where glibc draws the line elsewhere.

/// A class of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Letters and digits.
    Alnum,
    /// Letters, and digits other than ASCII's.
    Alpha,
    /// White space within a line.
    Blank,
    /// Control characters.
    Cntrl,
    /// `0` to `9`.
    Digit,
    /// Characters with ink.
    Graph,
    /// Lower case letters.
    Lower,
    /// Characters with ink, and spaces.
    Print,
    /// Characters with ink that are neither letters nor digits.
    Punct,
    /// White space.
    Space,
    /// Upper case letters.
    Upper,
    /// Hexadecimal digits.
    Xdigit,
    /// Letters, digits and the underscore: `\w`. POSIX has no such class; bash calls it `[:word:]`.
    Word,
}

impl Class {
    /// The class that POSIX calls by this name, such as `alpha`.
    pub fn named(name: &[u8]) -> Option<Class> {
        Some(match name {
            b"alnum" => Class::Alnum,
            b"alpha" => Class::Alpha,
            b"blank" => Class::Blank,
            b"cntrl" => Class::Cntrl,
            b"digit" => Class::Digit,
            b"graph" => Class::Graph,
            b"lower" => Class::Lower,
            b"print" => Class::Print,
            b"punct" => Class::Punct,
            b"space" => Class::Space,
            b"upper" => Class::Upper,
            b"xdigit" => Class::Xdigit,
            _ => return None,
        })
    }

    /// Returns true if a character, given as `char` or as code point, is in the class. A number that is no code point
    /// is in none.
    pub fn contains(self, character: impl Into<u32>) -> bool {
        let Some(c) = char::from_u32(character.into()) else { return false };
        match self {
            Class::Alnum => c.is_alphanumeric(),
            Class::Alpha if c.is_ascii() => c.is_ascii_alphabetic(),
            Class::Alpha => c.is_alphanumeric(),
            Class::Blank => c == ' ' || c == '\t' || (!c.is_ascii() && is_space(c) && !is_line_end(c)),
            Class::Cntrl => c.is_control() || is_line_end(c),
            Class::Digit => c.is_ascii_digit(),
            Class::Graph => is_print(c) && !is_space(c),
            Class::Lower => c.is_lowercase(),
            Class::Print => is_print(c),
            Class::Punct => is_print(c) && !is_space(c) && !c.is_alphanumeric(),
            Class::Space => is_space(c),
            Class::Upper => c.is_uppercase(),
            Class::Xdigit => c.is_ascii_hexdigit(),
            Class::Word => c == '_' || c.is_alphanumeric(),
        }
    }
}

/// White space, except where a line must not be broken.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_print(c: char) -> bool {
    !c.is_control() && !is_line_end(c)
}

#[cfg(test)]
mod tests {
    use super::Class;

    /// The members of each class in ASCII, as ISO C lists them.
    #[test]
    fn ascii_is_divided_as_in_the_c_locale() {
        for (name, expected) in [
            ("blank", "\t "),
            ("digit", "0123456789"),
            ("punct", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
            ("space", "\t\n\u{b}\u{c}\r "),
            ("upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            ("xdigit", "0123456789ABCDEFabcdef"),
        ] {
            let class = Class::named(name.as_bytes()).unwrap();
            let members: String = ('\0'..='\x7f').filter(|c| class.contains(*c)).collect();
            assert_eq!(members, expected, "{name}");
        }
        let count = |class: Class| (0u32..128).filter(|code| class.contains(*code)).count();
        assert_eq!([Class::Alnum, Class::Alpha, Class::Cntrl, Class::Graph].map(count), [62, 52, 33, 94]);
        assert_eq!([Class::Print, Class::Lower, Class::Word].map(count), [95, 26, 63]);
    }

    #[test]
    fn beyond_ascii_the_answers_are_those_of_glibc() {
        assert!(Class::Alpha.contains('é') && Class::Alpha.contains('٣') && !Class::Digit.contains('٣'));
        assert!(Class::Upper.contains('É') && Class::Punct.contains('€') && !Class::Punct.contains('é'));
        assert!(!Class::Space.contains('\u{a0}') && Class::Blank.contains('\u{2003}'));
        assert!(Class::Cntrl.contains('\u{2028}') && !Class::Print.contains('\u{2028}'));
        assert!(!Class::Alnum.contains(0x11_0041u32), "not a code point");
    }
}
