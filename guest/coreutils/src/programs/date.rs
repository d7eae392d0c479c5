//! `date`: formats the current or another time.

use isopod_gnu::moment::{self, Moment};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_gnu::zone::Zone;
use isopod_sys::{files, text};

use crate::lines::{Lines, complain};

/// `date`.
pub(crate) const PROGRAM: Program = Program {
    name: "date",
    operands: &["[OPTION]... [+FORMAT]"],
    about: "Display date and time in the given FORMAT, as strftime has it.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('d', "date", "display time described by STRING, not 'now'").takes("STRING"),
        Opt::long("debug", "annotate the parsed date, and warn about questionable usage to stderr"),
        Opt::flag('f', "file", "like --date; once for each line of DATEFILE").takes("DATEFILE"),
        Opt::flag('I', "iso-8601", "output in ISO 8601 format: date, hours, minutes, seconds or ns").may_take("FMT"),
        Opt::long("resolution", "output the available resolution of timestamps"),
        Opt::flag('R', "rfc-email", "output date and time in RFC 5322 format"),
        Opt::long("rfc-822", "").may_take("X"),
        Opt::long("rfc-2822", ""),
        Opt::long("rfc-3339", "output in RFC 3339 format: date, seconds or ns").takes("FMT"),
        Opt::flag('r', "reference", "display the last modification time of FILE").takes("FILE"),
        Opt::flag('s', "set", "refused: the clock is not a sandbox's to set").takes("STRING"),
        Opt::flag('u', "utc", "print or set Coordinated Universal Time (UTC)"),
        Opt::long("uct", ""),
        Opt::long("universal", "same as -u"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let zone =
        if ["utc", "uct", "universal"].iter().any(|option| call.has(option)) { Zone::utc() } else { Zone::local() };
    let format = format(call)?;
    let sources = ["date", "file", "reference", "resolution"].iter().filter(|option| call.has(option)).count();
    if sources > 1 {
        return Err(call.misused("the options to specify dates for printing are mutually exclusive"));
    }
    if call.has("set") || !call.operands.is_empty() && !call.operands[0].starts_with('+') {
        return Err(set(call, &zone));
    }
    let mut out = Out::new();
    let mut code = 0;
    let mut print = |moment: Moment| {
        out.push(moment.format(&format, &zone).as_bytes());
        out.byte(b'\n');
    };
    let now = Moment::now();
    let invalid = |text: &str| call.failed(&format!("invalid date {}", plain(text)));
    if let Some(text) = call.value("date") {
        print(moment::parse_in(text, now, &zone).ok_or_else(|| invalid(text))?);
    } else if let Some(path) = call.value("file") {
        let failed = |errno| complain(call, path, errno);
        let mut lines = Lines::open(path, b'\n').map_err(failed)?;
        while let Some(line) = lines.next().map_err(failed)? {
            let line = String::from_utf8_lossy(line).into_owned();
            match moment::parse_in(&line, now, &zone) {
                Some(moment) => print(moment),
                None => code = invalid(&line),
            }
        }
    } else if let Some(path) = call.value("reference") {
        let found = files::stat(path, true)
            .map_err(|errno| call.failed(&format!("{}: {}", isopod_gnu::quote::name(path), text(errno))))?;
        print(Moment::from_nanos(found.modified));
    } else if call.has("resolution") {
        out.push(b"0.000000001\n");
    } else {
        print(now);
    }
    Ok(call.finish(out, code))
}

/// Refuses to set the clock, after the same checks as GNU's.
fn set(call: &Call, zone: &Zone) -> u8 {
    let text = call.value("set").unwrap_or_else(|| call.operands.first().map_or("", String::as_str));
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if call.has("set") && moment::parse_in(text, Moment::now(), zone).is_none() || !call.has("set") && !digits {
        call.complain(&format!("invalid date {}", plain(text)));
        return 1;
    }
    call.failed("cannot set date: Operation not permitted")
}

fn format(call: &Call) -> Result<String, u8> {
    let mut format: Option<String> = None;
    let mut choose = |text: &str| match format.replace(text.to_owned()) {
        Some(_) => Err(call.failed("multiple output formats specified")),
        None => Ok(()),
    };
    let wrong = |value: &str, option: &str, known: &[&str]| {
        call.complain(&format!("invalid argument {} for '{option}'", plain(value)));
        let list: String = known.iter().map(|name| format!("  - '{name}'\n")).collect();
        // There is no place left to report that standard error is gone.
        let _ = isopod_sys::write_all(2, format!("Valid arguments are:\n{list}").as_bytes());
        call.hint()
    };
    for GivenOption { option, value } in &call.options {
        match (*option, value.as_deref()) {
            ("iso-8601", value) => {
                let names = ["hours", "minutes", "date", "seconds", "ns"];
                let formats = [
                    "%Y-%m-%dT%H%:z",
                    "%Y-%m-%dT%H:%M%:z",
                    "%Y-%m-%d",
                    "%Y-%m-%dT%H:%M:%S%:z",
                    "%Y-%m-%dT%H:%M:%S,%N%:z",
                ];
                let value = value.unwrap_or("date");
                let index = names.iter().position(|name| name.starts_with(value) && !value.is_empty());
                choose(formats[index.ok_or_else(|| wrong(value, "--iso-8601", &names))?])?;
            }
            ("rfc-3339", Some(value)) => {
                let names = ["date", "seconds", "ns"];
                let formats = ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S%:z", "%Y-%m-%d %H:%M:%S.%N%:z"];
                let index = names.iter().position(|name| name.starts_with(value) && !value.is_empty());
                choose(formats[index.ok_or_else(|| wrong(value, "--rfc-3339", &names))?])?;
            }
            ("rfc-email" | "rfc-822" | "rfc-2822", _) => choose("%a, %d %b %Y %H:%M:%S %z")?,
            _ => {}
        }
    }
    if let Some(extra) = call.operands.get(1) {
        return Err(call.misused(&format!("extra operand {}", plain(extra))));
    }
    if let Some(text) = call.operands.first().and_then(|text| text.strip_prefix('+')) {
        choose(text)?;
    }
    Ok(format.unwrap_or_else(|| "%a %b %e %H:%M:%S %Z %Y".to_owned()))
}
