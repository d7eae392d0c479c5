//! `cal`: a calendar of months.

use isopod_gnu::calendar::{MONTHS, days_of};
use isopod_gnu::moment::Moment;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::zone::{LocalTime, Zone};

/// `cal`.
pub(crate) const PROGRAM: Program = Program {
    name: "cal",
    operands: &["[OPTION]... [[MONTH] YEAR]"],
    about: "Display a calendar of a month, of three, or of a year.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('1', "1", "one month"),
        Opt::letter('3', "3", "the month before, this one and the next"),
        Opt::letter('y', "y", "the whole year"),
        Opt::letter('m', "m", "this month: a number or a name").takes("MONTH"),
        Opt::letter('h', "h", "(accepted: today is not highlighted)"),
        Opt::letter('A', "A", "so many months after").takes("N"),
        Opt::letter('B', "B", "so many months before").takes("N"),
    ],
    failure: 64,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    call.at_most(2)?;
    let today = Zone::local().date_at(Moment::now().seconds);
    let (mut month, mut year, mut whole) = (today.month + 1, today.year, call.has("y"));
    let fail = |what: &str, text: &str| call.failed(&format!("{text} is {what}"));
    let parse_year = |text: &str| {
        text.parse::<i64>()
            .ok()
            .filter(|year| (1..=9999).contains(year))
            .ok_or_else(|| call.failed(&format!("year `{text}' not in range 1..9999")))
    };
    let parse_month =
        |text: &str| month_of(text).ok_or_else(|| fail("neither a month number (1..12) nor a name", text));
    match call.operands.as_slice() {
        [] => {}
        [only] if only.parse::<i64>().is_err() => month = parse_month(only)?,
        [only] => {
            year = parse_year(only)?;
            whole = !call.has("m");
        }
        [first, second, ..] => (month, year) = (parse_month(first)?, parse_year(second)?),
    }
    let (mut before, mut after) = (0, 0);
    for GivenOption { option, value } in &call.options {
        let text = value.as_deref().unwrap_or_default();
        let number = || {
            text.parse::<i64>().ok().filter(|n| (0..1200).contains(n)).ok_or_else(|| fail("no number of months", text))
        };
        match *option {
            "m" => month = parse_month(text)?,
            "A" => after = number()?,
            "B" => before = number()?,
            "3" => (before, after) = (1, 1),
            _ => {}
        }
    }
    if whole {
        return Ok(call.print(&year_page(year)));
    }
    let first = year * 12 + month - 1 - before;
    let count = before + after + 1;
    let months: Vec<(i64, i64)> =
        (first..first + count).map(|index| (index.div_euclid(12), index.rem_euclid(12) + 1)).collect();
    let mut text = String::new();
    for row in months.chunks(3) {
        let blocks: Vec<Vec<String>> = row.iter().map(|(year, month)| block(*year, *month, true)).collect();
        join(&blocks, &mut text);
    }
    Ok(call.print(&text))
}

fn month_of(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let lower = text.to_lowercase();
    let known = |name: &&str| lower.len() >= 3 && name.to_lowercase().starts_with(&lower);
    MONTHS.iter().position(known).map(|index| index as i64 + 1)
}

/// Returns eight lines of 22 columns: the heading, the weekdays and six weeks.
fn block(year: i64, month: i64, with_year: bool) -> Vec<String> {
    let title = if with_year {
        format!("{} {year}", MONTHS[month as usize - 1])
    } else {
        MONTHS[month as usize - 1].to_owned()
    };
    let left = (20usize.saturating_sub(title.len())) / 2;
    let mut lines =
        vec![format!("{:<22}", format!("{}{title}", " ".repeat(left))), "Su Mo Tu We Th Fr Sa  ".to_owned()];
    let (first, length) = days_of_month(year, month);
    let start = (first + 4).rem_euclid(7);
    for week in 0..6 {
        let mut line = String::new();
        for weekday in 0..7 {
            let day = week * 7 + weekday - start + 1;
            line.push_str(&if (1..=length).contains(&day) { format!("{day:2} ") } else { "   ".to_owned() });
        }
        line.push(' ');
        lines.push(line);
    }
    lines
}

/// Returns the first day of a month (from 1), counted from 1970, and its length. Before September 1752 the calendar is
/// the Julian one, as it was in the English-speaking world; the eleven days that month lost are not shown.
fn days_of_month(year: i64, month: i64) -> (i64, i64) {
    if (year, month) >= (1752, 9) {
        let first = days_of(year, month - 1, 1);
        return (first, days_of(year, month, 1) - first);
    }
    let julian = |year: i64, month: i64| {
        let (year, month) = if month > 12 { (year + 1, month - 12) } else { (year, month) };
        let leap = i64::from(year % 4 == 0 && month > 2);
        const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        // The Julian year 1 began two days before the Gregorian one.
        days_of(1, 0, 1) - 2 + (year - 1) * 365 + (year - 1) / 4 + BEFORE[month as usize - 1] + leap
    };
    (julian(year, month), julian(year, month + 1) - julian(year, month))
}

fn join(blocks: &[Vec<String>], text: &mut String) {
    for line in 0..8 {
        let parts: Vec<&str> = blocks.iter().map(|block| block[line].as_str()).collect();
        text.push_str(&parts.concat());
        text.push('\n');
    }
}

fn year_page(year: i64) -> String {
    let title = year.to_string();
    let left = (60 - title.len()) / 2;
    let mut text = format!("{}{title}\n", " ".repeat(left));
    for row in 0..4 {
        if row > 0 {
            text.push('\n');
        }
        let blocks: Vec<Vec<String>> = (1..=3).map(|month| block(year, row * 3 + month, false)).collect();
        join(&blocks, &mut text);
    }
    text
}
