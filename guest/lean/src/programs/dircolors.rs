//! `dircolors`: the colours of `ls`.
//!
//! There is no terminal that shows colours, so the answer is the one for terminals without.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Program, Syntax};

/// `dircolors`.
pub(crate) const PROGRAM: Program = Program {
    name: "dircolors",
    operands: &["[OPTION]..."],
    about: "Output commands to set the LS_COLORS environment variable: to nothing, for there are no colours here.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "sh", "output Bourne shell code to set LS_COLORS"),
        Opt::flag('c', "csh", "output C shell code to set LS_COLORS"),
    ],
    failure: 1,
    run: |call| match call.at_most(0) {
        Ok(()) if call.options.last().is_some_and(|last| last.option == "csh") => call.print("setenv LS_COLORS ''\n"),
        Ok(()) => call.print("LS_COLORS='';\nexport LS_COLORS\n"),
        Err(code) => code,
    },
};
