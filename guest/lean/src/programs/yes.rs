//! `yes`: repeats a line for ever.

use isopod_sys::{text, write_all};

use isopod_gnu::output::PIECE;
use isopod_gnu::program::{Call, Program, Syntax};

/// `yes`.
pub(crate) const PROGRAM: Program = Program {
    name: "yes",
    operands: &["[STRING]...", "OPTION"],
    about: "Repeatedly output a line with all specified STRINGs, or 'y'.",
    syntax: Syntax::OptionsFirst,
    options: &[],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let mut line = if call.operands.is_empty() { "y".to_owned() } else { call.operands.join(" ") };
    line.push('\n');
    // One write of a piece moves thousands of lines.
    let piece = line.repeat((PIECE / line.len()).max(1));
    loop {
        if let Err(errno) = write_all(1, piece.as_bytes()) {
            call.complain(&format!("standard output: {}", text(errno)));
            return 1;
        }
    }
}
