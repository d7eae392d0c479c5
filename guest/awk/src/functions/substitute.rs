//! `sub`, `gsub` and `gensub`.

use isopod_regex::{Captures, Regex};

use crate::machine::{Machine, Run};
use crate::value::Value;

/// A part of a replacement.
enum Piece {
    Text(Vec<u8>),
    /// The text of a group. 0 is the whole match.
    Group(usize),
}

/// The matches to replace.
#[derive(Clone, Copy)]
enum Which {
    All,
    /// The match of this number, from 1.
    Only(usize),
}

impl Machine {
    /// Runs `sub` or `gsub` on the current lvalue, and pushes the count.
    pub(crate) fn substitute(&mut self, global: bool) -> Run<()> {
        let replacement = self.pop_text();
        let regex = self.pop();
        let regex = self.regex_of(&regex)?;
        let target = self.lvalue_value()?;
        let target = target.to_text(&self.convfmt);
        let pieces = pieces(&replacement);
        let which = if global { Which::All } else { Which::Only(1) };
        match replaced(&regex, &target, &pieces, which) {
            Some((text, count)) => {
                self.set_lvalue(Value::owned(text))?;
                self.push(Value::Number(count as f64));
            }
            None => {
                self.drop_lvalue();
                self.push(Value::Number(0.0));
            }
        }
        Ok(())
    }

    pub(super) fn gensub(&mut self, count: usize) -> Run<Value> {
        let target = if count == 4 { self.pop_text() } else { Vec::new() };
        let how = self.pop();
        let replacement = self.pop_text();
        let regex = self.pop();
        let regex = self.regex_of(&regex)?;
        let target = if count == 4 { target } else { self.record_text() };
        let which = match how.bytes() {
            Some([b'g' | b'G', ..]) => Which::All,
            _ => {
                let number = how.number();
                if number < 1.0 {
                    let shown = String::from_utf8_lossy(&how.to_text(&self.convfmt)).into_owned();
                    self.warn(&format!("gensub: third argument `{shown}' treated as 1"));
                }
                Which::Only(number.max(1.0) as usize)
            }
        };
        let pieces = general_pieces(&replacement);
        Ok(match replaced(&regex, &target, &pieces, which) {
            Some((text, _)) => Value::owned(text),
            None => Value::owned(target),
        })
    }
}

/// Parses the replacement of `sub`: `&` is the match, `\&` an ampersand, `\\&` a backslash and the match.
fn pieces(replacement: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < replacement.len() {
        match &replacement[at..] {
            [b'\\', b'\\', b'\\', b'&', ..] => {
                plain.extend_from_slice(b"\\&");
                at += 4;
            }
            [b'\\', b'\\', b'&', ..] => {
                plain.push(b'\\');
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Group(0));
                at += 3;
            }
            [b'\\', b'&', ..] => {
                plain.push(b'&');
                at += 2;
            }
            [b'&', ..] => {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Group(0));
                at += 1;
            }
            [byte, ..] => {
                plain.push(*byte);
                at += 1;
            }
            [] => break,
        }
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// Parses the replacement of `gensub`: groups as `\1`, the match as `\0` or `&`, and a backslash doubled.
fn general_pieces(replacement: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < replacement.len() {
        let group = match &replacement[at..] {
            [b'\\', digit @ b'0'..=b'9', ..] => {
                at += 2;
                usize::from(digit - b'0')
            }
            [b'\\', escaped @ (b'&' | b'\\'), ..] => {
                plain.push(*escaped);
                at += 2;
                continue;
            }
            [b'&', ..] => {
                at += 1;
                0
            }
            [byte, ..] => {
                plain.push(*byte);
                at += 1;
                continue;
            }
            [] => break,
        };
        pieces.push(Piece::Text(std::mem::take(&mut plain)));
        pieces.push(Piece::Group(group));
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// Returns the text with matches replaced and their number, or `None` if there is no match.
fn replaced(regex: &Regex, target: &[u8], pieces: &[Piece], which: Which) -> Option<(Vec<u8>, usize)> {
    let needs_groups = pieces.iter().any(|piece| matches!(piece, Piece::Group(1..)));
    let mut captures = Captures::default();
    let mut out = Vec::new();
    let (mut copied, mut seen, mut count) = (0, 0, 0);
    let mut matches = regex.matches(target);
    while let Some((start, end)) = matches.next(needs_groups.then_some(&mut captures)) {
        seen += 1;
        if let Which::Only(number) = which
            && number != seen
        {
            continue;
        }
        count += 1;
        out.extend_from_slice(&target[copied..start]);
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Group(0) => out.extend_from_slice(&target[start..end]),
                Piece::Group(group) => {
                    if let Some((start, end)) = captures.get(*group) {
                        out.extend_from_slice(&target[start..end]);
                    }
                }
            }
        }
        copied = end;
        if let Which::Only(_) = which {
            break;
        }
    }
    if count == 0 {
        return None;
    }
    out.extend_from_slice(&target[copied..]);
    Some((out, count))
}
