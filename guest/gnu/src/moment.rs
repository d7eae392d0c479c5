//! Dates and times as people write them: `2026-11-16 12:30`, `yesterday`, `3 days ago`, `@1700000000`.
//!
//! The forms of GNU's `date -d` that are in use, in UTC, as a sandbox has no other zone. What is not understood is
//! refused: a date that is guessed wrong would choose the wrong files.

const SECOND: i128 = 1_000_000_000;
const DAY: i64 = 86_400;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// What has been read so far.
#[derive(Default)]
struct Reading {
    date: Option<(i64, i64, i64)>,
    /// Nanoseconds into the day.
    time: Option<i128>,
    /// Seconds east of Greenwich.
    zone: Option<i64>,
    weekday: Option<(i64, i64)>,
    months: i64,
    days: i64,
    nanos: i128,
    is_relative: bool,
}

/// Reads a date, in nanoseconds since 1970, as seen from `now`. `None` is a text that is none.
pub fn parse(text: &str, now: u64) -> Option<i128> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(seconds) = text.strip_prefix('@') {
        return decimal(seconds);
    }
    let words = words(&text);
    let mut reading = Reading::default();
    let mut at = 0;
    while at < words.len() {
        at += reading.take(&words[at..])?;
    }
    reading.moment(i128::from(now))
}

