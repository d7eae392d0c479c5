//! `ulimit`

use super::options;
use crate::state::{Shell, Stop};

/// Shows the sandbox's limits as far as they are known. They are set from outside, so setting one succeeds only for its
/// present value.
pub(super) fn ulimit(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "SHabcdefiklmnpqrstuvxPRT") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let kind = given.options.iter().map(|(l, _)| *l).rfind(|l| !b"SHa".contains(l)).unwrap_or(b'f');
    let value = match kind {
        b'n' => "256",
        b'u' => "64",
        b'c' => "0",
        b's' => "8192",
        b'p' => "8",
        _ => "unlimited",
    };
    match arguments.get(given.rest).map(String::as_str) {
        None => {
            shell.print(&format!("{value}\n"));
            Ok(0)
        }
        Some(wanted) if wanted == value || wanted == "hard" || wanted == "soft" || (kind == b'c' && wanted == "0") => {
            Ok(0)
        }
        Some(wanted) if wanted != "unlimited" && wanted.parse::<u64>().is_err() => {
            shell.complain_as("ulimit", &format!("{wanted}: invalid number"));
            Ok(1)
        }
        Some(_) => {
            shell.complain_as("ulimit", "cannot modify limit: Operation not permitted");
            Ok(1)
        }
    }
}
