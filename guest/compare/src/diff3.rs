//! stub
use isopod_gnu::program::{Program, Syntax};
pub(crate) const PROGRAM: Program = Program { name: "diff3", operands: &[""], about: "", syntax: Syntax::Mixed, options: &[], failure: 2, run: |_| 2 };
