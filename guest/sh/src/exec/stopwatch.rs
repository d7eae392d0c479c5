//! `time` and `times`.
//!
//! The kernel reports the CPU time of a process as a whole. All of it counts as user time, and system time is zero.

use isopod_sys::process;

use crate::state::{Shell, nanoseconds};
use crate::syntax::tree::TimeFormat;

/// The start of a command: the wall clock, and the CPU time of this shell and its children so far.
pub struct Stopwatch {
    wall: i64,
    computed: i64,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        Stopwatch { wall: nanoseconds(), computed: computed() }
    }
}

fn computed() -> i64 {
    let (own, children) = process::times();
    i64::try_from(own.saturating_add(children)).unwrap_or(i64::MAX)
}

impl Shell {
    /// Prints the report of `time`.
    pub(super) fn report_time(&mut self, start: &Stopwatch, format: TimeFormat) {
        let real = (nanoseconds() - start.wall).max(0);
        let user = (computed() - start.computed).max(0);
        let text = match (format, self.text_of("TIMEFORMAT")) {
            (TimeFormat::Posix, _) => format!("real {}\nuser {}\nsys 0.00\n", seconds(real, 2), seconds(user, 2)),
            (TimeFormat::Variable, None) => {
                format!("\nreal\t{}\nuser\t{}\nsys\t0m0.000s\n", minutes(real, 3), minutes(user, 3))
            }
            (TimeFormat::Variable, Some(format)) if format.is_empty() => return,
            (TimeFormat::Variable, Some(format)) => formatted(&format, real, user) + "\n",
        };
        self.write_error(&text);
    }
}

/// Returns the output of `times`: the CPU time of the shell and of its children.
pub fn times() -> String {
    let (own, children) = process::times();
    let line = |time: u64| format!("{} 0m0.000s\n", minutes(i64::try_from(time).unwrap_or(i64::MAX), 3));
    line(own) + &line(children)
}

fn minutes(nanoseconds: i64, digits: u32) -> String {
    let minute = 60_000_000_000;
    format!("{}m{}s", nanoseconds / minute, seconds(nanoseconds % minute, digits))
}

/// Formats seconds with some decimals, truncated.
fn seconds(nanoseconds: i64, digits: u32) -> String {
    let whole = nanoseconds / 1_000_000_000;
    if digits == 0 {
        return whole.to_string();
    }
    let fraction = nanoseconds % 1_000_000_000 / 10i64.pow(9 - digits);
    format!("{whole}.{fraction:0width$}", width = digits as usize)
}

/// Formats a report by TIMEFORMAT: `%R`, `%U`, `%S`, `%P`, with a precision and `l`.
fn formatted(format: &str, real: i64, user: i64) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut digits = 3;
        if let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
            digits = digit.min(3);
            chars.next();
        }
        let long = chars.peek() == Some(&'l');
        if long {
            chars.next();
        }
        let time = |nanoseconds: i64| match long {
            true => minutes(nanoseconds, digits),
            false => seconds(nanoseconds, digits),
        };
        match chars.next() {
            Some('%') => out.push('%'),
            Some('R') => out.push_str(&time(real)),
            Some('U') => out.push_str(&time(user)),
            Some('S') => out.push_str(&time(0)),
            Some('P') => out.push_str(&format!("{:.2}", 100.0 * user as f64 / real.max(1) as f64)),
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
        }
    }
    out
}
