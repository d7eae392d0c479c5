//! `getopts`

use crate::state::{Shell, Stop};
use crate::syntax::is_name;

pub(super) fn getopts(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let [_, spec, name, own @ ..] = arguments else {
        if let Some(option) = arguments.get(1).filter(|a| a.len() > 1 && a.starts_with('-')) {
            let letter: String = option.chars().take(2).collect();
            return Ok(shell.reject_option("getopts", &letter));
        }
        shell.print_usage("getopts");
        return Ok(2);
    };
    let silent = spec.starts_with(':');
    let reports = !silent && shell.text_of("OPTERR").is_none_or(|v| v != "0");
    let words: Vec<String> = if own.is_empty() { shell.positional.to_vec() } else { own.to_vec() };
    let index = shell.text_of("OPTIND").and_then(|t| t.parse::<i64>().ok()).unwrap_or(1).max(1);
    // The offset within a word of several letters. Setting OPTIND starts from the beginning.
    let mut offset = if shell.getopts.0 == index { shell.getopts.1 } else { 0 };
    let mut at = index as usize - 1;
    // The arguments may have changed since the last call.
    if words.get(at).is_none_or(|word| word.get(offset..).is_none_or(str::is_empty)) {
        offset = 0;
    }
    if offset == 0 {
        let ends = match words.get(at) {
            None => true,
            Some(word) => !word.starts_with('-') || word == "-" || word == "--",
        };
        if ends {
            if words.get(at).is_some_and(|w| w == "--") {
                at += 1;
            }
            set_index(shell, at as i64 + 1, 0)?;
            shell.variables.unset("OPTARG");
            put(shell, name, "?")?;
            return Ok(1);
        }
        offset = 1;
    }
    let word = words.get(at).cloned().unwrap_or_default();
    let letter = word[offset..].chars().next().unwrap_or('?');
    offset += letter.len_utf8();
    let last = offset >= word.len();
    let known = spec.find(letter).filter(|_| letter != ':');
    let Some(found) = known else {
        advance(shell, at, offset, last)?;
        if silent {
            shell.assign("OPTARG", letter.to_string())?;
        } else {
            shell.variables.unset("OPTARG");
            if reports {
                complain(shell, &format!("illegal option -- {letter}"));
            }
        }
        return put(shell, name, "?");
    };
    if !spec[found + letter.len_utf8()..].starts_with(':') {
        advance(shell, at, offset, last)?;
        shell.variables.unset("OPTARG");
        return put(shell, name, &letter.to_string());
    }
    let value = match last {
        false => {
            set_index(shell, at as i64 + 2, 0)?;
            word[offset..].to_owned()
        }
        true => match words.get(at + 1) {
            Some(value) => {
                set_index(shell, at as i64 + 3, 0)?;
                value.clone()
            }
            None => {
                set_index(shell, at as i64 + 2, 0)?;
                if silent {
                    shell.assign("OPTARG", letter.to_string())?;
                    return put(shell, name, ":");
                }
                shell.variables.unset("OPTARG");
                if reports {
                    complain(shell, &format!("option requires an argument -- {letter}"));
                }
                return put(shell, name, "?");
            }
        },
    };
    shell.assign("OPTARG", value)?;
    put(shell, name, &letter.to_string())
}

/// Reports a wrong option. The message names the script and no line.
fn complain(shell: &mut Shell, message: &str) {
    let line = format!("{}: {message}\n", shell.name);
    shell.write_error(&line);
}

fn advance(shell: &mut Shell, at: usize, offset: usize, last: bool) -> Result<(), Stop> {
    match last {
        true => set_index(shell, at as i64 + 2, 0),
        false => set_index(shell, at as i64 + 1, offset),
    }
}

fn set_index(shell: &mut Shell, index: i64, offset: usize) -> Result<(), Stop> {
    shell.assign("OPTIND", index.to_string())?;
    shell.getopts = (index, offset);
    Ok(())
}

fn put(shell: &mut Shell, name: &str, value: &str) -> Result<u8, Stop> {
    if !is_name(name) {
        return Err(shell.refuse_name("getopts", name));
    }
    match shell.assign(name, value.to_owned()) {
        Ok(()) => Ok(0),
        Err(Stop::Discard) => Ok(1),
        Err(stop) => Err(stop),
    }
}
