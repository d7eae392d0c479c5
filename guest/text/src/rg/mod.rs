//! `rg`: the parts of ripgrep that agents use.
//!
//! The output is that of ripgrep without a terminal. Files are searched one after the other in the order of their
//! names, which ripgrep guarantees only with `--sort path`.
//!
//! # Layout
//! - `table`, `options`: the options and their values
//! - `types`: file types by name
//! - `ignore`: `.gitignore` and the like, and `-g`
//! - `walk`: the files to search
//! - `matcher`: the compiled patterns
//! - `search`, `json`: the search of one file, and its output

mod ignore;
mod json;
mod matcher;
mod options;
mod search;
mod table;
mod types;
mod walk;

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use options::{Mode, Options};

/// `rg`.
pub(crate) const PROGRAM: Program = Program {
    name: "rg",
    operands: &["[OPTIONS] PATTERN [PATH ...]", "[OPTIONS] -e PATTERN ... [PATH ...]", "[OPTIONS] --files [PATH ...]"],
    about: "Recursively search the current directory for lines matching a pattern. By default .gitignore rules are\n\
            respected, and hidden files and binary files are skipped.",
    syntax: Syntax::Mixed,
    options: table::OPTIONS,
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let options = Options::read(call).map_err(|message| {
        call.complain(&message);
        2
    })?;
    if options.mode == Mode::TypeList {
        let mut out = Out::new();
        for (name, globs) in types::TYPES {
            out.push(format!("{name}: {}\n", globs.join(", ")).as_bytes());
        }
        return Ok(call.finish(out, 0));
    }
    // An empty list of patterns matches nothing.
    if options.patterns.is_empty() && options.mode != Mode::Files {
        return Ok(1);
    }
    walk::Walk::new(call, &options).and_then(walk::Walk::run)
}
