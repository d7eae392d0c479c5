//! `uname`: the name of the system.

use super::hostname;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

/// Scripts derive tools and paths from the kernel's name, and those of a sandbox are Linux's.
const KERNEL: &str = "Linux";
const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), "-isopod");
const VERSION: &str = concat!("Isopod ", env!("CARGO_PKG_VERSION"));
/// The true machine, so that no script downloads a native binary.
pub(super) const MACHINE: &str = "wasm32";
const SYSTEM: &str = "GNU/Linux";

/// `uname`.
pub(crate) const PROGRAM: Program = Program {
    name: "uname",
    operands: &["[OPTION]..."],
    about: "Print certain system information.  With no OPTION, same as -s.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all", "print all information, in the following order, except omit -p and -i if unknown:"),
        Opt::flag('s', "kernel-name", "print the kernel name"),
        Opt::flag('n', "nodename", "print the network node hostname"),
        Opt::flag('r', "kernel-release", "print the kernel release"),
        Opt::flag('v', "kernel-version", "print the kernel version"),
        Opt::flag('m', "machine", "print the machine hardware name"),
        Opt::flag('p', "processor", "print the processor type (non-portable)"),
        Opt::flag('i', "hardware-platform", "print the hardware platform (non-portable)"),
        Opt::flag('o', "operating-system", "print the operating system"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    if let Err(code) = call.at_most(0) {
        return code;
    }
    let all = call.has("all");
    let node = if all || call.has("nodename") { hostname::name() } else { String::new() };
    let parts = [
        ("kernel-name", KERNEL),
        ("nodename", &node),
        ("kernel-release", RELEASE),
        ("kernel-version", VERSION),
        ("machine", MACHINE),
        ("processor", "unknown"),
        ("hardware-platform", "unknown"),
        ("operating-system", SYSTEM),
    ];
    let wanted = |option: &str, value: &str| {
        if all { value != "unknown" } else { call.has(option) || call.options.is_empty() && option == "kernel-name" }
    };
    let chosen: Vec<&str> = parts.iter().filter(|(o, value)| wanted(o, value)).map(|(_, value)| *value).collect();
    call.print(&format!("{}\n", chosen.join(" ")))
}
