//! Stub.
use isopod_gnu::program::{Program, Syntax};
pub(crate) const ZIP: Program =
    Program { name: "zip", operands: &[], about: "", syntax: Syntax::Own, options: &[], failure: 1, run: |_| 1 };
pub(crate) const UNZIP: Program =
    Program { name: "unzip", operands: &[], about: "", syntax: Syntax::Own, options: &[], failure: 1, run: |_| 1 };
