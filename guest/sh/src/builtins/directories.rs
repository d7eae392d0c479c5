//! `dirs`, `pushd`, `popd`

use super::cd;
use crate::state::options::SetOption;
use crate::state::{Shell, Stop};

pub(super) fn dirs(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let (mut long, mut lines, mut numbers) = (false, false, false);
    let mut only = None;
    for argument in &arguments[1..] {
        match argument.as_str() {
            "-c" => {
                shell.directories.clear();
                return Ok(0);
            }
            "-l" => long = true,
            "-p" => lines = true,
            "-v" => numbers = true,
            other => match position(other, shell.directories.len() + 1) {
                Some(at) => only = Some(at),
                None => {
                    let what = if other.starts_with(['-', '+']) { "number" } else { "option" };
                    return Ok(reject(shell, "dirs", other, what));
                }
            },
        }
    }
    let all = stack(shell);
    let home = shell.text_of("HOME").unwrap_or_default();
    let shown: Vec<String> = all
        .iter()
        .map(|d| match d.strip_prefix(&home).filter(|_| !long && !home.is_empty()) {
            Some("") => "~".to_owned(),
            Some(rest) if rest.starts_with('/') => format!("~{rest}"),
            _ => d.clone(),
        })
        .collect();
    let text = match only {
        Some(at) => match shown.get(at) {
            Some(directory) => format!("{directory}\n"),
            None => {
                let empty = shell.directories.is_empty();
                shell.complain_as(
                    "dirs",
                    if empty { "directory stack empty" } else { "directory stack index out of range" },
                );
                return Ok(1);
            }
        },
        None if numbers => shown.iter().enumerate().map(|(i, d)| format!("{i:2}  {d}\n")).collect(),
        None if lines => shown.iter().map(|d| format!("{d}\n")).collect(),
        None => shown.join(" ") + "\n",
    };
    shell.print(&text);
    Ok(0)
}

pub(super) fn pushd(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut stay = false;
    let mut target = None;
    for argument in &arguments[1..] {
        match argument.as_str() {
            "-n" => stay = true,
            "--" => {}
            other if other.len() > 1 && other.starts_with('-') && position(other, 1).is_none() => {
                return Ok(reject(shell, "pushd", other, "number"));
            }
            _ if target.is_some() => {
                shell.complain_as("pushd", "too many arguments");
                return Ok(1);
            }
            other => target = Some(other),
        }
    }
    let mut all = stack(shell);
    match target {
        None => {
            if all.len() < 2 {
                shell.complain_as("pushd", "no other directory");
                return Ok(1);
            }
            all.swap(0, 1);
        }
        Some(target) => match position(target, all.len()) {
            Some(at) if at < all.len() => all.rotate_left(at),
            Some(_) => {
                let why = if all.len() < 2 {
                    "directory stack empty".to_owned()
                } else {
                    format!("{target}: directory stack index out of range")
                };
                shell.complain_as("pushd", &why);
                return Ok(1);
            }
            None if stay => {
                shell.directories.insert(0, target.to_owned());
                return dirs(shell, &arguments[..1]);
            }
            None => {
                if !go(shell, "pushd", target)? {
                    return Ok(1);
                }
                shell.directories = all;
                return dirs(shell, &arguments[..1]);
            }
        },
    }
    if !go(shell, "pushd", &all[0])? {
        return Ok(1);
    }
    shell.directories = all[1..].to_vec();
    dirs(shell, &arguments[..1])
}

pub(super) fn popd(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut stay = false;
    let mut target = None;
    for argument in &arguments[1..] {
        match argument.as_str() {
            "-n" => stay = true,
            "--" => {}
            other if position(other, 1).is_none() => {
                let what = if other.starts_with('-') { "number" } else { "argument" };
                return Ok(reject(shell, "popd", other, what));
            }
            other => target = Some(other),
        }
    }
    let mut all = stack(shell);
    if all.len() < 2 {
        shell.complain_as("popd", "directory stack empty");
        return Ok(1);
    }
    let at = match target {
        None => usize::from(stay),
        Some(target) => match position(target, all.len()).filter(|at| *at < all.len()) {
            Some(at) => at,
            None => {
                shell.complain_as("popd", &format!("{target}: directory stack index out of range"));
                return Ok(1);
            }
        },
    };
    all.remove(at);
    if at == 0 && !go(shell, "popd", &all[0])? {
        return Ok(1);
    }
    shell.directories = all[1..].to_vec();
    dirs(shell, &arguments[..1])
}

/// Reports an argument that none of these builtins takes. Returns the status.
fn reject(shell: &mut Shell, builtin: &str, argument: &str, what: &str) -> u8 {
    shell.complain_as(builtin, &format!("{argument}: invalid {what}"));
    shell.print_usage(builtin);
    2
}

fn stack(shell: &Shell) -> Vec<String> {
    let top = shell.text_of("PWD").unwrap_or_default();
    std::iter::once(top).chain(shell.directories.iter().cloned()).collect()
}

/// Reads `+N`, counted from the left, or `-N`, counted from the right.
fn position(argument: &str, count: usize) -> Option<usize> {
    match argument.split_at_checked(1)? {
        ("+", digits) => digits.parse().ok(),
        ("-", digits) => digits.parse::<usize>().ok().map(|n| count.checked_sub(1 + n).unwrap_or(usize::MAX)),
        _ => None,
    }
}

fn go(shell: &mut Shell, builtin: &str, target: &str) -> Result<bool, Stop> {
    let physical = shell.options.has(SetOption::PHYSICAL);
    let went = cd::change(shell, target, physical)?;
    if !went {
        let why = match isopod_sys::files::stat(target, true) {
            Ok(_) => "Not a directory",
            Err(errno) => isopod_sys::text(errno),
        };
        shell.complain_as(builtin, &format!("{target}: {why}"));
    }
    Ok(went)
}
