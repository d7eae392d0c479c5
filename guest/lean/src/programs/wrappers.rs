//! Programs that run another: `nice`, `nohup`, `stdbuf`, `sudo` and `time`.
//!
//! A sandbox has no priorities, no terminals that hang up, no buffers of C's library and no other users. So these run
//! their command and do nothing else, but for `time`.

use std::time::Instant;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_gnu::{child, signals};
use isopod_sys::files::OpenFlags;
use isopod_sys::process::{self, Disposition, Status};
use isopod_sys::{Fd, text, write_all};

/// `nice`.
pub(crate) const NICE: Program = Program {
    name: "nice",
    operands: &["[OPTION] [COMMAND [ARG]...]"],
    about: "Run COMMAND with an adjusted niceness.  With no COMMAND, print the current niceness.",
    syntax: Syntax::Own,
    options: &[Opt::flag('n', "adjustment", "add integer N to the niceness (default 10)").takes("N")],
    failure: 125,
    run: |call| nice(call).unwrap_or_else(|code| code),
};

/// `nohup`.
pub(crate) const NOHUP: Program = Program {
    name: "nohup",
    operands: &["COMMAND [ARG]...", "OPTION"],
    about: "Run COMMAND, ignoring hangup signals.",
    syntax: Syntax::OptionsFirst,
    options: &[],
    failure: 125,
    run: |call| {
        if call.operands.is_empty() {
            return call.misused("missing operand");
        }
        // The call can only fail on a number that is no signal.
        let _ = process::on_signal(signals::HUP, Disposition::Ignore);
        run_command(call, &call.operands, environment(), |_| {})
    },
};

/// `stdbuf`.
pub(crate) const STDBUF: Program = Program {
    name: "stdbuf",
    operands: &["OPTION... COMMAND"],
    about: "Run COMMAND, with modified buffering operations for its standard streams.\n\
            MODE is L (line buffered), 0 (unbuffered) or a size.  Programs here write what they have at once.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('i', "input", "adjust standard input stream buffering").takes("MODE"),
        Opt::flag('o', "output", "adjust standard output stream buffering").takes("MODE"),
        Opt::flag('e', "error", "adjust standard error stream buffering").takes("MODE"),
    ],
    failure: 125,
    run: |call| {
        for found in &call.options {
            let mode = found.value.as_deref().unwrap_or_default();
            if mode == "L" && found.option == "input" {
                return call.misused("line buffering stdin is meaningless");
            }
            if mode != "L" && isopod_gnu::size::parse(mode).is_none() {
                call.complain(&format!("invalid mode {}", plain(mode)));
                return 125;
            }
        }
        if call.operands.is_empty() {
            return call.misused("missing operand");
        }
        if call.options.is_empty() {
            return call.misused("you must specify a buffering mode option");
        }
        run_command(call, &call.operands, environment(), |_| {})
    },
};

/// `sudo`.
pub(crate) const SUDO: Program = Program {
    name: "sudo",
    operands: &["[-EHnS] [-u USER] [VAR=VALUE]... COMMAND [ARG]..."],
    about: "Run COMMAND.  A sandbox has one user, who may do all that can be done: there is nothing to gain.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('E', "preserve-env", "keep the environment (it is always kept)").may_take("LIST"),
        Opt::flag('H', "set-home", "(accepted)"),
        Opt::flag('n', "non-interactive", "(accepted: nothing is ever asked)"),
        Opt::flag('S', "stdin", "(accepted: no password is read)"),
        Opt::flag('k', "reset-timestamp", "(accepted)"),
        Opt::flag('v', "validate", "succeed"),
        Opt::flag('u', "user", "(accepted: the command runs as the sandbox's user)").takes("USER"),
        Opt::flag('g', "group", "(accepted)").takes("GROUP"),
        Opt::flag('i', "login", "run a shell, or COMMAND"),
        Opt::flag('s', "shell", "run a shell, or COMMAND"),
    ],
    failure: 1,
    run: |call| {
        if call.has("validate") || call.has("reset-timestamp") && call.operands.is_empty() {
            return 0;
        }
        let mut env = environment();
        let is_assignment =
            |text: &&String| text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
        let given = call.operands.iter().take_while(is_assignment).count();
        for assignment in &call.operands[..given] {
            if let Some((name, value)) = assignment.split_once('=') {
                env.retain(|(known, _)| known != name);
                env.push((name.to_owned(), value.to_owned()));
            }
        }
        let mut command = call.operands[given..].to_vec();
        if command.is_empty() {
            if !(call.has("shell") || call.has("login")) {
                return call.misused("a command is missing");
            }
            command.push("sh".to_owned());
        }
        run_command(call, &command, env, |_| {})
    },
};

/// `time`.
pub(crate) const TIME: Program = Program {
    name: "time",
    operands: &["[OPTION]... COMMAND [ARG]..."],
    about: "Run COMMAND and say how long it took.  All processor time is shown as the user's.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('a', "append", "with -o FILE, append instead of overwriting"),
        Opt::flag('f', "format", "use FORMAT: %e %E %U %S %P %x %C %M, \\n and \\t").takes("FORMAT"),
        Opt::flag('o', "output", "write to FILE instead of standard error").takes("FILE"),
        Opt::flag('p', "portability", "print in POSIX's format"),
        Opt::flag('q', "quiet", "do not report that the command failed"),
    ],
    failure: 125,
    run: time,
};

