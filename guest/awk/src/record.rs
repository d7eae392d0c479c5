//! The record and its fields, which are split only as far as the program reads them.

use crate::number;
use crate::split::{Progress, Span, Splitter};
use crate::value::Value;

/// The limit of fields. A larger number is a mistake and would exhaust the memory.
const MOST_FIELDS: usize = 10_000_000;

/// The record: `$0`, `$1` and so on.
pub(crate) struct Record {
    /// The text that the spans refer to. It is `$0` unless `stale` is set.
    text: Vec<u8>,
    /// A field was assigned, so `$0` has to be built again.
    stale: bool,
    spans: Vec<Span>,
    progress: Progress,
    /// `$0` as a value, created on first use. A loop over its characters reads it for each of them.
    value: Option<Value>,
    /// The values assigned to fields.
    assigned: Vec<Option<Value>>,
    pub(crate) splitter: Splitter,
}

impl Record {
    pub(crate) fn new() -> Record {
        Record {
            text: Vec::new(),
            stale: false,
            spans: Vec::new(),
            progress: Progress::default(),
            value: None,
            assigned: Vec::new(),
            splitter: Splitter::Blanks,
        }
    }

    /// Returns the buffer for the next record. `renew` has to follow.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Drops the fields of the previous record.
    #[inline]
    pub(crate) fn renew(&mut self) {
        self.stale = false;
        self.value = None;
        self.spans.clear();
        self.assigned.clear();
        self.progress = Progress::default();
    }

    pub(crate) fn set_text(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.renew();
    }

    /// Splits the current record completely with the current splitter, and sets the splitter for the next record.
    pub(crate) fn change_splitter(&mut self, splitter: Splitter) {
        self.split_to(usize::MAX);
        self.splitter = splitter;
    }

    #[inline]
    fn split_to(&mut self, wanted: usize) {
        if !self.progress.complete && self.spans.len() < wanted {
            self.splitter.split(&self.text, &mut self.progress, wanted, &mut self.spans);
        }
    }

    /// Returns NF.
    pub(crate) fn count(&mut self) -> usize {
        self.split_to(usize::MAX);
        self.spans.len()
    }

    /// Returns the whole record.
    #[inline]
    pub(crate) fn whole(&mut self, separator: &[u8], convfmt: &[u8]) -> &[u8] {
        if self.stale {
            self.build(separator, convfmt);
        }
        &self.text
    }

    /// Returns the whole record as a value.
    #[inline]
    pub(crate) fn whole_value(&mut self, separator: &[u8], convfmt: &[u8]) -> Value {
        if self.stale {
            self.build(separator, convfmt);
        }
        match &self.value {
            Some(value) => value.clone(),
            None => self.value.insert(Value::input(&self.text)).clone(),
        }
    }

    fn build(&mut self, separator: &[u8], convfmt: &[u8]) {
        let mut text = Vec::with_capacity(self.text.len() + 16);
        for (index, span) in self.spans.iter_mut().enumerate() {
            if index > 0 {
                text.extend_from_slice(separator);
            }
            let start = text.len() as u32;
            match self.assigned.get(index) {
                Some(Some(value)) => value.write(convfmt, &mut text),
                _ => text.extend_from_slice(&self.text[span.0 as usize..span.1 as usize]),
            }
            *span = (start, text.len() as u32);
        }
        self.text = text;
        self.value = None;
        self.stale = false;
    }

    /// Returns the bytes of a field, or `None` if a value was assigned to it.
    #[inline]
    pub(crate) fn bytes(&mut self, index: usize) -> Option<&[u8]> {
        self.split_to(index);
        if !self.assigned.is_empty() && self.assigned.get(index - 1).is_some_and(Option::is_some) {
            return None;
        }
        Some(self.spans.get(index - 1).map_or(&[], |span| &self.text[span.0 as usize..span.1 as usize]))
    }

    /// Returns a field. Fields are counted from 1.
    #[inline]
    pub(crate) fn field(&mut self, index: usize) -> Value {
        self.split_to(index);
        if !self.assigned.is_empty()
            && let Some(Some(value)) = self.assigned.get(index - 1)
        {
            return value.clone();
        }
        match self.spans.get(index - 1) {
            Some(span) => Value::input(&self.text[span.0 as usize..span.1 as usize]),
            None => Value::Unset,
        }
    }

    /// Returns a field as a number.
    #[inline]
    pub(crate) fn number(&mut self, index: usize) -> f64 {
        match self.bytes(index) {
            Some(bytes) => number::prefix(bytes),
            None => self.field(index).number(),
        }
    }

    /// Assigns a field, counted from 1. Missing fields before it are created.
    pub(crate) fn set_field(&mut self, index: usize, value: Value) -> Result<(), String> {
        self.split_to(usize::MAX);
        if index > self.spans.len() {
            self.set_count(index)?;
        }
        if self.assigned.len() < index {
            self.assigned.resize(index, None);
        }
        self.assigned[index - 1] = Some(value);
        self.stale = true;
        Ok(())
    }

    /// Assigns NF.
    pub(crate) fn set_count(&mut self, count: usize) -> Result<(), String> {
        if count > MOST_FIELDS {
            return Err(format!("{count} fields are too many"));
        }
        self.split_to(usize::MAX);
        self.spans.resize(count, (0, 0));
        self.assigned.truncate(count);
        self.stale = true;
        Ok(())
    }
}
