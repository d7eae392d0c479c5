//! How a worker begins: it hears what it is to be and raises its wall, in a process with one thread; and what makes it
//! end with its host.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal as HostSignal, getpid, kill_process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
#[cfg(any(feature = "http", feature = "mcp"))]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Walls, wire};
use crate::wall::{Report, Wall, WallError};

/// The first frame: who speaks, and what the worker is to be.
#[derive(Serialize, Deserialize)]
pub(super) struct Hello<T> {
    version: String,
    /// Whether the wall has to be whole; nothing is none.
    wall: Option<bool>,
    task: T,
}

impl<T> Hello<T> {
    pub(super) fn new(walls: Walls, task: T) -> Hello<T> {
        let wall = match walls {
            Walls::None => None,
            walls => Some(walls == Walls::Strict),
        };
        Hello { version: wire::VERSION.to_owned(), wall, task }
    }
}

/// A worker that knows what it is to be.
pub(super) struct Begun<T> {
    pub(super) task: T,
    pub(super) socket: OwnedFd,
    /// What its wall holds, or why it has none.
    pub(super) report: Result<Report, String>,
}

/// Hears what the worker is to be, over standard input, and raises its wall.
pub(super) fn begin<T: DeserializeOwned>(
    wall: impl FnOnce(&T) -> Result<Wall, WallError>,
) -> Result<Begun<T>, ExitCode> {
    hear(wall).map_err(|why| {
        let _ = writeln!(io::stderr(), "isopod: a worker is started by a host: {why}");
        ExitCode::from(2)
    })
}

fn hear<T: DeserializeOwned>(wall: impl FnOnce(&T) -> Result<Wall, WallError>) -> Result<Begun<T>, String> {
    let text = |error: io::Error| error.to_string();
    let socket = io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(text)?;
    let hello: Hello<T> = tokio.block_on(async {
        let mut stream = connect(socket.try_clone().map_err(text)?).map_err(text)?;
        let read = wire::read(&mut stream, wire::HELLO_BYTES).await;
        read.map_err(|error| error.to_string())?.ok_or_else(|| "nobody says hello".to_owned())
    })?;
    if hello.version != wire::VERSION {
        return Err(format!("this is {}, and the host is {}", wire::VERSION, hello.version));
    }
    volunteer();
    let raise = |is_strict| {
        let wall = wall(&hello.task)?;
        if is_strict { wall.strict().raise() } else { wall.raise() }
    };
    let report = hello.wall.map_or_else(|| Ok(Report::none()), raise).map_err(|error| error.to_string());
    Ok(Begun { task: hello.task, socket, report })
}

/// Does a worker's work on a runtime of its own. What still runs at its end runs for nobody.
pub(super) fn run(work: impl Future<Output = io::Result<()>>) -> ExitCode {
    let failed = |error: io::Error| {
        let _ = writeln!(io::stderr(), "isopod: worker: {error}");
        ExitCode::FAILURE
    };
    let tokio = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(tokio) => tokio,
        Err(error) => return failed(error),
    };
    let done = tokio.block_on(work);
    tokio.shutdown_background();
    done.map_or_else(failed, |()| ExitCode::SUCCESS)
}

/// A socket as tokio has it.
pub(super) fn connect(socket: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// If the machine's memory runs out, one sandbox is to go and not the host. A machine that does not let us ask for it
/// decides by size.
#[allow(clippy::disallowed_methods, reason = "a setting of this process")]
fn volunteer() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Takes no notice of being told to end: whoever stops a whole group of processes means the server, which gives its
/// requests time, and without which this ends anyway.
#[cfg(any(feature = "http", feature = "mcp"))]
pub(super) fn deafen() -> io::Result<[Signal; 2]> {
    Ok([signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?])
}

/// Ends this process when the host has gone, whatever its threads are busy with.
pub(super) fn watch(socket: OwnedFd) -> io::Result<()> {
    let wait = move || {
        // Without any events asked for, what comes is the other end's closing.
        while poll(&mut [PollFd::new(&socket, PollFlags::empty())], None).is_err() {}
        let _ = kill_process(getpid(), HostSignal::KILL);
    };
    std::thread::Builder::new().name("host watch".to_owned()).spawn(wait).map(drop)
}
