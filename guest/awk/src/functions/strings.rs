//! String functions: length, parts, searching and splitting.

use std::rc::Rc;

use isopod_regex::Captures;

use crate::array::Key;
use crate::code::global;
use crate::machine::{Machine, Run};
use crate::split::Splitter;
use crate::text;
use crate::value::{ArrayRef, Value};

impl Machine {
    /// Returns true if every byte of a value is a character.
    fn is_plain(&mut self, value: &Value) -> bool {
        let Value::Long { text, .. } = value else {
            return self.bytes || value.bytes().is_none_or(<[u8]>::is_ascii);
        };
        if self.bytes || self.ascii.as_ref().is_some_and(|known| Rc::ptr_eq(known, text)) {
            return true;
        }
        let is_ascii = text.is_ascii();
        // A short string is checked again faster than it is remembered.
        if is_ascii && text.len() > 256 {
            self.ascii = Some(Rc::clone(text));
        }
        is_ascii
    }

    fn characters(&self, text: &[u8]) -> usize {
        if self.bytes { text.len() } else { text::count(text) }
    }

    pub(super) fn length(&mut self, count: usize) -> Run<Value> {
        if count == 0 {
            let record = self.record_text();
            return Ok(Value::Number(self.characters(&record) as f64));
        }
        let value = self.pop();
        Ok(Value::Number(match &value {
            Value::Array(array) => array.borrow().len() as f64,
            value => match value.bytes() {
                Some(bytes) if self.is_plain(value) => bytes.len() as f64,
                Some(bytes) => self.characters(bytes) as f64,
                None => value.to_text(&self.convfmt).len() as f64,
            },
        }))
    }

    /// Returns a copy of `$0`.
    pub(super) fn record_text(&mut self) -> Vec<u8> {
        let value = self.whole_record();
        value.to_vec()
    }

    pub(super) fn substr(&mut self, count: usize) -> Value {
        let length = if count == 3 { self.pop().number() } else { f64::INFINITY };
        let start = self.pop().number();
        let value = self.pop();
        let is_plain = self.is_plain(&value);
        let mut converted = Vec::new();
        let whole = match value.bytes() {
            Some(bytes) => bytes,
            None => {
                value.write(&self.convfmt, &mut converted);
                &converted
            }
        };
        // A start before the first character counts as the first and does not shorten the part, as in gawk and mawk.
        let skip = (start - 1.0).max(0.0) as usize;
        let take = if length.is_finite() { length.max(0.0) as usize } else { usize::MAX };
        if start.is_nan() || length.is_nan() || take == 0 {
            return Value::string(b"");
        }
        if is_plain {
            let from = skip.min(whole.len());
            let to = from.saturating_add(take).min(whole.len());
            return Value::string(&whole[from..to]);
        }
        let from = text::offset(whole, skip);
        let to = if take == usize::MAX { whole.len() } else { from + text::offset(&whole[from..], take) };
        Value::string(&whole[from..to])
    }

    pub(super) fn index(&mut self) -> Value {
        let needle = self.pop_text();
        let value = self.pop();
        let haystack = value.to_text(&self.convfmt);
        let found = if self.ignore_case {
            let (haystack, needle) = (haystack.to_ascii_lowercase(), needle.to_ascii_lowercase());
            memchr::memmem::find(&haystack, &needle)
        } else {
            memchr::memmem::find(&haystack, &needle)
        };
        Value::Number(found.map_or(0.0, |at| self.characters(&haystack[..at]) as f64 + 1.0))
    }

    pub(super) fn change_case(&mut self, upper: bool) -> Value {
        let text = self.pop_text();
        Value::owned(match (upper, self.bytes) {
            (true, true) => text.to_ascii_uppercase(),
            (false, true) => text.to_ascii_lowercase(),
            (true, false) => text::mapped(&text, u8::to_ascii_uppercase, text::upper),
            (false, false) => text::mapped(&text, u8::to_ascii_lowercase, text::lower),
        })
    }

