//! `hostname`: the sandbox's name.

use isopod_gnu::options::Opt;
use isopod_gnu::output::read_file;
use isopod_gnu::program::{Call, Program, Syntax};

/// `hostname`.
pub(crate) const PROGRAM: Program = Program {
    name: "hostname",
    operands: &["[OPTION]"],
    about: "Print the name of this system.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('s', "short", "short host name"),
        Opt::flag('f', "fqdn", "long host name"),
        Opt::long("long", ""),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if !call.operands.is_empty() {
        call.complain("you must be root to change the host name");
        return 1;
    }
    let name = name();
    let short = if call.has("short") { name.split('.').next().unwrap_or_default() } else { &name };
    call.print(&format!("{short}\n"))
}

/// Returns the name in `/etc/hostname`.
pub(super) fn name() -> String {
    let bytes = read_file("/etc/hostname", 4096).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    match text.lines().next().map(str::trim) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => "isopod".to_owned(),
    }
}
