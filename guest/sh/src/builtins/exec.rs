//! `exec`

use super::options;
use crate::state::{Shell, Stop};

/// What `exec` is asked to do.
pub enum ExecRequest {
    /// The redirections are for the shell itself.
    Files,
    /// A program takes the shell's place.
    Program {
        /// The program and its arguments.
        arguments: Vec<String>,
        /// With an empty environment.
        empty: bool,
    },
    /// The options were wrong.
    Failed(u8),
}

/// Reads the arguments of `exec`.
pub fn exec_request(shell: &mut Shell, arguments: &[String]) -> Result<ExecRequest, Stop> {
    let given = match options::read(shell, arguments, "cla:") {
        Ok(given) => given,
        Err(status) => return Ok(ExecRequest::Failed(status)),
    };
    if given.has(b'l') || given.has(b'a') {
        shell.complain_as("exec", "-a and -l are not supported: a program is found by its name");
        return Ok(ExecRequest::Failed(2));
    }
    let rest = arguments[given.rest..].to_vec();
    if rest.is_empty() {
        return Ok(ExecRequest::Files);
    }
    Ok(ExecRequest::Program { arguments: rest, empty: given.has(b'c') })
}
