//! Dates, times, zones and relative times, in any order, as GNU's grammar of dates has them.

use super::fields::{Fields, Steps, TimeOfDay};
use super::token::Token;
use super::words::{Unit, month, ordinal, unit, weekday, zone};

/// Reads tokens into fields.
pub(super) struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    fields: Fields,
    /// Abbreviations of the local zone, in lower case, and the seconds that they are ahead of UTC.
    local: &'a [(String, i64)],
}

impl Reader<'_> {
    /// A reader at the first token.
    pub(super) fn new(tokens: Vec<Token>, local: &[(String, i64)]) -> Reader<'_> {
        Reader { tokens, at: 0, fields: Fields::default(), local }
    }

    /// Reads all tokens. `None` is a text that is no date.
    pub(super) fn read(mut self) -> Option<Fields> {
        while self.at < self.tokens.len() {
            self.item()?;
        }
        Some(self.fields)
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        match self.peek(ahead)? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Returns an unsigned whole number and the count of its digits.
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
            return self.step(days, 0, Unit::Days(1));
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
            return self.relative(count, 0, unit);
        }
        if let Some(unit) = unit(word) {
            self.at += 1;
            return self.relative(1, 0, unit);
        }
        if word == "t" && self.fields.date.is_some() && self.fields.time.is_none() {
            // 2024-01-02T03:04:05
            self.at += 1;
            return Some(());
        }
        self.by_zone(word)
    }

    /// `EST`, `UTC+5`, `EST DST`.
    fn by_zone(&mut self, word: &str) -> Option<()> {
        let local = self.local.iter().find(|(name, _)| name == word).map(|(_, ahead)| *ahead);
        let mut ahead = local.or_else(|| zone(word))?;
        self.at += 1;
        if let Some(Token::Number { value, digits, sign: Some(negative), nanos: None }) = self.peek(0).cloned()
            && self.unit_at(1).is_none()
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
        // A unit after it makes it a relative time, whatever its sign.
        if let Some(unit) = self.unit_at(1) {
            self.at += 2;
            return self.relative(value, nanos.unwrap_or(0).into(), unit);
        }
        if let (Some(day), None) = (self.word(1).and_then(weekday), sign) {
            self.at += 2;
            return self.set_weekday(value, day);
        }
        if let Some(negative) = sign {
            if self.fields.time.is_none() || nanos.is_some() {
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
            return self.set_time(TimeOfDay { hour, minute: 0, second: 0, nanos: 0 });
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
                && self.unit_at(1).is_none()
            {
                self.at += 1;
                return self.set_date(Some(full_year(year, digits)), month, value);
            }
            return self.set_date(None, month, value);
        }
        self.at += 1;
        self.lone_number(value, digits)
    }

    /// Reads a number by itself: a year, a date without marks, or a time.
    fn lone_number(&mut self, value: i64, digits: usize) -> Option<()> {
        if let Some((None, month, day)) = self.fields.date
            && self.fields.steps.is_none()
            && (self.fields.time.is_some() || digits > 2)
        {
            self.fields.date = Some((Some(full_year(value, digits)), month, day));
            return Some(());
        }
        if digits > 4 {
            let year = value / 10_000;
            return self.set_date(Some(full_year(year, digits - 4)), value / 100 % 100, value % 100);
        }
        let (hour, minute) = if digits <= 2 { (value, 0) } else { (value / 100, value % 100) };
        self.set_time(TimeOfDay { hour, minute, second: 0, nanos: 0 })
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
        self.set_time(TimeOfDay { hour, minute, second, nanos })?;
        // A signed number right after a time is its zone, even before a unit, as in GNU's.
        if let Some(Token::Number { value, digits, sign: Some(negative), nanos: None }) = self.peek(0).cloned() {
            self.at += 1;
            let ahead = self.correction(value, digits, negative)?;
            return self.set_zone(ahead);
        }
        Some(())
    }

    /// Returns the seconds of an offset: `+5`, `+0530`, `+05:30`.
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

    /// Adds a count of a unit, `ago` or `hence`. Only seconds have fractions.
    fn relative(&mut self, count: i64, nanos: i64, unit: Unit) -> Option<()> {
        let sign = match self.word(0) {
            Some("ago") => -1,
            Some("hence") => 1,
            _ => return self.step(count, nanos, unit),
        };
        self.at += 1;
        self.step(count.checked_mul(sign)?, nanos * sign, unit)
    }

    fn step(&mut self, count: i64, nanos: i64, unit: Unit) -> Option<()> {
        if nanos != 0 && unit != Unit::Seconds(1) {
            return None;
        }
        let steps: &mut Steps = self.fields.steps.get_or_insert_default();
        let (total, size) = match unit {
            Unit::Years => (&mut steps.years, 1),
            Unit::Months => (&mut steps.months, 1),
            Unit::Days(days) => (&mut steps.days, days),
            Unit::Seconds(seconds) => (&mut steps.seconds, seconds),
        };
        *total = total.checked_add(count.checked_mul(size)?)?;
        steps.nanos += nanos;
        Some(())
    }

    fn unit_at(&self, ahead: usize) -> Option<Unit> {
        self.word(ahead).and_then(unit)
    }

    fn set_date(&mut self, year: Option<i64>, month: i64, day: i64) -> Option<()> {
        self.fields.date.replace((year, month, day)).is_none().then_some(())
    }

    fn set_time(&mut self, time: TimeOfDay) -> Option<()> {
        let fits = (0..24).contains(&time.hour) && (0..60).contains(&time.minute) && (0..60).contains(&time.second);
        (fits && self.fields.time.replace(time).is_none()).then_some(())
    }

    fn set_zone(&mut self, ahead: i64) -> Option<()> {
        self.fields.zone.replace(ahead).is_none().then_some(())
    }

    fn set_weekday(&mut self, count: i64, day: i64) -> Option<()> {
        self.fields.weekday.replace((count, day)).is_none().then_some(())
    }
}

/// Returns the hour of the day of an hour before or after noon.
fn twelve(hour: i64, afternoon: bool) -> Option<i64> {
    match hour {
        12 => Some(if afternoon { 12 } else { 0 }),
        1..=11 => Some(if afternoon { hour + 12 } else { hour }),
        _ => None,
    }
}

/// Returns the year of a number; two digits stand for a year between 1969 and 2068.
fn full_year(year: i64, digits: usize) -> i64 {
    match year {
        0..69 if digits == 2 => year + 2000,
        69..100 if digits == 2 => year + 1900,
        year => year,
    }
}
