//! The texts that `date -d` and `touch -d` take: dates, times, zones and steps from now, in any order.

use super::token::{Token, tokens};
use super::{Civil, Moment, Zone};

/// Reads a text about a moment, as seen from now. `None` is no date.
pub(crate) fn read(text: &str, now: Moment, zone: &Zone) -> Option<Moment> {
    let text = text.trim();
    if let Some(seconds) = text.strip_prefix('@') {
        return since_1970(seconds);
    }
    // TZ="ZONE" before a date says where it is meant.
    if let Some(rest) = text.strip_prefix("TZ=\"") {
        let (name, rest) = rest.split_once('"')?;
        return read(rest, now, &Zone::named(name));
    }
    let tokens = tokens(text)?;
    let here = Civil::new(now.seconds + zone.at(now.seconds).seconds);
    let mut reader = Reader { tokens, at: 0, found: Found::default() };
    while reader.at < reader.tokens.len() {
        reader.item()?;
    }
    reader.found.resolve(here, now, zone)
}

fn since_1970(text: &str) -> Option<Moment> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with('.') {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let nanos: u32 = digits.parse().ok()?;
    // A fraction goes the way of its sign.
    Some(if whole.starts_with('-') && nanos > 0 {
        Moment { seconds: seconds - 1, nanos: 1_000_000_000 - nanos }
    } else {
        Moment { seconds, nanos }
    })
}

