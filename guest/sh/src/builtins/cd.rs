//! `cd`, `pwd`

use isopod_sys::{files, process};

use super::options;
use crate::startup::working_directory;
use crate::state::options::{SetOption, Shopt};
use crate::state::variable::{Attributes, Value};
use crate::state::{Shell, Stop};
use crate::text;

pub(super) fn cd(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "LPe@") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut physical = shell.options.has(SetOption::PHYSICAL);
    for (letter, _) in &given.options {
        match letter {
            b'L' => physical = false,
            b'P' => physical = true,
            _ => {}
        }
    }
    let operands = &arguments[given.rest..];
    let mut shown = false;
    let target = match operands {
        [] => match shell.text_of("HOME") {
            Some(home) => home,
            None => {
                shell.complain_as("cd", "HOME not set");
                return Ok(1);
            }
        },
        [dash] if dash == "-" => match shell.text_of("OLDPWD") {
            Some(old) => {
                shown = true;
                old
            }
            None => {
                shell.complain_as("cd", "OLDPWD not set");
                return Ok(1);
            }
        },
        [target] => target.clone(),
        _ => {
            shell.complain_as("cd", "too many arguments");
            return Ok(1);
        }
    };
    if target.is_empty() {
        return Ok(0);
    }
    let candidates = candidates(shell, &target);
    for (candidate, from_path) in candidates {
        if change(shell, &candidate, physical)? {
            if shown || from_path {
                let directory = shell.text_of("PWD").unwrap_or_default();
                shell.print(&directory);
                shell.print("\n");
            }
            return Ok(0);
        }
    }
    if shell.options.shopt(Shopt::CDABLE_VARS)
        && let Some(value) = shell.text_of(&target)
        && change(shell, &value, physical)?
    {
        shell.print(&value);
        shell.print("\n");
        return Ok(0);
    }
    let why = match files::stat(&target, true) {
        Ok(found) if found.kind != files::Kind::Directory => "Not a directory",
        Ok(_) => "Permission denied",
        Err(errno) => isopod_sys::text(errno),
    };
    shell.complain_as("cd", &format!("{target}: {why}"));
    Ok(1)
}

/// Returns the directories to try: those of CDPATH, unless the target is anchored by `/`, `.` or `..`.
fn candidates(shell: &Shell, target: &str) -> Vec<(String, bool)> {
    let own = vec![(target.to_owned(), false)];
    let anchored = target.starts_with('/') || target.split('/').next().is_some_and(|f| f == "." || f == "..");
    let Some(path) = shell.text_of("CDPATH").filter(|p| !anchored && !p.is_empty()) else { return own };
    path.split(':')
        .map(|directory| match directory {
            "" | "." => (target.to_owned(), false),
            _ => (format!("{}/{target}", directory.trim_end_matches('/')), true),
        })
        .chain(own)
        .collect()
}

/// Changes the working directory. PWD gets the path as it was written, unless `physical` resolves links.
pub(super) fn change(shell: &mut Shell, target: &str, physical: bool) -> Result<bool, Stop> {
    let old = working_directory(shell.text_of("PWD"));
    let logical = normalized(&old, target).filter(|_| !physical);
    if let Some(place) = shell.in_place_states.last_mut()
        && place.0.is_none()
    {
        place.0 = Some(process::cwd());
    }
    let Some(outward) = text::outward(logical.as_deref().unwrap_or(target)) else { return Ok(false) };
    let mut went = process::chdir(&outward);
    if went.is_err() && logical.is_some() {
        went = process::chdir(&text::outward(target).unwrap_or_default());
    }
    let Ok(real) = went else { return Ok(false) };
    let new = logical.unwrap_or(real);
    set_directory(shell, "OLDPWD", old)?;
    set_directory(shell, "PWD", new)?;
    Ok(true)
}

fn set_directory(shell: &mut Shell, name: &str, value: String) -> Result<(), Stop> {
    let exported = shell.variables.get(name).is_none_or(|v| v.is(Attributes::EXPORT));
    shell.assign(name, value)?;
    if exported && shell.variables.get(name).is_some_and(|v| matches!(v.value, Value::Scalar(_))) {
        shell.variables.slot(name).attributes.insert(Attributes::EXPORT);
    }
    Ok(())
}

/// Joins a path to a directory and removes `.` and `..` by name. A name that `..` removes must be a directory, except
/// for the starting directory, which may have been deleted.
fn normalized(from: &str, target: &str) -> Option<String> {
    // PWD has no dots in it.
    let mut parts: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => from.split('/').filter(|part| !part.is_empty()).collect(),
    };
    let start = parts.len();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.len() > start {
                    let left = format!("/{}", parts.join("/"));
                    files::stat(&text::outward(&left)?, true).ok().filter(|a| a.kind == files::Kind::Directory)?;
                }
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

pub(super) fn pwd(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "LP") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut physical = shell.options.has(SetOption::PHYSICAL);
    for (letter, _) in &given.options {
        physical = *letter == b'P';
    }
    let directory = match physical {
        true => process::cwd(),
        false => working_directory(shell.text_of("PWD")),
    };
    shell.print(&directory);
    shell.print("\n");
    Ok(0)
}
