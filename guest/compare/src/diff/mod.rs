//! `diff`: compares files and trees.
//!
//! # Layout
//! - `settings`: the options
//! - `pair`: the comparison of two files
//! - `tree`: directories
//! - `hunk`: groups of changes, and changes to ignore
//! - `plain`, `context`, `unified`, `side`: the formats
//! - `paint`: output of a line with tabs and colours

mod context;
mod hunk;
mod paint;
mod pair;
mod plain;
mod settings;
mod side;
mod tree;
mod unified;

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use settings::Settings;

/// `diff`.
pub(crate) const PROGRAM: Program = Program {
    name: "diff",
    operands: &["[OPTION]... FILES"],
    about: "Compare FILES line by line. FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\n\
            If a FILE is '-', read standard input. Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
    syntax: Syntax::Mixed,
    options: settings::OPTIONS,
    failure: 2,
    run,
};

/// The exit code when two files could not be compared.
const TROUBLE: u8 = 2;

/// One run.
struct Diff<'a> {
    call: &'a Call,
    settings: Settings,
    out: Out,
}

fn run(call: &Call) -> u8 {
    let settings = match Settings::new(call) {
        Ok(settings) => settings,
        Err(message) => return call.misused(&message),
    };
    let mut diff = Diff { call, settings, out: Out::new() };
    let mut code = 0;
    let pairs: Vec<(String, String)> = match (&diff.settings.from_file, &diff.settings.to_file) {
        (Some(from), None) => call.operands.iter().map(|operand| (from.clone(), operand.clone())).collect(),
        (None, Some(to)) => call.operands.iter().map(|operand| (operand.clone(), to.clone())).collect(),
        (Some(_), Some(_)) => return call.misused("--from-file and --to-file both specified"),
        (None, None) => match call.operands.as_slice() {
            [first, second] => vec![(first.clone(), second.clone())],
            [] | [_] => {
                let last = call.operands.first().map_or_else(|| call.name.clone(), String::clone);
                return call.misused(&format!("missing operand after {}", isopod_gnu::quote::plain(&last)));
            }
            [_, _, extra, ..] => {
                return call.misused(&format!("extra operand {}", isopod_gnu::quote::plain(extra)));
            }
        },
    };
    for (first, second) in pairs {
        code = code.max(diff.operands(&first, &second));
    }
    let Diff { out, .. } = diff;
    call.finish(out, code)
}
