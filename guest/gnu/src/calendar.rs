//! Dates of the proleptic Gregorian calendar, in UTC and English: a sandbox has no other time zone or language.

/// A moment, taken apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 0.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
    /// The hour.
    pub hour: i64,
    /// The minute.
    pub minute: i64,
    /// The second.
    pub second: i64,
    /// Nanoseconds into the second, for who writes them: `date` has `%N`, `strftime` has not.
    pub nanos: Option<u32>,
    /// The day of the week, from 0 for Sunday.
    pub weekday: i64,
    /// The day of the year, from 0.
    pub day_of_year: i64,
}

/// The months' names.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The days' names, from Sunday.
pub const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment as `2026-11-16 04:37:00.000000000 +0000`, from nanoseconds since 1970.
pub fn timestamp(nanos: u64) -> String {
    Date::new(nanos).format("%F %T.%N %z").unwrap_or_default()
}

/// Days since 1970 of a date, whose month (from 0) and day (from 1) may be beyond their ends.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have the leap day at their end; 400 of them are an era of always the same length.
    let year = year + month.div_euclid(12);
    let month = month.rem_euclid(12);
    let shifted = if month < 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl Date {
    /// The date of nanoseconds since 1970.
    pub fn new(nanos: u64) -> Date {
        let date = Date::at((nanos / 1_000_000_000) as i64);
        Date { nanos: Some((nanos % 1_000_000_000) as u32), ..date }
    }

    /// The date of seconds since 1970, or before.
    pub fn at(seconds: i64) -> Date {
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // The way back from `days_of`.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = (shifted_month + 2) % 12;
        let year = year_of_era + era * 400 + i64::from(month < 2);
        Date {
            year,
            month,
            day: of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanos: None,
            // 1970 began on a Thursday.
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_of(year, 0, 1),
        }
    }

    /// As `strftime` writes it. An error is the conversion that is not supported.
    pub fn format(&self, format: &str) -> Result<String, String> {
        self.format_or(format, |letter| Err(format!("%{letter}")))
    }

    /// The same; `unknown` says what becomes of conversions that are not supported.
    pub fn format_or(
        &self,
        format: &str,
        unknown: impl Fn(char) -> Result<String, String> + Copy,
    ) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let mut letter = chars.next().unwrap_or('%');
            // `%-d` leaves out padding, `%_d` pads with blanks; `E` and `O` ask for other calendars and digits.
            let flag = Some(letter).filter(|flag| matches!(flag, '-' | '_' | '0' | '^' | '#'));
            if flag.is_some() {
                letter = chars.next().unwrap_or('%');
            }
            if matches!(letter, 'E' | 'O') {
                letter = chars.next().unwrap_or('%');
            }
            let piece = match (self.number(letter), self.name(letter), short_for(letter)) {
                (Some((value, width, fill)), _, _) => match (flag, fill) {
                    (Some('-'), _) => value.to_string(),
                    (Some('_'), _) | (None, ' ') => format!("{value:>width$}"),
                    _ => format!("{value:0>width$}"),
                },
                (_, Some(name), _) => name,
                (_, _, Some(longer)) => self.format_or(longer, unknown)?,
                _ => unknown(letter)?,
            };
            match flag {
                Some('^') => text.push_str(&piece.to_uppercase()),
                // The other case: `pm`, but `NOVEMBER`.
                Some('#') if piece.chars().any(char::is_lowercase) => text.push_str(&piece.to_uppercase()),
                Some('#') => text.push_str(&piece.to_lowercase()),
                _ => text.push_str(&piece),
            }
        }
        Ok(text)
    }

    /// The number that a letter stands for, how wide it is and what fills it up.
    fn number(&self, letter: char) -> Option<(i64, usize, char)> {
        let hour = if self.hour % 12 == 0 { 12 } else { self.hour % 12 };
        Some(match letter {
            'Y' => (self.year, 0, '0'),
            'C' => (self.year.div_euclid(100), 2, '0'),
            'y' => (self.year.rem_euclid(100), 2, '0'),
            'm' => (self.month + 1, 2, '0'),
            'd' => (self.day, 2, '0'),
            'e' => (self.day, 2, ' '),
            'H' => (self.hour, 2, '0'),
            'I' => (hour, 2, '0'),
            'k' => (self.hour, 2, ' '),
            'l' => (hour, 2, ' '),
            'M' => (self.minute, 2, '0'),
            'S' => (self.second, 2, '0'),
            'N' => (self.nanos?.into(), 9, '0'),
            'j' => (self.day_of_year + 1, 3, '0'),
            's' => (self.seconds(), 0, '0'),
            'u' => (if self.weekday == 0 { 7 } else { self.weekday }, 0, '0'),
            'w' => (self.weekday, 0, '0'),
            'U' => ((self.day_of_year + 7 - self.weekday) / 7, 2, '0'),
            'W' => ((self.day_of_year + 7 - (self.weekday + 6) % 7) / 7, 2, '0'),
            'V' => (self.iso_week().1, 2, '0'),
            'G' => (self.iso_week().0, 0, '0'),
            'g' => (self.iso_week().0.rem_euclid(100), 2, '0'),
            _ => return None,
        })
    }

    /// The word that a letter stands for.
    fn name(&self, letter: char) -> Option<String> {
        // Who makes a date of numbers from elsewhere may have made one that is none.
        let of = |names: &[&'static str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
        let of = |names, at| of(names, at).unwrap_or("?");
        let short = |name: &str| name[..name.len().min(3)].to_owned();
        let half = if self.hour < 12 { "AM" } else { "PM" };
        Some(match letter {
            'a' => short(of(&WEEKDAYS, self.weekday)),
            'A' => of(&WEEKDAYS, self.weekday).to_string(),
            'b' | 'h' => short(of(&MONTHS, self.month)),
            'B' => of(&MONTHS, self.month).to_string(),
            'p' => half.to_owned(),
            'P' => half.to_ascii_lowercase(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }

    /// Seconds since 1970.
    pub fn seconds(&self) -> i64 {
        let days = days_of(self.year, self.month, self.day);
        days.saturating_mul(86_400).saturating_add(self.hour * 3600 + self.minute * 60 + self.second)
    }

    /// The year and week of ISO 8601: weeks start on Monday and belong to the year of their Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let length_of = |year: i64| days_of(year + 1, 0, 1) - days_of(year, 0, 1);
        let thursday = self.day_of_year - (self.weekday + 6) % 7 + 3;
        if thursday < 0 {
            let year = self.year - 1;
            return (year, (thursday + length_of(year)) / 7 + 1);
        }
        if thursday >= length_of(self.year) {
            return (self.year + 1, 1);
        }
        (self.year, thursday / 7 + 1)
    }
}

/// The format that a letter is short for.
fn short_for(letter: char) -> Option<&'static str> {
    Some(match letter {
        'F' => "%Y-%m-%d",
        'T' | 'X' => "%H:%M:%S",
        'R' => "%H:%M",
        'D' | 'x' => "%m/%d/%y",
        'c' => "%a %b %e %H:%M:%S %Y",
        'r' => "%I:%M:%S %p",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from `date -u -d @N`.
    #[test]
    fn days_have_their_dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (13_574_563_200, "2400-02-29 00:00:00"),
        ] {
            assert_eq!(timestamp(seconds * 1_000_000_000 + 5), format!("{text}.000000005 +0000"));
        }
        let date = Date::new(1_700_000_000_000_000_000);
        let text = date.format("%a %A %b %B %c|%D|%e|%j|%k|%l|%p|%P|%r|%R|%s|%u|%w|%x|%X|%y|%C|%I|%%").unwrap();
        assert_eq!(
            text,
            "Tue Tuesday Nov November Tue Nov 14 22:13:20 2023|11/14/23|14|318|22|10|PM|pm|10:13:20 PM|22:13|\
             1700000000|2|2|11/14/23|22:13:20|23|20|10|%"
        );
        assert_eq!(date.format("%Q"), Err("%Q".into()));
        assert_eq!(date.format_or("%Q%%", |letter| Ok(format!("<{letter}>"))), Ok("<Q>%".into()));
    }

    /// Recorded from `date -u -d @N`, but for the flags on words, which are those of `strftime`.
    #[test]
    fn weeks_flags_and_times_before_1970() {
        for (seconds, format, text) in [
            (-1, "%F %T %s %a", "1969-12-31 23:59:59 -1 Wed"),
            (-62_135_596_800, "%m-%d %j %u %V", "01-01 001 1 01"),
            (1_230_768_000, "%G-W%V-%u %g %U %W", "2009-W01-4 09 00 00"),
            (1_104_537_600, "%G-W%V-%u", "2004-W53-6"),
            (1_700_000_000, "%-m %_d %^a %-j %Ey %Om %-I %#p %#b", "11 14 TUE 318 23 11 10 pm NOV"),
            (1_704_067_200, "%-d|%_d|%e|%-H", "1| 1| 1|0"),
        ] {
            assert_eq!(Date::at(seconds).format(format), Ok(text.to_owned()));
        }
        assert_eq!(Date::at(0).format("%N"), Err("%N".into()));
        assert_eq!(Date { month: 12, weekday: -1, ..Date::at(0) }.format("%B %a"), Ok("? ?".into()));
    }
}
