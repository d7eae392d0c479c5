//! `times`

use crate::exec;
use crate::state::{Shell, Stop};

/// Prints how long the shell and its children have computed.
pub(super) fn times(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.print(&exec::times());
    Ok(0)
}
