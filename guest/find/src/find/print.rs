//! `-printf`: the values of its directives.

use isopod_gnu::calendar::Date;
use isopod_gnu::human::disk_usage;
use isopod_sys::files::{self, Attributes};
use isopod_sys::{Errno, fs};

use super::age::Stamp;
use super::format::{Field, Piece, Shape};
use super::listing::Names;
use super::visit::{Visit, letter};

/// Formats a file.
pub(super) fn formatted(pieces: &[Piece], visit: &Visit, names: &mut Names) -> Result<Vec<u8>, Errno> {
    let mut line = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => line.extend_from_slice(text),
            Piece::Directive(field, shape) => directive(field, shape, visit, names, &mut line)?,
            Piece::Stop => break,
        }
    }
    Ok(line)
}

fn directive(field: &Field, shape: &Shape, visit: &Visit, names: &mut Names, line: &mut Vec<u8>) -> Result<(), Errno> {
    match field {
        Field::Letter(letter) => match path_part(*letter, visit) {
            Some(text) => fit(text, shape, line),
            None => return of_attributes(*letter, shape, visit, names, line),
        },
        Field::WholeTime(stamp) => {
            let time = stamp.of(visit.attributes()?);
            fit(&format!("{}{} {}", date(time, "%a %b %e %H:%M:%S"), fraction(time), date(time, "%Y")), shape, line);
        }
        Field::Time(stamp, part) => fit(&time_part(*stamp, *part, visit.attributes()?), shape, line),
    }
    Ok(())
}

/// Returns a value that comes from the path alone.
fn path_part<'a>(letter: char, visit: &Visit<'a>) -> Option<&'a str> {
    let path = visit.path;
    Some(match letter {
        'p' => path,
        'f' => base_name(path),
        'h' => directory(path),
        'H' => &path[..visit.start],
        'P' => path[visit.start..].strip_prefix('/').unwrap_or(&path[visit.start..]),
        _ => return None,
    })
}

/// Returns the last part of a path, with one of its trailing slashes.
fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    let start = trimmed.rfind('/').map_or(0, |slash| slash + 1);
    match trimmed.len() {
        0 => path.get(..1).unwrap_or_default(),
        end => &path[start..(end + 1).min(path.len())],
    }
}

/// Returns the part before the last one. As with GNU, the slashes after a name of one letter stay.
fn directory(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    let trimmed = if trimmed.len() <= 1 { path } else { trimmed };
    trimmed.rfind('/').map_or(".", |slash| &trimmed[..slash])
}

fn of_attributes(
    letter_of: char,
    shape: &Shape,
    visit: &Visit,
    names: &mut Names,
    line: &mut Vec<u8>,
) -> Result<(), Errno> {
    match letter_of {
        'd' => number(&visit.depth.to_string(), shape, line),
        'y' => fit(letter(visit.kind).encode_utf8(&mut [0; 4]), shape, line),
        'Y' => fit(followed_letter(visit).encode_utf8(&mut [0; 4]), shape, line),
        'l' => fit(&visit.target().unwrap_or_default(), shape, line),
        letter_of => {
            let found = visit.attributes()?;
            match letter_of {
                'm' => {
                    let lead = if shape.alternate { "0" } else { "" };
                    number(&format!("{lead}{:o}", found.mode), shape, line);
                }
                'S' => number(&sparseness(found), shape, line),
                'g' => fit(names.group(found.gid), shape, line),
                'u' => fit(names.user(found.uid), shape, line),
                'M' => fit(&super::listing::mode_letters(found), shape, line),
                _ => {
                    let value = match letter_of {
                        'b' => disk_usage(found) / 512,
                        'D' => found.device,
                        'G' => found.gid.into(),
                        'i' => found.inode,
                        'k' => disk_usage(found) / 1024,
                        'n' => found.links,
                        's' => found.size,
                        _ => found.uid.into(),
                    };
                    fit(&value.to_string(), shape, line);
                }
            }
        }
    }
    Ok(())
}

/// Returns the type letter of a link's target: `N` for a missing one, `L` for a loop.
fn followed_letter(visit: &Visit) -> char {
    match files::stat(visit.path, true) {
        Ok(found) => letter(found.kind),
        Err(Errno::Loop) => 'L',
        Err(Errno::NoEntry | Errno::NotDirectory) if fs::read_link(visit.path).is_ok() => 'N',
        Err(_) => '?',
    }
}

