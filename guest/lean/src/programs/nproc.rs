//! `nproc`: the number of processors.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `nproc`.
pub(crate) const PROGRAM: Program = Program {
    name: "nproc",
    operands: &["[OPTION]..."],
    about: "Print the number of processing units available to the current process: one, it has no threads.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::long("all", "print the number of installed processors"),
        Opt::long("ignore", "if possible, exclude N processing units").takes("N"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    call.at_most(0)?;
    let ignored: u64 = match call.value("ignore") {
        None => 0,
        Some(text) => text.trim_start().parse().map_err(|_| {
            call.complain(&format!("invalid number: {}", quote::plain(text)));
            1
        })?,
    };
    let number = |name| std::env::var(name).ok().and_then(|value| value.split(',').next()?.trim().parse::<u64>().ok());
    let wanted = number("OMP_NUM_THREADS").filter(|count| *count > 0);
    let limit = number("OMP_THREAD_LIMIT").filter(|count| *count > 0).unwrap_or(u64::MAX);
    let count = if call.has("all") { 1 } else { wanted.unwrap_or(1).min(limit) };
    Ok(call.print(&format!("{}\n", count.saturating_sub(ignored).max(1))))
}
