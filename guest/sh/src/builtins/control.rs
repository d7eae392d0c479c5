//! `break`, `continue`, `return`, `exit`

use crate::exec::Control;
use crate::state::options::SetOption;
use crate::state::{Shell, Stop};

pub(super) fn break_loop(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    leave_loops(shell, arguments, Stop::Break)
}

pub(super) fn continue_loop(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    leave_loops(shell, arguments, Stop::Continue)
}

fn leave_loops(shell: &mut Shell, arguments: &[String], stop: fn(u32) -> Stop) -> Result<u8, Stop> {
    let loops = shell.controls[shell.floor..]
        .iter()
        .rev()
        .take_while(|c| !matches!(c, Control::Call(_)))
        .filter(|c| matches!(c, Control::Loop(_)))
        .count() as u32;
    if loops == 0 {
        if !shell.options.has(SetOption::POSIX) {
            shell.complain_as(&arguments[0], "only meaningful in a `for', `while', or `until' loop");
        }
        return Ok(0);
    }
    refuse_more(shell, arguments)?;
    shell.status = 0;
    let levels = match arguments.get(1).map(|a| (a, crate::arith::integer(a))) {
        None => 1,
        Some((_, Some(levels))) if levels > 0 => u32::try_from(levels).unwrap_or(u32::MAX),
        Some((argument, Some(_))) => {
            shell.complain_as(&arguments[0], &format!("{argument}: loop count out of range"));
            shell.status = 1;
            // A count beyond the number of loops leaves all of them.
            return Err(Stop::Break(loops));
        }
        Some((argument, None)) => {
            shell.complain_as(&arguments[0], &format!("{argument}: numeric argument required"));
            shell.status = 128;
            return Err(Stop::Exit);
        }
    };
    Err(stop(levels.min(loops)))
}

pub(super) fn return_from(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    refuse_more(shell, arguments)?;
    if shell.calls.is_empty() {
        status_argument(shell, arguments);
        shell.complain_as("return", "can only `return' from a function or sourced script");
        return Ok(2);
    }
    if let Some(status) = status_argument(shell, arguments) {
        shell.status = status;
    }
    Err(Stop::Return)
}

pub(super) fn exit(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    refuse_more(shell, arguments)?;
    if let Some(status) = status_argument(shell, arguments) {
        shell.status = status;
    }
    Err(Stop::Exit)
}

/// Refuses more than one argument, an error that gives up all texts that are running.
fn refuse_more(shell: &mut Shell, arguments: &[String]) -> Result<(), Stop> {
    if arguments.len() > 2 && crate::arith::integer(&arguments[1]).is_some() {
        shell.complain_as(&arguments[0], "too many arguments");
        shell.status = 1;
        return Err(Stop::Abandon);
    }
    Ok(())
}

/// Reads the status given as an argument, of which only eight bits count.
fn status_argument(shell: &mut Shell, arguments: &[String]) -> Option<u8> {
    let argument = match arguments.get(1)?.as_str() {
        "--" => arguments.get(2)?,
        argument => argument,
    };
    match crate::arith::integer(argument) {
        Some(status) => Some(status as u8),
        None => {
            shell.complain_as(&arguments[0], &format!("{argument}: numeric argument required"));
            Some(2)
        }
    }
}
