//! The formats of `-printf`.

use super::age::Stamp;

/// A part of a format.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// Literal bytes, because `\NNN` names any byte.
    Text(Vec<u8>),
    /// A directive with its flags, width and precision.
    Directive(Field, Shape),
    /// `\c`: ends the output of this format.
    Stop,
}

/// The value that a directive shows.
#[derive(Debug, PartialEq)]
pub(super) enum Field {
    /// A directive of one letter in GNU's table, such as `p` and `s`.
    Letter(char),
    /// A time by `strftime`'s letter.
    Time(Stamp, char),
    /// A time as `ctime` writes it.
    WholeTime(Stamp),
}

/// The flags, width and precision of a directive.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) left: bool,
    pub(super) zero: bool,
    pub(super) plus: bool,
    pub(super) blank: bool,
    pub(super) alternate: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

/// The largest width. A larger one in a hostile format would fill the memory.
const WIDEST: usize = 1 << 16;

/// Reads a format. Adds a warning for each unknown escape or directive, which is printed literally.
pub(super) fn parse(format: &str, warnings: &mut Vec<String>) -> Result<Vec<Piece>, String> {
    let chars: Vec<char> = format.chars().collect();
    let (mut pieces, mut text) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        at += 1;
        match c {
            '\\' => match escape(&chars, &mut at, warnings) {
                Escape::Byte(byte) => text.push(byte),
                Escape::Unknown(c) => push(&mut text, &['\\', c]),
                Escape::Stop => {
                    end_text(&mut text, &mut pieces);
                    pieces.push(Piece::Stop);
                    return Ok(pieces);
                }
            },
            '%' if chars.get(at) == Some(&'%') => {
                at += 1;
                text.push(b'%');
            }
            '%' => {
                let start = at;
                let shape = shape(&chars, &mut at)?;
                let Some(letter) = chars.get(at) else {
                    return Err("error: % at end of format string".into());
                };
                at += 1;
                match field(*letter, &chars, &mut at)? {
                    Some(field) => {
                        end_text(&mut text, &mut pieces);
                        pieces.push(Piece::Directive(field, shape));
                    }
                    None => {
                        warnings.push(format!("unrecognized format directive `%{letter}'"));
                        push(&mut text, &chars[start - 1..at]);
                    }
                }
            }
            c => push(&mut text, &[*c]),
        }
    }
    end_text(&mut text, &mut pieces);
    Ok(pieces)
}

fn end_text(text: &mut Vec<u8>, pieces: &mut Vec<Piece>) {
    if !text.is_empty() {
        pieces.push(Piece::Text(std::mem::take(text)));
    }
}

fn push(text: &mut Vec<u8>, chars: &[char]) {
    text.extend(chars.iter().collect::<String>().into_bytes());
}

enum Escape {
    Byte(u8),
    Unknown(char),
    Stop,
}

fn escape(chars: &[char], at: &mut usize, warnings: &mut Vec<String>) -> Escape {
    let Some(c) = chars.get(*at) else {
        warnings.push("escape `\\' followed by nothing at all".into());
        return Escape::Byte(b'\\');
    };
    *at += 1;
    Escape::Byte(match c {
        'a' => 0x07,
        'b' => 0x08,
        'c' => return Escape::Stop,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '0'..='7' => {
            let mut value = c.to_digit(8).unwrap_or(0);
            for _ in 0..2 {
                let Some(digit) = chars.get(*at).and_then(|c| c.to_digit(8)) else {
                    break;
                };
                value = value * 8 + digit;
                *at += 1;
            }
            value as u8
        }
        c => {
            warnings.push(format!("unrecognized escape `\\{c}'"));
            return Escape::Unknown(*c);
        }
    })
}

fn shape(chars: &[char], at: &mut usize) -> Result<Shape, String> {
    let mut shape = Shape::default();
    while let Some(c) = chars.get(*at) {
        match c {
            '-' => shape.left = true,
            '0' => shape.zero = true,
            '+' => shape.plus = true,
            ' ' => shape.blank = true,
            '#' => shape.alternate = true,
            _ => break,
        }
        *at += 1;
    }
    shape.width = number(chars, at)?;
    if chars.get(*at) == Some(&'.') {
        *at += 1;
        shape.precision = Some(number(chars, at)?);
    }
    Ok(shape)
}

fn number(chars: &[char], at: &mut usize) -> Result<usize, String> {
    let mut value = 0;
    while let Some(digit) = chars.get(*at).and_then(|c| c.to_digit(10)) {
        value = value * 10 + digit as usize;
        if value > WIDEST {
            return Err(format!("error: a width in the format is over {WIDEST}"));
        }
        *at += 1;
    }
    Ok(value)
}

fn field(letter: char, chars: &[char], at: &mut usize) -> Result<Option<Field>, String> {
    Ok(Some(match letter {
        'a' => Field::WholeTime(Stamp::Accessed),
        'c' => Field::WholeTime(Stamp::Changed),
        't' => Field::WholeTime(Stamp::Modified),
        'A' | 'C' | 'T' => {
            let Some(part) = chars.get(*at) else {
                return Ok(None);
            };
            *at += 1;
            let stamp = Stamp::by_letter(letter as u8).unwrap_or(Stamp::Modified);
            Field::Time(stamp, *part)
        }
        'B' => return Err("error: %B: the birth of a file is not recorded here".into()),
        'F' => return Err("error: %F: file systems have no types here".into()),
        'Z' => return Err("error: %Z: there are no security contexts here".into()),
        'b' | 'd' | 'D' | 'f' | 'g' | 'G' | 'h' | 'H' | 'i' | 'k' | 'l' | 'm' | 'M' | 'n' | 'p' | 'P' | 's' | 'S'
        | 'u' | 'U' | 'y' | 'Y' => Field::Letter(letter),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_texts_and_directives() {
        let mut warnings = Vec::new();
        let pieces = parse("a%%\\t%-5s%TY\\101\\q%q%.3p\\cx", &mut warnings).unwrap();
        assert_eq!(
            pieces,
            [
                Piece::Text(b"a%\t".into()),
                Piece::Directive(Field::Letter('s'), Shape { left: true, width: 5, ..Shape::default() }),
                Piece::Directive(Field::Time(Stamp::Modified, 'Y'), Shape::default()),
                Piece::Text(b"A\\q%q".into()),
                Piece::Directive(Field::Letter('p'), Shape { precision: Some(3), ..Shape::default() }),
                Piece::Stop,
            ]
        );
        assert_eq!(warnings.len(), 2);
        assert!(parse("%", &mut warnings).is_err() && parse("%9999999d", &mut warnings).is_err());
    }
}
