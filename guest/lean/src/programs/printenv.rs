//! `printenv`: the environment, or some of it.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

/// `printenv`.
pub(crate) const PROGRAM: Program = Program {
    name: "printenv",
    operands: &["[OPTION]... [VARIABLE]..."],
    about: "Print the values of the specified environment VARIABLE(s).\n\
            If no VARIABLE is specified, print name and value pairs for them all.",
    syntax: Syntax::OptionsFirst,
    options: &[Opt::flag('0', "null", "end each output line with NUL, not newline")],
    failure: 2,
    run,
};

fn run(call: &Call) -> u8 {
    let end = if call.has("null") { 0 } else { b'\n' };
    let mut out = Out::new();
    let mut code = 0;
    if call.operands.is_empty() {
        for (name, value) in std::env::vars() {
            out.push(format!("{name}={value}").as_bytes());
            out.byte(end);
        }
    }
    for name in &call.operands {
        // A name with `=` is never set, and std panics on it.
        let value = if name.is_empty() || name.contains(['=', '\0']) { None } else { std::env::var(name).ok() };
        match value {
            Some(value) => {
                out.push(value.as_bytes());
                out.byte(end);
            }
            None => code = 1,
        }
    }
    call.finish(out, code)
}