/// What a text said so far.
#[derive(Default)]
struct Found {
    date: Option<(Option<i64>, i64, i64)>,
    time: Option<(i64, i64, i64, u32)>,
    /// Seconds ahead of Greenwich.
    zone: Option<i64>,
    weekday: Option<(i64, i64)>,
    /// Years, months, days, and seconds.
    steps: Option<[i64; 4]>,
    nanos: i64,
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Found,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const LONG_MONTHS: [&str; 12] = [
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

fn month(word: &str) -> Option<i64> {
    let known = |index: usize| MONTHS[index] == word || LONG_MONTHS[index] == word || index == 8 && word == "sept";
    (0..12).find(|index| known(*index)).map(|index| index as i64 + 1)
}

fn weekday(word: &str) -> Option<i64> {
    let word = match word {
        "tues" => "tue",
        "wednes" => "wed",
        "thur" | "thurs" => "thu",
        word => word,
    };
    (0..7).find(|index| WEEKDAYS[*index] == word || WEEKDAYS[*index][..3] == *word).map(|index| index as i64)
}

fn ordinal(word: &str) -> Option<i64> {
    const WORDS: [(&str, i64); 14] = [
        ("last", -1),
        ("this", 0),
        ("next", 1),
        ("first", 1),
        ("third", 3),
        ("fourth", 4),
        ("fifth", 5),
        ("sixth", 6),
        ("seventh", 7),
        ("eighth", 8),
        ("ninth", 9),
        ("tenth", 10),
        ("eleventh", 11),
        ("twelfth", 12),
    ];
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// Which of years, months, days and seconds a unit counts in, and how many of those.
fn unit(word: &str) -> Option<(usize, i64)> {
    let word = match word {
        "mins" | "secs" => word.trim_end_matches('s'),
        word => word.strip_suffix('s').unwrap_or(word),
    };
    Some(match word {
        "year" => (0, 1),
        "month" => (1, 1),
        "fortnight" => (2, 14),
        "week" => (2, 7),
        "day" => (2, 1),
        "hour" => (3, 3600),
        "minute" | "min" => (3, 60),
        "second" | "sec" => (3, 1),
        _ => return None,
    })
}

/// Seconds that a named zone is ahead of Greenwich.
fn named_zone(word: &str) -> Option<i64> {
    let hours = match word {
        "utc" | "ut" | "gmt" | "z" | "wet" => 0,
        "bst" | "cet" | "met" | "west" => 1,
        "cest" | "eet" | "mest" | "sast" | "cat" => 2,
        "eest" | "msk" | "eat" => 3,
        "msd" => 4,
        "sgt" => 8,
        "jst" | "kst" => 9,
        "aest" => 10,
        "nzst" => 12,
        "nzdt" => 13,
        "adt" => -3,
        "ast" | "edt" | "clt" => -4,
        "est" | "cdt" => -5,
        "cst" | "mdt" => -6,
        "mst" | "pdt" => -7,
        "pst" | "akdt" => -8,
        "akst" => -9,
        "hst" => -10,
        _ => return None,
    };
    Some(hours * 3600)
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        match self.peek(ahead)? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// An unsigned whole number and its digits.
    fn plain(&self, ahead: usize) -> Option<(i64, usize)> {
        match self.peek(ahead)? {
            Token::Number { value, digits, sign: None, nanos: None } => Some((*value, *digits)),
            _ => None,
        }
    }

    fn is_mark(&self, ahead: usize, mark: char) -> bool {
        self.peek(ahead) == Some(&Token::Mark(mark))
    }

    /// Reads one date, time, zone or step.
    fn item(&mut self) -> Option<()> {
        match self.peek(0)?.clone() {
            Token::Word(word) => self.by_word(&word),
            Token::Number { value, digits, sign, nanos } => self.by_number(value, digits, sign, nanos),
            Token::Mark(',') => {
                self.at += 1;
                Some(())
            }
            Token::Mark(_) => None,
        }
    }

    fn by_word(&mut self, word: &str) -> Option<()> {
        if let Some(month) = month(word) {
            return self.month_first(month);
        }
        let shift = match word {
            "now" | "today" => Some(0),
            "yesterday" => Some(-1),
            "tomorrow" => Some(1),
            _ => None,
        };
        if let Some(days) = shift {
            self.at += 1;
            return self.step([0, 0, days, 0]);
        }
        if let Some(day) = weekday(word) {
            self.at += 1;
            if self.is_mark(0, ',') {
                self.at += 1;
            }
            return self.set_weekday(0, day);
        }
        if let Some(count) = ordinal(word) {
            if let Some(day) = self.word(1).and_then(weekday) {
                self.at += 2;
                return self.set_weekday(count, day);
            }
            let unit = unit(self.word(1)?)?;
            self.at += 2;
            return self.steps(count, 0, unit);
        }
        if let Some(unit) = unit(word) {
            self.at += 1;
            return self.steps(1, 0, unit);
        }
        if word == "t" && self.found.date.is_some() && self.found.time.is_none() {
            // 2024-01-02T03:04:05
            self.at += 1;
            return Some(());
        }
        if word == "am" || word == "pm" {
            return None;
        }
        let ahead = match named_zone(word) {
            Some(ahead) => ahead,
            // A military letter is an hour: A to M are east, N to Y west.
            None => match word.as_bytes() {
                [letter @ b'a'..=b'i'] => i64::from(letter - b'a' + 1) * 3600,
                [letter @ b'k'..=b'm'] => i64::from(letter - b'k' + 10) * 3600,
                [letter @ b'n'..=b'y'] => -i64::from(letter - b'n' + 1) * 3600,
                _ => return None,
            },
        };
        self.at += 1;
        let mut ahead = ahead;
        if let Some(Token::Number { value, digits, sign: Some(negative), nanos: None }) = self.peek(0).cloned()
            && matches!(word, "utc" | "gmt" | "z" | "ut")
            && unit_at(self.word(1)).is_none()
        {
            self.at += 1;
            ahead += self.correction(value, digits, negative)?;
        } else if self.word(0) == Some("dst") {
            self.at += 1;
            ahead += 3600;
        }
        self.set_zone(ahead)
    }

    /// `Jan 2 2024`, `January 2, 2024`, `Jan 2`, `Jan-2-2024`.
    fn month_first(&mut self, month: i64) -> Option<()> {
        self.at += 1;
        if self.is_mark(0, '-')
            && let (Some((day, _)), true, Some((year, digits))) = (self.plain(1), self.is_mark(2, '-'), self.plain(3))
        {
            self.at += 4;
            return self.set_date(Some(full_year(year, digits)), month, day);
        }
        let (day, _) = self.plain(0)?;
        if self.is_mark(1, ':') {
            return None;
        }
        self.at += 1;
        if self.is_mark(0, ',') {
            self.at += 1;
            let (year, digits) = self.plain(0)?;
            self.at += 1;
            return self.set_date(Some(full_year(year, digits)), month, day);
        }
        if let Some((year, 4..)) = self.plain(0).filter(|_| !self.is_mark(1, ':')) {
            self.at += 1;
            return self.set_date(Some(year), month, day);
        }
        self.set_date(None, month, day)
    }

    fn by_number(&mut self, value: i64, digits: usize, sign: Option<bool>, nanos: Option<u32>) -> Option<()> {
        // A unit after it makes it a step, whatever its sign.
        if let Some(unit) = unit_at(self.word(1)) {
            self.at += 2;
            return self.steps(value, nanos.unwrap_or(0).into(), unit);
        }
        if let (Some(day), true) = (self.word(1).and_then(weekday), sign.is_some()) {
            self.at += 2;
            return self.set_weekday(value, day);
        }
        if let Some(negative) = sign {
            if self.found.time.is_none() || nanos.is_some() {
                return None;
            }
            self.at += 1;
            let ahead = self.correction(value, digits, negative)?;
            return self.set_zone(ahead);
        }
        if self.is_mark(1, ':') {
            return self.time();
        }
        if nanos.is_some() {
            return None;
        }
        if let Some(half @ ("am" | "pm")) = self.word(1) {
            let hour = twelve(value, half == "pm")?;
            self.at += 2;
            return self.set_time(hour, 0, 0, 0);
        }
        if self.is_mark(1, '/') {
            return self.slashes(value, digits);
        }
        if self.is_mark(1, '-') {
            return self.dashes(value, digits);
        }
        if let Some(month) = self.word(1).and_then(month) {
            // 2 Jan 2024
            self.at += 2;
            if let Some((year, digits)) = self.plain(0).filter(|(_, digits)| *digits != 2 || !self.is_mark(1, ':'))
                && !self.is_mark(1, ':')
                && unit_at(self.word(1)).is_none()
            {
                self.at += 1;
                return self.set_date(Some(full_year(year, digits)), month, value);
            }
            return self.set_date(None, month, value);
        }
        self.at += 1;
        self.lone_number(value, digits)
    }

    /// A number by itself is a year, a date without marks, or a time.
    fn lone_number(&mut self, value: i64, digits: usize) -> Option<()> {
        if let Some((None, month, day)) = self.found.date
            && self.found.steps.is_none()
            && (self.found.time.is_some() || digits > 2)
        {
            self.found.date = Some((Some(full_year(value, digits)), month, day));
            return Some(());
        }
        if digits > 4 {
            let year = value / 10_000;
            return self.set_date(Some(full_year(year, digits - 4)), value / 100 % 100, value % 100);
        }
        if digits <= 2 { self.set_time(value, 0, 0, 0) } else { self.set_time(value / 100, value % 100, 0, 0) }
    }

    fn slashes(&mut self, first: i64, digits: usize) -> Option<()> {
        let (second, _) = self.plain(2)?;
        if self.is_mark(3, '/') {
            let (third, third_digits) = self.plain(4)?;
            self.at += 5;
            return if digits >= 4 {
                self.set_date(Some(first), second, third)
            } else {
                self.set_date(Some(full_year(third, third_digits)), first, second)
            };
        }
        self.at += 3;
        self.set_date(None, first, second)
    }

    fn dashes(&mut self, first: i64, digits: usize) -> Option<()> {
        if let Some(month) = self.word(2).and_then(month) {
            // 2-Jan-2024
            if self.is_mark(3, '-')
                && let Some((year, year_digits)) = self.plain(4)
            {
                self.at += 5;
                return self.set_date(Some(full_year(year, year_digits)), month, first);
            }
            return None;
        }
        let (month, _) = self.plain(2)?;
        if !self.is_mark(3, '-') {
            return None;
        }
        let (day, _) = self.plain(4)?;
        self.at += 5;
        self.set_date(Some(full_year(first, digits)), month, day)
    }

    /// `12:34`, `12:34:56.789`, with `am`, `pm` or an offset after it.
    fn time(&mut self) -> Option<()> {
        let (hour, _) = self.plain(0)?;
        let (minute, mut second, mut nanos) = (self.plain(2)?.0, 0, 0);
        self.at += 3;
        if self.is_mark(0, ':') {
            let Token::Number { value, sign: None, nanos: fraction, .. } = self.peek(1)?.clone() else { return None };
            (second, nanos) = (value, fraction.unwrap_or(0));
            self.at += 2;
        }
        let hour = match self.word(0) {
            Some(half @ ("am" | "pm")) => {
                let hour = twelve(hour, half == "pm")?;
                self.at += 1;
                hour
            }
            _ => hour,
        };
        self.set_time(hour, minute, second, nanos)?;
        // A signed number right after a time is its zone, even before a unit: so it is in GNU's.
        if let Some(Token::Number { value, digits, sign: Some(negative), nanos: None }) = self.peek(0).cloned() {
            self.at += 1;
            let ahead = self.correction(value, digits, negative)?;
            return self.set_zone(ahead);
        }
        Some(())
    }

    /// Seconds of an offset: `+5`, `+0530`, `+05:30`.
    fn correction(&mut self, value: i64, digits: usize, negative: bool) -> Option<i64> {
        let value = value.abs();
        let seconds = if self.is_mark(0, ':') {
            let (minutes, _) = self.plain(1)?;
            self.at += 2;
            value * 3600 + minutes * 60
        } else if digits <= 2 {
            value * 3600
        } else {
            value / 100 * 3600 + value % 100 * 60
        };
        (seconds <= 24 * 3600).then_some(if negative { -seconds } else { seconds })
    }

    fn steps(&mut self, count: i64, nanos: i64, (place, size): (usize, i64)) -> Option<()> {
        let back = self.word(0) == Some("ago");
        self.at += usize::from(back);
        let sign = if back { -1 } else { 1 };
        if nanos != 0 {
            if (place, size) != (3, 1) {
                return None;
            }
            self.found.nanos += sign * if count < 0 { -nanos } else { nanos };
        }
        let mut steps = [0; 4];
        steps[place] = count.checked_mul(size)?.checked_mul(sign)?;
        self.step(steps)
    }

    fn step(&mut self, steps: [i64; 4]) -> Option<()> {
        let sum = self.found.steps.get_or_insert_default();
        for (total, step) in sum.iter_mut().zip(steps) {
            *total = total.checked_add(step)?;
        }
        Some(())
    }

    fn set_date(&mut self, year: Option<i64>, month: i64, day: i64) -> Option<()> {
        self.found.date.replace((year, month, day)).is_none().then_some(())
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, nanos: u32) -> Option<()> {
        let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
        (fits && self.found.time.replace((hour, minute, second, nanos)).is_none()).then_some(())
    }

    fn set_zone(&mut self, ahead: i64) -> Option<()> {
        self.found.zone.replace(ahead).is_none().then_some(())
    }

    fn set_weekday(&mut self, count: i64, day: i64) -> Option<()> {
        self.found.weekday.replace((count, day)).is_none().then_some(())
    }
}

fn unit_at(word: Option<&str>) -> Option<(usize, i64)> {
    word.and_then(unit)
}

fn twelve(hour: i64, afternoon: bool) -> Option<i64> {
    match hour {
        12 => Some(if afternoon { 12 } else { 0 }),
        1..=11 => Some(if afternoon { hour + 12 } else { hour }),
        _ => None,
    }
}

/// Two digits stand for a year between 1969 and 2068.
fn full_year(year: i64, digits: usize) -> i64 {
    match year {
        0..69 if digits <= 2 => year + 2000,
        69..100 if digits <= 2 => year + 1900,
        year => year,
    }
}

impl Found {
    fn resolve(self, here: Civil, now: Moment, zone: &Zone) -> Option<Moment> {
        let mut civil = here;
        let mut nanos = i64::from(now.nanos);
        if let Some((year, month, day)) = self.date {
            (civil.year, civil.month, civil.day) = (year.unwrap_or(here.year), month, day);
            let length = super::days(civil.year, month + 1, 1) - super::days(civil.year, month, 1);
            if !(1..=12).contains(&month) || !(1..=length).contains(&day) {
                return None;
            }
        }
        // Steps alone leave the time of day as it is.
        let only_steps = self.steps.is_some() && self.date.is_none() && self.weekday.is_none();
        match self.time {
            Some((hour, minute, second, fraction)) => {
                (civil.hour, civil.minute, civil.second, nanos) = (hour, minute, second, fraction.into());
            }
            None if only_steps => {}
            None => (civil.hour, civil.minute, civil.second, nanos) = (0, 0, 0, 0),
        }
        if let (Some((count, day)), None) = (self.weekday, self.date) {
            let today = civil.weekday();
            civil.day += (day - today).rem_euclid(7) + 7 * (count - i64::from(count > 0 && today != day));
        }
        let steps = self.steps.unwrap_or_default();
        civil.year = civil.year.checked_add(steps[0]).filter(|year| year.abs() < 1 << 31)?;
        civil.month = civil.month.checked_add(steps[1]).filter(|month| month.abs() < 1 << 35)?;
        civil.day = civil.day.checked_add(steps[2]).filter(|day| day.abs() < 1 << 40)?;
        let start = match self.zone {
            Some(ahead) => civil.seconds() - ahead,
            None => zone.seconds(&civil),
        };
        let nanos = nanos + self.nanos;
        Some(Moment {
            seconds: start.checked_add(steps[3])?.checked_add(nanos.div_euclid(1_000_000_000))?,
            nanos: nanos.rem_euclid(1_000_000_000) as u32,
        })
    }
}
