//! sed
use isopod_gnu::program::{Program, Syntax};
pub(crate) const PROGRAM: Program =
    Program { name: "sed", operands: &[""], about: "", syntax: Syntax::Mixed, options: &[], failure: 2, run: |_| 2 };
