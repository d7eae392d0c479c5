//! `strftime` and `mktime`, in UTC: a sandbox has no other time zone.

use isopod_gnu::calendar::Date;

use super::now;
use crate::array::Key;
use crate::code::global;
use crate::machine::{Machine, Run};
use crate::value::Value;

const DAY: i64 = 86_400;

impl Machine {
    pub(super) fn strftime(&mut self, count: usize) -> Run<Value> {
        if count == 3 {
            // UTC or local time: the same here.
            self.pop();
        }
        let time = if count >= 2 { self.pop().number() } else { now() };
        let format = match count {
            0 => match &self.globals[global::PROCINFO] {
                Value::Array(info) => info.borrow().get(Key::Text(b"strftime")).map(|value| value.to_text(b"%.6g")),
                _ => None,
            }
            .unwrap_or_else(|| b"%a %b %e %H:%M:%S %Z %Y".to_vec()),
            _ => self.pop_text(),
        };
        if time < 0.0 {
            return Err("strftime: times before 1970 are not supported".into());
        }
        let format = String::from_utf8_lossy(&format).into_owned();
        let date = Date::new((time as u64).saturating_mul(1_000_000_000));
        Ok(Value::owned(written(&date, &format)?.into_bytes()))
    }

    pub(super) fn mktime(&mut self, count: usize) -> Value {
        if count == 2 {
            self.pop();
        }
        let text = self.pop_text();
        let text = String::from_utf8_lossy(&text).into_owned();
        let numbers: Option<Vec<i64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
        Value::Number(match numbers.as_deref() {
            Some([year, month, day, hour, minute, second, ..]) => {
                seconds(*year, *month, *day, *hour, *minute, *second) as f64
            }
            _ => -1.0,
        })
    }
}

/// Seconds since 1970. Parts beyond their range carry over, as C's `mktime` has it.
fn seconds(year: i64, month: i64, day: i64, hour: i64, minute: i64, second: i64) -> i64 {
    let year = year.clamp(-100_000, 100_000) + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // Years start in March, so that the leap day is the last of one.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    (days + day - 1).saturating_mul(DAY) + hour.saturating_mul(3600) + minute.saturating_mul(60) + second
}

/// The conversions that `Date` has, and the rest of C's.
fn written(date: &Date, format: &str) -> Run<String> {
    let part = |letter: &str| date.format(&format!("%{letter}")).unwrap_or_default();
    let number = |letter: &str| part(letter).trim().parse::<i64>().unwrap_or(0);
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let mut letter = chars.next();
        let mut flag = None;
        if let Some(found @ ('-' | '_' | '0' | '^' | '#')) = letter {
            flag = Some(found);
            letter = chars.next();
        }
        // `E` and `O` ask for the locale's other forms, of which there are none.
        if let Some('E' | 'O') = letter {
            letter = chars.next();
        }
        let Some(letter) = letter else {
            text.push('%');
            break;
        };
        let plain = match letter {
            'G' | 'g' | 'V' => {
                let (year, week) = iso_week(number("Y"), number("j"), number("u"));
                match letter {
                    'G' => year.to_string(),
                    'g' => format!("{:02}", year.rem_euclid(100)),
                    _ => format!("{week:02}"),
                }
            }
            'U' => format!("{:02}", (number("j") + 6 - number("w")) / 7),
            'W' => format!("{:02}", (number("j") + 6 - (number("u") - 1)) / 7),
            '+' => date.format("%a %b %e %H:%M:%S %Z %Y").unwrap_or_default(),
            'v' => date.format("%e-%b-%Y").unwrap_or_default(),
            'N' => "%N".into(),
            letter => date.format(&format!("%{letter}")).unwrap_or_else(|unknown| unknown),
        };
        text.push_str(&match flag {
            Some('-') => {
                let bare = plain.trim_start_matches(['0', ' ']);
                if bare.is_empty() && !plain.is_empty() { "0".to_owned() } else { bare.to_owned() }
            }
            Some('_') => {
                let bare = plain.trim_start_matches('0');
                let bare = if bare.is_empty() { "0" } else { bare };
                format!("{bare:>width$}", width = plain.len())
            }
            Some('^') => plain.to_uppercase(),
            Some('#') if plain.chars().any(char::is_lowercase) => plain.to_uppercase(),
            Some('#') => plain.to_lowercase(),
            Some('0') => plain.replace(' ', "0"),
            _ => plain,
        });
    }
    Ok(text)
}

/// Year and week of ISO 8601: weeks start on Monday, and the first has the year's first Thursday.
fn iso_week(year: i64, day_of_year: i64, weekday: i64) -> (i64, i64) {
    let week = (day_of_year - weekday + 10) / 7;
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if week < 1 {
        let before = year - 1;
        let days = if leap(before) { 366 } else { 365 };
        return (before, (day_of_year + days - weekday + 10) / 7);
    }
    let days = if leap(year) { 366 } else { 365 };
    // The last days belong to the next year if its Thursday does.
    if week == 53 && day_of_year - weekday + 4 > days { (year + 1, 1) } else { (year, week) }
}
