//! Dates of the proleptic Gregorian calendar, in UTC: a sandbox has no other time zone.

/// A moment, taken apart.
pub struct Date {
    year: u64,
    /// From 1.
    month: usize,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    nanos: u64,
    /// From 0 for Sunday.
    weekday: usize,
    /// From 1.
    day_of_year: u64,
    /// Since 1970.
    seconds: u64,
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

impl Date {
    /// The date of nanoseconds since 1970.
    pub fn new(nanos: u64) -> Date {
        let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let (days, of_day) = (seconds / 86_400, seconds % 86_400);
        let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        // Whole 400-year cycles first: what is left is at most 400 steps.
        let mut year = 1970 + days / 146_097 * 400;
        let mut left = days % 146_097;
        loop {
            let length = if leap(year) { 366 } else { 365 };
            if left < length {
                break;
            }
            left -= length;
            year += 1;
        }
        let day_of_year = left + 1;
        let mut month = 1;
        for length in [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if left < length {
                break;
            }
            left -= length;
            month += 1;
        }
        Date {
            year,
            month,
            day: left + 1,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanos,
            // 1970 began on a Thursday.
            weekday: ((days + 4) % 7) as usize,
            day_of_year,
            seconds,
        }
    }

    /// As `strftime` writes it. An error is the conversion that is not supported.
    pub fn format(&self, format: &str) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let Some(letter) = chars.next() else {
                text.push('%');
                break;
            };
            let hour = if self.hour.is_multiple_of(12) { 12 } else { self.hour % 12 };
            let half = if self.hour < 12 { "AM" } else { "PM" };
            text.push_str(&match letter {
                '%' => "%".to_owned(),
                'n' => "\n".to_owned(),
                't' => "\t".to_owned(),
                'Y' => self.year.to_string(),
                'C' => format!("{:02}", self.year / 100),
                'y' => format!("{:02}", self.year % 100),
                'm' => format!("{:02}", self.month),
                'd' => format!("{:02}", self.day),
                'e' => format!("{:2}", self.day),
                'H' => format!("{:02}", self.hour),
                'I' => format!("{hour:02}"),
                'k' => format!("{:2}", self.hour),
                'l' => format!("{hour:2}"),
                'M' => format!("{:02}", self.minute),
                'S' => format!("{:02}", self.second),
                'N' => format!("{:09}", self.nanos),
                'p' => half.to_owned(),
                'P' => half.to_ascii_lowercase(),
                'j' => format!("{:03}", self.day_of_year),
                's' => self.seconds.to_string(),
                'a' => WEEKDAYS[self.weekday][..3].to_owned(),
                'A' => WEEKDAYS[self.weekday].to_owned(),
                'b' | 'h' => MONTHS[self.month - 1][..3].to_owned(),
                'B' => MONTHS[self.month - 1].to_owned(),
                'u' => (if self.weekday == 0 { 7 } else { self.weekday }).to_string(),
                'w' => self.weekday.to_string(),
                'z' => "+0000".to_owned(),
                'Z' => "UTC".to_owned(),
                'F' => self.format("%Y-%m-%d")?,
                'T' | 'X' => self.format("%H:%M:%S")?,
                'R' => self.format("%H:%M")?,
                'D' | 'x' => self.format("%m/%d/%y")?,
                'c' => self.format("%a %b %e %H:%M:%S %Y")?,
                'r' => self.format("%I:%M:%S %p")?,
                other => return Err(format!("%{other}")),
            });
        }
        Ok(text)
    }
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
    }
}
