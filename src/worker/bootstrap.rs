//! The start of a worker: it receives its task and raises its wall, in a process with one thread. And the watch that ends it
//! with its host.

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
use crate::limits::worker::HELLO_BYTES;
use crate::wall::{Report, Wall, WallError};

/// The first frame: the version of the host, and the task of the worker.
#[derive(Serialize, Deserialize)]
pub(super) struct Hello<T> {
    version: String,
    /// True for a strict wall, `None` for no wall.
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

/// A worker that has received its task.
pub(super) struct Bootstrap<T> {
    pub(super) task: T,
    pub(super) socket: OwnedFd,
    /// The state of its wall, or the reason for which it has none.
    pub(super) report: Result<Report, String>,
}

/// Receives the task over standard input, and raises the wall.
pub(super) fn begin<T: DeserializeOwned>(
    wall: impl FnOnce(&T) -> Result<Wall, WallError>,
) -> Result<Bootstrap<T>, ExitCode> {
    receive(wall).map_err(|why| {
        let _ = writeln!(io::stderr(), "isopod: a worker is started by a host: {why}");
        ExitCode::from(2)
    })
}

fn receive<T: DeserializeOwned>(wall: impl FnOnce(&T) -> Result<Wall, WallError>) -> Result<Bootstrap<T>, String> {
    let text = |error: io::Error| error.to_string();
    let socket = io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(text)?;
    let hello: Hello<T> = tokio.block_on(async {
        let mut stream = connect(socket.try_clone().map_err(text)?).map_err(text)?;
        let read = wire::read(&mut stream, HELLO_BYTES).await;
        read.map_err(|error| error.to_string())?.ok_or_else(|| "there is no first message".to_owned())
    })?;
    if hello.version != wire::VERSION {
        return Err(format!("this is {}, and the host is {}", wire::VERSION, hello.version));
    }
    prefer_for_oom();
    let raise = |is_strict| {
        let wall = wall(&hello.task)?;
        if is_strict { wall.strict().raise() } else { wall.raise() }
    };
    let report = hello.wall.map_or_else(|| Ok(Report::none()), raise).map_err(|error| error.to_string());
    Ok(Bootstrap { task: hello.task, socket, report })
}

/// Runs the work of a worker on a runtime of its own. Tasks that are left at the end are dropped.
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

/// Makes a socket of tokio.
pub(super) fn connect(socket: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Makes this process the first victim of the OOM killer, so that one sandbox goes and not the host. Where that is refused,
/// the size of processes decides.
#[allow(clippy::disallowed_methods, reason = "a setting of this process")]
fn prefer_for_oom() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Ignores SIGTERM and SIGINT. A signal to the whole process group is meant for the server, which gives its requests time to
/// end; without the server this process ends anyway.
#[cfg(any(feature = "http", feature = "mcp"))]
pub(super) fn ignore_signals() -> io::Result<[Signal; 2]> {
    Ok([signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?])
}

/// Ends this process when the host has gone, even if all its threads are busy.
pub(super) fn watch(socket: OwnedFd) -> io::Result<()> {
    let wait = move || {
        // Without requested events, `poll` reports only that the other end was closed.
        while poll(&mut [PollFd::new(&socket, PollFlags::empty())], None).is_err() {}
        let _ = kill_process(getpid(), HostSignal::KILL);
    };
    std::thread::Builder::new().name("host watch".to_owned()).spawn(wait).map(drop)
}
