//! `touch`: creates files and sets their times.

use isopod_gnu::calendar::{Date, days_of};
use isopod_gnu::moment::{self, Moment};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};
use isopod_gnu::zone::{LocalTime, Zone};
use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text};

/// `touch`.
pub(crate) const PROGRAM: Program = Program {
    name: "touch",
    operands: &["[OPTION]... FILE..."],
    about: "Update the access and modification times of each FILE to the current time.\n\
            A FILE argument that does not exist is created empty, unless -c or -h is supplied.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('a', "a", "change only the access time"),
        Opt::flag('c', "no-create", "do not create any files"),
        Opt::flag('d', "date", "parse STRING and use it instead of current time").takes("STRING"),
        Opt::letter('f', "f", "(ignored)"),
        Opt::flag('h', "no-dereference", "affect each symbolic link instead of any referenced file"),
        Opt::letter('m', "m", "change only the modification time"),
        Opt::flag('r', "reference", "use this file's times instead of current time").takes("FILE"),
        Opt::letter('t', "t", "use [[CC]YY]MMDDhhmm[.ss] instead of current time").takes("STAMP"),
        Opt::long("time", "change the specified time: access, atime, use; modify, mtime").takes("WORD"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The times to set.
struct Times {
    accessed: Moment,
    modified: Moment,
    sets_accessed: bool,
    sets_modified: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    let times = times(call)?;
    if call.operands.is_empty() {
        return Err(call.misused("missing file operand"));
    }
    let mut code = 0;
    for path in &call.operands {
        let result =
            if path == "-" { Err(("setting times of", Errno::NotSupported)) } else { touch(call, path, &times) };
        if let Err((what, errno)) = result {
            call.complain(&format!("{what} {}: {}", shell(path), text(errno)));
            code = 1;
        }
    }
    Ok(code)
}

fn touch(call: &Call, path: &str, times: &Times) -> Result<(), (&'static str, Errno)> {
    let follow = !call.has("no-dereference");
    let found = match files::stat(path, follow) {
        Ok(found) => found,
        Err(Errno::NoEntry) if call.has("no-create") => return Ok(()),
        Err(errno) if !follow => return Err(("setting times of", errno)),
        Err(Errno::NoEntry) => {
            Fd::open(path, OpenFlags::WRITE | OpenFlags::CREATE, 0o666).map_err(|errno| ("cannot touch", errno))?;
            files::stat(path, true).map_err(|errno| ("setting times of", errno))?
        }
        Err(errno) => return Err(("cannot touch", errno)),
    };
    let accessed = if times.sets_accessed { times.accessed.to_nanos() } else { found.accessed };
    let modified = if times.sets_modified { times.modified.to_nanos() } else { found.modified };
    fs::set_times(path, accessed, modified, follow).map_err(|errno| ("setting times of", errno))
}

fn times(call: &Call) -> Result<Times, u8> {
    let (mut accessed, mut modified) = (call.has("a"), call.has("m"));
    for GivenOption { value, .. } in call.options.iter().filter(|found| found.option == "time") {
        let word = value.as_deref().unwrap_or_default();
        match word {
            "access" | "atime" | "use" => accessed = true,
            "modify" | "mtime" => modified = true,
            _ => return Err(call.misused(&format!("invalid argument {} for '--time'", plain(word)))),
        }
    }
    if !accessed && !modified {
        (accessed, modified) = (true, true);
    }
    let now = Moment::now();
    let mut times = Times { accessed: now, modified: now, sets_accessed: accessed, sets_modified: modified };
    let stamped = call.value("t");
    if stamped.is_some() && (call.has("date") || call.has("reference")) {
        return Err(call.misused("cannot specify times from more than one source"));
    }
    if let Some(path) = call.value("reference") {
        let found = files::stat(path, !call.has("no-dereference"))
            .map_err(|errno| call.failed(&format!("failed to get attributes of {}: {}", shell(path), text(errno))))?;
        (times.accessed, times.modified) = (Moment::from_nanos(found.accessed), Moment::from_nanos(found.modified));
    }
    if let Some(text) = call.value("date") {
        let zone = Zone::local();
        let invalid = || call.failed(&format!("invalid date format {}", plain(text)));
        // With a reference, the text is relative to its times.
        times.accessed = moment::parse_in(text, times.accessed, &zone).ok_or_else(invalid)?;
        times.modified = moment::parse_in(text, times.modified, &zone).ok_or_else(invalid)?;
    }
    if let Some(stamp) = stamped {
        let moment =
            parse_stamp(stamp, now).ok_or_else(|| call.failed(&format!("invalid date format {}", plain(stamp))))?;
        (times.accessed, times.modified) = (moment, moment);
    }
    Ok(times)
}

/// `[[CC]YY]MMDDhhmm[.ss]`.
fn parse_stamp(stamp: &str, now: Moment) -> Option<Moment> {
    let (digits, second) = match stamp.split_once('.') {
        Some((digits, second)) if second.len() == 2 => (digits, second.parse::<i64>().ok()?),
        Some(_) => return None,
        None => (stamp, 0),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let zone = Zone::local();
    let this_year = zone.date_at(now.seconds).year;
    let (year, rest) = match digits.len() {
        8 => (this_year, digits),
        10 => {
            let short: i64 = digits[..2].parse().ok()?;
            (if short < 69 { 2000 + short } else { 1900 + short }, &digits[2..])
        }
        12 => (digits[..4].parse().ok()?, &digits[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse::<i64>().ok();
    let (month, day, hour, minute) = (part(0)? - 1, part(2)?, part(4)?, part(6)?);
    let length = days_of(year, month + 1, 1) - days_of(year, month, 1);
    let fits = (0..12).contains(&month)
        && (1..=length).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    let local = zone.moment_of(Date { year, month, day, hour, minute, second, ..Date::default() }.seconds());
    (fits && !local.is_skipped).then_some(Moment { seconds: local.seconds, nanos: 0 })
}
