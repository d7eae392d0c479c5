//! Keys: the parts of a line that are compared.

/// Start, end and comparison of a key.
#[derive(Clone)]
pub(super) struct Key {
    /// From 0.
    pub(super) start_field: usize,
    /// From 0.
    pub(super) start_char: usize,
    /// The last field from 0, and the number of its characters that count: all if 0.
    pub(super) end: Option<(usize, usize)>,
    pub(super) how: Comparison,
}

/// The comparison of a key.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Comparison {
    pub(super) skip_start_blanks: bool,
    pub(super) skip_end_blanks: bool,
    pub(super) dictionary: bool,
    pub(super) printable: bool,
    pub(super) fold: bool,
    pub(super) kind: Kind,
    pub(super) reverse: bool,
}

/// The kind of a key.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Text,
    Numeric,
    General,
    Human,
    Month,
    Random,
    Version,
}

impl Comparison {
    /// Returns true without own letters: the options outside of keys count then.
    pub(super) fn is_default(&self) -> bool {
        *self == Comparison::default()
    }

    /// Returns true without own letters but for the direction.
    pub(super) fn is_plain(&self) -> bool {
        Comparison { reverse: false, ..self.clone() }.is_default()
    }

    /// Sets the option of a letter. Returns false for an unknown letter.
    pub(super) fn set(&mut self, letter: char, at_end: bool) -> bool {
        match letter {
            'b' if at_end => self.skip_end_blanks = true,
            'b' => self.skip_start_blanks = true,
            'd' => self.dictionary = true,
            'f' => self.fold = true,
            'g' => self.kind = Kind::General,
            'h' => self.kind = Kind::Human,
            'i' => self.printable = true,
            'M' => self.kind = Kind::Month,
            'n' => self.kind = Kind::Numeric,
            'R' => self.kind = Kind::Random,
            'r' => self.reverse = true,
            'V' => self.kind = Kind::Version,
            _ => return false,
        }
        true
    }
}

impl Key {
    /// A key of the whole line.
    pub(super) fn whole(how: Comparison) -> Key {
        Key { start_field: 0, start_char: 0, end: None, how }
    }

    /// Returns the key of a line.
    pub(super) fn of<'a>(&self, line: &'a [u8], separator: Option<u8>) -> &'a [u8] {
        let start = self.start(line, separator);
        let end = self.end_in(line, separator);
        &line[start..end.max(start)]
    }

    fn start(&self, line: &[u8], separator: Option<u8>) -> usize {
        let mut at = skip_fields(line, self.start_field, separator, true);
        if self.how.skip_start_blanks {
            at += blanks(&line[at..]);
        }
        (at + self.start_char).min(line.len())
    }

    fn end_in(&self, line: &[u8], separator: Option<u8>) -> usize {
        let Some((field, chars)) = self.end else { return line.len() };
        if chars == 0 {
            return skip_fields(line, field + 1, separator, false);
        }
        let mut at = skip_fields(line, field, separator, true);
        if self.how.skip_end_blanks {
            at += blanks(&line[at..]);
        }
        (at + chars).min(line.len())
    }
}

/// Returns the start of a field, or with `past` false, the end of the one before it, before its separator.
fn skip_fields(line: &[u8], count: usize, separator: Option<u8>, past: bool) -> usize {
    let mut at = 0;
    for left in (0..count).rev() {
        if at >= line.len() {
            return line.len();
        }
        match separator {
            Some(separator) => match line[at..].iter().position(|byte| *byte == separator) {
                Some(found) => at += found + usize::from(past || left > 0),
                None => return line.len(),
            },
            // Without a separator, a field is blanks and the text behind them.
            None => {
                at += blanks(&line[at..]);
                at += line[at..].iter().take_while(|byte| !is_blank(**byte)).count();
            }
        }
    }
    at
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Returns the number of leading blanks.
pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_blank(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(start: (usize, usize), end: Option<(usize, usize)>, line: &str, separator: Option<u8>) -> String {
        let key = Key { start_field: start.0, start_char: start.1, end, how: Comparison::default() };
        String::from_utf8_lossy(key.of(line.as_bytes(), separator)).into_owned()
    }

    #[test]
    fn fields_are_cut_as_gnu_cuts_them() {
        assert_eq!(key((1, 0), None, "a  b c", None), "  b c");
        assert_eq!(key((1, 0), Some((1, 0)), "a  b c", None), "  b");
        assert_eq!(key((1, 0), Some((1, 0)), "a:b:c", Some(b':')), "b");
        assert_eq!(key((1, 0), Some((2, 0)), "a:b:c:d", Some(b':')), "b:c");
        assert_eq!(key((0, 1), Some((0, 2)), "abc", None), "b");
        assert_eq!(key((5, 0), None, "a:b", Some(b':')), "");
        assert_eq!(key((2, 0), Some((0, 0)), "a:b:c", Some(b':')), "");
        assert_eq!(key((1, 0), Some((1, 0)), "a::c", Some(b':')), "");
    }
}
