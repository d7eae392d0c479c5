//! `trap`

use isopod_sys::process;

use super::options;
use crate::quote;
use crate::state::options::SetOption;
use crate::state::traps::{DEADLY, DEBUG, ERR, EXIT, INTERRUPT, RETURN, TIME_OVER, signal_name, signal_number};
use crate::state::{Shell, Stop};

pub(super) fn trap(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    // `trap -` is an action, not an option.
    let given = match arguments.get(1).map(String::as_str) {
        Some("-") => options::ParsedOptions { options: Vec::new(), rest: 1 },
        _ => match options::read(shell, arguments, "lp") {
            Ok(given) => given,
            Err(status) => return Ok(status),
        },
    };
    if given.has(b'l') {
        super::kill::list(shell, &[]);
        return Ok(0);
    }
    let rest = &arguments[given.rest..];
    if given.has(b'p') || rest.is_empty() {
        return Ok(show(shell, rest));
    }
    // One argument alone, or a number first, resets the signals.
    let resets =
        rest[0] == "-" || rest.len() == 1 || (!rest[0].is_empty() && rest[0].bytes().all(|b| b.is_ascii_digit()));
    let (action, signals) = match rest[0].as_str() {
        "-" => (None, &rest[1..]),
        _ if resets => (None, rest),
        action => (Some(action), &rest[1..]),
    };
    // An action without signals is an error.
    if signals.is_empty() || (rest.len() == 1 && signal_number(&rest[0]).is_none()) {
        shell.print_usage("trap");
        return Ok(2);
    }
    let mut status = 0;
    for name in signals {
        let Some(signal) = signal_number(name) else {
            shell.complain_as("trap", &format!("{name}: invalid signal specification"));
            status = 1;
            continue;
        };
        set(shell, signal, action);
    }
    Ok(status)
}

fn set(shell: &mut Shell, signal: u8, action: Option<&str>) {
    shell.traps.set(signal, action.map(Into::into));
    let live = shell.live;
    let last_words = shell.traps.get(EXIT).is_some_and(|a| !a.is_empty());
    let dispose = |signal: u8, action: Option<&str>| {
        let disposition = match action {
            _ if live && signal == TIME_OVER => return,
            None if live && signal == INTERRUPT => process::Disposition::Catch,
            Some("") => process::Disposition::Ignore,
            Some(_) => process::Disposition::Catch,
            None if last_words && DEADLY.contains(&signal) => process::Disposition::Catch,
            None => process::Disposition::Default,
        };
        // KILL and STOP cannot be caught, which bash does not report either.
        let _ = process::on_signal(signal, disposition);
    };
    match signal {
        EXIT => {
            for signal in DEADLY {
                // A signal that was ignored at start-up stays ignored.
                let ignored = matches!(
                    process::on_signal(signal, process::Disposition::Ignore),
                    Ok(process::Disposition::Ignore)
                );
                let action = shell.traps.get(signal).map(|a| &**a);
                dispose(signal, if ignored { Some("") } else { action });
            }
        }
        ERR | DEBUG | RETURN => {}
        signal => dispose(signal, action),
    }
}

fn show(shell: &mut Shell, names: &[String]) -> u8 {
    let wanted: Vec<u8> = names.iter().filter_map(|n| signal_number(n)).collect();
    let posix = shell.options.has(SetOption::POSIX);
    let lines: Vec<String> = shell
        .traps
        .iter()
        .filter(|(signal, _)| names.is_empty() || wanted.contains(signal))
        .map(|(signal, action)| {
            let prefix = if (1..32).contains(&signal) && !posix { "SIG" } else { "" };
            format!("trap -- {} {prefix}{}\n", quote::single(action), signal_name(signal).unwrap_or_default())
        })
        .collect();
    for line in lines {
        shell.print(&line);
    }
    for name in names.iter().filter(|n| signal_number(n).is_none()) {
        shell.complain_as("trap", &format!("{name}: invalid signal specification"));
    }
    u8::from(wanted.len() != names.len())
}
