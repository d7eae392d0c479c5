//! `whoami`: the user's name.

use isopod_gnu::accounts;
use isopod_gnu::program::{Call, Program, Syntax};

/// `whoami`.
pub(crate) const PROGRAM: Program = Program {
    name: "whoami",
    operands: &["[OPTION]..."],
    about: "Print the user name associated with the current effective user ID.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if let Err(code) = call.at_most(0) {
        return code;
    }
    match accounts::user_name(accounts::USER) {
        Some(name) => call.print(&format!("{name}\n")),
        None => {
            call.complain(&format!("cannot find name for user ID {}", accounts::USER));
            1
        }
    }
}
