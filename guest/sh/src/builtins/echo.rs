//! `echo`

use crate::escape;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};

pub(super) fn echo(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut newline = true;
    let mut escapes = shell.options.shopt(Shopt::XPG_ECHO);
    let mut first = 1;
    // POSIX with `xpg_echo` has no options.
    let plain = escapes && shell.options.has(SetOption::POSIX);
    while let Some(argument) = arguments.get(first).filter(|_| !plain) {
        let Some(letters) = argument.strip_prefix('-') else { break };
        // An argument with any other letter is text.
        if letters.is_empty() || !letters.bytes().all(|b| matches!(b, b'n' | b'e' | b'E')) {
            break;
        }
        for letter in letters.bytes() {
            match letter {
                b'n' => newline = false,
                letter => escapes = letter == b'e',
            }
        }
        first += 1;
    }
    for (i, argument) in arguments[first..].iter().enumerate() {
        if i > 0 {
            shell.out.push(b' ');
        }
        if !escapes {
            shell.print(argument);
            continue;
        }
        let (text, stopped) = escape::echo(argument);
        shell.print(&text);
        if stopped {
            return Ok(0);
        }
    }
    if newline {
        shell.out.push(b'\n');
    }
    Ok(0)
}
