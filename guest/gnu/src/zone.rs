//! Time zones: UTC, and the zone that `TZ` names.
//!
//! [`LocalTime`] keeps the two apart in the type, so that only components that name [`Zone`] carry the database of
//! the crate `jiff` (200 KB). The host's database is never read: a sandbox has no `/usr/share/zoneinfo`.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use crate::calendar::Date;

/// The seconds of 400 years. Dates and weekdays repeat after them, and so do the rules of zones.
const CYCLE: i64 = 146_097 * 86_400;

/// An offset from UTC, and its abbreviation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Seconds east of Greenwich.
    pub seconds: i64,
    /// The abbreviation, such as `CEST`.
    pub name: String,
}

/// The moment at which a clock shows a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMoment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The clock is set forward over this local time. `seconds` is then as far after the change as the local time is.
    pub is_skipped: bool,
}

/// The relation between moments and local clocks.
pub trait LocalTime: Sized {
    /// Returns the zone of a `TZ` string, or `None` if there are no zones but UTC.
    fn named(text: &str) -> Option<Self>;

    /// Returns the offset in force at a moment, in seconds since 1970.
    fn offset_at(&self, seconds: i64) -> Offset;

    /// Returns the moment at which clocks show a local time, given as the seconds that it would be in UTC. A time
    /// that clocks show twice is the first.
    fn moment_of(&self, local: i64) -> LocalMoment;

    /// Returns the local date of a moment, in seconds since 1970.
    fn date_at(&self, seconds: i64) -> Date {
        Date::at(seconds.saturating_add(self.offset_at(seconds).seconds))
    }
}

/// UTC alone.
#[derive(Clone, Copy, Debug)]
pub struct Utc;

impl LocalTime for Utc {
    fn named(_: &str) -> Option<Utc> {
        None
    }

    fn offset_at(&self, _: i64) -> Offset {
        Offset { seconds: 0, name: "UTC".to_owned() }
    }

    fn moment_of(&self, local: i64) -> LocalMoment {
        LocalMoment { seconds: local, is_skipped: false }
    }
}

/// Any zone: one of the database, or a rule in POSIX's notation (`EST5EDT,M3.2.0,M11.1.0`).
#[derive(Clone, Debug)]
pub enum Zone {
    /// The same offset at all times.
    Fixed(Offset),
    /// An offset that changes by rules.
    Rules(TimeZone),
}

impl Zone {
    /// UTC.
    pub fn utc() -> Zone {
        Zone::Fixed(Utc.offset_at(0))
    }

    /// The zone that the variable `TZ` names; UTC without it.
    pub fn local() -> Zone {
        std::env::var("TZ").ok().and_then(|text| Zone::named(&text)).unwrap_or_else(Zone::utc)
    }
}

impl LocalTime for Zone {
    /// A text that is neither the name of a zone nor a rule gives UTC with that text as its name, as in the C library.
    fn named(text: &str) -> Option<Zone> {
        let text = text.strip_prefix(':').unwrap_or(text);
        if matches!(text, "" | "UTC" | "UTC0") {
            return Some(Zone::utc());
        }
        Some(in_database(text).or_else(|| by_rule(text)).map_or_else(
            || {
                let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
                let is_whole = name.len() < 3 || name.len() == text.len() && name.len() > 6;
                Zone::Fixed(Offset { seconds: 0, name: if is_whole { text.to_owned() } else { name } })
            },
            Zone::Rules,
        ))
    }

    fn offset_at(&self, seconds: i64) -> Offset {
        match self {
            Zone::Fixed(offset) => offset.clone(),
            Zone::Rules(rules) => {
                let info = rules.to_offset_info(timestamp(seconds));
                Offset { seconds: info.offset().seconds().into(), name: info.abbreviation().to_owned() }
            }
        }
    }

    fn moment_of(&self, local: i64) -> LocalMoment {
        let (offset, is_skipped) = match self {
            Zone::Fixed(offset) => (offset.seconds, false),
            Zone::Rules(rules) => {
                let shown = jiff::tz::Offset::UTC.to_datetime(timestamp(local));
                match rules.to_ambiguous_timestamp(shown).offset() {
                    AmbiguousOffset::Unambiguous { offset } => (offset.seconds().into(), false),
                    AmbiguousOffset::Gap { before, .. } => (before.seconds().into(), true),
                    AmbiguousOffset::Fold { before, .. } => (before.seconds().into(), false),
                }
            }
        };
        LocalMoment { seconds: local.saturating_sub(offset), is_skipped }
    }
}

/// Finds a zone of the database. Names are case-sensitive, as the names of the C library's files are.
fn in_database(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok().filter(|zone| zone.iana_name() == Some(name))
}

fn by_rule(text: &str) -> Option<TimeZone> {
    // Without dates of change, those of the United States.
    TimeZone::posix(text).or_else(|_| TimeZone::posix(&format!("{text},M3.2.0,M11.1.0"))).ok()
}

/// Returns the moment, or the one whole cycles of 400 years away that `jiff` can represent. A moment before the year
/// -9999 becomes its first: no zone had rules then.
fn timestamp(seconds: i64) -> Timestamp {
    let (first, last) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    let cycles = if seconds > last { (seconds - last).div_euclid(CYCLE) + 1 } else { 0 };
    let nearby = (seconds - cycles * CYCLE).max(first);
    Timestamp::from_second(nearby).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::days_of;

    fn zone(name: &str) -> Zone {
        Zone::named(name).unwrap()
    }

    /// Recorded from `TZ=ZONE date -d @N '+%::z %Z'`.
    #[test]
    fn zones_have_the_offsets_that_the_c_library_has() {
        for (name, seconds, offset, abbreviation) in [
            ("America/New_York", 1_720_000_000, -14_400, "EDT"),
            ("America/New_York", 1_700_000_000, -18_000, "EST"),
            ("America/New_York", -5_364_662_400, -17_762, "LMT"),
            ("America/New_York", 99_999_999_999_999, -18_000, "EST"),
            ("America/New_York", -99_999_999_999_999, -17_762, "LMT"),
            ("Asia/Kathmandu", 0, 19_800, "+0530"),
            ("Antarctica/Troll", 1_720_000_000, 7200, "+02"),
            ("EST5XYZ", 1_720_000_000, -14_400, "XYZ"),
            ("<+0330>-3:30", 0, 12_600, "+0330"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_720_000_000, 7200, "CEST"),
            (":Europe/Berlin", 1_720_000_000, 7200, "CEST"),
            ("Foo/Bar", 0, 0, "Foo"),
            ("", 0, 0, "UTC"),
        ] {
            let expected = Offset { seconds: offset, name: abbreviation.to_owned() };
            assert_eq!(zone(name).offset_at(seconds), expected, "{name} {seconds}");
        }
    }

    #[test]
    fn a_local_time_is_shown_once_twice_or_never() {
        let zone = zone("America/New_York");
        let local = |month, day, hour: i64| days_of(2024, month, day) * 86_400 + hour * 3600 + 1800;
        let once = LocalMoment { seconds: local(6, 4, 16), is_skipped: false };
        assert_eq!(zone.moment_of(local(6, 4, 12)), once);
        let twice = LocalMoment { seconds: local(10, 3, 5), is_skipped: false };
        assert_eq!(zone.moment_of(local(10, 3, 1)), twice);
        let never = LocalMoment { seconds: local(2, 10, 7), is_skipped: true };
        assert_eq!(zone.moment_of(local(2, 10, 2)), never);
    }
}
