//! `enable`

use super::options;
use crate::state::{Shell, Stop};

pub(super) fn enable(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "anps") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let names = &arguments[given.rest..];
    let off = given.has(b'n');
    if names.is_empty() {
        for name in super::names() {
            let disabled = shell.disabled.iter().any(|d| d == name);
            match disabled {
                true if off || given.has(b'a') => shell.print(&format!("enable -n {name}\n")),
                false if !off => shell.print(&format!("enable {name}\n")),
                _ => {}
            }
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        if super::find(name).is_none() {
            shell.complain_as("enable", &format!("{name}: not a shell builtin"));
            status = 1;
            continue;
        }
        shell.disabled.retain(|d| d != name);
        if off {
            shell.disabled.push(name.clone());
        }
    }
    Ok(status)
}