fn nice(call: &Call) -> Result<u8, u8> {
    // `-5` and `--5` are old ways to write `-n 5` and `-n -5`.
    let mut operands = call.operands.clone();
    let old = operands.first().and_then(|first| first.strip_prefix('-')).is_some_and(|rest| {
        let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if old {
        operands.remove(0);
    }
    let read = call.read_operands(operands, false)?;
    if let Some(text) = read.value("adjustment")
        && text.parse::<i64>().is_err()
    {
        read.complain(&format!("invalid adjustment {}", plain(text)));
        return Err(125);
    }
    if read.operands.is_empty() {
        if old || read.has("adjustment") {
            return Err(read.misused("a command must be given with an adjustment"));
        }
        return Ok(read.print("0\n"));
    }
    Ok(run_command(&read, &read.operands, environment(), |_| {}))
}

fn environment() -> Vec<(String, String)> {
    std::env::vars().collect()
}

/// Runs a command to its end and ends with its status.
fn run_command(call: &Call, command: &[String], env: Vec<(String, String)>, ended: impl FnOnce(Status)) -> u8 {
    child::catch_signals();
    let pid = match child::spawn(command, &env) {
        Ok(pid) => pid,
        Err(errno) => {
            let what = if call.program.name == "nohup" { "failed to run command " } else { "" };
            let shown =
                if what.is_empty() { isopod_gnu::quote::name(&command[0]).into_owned() } else { plain(&command[0]) };
            call.complain(&format!("{what}{shown}: {}", text(errno)));
            return child::not_started(errno);
        }
    };
    match child::wait(pid, None) {
        Ok(Some(status)) => {
            ended(status);
            child::end_as(status)
        }
        Ok(None) => 125,
        Err(errno) => {
            call.complain(&format!("error waiting for command: {}", text(errno)));
            125
        }
    }
}

fn time(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    let start = Instant::now();
    let format = match (call.value("format"), call.has("portability")) {
        (Some(format), _) => format,
        (None, true) => "real %e\nuser %U\nsys %S",
        (None, false) => {
            "%Uuser %Ssystem %Eelapsed %PCPU (0avgtext+0avgdata 0maxresident)k\n0inputs+0outputs (0major+0minor)pagefaults 0swaps"
        }
    };
    run_command(call, &call.operands, environment(), |status| {
        let mut report = String::new();
        match status {
            Status::Exited(code) if code != 0 && !call.has("quiet") => {
                report.push_str(&format!("Command exited with non-zero status {code}\n"));
            }
            Status::Signalled(signal) => report.push_str(&format!("Command terminated by signal {signal}\n")),
            Status::Exited(_) => {}
        }
        report.push_str(&fill(format, &usage(start), status, &call.operands));
        report.push('\n');
        let written = match call.value("output") {
            Some(path) => {
                let how = if call.has("append") { OpenFlags::APPEND } else { OpenFlags::TRUNCATE };
                Fd::open(path, OpenFlags::WRITE | OpenFlags::CREATE | how, 0o666)
                    .and_then(|file| write_all(file.raw(), report.as_bytes()))
            }
            None => write_all(2, report.as_bytes()),
        };
        if let Err(errno) = written {
            call.complain(&format!("cannot write the report: {}", text(errno)));
        }
    })
}

/// The time that a command took, in seconds.
struct Usage {
    real: f64,
    user: f64,
}

fn usage(start: Instant) -> Usage {
    // The command was the only child.
    let (_, children) = isopod_sys::process::times();
    Usage { real: start.elapsed().as_secs_f64(), user: children as f64 / 1e9 }
}

fn fill(format: &str, usage: &Usage, status: Status, command: &[String]) -> String {
    let seconds = usage.real;
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('%', Some(letter)) => {
                chars.next();
                match letter {
                    'e' => text.push_str(&format!("{seconds:.2}")),
                    'E' => text.push_str(&format!("{}:{:05.2}", (seconds / 60.0) as u64, seconds % 60.0)),
                    'U' => text.push_str(&format!("{:.2}", usage.user)),
                    'S' => text.push_str("0.00"),
                    'P' => text.push_str(&format!("{:.0}%", (100.0 * usage.user / seconds.max(1e-9)).floor())),
                    'x' => text.push_str(&match status {
                        Status::Exited(code) => code.to_string(),
                        Status::Signalled(signal) => (128 + u32::from(signal)).to_string(),
                    }),
                    'C' => text.push_str(&command.join(" ")),
                    'M' | 'K' | 'D' | 'p' | 'X' | 'Z' | 'F' | 'R' | 'W' | 'c' | 'w' | 'I' | 'O' | 'r' | 's' | 'k' => {
                        text.push('0');
                    }
                    '%' => text.push('%'),
                    other => text.extend(['?', other]),
                }
            }
            ('\\', Some(letter)) => {
                chars.next();
                text.push(match letter {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
            }
            _ => text.push(c),
        }
    }
    text
}
