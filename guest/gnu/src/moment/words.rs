//! The words of dates: months, weekdays, ordinal numbers, units and zones. All are in lower case.

use crate::calendar::{MONTHS, WEEKDAYS};

/// Returns the month (from 1) of a name or of its first three letters.
pub(super) fn month(word: &str) -> Option<i64> {
    let word = if word == "sept" { "sep" } else { word };
    named(word, &MONTHS).map(|index| index + 1)
}

/// Returns the weekday (from 0 for Sunday) of a name or of its first letters.
pub(super) fn weekday(word: &str) -> Option<i64> {
    let word = match word {
        "tues" => "tue",
        "wednes" => "wed",
        "thur" | "thurs" => "thu",
        word => word,
    };
    named(word, &WEEKDAYS)
}

fn named(word: &str, names: &[&str]) -> Option<i64> {
    let is_name = |name: &&str| name.eq_ignore_ascii_case(word) || name[..3].eq_ignore_ascii_case(word);
    names.iter().position(is_name).map(|index| index as i64)
}

/// Returns the number of a word such as `next` or `third`. `second` is the unit.
pub(super) fn ordinal(word: &str) -> Option<i64> {
    const WORDS: [(&str, i64); 14] = [
        ("last", -1),
        ("this", 0),
        ("next", 1),
        ("first", 1),
        ("third", 3),
        ("fourth", 4),
        ("fifth", 5),
        ("sixth", 6),
        ("seventh", 7),
        ("eighth", 8),
        ("ninth", 9),
        ("tenth", 10),
        ("eleventh", 11),
        ("twelfth", 12),
    ];
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// A unit of relative times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    Years,
    Months,
    /// So many days.
    Days(i64),
    /// So many seconds.
    Seconds(i64),
}

/// Returns the unit of a word, singular or plural.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word.strip_suffix('s').unwrap_or(word) {
        "year" => Unit::Years,
        "month" => Unit::Months,
        "fortnight" => Unit::Days(14),
        "week" => Unit::Days(7),
        "day" => Unit::Days(1),
        "hour" => Unit::Seconds(3600),
        "minute" | "min" => Unit::Seconds(60),
        "second" | "sec" => Unit::Seconds(1),
        _ => return None,
    })
}

/// Returns the seconds that a zone is ahead of UTC. An abbreviation stands for one zone in GNU's table, whatever
/// other places use it.
pub(super) fn zone(word: &str) -> Option<i64> {
    let minutes = match word {
        "utc" | "ut" | "gmt" | "z" | "wet" => 0,
        "west" | "bst" | "wat" | "cet" | "met" | "mez" => 60,
        "cest" | "mest" | "mesz" | "eet" | "cat" | "sast" => 120,
        "eest" | "eat" | "msk" => 180,
        "msd" => 240,
        "ist" => 330,
        "sgt" => 480,
        "kst" | "jst" => 540,
        "gst" => 600,
        "nzst" => 720,
        "nzdt" => 780,
        "brst" => -120,
        "ndt" => -150,
        "art" | "brt" | "adt" | "clst" => -180,
        "nst" => -210,
        "ast" | "clt" | "edt" => -240,
        "est" | "cdt" => -300,
        "cst" | "mdt" => -360,
        "mst" | "pdt" => -420,
        "pst" | "akdt" => -480,
        "akst" | "hadt" => -540,
        "hst" | "hast" => -600,
        "sst" => -720,
        // A military letter is an hour: A to M are east, N to Y west.
        word => match word.as_bytes() {
            [letter @ b'a'..=b'i'] => i64::from(letter - b'a' + 1) * 60,
            [letter @ b'k'..=b'm'] => i64::from(letter - b'k' + 10) * 60,
            [letter @ b'n'..=b'y'] => -i64::from(letter - b'n' + 1) * 60,
            _ => return None,
        },
    };
    Some(minutes * 60)
}
