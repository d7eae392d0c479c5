//! `date +FORMAT`: C's `strftime` with GNU's flags.

use isopod_gnu::calendar::{MONTHS, WEEKDAYS};

use super::{Civil, Moment, Zone};

/// No field is wider: more would only fill memory.
const MOST_WIDTH: usize = 1 << 16;

/// A moment in a format, in a zone.
pub(crate) fn format(format: &str, moment: Moment, zone: &Zone) -> String {
    let offset = zone.at(moment.seconds);
    let clock =
        Clock { civil: Civil::new(moment.seconds + offset.seconds), moment, ahead: offset.seconds, zone: offset.name };
    let mut text = String::new();
    clock.write(format, &mut text);
    text
}

struct Clock {
    civil: Civil,
    moment: Moment,
    ahead: i64,
    zone: String,
}

/// What stands between `%` and its letter.
#[derive(Default)]
struct Flags {
    /// `_`, `-`, `0` or `+`.
    pad: Option<char>,
    upper: bool,
    swap: bool,
    width: Option<usize>,
    colons: usize,
}

impl Clock {
    fn write(&self, format: &str, text: &mut String) {
        let mut rest = format;
        while let Some(start) = rest.find('%') {
            text.push_str(&rest[..start]);
            let spec = &rest[start..];
            let used = self.conversion(spec, text);
            if used == 0 {
                text.push('%');
                rest = &spec[1..];
            } else {
                rest = &spec[used..];
            }
        }
        text.push_str(rest);
    }

    /// Writes the conversion that a text starts with and returns its length; 0 if it is none.
    fn conversion(&self, spec: &str, text: &mut String) -> usize {
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
        while chars.next_if(|(_, c)| *c == ':').is_some() {
            flags.colons += 1;
        }
        // The locale here has no other eras or digits.
        chars.next_if(|(_, c)| matches!(c, 'E' | 'O'));
        let Some((index, letter)) = chars.next() else { return 0 };
        if flags.colons > 0 && letter != 'z' || flags.colons > 3 {
            return 0;
        }
        if !self.field(letter, &flags, text) {
            return 0;
        }
        index + letter.len_utf8()
    }

    fn field(&self, letter: char, flags: &Flags, text: &mut String) -> bool {
        let civil = &self.civil;
        let half = if civil.hour < 12 { "AM" } else { "PM" };
        let twelve = (civil.hour + 11) % 12 + 1;
        match letter {
            '%' => flags.text("%", text),
            'n' => flags.text("\n", text),
            't' => flags.text("\t", text),
            'a' => flags.name(&WEEKDAYS[civil.weekday() as usize][..3], text),
            'A' => flags.name(WEEKDAYS[civil.weekday() as usize], text),
            'b' | 'h' => flags.name(&MONTHS[civil.month as usize - 1][..3], text),
            'B' => flags.name(MONTHS[civil.month as usize - 1], text),
            'p' if flags.swap => flags.text(&half.to_ascii_lowercase(), text),
            'p' => flags.text(half, text),
            'P' => {
                Flags { width: flags.width, pad: flags.pad, ..Flags::default() }.text(&half.to_ascii_lowercase(), text)
            }
            'Z' if flags.swap => flags.text(&self.zone.to_ascii_lowercase(), text),
            'Z' => flags.text(&self.zone, text),
            'C' => flags.number(civil.year.div_euclid(100), 2, '0', text),
            'd' => flags.number(civil.day, 2, '0', text),
            'e' => flags.number(civil.day, 2, '_', text),
            'g' => flags.number(civil.iso_week().0.rem_euclid(100), 2, '0', text),
            'G' => flags.number(civil.iso_week().0, 4, '0', text),
            'H' => flags.number(civil.hour, 2, '0', text),
            'I' => flags.number(twelve, 2, '0', text),
            'j' => flags.number(civil.day_of_year() + 1, 3, '0', text),
            'k' => flags.number(civil.hour, 2, '_', text),
            'l' => flags.number(twelve, 2, '_', text),
            'm' => flags.number(civil.month, 2, '0', text),
            'M' => flags.number(civil.minute, 2, '0', text),
            'q' => flags.number((civil.month - 1) / 3 + 1, 1, '0', text),
            's' => flags.number(self.moment.seconds, 1, '0', text),
            'S' => flags.number(civil.second, 2, '0', text),
            'u' => flags.number((civil.weekday() + 6) % 7 + 1, 1, '0', text),
            'U' => flags.number((civil.day_of_year() + 7 - civil.weekday()) / 7, 2, '0', text),
            'V' => flags.number(civil.iso_week().1, 2, '0', text),
            'w' => flags.number(civil.weekday(), 1, '0', text),
            'W' => flags.number((civil.day_of_year() + 7 - (civil.weekday() + 6) % 7) / 7, 2, '0', text),
            'y' => flags.number(civil.year.rem_euclid(100), 2, '0', text),
            'Y' => flags.number(civil.year, 4, '0', text),
            'N' => self.nanos(flags, text),
            'z' => self.offset(flags, text),
            'c' => self.nested("%a %b %e %H:%M:%S %Y", flags, text),
            'D' | 'x' => self.nested("%m/%d/%y", flags, text),
            // A year of five digits has a sign, so that dates still sort.
            'F' if civil.year > 9999 => self.nested("+%Y-%m-%d", flags, text),
            'F' => self.nested("%Y-%m-%d", flags, text),
            'r' => self.nested("%I:%M:%S %p", flags, text),
            'R' => self.nested("%H:%M", flags, text),
            'T' | 'X' => self.nested("%H:%M:%S", flags, text),
            _ => return false,
        }
        true
    }