/// Returns the part of its size that a file takes on the disk, with six digits as C's `%g`.
fn sparseness(found: &Attributes) -> String {
    let used = disk_usage(found);
    if found.size == 0 {
        return if used == 0 { "1" } else { "inf" }.to_owned();
    }
    let ratio = used as f64 / found.size as f64;
    let digits = if ratio >= 1.0 { ratio.log10().floor() as usize + 1 } else { 1 };
    let text = format!("{ratio:.*}", 6usize.saturating_sub(digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn time_part(stamp: Stamp, part: char, found: &Attributes) -> String {
    let time = stamp.of(found);
    match part {
        '@' => format!("{}{}", time / 1_000_000_000, fraction(time)),
        'S' => date(time, "%S") + &fraction(time),
        'T' | 'X' => date(time, "%T") + &fraction(time),
        '+' => date(time, "%F+%T") + &fraction(time),
        // Fields of the calendar that `Date` does not have.
        'U' | 'W' | 'V' | 'G' | 'g' => week_part(time, part),
        'N' | 'q' | 'E' | 'O' | 'f' => format!("%{part}"),
        part => date(time, &format!("%{part}")),
    }
}

/// Formats the fraction of a second with ten digits, because GNU prints nine and a zero.
fn fraction(time: u64) -> String {
    format!(".{:09}0", time % 1_000_000_000)
}

fn date(time: u64, format: &str) -> String {
    Date::new(time).format(format).unwrap_or_else(|_| format.to_owned())
}

/// Returns a field about weeks, which start on Sunday for `U` and on Monday for the others.
fn week_part(time: u64, part: char) -> String {
    let field = |format: &str| date(time, format).parse::<i64>().unwrap_or(0);
    let (year, day, weekday) = (field("%Y"), field("%j") - 1, field("%w"));
    let monday_based = (weekday + 6) % 7;
    match part {
        'U' => format!("{:02}", (day + 7 - weekday) / 7),
        'W' => format!("{:02}", (day + 7 - monday_based) / 7),
        _ => {
            let is_leap = |year: i64| year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
            // The week belongs to the year that its Thursday is in.
            let thursday = day - monday_based + 3;
            let length = if is_leap(year) { 366 } else { 365 };
            let (iso_year, of_year) = if thursday < 0 {
                (year - 1, thursday + if is_leap(year - 1) { 366 } else { 365 })
            } else if thursday >= length {
                (year + 1, thursday - length)
            } else {
                (year, thursday)
            };
            match part {
                'V' => format!("{:02}", of_year / 7 + 1),
                'G' => iso_year.to_string(),
                _ => format!("{:02}", iso_year % 100),
            }
        }
    }
}

/// Writes a text in its width, cut to the precision. The precision counts bytes as in C but does not split a character.
fn fit(text: &str, shape: &Shape, line: &mut Vec<u8>) {
    let mut end = shape.precision.unwrap_or(text.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    pad(&text[..end], shape, line);
}

/// Writes a number in its width, with a sign, a blank or zeros in front.
fn number(digits: &str, shape: &Shape, line: &mut Vec<u8>) {
    let sign = if shape.plus {
        "+"
    } else if shape.blank {
        " "
    } else {
        ""
    };
    let least = match shape.precision {
        Some(precision) => precision,
        None if shape.zero && !shape.left => shape.width.saturating_sub(sign.len()),
        None => 0,
    };
    let zeros = "0".repeat(least.saturating_sub(digits.len()));
    pad(&format!("{sign}{zeros}{digits}"), shape, line);
}

fn pad(text: &str, shape: &Shape, line: &mut Vec<u8>) {
    let blanks = shape.width.saturating_sub(text.len());
    if !shape.left {
        line.resize(line.len() + blanks, b' ');
    }
    line.extend_from_slice(text.as_bytes());
    if shape.left {
        line.resize(line.len() + blanks, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_as_gnu_does() {
        for (path, name, parent) in [
            ("a/b", "b", "a"),
            ("a", "a", "."),
            ("a/b//", "b/", "a"),
            ("a/b//f 2", "f 2", "a/b/"),
            ("/", "/", ""),
            ("//", "/", "/"),
            ("/a", "a", ""),
            (".", ".", "."),
            ("d/", "d/", "d"),
        ] {
            assert_eq!((base_name(path), directory(path)), (name, parent), "{path}");
        }
    }
}
