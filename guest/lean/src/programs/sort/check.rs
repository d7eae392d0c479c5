//! `sort -c`: checks the order of lines.

use std::cmp::Ordering;

use super::merge::Source;
use super::{Settings, open};
use isopod_gnu::program::Call;
use isopod_gnu::quote;

/// Checks the order of the one input: exit code 0 or 1.
pub(super) fn run(call: &Call, settings: &Settings, inputs: &[&str], quiet: bool) -> Result<u8, u8> {
    let failed = |message: String| {
        call.complain(&message);
        2
    };
    if let [_, extra, ..] = inputs {
        let letter = if quiet { 'C' } else { 'c' };
        return Err(failed(format!("extra operand {} not allowed with -{letter}", quote::plain(extra))));
    }
    let path = inputs.first().copied().unwrap_or("-");
    let mut source = Source::file(open(path).map_err(failed)?, settings.end);
    if !source.first().map_err(failed)? {
        return Ok(0);
    }
    let mut number = 1;
    let mut last = source.line().to_vec();
    while source.advance().map_err(failed)? {
        number += 1;
        let line = source.line();
        let order = settings.compare(&last, line);
        if order == Ordering::Greater || settings.unique && order == Ordering::Equal {
            if !quiet {
                let shown = String::from_utf8_lossy(line);
                call.complain(&format!("{path}:{number}: disorder: {shown}"));
            }
            return Ok(1);
        }
        last.clear();
        last.extend_from_slice(line);
    }
    Ok(0)
}
