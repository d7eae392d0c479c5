//! `which`: the program that a name runs.

use isopod_sys::files::{self, Kind};

use isopod_gnu::accounts;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

/// `which`.
pub(crate) const PROGRAM: Program = Program {
    name: "which",
    operands: &["[-a] COMMAND..."],
    about: "Print the full path of each COMMAND, as it is found in PATH.",
    syntax: Syntax::OptionsFirst,
    options: &[Opt::letter('a', "all", "print all matching executables in PATH, not just the first")],
    failure: 2,
    run,
};

fn run(call: &Call) -> u8 {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut out = Out::new();
    let mut code = u8::from(call.operands.is_empty());
    for name in &call.operands {
        let candidates = if name.contains('/') {
            vec![name.clone()]
        } else {
            path.split(':').map(|dir| format!("{}/{name}", if dir.is_empty() { "." } else { dir })).collect()
        };
        let mut found = candidates.iter().filter(|candidate| !name.is_empty() && is_program(candidate)).peekable();
        if found.peek().is_none() {
            code = 1;
        }
        let wanted = if call.has("all") { usize::MAX } else { 1 };
        for candidate in found.take(wanted) {
            out.push(candidate.as_bytes());
            out.byte(b'\n');
        }
    }
    call.finish(out, code)
}

fn is_program(path: &str) -> bool {
    files::stat(path, true).is_ok_and(|found| {
        let bit = match (found.uid, found.gid) {
            (accounts::USER, _) => 0o100,
            (_, accounts::GROUP) => 0o010,
            _ => 0o001,
        };
        found.kind == Kind::File && found.mode & bit != 0
    })
}
