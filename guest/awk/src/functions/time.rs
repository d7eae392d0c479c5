//! `strftime` and `mktime`, in UTC. `TZ` has no effect: the data of all zones would add 200 KB to the program.

use isopod_gnu::calendar::{Date, days_of};

use super::now;
use crate::array::Key;
use crate::code::global;
use crate::machine::{Machine, Run};
use crate::value::Value;

const DAY: i64 = 86_400;

impl Machine {
    pub(super) fn strftime(&mut self, count: usize) -> Run<Value> {
        if count == 3 {
            // The flag for UTC has no effect, since the local time is UTC.
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
        let format = String::from_utf8_lossy(&format).into_owned();
        let text = Date::at(time as i64).format_lenient(&format);
        Ok(Value::owned(text.into_bytes()))
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

/// Returns the seconds since 1970. As in C's `mktime`, values beyond their range carry over.
fn seconds(year: i64, month: i64, day: i64, hour: i64, minute: i64, second: i64) -> i64 {
    let days = days_of(year.clamp(-100_000, 100_000), month - 1, day);
    days.saturating_mul(DAY) + hour.saturating_mul(3600) + minute.saturating_mul(60) + second
}
