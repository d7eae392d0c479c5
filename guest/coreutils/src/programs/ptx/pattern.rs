//! Regular expressions as `ptx` has them.
//!
//! GNU's are those of Emacs in glibc: `+` and `?` are operators, there are no intervals and no classes; `^` and `$`
//! match at lines, and `.` matches no newline, but every other set may. Our engine has no sets with newlines in this
//! mode, so such a set becomes a choice between itself and a newline.

use std::ops::Range;

use isopod_regex::{Flags, Lines, Regex, Syntax};

use super::quoted;

/// A regular expression.
pub(super) struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Compiles a regular expression. With `fold` it is meant for texts in capitals.
    pub(super) fn new(pattern: &[u8], fold: bool) -> Result<Pattern, String> {
        let flags = Flags { lines: Lines::Within(b'\n'), ..Flags::default() };
        let regex = Translation::of(pattern, fold)
            .and_then(|translated| Regex::new(&translated, Syntax::Emacs, flags).map_err(|error| error.to_string()));
        match regex {
            Ok(regex) => Ok(Pattern { regex }),
            Err(message) => Err(format!("{message} (for regexp {})", quoted(pattern))),
        }
    }

    /// Returns the leftmost longest match.
    pub(super) fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        self.regex.find_at(text, 0).map(|(start, end)| start..end)
    }

    /// Returns true if a search was ended because it took too long.
    pub(super) fn gave_up(&self) -> bool {
        self.regex.gave_up()
    }
}

/// The translation of a pattern for our engine.
struct Translation<'a> {
    pattern: &'a [u8],
    fold: bool,
    made: Vec<u8>,
    /// The number of groups so far.
    groups: usize,
    /// The number of each of the pattern's own groups among them.
    numbers: Vec<usize>,
}

impl Translation<'_> {
    fn of(pattern: &[u8], fold: bool) -> Result<Vec<u8>, String> {
        let mut translation = Translation { pattern, fold, made: Vec::new(), groups: 0, numbers: Vec::new() };
        let mut at = 0;
        while at < pattern.len() {
            at = match pattern[at] {
                b'\\' => translation.escape(at)?,
                b'[' => translation.bracket(at)?,
                byte => {
                    let byte = translation.folded(byte);
                    translation.made.push(byte);
                    at + 1
                }
            };
        }
        Ok(translation.made)
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_uppercase() } else { byte }
    }

    /// Translates a backslash and the next character, whose case is kept: `\w` and `\W` differ.
    fn escape(&mut self, at: usize) -> Result<usize, String> {
        let end = self.pattern.len().min(at + 2);
        match self.pattern.get(at + 1) {
            Some(b'W' | b's') => self.or_newline(&self.pattern[at..end]),
            Some(digit @ b'1'..=b'9') => {
                let number = self.numbers.get(usize::from(digit - b'1')).ok_or("Invalid back reference")?;
                if *number > 9 {
                    return Err("Too many groups".to_owned());
                }
                self.made.extend([b'\\', b'0' + *number as u8]);
            }
            next => {
                if next == Some(&b'(') {
                    self.groups += 1;
                    self.numbers.push(self.groups);
                }
                self.made.extend_from_slice(&self.pattern[at..end]);
            }
        }
        Ok(end)
    }

    fn bracket(&mut self, at: usize) -> Result<usize, String> {
        let inside = &self.pattern[at + 1..];
        let negated = inside.first() == Some(&b'^');
        let first = usize::from(negated);
        let mut lists_newline = false;
        let mut end = first;
        loop {
            match &inside[end..] {
                // The engine reports the error.
                [] => break,
                [b']', ..] if end > first => break,
                [b'[', b':', ..] => return Err("Character classes have no meaning here".to_owned()),
                [b'[', kind @ (b'.' | b'='), rest @ ..] => {
                    let close = rest.windows(2).position(|pair| pair == [*kind, b']']);
                    end += close.map_or(inside.len() - end, |close| close + 4);
                }
                [low, b'-', high, ..] if *high != b']' => {
                    lists_newline |= (*low..=*high).contains(&b'\n');
                    end += 3;
                }
                [byte, ..] => {
                    lists_newline |= *byte == b'\n';
                    end += 1;
                }
            }
        }
        let after = self.pattern.len().min(at + 1 + end + 1);
        let set: Vec<u8> = self.pattern[at..after].iter().map(|byte| self.folded(*byte)).collect();
        if lists_newline != negated {
            self.or_newline(&set);
        } else {
            self.made.extend_from_slice(&set);
        }
        Ok(after)
    }

    fn or_newline(&mut self, set: &[u8]) {
        self.groups += 1;
        self.made.extend_from_slice(b"\\(");
        self.made.extend_from_slice(set);
        self.made.extend_from_slice(b"\\|\n\\)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<Range<usize>> {
        Pattern::new(pattern.as_bytes(), false).unwrap().find(text.as_bytes())
    }

    #[test]
    fn sets_go_beyond_lines_and_anchors_know_them() {
        assert_eq!(found("[^ ]+", "a\nb c"), Some(0..3));
        assert_eq!(found(".+", "a\nb c"), Some(0..1));
        assert_eq!(found("^b", "a\nb c"), Some(2..3));
        assert_eq!(found("a$\\W", "a\nb c"), None);
        assert_eq!(found("a\\($\\|x\\)\\W", "a\nb c"), Some(0..2));
    }

    #[test]
    fn back_references_keep_their_groups() {
        assert_eq!(found("[^x]\\(b\\)\\1", "\nbb"), Some(0..3));
        assert!(Pattern::new(b"[^x]\\2\\(b\\)", false).is_err());
    }

    #[test]
    fn classes_are_refused_where_gnu_misreads_them() {
        let refused = Pattern::new(b"[[:alpha:]]+", false).err();
        assert_eq!(refused.as_deref(), Some("Character classes have no meaning here (for regexp '[[:alpha:]]+')"));
    }
}
