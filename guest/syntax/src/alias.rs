//! Aliases: text that replaces a word before it is parsed.

use super::lexer::{Parser, ends_word};

/// An alias whose text contains the cursor.
pub(super) struct ActiveAlias {
    /// The end of the text.
    end: usize,
    /// The alias, which is not expanded in its own text.
    name: String,
    /// Its text ends in a blank: the word after it may be an alias too.
    blank: bool,
}

impl Parser<'_> {
    /// Replaces the next word by its text if it is an alias. Returns whether it was one.
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
        self.expanding.push(ActiveAlias { end: self.at + value.len(), name, blank });
        self.text.replace_range(self.at..self.at + length, value);
        true
    }

    /// Returns true if the text of an alias has just ended, and in a blank.
    pub(super) fn after_blank_alias(&mut self) -> bool {
        !self.expanding.is_empty() && self.leave_aliases()
    }

    /// Forgets the aliases whose text is behind the cursor. Returns true if one of them ended in a blank.
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
