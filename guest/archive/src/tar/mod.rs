//! Stub.
use isopod_gnu::program::{Program, Syntax};
pub(crate) const PROGRAM: Program = Program { name: "tar", operands: &[], about: "", syntax: Syntax::Own, options: &[], failure: 1, run: |_| 1 };
