//! `mkfifo`: refused. A process could wait for ever at a pipe with a name.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `mkfifo`.
pub(crate) const PROGRAM: Program = Program {
    name: "mkfifo",
    operands: &["[OPTION]... NAME..."],
    about: "Create named pipes: not possible in a sandbox. Process substitution, <(command), does without.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('m', "mode", "set file permission bits to MODE").takes("MODE")],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    for name in &call.operands {
        call.complain(&format!("cannot create fifo {}: Operation not supported", quote::shell(name)));
    }
    1
}
