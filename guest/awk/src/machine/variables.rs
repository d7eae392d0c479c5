//! Variables with side effects, lvalues and regular expressions.

use std::rc::Rc;

use isopod_regex::Regex;

use super::{Lvalue, Machine, Run};
use crate::code::global;
use crate::input::Separator;
use crate::pattern;
use crate::split::Splitter;
use crate::syntax::lexer::unescape_all;
use crate::value::Value;

/// The limit of compiled regular expressions kept for strings. A loop over more patterns compiles them again.
const CACHED_REGEXES: usize = 512;

impl Machine {
    /// Returns the regular expression of a value.
    pub(crate) fn regex_of(&mut self, value: &Value) -> Run<Rc<Regex>> {
        if let Value::Regex(literal) = value {
            return literal.regex(self.ignore_case);
        }
        match value.bytes() {
            Some(source) => self.regex_of_text(source),
            None => self.regex_of_text(&value.to_text(&self.convfmt)),
        }
    }

    pub(crate) fn regex_of_text(&mut self, source: &[u8]) -> Run<Rc<Regex>> {
        if let Some(known) = self.regexes.get(source) {
            return Ok(Rc::clone(known));
        }
        let regex = Rc::new(pattern::compile(source, self.ignore_case)?);
        if self.regexes.len() >= CACHED_REGEXES {
            self.regexes.clear();
        }
        self.regexes.insert(source.to_vec(), Rc::clone(&regex));
        Ok(regex)
    }

    #[inline]
    pub(super) fn field(&mut self, index: usize) -> Value {
        match index {
            0 => self.record.whole_value(&self.ofs, &self.convfmt),
            index => self.record.field(index),
        }
    }

    pub(super) fn set_field(&mut self, index: usize, value: Value) -> Run<()> {
        if index == 0 {
            let text = value.to_text(&self.convfmt);
            self.record.set_text(&text);
            return Ok(());
        }
        self.record.set_field(index, value)
    }

    /// Assigns a variable whose assignment has side effects.
    pub(crate) fn set_hooked(&mut self, slot: usize, value: Value) -> Run<()> {
        let text = || value.to_text(&self.convfmt);
        match slot {
            global::NF => {
                let count = value.number();
                if count < 0.0 || count.is_nan() {
                    return Err("NF set to negative value".into());
                }
                return self.record.set_count(count as usize);
            }
            global::NR => self.nr = value.number(),
            global::FNR => self.fnr = value.number(),
            global::OFS => {
                // A record changed before the assignment is built with the old separator.
                self.record.whole(&self.ofs, &self.convfmt);
                self.ofs = value.to_text(&self.convfmt);
            }
            global::ORS => self.ors = text(),
            global::SUBSEP => self.subsep = text(),
            global::CONVFMT => self.convfmt = text(),
            global::OFMT => self.ofmt = text(),
            global::IGNORECASE => {
                let ignore = value.truth();
                if ignore != self.ignore_case {
                    self.ignore_case = ignore;
                    self.regexes.clear();
                    self.globals[slot] = value;
                    self.renew_separator()?;
                    return self.renew_splitter();
                }
            }
            global::RS => {
                self.globals[slot] = value;
                self.renew_separator()?;
                return self.renew_splitter();
            }
            global::FS | global::FIELDWIDTHS | global::FPAT => {
                self.globals[slot] = value;
                self.split_by = slot;
                return self.renew_splitter();
            }
            _ => {}
        }
        self.globals[slot] = value;
        Ok(())
    }

    fn renew_separator(&mut self) -> Run<()> {
        let text = self.globals[global::RS].to_text(&self.convfmt);
        self.separator = match text.as_slice() {
            [] => Separator::Paragraphs,
            [byte] if !(self.ignore_case && byte.is_ascii_alphabetic()) => Separator::Byte(*byte),
            source => Separator::Regex(self.regex_of_text(source)?),
        };
        Ok(())
    }

    fn renew_splitter(&mut self) -> Run<()> {
        let text = self.globals[self.split_by].to_text(&self.convfmt);
        let splitter = match self.split_by {
            global::FIELDWIDTHS => Splitter::Widths(Rc::new(widths(&text)?)),
            global::FPAT => Splitter::Content(self.regex_of_text(&text)?),
            _ => {
                let newlines = matches!(self.separator, Separator::Paragraphs);
                self.splitter_of(&text, newlines)?
            }
        };
        self.record.change_splitter(splitter);
        Ok(())
    }

