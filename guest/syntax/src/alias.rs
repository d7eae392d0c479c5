//! Aliases: text put in the place of a word before it is parsed.

use super::lexer::{Parser, ends_word};

/// An alias whose text the cursor is in.
pub(super) struct Expanding {
    /// Where the text ends.
    end: usize,
    /// The alias, which is not expanded in its own text.
    name: String,
    /// Its text ends in a blank: the word after it may be an alias too.
    blank: bool,
}

impl Parser<'_> {
    /// Replaces the alias that comes next by its text, and says whether there was one.
    pub(super) fn alias(&mut self) -> bool {
        if self.aliases.is_none() {
            return false;
        }
        self.peek();
        self.leave_aliases();
        let Some(aliases) = self.aliases.clone() else { return false };
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|b| ends_word(*b)).unwrap_or(rest.len());
        let name = &self.text[self.at..self.at + length];
        let Some(value) = aliases.get(name) else { return false };
        if self.expanding.iter().any(|e| e.name == name) {
            return false;
        }
        let name = name.to_owned();
        for outer in &mut self.expanding {
            outer.end = (outer.end + value.len()).saturating_sub(length);
        }
        let blank = value.ends_with([' ', '\t']);
        self.expanding.push(Expanding { end: self.at + value.len(), name, blank });
        self.text.replace_range(self.at..self.at + length, value);
        true
    }

    /// Whether the text of an alias has just ended, and in a blank.
    pub(super) fn after_blank_alias(&mut self) -> bool {
        !self.expanding.is_empty() && self.leave_aliases()
    }

    /// Forgets the aliases whose text is behind the cursor, and says whether one of them ended in a blank.
    fn leave_aliases(&mut self) -> bool {
        let at = self.at;
        let mut blank = false;
        self.expanding.retain(|e| {
            let inside = at < e.end;
            blank |= !inside && e.blank;
            inside
        });
        blank
    }
}
