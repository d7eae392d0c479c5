//! `hash`

use super::options;
use crate::state::{Shell, Stop};

/// Remembers only the paths that `hash` itself is given: the kernel finds programs faster than a table here would.
pub(super) fn hash(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "rldp:t") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let names = &arguments[given.rest..];
    if given.has(b'r') {
        shell.hashed.clear();
    }
    if names.is_empty() {
        if given.has(b't') {
            shell.complain_as("hash", "-t: option requires an argument");
            return Ok(1);
        }
        if !given.has(b'r') {
            list(shell, given.has(b'l'));
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        let found = shell.hashed.iter().position(|(n, _)| n == name);
        if given.has(b'd') || given.has(b't') {
            match found {
                Some(at) if given.has(b'd') => {
                    shell.hashed.remove(at);
                }
                Some(at) => {
                    let path = &shell.hashed[at].1;
                    let line = match names.len() {
                        1 => format!("{path}\n"),
                        _ => format!("{name}\t{path}\n"),
                    };
                    shell.print(&line);
                }
                None if given.has(b'd') => {}
                None => status = not_found(shell, name),
            }
            continue;
        }
        let path = match given.value(b'p') {
            Some(path) => Some(path.to_owned()),
            None if name.contains('/') || shell.functions.contains_key(name.as_str()) => continue,
            None if shell.find_builtin(name).is_some() => continue,
            None => shell.find_program(name),
        };
        match path {
            Some(path) => {
                shell.hashed.retain(|(n, _)| n != name);
                shell.hashed.push((name.clone(), path));
            }
            None => status = not_found(shell, name),
        }
    }
    Ok(status)
}

fn not_found(shell: &mut Shell, name: &str) -> u8 {
    shell.complain_as("hash", &format!("{name}: not found"));
    1
}

fn list(shell: &mut Shell, reusable: bool) {
    if shell.hashed.is_empty() {
        if !reusable {
            shell.print("hash: hash table empty\n");
        }
        return;
    }
    let mut text = if reusable { String::new() } else { "hits\tcommand\n".to_owned() };
    for (name, path) in &shell.hashed {
        text.push_str(&match reusable {
            true => format!("builtin hash -p {path} {name}\n"),
            false => format!("   0\t{path}\n"),
        });
    }
    shell.print(&text);
}
