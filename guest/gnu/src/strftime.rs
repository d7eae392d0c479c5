//! C's `strftime`, with the flags and widths of GNU's.
//!
//! One formatter for two dialects. Dates with nanoseconds are written as `date`, `ls` and `pr` write them, with GNU's
//! `%N`, `%q`, `%:z` and years of four digits; dates without as the C library does it for `awk`, `jq` and the shell.

use crate::calendar::{Date, MONTHS, WEEKDAYS};

/// Wider fields would only fill memory.
const MOST_WIDTH: usize = 1 << 16;

/// Writes a date by formats.
pub struct Formatter<'a> {
    date: &'a Date,
    /// Seconds east of Greenwich.
    offset: i64,
    zone: &'a str,
    /// The first conversion that was not known.
    unknown: Option<char>,
}

/// The flags, width and colons between `%` and its letter.
#[derive(Default)]
struct Flags {
    /// `_`, `-`, `0` or `+`.
    pad: Option<char>,
    upper: bool,
    swap: bool,
    width: Option<usize>,
    colons: usize,
}

impl<'a> Formatter<'a> {
    /// A formatter of a date in UTC.
    pub fn utc(date: &'a Date) -> Formatter<'a> {
        Formatter::new(date, 0, "UTC")
    }

    /// A formatter of a local date, whose clock is `offset` seconds ahead of UTC in a zone of this name.
    pub fn new(date: &'a Date, offset: i64, zone: &'a str) -> Formatter<'a> {
        Formatter { date, offset, zone, unknown: None }
    }

    /// Formats the date. An error is the first conversion that is not known.
    pub fn strict(mut self, format: &str) -> Result<String, String> {
        let mut text = String::new();
        self.write(format, &mut text);
        self.unknown.map_or(Ok(text), |letter| Err(format!("%{letter}")))
    }

    /// Formats the date. Conversions that are not known stay as they are.
    pub fn lenient(mut self, format: &str) -> String {
        let mut text = String::new();
        self.write(format, &mut text);
        text
    }

    fn write(&mut self, format: &str, text: &mut String) {
        let mut rest = format;
        while let Some(start) = rest.find('%') {
            text.push_str(&rest[..start]);
            rest = &rest[start..];
            let used = self.conversion(rest, text);
            if used == 0 {
                text.push('%');
            }
            rest = &rest[used.max(1)..];
        }
        text.push_str(rest);
    }

