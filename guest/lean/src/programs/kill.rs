//! `kill`: a signal to processes.

use isopod_sys::{process, text};

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{quote, signals};

/// `kill`.
pub(crate) const PROGRAM: Program = Program {
    name: "kill",
    operands: &["[-s SIGNAL | -SIGNAL] PID...", "-l [SIGNAL]..."],
    about: "Send signals to processes, or list signals.\n\n  \
            -s, --signal=SIGNAL, -SIGNAL   specify the name or number of the signal to be sent\n  \
            -l, --list                     list signal names, or convert them to/from numbers",
    syntax: Syntax::Own,
    options: &[],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let known = |name: &str| {
        signals::parse(name).ok_or_else(|| call.misused(&format!("{}: invalid signal", quote::plain(name))))
    };
    let mut args = call.operands.iter();
    let mut signal = None;
    let mut list = false;
    let mut targets: Vec<&String> = Vec::new();
    while let Some(arg) = args.next() {
        let (option, glued) = match arg.split_once('=') {
            Some((option, value)) if arg.starts_with("--") => (option, Some(value)),
            _ => (arg.as_str(), None),
        };
        let name = match option {
            "--help" => return Ok(call.help()),
            "--version" => return Ok(call.version()),
            "--list" | "-l" => {
                list = true;
                continue;
            }
            "--signal" if glued.is_some() => glued.unwrap_or_default(),
            "-s" | "--signal" => match args.next() {
                Some(name) => name,
                None if option == "-s" => {
                    return Err(call.misused("option requires an argument -- 's'"));
                }
                None => return Err(call.misused("option '--signal' requires an argument")),
            },
            "--" => {
                targets.extend(args);
                break;
            }
            long if long.starts_with("--") => {
                return Err(call.misused(&format!("unrecognized option '{arg}'")));
            }
            // After a signal, an argument that starts with a minus is a process group.
            other if other.len() > 1 && other.starts_with('-') && signal.is_none() && targets.is_empty() => other
                .strip_prefix("-s")
                .filter(|name| !name.is_empty() && signals::parse(&other[1..]).is_none())
                .unwrap_or(&other[1..]),
            _ => {
                targets.push(arg);
                continue;
            }
        };
        if signal.is_some() {
            return Err(call.misused(&format!("{}: multiple signals specified", quote::plain(name))));
        }
        signal = Some(known(name)?);
    }
    if list {
        return describe(call, &targets);
    }
    if targets.is_empty() {
        return Err(call.misused("no process ID specified"));
    }
    let signal = signal.unwrap_or(signals::TERM);
    let mut code = 0;
    for target in targets {
        if let Err(message) = send(target, signal) {
            call.complain(&message);
            code = 1;
        }
    }
    Ok(code)
}

fn send(target: &str, signal: u8) -> Result<(), String> {
    let invalid = || format!("{}: invalid process id", quote::plain(target));
    let number: i64 = target.parse().map_err(|_| invalid())?;
    if number <= 0 {
        return Err(format!("{}: process groups are not supported", quote::plain(target)));
    }
    let pid = u32::try_from(number).map_err(|_| invalid())?;
    process::kill(pid, signal).map_err(|errno| format!("{target}: {}", text(errno)))
}

fn describe(call: &Call, names: &[&String]) -> Result<u8, u8> {
    let mut out = Out::new();
    let mut code = 0;
    if names.is_empty() {
        for signal in signals::all() {
            out.push(format!("{}\n", signals::name(signal).unwrap_or_default()).as_bytes());
        }
    }
    for name in names {
        let line = match name.parse::<u8>() {
            // 128 and more is the exit status of a process that a signal ended.
            Ok(number) => signals::name(number & 0x7f).map(str::to_owned),
            Err(_) => signals::parse(name).map(|number| number.to_string()),
        };
        match line {
            Some(line) => out.push(format!("{line}\n").as_bytes()),
            None => {
                call.complain(&format!("{}: invalid signal", quote::plain(name)));
                code = 1;
            }
        }
    }
    Ok(call.finish(out, code))
}
