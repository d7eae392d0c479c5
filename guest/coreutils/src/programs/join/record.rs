//! A line of `join`, in fields.

/// The separator of fields.
#[derive(Clone, Copy)]
pub(super) enum Separator {
    /// Any number of blanks; leading ones are ignored.
    Blanks,
    Byte(u8),
    /// A line is one field.
    None,
}

impl Separator {
    /// Returns the separator of the output.
    pub(super) fn output(self) -> u8 {
        match self {
            Separator::Byte(byte) => byte,
            Separator::Blanks => b' ',
            Separator::None => b'\n',
        }
    }
}

/// A line and the positions of its fields.
#[derive(Clone)]
pub(super) struct Record {
    line: Vec<u8>,
    fields: Vec<(usize, usize)>,
}

impl Record {
    pub(super) fn new(line: &[u8], separator: Separator) -> Record {
        let mut fields = Vec::new();
        match separator {
            _ if line.is_empty() => {}
            Separator::None => fields.push((0, line.len())),
            Separator::Byte(byte) => {
                let mut start = 0;
                for end in memchr::memchr_iter(byte, line).chain([line.len()]) {
                    fields.push((start, end));
                    start = end + 1;
                }
            }
            Separator::Blanks => {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
                let mut at = line.iter().take_while(|byte| blank(byte)).count();
                while at < line.len() {
                    let end = line[at..].iter().position(blank).map_or(line.len(), |length| at + length);
                    fields.push((at, end));
                    if end == line.len() {
                        break;
                    }
                    at = line[end..].iter().position(|byte| !blank(byte)).map_or(line.len(), |length| end + length);
                    if at == line.len() {
                        // Blanks at the end stand before a last field that is empty.
                        fields.push((at, at));
                    }
                }
            }
        }
        Record { line: line.to_vec(), fields }
    }

    /// Returns a field, counted from 0.
    pub(super) fn get(&self, number: usize) -> Option<&[u8]> {
        self.fields.get(number).map(|(start, end)| &self.line[*start..*end])
    }

    /// Returns a field; empty if there is none.
    pub(super) fn field(&self, number: usize) -> &[u8] {
        self.get(number).unwrap_or_default()
    }

    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.line
    }
}
