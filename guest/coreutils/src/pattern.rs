//! Basic regular expressions, as `expr`, `nl`, `csplit` and `ptx` use them.

use std::ops::Range;

use isopod_regex::{Captures, Flags, Regex, Syntax};

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Reads a basic regular expression.
    pub(crate) fn basic(text: &str) -> Result<Pattern, String> {
        let regex = Regex::new(text.as_bytes(), Syntax::Basic, Flags::default()).map_err(|error| error.to_string())?;
        Ok(Pattern { regex })
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    pub(crate) fn has_group(&self) -> bool {
        self.regex.groups() > 1
    }

    /// Matches at the very start of a text. Returns the end of the match and the range of its first group.
    pub(crate) fn at_start(&self, text: &[u8]) -> Option<(usize, Option<Range<usize>>)> {
        let mut captures = Captures::default();
        if !self.regex.captures_at(text, 0, &mut captures) {
            return None;
        }
        let (start, end) = captures.get(0)?;
        (start == 0).then(|| (end, captures.get(1).map(|(start, end)| start..end)))
    }
}
