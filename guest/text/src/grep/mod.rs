//! `grep`, `egrep`, `fgrep`: print lines that match patterns.
//!
//! # Layout
//! - `table`, `options`: the options and their values
//! - `matcher`: the compiled patterns
//! - `scan`: the search of one file, in large pieces
//! - `print`, `color`: output of lines with prefixes and colours
//! - `walk`: the files to search
//! - `filter`: `--include` and `--exclude`

mod color;
mod filter;
mod matcher;
mod options;
mod print;
mod scan;
mod table;
mod walk;

use isopod_gnu::program::{Call, Program, Syntax};

use options::Options;

/// `grep`.
pub(crate) const GREP: Program = program("grep", |call| run(call, None));

/// `egrep`.
pub(crate) const EGREP: Program = program("egrep", |call| run(call, Some("extended-regexp")));

/// `fgrep`.
pub(crate) const FGREP: Program = program("fgrep", |call| run(call, Some("fixed-strings")));

const fn program(name: &'static str, run: fn(&Call) -> u8) -> Program {
    Program {
        name,
        operands: &["[OPTION]... PATTERNS [FILE]..."],
        about: "Search for PATTERNS in each FILE. PATTERNS can contain multiple patterns separated by newlines.\n\
                When FILE is '-', read standard input. With no FILE, read '.' if recursive, '-' otherwise.\n\
                Exit status is 0 if any line is selected, 1 otherwise; if any error occurs, it is 2.",
        syntax: Syntax::Mixed,
        options: table::OPTIONS,
        failure: 2,
        run,
    }
}

fn run(call: &Call, matcher: Option<&'static str>) -> u8 {
    let options = match Options::read(call, matcher) {
        Ok(options) => options,
        Err(code) => return code,
    };
    // No line can be selected, so neither the patterns nor the files are read.
    if options.most == 0 && !call.has("files-without-match") {
        return 1;
    }
    match matcher::Matcher::new(&options) {
        Ok(matcher) => walk::Walk::new(call, &options, &matcher).run(),
        Err(message) => {
            call.complain(&message);
            2
        }
    }
}
