//! `complete`, `compopt`: specifications for the completion of command lines. Nothing completes command lines here, but
//! `complete -p` and scripts that are sourced for their functions rely on them.

use super::options::{self, ParsedOptions};
use crate::state::completions::{ACTIONS, OPTIONS, Specification};
use crate::state::{Shell, Stop};

/// The option letters that `compgen` and `complete` share.
pub(super) const LETTERS: &str = "abcdefgjksuvA:W:P:S:X:o:G:F:C:";

pub(super) fn complete(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let read = options::read(shell, arguments, &format!("prDEI{LETTERS}"));
    let given = match read {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let specification = match specification(shell, "complete", &given) {
        Ok(specification) => specification,
        Err(status) => return Ok(status),
    };
    // `-D`, `-E` and `-I` are for no command: their names cannot be those of commands.
    let own = [b'D', b'E', b'I'].into_iter().find(|letter| given.has(*letter));
    let names = match own {
        Some(letter) => vec![format!("-{}", char::from(letter))],
        None => arguments[given.rest..].to_vec(),
    };
    if given.has(b'r') {
        shell.completions.retain(|(name, _)| !(names.is_empty() || names.contains(name)));
        return Ok(0);
    }
    let prints = given.has(b'p') || arguments.len() == 1;
    if prints && names.is_empty() {
        for (name, specification) in shell.completions.clone() {
            shell.print(&format!("complete{} {name}\n", specification.text()));
        }
        return Ok(0);
    }
    if names.is_empty() {
        shell.print_usage("complete");
        return Ok(2);
    }
    let mut status = 0;
    for name in names {
        let at = shell.completions.iter().position(|(n, _)| *n == name);
        match (at, prints) {
            (Some(at), true) => {
                let line = format!("complete{} {name}\n", shell.completions[at].1.text());
                shell.print(&line);
            }
            (None, true) => {
                shell.complain_as("complete", &format!("{name}: no completion specification"));
                status = 1;
            }
            (Some(at), false) => shell.completions[at].1 = specification.clone(),
            (None, false) => shell.completions.push((name, specification.clone())),
        }
    }
    Ok(status)
}

/// Reads a specification from the options.
pub(super) fn specification(shell: &mut Shell, builtin: &str, given: &ParsedOptions) -> Result<Specification, u8> {
    let value = |letter| given.value(letter).map(str::to_owned);
    let mut made = Specification {
        glob: value(b'G'),
        words: value(b'W'),
        prefix: value(b'P'),
        suffix: value(b'S'),
        filter: value(b'X'),
        command: value(b'C'),
        function: value(b'F'),
        ..Specification::default()
    };
    for (letter, value) in &given.options {
        let value = value.as_deref().unwrap_or_default();
        match letter {
            b'o' if OPTIONS.contains(&value) => made.options.push(value.to_owned()),
            b'o' => {
                shell.complain_as(builtin, &format!("{value}: invalid option name"));
                return Err(2);
            }
            b'A' if ACTIONS.iter().any(|(name, _)| *name == value) => made.actions.push(value.to_owned()),
            b'A' => {
                shell.complain_as(builtin, &format!("{value}: invalid action name"));
                return Err(2);
            }
            letter => {
                let action = ACTIONS.iter().find(|(_, l)| *l == Some(*letter));
                made.actions.extend(action.map(|(name, _)| (*name).to_owned()));
            }
        }
    }
    Ok(made)
}

pub(super) fn compopt(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut changes = Vec::new();
    let mut names = Vec::new();
    let mut rest = arguments[1..].iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-o" | "+o" => {
                let option = rest.next().cloned().unwrap_or_default();
                if !OPTIONS.contains(&option.as_str()) {
                    shell.complain_as("compopt", &format!("{option}: invalid option name"));
                    return Ok(2);
                }
                changes.push((option, argument == "-o"));
            }
            "-D" | "-E" | "-I" => names.push(argument.clone()),
            option if option.starts_with('-') => return Ok(shell.reject_option("compopt", option)),
            _ => names.push(argument.clone()),
        }
    }
    if names.is_empty() {
        shell.complain_as("compopt", "not currently executing completion function");
        return Ok(1);
    }
    let mut status = 0;
    for name in names {
        let Some((_, specification)) = shell.completions.iter_mut().find(|(n, _)| *n == name) else {
            shell.complain_as("compopt", &format!("{name}: no completion specification"));
            status = 1;
            continue;
        };
        for (option, on) in &changes {
            specification.options.retain(|o| o != option);
            specification.options.extend(on.then(|| option.clone()));
        }
        if changes.is_empty() {
            let sign = |option: &str| if specification.has(option) { '-' } else { '+' };
            let shown: Vec<String> = OPTIONS.iter().map(|option| format!("{}o {option}", sign(option))).collect();
            shell.print(&format!("compopt {} {name}\n", shown.join(" ")));
        }
    }
    Ok(status)
}
