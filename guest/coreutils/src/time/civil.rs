//! Days and dates of the proleptic Gregorian calendar.

/// A date and a time of day, as a clock on the wall shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

/// Days from 1970-01-01 to a date. Months and days beyond their range run over into the next.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    // Years that begin in March have their odd day at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 + (day - 1)
}

impl Civil {
    /// What a clock in Greenwich shows so many seconds after 1970.
    pub(crate) fn new(seconds: i64) -> Civil {
        let (day, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let from_march = day + 719_468;
        let era = from_march.div_euclid(146_097);
        let of_era = from_march.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        Civil {
            year: era * 400 + year + i64::from(month <= 2),
            month,
            day: of_year - (153 * shifted + 2) / 5 + 1,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
        }
    }

    /// Seconds from 1970, for a clock in Greenwich.
    pub(crate) fn seconds(&self) -> i64 {
        days(self.year, self.month, self.day) * 86_400 + self.hour * 3600 + self.minute * 60 + self.second
    }

    /// From 0 for Sunday.
    pub(crate) fn weekday(&self) -> i64 {
        (days(self.year, self.month, self.day) + 4).rem_euclid(7)
    }

    /// From 0.
    pub(crate) fn day_of_year(&self) -> i64 {
        days(self.year, self.month, self.day) - days(self.year, 1, 1)
    }

    /// The week and its year as ISO 8601 counts them: the first has the year's first Thursday.
    pub(crate) fn iso_week(&self) -> (i64, i64) {
        let weekday = (self.weekday() + 6) % 7;
        let thursday = Civil::new((days(self.year, self.month, self.day) - weekday + 3) * 86_400);
        (thursday.year, thursday.day_of_year() / 7 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_agree() {
        for day in (-800_000..3_000_000).step_by(97) {
            let civil = Civil::new(day * 86_400 + 3661);
            assert_eq!(civil.seconds(), day * 86_400 + 3661);
            assert!((1..=12).contains(&civil.month) && (1..=31).contains(&civil.day));
        }
        let leap = Civil::new(951_782_400);
        assert_eq!((leap.year, leap.month, leap.day), (2000, 2, 29));
        assert_eq!(Civil::new(1_735_603_200).iso_week(), (2025, 1));
    }
}
