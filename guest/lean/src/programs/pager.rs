//! `less` and `more`: without a terminal to stop at, they are `cat`.

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::name;
use isopod_sys::text;

/// `less`. Its options are about a screen, which a sandbox does not have, but for `-N`.
pub(crate) const LESS: Program = Program {
    name: "less",
    operands: &["[OPTION]... [FILE]..."],
    about: "Print each FILE: there is no terminal to show it on by the page.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('e', "quit-at-eof", "(accepted)"),
        Opt::flag('E', "QUIT-AT-EOF", "(accepted)"),
        Opt::flag('F', "quit-if-one-screen", "(accepted)"),
        Opt::flag('i', "ignore-case", "(accepted)"),
        Opt::flag('I', "IGNORE-CASE", "(accepted)"),
        Opt::flag('n', "line-numbers", "(accepted)"),
        Opt::flag('r', "raw-control-chars", "(accepted: control characters are always printed)"),
        Opt::flag('R', "RAW-CONTROL-CHARS", "(accepted)"),
        Opt::flag('S', "chop-long-lines", "(accepted: lines are never cut)"),
        Opt::flag('X', "no-init", "(accepted)"),
    ],
    failure: 1,
    run,
};

/// `more`.
pub(crate) const MORE: Program = Program {
    name: "more",
    operands: &["[OPTION]... FILE..."],
    about: "Print each FILE: there is no terminal to show it on by the page.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('d', "silent", "(accepted)"),
        Opt::flag('f', "logical", "(accepted)"),
        Opt::flag('c', "print-over", "(accepted)"),
        Opt::flag('p', "clean-print", "(accepted)"),
        Opt::flag('e', "exit-on-eof", "(accepted)"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let mut out = Out::new();
    let mut code = 0;
    // `more` shows the name of each file.
    let headed = call.program.name == "more" && !call.operands.is_empty();
    for path in or_standard_input(&call.operands) {
        let mut copy = || {
            let input = Input::open(path)?;
            if headed {
                out.push(format!("::::::::::::::\n{path}\n::::::::::::::\n").as_bytes());
            }
            loop {
                let piece = input.read()?;
                if piece.is_empty() || out.has_failed() {
                    return Ok(());
                }
                out.push(&piece);
            }
        };
        if let Err(errno) = copy() {
            call.complain(&format!("{}: {}", name(path), text(errno)));
            code = 1;
        }
    }
    call.finish(out, code)
}
