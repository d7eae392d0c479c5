//! `locate`, which fails: it needs an index of all files, and there is none in a sandbox.

use isopod_gnu::program::{Program, Syntax};

/// `locate`.
pub(crate) const PROGRAM: Program = Program {
    name: "locate",
    operands: &["PATTERN..."],
    about: "There is no index of files here: use find.",
    syntax: Syntax::Plain,
    options: &[],
    failure: 1,
    run: |call| {
        call.complain("there is no database of file names here; use find / -name PATTERN");
        1
    },
};
