//! Where clocks are ahead or behind, from `TZ`.
//!
//! A sandbox has no zone database. POSIX's own notation (`EST5EDT,M3.2.0,M11.1.0`) says all there is to say about a
//! zone's present rules, so that the zones people name are kept as such; what was different decades ago is not known.

use super::civil::{Civil, days};

/// The rules of a place.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    standard: Offset,
    summer: Option<(Offset, Change, Change)>,
}

/// How far clocks are ahead, and what that is called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offset {
    pub(crate) seconds: i64,
    pub(crate) name: String,
}

/// A day of the year, and the seconds of that day at which clocks change.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Month, week (5 is the last) and weekday.
    Weekday(i64, i64, i64, i64),
    /// Day of the year from 1, without leap days.
    Julian(i64, i64),
    /// Day of the year from 0.
    Day(i64, i64),
}

const NAMED: &[(&str, &str)] = &[
    ("Africa/Cairo", "EET-2EEST,M4.5.5/0,M10.5.4/24"),
    ("Africa/Johannesburg", "SAST-2"),
    ("Africa/Lagos", "WAT-1"),
    ("Africa/Nairobi", "EAT-3"),
    ("America/Anchorage", "AKST9AKDT,M3.2.0,M11.1.0"),
    ("America/Argentina/Buenos_Aires", "<-03>3"),
    ("America/Bogota", "<-05>5"),
    ("America/Chicago", "CST6CDT,M3.2.0,M11.1.0"),
    ("America/Denver", "MST7MDT,M3.2.0,M11.1.0"),
    ("America/Halifax", "AST4ADT,M3.2.0,M11.1.0"),
    ("America/Los_Angeles", "PST8PDT,M3.2.0,M11.1.0"),
    ("America/Mexico_City", "CST6"),
    ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
    ("America/Phoenix", "MST7"),
    ("America/Sao_Paulo", "<-03>3"),
    ("America/St_Johns", "NST3:30NDT,M3.2.0,M11.1.0"),
    ("America/Toronto", "EST5EDT,M3.2.0,M11.1.0"),
    ("America/Vancouver", "PST8PDT,M3.2.0,M11.1.0"),
    ("Asia/Bangkok", "<+07>-7"),
    ("Asia/Dhaka", "<+06>-6"),
    ("Asia/Dubai", "<+04>-4"),
    ("Asia/Hong_Kong", "HKT-8"),
    ("Asia/Jakarta", "WIB-7"),
    ("Asia/Jerusalem", "IST-2IDT,M3.4.4/26,M10.5.0"),
    ("Asia/Karachi", "PKT-5"),
    ("Asia/Kathmandu", "<+0545>-5:45"),
    ("Asia/Kolkata", "IST-5:30"),
    ("Asia/Calcutta", "IST-5:30"),
    ("Asia/Manila", "PST-8"),
    ("Asia/Seoul", "KST-9"),
    ("Asia/Shanghai", "CST-8"),
    ("Asia/Singapore", "<+08>-8"),
    ("Asia/Taipei", "CST-8"),
    ("Asia/Tehran", "<+0330>-3:30"),
    ("Asia/Tokyo", "JST-9"),
    ("Atlantic/Reykjavik", "GMT0"),
    ("Australia/Adelaide", "ACST-9:30ACDT,M10.1.0,M4.1.0/3"),
    ("Australia/Brisbane", "AEST-10"),
    ("Australia/Melbourne", "AEST-10AEDT,M10.1.0,M4.1.0/3"),
    ("Australia/Perth", "AWST-8"),
    ("Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3"),
    ("CET", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("EET", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("EST", "EST5"),
    ("EST5EDT", "EST5EDT,M3.2.0,M11.1.0"),
    ("CST6CDT", "CST6CDT,M3.2.0,M11.1.0"),
    ("Etc/GMT", "GMT0"),
    ("Etc/UTC", "UTC0"),
    ("Europe/Amsterdam", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Athens", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Brussels", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Budapest", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Copenhagen", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Dublin", "GMT0IST,M3.5.0/1,M10.5.0"),
    ("Europe/Helsinki", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Istanbul", "<+03>-3"),
    ("Europe/Kiev", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Kyiv", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Lisbon", "WET0WEST,M3.5.0/1,M10.5.0"),
    ("Europe/London", "GMT0BST,M3.5.0/1,M10.5.0"),
    ("Europe/Madrid", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Moscow", "MSK-3"),
    ("Europe/Oslo", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Paris", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Prague", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Rome", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Stockholm", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Vienna", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Warsaw", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Zurich", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("GMT", "GMT0"),
    ("HST", "HST10"),
    ("MST", "MST7"),
    ("MST7MDT", "MST7MDT,M3.2.0,M11.1.0"),
    ("PST8PDT", "PST8PDT,M3.2.0,M11.1.0"),
    ("Pacific/Auckland", "NZST-12NZDT,M9.5.0,M4.1.0/3"),
    ("Pacific/Honolulu", "HST10"),
    ("US/Central", "CST6CDT,M3.2.0,M11.1.0"),
    ("US/Eastern", "EST5EDT,M3.2.0,M11.1.0"),
    ("US/Mountain", "MST7MDT,M3.2.0,M11.1.0"),
    ("US/Pacific", "PST8PDT,M3.2.0,M11.1.0"),
    ("UTC", "UTC0"),
    ("Universal", "UTC0"),
    ("Zulu", "UTC0"),
];

impl Zone {
    /// Greenwich.
    pub(crate) fn utc() -> Zone {
        Zone { standard: Offset { seconds: 0, name: "UTC".to_owned() }, summer: None }
    }

    /// What the environment says.
    pub(crate) fn local() -> Zone {
        std::env::var("TZ").map_or_else(|_| Zone::utc(), |text| Zone::named(&text))
    }

    /// By a name or a rule. What is neither is Greenwich, under that name, as in C's library.
    pub(crate) fn named(text: &str) -> Zone {
        let text = text.strip_prefix(':').unwrap_or(text);
        if text.is_empty() {
            return Zone::utc();
        }
        let rule = NAMED.iter().find(|(name, _)| *name == text).map_or(text, |(_, rule)| rule);
        parse(rule).unwrap_or_else(|| {
            let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
            let name =
                if name.len() < 3 || name.len() == text.len() && name.len() > 6 { text.to_owned() } else { name };
            Zone { standard: Offset { seconds: 0, name }, summer: None }
        })
    }

    /// What clocks are ahead by at a moment.
    pub(crate) fn at(&self, seconds: i64) -> Offset {
        let Some((summer, begins, ends)) = &self.summer else { return self.standard.clone() };
        let year = Civil::new(seconds + self.standard.seconds).year;
        let begin = begins.seconds(year) - self.standard.seconds;
        let end = ends.seconds(year) - summer.seconds;
        let is_summer = if begin < end { (begin..end).contains(&seconds) } else { !(end..begin).contains(&seconds) };
        if is_summer { summer.clone() } else { self.standard.clone() }
    }

    /// The moment at which clocks show this. One that is shown twice is the first; one that is never shown is as far
    /// after the change as it would be.
    pub(crate) fn seconds(&self, shown: &Civil) -> i64 {
        let greenwich = shown.seconds();
        let Some((summer, ..)) = &self.summer else { return greenwich - self.standard.seconds };
        for offset in [summer, &self.standard] {
            let moment = greenwich - offset.seconds;
            if self.at(moment) == *offset {
                return moment;
            }
        }
        greenwich - self.standard.seconds
    }
}

impl Change {
    /// Seconds from 1970 to the change, as a clock on the wall counts.
    fn seconds(self, year: i64) -> i64 {
        match self {
            Change::Day(day, at) => (days(year, 1, 1) + day) * 86_400 + at,
            Change::Julian(day, at) => {
                let leap = days(year + 1, 1, 1) - days(year, 1, 1) == 366;
                (days(year, 1, 1) + day - 1 + i64::from(leap && day >= 60)) * 86_400 + at
            }
            Change::Weekday(month, week, weekday, at) => {
                let first = days(year, month, 1);
                let mut day = first + (weekday - (first + 4)).rem_euclid(7) + (week - 1) * 7;
                while day >= days(year, month + 1, 1) {
                    day -= 7;
                }
                day * 86_400 + at
            }
        }
    }
}

/// Reads POSIX's notation.
fn parse(text: &str) -> Option<Zone> {
    let (name, rest) = name(text)?;
    let (behind, rest) = time(rest)?;
    let standard = Offset { seconds: -behind, name };
    if rest.is_empty() {
        return Some(Zone { standard, summer: None });
    }
    let (name, rest) = self::name(rest)?;
    let (ahead, rest) = match rest {
        "" => (standard.seconds + 3600, ""),
        rest if rest.starts_with(',') => (standard.seconds + 3600, rest),
        rest => time(rest).map(|(behind, rest)| (-behind, rest))?,
    };
    // Without rules, those of the United States.
    let rules = if rest.is_empty() { ",M3.2.0,M11.1.0" } else { rest };
    let mut changes = rules.strip_prefix(',')?.split(',').map(change);
    let (begins, ends) = (changes.next()??, changes.next()??);
    Some(Zone { standard, summer: Some((Offset { seconds: ahead, name }, begins, ends)) })
}

fn name(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        let (name, rest) = rest.split_once('>')?;
        return Some((name.to_owned(), rest));
    }
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    (length >= 3).then(|| (text[..length].to_owned(), &text[length..]))
}

/// Hours, and maybe minutes and seconds, with a sign.
fn time(text: &str) -> Option<(i64, &str)> {
    let (sign, mut rest) = match text.split_at_checked(1)? {
        ("-", rest) => (-1, rest),
        ("+", rest) => (1, rest),
        _ => (1, text),
    };
    let mut total = 0;
    for (index, unit) in [3600, 60, 1].into_iter().enumerate() {
        if index > 0 {
            match rest.strip_prefix(':') {
                Some(after) => rest = after,
                None => break,
            }
        }
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        total += rest[..length].parse::<i64>().ok().filter(|number| *number < 200)? * unit;
        rest = &rest[length..];
    }
    Some((sign * total, rest))
}

fn change(text: &str) -> Option<Change> {
    let (day, at) = match text.split_once('/') {
        Some((day, at)) => (day, time(at)?.0),
        None => (text, 7200),
    };
    if let Some(rest) = day.strip_prefix('M') {
        let mut parts = rest.split('.').map(|part| part.parse::<i64>().ok());
        let (month, week, weekday) = (parts.next()??, parts.next()??, parts.next()??);
        let fits = (1..=12).contains(&month) && (1..=5).contains(&week) && (0..=6).contains(&weekday);
        return fits.then_some(Change::Weekday(month, week, weekday, at));
    }
    match day.strip_prefix('J') {
        Some(day) => day.parse().ok().map(|day| Change::Julian(day, at)),
        None => day.parse().ok().map(|day| Change::Day(day, at)),
    }
}
