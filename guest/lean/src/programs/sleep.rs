//! `sleep`: a pause.

use std::time::Duration;

use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{duration, quote};

/// `sleep`.
pub(crate) const PROGRAM: Program = Program {
    name: "sleep",
    operands: &["NUMBER[SUFFIX]...", "OPTION"],
    about: "Pause for NUMBER seconds, where NUMBER is an integer or floating-point.\n\
            SUFFIX may be 's','m','h', or 'd', for seconds, minutes, hours, days.\n\
            With multiple arguments, pause for the sum of their values.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    let mut total = Duration::ZERO;
    let mut wrong = false;
    for operand in &call.operands {
        match duration::parse(operand) {
            Some(time) => total += time,
            None => {
                call.complain(&format!("invalid time interval {}", quote::plain(operand)));
                wrong = true;
            }
        }
    }
    if wrong {
        return call.hint();
    }
    std::thread::sleep(total);
    0
}
