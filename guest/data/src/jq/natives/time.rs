//! Dates: broken down into arrays as jq has them, in UTC. A sandbox has no other time zone.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::jq::access::Outcome;
use crate::jq::arithmetic::one;
use crate::value::Value;

const MONTHS: [&str; 12] = [
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
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Years that dates are kept in: beyond, seconds are no longer exact anyway.
const FURTHEST: f64 = 1e14;

/// A date: year, month from 0, day, hour, minute, second, weekday, day of the year from 0.
#[derive(Clone, Copy, Default)]
struct Date {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: f64,
    weekday: i64,
    yearday: i64,
}

pub(super) fn now() -> Outcome {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Value::number(since.as_secs_f64()))
}

pub(super) fn gmtime(input: Value, _: Vec<Value>) -> Outcome {
    match input.as_number() {
        Some(seconds) if seconds.abs() < FURTHEST => Ok(Date::from_seconds(seconds).value()),
        Some(_) => Err(Value::text("error converting number of seconds since epoch to datetime")),
        None => Err(Value::text("gmtime() requires numeric inputs")),
    }
}

pub(super) fn mktime(input: Value, _: Vec<Value>) -> Outcome {
    if !matches!(input, Value::Array(_)) {
        return Err(Value::text("mktime requires array inputs"));
    }
    match Date::read(&input) {
        Some(date) => Ok(Value::number(date.seconds().floor())),
        None => Err(Value::text("mktime requires parsed datetime inputs")),
    }
}

pub(super) fn strftime(input: Value, args: Vec<Value>) -> Outcome {
    let date = match &input {
        Value::Number(seconds) if seconds.float().abs() < FURTHEST => Some(Date::from_seconds(seconds.float())),
        other => Date::read(other),
    };
    let Some(date) = date else { return Err(Value::text("strftime/1 requires parsed datetime inputs")) };
    match one(args).as_text() {
        Some(format) => Ok(Value::text(date.format(format)?)),
        None => Err(Value::text("strftime/1 requires a string format")),
    }
}

pub(super) fn strptime(input: Value, args: Vec<Value>) -> Outcome {
    let (Some(text), Value::Text(format)) = (input.as_text(), one(args)) else {
        return Err(Value::text("strptime/1 requires string inputs and arguments"));
    };
    let mut date = Date { year: 1900, ..Date::default() };
    let mut seen = Seen::default();
    match date.parse(text, &format, &mut seen) {
        Ok("") => {
            date.complete(seen);
            Ok(date.value())
        }
        Ok(rest) if rest.starts_with(char::is_whitespace) && rest.trim().is_empty() => {
            date.complete(seen);
            Ok(date.value())
        }
        Err(Some(unknown)) => Err(Value::text(format!("strptime: %{unknown} is not supported"))),
        _ => Err(Value::text(format!("date \"{text}\" does not match format \"{format}\""))),
    }
}

/// Which fields a text gave.
#[derive(Default)]
struct Seen {
    afternoon: Option<bool>,
    epoch: Option<f64>,
    has_date: bool,
}

impl Date {
    fn from_seconds(seconds: f64) -> Date {
        let whole = seconds.floor();
        let days = (whole / 86_400.0).floor();
        let of_day = (whole - days * 86_400.0) as i64;
        let mut date = Date::from_days(days as i64);
        (date.hour, date.minute) = (of_day / 3600, of_day / 60 % 60);
        date.second = (of_day % 60) as f64 + (seconds - whole);
        date
    }

    /// Howard Hinnant's way from days to dates, in eras of 400 years.
    fn from_days(days: i64) -> Date {
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = (shifted_month + 2) % 12;
        let year = year_of_era + era * 400 + i64::from(month < 2);
        let mut date = Date { year, month, day: of_year - (153 * shifted_month + 2) / 5 + 1, ..Date::default() };
        date.weekday = (days + 4).rem_euclid(7);
        date.yearday = days - days_of(year, 0, 1);
        date
    }

    fn read(value: &Value) -> Option<Date> {
        let Value::Array(items) = value else { return None };
        let mut numbers = [0.0; 8];
        if items.len() < 6 {
            return None;
        }
        for (slot, item) in numbers.iter_mut().zip(items.iter()) {
            *slot = item.as_number().filter(|number| number.abs() < FURTHEST)?;
        }
        let [year, month, day, hour, minute, second, weekday, yearday] = numbers;
        Some(Date {
            year: year as i64,
            month: month as i64,
            day: day as i64,
            hour: hour as i64,
            minute: minute as i64,
            second,
            weekday: weekday as i64,
            yearday: yearday as i64,
        })
    }

    fn value(&self) -> Value {
        let numbers = [
            self.year as f64,
            self.month as f64,
            self.day as f64,
            self.hour as f64,
            self.minute as f64,
            self.second,
            self.weekday as f64,
            self.yearday as f64,
        ];
        Value::array(numbers.into_iter().map(Value::number).collect())
    }

