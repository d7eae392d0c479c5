//! Dates of the proleptic Gregorian calendar.
//!
//! By hand although `zone` uses the crate `jiff`: a file's time and `date -d @N` reach years beyond 9999, where `jiff`
//! ends, and `ls` and `stat` need these two functions and no more.

use crate::strftime::Formatter;

/// A point in time as a calendar and a clock show it, like C's `struct tm`.
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
    /// Nanoseconds into the second. Programs that use GNU's extended `strftime` have them, for `%N`; those that use
    /// the C library's have `None`.
    pub nanos: Option<u32>,
    /// The day of the week, from 0 for Sunday.
    pub weekday: i64,
    /// The day of the year, from 0.
    pub day_of_year: i64,
}

/// Names of the months.
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
/// Names of the weekdays, from Sunday.
pub const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Formats nanoseconds since 1970 as `2026-11-16 04:37:00.000000000 +0000`.
pub fn timestamp(nanos: u64) -> String {
    Date::new(nanos).format("%F %T.%N %z").unwrap_or_default()
}

/// Returns the days from 1970 to a date. A month (from 0) or day (from 1) out of range runs over into the next.
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
    /// The date in UTC of nanoseconds since 1970.
    pub fn new(nanos: u64) -> Date {
        let date = Date::at((nanos / 1_000_000_000) as i64);
        Date { nanos: Some((nanos % 1_000_000_000) as u32), ..date }
    }

    /// The date in UTC of seconds since 1970; negative ones lie before it.
    pub fn at(seconds: i64) -> Date {
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // The inverse of `days_of`.
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

    /// Formats the date as C's `strftime` does. An error is the first conversion that is not known.
    pub fn format(&self, format: &str) -> Result<String, String> {
        Formatter::utc(self).strict(format)
    }

    /// Formats the date as C's `strftime` does; conversions that are not known stay as they are.
    pub fn format_lenient(&self, format: &str) -> String {
        Formatter::utc(self).lenient(format)
    }

    /// Returns the seconds since 1970, for a date in UTC.
    pub fn seconds(&self) -> i64 {
        let days = days_of(self.year, self.month, self.day);
        days.saturating_mul(86_400).saturating_add(self.hour * 3600 + self.minute * 60 + self.second)
    }

    /// Returns the year and week of ISO 8601: weeks start on Monday and belong to the year of their Thursday.
    pub(crate) fn iso_week(&self) -> (i64, i64) {
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
        assert_eq!(date.format_lenient("%Q%-Q%%"), "%Q%-Q%");
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
    #[test]
    fn dates_and_days_agree() {
        for day in (-800_000..3_000_000).step_by(97) {
            let date = Date::at(day * 86_400 + 3661);
            assert_eq!(date.seconds(), day * 86_400 + 3661);
            assert!((0..12).contains(&date.month) && (1..=31).contains(&date.day));
        }
        assert_eq!(Date::at(1_735_603_200).iso_week(), (2025, 1));
        assert_eq!(days_of(2024, 12, 0), days_of(2024, 11, 31));
    }
}
