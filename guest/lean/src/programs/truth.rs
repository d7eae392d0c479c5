//! `true` and `false`: an exit code and nothing else.

use isopod_gnu::program::{Call, Program, Syntax};

/// `true`.
pub(crate) const TRUE: Program = Program {
    name: "true",
    operands: &["[ignored command line arguments]", "OPTION"],
    about: "Exit with a status code indicating success.",
    syntax: Syntax::Plain,
    options: &[],
    failure: 1,
    run: |_: &Call| 0,
};

/// `false`.
pub(crate) const FALSE: Program = Program {
    name: "false",
    about: "Exit with a status code indicating failure.",
    syntax: Syntax::Own,
    run: |call: &Call| {
        // It fails even when asked for help, like GNU's.
        match call.operands.as_slice() {
            [only] if only == "--help" => call.help(),
            [only] if only == "--version" => call.version(),
            _ => 0,
        };
        1
    },
    ..TRUE
};
