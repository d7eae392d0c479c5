//! Running another program in this one's place.
//!
//! There is no `exec`: a program that would become another starts it as a child, hands on the signals it gets,
//! and ends as the child ended, so that from outside there seems to be one process.

use std::time::{Duration, Instant};

use isopod_sys::process::{Command, Disposition, Status};
use isopod_sys::{Errno, files, process};

use crate::signals;

/// Signals that a program hands on to its child.
const FORWARDED: [u8; 6] = [signals::HUP, signals::INT, signals::QUIT, signals::USR1, signals::USR2, signals::TERM];

/// Starts a program with all open files of this one. A script without `#!` goes to the shell, as `execvp` does it.
pub fn spawn(argv: &[String], env: &[(String, String)]) -> Result<u32, Errno> {
    let program = argv.first().cloned().unwrap_or_default();
    let start = |program: String, argv: Vec<String>| {
        process::spawn(&Command {
            program,
            argv,
            env: env.to_vec(),
            files: open_files(),
            payload: Vec::new(),
            background: false,
        })
    };
    match start(program.clone(), argv.to_vec()) {
        Err(Errno::NoExec) => {
            let script = if program.contains('/') { program } else { look_up(&program, env).ok_or(Errno::NoExec)? };
            let mut shell = vec!["sh".to_owned(), script];
            shell.extend_from_slice(&argv[1..]);
            start("/bin/sh".to_owned(), shell)
        }
        result => result,
    }
}

/// The exit code for a program that could not be started.
pub fn not_started(errno: Errno) -> u8 {
    if errno == Errno::NoEntry { 127 } else { 126 }
}

/// Catches the signals that are handed on. Ignored ones stay ignored, for the child too.
pub fn catch_signals() {
    for signal in FORWARDED {
        if process::on_signal(signal, Disposition::Catch) == Ok(Disposition::Ignore) {
            // The call can only fail on a number that is no signal.
            let _ = process::on_signal(signal, Disposition::Ignore);
        }
    }
}

/// Waits for a child, at most until `deadline`, and forwards signals to it. `Ok(None)` means that the deadline passed.
pub fn wait(child: u32, deadline: Option<Instant>) -> Result<Option<Status>, Errno> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match process::wait(Some(child), left.map(nanoseconds)) {
            Ok((_, status)) => return Ok(Some(status)),
            Err(Errno::TimedOut) => return Ok(None),
            Err(Errno::Interrupted) => {
                for signal in process::pending() {
                    // A child that has already ended is reaped by the next wait.
                    let _ = process::kill(child, signal);
                }
            }
            Err(errno) => return Err(errno),
        }
    }
}

/// Ends this process as the child ended: by the same signal, if it was one.
pub fn end_as(status: Status) -> u8 {
    match status {
        Status::Exited(code) => code,
        Status::Signalled(signal) => {
            // If the signal does not end this process, the code that a shell makes of it does.
            let _ = process::on_signal(signal, Disposition::Default);
            let _ = process::kill(process::id(), signal);
            128 + signal
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn open_files() -> Vec<(u32, u32)> {
    // A process can always list its own descriptors; if it cannot, the child gets the usual three.
    let names = files::read_dir("/dev/fd").unwrap_or_else(|_| ["0", "1", "2"].map(String::from).into());
    names.iter().filter_map(|name| name.parse().ok()).map(|fd| (fd, fd)).collect()
}

fn look_up(program: &str, env: &[(String, String)]) -> Option<String> {
    let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str())?;
    path.split(':').map(|dir| format!("{}/{program}", if dir.is_empty() { "." } else { dir })).find(|candidate| {
        files::stat(candidate, true).is_ok_and(|found| found.kind == files::Kind::File && found.mode & 0o111 != 0)
    })
}
