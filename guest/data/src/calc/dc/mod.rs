//! `dc`: a calculator with a stack.

mod machine;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

use machine::Machine;

/// `dc`.
pub(crate) const PROGRAM: Program = Program {
    name: "dc",
    operands: &["[OPTION] [file ...]"],
    about: "Calculate in reverse Polish notation with numbers of any length.\n\
            Without expressions and files, standard input is read. The command ! runs nothing here.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('e', "expression", "evaluate expression").takes("EXPR"),
        Opt::flag('f', "file", "evaluate contents of file").takes("FILE"),
        Opt::letter('h', "help", ""),
        Opt::letter('V', "version", ""),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if call.has("help") {
        return call.help();
    }
    if call.has("version") {
        return call.version();
    }
    let mut machine = Machine::new();
    let mut has_script = false;
    for found in &call.options {
        let Some(value) = &found.value else { continue };
        has_script = true;
        let goes_on = if found.option == "expression" {
            machine.run(value.as_bytes().to_vec())
        } else {
            run_file(call, &mut machine, value)
        };
        if !goes_on {
            return call.finish(machine.out, 0);
        }
    }
    let standard_input = ["-".to_owned()];
    let files = if call.operands.is_empty() && !has_script { standard_input.as_slice() } else { &call.operands };
    for path in files {
        if !run_file(call, &mut machine, path) {
            break;
        }
    }
    call.finish(machine.out, 0)
}

fn run_file(call: &Call, machine: &mut Machine, path: &str) -> bool {
    if path == "-" {
        // A typed line is answered before the next one is read, and `?` continues to read after the program.
        while let Some(line) = machine.next_line() {
            if !machine.run(line) {
                return false;
            }
        }
        return true;
    }
    match Input::open(path).and_then(|input| input.read_all()) {
        Ok(bytes) => machine.run(bytes),
        Err(_) => {
            call.complain(&format!("Could not open file {path}"));
            true
        }
    }
}
