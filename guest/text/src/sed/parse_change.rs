//! The parser of the commands that change text: `a`, `i`, `c`, `s` and `y`.

use std::rc::Rc;

use super::Failure;
use super::parse::{Parser, index_of};
use super::pattern::{self, escape};
use super::replacement::Replacement;
use super::script::{Action, Prints, Substitute, Translation};

impl Parser<'_> {
    /// Parses the text of `a`, `i` and `c`.
    pub(super) fn text(&mut self) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        match self.source.next_filled() {
            None => {
                self.source.back();
                return Err(self.error("expected \\ after `a', `c' or `i'"));
            }
            Some(b'\\') => {
                // The text is on the next line. As a GNU extension it can follow at once and then keeps its blanks.
                let mut blanks = Vec::new();
                loop {
                    match self.source.next() {
                        Some(b'\n') => break,
                        Some(byte) if byte.is_ascii_whitespace() => blanks.push(byte),
                        None => {
                            self.source.back();
                            return Ok(text);
                        }
                        Some(_) => {
                            self.source.back();
                            text = blanks;
                            break;
                        }
                    }
                }
            }
            Some(_) => self.source.back(),
        }
        loop {
            match self.source.next() {
                None => {
                    self.source.back();
                    break;
                }
                Some(b'\n') => break,
                Some(b'\\') => {
                    let mut ahead = Vec::new();
                    while ahead.len() < 4 {
                        match self.source.next() {
                            Some(byte) => ahead.push(byte),
                            None => {
                                self.source.back();
                                break;
                            }
                        }
                    }
                    let (byte, used) = match (escape(&ahead), ahead.first()) {
                        (Some((byte, length)), _) => (Some(byte), length),
                        (None, Some(b'n')) => (Some(b'\n'), 1),
                        (None, Some(byte)) => (Some(*byte), 1),
                        (None, None) => (None, 0),
                    };
                    for _ in used..ahead.len() {
                        self.source.back();
                    }
                    text.extend(byte);
                }
                Some(byte) => text.push(byte),
            }
        }
        text.push(b'\n');
        Ok(text)
    }

    pub(super) fn substitute(&mut self) -> Result<Action, Failure> {
        let unterminated = "unterminated `s' command";
        let Some(delimiter) = self.source.next().filter(|byte| !matches!(byte, b'\n' | b'\\')) else {
            return Err(self.error(unterminated));
        };
        let (Some(text), Some(replacement)) =
            (pattern::until(&mut self.source, delimiter, true), pattern::until(&mut self.source, delimiter, false))
        else {
            self.source.back();
            return Err(self.error(unterminated));
        };
        let mut substitute = Substitute {
            regex: None,
            replacement: Replacement::parse(&replacement),
            global: false,
            number: 0,
            prints: Prints::Never,
            executes: false,
            file: None,
        };
        let (mut icase, mut multiline) = (false, false);
        loop {
            match self.source.next() {
                Some(b'i' | b'I') => icase = true,
                Some(b'm' | b'M') => multiline = true,
                Some(b'e') => {
                    self.check_sandbox()?;
                    substitute.executes = true;
                    if substitute.prints == Prints::After {
                        substitute.prints = Prints::Before;
                    }
                }
                Some(b'p') if substitute.prints != Prints::Never => {
                    return Err(self.error("multiple `p' options to `s' command"));
                }
                Some(b'p') => substitute.prints = Prints::After,
                Some(b'g') if substitute.global => {
                    return Err(self.error("multiple `g' options to `s' command"));
                }
                Some(b'g') => substitute.global = true,
                Some(b'0'..=b'9') => {
                    self.source.back();
                    let again = substitute.number > 0;
                    substitute.number = self.number();
                    if again {
                        return Err(self.error("multiple number options to `s' command"));
                    }
                    if substitute.number == 0 {
                        return Err(self.error("number option to `s' command may not be zero"));
                    }
                }
                Some(b'w') => {
                    let file = self.file_name()?;
                    substitute.file = Some(index_of(&mut self.script.outputs, file));
                    break;
                }
                Some(b'}' | b'#') => {
                    self.source.back();
                    break;
                }
                None | Some(b'\n' | b';') => {
                    self.source.back();
                    break;
                }
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(_) => return Err(self.error("unknown option to `s'")),
            }
        }
        substitute.number = substitute.number.max(1);
        if text.is_empty() {
            if icase || multiline {
                return Err(self.error("cannot specify modifiers on empty regexp"));
            }
            return Ok(Action::Substitute(Box::new(substitute)));
        }
        // The position reported in messages is behind the character that ended the flags.
        let ahead = usize::from(self.source.peek().is_some());
        let regex = match pattern::compile(&self.source, &text, self.options, icase, multiline) {
            Ok(regex) => regex,
            Err(failure) => {
                if ahead == 0 || self.source.is_at_part_end() {
                    return Err(failure);
                }
                self.source.next();
                pattern::compile(&self.source, &text, self.options, icase, multiline)?
            }
        };
        if substitute.replacement.highest >= regex.groups() {
            let highest = substitute.replacement.highest;
            return Err(self.error(&format!("invalid reference \\{highest} on `s' command's RHS")));
        }
        substitute.regex = Some(Rc::new(regex));
        Ok(Action::Substitute(Box::new(substitute)))
    }

    pub(super) fn translate(&mut self) -> Result<Action, Failure> {
        let unterminated = "unterminated `y' command";
        let Some(delimiter) = self.source.next() else { return Err(self.error(unterminated)) };
        let (Some(from), Some(to)) =
            (pattern::until(&mut self.source, delimiter, false), pattern::until(&mut self.source, delimiter, false))
        else {
            self.source.back();
            return Err(self.error(unterminated));
        };
        let (from, to) = (symbols(&from), symbols(&to));
        if from.len() != to.len() {
            return Err(self.error("strings for `y' command are different lengths"));
        }
        let mut translation = Translation { ascii: (0..=127).map(|byte| vec![byte]).collect(), others: Vec::new() };
        for (from, to) in from.iter().zip(to).rev() {
            match from.as_slice() {
                [byte @ 0..0x80] => translation.ascii[usize::from(*byte)] = to,
                bytes => {
                    let c = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
                    translation.others.extend(c.map(|c| (c, to)));
                }
            }
        }
        translation.others.reverse();
        Ok(Action::Translate(Box::new(translation)))
    }
}

/// Returns the characters of one half of `y`.
fn symbols(text: &[u8]) -> Vec<Vec<u8>> {
    let mut symbols = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' && at + 1 < text.len() {
            let (symbol, used) = match (escape(&text[at + 1..]), text[at + 1]) {
                (Some((byte, length)), _) => (vec![byte], length),
                (None, b'n') => (vec![b'\n'], 1),
                (None, b'\\') => (vec![b'\\'], 1),
                // Any other backslash stands for itself.
                (None, _) => (vec![b'\\'], 0),
            };
            symbols.push(symbol);
            at += 1 + used;
            continue;
        }
        let length = text[at..].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        let length = length.map_or(1, char::len_utf8);
        symbols.push(text[at..at + length].to_vec());
        at += length;
    }
    symbols
}
