//! `shift`

use crate::arith;
use crate::state::options::Shopt;
use crate::state::{Shell, Stop};

pub(super) fn shift(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    if arguments.len() > 2 {
        shell.complain_as("shift", "too many arguments");
        shell.status = 1;
        return Err(Stop::Abandon);
    }
    let count = match arguments.get(1).map(|a| (a, arith::integer(a))) {
        None => 1,
        Some((_, Some(count))) if count >= 0 => count as usize,
        Some((argument, Some(_))) => {
            shell.complain_as("shift", &format!("{argument}: shift count out of range"));
            return Ok(1);
        }
        Some((argument, None)) => {
            shell.complain_as("shift", &format!("{argument}: numeric argument required"));
            return Ok(1);
        }
    };
    if count > shell.positional.len() {
        if shell.options.shopt(Shopt::SHIFT_VERBOSE) {
            shell.complain_as("shift", &format!("{count}: shift count out of range"));
        }
        return Ok(1);
    }
    shell.positional.shift(count);
    Ok(0)
}
