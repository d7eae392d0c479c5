//! Dates: broken down into arrays as jq has them, in UTC. A sandbox has no other time zone.

use std::time::{SystemTime, UNIX_EPOCH};

use isopod_gnu::calendar::{self, MONTHS, WEEKDAYS, days_of};

use crate::jq::access::Outcome;
use crate::jq::arithmetic::one;
use crate::value::Value;

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
        let date = calendar::Date::at(whole as i64);
        Date {
            year: date.year,
            month: date.month,
            day: date.day,
            hour: date.hour,
            minute: date.minute,
            second: date.second as f64 + (seconds - whole),
            weekday: date.weekday,
            yearday: date.day_of_year,
        }
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
        let date = calendar::Date {
            year: self.year,
            month: self.month,
            day: self.day,
            hour: self.hour,
            minute: self.minute,
            second: self.second.floor() as i64,
            nanos: None,
            weekday: self.weekday,
            day_of_year: self.yearday,
        };
        date.format(format).map_err(|wrong| Value::text(format!("strftime: {wrong} is not supported")))
    }

    /// Parses a text by a format and returns the rest of the text. An error names the directive if it is unknown.
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
            'a' | 'A' => self.weekday = named(&WEEKDAYS, &mut rest)?,
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

    /// Computes the fields that follow from others: all from the epoch, or the hour from AM and PM, and the days of the
    /// week and of the year from the date.
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
