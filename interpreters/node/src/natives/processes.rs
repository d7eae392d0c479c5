//! This process, its children, its signals and the clock.

use std::time::Instant;

use isopod_sys::process::{self, Command, Disposition, Status};
use isopod_sys::{Errno, Fd, files};
use rquickjs::prelude::{Func, Opt};
use rquickjs::{Ctx, IntoJs, Object, Result, Value};

use super::{Text, flush, nanos, refused};
use crate::command::NODE_VERSION;

pub(super) fn add(sys: &Object<'_>) -> Result<()> {
    let start = Instant::now();
    sys.set("exit", Func::from(exit))?;
    sys.set("cwd", Func::from(process::cwd))?;
    sys.set("chdir", Func::from(chdir))?;
    sys.set("pid", Func::from(process::id))?;
    sys.set("ppid", Func::from(process::parent))?;
    sys.set("umask", Func::from(|mask: f64| process::umask(mask as u32)))?;
    sys.set("environment", Func::from(environment))?;
    sys.set("version", NODE_VERSION)?;
    sys.set("nanos", Func::from(move || start.elapsed().as_nanos() as f64))?;
    sys.set("cpu", Func::from(|| process::times().0 as f64))?;
    sys.set("memory", Func::from(memory))?;
    sys.set("isTerminal", Func::from(is_terminal))?;
    sys.set("sleep", Func::from(sleep))?;
    sys.set("pipe", Func::from(pipe))?;
    sys.set("spawn", Func::from(spawn))?;
    sys.set("wait", Func::from(wait))?;
    sys.set("kill", Func::from(kill))?;
    sys.set("onSignal", Func::from(on_signal))?;
    sys.set("pending", Func::from(pending))
}

fn exit(code: f64) {
    flush();
    isopod_sys::exit(code as i64 as u8)
}

fn chdir(ctx: Ctx<'_>, path: Text) -> Result<String> {
    process::chdir(&path.0).map_err(|errno| refused(&ctx, errno))
}

/// Returns names and values in turn.
fn environment() -> Vec<String> {
    std::env::vars().flat_map(|(name, value)| [name, value]).collect()
}

/// Returns the memory of this process, in bytes.
fn memory() -> f64 {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size(0) as f64 * 65536.0;
    #[cfg(not(target_arch = "wasm32"))]
    0.0
}

fn is_terminal(fd: f64) -> bool {
    match fd as u32 {
        0 => std::io::IsTerminal::is_terminal(&std::io::stdin()),
        1 => std::io::IsTerminal::is_terminal(&std::io::stdout()),
        2 => std::io::IsTerminal::is_terminal(&std::io::stderr()),
        _ => false,
    }
}

/// Sleeps a number of milliseconds or until a caught signal arrives, by waiting for a pipe without a writer.
fn sleep(ctx: Ctx<'_>, milliseconds: f64) -> Result<()> {
    flush();
    let wait = || {
        let (reader, writer) = files::pipe()?;
        let (reader, _writer) = (Fd::from_raw(reader), Fd::from_raw(writer));
        files::read(reader.raw(), 1, Some(nanos(milliseconds)))
    };
    match wait() {
        Ok(_) | Err(Errno::TimedOut | Errno::Interrupted) => Ok(()),
        Err(errno) => Err(refused(&ctx, errno)),
    }
}

fn pipe(ctx: Ctx<'_>) -> Result<Vec<u32>> {
    files::pipe().map(|(reader, writer)| vec![reader, writer]).map_err(|errno| refused(&ctx, errno))
}

/// `spawn(program, argv, names and values of the environment in turn, the child's and our descriptors in turn)`
fn spawn(ctx: Ctx<'_>, program: Text, argv: Vec<Text>, env: Vec<Text>, fds: Vec<f64>) -> Result<u32> {
    flush();
    let argv = argv.into_iter().map(|text| text.0).collect();
    let env = env.chunks_exact(2).map(|pair| (pair[0].0.clone(), pair[1].0.clone())).collect();
    let files = fds.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32)).collect();
    let command = Command { program: program.0, argv, env, files, payload: Vec::new(), background: false };
    process::spawn(&command).map_err(|errno| refused(&ctx, errno))
}

/// Returns the code and the signal, one of them null; or null after the timeout.
fn wait<'js>(ctx: Ctx<'js>, child: f64, timeout: Opt<Option<f64>>) -> Result<Value<'js>> {
    flush();
    let status = match process::wait(Some(child as u32), timeout.0.flatten().map(nanos)) {
        Ok((_, status)) => status,
        Err(Errno::TimedOut) => return Ok(Value::new_null(ctx)),
        Err(errno) => return Err(refused(&ctx, errno)),
    };
    let null = Value::new_null(ctx.clone());
    let pair = match status {
        Status::Exited(code) => vec![u32::from(code).into_js(&ctx)?, null],
        Status::Signalled(signal) => vec![null, signal_name(signal).into_js(&ctx)?],
    };
    pair.into_js(&ctx)
}

fn signal_name(signal: u8) -> String {
    format!("SIG{}", isopod_gnu::signals::name(signal).unwrap_or("KILL"))
}

/// Returns a signal by its name, with or without `SIG`, or by its number.
fn signal(ctx: &Ctx<'_>, text: &str) -> Result<u8> {
    let text = text.strip_prefix("SIG").unwrap_or(text);
    let signal = if text == "0" { Some(0) } else { isopod_gnu::signals::parse(text) };
    signal.ok_or_else(|| refused(ctx, Errno::Invalid))
}

fn kill(ctx: Ctx<'_>, pid: f64, name: Text) -> Result<()> {
    flush();
    let signal = signal(&ctx, &name.0)?;
    process::kill(pid as u32, signal).map_err(|errno| refused(&ctx, errno))
}

/// Starts or stops catching a signal.
fn on_signal(ctx: Ctx<'_>, name: Text, is_caught: bool) -> Result<()> {
    let disposition = if is_caught { Disposition::Catch } else { Disposition::Default };
    let signal = signal(&ctx, &name.0)?;
    process::on_signal(signal, disposition).map(|_| ()).map_err(|errno| refused(&ctx, errno))
}

/// Returns the names of caught signals that have arrived.
fn pending() -> Vec<String> {
    process::pending().into_iter().map(signal_name).collect()
}
