//! `hash`

use super::options;
use crate::state::{Shell, Stop};

/// Nothing is remembered: the kernel looks a program up each time.
pub(super) fn hash(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "rldp:t") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if given.has(b'p') {
        shell.complain_as("hash", "-p: not supported: programs are found by PATH only");
        return Ok(2);
    }
    let names = &arguments[given.rest..];
    if names.is_empty() && given.options.is_empty() {
        shell.print("hash: hash table empty\n");
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        if name.contains('/') || super::find(name).is_some() || shell.functions.contains_key(name.as_str()) {
            continue;
        }
        match shell.find_program(name) {
            Some(path) if given.has(b't') => {
                let line = match names.len() {
                    1 => format!("{path}\n"),
                    _ => format!("{name}\t{path}\n"),
                };
                shell.print(&line);
            }
            Some(_) => {}
            None => {
                shell.complain_as("hash", &format!("{name}: not found"));
                status = 1;
            }
        }
    }
    Ok(status)
}
