//! `pwd`: the working directory.

use isopod_sys::{files, process};

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

/// `pwd`.
pub(crate) const PROGRAM: Program = Program {
    name: "pwd",
    operands: &["[OPTION]..."],
    about: "Print the full filename of the current working directory.\nIf no option is specified, -P is assumed.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('L', "logical", "use PWD from environment, even if it contains symlinks"),
        Opt::flag('P', "physical", "avoid all symlinks"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if !call.operands.is_empty() {
        call.complain("ignoring non-option arguments");
    }
    let logical = match call.options.last() {
        Some(found) => found.option == "logical",
        None => std::env::var_os("POSIXLY_CORRECT").is_some(),
    };
    let directory = logical.then(from_environment).flatten().unwrap_or_else(process::cwd);
    call.print(&format!("{directory}\n"))
}

/// Returns `$PWD`, if it still names the working directory and has no `.` or `..` in it.
fn from_environment() -> Option<String> {
    let directory = std::env::var("PWD").ok()?;
    if !directory.starts_with('/') || directory.split('/').any(|part| part == "." || part == "..") {
        return None;
    }
    let (named, here) = (files::stat(&directory, true).ok()?, files::stat(".", true).ok()?);
    ((named.device, named.inode) == (here.device, here.inode)).then_some(directory)
}
