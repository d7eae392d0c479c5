//! The parts of a date that a text gave, and the point in time that they make.

use super::{Moment, SECOND};
use crate::calendar::{Date, days_of};
use crate::zone::LocalTime;

/// The parts of a date that a text gave.
#[derive(Default)]
pub(super) struct Fields {
    /// The year, if the text had one, the month from 1, and the day.
    pub(super) date: Option<(Option<i64>, i64, i64)>,
    pub(super) time: Option<TimeOfDay>,
    /// Seconds ahead of UTC.
    pub(super) zone: Option<i64>,
    /// The number of weeks ahead, and the weekday.
    pub(super) weekday: Option<(i64, i64)>,
    pub(super) steps: Option<Steps>,
}

#[derive(Clone, Copy)]
pub(super) struct TimeOfDay {
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: u32,
}

/// The sum of all relative times.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) seconds: i64,
    pub(super) nanos: i64,
}

impl Fields {
    /// Makes a point in time of the fields; those that the text left out are taken from `now`. `None` is a day or a
    /// local time that does not exist.
    pub(super) fn resolve(self, now: Moment, zone: &impl LocalTime) -> Option<Moment> {
        let mut date = zone.date_at(now.seconds);
        let mut nanos = i64::from(now.nanos);
        if let Some((year, month, day)) = self.date {
            (date.year, date.month, date.day) = (year.unwrap_or(date.year), month - 1, day);
            let length = days_of(date.year, month, 1) - days_of(date.year, month - 1, 1);
            if !(1..=12).contains(&month) || !(1..=length).contains(&day) {
                return None;
            }
        }
        // Steps alone leave the time of day as it is.
        let only_steps = self.steps.is_some() && self.date.is_none() && self.weekday.is_none();
        match self.time {
            Some(time) => {
                (date.hour, date.minute, date.second) = (time.hour, time.minute, time.second);
                nanos = time.nanos.into();
            }
            None if only_steps => {}
            None => (date.hour, date.minute, date.second, nanos) = (0, 0, 0, 0),
        }
        if let (Some((count, day)), None) = (self.weekday, self.date) {
            let today = Date::at(date.seconds()).weekday;
            let weeks = count - i64::from(count > 0 && today != day);
            date.day += (day - today).rem_euclid(7) + weeks.checked_mul(7)?;
        }
        let seconds_of = |date: &Date| match self.zone {
            Some(ahead) => (date.seconds() - ahead, false),
            None => {
                let moment = zone.moment_of(date.seconds());
                (moment.seconds, moment.is_skipped)
            }
        };
        let (mut seconds, is_skipped) = seconds_of(&date);
        if is_skipped {
            return None;
        }
        let steps = self.steps.unwrap_or_default();
        if (steps.years, steps.months, steps.days) != (0, 0, 0) {
            date.year = date.year.checked_add(steps.years).filter(|year| year.abs() < 1 << 31)?;
            date.month = date.month.checked_add(steps.months).filter(|month| month.abs() < 1 << 35)?;
            date.day = date.day.checked_add(steps.days).filter(|day| day.abs() < 1 << 40)?;
            // A local time that was skipped is only refused when it was written, not when steps lead to it.
            (seconds, _) = seconds_of(&date);
        }
        let nanos = nanos + steps.nanos;
        Some(Moment {
            seconds: seconds.checked_add(steps.seconds)?.checked_add(nanos.div_euclid(SECOND.into()))?,
            nanos: nanos.rem_euclid(SECOND.into()) as u32,
        })
    }
}