    /// Writes the conversion at the start of a text and returns its length, or 0 if it is not known.
    fn conversion(&mut self, spec: &str, text: &mut String) -> usize {
        let mut flags = Flags::default();
        let mut chars = spec.char_indices().skip(1).peekable();
        while let Some((_, flag)) = chars.next_if(|(_, c)| "_-0+^#".contains(*c)) {
            match flag {
                '^' => flags.upper = true,
                '#' => flags.swap = true,
                pad => flags.pad = Some(pad),
            }
        }
        while let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
            let width = flags.width.unwrap_or(0) * 10 + digit.to_digit(10).unwrap_or(0) as usize;
            flags.width = Some(width.min(MOST_WIDTH));
        }
        while self.is_gnu() && chars.next_if(|(_, c)| *c == ':').is_some() {
            flags.colons += 1;
        }
        // The C locale has no other eras or digits.
        chars.next_if(|(_, c)| matches!(c, 'E' | 'O'));
        let Some((index, letter)) = chars.next() else { return 0 };
        // GNU's takes no flags for a percent sign.
        let is_bare = letter != '%' || index == 1 || !self.is_gnu();
        let is_known = is_bare
            && (flags.colons == 0 || letter == 'z' && flags.colons <= 3)
            && (self.number(letter, &flags, text) || self.words(letter, &flags, text));
        if is_known {
            return index + letter.len_utf8();
        }
        self.unknown.get_or_insert(letter);
        0
    }

    fn is_gnu(&self) -> bool {
        self.date.nanos.is_some()
    }

    /// Writes the number that a letter stands for; false if it stands for none.
    fn number(&self, letter: char, flags: &Flags, text: &mut String) -> bool {
        let date = self.date;
        let twelve = if date.hour % 12 == 0 { 12 } else { date.hour % 12 };
        // The C library does not pad years.
        let year_digits = if self.is_gnu() { 4 } else { 0 };
        let (value, digits, pad) = match letter {
            'C' => (date.year / 100, 2, '0'),
            'd' => (date.day, 2, '0'),
            'e' => (date.day, 2, '_'),
            'g' => (date.iso_week().0.abs() % 100, 2, '0'),
            'G' => (date.iso_week().0, year_digits, '0'),
            'H' => (date.hour, 2, '0'),
            'I' => (twelve, 2, '0'),
            'j' => (date.day_of_year + 1, 3, '0'),
            'k' => (date.hour, 2, '_'),
            'l' => (twelve, 2, '_'),
            'm' => (date.month + 1, 2, '0'),
            'M' => (date.minute, 2, '0'),
            'q' if self.is_gnu() => (date.month / 3 + 1, 1, '0'),
            's' => (date.seconds().saturating_sub(self.offset), 1, '0'),
            'S' => (date.second, 2, '0'),
            'u' => (if date.weekday == 0 { 7 } else { date.weekday }, 1, '0'),
            'U' => ((date.day_of_year + 7 - date.weekday) / 7, 2, '0'),
            'V' => (date.iso_week().1, 2, '0'),
            'w' => (date.weekday, 1, '0'),
            'W' => ((date.day_of_year + 7 - (date.weekday + 6) % 7) / 7, 2, '0'),
            'y' => (date.year.abs() % 100, 2, '0'),
            'Y' => (date.year, year_digits, '0'),
            _ => return false,
        };
        flags.number(value, digits, pad, text);
        true
    }

    /// Writes the name or the text that a letter stands for; false if it stands for none.
    fn words(&mut self, letter: char, flags: &Flags, text: &mut String) -> bool {
        let date = self.date;
        // A date made of numbers from elsewhere may have a month or a weekday that does not exist.
        let of = |names: &[&'static str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
        let month = of(&MONTHS, date.month).unwrap_or("?");
        let weekday = of(&WEEKDAYS, date.weekday).unwrap_or("?");
        let short = |name: &'static str| &name[..name.len().min(3)];
        let half = if date.hour < 12 { "AM" } else { "PM" };
        match letter {
            '%' => flags.text("%", text),
            'n' => flags.text("\n", text),
            't' => flags.text("\t", text),
            'a' => flags.name(short(weekday), text),
            'A' => flags.name(weekday, text),
            'b' | 'h' => flags.name(short(month), text),
            'B' => flags.name(month, text),
            'p' if flags.swap => flags.text(&half.to_ascii_lowercase(), text),
            'p' => flags.text(half, text),
            'P' => {
                Flags { width: flags.width, pad: flags.pad, ..Flags::default() }.text(&half.to_ascii_lowercase(), text)
            }
            'Z' if flags.swap => flags.text(&self.zone.to_ascii_lowercase(), text),
            'Z' => flags.text(self.zone, text),
            'N' => match date.nanos {
                Some(nanos) => flags.nanos(nanos, text),
                None => return false,
            },
            // `-00` is the name of a zone whose offset is not known.
            'z' => flags.offset(self.offset, self.zone.starts_with('-'), text),
            'c' => self.nested("%a %b %e %H:%M:%S %-Y", flags, text),
            'D' | 'x' => self.nested("%m/%d/%y", flags, text),
            // GNU's writes a sign before a year of five digits, so that dates still sort.
            'F' if self.is_gnu() && date.year > 9999 => self.nested("+%Y-%m-%d", flags, text),
            'F' => self.nested("%Y-%m-%d", flags, text),
            'r' => self.nested("%I:%M:%S %p", flags, text),
            'R' => self.nested("%H:%M", flags, text),
            'T' | 'X' => self.nested("%H:%M:%S", flags, text),
            _ => return false,
        }
        true
    }

    fn nested(&mut self, format: &str, flags: &Flags, text: &mut String) {
        let mut inner = String::new();
        self.write(format, &mut inner);
        flags.text(&inner, text);
    }
}

