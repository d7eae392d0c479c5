//! `arch`: the machine's kind.

use super::uname::MACHINE;
use isopod_gnu::program::{Program, Syntax};

/// `arch`.
pub(crate) const PROGRAM: Program = Program {
    name: "arch",
    operands: &["[OPTION]..."],
    about: "Print machine architecture.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| match call.at_most(0) {
        Ok(()) => call.print(&format!("{MACHINE}\n")),
        Err(code) => code,
    },
};