    /// Returns the splitter of a field separator.
    pub(crate) fn splitter_of(&mut self, separator: &[u8], newlines: bool) -> Run<Splitter> {
        Ok(match separator {
            b" " => Splitter::Blanks,
            [] => Splitter::Characters { bytes: self.bytes },
            [byte] if !(self.ignore_case && byte.is_ascii_alphabetic()) && byte.is_ascii() => {
                Splitter::Byte { byte: *byte, newlines }
            }
            source => Splitter::Regex(self.regex_of_text(source)?),
        })
    }

    /// Returns the splitter of FS, for `split` without a separator.
    pub(crate) fn current_splitter(&mut self) -> Run<Splitter> {
        let text = self.globals[global::FS].to_text(&self.convfmt);
        self.splitter_of(&text, false)
    }

    pub(crate) fn set_global(&mut self, slot: usize, value: Value) -> Run<()> {
        if slot < global::HOOKED {
            return self.set_hooked(slot, value);
        }
        if let Value::Array(_) = self.globals[slot] {
            return Err(format!("cannot use array `{}' as a variable", self.code.globals[slot]));
        }
        self.globals[slot] = value;
        Ok(())
    }

    /// Returns the value of the current lvalue, and keeps the lvalue.
    pub(crate) fn lvalue_value(&mut self) -> Run<Value> {
        let value = match self.lvalues.last() {
            Some(Lvalue::Global(slot)) => {
                let slot = *slot;
                self.computed(slot)
            }
            Some(Lvalue::Local(slot)) => self.stack[*slot].clone(),
            Some(Lvalue::Field(index)) => {
                let index = *index;
                self.field(index)
            }
            Some(Lvalue::Element(array, key)) => {
                let mut buffer = Vec::new();
                let key = super::operators::key_of(key, &self.convfmt, &mut buffer);
                array.borrow_mut().element(key).clone()
            }
            None => Value::Unset,
        };
        match value {
            Value::Array(_) => Err("attempt to use an array in a scalar context".into()),
            value => Ok(value),
        }
    }

    /// Drops the current lvalue.
    pub(crate) fn drop_lvalue(&mut self) {
        self.lvalues.pop();
    }

    /// Assigns to the current lvalue, and drops it.
    pub(crate) fn set_lvalue(&mut self, value: Value) -> Run<()> {
        match self.lvalues.pop() {
            Some(Lvalue::Global(slot)) => self.set_global(slot, value),
            Some(Lvalue::Local(slot)) => {
                self.stack[slot] = value;
                Ok(())
            }
            Some(Lvalue::Field(index)) => self.set_field(index, value),
            Some(Lvalue::Element(array, key)) => {
                let mut buffer = Vec::new();
                let key = super::operators::key_of(&key, &self.convfmt, &mut buffer);
                *array.borrow_mut().element(key) = value;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Performs an assignment `name=value` of an operand or an option. A name that the program does not use is
    /// ignored.
    pub(crate) fn assign_text(&mut self, name: &str, text: &[u8]) -> Run<()> {
        let value = Value::input(&unescape_all(text));
        match self.global_named(name) {
            Some(slot) => self.set_global(slot, value),
            None => Ok(()),
        }
    }
}

/// Parses FIELDWIDTHS: numbers, each with an optional number to skip in front. `*` takes the rest.
fn widths(text: &[u8]) -> Run<Vec<(usize, Option<usize>)>> {
    let text = String::from_utf8_lossy(text);
    let wrong = |word: &str| format!("invalid FIELDWIDTHS value, for field near `{word}'");
    text.split_whitespace()
        .map(|word| {
            let (skip, width) = word.split_once(':').unwrap_or(("0", word));
            let skip = skip.parse().map_err(|_| wrong(word))?;
            match width {
                "*" => Ok((skip, None)),
                width => Ok((skip, Some(width.parse().map_err(|_| wrong(word))?))),
            }
        })
        .collect()
}