impl Flags {
    fn number(&self, value: i64, digits: usize, default: char, text: &mut String) {
        let pad = self.pad.unwrap_or(default);
        let width = self.width.unwrap_or(if pad == '-' { 0 } else { digits });
        let has_plus =
            self.pad == Some('+') && (value > 9999 && digits >= 4 || self.width.is_some_and(|width| width > digits));
        let sign = match value {
            ..0 => "-",
            _ if has_plus => "+",
            _ => "",
        };
        let number = value.unsigned_abs().to_string();
        match pad {
            '_' => text.push_str(&format!("{:>width$}", format!("{sign}{number}"))),
            '-' => text.push_str(&format!("{sign}{number}")),
            _ => text.push_str(&format!("{sign}{number:0>rest$}", rest = width.saturating_sub(sign.len()))),
        }
    }

    fn name(&self, name: &str, text: &mut String) {
        // `#` is upper case as well: names already begin with a capital.
        let name = if self.upper || self.swap { name.to_ascii_uppercase() } else { name.to_owned() };
        self.text(&name, text);
    }

    fn text(&self, value: &str, text: &mut String) {
        let value = if self.upper { value.to_ascii_uppercase() } else { value.to_owned() };
        let width = self.width.unwrap_or(0);
        match self.pad {
            Some('0' | '+') => text.push_str(&format!("{value:0>width$}")),
            Some('-') => text.push_str(&value),
            _ => text.push_str(&format!("{value:>width$}")),
        }
    }

    /// Writes the first digits of nanoseconds, as many as the width says.
    fn nanos(&self, nanos: u32, text: &mut String) {
        let all = format!("{nanos:09}");
        let width = self.width.unwrap_or(9);
        let mut digits: String = all.chars().chain(std::iter::repeat('0')).take(width).collect();
        match self.pad {
            Some('-') if self.width.is_some() => digits.truncate(digits.trim_end_matches('0').len().max(1)),
            Some('_') => {
                let count = digits.trim_end_matches('0').len().max(1);
                digits = format!("{:<width$}", &digits[..count.min(digits.len())]);
            }
            _ => {}
        }
        text.push_str(&digits);
    }

    /// Writes an offset from UTC, with as many parts as there are colons.
    fn offset(&self, offset: i64, is_unknown: bool, text: &mut String) {
        let sign = if offset < 0 || offset == 0 && is_unknown { '-' } else { '+' };
        let total = offset.abs();
        let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
        let tail = match self.colons {
            0 => format!("{minutes:02}"),
            1 => format!(":{minutes:02}"),
            2 => format!(":{minutes:02}:{seconds:02}"),
            _ if seconds != 0 => format!(":{minutes:02}:{seconds:02}"),
            _ if minutes != 0 => format!(":{minutes:02}"),
            _ => String::new(),
        };
        let hour_width = self.width.unwrap_or(0).saturating_sub(tail.len() + 1).max(2);
        let number = hours * 100 + minutes;
        match self.pad {
            Some('-') if self.colons == 0 => text.push_str(&format!("{sign}{number}")),
            Some('_') if self.colons == 0 => {
                let width = self.width.unwrap_or(0).max(5);
                text.push_str(&format!("{:>width$}", format!("{sign}{number}")));
            }
            Some('-') => text.push_str(&format!("{sign}{hours}{tail}")),
            Some('_') => {
                let signed = format!("{sign}{hours}");
                text.push_str(&format!("{signed:>width$}{tail}", width = hour_width + 1));
            }
            _ => text.push_str(&format!("{sign}{hours:0hour_width$}{tail}")),
        }
    }
}
