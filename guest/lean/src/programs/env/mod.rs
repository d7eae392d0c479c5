//! `env`: runs a program in a changed environment.

mod split;

use isopod_sys::process::{self, Disposition};
use isopod_sys::{Errno, text};

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::{child, quote, signals};

/// `env`.
pub(crate) const PROGRAM: Program = Program {
    name: "env",
    operands: &["[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]"],
    about: "Set each NAME to VALUE in the environment and run COMMAND.\n\
            A mere - implies -i.  If no COMMAND, print the resulting environment.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('i', "ignore-environment", "start with an empty environment"),
        Opt::flag('0', "null", "end each output line with NUL, not newline"),
        Opt::flag('u', "unset", "remove variable from the environment").takes("NAME"),
        Opt::flag('C', "chdir", "change working directory to DIR").takes("DIR"),
        Opt::flag('S', "split-string", "split S into separate arguments").takes("S"),
        Opt::long("default-signal", "reset handling of SIG to the default").may_take("SIG"),
        Opt::long("ignore-signal", "set handling of SIG to do nothing").may_take("SIG"),
    ],
    failure: 125,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let args = split::expand(call.operands.clone()).map_err(|message| call.misused(&message))?;
    let call = call.read_operands(args, false)?;

    let mut operands = call.operands.as_slice();
    let mut empty = call.has("ignore-environment");
    if let Some((first, rest)) = operands.split_first()
        && first == "-"
    {
        (empty, operands) = (true, rest);
    }
    let mut env: Vec<(String, String)> = if empty { Vec::new() } else { std::env::vars().collect() };
    for name in call.options.iter().filter(|found| found.option == "unset").filter_map(|found| found.value.as_ref()) {
        if name.is_empty() || name.contains('=') {
            call.complain(&format!("cannot unset {}: Invalid argument", quote::plain(name)));
            return Err(125);
        }
        env.retain(|(known, _)| known != name);
    }
    while let Some((first, rest)) = operands.split_first()
        && let Some((name, value)) = first.split_once('=')
    {
        match env.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_owned(),
            None => env.push((name.to_owned(), value.to_owned())),
        }
        operands = rest;
    }

    let (null, directory) = (call.has("null"), call.value("chdir"));
    if operands.is_empty() {
        return if directory.is_some() {
            Err(call.misused("must specify command with --chdir (-C)"))
        } else {
            Ok(print(&call, &env, if null { 0 } else { b'\n' }))
        };
    }
    if null {
        return Err(call.misused("cannot specify --null (-0) with command"));
    }
    set_signals(&call)?;
    if let Some(directory) = directory
        && let Err(errno) = process::chdir(directory)
    {
        call.complain(&format!("cannot change directory to {}: {}", quote::plain(directory), text(errno)));
        return Err(125);
    }
    child::catch_signals();
    let failed = |errno| {
        call.complain(&format!("{}: {}", quote::plain(&operands[0]), text(errno)));
        // A `#!` line passes all its arguments as one: the commonest reason for such a name.
        if errno == Errno::NoEntry && operands[0].contains(' ') {
            call.complain("use -S to pass options in shebang lines");
        }
        child::not_started(errno)
    };
    let pid = child::spawn(operands, &env).map_err(failed)?;
    match child::wait(pid, None) {
        Ok(Some(status)) => Ok(child::end_as(status)),
        Ok(None) => Err(125),
        Err(errno) => {
            call.complain(&format!("cannot wait for {}: {}", quote::plain(&operands[0]), text(errno)));
            Err(125)
        }
    }
}

fn print(call: &Call, env: &[(String, String)], end: u8) -> u8 {
    let mut out = Out::new();
    for (name, value) in env {
        out.push(format!("{name}={value}").as_bytes());
        out.byte(end);
    }
    call.finish(out, 0)
}

/// Sets signals to their default or to be ignored, in the order of the options.
fn set_signals(call: &Call) -> Result<(), u8> {
    for found in &call.options {
        let disposition = match found.option {
            "default-signal" => Disposition::Default,
            "ignore-signal" => Disposition::Ignore,
            _ => continue,
        };
        let Some(list) = &found.value else {
            for signal in signals::all() {
                // Two signals can't be ignored; the others are set nevertheless.
                let _ = process::on_signal(signal, disposition);
            }
            continue;
        };
        for name in list.split(',').filter(|name| !name.is_empty()) {
            let signal = match signals::parse(name) {
                Some(signal) if signal > 0 => signal,
                _ => return Err(call.misused(&format!("{}: invalid signal", quote::plain(name)))),
            };
            if let Err(errno) = process::on_signal(signal, disposition) {
                call.complain(&format!("failed to set signal action for signal {signal}: {}", text(errno)));
                return Err(125);
            }
        }
    }
    Ok(())
}
