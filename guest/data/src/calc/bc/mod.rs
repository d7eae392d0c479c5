//! `bc`: a calculator with a language.

mod code;
mod lexer;
mod machine;
mod parser;

use std::cell::RefCell;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

use lexer::Lexer;
use machine::{Machine, Stop};
use parser::{Item, Names, Parser};

/// `bc`.
pub(crate) const PROGRAM: Program = Program {
    name: "bc",
    operands: &["[options] [file ...]"],
    about: "Calculate with numbers of any length.\nFiles are read first, then standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('i', "interactive", "(there is no terminal: no difference)"),
        Opt::flag('l', "mathlib", "use the predefined math routines"),
        Opt::flag('q', "quiet", "don't print initial banner"),
        Opt::flag('s', "standard", "(not supported)"),
        Opt::flag('w', "warn", "warn about non-standard bc constructs (there are no warnings)"),
        Opt::letter('h', "help", ""),
        Opt::letter('v', "version", ""),
    ],
    failure: 1,
    run,
};

/// The output of `limits`.
const LIMITS: &str = "BC_BASE_MAX     = 2147483647
BC_DIM_MAX      = 16777215
BC_SCALE_MAX    = 2147483647
BC_STRING_MAX   = 2147483647
MAX Exponent    = 9223372036854775807
Number of vars  = 32767
";

fn run(call: &Call) -> u8 {
    if call.has("standard") {
        return call.misused("unsupported option -- 's'");
    }
    if call.has("help") {
        return call.help();
    }
    if call.has("version") {
        return call.version();
    }
    let out = RefCell::new(Out::new());
    let mut machine = Machine::new(call.has("mathlib"));
    let mut names = Names::new();
    for path in call.operands.iter().map(String::as_str).chain(["-"]) {
        let Ok(input) = Input::open(path) else {
            call.complain(&format!("File {path} is unavailable."));
            return call.finish(out.into_inner(), 1);
        };
        let name = if path == "-" { "standard_in" } else { path };
        if !run_file(Lexer::new(input, name), &mut machine, &mut names, &out) {
            break;
        }
    }
    call.finish(out.into_inner(), 0)
}

/// Runs a file, line by line. Returns true if the next file is to be run.
fn run_file(lexer: Lexer, machine: &mut Machine, names: &mut Names, out: &RefCell<Out>) -> bool {
    let mut before = || out.borrow_mut().flush();
    let mut parser = Parser::new(lexer, names, &mut before);
    loop {
        let item = parser.item();
        let result = match item {
            Item::Code(code) => {
                let lexer = &mut parser.lexer;
                let mut read = || lexer.rest_of_line(&mut || out.borrow_mut().flush());
                let mut flush = |text: &mut Vec<u8>| {
                    out.borrow_mut().push(text);
                    text.clear();
                };
                machine.run(code, &mut read, &mut flush)
            }
            Item::Define(name, function) => {
                machine.functions.insert(name, function);
                Ok(())
            }
            Item::Quit => return false,
            Item::End => return true,
            Item::Error(message) => {
                complain(out, &message);
                Ok(())
            }
        };
        out.borrow_mut().push(&std::mem::take(&mut machine.lines.text));
        for warning in std::mem::take(&mut machine.warnings) {
            complain(out, &format!("Runtime warning (func=(main), adr=0): {warning}"));
        }
        match result {
            Ok(()) => {}
            Err(Stop::Halt) => return false,
            Err(Stop::Error(message)) => complain(out, &format!("Runtime error (func=(main), adr=0): {message}")),
        }
        if out.borrow().has_failed() {
            return false;
        }
    }
}

/// Prints a message on standard error, after all output before it.
fn complain(out: &RefCell<Out>, message: &str) {
    out.borrow_mut().flush();
    // There is no place left to report that standard error is gone.
    let _ = isopod_sys::write_all(2, format!("{message}\n").as_bytes());
}
