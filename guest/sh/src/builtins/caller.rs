//! `caller`

use crate::state::{Origin, Shell, Stop};

pub(super) fn caller(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    if shell.calls.is_empty() {
        return Ok(1);
    }
    let depth = shell.calls.len();
    // The frame below the outermost call is the main program.
    let main = if shell.origin == Origin::Script { shell.name.to_string() } else { "NULL".to_owned() };
    let Some(argument) = arguments.get(1) else {
        let line = shell.calls[depth - 1].line;
        let source = depth.checked_sub(2).map_or(main, |i| shell.calls[i].source.to_string());
        shell.print(&format!("{line} {source}\n"));
        return Ok(0);
    };
    let Some(level) = crate::arith::integer(argument).filter(|n| *n >= 0) else {
        shell.complain_as("caller", &format!("{argument}: invalid number"));
        return Ok(2);
    };
    let Some(at) = depth.checked_sub(1 + level as usize) else { return Ok(1) };
    let line = shell.calls[at].line;
    match at.checked_sub(1) {
        Some(below) => {
            let (name, source) = (shell.calls[below].name.clone(), shell.calls[below].source.clone());
            shell.print(&format!("{line} {name} {source}\n"));
            Ok(0)
        }
        None if shell.origin == Origin::Script => {
            shell.print(&format!("{line} main {main}\n"));
            Ok(0)
        }
        None => Ok(1),
    }
}
