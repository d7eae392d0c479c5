//! `set`

use crate::state::options::{SetOption, Shopt};
use crate::state::variable::Variable;
use crate::state::{Shell, Stop};

pub(super) fn set(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    if arguments.len() == 1 {
        shell.print_assignments();
        if !shell.options.has(SetOption::POSIX) {
            shell.print_functions(false);
        }
        return Ok(0);
    }
    if let Some((sign, letter)) = unknown_letter(&arguments[1..]) {
        return Ok(shell.reject_option("set", &format!("{sign}{letter}")));
    }
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        if argument == "--" {
            shell.positional = arguments[at + 1..].to_vec().into();
            return Ok(0);
        }
        if argument == "-" {
            shell.options.switch(SetOption::XTRACE, false);
            shell.options.switch(SetOption::VERBOSE, false);
            at += 1;
            if arguments.len() > at {
                shell.positional = arguments[at..].to_vec().into();
            }
            return Ok(0);
        }
        let on = argument.starts_with('-');
        if !(on || argument.starts_with('+')) {
            break;
        }
        at += 1;
        for letter in argument[1..].bytes() {
            if letter == b'o' {
                match arguments.get(at) {
                    Some(name) => {
                        at += 1;
                        if let Err(status) = switch_named(shell, name, on) {
                            return Ok(status);
                        }
                    }
                    None => list(shell, on),
                }
                continue;
            }
            // Unknown letters were refused before.
            if let Some(option) = SetOption::lettered(letter)
                && let Err(status) = shell.switch_option("set", option, on)
            {
                return Ok(status);
            }
        }
    }
    if arguments.len() > at {
        shell.positional = arguments[at..].to_vec().into();
    }
    Ok(0)
}

/// Finds a letter that is not an option, and its sign. Then no option is switched.
fn unknown_letter(arguments: &[String]) -> Option<(char, char)> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next().filter(|a| !matches!(a.as_str(), "-" | "--")) {
        let mut letters = argument.chars();
        let sign = letters.next().filter(|sign| matches!(sign, '-' | '+'))?;
        for letter in letters {
            match letter {
                'o' => drop(arguments.next()),
                letter if u8::try_from(letter).is_ok_and(|l| SetOption::lettered(l).is_some()) => {}
                letter => return Some((sign, letter)),
            }
        }
    }
    None
}

fn switch_named(shell: &mut Shell, name: &str, on: bool) -> Result<(), u8> {
    match SetOption::named(name) {
        Some(option) => shell.switch_option("set", option, on),
        None => {
            shell.complain_as("set", &format!("{name}: invalid option name"));
            Err(2)
        }
    }
}

/// `set -o` lists the options, `set +o` prints commands that restore them.
fn list(shell: &mut Shell, readable: bool) {
    for option in SetOption::all() {
        let on = shell.options.has(option);
        let line = match readable {
            true => format!("{:15}\t{}\n", option.name(), if on { "on" } else { "off" }),
            false => format!("set {}o {}\n", if on { '-' } else { '+' }, option.name()),
        };
        shell.print(&line);
    }
}

impl Shell {
    /// Switches an option, or reports that it is not supported.
    pub fn switch_option(&mut self, builtin: &str, option: SetOption, on: bool) -> Result<(), u8> {
        if !option.works() && on {
            self.complain_as(builtin, &format!("{}: option is not supported here", option.name()));
            return Err(1);
        }
        self.options.switch(option, on);
        if option == SetOption::POSIX {
            match on {
                true => *self.variables.slot("POSIXLY_CORRECT") = Variable::scalar("y"),
                false => self.variables.unset("POSIXLY_CORRECT"),
            }
            self.options.switch_shopt(Shopt::EXPAND_ALIASES, on || self.interactive);
            self.options.switch_shopt(Shopt::INHERIT_ERREXIT, on);
        }
        Ok(())
    }
}
