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
        /// `-a`: what the program is told its name is.
        name: Option<String>,
        /// `-c`: with an empty environment.
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
    let rest = arguments[given.rest..].to_vec();
    // A login shell is told by a dash before its name.
    let login = given.has(b'l').then(|| rest.first().map(|n| format!("-{n}"))).flatten();
    let name = given.value(b'a').map(str::to_owned).or(login);
    if rest.is_empty() {
        return Ok(ExecRequest::Files);
    }
    Ok(ExecRequest::Program { arguments: rest, name, empty: given.has(b'c') })
}
