//! The GNU core utilities, from uutils.
//!
//! One component for all, because they share an argument parser and its tables. What runs often, and what needs
//! modes, owners or processes, is in `isopod-lean`: uutils compiled for WASI knows none of these.

mod programs;
mod stdio;

use std::ffi::OsString;
use std::io::Write;

fn main() {
    isopod_sys::entry(|| {
        let args: Vec<OsString> = std::env::args_os().collect();
        // The kernel says which one runs: the first argument is whatever the caller likes it to be.
        let base = isopod_sys::process::program();
        let Some(program) = programs::find(&base) else {
            complain("isopod-coreutils", &format!("{base}: no such program"));
            return 127;
        };
        if let Some(option) = unsupported(&base, &args) {
            complain(&base, &format!("unsupported option '{option}'"));
            return 1;
        }
        if let Err(error) = uucore::locale::setup_localization(&base) {
            complain(&base, &format!("cannot read its messages: {error}"));
            return 125;
        }
        let code = program(args);
        match std::io::stdout().flush() {
            Ok(()) => code as u8,
            // One that has failed has said so.
            Err(_) if code != 0 => code as u8,
            Err(error) => {
                complain(&base, &format!("write error: {}", uucore::error::strip_errno(&error)));
                1
            }
        }
    })
}

/// An option that uutils reads and, compiled for WASI, does not obey. None of these may pass for done.
fn unsupported(program: &str, args: &[OsString]) -> Option<&'static str> {
    let options = args.iter().skip(1).filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--");
    // Long options may be abbreviated: `--f` is the shortest that can only mean this one.
    let mut names = options.map(|arg| arg.split('=').next().unwrap_or_default()).filter(|name| name.len() > 2);
    match program {
        "split" if names.any(|name| "--filter".starts_with(name)) => Some("--filter"),
        _ => None,
    }
}

fn complain(name: &str, message: &str) {
    // There is no place left to report that standard error is gone.
    let _ = isopod_sys::write_all(2, format!("{name}: {message}\n").as_bytes());
}
