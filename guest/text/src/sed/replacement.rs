//! The replacement of `s`.

use isopod_regex::Captures;

use super::pattern::escape;

/// A replacement, divided into parts.
#[derive(Default)]
pub(super) struct Replacement {
    parts: Vec<Part>,
    /// The highest group referenced.
    pub(super) highest: usize,
    has_cases: bool,
}

enum Part {
    Text(Vec<u8>),
    Group(usize),
    Case(Case),
}

/// The case conversions `\U`, `\L`, `\E`, and `\u`, `\l` for one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
    End,
    UpperOne,
    LowerOne,
}

/// The case conversions in force.
#[derive(Default)]
struct Cases {
    all: Option<Case>,
    one: Option<Case>,
}

impl Replacement {
    pub(super) fn parse(text: &[u8]) -> Replacement {
        let mut replacement = Replacement::default();
        let mut plain = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            at += 1;
            let part = match byte {
                b'&' => Part::Group(0),
                b'\\' if at < text.len() => {
                    let next = text[at];
                    let taken = escape(&text[at..]);
                    at += taken.map_or(1, |(_, length)| length);
                    match next {
                        b'0'..=b'9' => Part::Group(usize::from(next - b'0')),
                        b'U' => Part::Case(Case::Upper),
                        b'L' => Part::Case(Case::Lower),
                        b'E' => Part::Case(Case::End),
                        b'u' => Part::Case(Case::UpperOne),
                        b'l' => Part::Case(Case::LowerOne),
                        next => {
                            plain.push(match (taken, next) {
                                (Some((byte, _)), _) => byte,
                                (None, b'n') => b'\n',
                                (None, next) => next,
                            });
                            continue;
                        }
                    }
                }
                byte => {
                    plain.push(byte);
                    continue;
                }
            };
            replacement.push(&mut plain, Some(part));
        }
        replacement.push(&mut plain, None);
        replacement
    }

    fn push(&mut self, plain: &mut Vec<u8>, part: Option<Part>) {
        if !plain.is_empty() {
            self.parts.push(Part::Text(std::mem::take(plain)));
        }
        match &part {
            Some(Part::Group(group)) => self.highest = self.highest.max(*group),
            Some(Part::Case(_)) => self.has_cases = true,
            _ => {}
        }
        self.parts.extend(part);
    }

    /// Appends the replacement of a match.
    pub(super) fn apply(&self, text: &[u8], captures: &Captures, whole: (usize, usize), out: &mut Vec<u8>) {
        let mut cases = Cases::default();
        for part in &self.parts {
            let bytes = match part {
                Part::Case(case) => {
                    match case {
                        Case::Upper | Case::Lower => cases.all = Some(*case),
                        Case::End => cases = Cases::default(),
                        Case::UpperOne | Case::LowerOne => cases.one = Some(*case),
                    }
                    continue;
                }
                Part::Text(bytes) => bytes.as_slice(),
                Part::Group(0) => &text[whole.0..whole.1],
                Part::Group(group) => captures.get(*group).map_or(&[][..], |(start, end)| &text[start..end]),
            };
            if self.has_cases {
                cases.push(bytes, out);
            } else {
                out.extend_from_slice(bytes);
            }
        }
    }
}

impl Cases {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                let case = self.one.take().or(self.all);
                let mut buffer = [0; 4];
                match case {
                    Some(Case::Upper | Case::UpperOne) => only(c.to_uppercase(), c, &mut buffer, out),
                    Some(Case::Lower | Case::LowerOne) => only(c.to_lowercase(), c, &mut buffer, out),
                    _ => out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
                }
            }
            out.extend_from_slice(chunk.invalid());
        }
    }
}

/// Appends the converted character. As in C, a conversion to several characters is ignored.
fn only(mut changed: impl Iterator<Item = char>, c: char, buffer: &mut [u8; 4], out: &mut Vec<u8>) {
    let first = changed.next().filter(|_| changed.next().is_none()).unwrap_or(c);
    out.extend_from_slice(first.encode_utf8(buffer).as_bytes());
}