    fn nested(&self, format: &str, flags: &Flags, text: &mut String) {
        let mut inner = String::new();
        self.write(format, &mut inner);
        flags.text(&inner, text);
    }

    /// As many digits as asked for, from the left.
    fn nanos(&self, flags: &Flags, text: &mut String) {
        let all = format!("{:09}", self.moment.nanos);
        let width = flags.width.unwrap_or(9);
        let mut digits: String = all.chars().chain(std::iter::repeat('0')).take(width).collect();
        match flags.pad {
            Some('-') if flags.width.is_some() => digits.truncate(digits.trim_end_matches('0').len().max(1)),
            Some('_') => {
                let kept = digits.trim_end_matches('0').len().max(1);
                digits = format!("{:<width$}", &digits[..kept]);
            }
            _ => {}
        }
        text.push_str(&digits);
    }

    fn offset(&self, flags: &Flags, text: &mut String) {
        let sign = if self.ahead < 0 { '-' } else { '+' };
        let total = self.ahead.abs();
        let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
        let tail = match flags.colons {
            0 => format!("{minutes:02}"),
            1 => format!(":{minutes:02}"),
            2 => format!(":{minutes:02}:{seconds:02}"),
            _ if seconds != 0 => format!(":{minutes:02}:{seconds:02}"),
            _ if minutes != 0 => format!(":{minutes:02}"),
            _ => String::new(),
        };
        let hour_width = flags.width.unwrap_or(0).saturating_sub(tail.len() + 1).max(2);
        let number = hours * 100 + minutes;
        match flags.pad {
            Some('-') if flags.colons == 0 => text.push_str(&format!("{sign}{number}")),
            Some('_') if flags.colons == 0 => {
                let width = flags.width.unwrap_or(0).max(5);
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

impl Flags {
    fn number(&self, value: i64, digits: usize, default: char, text: &mut String) {
        let pad = self.pad.unwrap_or(default);
        let width = self.width.unwrap_or(if pad == '-' { 0 } else { digits });
        let sign = match value {
            value if value < 0 => "-",
            value
                if self.pad == Some('+') && (value > 9999 && digits >= 4 || self.width.is_some_and(|w| w > digits)) =>
            {
                "+"
            }
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
        // `#` makes names upper case too: their first letter is already.
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
}
