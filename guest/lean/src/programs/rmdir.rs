//! `rmdir`: removes empty directories.

use isopod_sys::{Errno, fs, text};

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::trim_slashes;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::shell;

/// `rmdir`.
pub(crate) const PROGRAM: Program = Program {
    name: "rmdir",
    operands: &["[OPTION]... DIRECTORY..."],
    about: "Remove the DIRECTORY(ies), if they are empty.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::long("ignore-fail-on-non-empty", "ignore each failure to remove a non-empty directory"),
        Opt::flag('p', "parents", "remove DIRECTORY and its ancestors"),
        Opt::flag('v', "verbose", "output a diagnostic for every directory processed"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    let mut out = Out::new();
    let mut code = 0;
    for path in &call.operands {
        let mut rest = path.as_str();
        loop {
            if call.has("verbose") {
                out.push(format!("{}: removing directory, {}\n", call.name, shell(rest)).as_bytes());
            }
            if let Err(errno) = fs::remove_dir(rest) {
                if !(call.has("ignore-fail-on-non-empty") && errno == Errno::NotEmpty) {
                    let what = if rest == path { "failed to remove" } else { "failed to remove directory" };
                    call.complain(&format!("{what} {}: {}", shell(rest), text(errno)));
                    code = 1;
                }
                break;
            }
            match trim_slashes(rest).rfind('/') {
                Some(at) if call.has("parents") && at > 0 => rest = trim_slashes(&rest[..at]),
                _ => break,
            }
        }
    }
    call.finish(out, code)
}
