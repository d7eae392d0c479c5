//! `help`, and builtins of bash for people at a terminal

use super::{options, usage};
use crate::pattern::Pattern;
use crate::state::{Shell, Stop};

pub(super) fn help(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "dms") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let patterns = &arguments[given.rest..];
    if patterns.is_empty() {
        let version = crate::state::VERSION;
        shell.print(&format!(
            "GNU bash, version {version} (isopod)\n\
             These commands are part of the shell. `help NAME' says how NAME is called.\n\n"
        ));
        for (_, synopsis) in usage::topics() {
            shell.print(&format!(" {synopsis}\n"));
        }
        return Ok(0);
    }
    let mut status = 0;
    for pattern in patterns {
        let matcher = Pattern::new(pattern, false, false);
        let mut found = false;
        for (name, synopsis) in usage::topics().filter(|(name, _)| *name == pattern || matcher.matches(name)) {
            shell.print(&format!("{name}: {synopsis}\n"));
            found = true;
        }
        if !found {
            shell.complain_as(
                "help",
                &format!(
                    "no help topics match `{pattern}'.  Try `help help' or `man -k {pattern}' or `info {pattern}'."
                ),
            );
            status = 1;
        }
    }
    Ok(status)
}

pub(super) fn suspend(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.complain_as("suspend", "cannot suspend: no job control");
    Ok(1)
}

pub(super) fn logout(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.complain_as("logout", "not login shell: use `exit'");
    Ok(1)
}

pub(super) fn unsupported(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    shell.complain_as(&arguments[0], "not supported: the shell is not interactive");
    Ok(2)
}