    pub(super) fn split(&mut self, count: usize) -> Run<Value> {
        let separators = if count == 4 { Some(self.pop_array()?) } else { None };
        let separator = if count >= 3 { Some(self.pop()) } else { None };
        let array = self.pop_array()?;
        let text = self.pop_text();
        let splitter = match separator {
            None => self.current_splitter()?,
            Some(regex @ Value::Regex(_)) => match regex.bytes() {
                // `/ /` is a single blank, not a run of them.
                Some(b" ") => Splitter::Byte { byte: b' ', newlines: false },
                _ => Splitter::Regex(self.regex_of(&regex)?),
            },
            Some(value) => {
                let source = value.to_text(&self.convfmt);
                self.splitter_of(&source, false)?
            }
        };
        let leading = match (&splitter, &separators) {
            (Splitter::Blanks, Some(_)) => text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count(),
            _ => 0,
        };
        let count = fill(&array, separators.as_ref(), &text, &splitter);
        if let (Some(separators), true) = (&separators, leading > 0) {
            *separators.borrow_mut().element(Key::Integer(0)) = Value::string(&text[..leading]);
        }
        Ok(Value::Number(count as f64))
    }

    pub(super) fn patsplit(&mut self, count: usize) -> Run<Value> {
        let separators = if count == 4 { Some(self.pop_array()?) } else { None };
        let regex = if count >= 3 { self.pop() } else { self.globals[global::FPAT].clone() };
        let array = self.pop_array()?;
        let text = self.pop_text();
        let splitter = Splitter::Content(self.regex_of(&regex)?);
        let count = fill(&array, separators.as_ref(), &text, &splitter);
        if let Some(separators) = &separators {
            let mut end = text.len();
            let mut seen = false;
            splitter.each(&text, |field, _| {
                if !seen {
                    end = field.0;
                    seen = true;
                }
            });
            *separators.borrow_mut().element(Key::Integer(0)) = Value::string(&text[..end]);
        }
        Ok(Value::Number(count as f64))
    }

    pub(super) fn match_text(&mut self, count: usize) -> Run<Value> {
        let array = if count == 3 { Some(self.pop_array()?) } else { None };
        let regex = self.pop();
        let text = self.pop_text();
        let regex = self.regex_of(&regex)?;
        let mut captures = Captures::default();
        let found = match &array {
            Some(_) if regex.captures_at(&text, 0, &mut captures) => captures.get(0),
            Some(_) => None,
            None => regex.find_at(&text, 0),
        };
        if let Some(array) = &array {
            array.borrow_mut().clear();
        }
        let (start, length) = match found {
            Some((start, end)) => {
                (self.characters(&text[..start]) as f64 + 1.0, self.characters(&text[start..end]) as f64)
            }
            None => (0.0, -1.0),
        };
        if let (Some(array), Some(_)) = (&array, found) {
            let mut array = array.borrow_mut();
            let subsep = self.globals[global::SUBSEP].to_text(&self.convfmt);
            for group in 0..captures.count() {
                let Some((from, to)) = captures.get(group) else { continue };
                *array.element(Key::Integer(group as i64)) = Value::input(&text[from..to]);
                let key = |word: &[u8]| [group.to_string().as_bytes(), &subsep, word].concat();
                let position = self.characters(&text[..from]) as f64 + 1.0;
                *array.element(Key::of_text(&key(b"start"))) = Value::Number(position);
                let length = self.characters(&text[from..to]) as f64;
                *array.element(Key::of_text(&key(b"length"))) = Value::Number(length);
            }
        }
        self.globals[global::RSTART] = Value::Number(start);
        self.globals[global::RLENGTH] = Value::Number(length);
        Ok(Value::Number(start))
    }
}

/// Stores the fields of a text in an array, and the separators between them in another.
fn fill(array: &ArrayRef, separators: Option<&ArrayRef>, text: &[u8], splitter: &Splitter) -> usize {
    let mut fields = array.borrow_mut();
    fields.clear();
    if let Some(separators) = separators {
        separators.borrow_mut().clear();
    }
    let mut count = 0;
    let mut ends = Vec::new();
    splitter.each(text, |field, separator| {
        count += 1;
        *fields.element(Key::Integer(count)) = Value::input(&text[field.0..field.1]);
        if separators.is_some() {
            ends.push(separator);
        }
    });
    if let Some(separators) = separators {
        let mut separators = separators.borrow_mut();
        for (index, separator) in ends.iter().enumerate() {
            let is_last = index + 1 == ends.len();
            if !is_last || separator.0 < separator.1 {
                *separators.element(Key::Integer(index as i64 + 1)) = Value::string(&text[separator.0..separator.1]);
            }
        }
    }
    count as usize
}