    fn seconds(&self) -> f64 {
        let days = days_of(self.year, self.month, self.day);
        (days * 86_400 + self.hour * 3600 + self.minute * 60) as f64 + self.second
    }

    fn format(&self, format: &str) -> Result<String, Value> {
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut directive = chars.next();
            // Flags of GNU that change the padding.
            let flag = directive.filter(|flag| matches!(flag, '-' | '_' | '0' | 'E' | 'O' | '^' | '#'));
            if flag.is_some() {
                directive = chars.next();
            }
            let text = match directive {
                Some(directive) => self.directive(directive)?,
                None => "%".into(),
            };
            out.push_str(&match flag {
                Some('-') => {
                    let stripped = text.trim_start_matches(['0', ' ']);
                    if stripped.is_empty() && !text.is_empty() { "0".into() } else { stripped.to_owned() }
                }
                Some('_') if text.starts_with('0') && text.len() > 1 => text.replacen('0', " ", 1),
                Some('^') => text.to_uppercase(),
                _ => text,
            });
        }
        Ok(out)
    }

    fn directive(&self, directive: char) -> Result<String, Value> {
        let name = |list: &[&'static str], index: i64| list.get(index as usize).copied().unwrap_or("?");
        let hour12 = if self.hour % 12 == 0 { 12 } else { self.hour % 12 };
        let (week_year, week) = self.iso_week();
        let second = self.second.floor() as i64;
        Ok(match directive {
            'Y' => self.year.to_string(),
            'C' => format!("{:02}", self.year.div_euclid(100)),
            'y' => format!("{:02}", self.year.rem_euclid(100)),
            'm' => format!("{:02}", self.month + 1),
            'd' => format!("{:02}", self.day),
            'e' => format!("{:2}", self.day),
            'H' => format!("{:02}", self.hour),
            'k' => format!("{:2}", self.hour),
            'I' => format!("{hour12:02}"),
            'l' => format!("{hour12:2}"),
            'M' => format!("{:02}", self.minute),
            'S' => format!("{second:02}"),
            'p' => if self.hour < 12 { "AM" } else { "PM" }.into(),
            'P' => if self.hour < 12 { "am" } else { "pm" }.into(),
            'j' => format!("{:03}", self.yearday + 1),
            'a' => name(&DAYS, self.weekday).chars().take(3).collect(),
            'A' => name(&DAYS, self.weekday).into(),
            'b' | 'h' => name(&MONTHS, self.month).chars().take(3).collect(),
            'B' => name(&MONTHS, self.month).into(),
            'u' => if self.weekday == 0 { 7 } else { self.weekday }.to_string(),
            'w' => self.weekday.to_string(),
            'U' => format!("{:02}", (self.yearday + 7 - self.weekday) / 7),
            'W' => format!("{:02}", (self.yearday + 7 - (self.weekday + 6) % 7) / 7),
            'G' => week_year.to_string(),
            'g' => format!("{:02}", week_year.rem_euclid(100)),
            'V' => format!("{week:02}"),
            'Z' => "UTC".into(),
            'z' => "+0000".into(),
            's' => format!("{}", self.seconds().floor() as i64),
            'n' => "\n".into(),
            't' => "\t".into(),
            '%' => "%".into(),
            'D' | 'x' => self.format("%m/%d/%y")?,
            'F' => self.format("%Y-%m-%d")?,
            'T' | 'X' => self.format("%H:%M:%S")?,
            'R' => self.format("%H:%M")?,
            'r' => self.format("%I:%M:%S %p")?,
            'c' => self.format("%a %b %e %H:%M:%S %Y")?,
            other => return Err(Value::text(format!("strftime: %{other} is not supported"))),
        })
    }

    /// Year and week of ISO 8601.
    fn iso_week(&self) -> (i64, i64) {
        let weekday = (self.weekday + 6) % 7;
        let week = (self.yearday - weekday + 10).div_euclid(7);
        let weeks_in = |year: i64| {
            let first = (days_of(year, 0, 1) + 3).rem_euclid(7);
            let leap = days_of(year + 1, 0, 1) - days_of(year, 0, 1) == 366;
            if first == 3 || leap && first == 2 { 53 } else { 52 }
        };
        match week {
            0 => (self.year - 1, weeks_in(self.year - 1)),
            53 if weeks_in(self.year) < 53 => (self.year + 1, 1),
            week => (self.year, week),
        }
    }

    /// Reads a text by a format; returns what is left of the text. An error may name a directive that is unknown.
    fn parse<'t>(&mut self, text: &'t str, format: &str, seen: &mut Seen) -> Result<&'t str, Option<char>> {
        let mut rest = text;
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c.is_whitespace() {
                rest = rest.trim_start();
                continue;
            }
            if c != '%' {
                rest = rest.strip_prefix(c).ok_or(None)?;
                continue;
            }
            let mut directive = chars.next().ok_or(None)?;
            if matches!(directive, '-' | '_' | '0' | 'E' | 'O') {
                directive = chars.next().ok_or(None)?;
            }
            rest = self.parse_directive(rest, directive, seen)?;
        }
        Ok(rest)
    }

    fn parse_directive<'t>(
        &mut self,
        text: &'t str,
        directive: char,
        seen: &mut Seen,
    ) -> Result<&'t str, Option<char>> {
        let rest = if matches!(directive, 'n' | 't' | '%' | 'Z') { text } else { text.trim_start() };
        let number = |most: usize, low: i64, high: i64, rest: &mut &'t str| -> Result<i64, Option<char>> {
            let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
            let value: i64 = rest[..digits].parse().map_err(|_| None)?;
            *rest = &rest[digits..];
            if (low..=high).contains(&value) { Ok(value) } else { Err(None) }
        };
        let mut rest = rest;
        match directive {
            'Y' => {
                self.year = number(4, 0, 9999, &mut rest)?;
                seen.has_date = true;
            }
            'y' => {
                let year = number(2, 0, 99, &mut rest)?;
                self.year = if year < 69 { 2000 + year } else { 1900 + year };
                seen.has_date = true;
            }
            'm' => {
                self.month = number(2, 1, 12, &mut rest)? - 1;
                seen.has_date = true;
            }
            'd' | 'e' => {
                self.day = number(2, 1, 31, &mut rest)?;
                seen.has_date = true;
            }
            'H' | 'k' => self.hour = number(2, 0, 23, &mut rest)?,
            'I' | 'l' => self.hour = number(2, 1, 12, &mut rest)? % 12,
            'M' => self.minute = number(2, 0, 59, &mut rest)?,
            'S' => self.second = number(2, 0, 60, &mut rest)? as f64,
            'j' => self.yearday = number(3, 1, 366, &mut rest)? - 1,
            'u' => self.weekday = number(1, 1, 7, &mut rest)? % 7,
            'w' => self.weekday = number(1, 0, 6, &mut rest)?,
            'p' | 'P' => {
                let half = rest.get(..2).ok_or(None)?;
                seen.afternoon = Some(match half.to_ascii_lowercase().as_str() {
                    "am" => false,
                    "pm" => true,
                    _ => return Err(None),
                });
                rest = &rest[2..];
            }
            'a' | 'A' => self.weekday = named(&DAYS, &mut rest)?,
            'b' | 'B' | 'h' => {
                self.month = named(&MONTHS, &mut rest)?;
                seen.has_date = true;
            }
            's' => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                seen.epoch = Some(rest[..digits].parse().map_err(|_| None)?);
                rest = &rest[digits..];
            }
            'z' => {
                if let Some(after) = rest.strip_prefix('Z') {
                    rest = after;
                } else {
                    let after = rest.strip_prefix(['+', '-']).ok_or(None)?;
                    let digits = after.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
                    if digits < 2 {
                        return Err(None);
                    }
                    rest = &after[digits.min(if after[..digits].contains(':') { 5 } else { 4 })..];
                }
            }
            'Z' => {
                let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                rest = &rest[letters..];
            }
            'T' => rest = self.parse(rest, "%H:%M:%S", seen)?,
            'R' => rest = self.parse(rest, "%H:%M", seen)?,
            'F' => rest = self.parse(rest, "%Y-%m-%d", seen)?,
            'D' => rest = self.parse(rest, "%m/%d/%y", seen)?,
            'c' => rest = self.parse(rest, "%a %b %e %H:%M:%S %Y", seen)?,
            'n' | 't' => rest = rest.trim_start(),
            '%' => rest = rest.strip_prefix('%').ok_or(None)?,
            other => return Err(Some(other)),
        }
        Ok(rest)
    }

    /// What follows from what was read: the days of the week and of the year.
    fn complete(&mut self, seen: Seen) {
        if let Some(seconds) = seen.epoch {
            *self = Date::from_seconds(seconds);
            return;
        }
        if seen.afternoon == Some(true) {
            self.hour += 12;
        }
        if seen.has_date {
            let days = days_of(self.year, self.month, self.day);
            self.weekday = (days + 4).rem_euclid(7);
            self.yearday = days - days_of(self.year, 0, 1);
        }
    }
}

/// A name from a list, whole or its first three letters, in any case.
fn named(names: &[&str], rest: &mut &str) -> Result<i64, Option<char>> {
    for (index, name) in names.iter().enumerate() {
        for length in [name.len(), 3] {
            if rest.get(..length).is_some_and(|begin| begin.eq_ignore_ascii_case(&name[..length])) {
                *rest = &rest[length..];
                return Ok(index as i64);
            }
        }
    }
    Err(None)
}

/// Days since 1970 of a date, whose month and day may be beyond their ends.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year + month.div_euclid(12);
    let month = month.rem_euclid(12);
    let shifted = if month < 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
