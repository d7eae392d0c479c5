//! A line of the index, for a terminal, for roff or for TeX.

use isopod_gnu::output::Out;

use super::fields::{Field, Fields, Layout};
use super::options::Format;
use super::text::is_white;

/// Writes a line.
pub(super) fn line(fields: &Fields, layout: &Layout, out: &mut Out) {
    let mut writer = Writer { fields, layout, out };
    match layout.settings.format {
        Format::Plain => writer.plain(),
        Format::Roff => writer.roff(),
        Format::Tex => writer.tex(),
    }
    out.byte(b'\n');
}

struct Writer<'a> {
    fields: &'a Fields<'a>,
    layout: &'a Layout<'a>,
    out: &'a mut Out,
}

impl Writer<'_> {
    fn plain(&mut self) {
        let Fields { tail, before, after, head, reference, .. } = self.fields;
        let settings = self.layout.settings;
        let half = self.layout.half;
        if !settings.right_reference {
            self.text(reference);
            // Emacs finds the line by this colon, which is the first column of the gap.
            let colon = settings.auto_reference;
            if colon {
                self.out.byte(b':');
            }
            self.spaces(self.layout.reference_columns() - reference.len() as i64 - i64::from(colon));
        }
        let has_tail = tail.width() > 0;
        if has_tail {
            self.cut_after(tail);
        }
        let used = if has_tail { self.columns(tail) } else { 0 };
        self.spaces(half - settings.gap - self.columns(before) - used);
        self.cut_before(before);
        self.spaces(settings.gap);
        self.cut_after(after);
        let at_right = settings.has_references() && settings.right_reference;
        if head.width() > 0 {
            self.spaces(half - self.columns(after) - self.columns(head));
            self.cut_before(head);
        } else if at_right {
            self.spaces(half - self.columns(after));
        }
        if at_right {
            self.spaces(settings.gap);
            self.text(reference);
        }
    }

    fn roff(&mut self) {
        let Fields { tail, before, after, head, reference, .. } = self.fields;
        self.out.push(format!(".{} \"", self.layout.settings.macro_name).as_bytes());
        self.cut_after(tail);
        self.out.push(b"\" \"");
        self.cut_before(before);
        self.out.push(b"\" \"");
        self.cut_after(after);
        self.out.push(b"\" \"");
        self.cut_before(head);
        if self.layout.settings.has_references() {
            self.out.push(b"\" \"");
            self.text(reference);
        }
        self.out.byte(b'"');
    }

    fn tex(&mut self) {
        let Fields { text, tail, before, after, head, reference } = self.fields;
        let key_end = self.layout.settings.words.skip(text, after.start, after.end);
        let key = Field { end: key_end, ..*after };
        let rest = Field { start: key_end, ..*after };
        self.out.push(format!("\\{} ", self.layout.settings.macro_name).as_bytes());
        for field in [tail, before, &key, &rest, head] {
            self.out.byte(b'{');
            self.field(field);
            self.out.byte(b'}');
        }
        if self.layout.settings.has_references() {
            self.out.byte(b'{');
            self.text(reference);
            self.out.byte(b'}');
        }
    }

    /// Writes a field, and a mark if it is cut at its end.
    fn cut_after(&mut self, field: &Field) {
        self.field(field);
        self.mark(field);
    }

    /// Writes a field, and a mark if it is cut at its start.
    fn cut_before(&mut self, field: &Field) {
        self.mark(field);
        self.field(field);
    }

    fn mark(&mut self, field: &Field) {
        if field.is_cut {
            self.out.push(&self.layout.settings.truncation);
        }
    }

    /// Returns the width of a field with its mark.
    fn columns(&self, field: &Field) -> i64 {
        field.width() + if field.is_cut { self.layout.settings.truncation.len() as i64 } else { 0 }
    }

    fn field(&mut self, field: &Field) {
        self.text(self.fields.text.bytes.get(field.start..field.end).unwrap_or_default());
    }

    /// Writes text with the escapes of the format; all white space becomes spaces.
    fn text(&mut self, text: &[u8]) {
        for byte in text {
            match (self.layout.settings.format, *byte) {
                (_, byte) if is_white(byte) => self.out.byte(b' '),
                (Format::Roff, b'"') => self.out.push(b"\"\""),
                (Format::Tex, b'$' | b'%' | b'&' | b'#' | b'_') => self.out.push(&[b'\\', *byte]),
                (Format::Tex, b'{' | b'}') => self.out.push(&[b'$', b'\\', *byte, b'$']),
                (Format::Tex, b'\\') => self.out.push(b"\\backslash{}"),
                (_, byte) => self.out.byte(byte),
            }
        }
    }

    /// Writes spaces, none for a negative count, in pieces: a line may be wider than memory.
    fn spaces(&mut self, mut count: i64) {
        while count > 0 && !self.out.has_failed() {
            let piece = count.min(256);
            self.out.push(&[b' '; 256][..piece as usize]);
            count -= piece;
        }
    }
}
