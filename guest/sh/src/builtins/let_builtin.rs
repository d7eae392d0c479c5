//! `let`

use crate::state::{Shell, Stop};

pub(super) fn let_builtin(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    if arguments.len() < 2 {
        shell.complain_as("let", "expression expected");
        return Ok(1);
    }
    let mut last = 0;
    for expression in &arguments[1..] {
        match shell.evaluate_for("let", expression) {
            Ok(value) => last = value,
            Err(Stop::Discard) => return Ok(1),
            Err(stop) => return Err(stop),
        }
    }
    Ok(u8::from(last == 0))
}
