//! `times`

use crate::exec;
use crate::state::{Shell, Stop};

/// Prints the CPU time of the shell and its children.
pub(super) fn times(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.print(&exec::times());
    Ok(0)
}