/// Splits at blanks and commas, and a date from its time at a `t`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\t', '\n', ',']).filter(|word| !word.is_empty()) {
        match word.split_once('t') {
            Some((date, time)) if iso_date(date).is_some() && time.starts_with(|c: char| c.is_ascii_digit()) => {
                words.extend([date.to_owned(), time.to_owned()]);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

impl Reading {
    /// Takes one item from the front and says how many words it had.
    fn take(&mut self, words: &[String]) -> Option<usize> {
        let word = words[0].as_str();
        let next = words.get(1).map(String::as_str);
        if let Some(taken) = self.take_name(word, next) {
            return Some(taken);
        }
        if let Some(date) = iso_date(word).or_else(|| other_date(word)) {
            return self.set_date(date).map(|()| 1);
        }
        if word.contains(':') {
            return self.take_time(word, next);
        }
        if let Some(zone) = zone(word).filter(|_| self.time.is_some() && self.zone.is_none()) {
            // `+2 days` after a time is a number, and no zone.
            if next.is_none_or(|next| unit(next).is_none()) {
                self.zone = Some(zone);
                return Some(1);
            }
        }
        if let Some(month) = month(word) {
            return self.take_month_first(month, words);
        }
        self.take_number(word, words)
    }

    fn take_name(&mut self, word: &str, next: Option<&str>) -> Option<usize> {
        match word {
            "now" | "today" => self.is_relative = true,
            "yesterday" => self.relative(-1, "day")?,
            "tomorrow" => self.relative(1, "day")?,
            "midnight" => self.time = Some(0),
            "noon" => self.time = Some(12 * 3600 * SECOND),
            "last" | "this" | "next" => {
                let count = ["last", "this", "next"].iter().position(|name| *name == word)? as i64 - 1;
                let next = next?;
                match weekday(next) {
                    Some(day) => self.weekday = Some((day, count)),
                    None => self.relative(count, next)?,
                }
                return Some(2);
            }
            _ => {
                if let Some(day) = weekday(word) {
                    self.weekday = Some((day, 0));
                } else {
                    // A unit alone is one of it, `day` as well as `day ago`.
                    unit(word)?;
                    let ago = next == Some("ago");
                    self.relative(if ago { -1 } else { 1 }, word)?;
                    return Some(1 + usize::from(ago));
                }
            }
        }
        Some(1)
    }

    fn take_time(&mut self, word: &str, next: Option<&str>) -> Option<usize> {
        let end = word.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(word.len());
        let (clock, suffix) = word.split_at(end);
        let mut parts = clock.split(':');
        let mut hour: i64 = parts.next()?.parse().ok()?;
        let minute: i64 = parts.next()?.parse().ok()?;
        let seconds = parts.next().map_or(Some(0), decimal)?;
        if parts.next().is_some() || self.time.is_some() {
            return None;
        }
        let mut taken = 1;
        let half = match (suffix, next) {
            ("am" | "a.m.", _) => Some(0),
            ("pm" | "p.m.", _) => Some(12),
            ("", Some("am" | "a.m.")) => Some(0),
            ("", Some("pm" | "p.m.")) => Some(12),
            _ => None,
        };
        if let Some(half) = half {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + half;
            taken += usize::from(suffix.is_empty());
        } else if !suffix.is_empty() {
            self.zone = Some(zone(suffix)?);
        }
        if hour > 24 || minute > 59 || seconds >= 61 * SECOND {
            return None;
        }
        self.time = Some(i128::from(hour * 3600 + minute * 60) * SECOND + seconds);
        Some(taken)
    }

    /// `nov 16 2026` and `nov 16`.
    fn take_month_first(&mut self, month: i64, words: &[String]) -> Option<usize> {
        let day: i64 = words.get(1)?.parse().ok()?;
        match words.get(2).filter(|word| word.len() == 4).and_then(|word| word.parse().ok()) {
            Some(year) => self.set_date((year, month, day)).map(|()| 3),
            None => self.set_date((0, month, day)).map(|()| 2),
        }
    }

    /// `16 nov 2026`, `3 days ago`, `+2 weeks`, `3days`, `20261116`.
    fn take_number(&mut self, word: &str, words: &[String]) -> Option<usize> {
        let sign = if word.starts_with('-') { -1 } else { 1 };
        let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
        let end = digits.bytes().take_while(u8::is_ascii_digit).count();
        let (number, glued) = digits.split_at(end);
        let number: i64 = number.parse().ok()?;
        let (name, mut taken) = match (glued, words.get(1)) {
            ("", Some(next)) => (next.as_str(), 2),
            ("", None) => ("", 1),
            (glued, _) => (glued, 1),
        };
        if unit(name).is_some() {
            let ago = words.get(taken).is_some_and(|word| word == "ago");
            taken += usize::from(ago);
            return self.relative(number * sign * if ago { -1 } else { 1 }, name).map(|()| taken);
        }
        if let Some(month) = month(name) {
            return match words.get(taken).filter(|word| word.len() == 4).and_then(|word| word.parse().ok()) {
                Some(year) => self.set_date((year, month, number)).map(|()| taken + 1),
                None => self.set_date((0, month, number)).map(|()| taken),
            };
        }
        match name {
            "am" | "pm" if (1..=12).contains(&number) && self.time.is_none() => {
                let hour = number % 12 + if name == "pm" { 12 } else { 0 };
                self.time = Some(i128::from(hour * 3600) * SECOND);
                Some(taken)
            }
            _ => None,
        }
    }

    fn set_date(&mut self, (year, month, day): (i64, i64, i64)) -> Option<()> {
        let length = if year == 0 { 31 } else { month_length(year, month) };
        if self.date.is_some() || !(1..=12).contains(&month) || !(1..=length).contains(&day) {
            return None;
        }
        self.date = Some((year, month, day));
        Some(())
    }

    fn relative(&mut self, count: i64, name: &str) -> Option<()> {
        self.is_relative = true;
        // More than this many of anything is outside every calendar.
        if count.abs() > 100_000_000_000 {
            return None;
        }
        match unit(name)? {
            Unit::Months(months) => self.months += count * months,
            Unit::Days(days) => self.days += count * days,
            Unit::Seconds(seconds) => self.nanos += i128::from(count) * i128::from(seconds) * SECOND,
        }
        Some(())
    }

    fn moment(self, now: i128) -> Option<i128> {
        let today = (now / SECOND) as i64 / DAY;
        let has_date = self.date.is_some() || self.weekday.is_some();
        if !has_date && self.time.is_none() && !self.is_relative {
            // An empty text is the start of this day, as GNU has it.
            return Some(i128::from(today * DAY) * SECOND);
        }
        let (mut year, mut month, mut day) = match self.date {
            Some((0, month, day)) => (civil(today).0, month, day),
            Some(date) => date,
            None => civil(today),
        };
        month += self.months;
        year += (month - 1).div_euclid(12);
        month = (month - 1).rem_euclid(12) + 1;
        if !(-100_000..=100_000).contains(&year) {
            return None;
        }
        // A day that the month lacks runs over into the next, as with mktime.
        day += self.days;
        let mut days = days_of(year, month, 1).checked_add(day - 1)?;
        if let Some((weekday, ordinal)) = self.weekday.filter(|_| self.date.is_none()) {
            let ahead = (weekday - (days + 4)).rem_euclid(7);
            let weeks = ordinal - i64::from(ordinal > 0 && ahead > 0);
            days += ahead + 7 * weeks;
        }
        let time = match self.time {
            Some(time) => time,
            None if has_date => 0,
            None => now - i128::from(today * DAY) * SECOND,
        };
        Some((i128::from(days) * i128::from(DAY) - i128::from(self.zone.unwrap_or(0))) * SECOND + time + self.nanos)
    }
}

enum Unit {
    Months(i64),
    Days(i64),
    Seconds(i64),
}

fn unit(name: &str) -> Option<Unit> {
    Some(match name.strip_suffix('s').filter(|rest| !rest.is_empty()).unwrap_or(name) {
        "year" => Unit::Months(12),
        "month" => Unit::Months(1),
        "fortnight" => Unit::Days(14),
        "week" => Unit::Days(7),
        "day" => Unit::Days(1),
        "hour" => Unit::Seconds(3600),
        "minute" | "min" => Unit::Seconds(60),
        "second" | "sec" => Unit::Seconds(1),
        _ => return None,
    })
}

fn month(word: &str) -> Option<i64> {
    named(word, &MONTHS).map(|index| index + 1)
}

fn weekday(word: &str) -> Option<i64> {
    named(word, &WEEKDAYS)
}

fn named(word: &str, names: &[&str]) -> Option<i64> {
    let word = word.strip_suffix('.').unwrap_or(word);
    names.iter().position(|name| *name == word || word.len() == 3 && name.starts_with(word)).map(|index| index as i64)
}

fn zone(text: &str) -> Option<i64> {
    if matches!(text, "z" | "utc" | "gmt") {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// `2026-11-16` and `20261116`.
fn iso_date(word: &str) -> Option<(i64, i64, i64)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    if word.len() == 8 && !word.contains('-') {
        return Some((number(word.get(..4)?)?, number(word.get(4..6)?)?, number(word.get(6..)?)?));
    }
    let mut parts = word.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    Some((number(year)?, number(month)?, number(day)?))
}

/// `11/16/2026`, `2026/11/16`, `11/16` and `16-nov-2026`.
fn other_date(word: &str) -> Option<(i64, i64, i64)> {
    let slashed: Vec<&str> = word.split('/').collect();
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
    match slashed.as_slice() {
        [year, m, d] if year.len() == 4 => return Some((number(year)?, number(m)?, number(d)?)),
        [m, d, year] if year.len() == 4 => return Some((number(year)?, number(m)?, number(d)?)),
        [m, d] => return Some((0, number(m)?, number(d)?)),
        _ => {}
    }
    let dashed: Vec<&str> = word.split('-').collect();
    match dashed.as_slice() {
        [d, name, year] if year.len() == 4 => Some((number(year)?, month(name)?, number(d)?)),
        _ => None,
    }
}

/// A number with a fraction, in nanoseconds.
fn decimal(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let negative = whole.starts_with('-');
    let whole: i64 = whole.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanos: i128 = nanos.parse().ok()?;
    Some(i128::from(whole) * SECOND + if negative { -nanos } else { nanos })
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && year % 100 != 0 || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date, by counting years from March so that the leap day is the last.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of days since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 2026-11-16 08:00:00 UTC.
    const NOW: u64 = 1_794_816_000_000_000_000;

    /// Recorded from `date -u -d TEXT +%s`, as seen from that moment.
    #[test]
    fn dates_are_read_as_gnu_reads_them() {
        for (text, seconds) in [
            ("2026-11-16", 1_794_787_200),
            ("2024-02-29 12:30", 1_709_209_800),
            ("2024-02-29T12:30:15Z", 1_709_209_815),
            ("2024-02-29 12:30:15 +0200", 1_709_202_615),
            ("2024-02-29 12:30:15-05:30", 1_709_229_615),
            ("20240229", 1_709_164_800),
            ("@1700000000", 1_700_000_000),
            ("now", 1_794_816_000),
            ("today", 1_794_816_000),
            ("yesterday", 1_794_729_600),
            ("2 days ago", 1_794_643_200),
            ("-2 days", 1_794_643_200),
            ("1 hour ago", 1_794_812_400),
            ("last week", 1_794_211_200),
            ("next month", 1_797_408_000),
            ("1 year ago", 1_763_280_000),
            ("10:00", 1_794_823_200),
            ("yesterday 10:00", 1_794_736_800),
            ("3pm", 1_794_841_200),
            ("Nov 1 2026", 1_793_491_200),
            ("1 Nov 2026 12:00", 1_793_534_400),
            ("1 January 2024", 1_704_067_200),
            ("11/16/2026", 1_794_787_200),
            ("2024-01-31 1 month", 1_709_337_600),
            ("monday", 1_794_787_200),
            ("friday", 1_795_132_800),
            ("last friday", 1_794_528_000),
            ("next friday", 1_795_132_800),
            ("next monday", 1_795_392_000),
        ] {
            assert_eq!(parse(text, NOW), Some(i128::from(seconds) * SECOND), "{text}");
        }
        assert_eq!(parse("@1.5", NOW), Some(1_500_000_000));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["blah", "2024-13-01", "2024-02-30", "25:61", "12", "2024-01-01 2024-01-02", "@x", "3 blah ago"] {
            assert_eq!(parse(text, NOW), None, "{text}");
        }
    }
}
