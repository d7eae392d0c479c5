//! Expansion: words to strings.
//!
//! bash's order is braces, tilde, parameters, commands and arithmetic from left to right, splitting, globbing, quote
//! removal. The parser has found the braces. The parts are expanded in one walk into a `Sink`, which splits as it goes
//! and records quoted ranges. Globbing comes last, on finished fields.

mod brace;
mod glob;
mod operate;
mod parameter;
mod prompt;
mod sink;
mod tilde;
mod transform;
mod values;

#[cfg(test)]
mod tests;

use crate::pattern::Pattern;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Part, Word};

pub use glob::{glob_paths, has_hidden_name};
use sink::{Field, Mode, Sink};
pub use sink::{Ifs, split_fields};

impl Shell {
    /// Expands words to arguments: everything, splitting and globbing included.
    pub fn expand_words(&mut self, words: &[Word]) -> Result<Vec<String>, Stop> {
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            self.expand_word(word, &mut out)?;
        }
        Ok(out)
    }

    /// Expands one word to arguments.
    pub fn expand_word(&mut self, word: &Word, out: &mut Vec<String>) -> Result<(), Stop> {
        if let Some(text) = word.literal() {
            out.push(text.to_owned());
            return Ok(());
        }
        if word.parts.iter().any(|p| matches!(p, Part::Brace(_))) {
            if !self.options.has(SetOption::BRACEEXPAND) {
                return self.expand_fields(brace::literal(&word.parts).iter(), out);
            }
            for alternative in brace::alternatives(self, &word.parts)? {
                self.expand_fields(alternative.iter().map(|p| &**p), out)?;
            }
            return Ok(());
        }
        self.expand_fields(word.parts.iter(), out)
    }

    fn expand_fields<'a>(&mut self, parts: impl Iterator<Item = &'a Part>, out: &mut Vec<String>) -> Result<(), Stop> {
        let mut sink = Sink::new(Mode::Fields, self);
        self.expand_parts(parts, &mut sink)?;
        for field in sink.finish() {
            match field {
                Field::Plain(text) => out.push(text),
                Field::Glob { text, .. } if self.options.has(SetOption::NOGLOB) => out.push(text),
                Field::Glob { text, pattern } => self.glob(text, &pattern, out)?,
            }
        }
        Ok(())
    }

    /// Expands a word to one string, without splitting and globbing, for assignments, `case` and here-strings.
    pub fn expand_string(&mut self, word: &Word) -> Result<String, Stop> {
        if let Some(text) = word.literal() {
            return Ok(text.to_owned());
        }
        let mut sink = Sink::new(Mode::Single, self);
        self.expand_parts(word.parts.iter(), &mut sink)?;
        Ok(sink.text)
    }

    /// Expands the value of an assignment to a string. Tildes after colons are expanded too.
    pub fn expand_value(&mut self, word: &Word) -> Result<String, Stop> {
        if let Some(text) = word.literal() {
            return Ok(text.to_owned());
        }
        let mut sink = Sink::new(Mode::Single, self);
        sink.assignment = true;
        self.expand_parts(word.parts.iter(), &mut sink)?;
        Ok(sink.text)
    }

    /// Expands the text of a here-document.
    pub fn expand_document(&mut self, word: &Word) -> Result<String, Stop> {
        let mut sink = Sink::new(Mode::Single, self);
        sink.document = true;
        self.expand_parts(word.parts.iter(), &mut sink)?;
        Ok(sink.text)
    }

    /// Expands a word to the text of a pattern. Backslashes make quoted characters literal.
    pub fn expand_pattern(&mut self, word: &Word) -> Result<String, Stop> {
        let mut sink = Sink::new(Mode::Pattern, self);
        self.expand_parts(word.parts.iter(), &mut sink)?;
        Ok(sink.text)
    }

    /// Expands a word to the text of a regular expression. Backslashes make quoted characters literal.
    pub fn expand_regex(&mut self, word: &Word) -> Result<String, Stop> {
        let mut sink = Sink::new(Mode::Regex, self);
        self.expand_parts(word.parts.iter(), &mut sink)?;
        Ok(sink.text)
    }

    /// Compiles a pattern under the current options.
    pub fn pattern(&self, text: &str) -> Pattern {
        Pattern::new(text, self.options.shopt(Shopt::EXTGLOB), self.options.shopt(Shopt::NOCASEMATCH))
    }

    /// Expands the parts of a word into a sink.
    fn expand_parts<'a>(&mut self, parts: impl Iterator<Item = &'a Part>, sink: &mut Sink) -> Result<(), Stop> {
        let mut parts = parts.peekable();
        let mut first = true;
        while let Some(part) = parts.next() {
            match part {
                Part::Text(text) => sink.quoted(text),
                Part::Bare(text) => sink.bare(text),
                Part::Glob(text) => {
                    // The next part may continue the name, unless it starts with a slash.
                    let ends = match parts.peek() {
                        None => true,
                        Some(Part::Bare(next) | Part::Glob(next)) => next.starts_with('/'),
                        Some(_) => false,
                    };
                    self.expand_tildes(text, first, ends, sink);
                }
                Part::Parameter(parameter) => self.expand_parameter(parameter, sink)?,
                Part::Command(substitution, quoted) => {
                    let text = self.substitute(&substitution.list)?;
                    sink.value(&text, *quoted);
                }
                Part::Arith(arith, quoted) => {
                    let value = self.arith(arith)?;
                    sink.value(&value.to_string(), *quoted);
                }
                Part::Process(list, direction) => {
                    let path = self.process_substitution(list, *direction)?;
                    sink.quoted(&path);
                }
                // The parser makes neither of them at this point.
                Part::Brace(_) | Part::Assignment(_) => {}
            }
            first = false;
        }
        Ok(())
    }

    /// Ends the shell after an error that it cannot survive. A live shell gives up only its command.
    pub(crate) fn fatal(&mut self) -> Stop {
        if self.live && self.level == 0 {
            self.status = 1;
            return Stop::Abandon;
        }
        self.status = if self.options.has(SetOption::ERREXIT) { 1 } else { self.fatal_status };
        Stop::Exit
    }

    /// Reports an unset variable under `set -u`, which ends the shell.
    pub fn unbound(&mut self, name: &str) -> Stop {
        self.complain(&format!("{name}: unbound variable"));
        self.fatal()
    }
}
