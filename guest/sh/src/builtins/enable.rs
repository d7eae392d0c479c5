//! `enable`

use super::options;
use crate::state::{Shell, Stop};

pub(super) fn enable(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "anps") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let names = &arguments[given.rest..];
    if names.is_empty() {
        if !given.has(b'n') {
            for name in super::names() {
                shell.print(&format!("enable {name}\n"));
            }
        }
        return Ok(0);
    }
    if given.has(b'n') {
        shell.complain_as("enable", "-n: not supported: builtins cannot be switched off");
        return Ok(2);
    }
    let mut status = 0;
    for name in names {
        if super::find(name).is_none() {
            shell.complain_as("enable", &format!("{name}: not a shell builtin"));
            status = 1;
        }
    }
    Ok(status)
}
