//! `shopt`

use super::options;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};

pub(super) fn shopt(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "psuqo") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let (on, off) = (given.has(b's'), given.has(b'u'));
    if on && off {
        shell.complain_as("shopt", "cannot set and unset shell options simultaneously");
        return Ok(1);
    }
    let names = &arguments[given.rest..];
    let of_set = given.has(b'o');
    if names.is_empty() {
        list(shell, of_set, on, off, given.has(b'p'));
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        let current = match of_set {
            true => SetOption::named(name).map(|o| shell.options.has(o)),
            false => Shopt::named(name).map(|o| shell.options.shopt(o)),
        };
        let Some(current) = current else {
            let what = if of_set { "option" } else { "shell option" };
            shell.complain_as("shopt", &format!("{name}: invalid {what} name"));
            status = 1;
            continue;
        };
        if on || off {
            status |= switch(shell, name, of_set, on);
            continue;
        }
        if !current {
            status = 1;
        }
        if !given.has(b'q') {
            let line = line(name, current, of_set, given.has(b'p'));
            shell.print(&line);
        }
    }
    Ok(status)
}

fn switch(shell: &mut Shell, name: &str, of_set: bool, on: bool) -> u8 {
    if of_set {
        return match SetOption::named(name) {
            Some(option) => shell.switch_option("shopt", option, on).err().unwrap_or(0),
            None => 1,
        };
    }
    let Some(option) = Shopt::named(name) else { return 1 };
    if !option.works() && on {
        shell.complain_as("shopt", &format!("{name}: option is not supported here"));
        return 1;
    }
    shell.options.switch_shopt(option, on);
    0
}

fn list(shell: &mut Shell, of_set: bool, only_on: bool, only_off: bool, commands: bool) {
    let all: Vec<(&str, bool)> = match of_set {
        true => SetOption::all().map(|o| (o.name(), shell.options.has(o))).collect(),
        false => Shopt::all().map(|o| (o.name(), shell.options.shopt(o))).collect(),
    };
    for (name, current) in all {
        if (only_on && !current) || (only_off && current) {
            continue;
        }
        let line = line(name, current, of_set, commands);
        shell.print(&line);
    }
}

fn line(name: &str, on: bool, of_set: bool, command: bool) -> String {
    match (command, of_set) {
        (true, true) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
        (true, false) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
        (false, _) => format!("{name:15}\t{}\n", if on { "on" } else { "off" }),
    }
}
