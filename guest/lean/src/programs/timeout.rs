//! `timeout`: runs a program with a time limit.

use std::time::Instant;

use isopod_sys::process::{self, Status};
use isopod_sys::{Errno, text};

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{child, duration, quote, signals};

/// `timeout`.
pub(crate) const PROGRAM: Program = Program {
    name: "timeout",
    operands: &["[OPTION] DURATION COMMAND [ARG]...", "[OPTION]"],
    about: "Start COMMAND, and kill it if still running after DURATION: a number with an optional suffix\n\
            's', 'm', 'h' or 'd'.  A duration of 0 disables the timeout.\n\
            Exit status: 124 if COMMAND timed out, 125 if timeout itself fails, 126 if COMMAND cannot be invoked,\n\
            127 if it cannot be found, 137 if it was sent the KILL signal; else that of COMMAND.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::long("preserve-status", "exit with the same status as COMMAND, even when it times out"),
        // There are no terminals and no process groups: all commands are in the foreground.
        Opt::long("foreground", "accepted: a command is always in the foreground"),
        Opt::flag('k', "kill-after", "also send a KILL signal this long after the first").takes("DURATION"),
        Opt::flag('s', "signal", "specify the signal to be sent on timeout").takes("SIGNAL"),
        Opt::flag('v', "verbose", "diagnose to stderr any signal sent upon timeout"),
    ],
    failure: 125,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let interval = |text: &str| {
        duration::parse(text).ok_or_else(|| call.misused(&format!("invalid time interval {}", quote::plain(text))))
    };
    let kill_after = call.value("kill-after").map(interval).transpose()?.filter(|time| !time.is_zero());
    let signal = match call.value("signal") {
        None => signals::TERM,
        Some(name) => {
            signals::parse(name).ok_or_else(|| call.misused(&format!("{}: invalid signal", quote::plain(name))))?
        }
    };
    let [time, command @ ..] = call.operands.as_slice() else {
        return Err(call.hint());
    };
    if command.is_empty() {
        return Err(call.hint());
    }
    let time = interval(time)?;

    child::catch_signals();
    let env: Vec<(String, String)> = std::env::vars().collect();
    let failed = |errno| {
        call.complain(&format!("failed to run command {}: {}", quote::plain(&command[0]), text(errno)));
        child::not_started(errno)
    };
    let pid = child::spawn(command, &env).map_err(failed)?;
    let lost = |errno: Errno| {
        call.complain(&format!("error waiting for command: {}", text(errno)));
        125
    };
    let deadline = (!time.is_zero()).then(|| Instant::now() + time);
    if let Some(status) = child::wait(pid, deadline).map_err(lost)? {
        return Ok(child::end_as(status));
    }

    send(call, pid, signal, &command[0]);
    let status = match child::wait(pid, kill_after.map(|time| Instant::now() + time)).map_err(lost)? {
        Some(status) => status,
        None => {
            send(call, pid, signals::KILL, &command[0]);
            match child::wait(pid, None).map_err(lost)? {
                Some(status) => status,
                None => return Err(125),
            }
        }
    };
    match status {
        // 137 shows that the command was killed and did not end by itself.
        Status::Signalled(signals::KILL) => Ok(128 + signals::KILL),
        Status::Exited(code) if call.has("preserve-status") => Ok(code),
        Status::Signalled(signal) if call.has("preserve-status") => Ok(128 + signal),
        _ => Ok(124),
    }
}

fn send(call: &Call, pid: u32, signal: u8, command: &str) {
    if call.has("verbose") {
        let name = signals::name(signal).unwrap_or("0");
        call.complain(&format!("sending signal {name} to command {}", quote::plain(command)));
    }
    // A command that has ended meanwhile needs no signal.
    let _ = process::kill(pid, signal);
    if signal != signals::KILL && signal != signals::CONT {
        // A stopped process could not act on the signal.
        let _ = process::kill(pid, signals::CONT);
    }
}
