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
        // For a short string a second check is cheaper than the cache.
        if is_ascii && text.len() > 256 {
            self.ascii = Some(Rc::clone(text));
        }
        is_ascii
    }

    fn characters(&self, text: &[u8]) -> usize {
        if self.bytes { text.len() } else { text::count(text) }
    }

    /// `length`: characters of a text, or elements of an array.
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
        // A start before the first character counts as the first and does not shorten the part, as in gawk.
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
                // As for the empty string, every character is an element.
                Some(b"") => Splitter::Characters { bytes: self.bytes },
                _ => Splitter::Regex(self.regex_of(&regex)?),
            },
            Some(value) => {
                let source = value.to_text(&self.convfmt);
                self.splitter_of(&source, false)?
            }
        };
        // White space before the first field is the separator of number 0.
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
        if regex.bytes() == Some(b"") {
            return Err("patsplit: third argument must be non-null".into());
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compile, syntax};

    /// Runs a program that has only BEGIN, and returns the value of its variable `out`.
    fn out_of(program: &str, bytes: bool) -> String {
        let source = syntax::Source { name: "cmd. line".into(), text: program.as_bytes().to_vec() };
        let program = syntax::parse(&[source]).map_err(|error| error.message).unwrap();
        let mut machine = Machine::new(compile::compile(&program).unwrap(), "awk", bytes);
        if let Err(message) = machine.execute() {
            return message;
        }
        let slot = machine.global_named("out").unwrap();
        String::from_utf8(machine.globals[slot].to_text(b"%.6g")).unwrap()
    }

    const JOIN: &str = "for (i = 1; i <= n; i++) out = out \"[\" a[i] \"]\"; out = n \" \" out";

    /// Recorded from gawk 5.2.
    #[test]
    fn empty_separator_splits_into_characters() {
        for separator in ["//", "\"\"", "@//", "unset"] {
            let program = format!("BEGIN {{ n = split(\"aéc\", a, {separator}); {JOIN} }}");
            assert_eq!(out_of(&program, false), "3 [a][é][c]", "{separator}");
        }
        assert_eq!(out_of(&format!("BEGIN {{ FS = \"\"; n = split(\"ab\", a); {JOIN} }}"), false), "2 [a][b]");
        assert_eq!(out_of("BEGIN { FS = \"\"; $0 = \"abc\"; out = NF $2 }", false), "3b");
        assert_eq!(out_of("BEGIN { FS = @//; $0 = \"abc\"; out = NF $2 }", false), "3b");
        assert_eq!(out_of("BEGIN { out = split(\"\", a, //) }", false), "0");
        assert_eq!(out_of("BEGIN { n = split(\"ab\", a, //, s); out = n length(s) \"[\" s[1] \"]\" }", false), "21[]");
        assert_eq!(out_of("BEGIN { out = split(\"é\", a, //) split(\"é\", a, \"\") }", true), "22");
    }

    /// Recorded from gawk 5.2.
    #[test]
    fn expressions_that_can_match_nothing_do_not_separate() {
        for separator in ["/x*/", "\"x*\"", "/()/", "/$/"] {
            let program = format!("BEGIN {{ n = split(\"abc\", a, {separator}); {JOIN} }}");
            assert_eq!(out_of(&program, false), "1 [abc]", "{separator}");
        }
        assert_eq!(out_of(&format!("BEGIN {{ n = split(\"axbc\", a, /x*/); {JOIN} }}"), false), "2 [a][bc]");
    }

    /// Recorded from gawk 5.2.
    #[test]
    fn empty_expression_matches_everywhere() {
        assert_eq!(out_of("BEGIN { s = \"abc\"; n = gsub(//, \"-\", s); out = n s }", false), "4-a-b-c-");
        assert_eq!(out_of("BEGIN { s = \"\"; n = gsub(//, \"-\", s); out = n s }", false), "1-");
        assert_eq!(out_of("BEGIN { s = \"abc\"; n = sub(//, \"-\", s); out = n s }", false), "1-abc");
        assert_eq!(out_of("BEGIN { out = gensub(//, \"-\", 2, \"abc\") }", false), "a-bc");
        assert_eq!(out_of("BEGIN { out = match(\"abc\", //) RSTART RLENGTH }", false), "110");
        assert_eq!(out_of("BEGIN { out = (\"abc\" ~ //) (\"\" ~ //) (\"a\" !~ //) }", false), "110");
        assert_eq!(
            out_of("BEGIN { out = patsplit(\"a\", a, //) }", false),
            "patsplit: third argument must be non-null"
        );
    }
}
