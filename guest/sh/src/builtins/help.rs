//! `help`, and builtins of bash that need a terminal or a history

use crate::state::{Shell, Stop};

pub(super) fn help(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    if arguments.len() < 2 {
        let version = crate::state::VERSION;
        shell.print(&format!("GNU bash, version {version} (isopod)\nThese shell commands are built in:\n\n"));
        let names: Vec<&str> = super::names().collect();
        for line in names.chunks(8) {
            let line = format!(" {}\n", line.join(" "));
            shell.print(&line);
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in arguments[1..].iter().filter(|a| !a.starts_with('-')) {
        match super::find(name) {
            Some(_) => shell.print(&format!("{name}: a shell builtin, as in bash 5.2\n")),
            None => {
                shell.complain_as("help", &format!("no help topics match `{name}'"));
                status = 1;
            }
        }
    }
    Ok(status)
}

pub(super) fn unsupported(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    shell.complain_as(&arguments[0], "not supported: the shell is not interactive");
    Ok(2)
}
