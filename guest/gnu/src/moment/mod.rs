//! Points in time, and the texts that people write for them: `2026-11-16 12:30`, `yesterday`, `3 days ago`,
//! `@1700000000`. `date -d`, `touch -d`, `find -newermt` and `tar --newer` all read them here.
//!
//! - `token`: splits a text into numbers, words and marks
//! - `words`: names of months, weekdays, units and zones
//! - `reader`: reads dates, times, zones and steps out of the tokens
//! - `fields`: makes a point in time of them
//!
//! The forms are those of GNU's `date -d`. Any other text is refused: a date that is guessed wrong would choose the
//! wrong files.

mod fields;
mod reader;
mod token;
mod words;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::calendar::Date;
use crate::strftime::Formatter;
use crate::zone::{LocalTime, Utc};
use reader::Reader;

const SECOND: u32 = 1_000_000_000;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds into that second.
    pub nanos: u32,
}

impl Moment {
    /// The current time.
    pub fn now() -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
    }

    /// The point in time of nanoseconds since 1970, the form that file times have.
    pub fn from_nanos(nanos: u64) -> Moment {
        Moment { seconds: (nanos / u64::from(SECOND)) as i64, nanos: (nanos % u64::from(SECOND)) as u32 }
    }

    /// Returns the nanoseconds since 1970; a time before 1970 becomes 1970.
    pub fn to_nanos(self) -> u64 {
        u64::try_from(self.seconds).unwrap_or(0).saturating_mul(SECOND.into()).saturating_add(self.nanos.into())
    }

    /// Formats the local time in a zone, as GNU's `date +FORMAT` does.
    pub fn format(self, format: &str, zone: &impl LocalTime) -> String {
        let offset = zone.offset_at(self.seconds);
        let date = Date { nanos: Some(self.nanos), ..Date::at(self.seconds.saturating_add(offset.seconds)) };
        Formatter::new(&date, offset.seconds, &offset.name).lenient(format)
    }
}

/// Reads a text about a time in UTC, in nanoseconds since 1970, relative to `now`. `None` is a text that is no date.
pub fn parse(text: &str, now: u64) -> Option<i128> {
    let moment = parse_in(text, Moment::from_nanos(now), &Utc)?;
    Some(i128::from(moment.seconds) * i128::from(SECOND) + i128::from(moment.nanos))
}

/// Reads a text about a local time in a zone, relative to `now`. `None` is a text that is no date.
pub fn parse_in<Z: LocalTime>(text: &str, now: Moment, zone: &Z) -> Option<Moment> {
    let text = text.trim();
    if let Some(seconds) = text.strip_prefix('@') {
        return since_1970(seconds.trim_start());
    }
    // `TZ="ZONE"` before a date is the zone that it is meant in.
    if let Some(rest) = text.strip_prefix("TZ=\"") {
        let (name, rest) = rest.split_once('"')?;
        return parse_in(rest, now, &Z::named(name)?);
    }
    Reader::new(token::tokens(text)?, &abbreviations(zone, now)).read()?.resolve(now, zone)
}

/// The offsets in force now and half a year from now: their names are known in texts, too.
fn abbreviations(zone: &impl LocalTime, now: Moment) -> [(String, i64); 2] {
    [0, 182 * 86_400].map(|later| {
        let offset = zone.offset_at(now.seconds.saturating_add(later));
        (offset.name.to_lowercase(), offset.seconds)
    })
}

fn since_1970(text: &str) -> Option<Moment> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with('.') {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let nanos: u32 = digits.parse().ok()?;
    // The sign is the fraction's as well.
    Some(if whole.starts_with('-') && nanos > 0 {
        Moment { seconds: seconds.checked_sub(1)?, nanos: SECOND - nanos }
    } else {
        Moment { seconds, nanos }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Zone;

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
            ("12", 1_794_830_400),
            ("3 p.m.", 1_794_841_200),
            ("2 friday", 1_795_737_600),
            ("second monday", 1_794_787_201),
            ("2 days hence", 1_794_988_800),
            ("1 day 2 hours ago", 1_794_895_200),
            ("2024-01-05 00:00 nst", 1_704_425_400),
            ("2024-01-05 00:00 est-5", 1_704_448_800),
            ("2024-01-05 00:00 est dst", 1_704_427_200),
            ("2024-01-05 00:00-05:00", 1_704_430_800),
            ("2024-01-05 (x (y)) 10:00", 1_704_448_800),
            ("Jan 5 10:00 2024", 1_704_448_800),
            ("fri, 5 Jan 2024 10:00:00 +0200", 1_704_441_600),
            ("20240105T10", 1_704_438_000 + 10_800),
            ("jan-5-2024", 1_704_412_800),
        ] {
            assert_eq!(parse(text, NOW), Some(i128::from(seconds) * i128::from(SECOND)), "{text}");
        }
        assert_eq!(parse("@1.5", NOW), Some(1_500_000_000));
    }

    #[test]
    fn other_texts_are_refused() {
        let mut refused =
            vec!["blah", "2024-13-01", "2024-02-30", "25:61", "2024-01-01 2024-01-02", "@x", "3 blah ago"];
        refused.extend(["noon", "24:00", "10:00:60", "2nd", "-1", "2024-01", "Jan 2024", "1.5 days", "1704412800"]);
        refused.extend(["0 am", "13:00 pm", "-1 friday", "now,", "5 jan 2024, 10:00", "10:00 +25", "mondays"]);
        for text in refused {
            assert_eq!(parse(text, NOW), None, "{text}");
        }
    }

    /// Recorded from `TZ=America/New_York date -d TEXT +%s`.
    #[test]
    fn local_times_are_those_of_their_zone() {
        let zone = Zone::named("America/New_York").unwrap();
        let read = |text: &str| parse_in(text, Moment::from_nanos(NOW), &zone).map(|moment| moment.seconds);
        for (text, seconds) in [
            ("2024-07-01 12:00", 1_719_849_600),
            ("2024-11-03 01:30", 1_730_611_800),
            ("2024-11-03 01:30 EST", 1_730_615_400),
            ("2024-03-09 02:30 1 day", 1_710_055_800),
            ("TZ=\"Asia/Tokyo\" 2024-01-01 10:00", 1_704_070_800),
        ] {
            assert_eq!(read(text), Some(seconds), "{text}");
        }
        assert_eq!(read("2024-03-10 02:30"), None, "clocks never show it");
        assert_eq!(parse("TZ=\"Asia/Tokyo\" 2024-01-01", NOW), None, "UTC alone has no other zones");
        let moment = Moment { seconds: 1_719_849_600, nanos: 5 };
        assert_eq!(moment.format("%F %T.%N %::z %Z", &zone), "2024-07-01 12:00:00.000000005 -04:00:00 EDT");
    }
}
