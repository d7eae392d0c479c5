//! `exec`

use super::options;
use crate::state::{Shell, Stop};

/// The request that the arguments of `exec` make.
pub enum ExecRequest {
    /// There is no command: the redirections apply to the shell itself.
    Files,
    /// A program replaces the shell.
    Program {
        /// The program and its arguments.
        arguments: Vec<String>,
        /// `-a`: the program's `argv[0]`.
        name: Option<String>,
        /// `-c`: with an empty environment.
        empty: bool,
    },
    /// The options were wrong. The status.
    Failed(u8),
}

/// Reads the arguments of `exec`.
pub fn exec_request(shell: &mut Shell, arguments: &[String]) -> Result<ExecRequest, Stop> {
    let given = match options::read(shell, arguments, "cla:") {
        Ok(given) => given,
        Err(status) => return Ok(ExecRequest::Failed(status)),
    };
    let rest = arguments[given.rest..].to_vec();
    // A dash before the name marks a login shell.
    let login = given.has(b'l').then(|| rest.first().map(|n| format!("-{n}"))).flatten();
    let name = given.value(b'a').map(str::to_owned).or(login);
    if rest.is_empty() {
        return Ok(ExecRequest::Files);
    }
    Ok(ExecRequest::Program { arguments: rest, name, empty: given.has(b'c') })
}
