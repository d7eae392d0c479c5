//! `command`

use super::options;
use super::type_builtin;
use crate::state::{Shell, Stop};

/// The request that the arguments of `command` make.
pub enum CommandRequest {
    /// `-v` or `-V`: the answer has been printed, and this is the status.
    Done(u8),
    /// The command that starts at this argument is run.
    Run(usize),
}

/// Reads the arguments of `command`.
pub fn command(shell: &mut Shell, arguments: &[String]) -> Result<CommandRequest, Stop> {
    let given = match options::read(shell, arguments, "pvV") {
        Ok(given) => given,
        Err(status) => return Ok(CommandRequest::Done(status)),
    };
    let rest = &arguments[given.rest..];
    if rest.is_empty() {
        return Ok(CommandRequest::Done(0));
    }
    if given.has(b'v') || given.has(b'V') {
        let mut found = false;
        for name in rest {
            found |= type_builtin::describe(shell, name, given.has(b'V'), "command");
        }
        return Ok(CommandRequest::Done(u8::from(!found)));
    }
    Ok(CommandRequest::Run(given.rest))
}
