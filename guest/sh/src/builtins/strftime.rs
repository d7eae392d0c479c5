//! `strftime`, in UTC and English: a sandbox has no other zone or language.

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment, taken apart.
struct Moment {
    seconds: i64,
    year: i64,
    month: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    yearday: i64,
}

/// Formats a time given in seconds since 1970.
pub fn strftime(format: &str, seconds: i64) -> String {
    let moment = Moment::new(seconds);
    let mut out = String::new();
    write(&mut out, format, &moment);
    out
}

fn write(out: &mut String, format: &str, m: &Moment) {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut letter = chars.next().unwrap_or('%');
        // `%-d` leaves out padding, `%_d` pads with blanks.
        let mut pad = None;
        if matches!(letter, '-' | '_' | '0' | '^' | '#') {
            pad = Some(letter);
            letter = chars.next().unwrap_or('%');
        }
        if matches!(letter, 'E' | 'O') {
            letter = chars.next().unwrap_or('%');
        }
        let number = |value: i64, width: usize, fill: char| match pad {
            Some('-') => value.to_string(),
            Some('_') => format!("{value:>width$}"),
            Some('0') => format!("{value:0>width$}"),
            _ if fill == ' ' => format!("{value:>width$}"),
            _ => format!("{value:0>width$}"),
        };
        let hour12 = if m.hour % 12 == 0 { 12 } else { m.hour % 12 };
        let text = match letter {
            'Y' => m.year.to_string(),
            'C' => number(m.year.div_euclid(100), 2, '0'),
            'y' => number(m.year.rem_euclid(100), 2, '0'),
            'm' => number(m.month as i64 + 1, 2, '0'),
            'd' => number(m.day, 2, '0'),
            'e' => number(m.day, 2, ' '),
            'H' => number(m.hour, 2, '0'),
            'I' => number(hour12, 2, '0'),
            'k' => number(m.hour, 2, ' '),
            'l' => number(hour12, 2, ' '),
            'M' => number(m.minute, 2, '0'),
            'S' => number(m.second, 2, '0'),
            'j' => number(m.yearday + 1, 3, '0'),
            'a' => DAYS[m.weekday as usize][..3].to_owned(),
            'A' => DAYS[m.weekday as usize].to_owned(),
            'b' | 'h' => MONTHS[m.month][..3].to_owned(),
            'B' => MONTHS[m.month].to_owned(),
            'p' => if m.hour < 12 { "AM" } else { "PM" }.to_owned(),
            'P' => if m.hour < 12 { "am" } else { "pm" }.to_owned(),
            's' => m.seconds.to_string(),
            'u' => if m.weekday == 0 { 7 } else { m.weekday }.to_string(),
            'w' => m.weekday.to_string(),
            'U' => number((m.yearday + 7 - m.weekday) / 7, 2, '0'),
            'W' => number((m.yearday + 7 - (m.weekday + 6) % 7) / 7, 2, '0'),
            'V' => number(m.iso_week().1, 2, '0'),
            'G' => m.iso_week().0.to_string(),
            'g' => number(m.iso_week().0.rem_euclid(100), 2, '0'),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            'D' | 'x' => return_with(m, "%m/%d/%y"),
            'F' => return_with(m, "%Y-%m-%d"),
            'T' | 'X' => return_with(m, "%H:%M:%S"),
            'R' => return_with(m, "%H:%M"),
            'r' => return_with(m, "%I:%M:%S %p"),
            'c' => return_with(m, "%a %b %e %H:%M:%S %Y"),
            other => format!("%{other}"),
        };
        match pad {
            Some('^') => out.push_str(&text.to_uppercase()),
            _ => out.push_str(&text),
        }
    }
}

fn return_with(m: &Moment, format: &str) -> String {
    let mut out = String::new();
    write(&mut out, format, m);
    out
}

impl Moment {
    fn new(seconds: i64) -> Moment {
        let days = seconds.div_euclid(86400);
        let rest = seconds.rem_euclid(86400);
        let (year, month, day) = date(days);
        let yearday = days - days_before(year);
        Moment {
            seconds,
            year,
            month: month as usize - 1,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7),
            yearday,
        }
    }

    /// The year and week of ISO 8601: weeks start on Monday and belong to the year of their Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let monday = (self.weekday + 6) % 7;
        let thursday = self.yearday - monday + 3;
        if thursday < 0 {
            let year = self.year - 1;
            return (year, (thursday + length_of(year)) / 7 + 1);
        }
        if thursday >= length_of(self.year) {
            return (self.year + 1, 1);
        }
        (self.year, thursday / 7 + 1)
    }
}

fn length_of(year: i64) -> i64 {
    days_before(year + 1) - days_before(year)
}

/// Days from 1970 to the start of a year.
fn days_before(year: i64) -> i64 {
    let y = year - 1;
    365 * (year - 1970) + (y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)) - 477
}

/// Year, month from 1 and day of a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days.div_euclid(366);
    while days_before(year + 1) <= days {
        year += 1;
    }
    let mut rest = days - days_before(year);
    let leap = length_of(year) == 366;
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}
