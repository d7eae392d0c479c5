//! Tests of times.

use std::cmp::Ordering;

use isopod_sys::files::Attributes;

use super::compare::split_sign;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// One of the times of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    Accessed,
    Changed,
    Modified,
}

impl Stamp {
    /// Returns the time by its letter in `-newerXY` and `-printf`.
    pub(super) fn by_letter(letter: u8) -> Option<Stamp> {
        match letter.to_ascii_lowercase() {
            b'a' => Some(Stamp::Accessed),
            b'c' => Some(Stamp::Changed),
            b'm' | b't' => Some(Stamp::Modified),
            _ => None,
        }
    }

    /// Returns this time of a file.
    pub(super) fn of(self, attributes: &Attributes) -> u64 {
        match self {
            Stamp::Accessed => attributes.accessed,
            Stamp::Changed => attributes.changed,
            Stamp::Modified => attributes.modified,
        }
    }
}

/// A moment, or a period that starts after it, to compare a time with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// `Greater`: later than the start; `Less`: earlier; `Equal`: in the window.
    order: Ordering,
    start: i128,
    length: i128,
}

/// The moment that ages are counted from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The time at which this run started.
    pub(super) now: u64,
    /// True if ages count from the end of today: `-daystart`.
    pub(super) daystart: bool,
}

impl Clock {
    fn end(self) -> i128 {
        let now = i128::from(self.now);
        if self.daystart { now - now % DAY + DAY } else { now }
    }

    /// Reads `-mtime N`: an age in full days.
    pub(super) fn days(self, text: &str) -> Option<Window> {
        let (order, count) = age(text, DAY)?;
        // GNU's arithmetic, including its second: less than N days old is not more than N days and a second.
        let slack = if order == Ordering::Less { DAY - SECOND } else { 0 };
        Some(Window { order: order.reverse(), start: self.end() - DAY + slack - count, length: DAY })
    }

    /// Reads `-mmin N`: an age in minutes.
    pub(super) fn minutes(self, text: &str) -> Option<Window> {
        let (order, count) = age(text, 60 * SECOND)?;
        Some(Window { order: order.reverse(), start: self.end() - count, length: 60 * SECOND })
    }
}

impl Window {
    /// Creates a window for times later than a moment.
    pub(super) fn after(start: i128) -> Window {
        Window { order: Ordering::Greater, start, length: 0 }
    }

    /// Reads `-used N`. GNU counts days back from zero, against its manual; scripts rely on its behaviour.
    pub(super) fn used(text: &str) -> Option<Window> {
        let (order, count) = age(text, DAY)?;
        Some(Window { order: order.reverse(), start: -count, length: DAY })
    }

    /// Returns true if a moment is in the window.
    pub(super) fn holds(&self, moment: i128) -> bool {
        match self.order {
            Ordering::Equal => moment > self.start && moment - self.start <= self.length,
            order => moment.cmp(&self.start) == order,
        }
    }
}

/// Reads a number of units with a sign. The number may have a fraction.
fn age(text: &str, unit: i128) -> Option<(Ordering, i128)> {
    let (order, digits) = split_sign(text);
    let number: f64 = digits.parse().ok()?;
    // The bound is longer than any clock runs, and far from an overflow.
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+') || number.abs() > 1e9 {
        return None;
    }
    Some((order, (number * unit as f64) as i128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_whole_days() {
        let now = 100 * DAY as u64 + 5;
        let clock = Clock { now, daystart: false };
        let old = |days: f64| i128::from(now) - (days * DAY as f64) as i128;
        for (text, days, expected) in [
            ("0", 0.5, true),
            ("0", 1.5, false),
            ("1", 1.5, true),
            ("+0", 1.5, true),
            ("+0", 0.9, false),
            ("+1", 1.9, false),
            ("+1", 2.1, true),
            ("-1", 0.9, true),
            ("-1", 1.1, false),
        ] {
            assert_eq!(clock.days(text).unwrap().holds(old(days)), expected, "{text} {days}");
        }
        assert!(clock.days("x").is_none() && clock.days("+").is_none() && clock.minutes("-1e3").is_some());
    }
}
