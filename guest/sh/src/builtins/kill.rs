//! `kill`

use isopod_sys::process;

use crate::arith;
use crate::state::options::SetOption;
use crate::state::traps::{signal_name, signal_number};
use crate::state::{Shell, Stop};

pub(super) fn kill(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut signal = 15;
    let mut at = 1;
    match arguments.get(1).map(String::as_str) {
        None => {
            shell.print_usage("kill");
            return Ok(2);
        }
        Some("-l" | "-L") => return Ok(list(shell, &arguments[2..])),
        Some(option @ ("-s" | "-n")) => {
            let Some(name) = arguments.get(2) else {
                shell.complain_as("kill", &format!("{option}: option requires an argument"));
                return Ok(1);
            };
            let Some(number) = real_signal(name) else {
                shell.complain_as("kill", &format!("{name}: invalid signal specification"));
                return Ok(1);
            };
            signal = number;
            at = 3;
        }
        Some("--") => at = 2,
        Some(option) if option.starts_with('-') && option.len() > 1 => {
            let name = &option[1..];
            let Some(number) = real_signal(name) else {
                shell.complain_as("kill", &format!("{name}: invalid signal specification"));
                return Ok(1);
            };
            signal = number;
            at = 2;
        }
        Some(_) => {}
    }
    if arguments.get(at).is_some_and(|a| a == "--") {
        at += 1;
    }
    if arguments.len() <= at {
        shell.print_usage("kill");
        return Ok(2);
    }
    let mut status = 0;
    for target in &arguments[at..] {
        status |= kill_one(shell, target, signal);
    }
    Ok(status)
}

fn kill_one(shell: &mut Shell, target: &str, signal: u8) -> u8 {
    let pids: Vec<u32> = if target.starts_with('%') {
        match shell.jobs.find(target) {
            Some(job) => shell.jobs.list[job].processes.iter().filter(|(_, s)| s.is_none()).map(|(p, _)| *p).collect(),
            None => {
                shell.complain_as("kill", &format!("{target}: no such job"));
                return 1;
            }
        }
    } else {
        match arith::integer(target) {
            Some(pid) if pid > 0 && u32::try_from(pid).is_ok() => vec![pid as u32],
            Some(_) => {
                shell.complain_as("kill", &format!("({target}) - No such process"));
                return 1;
            }
            None => {
                shell.complain_as("kill", &format!("{target}: arguments must be process or job IDs"));
                return 1;
            }
        }
    };
    let own = process::id();
    for pid in pids {
        // In a substitution in place `$$` is this very process, so the signal reaches the right one.
        let pid = if pid == shell.shell_pid() && shell.level == 0 { own } else { pid };
        if let Err(errno) = process::kill(pid, signal) {
            shell.complain_as("kill", &format!("({target}) - {}", isopod_sys::text(errno)));
            return 1;
        }
    }
    0
}

fn real_signal(name: &str) -> Option<u8> {
    signal_number(name).filter(|n| *n < 32)
}

/// `kill -l`: lists all names, or translates between a name and a number or status.
pub(super) fn list(shell: &mut Shell, which: &[String]) -> u8 {
    if which.is_empty() && shell.options.has(SetOption::POSIX) {
        let names: Vec<&str> = (1..32).filter_map(signal_name).collect();
        shell.print(&(names.join(" ") + "\n"));
        return 0;
    }
    if which.is_empty() {
        let mut text = String::new();
        for number in 1..32u8 {
            let name = signal_name(number).unwrap_or_default();
            text.push_str(&format!("{number:2}) SIG{name}"));
            text.push(if number % 5 == 0 || number == 31 { '\n' } else { '\t' });
        }
        shell.print(&text);
        return 0;
    }
    let mut status = 0;
    for argument in which {
        let line = match argument.parse::<u32>() {
            Ok(number) => {
                let number = if number > 128 { number - 128 } else { number };
                u8::try_from(number).ok().filter(|n| *n < 32).and_then(signal_name).map(str::to_owned)
            }
            Err(_) => real_signal(argument).map(|n| n.to_string()),
        };
        match line {
            Some(line) => shell.print(&(line + "\n")),
            None => {
                shell.complain_as("kill", &format!("{argument}: invalid signal specification"));
                status = 1;
            }
        }
    }
    status
}
