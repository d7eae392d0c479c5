//! A process that starts workers for a server that may start nothing itself.
//!
//! A server behind its [wall](crate::wall) can neither fork nor execute, and its children would live behind the server's
//! wall, which leaves the socket of the clients and not the directories of the sandboxes. So the server starts one process
//! before it raises its wall, with the task of its workers. All that the server can request afterwards is one more worker:
//! a server that was taken over gets the same workers as before, with the same directories behind the same walls, and no
//! program of its choice.
//!
//! A worker's socket and its *life* come back as descriptors. The life is a socket, too: when the server closes it, the
//! worker is killed; when the worker dies, its status comes over it. So the server needs no process id and no signal,
//! which its wall would refuse.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream as HostStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::bootstrap::{self, Hello};
use super::{Walls, pass, wire};
use crate::limits::worker::HELLO_BYTES;

/// Starts workers, all of one kind. When it is dropped they end.
pub struct Spawner {
    socket: HostStream,
    process: Child,
}

/// The task of a spawner, sent once.
#[derive(Serialize, Deserialize)]
struct SpawnerTask {
    /// The arguments for its own program.
    arguments: Vec<Vec<u8>>,
    /// The first frame of every worker.
    hello: Vec<u8>,
}

/// The program that a spawner starts: the very program that runs, even if its file was replaced since.
const OWN_PROGRAM: &str = "/proc/self/exe";

impl Spawner {
    /// Starts a program that calls [`spawner`] with `arguments`, and has workers started as the same program with
    /// `of_worker`. For `main`, before the wall is raised and before there are threads.
    #[allow(clippy::disallowed_methods, reason = "a program of the embedder's, before anyone is served")]
    pub(crate) fn start<A: AsRef<OsStr>, T: Serialize>(
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        of_worker: impl IntoIterator<Item = A>,
        walls: Walls,
        task: &T,
    ) -> io::Result<Spawner> {
        let hello = wire::frame(&Hello::new(walls, task), HELLO_BYTES).map_err(io::Error::other)?;
        let arguments_of_worker = of_worker.into_iter().map(|it| it.as_ref().as_bytes().to_vec()).collect();
        let task = SpawnerTask { arguments: arguments_of_worker, hello };
        let task = wire::frame(&task, 2 * HELLO_BYTES).map_err(io::Error::other)?;
        let (mut socket, theirs) = HostStream::pair()?;
        let mut command = Command::new(program.as_ref());
        command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        // A group of its own: Ctrl-C is for the server, which gives its requests time to end.
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::inherit());
        let process = command.spawn()?;
        drop(command);
        socket.write_all(&task)?;
        Ok(Spawner { socket, process })
    }

    /// Starts one more worker, and returns its socket and its life.
    pub(super) async fn spawn(&self) -> io::Result<(UnixStream, UnixStream)> {
        let socket = self.socket.try_clone()?;
        // Two requests at the same time may get each other's workers, which are all the same.
        let started = tokio::task::spawn_blocking(move || {
            (&socket).write_all(&[0])?;
            let (errno, handles) = pass::receive(&socket)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            match <[OwnedFd; 2]>::try_from(handles) {
                Ok(handles) => Ok(handles),
                Err(_) => Err(io::Error::from_raw_os_error(i32::from(errno))),
            }
        });
        let [socket, life] = started.await.map_err(io::Error::other)??;
        Ok((bootstrap::connect(socket)?, bootstrap::connect(life)?))
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        // The process ends with the socket, and kills its workers. If the shutdown fails there is nothing to wait for.
        if self.socket.shutdown(std::net::Shutdown::Both).is_ok() {
            let _ = self.process.wait();
        }
    }
}

/// Runs a spawner: starts workers until standard input, a socket, is closed. For `main`, before it starts any thread.
pub fn spawner() -> ExitCode {
    let failed = |why: String| {
        let _ = writeln!(io::stderr(), "isopod: a spawner is started by a server: {why}");
        ExitCode::from(2)
    };
    let socket = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(socket) => HostStream::from(socket),
        Err(error) => return failed(error.to_string()),
    };
    let task = match receive_task(&socket) {
        Ok(task) => task,
        Err(error) => return failed(error.to_string()),
    };
    let tokio = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(tokio) => tokio,
        Err(error) => return failed(error.to_string()),
    };
    match tokio.block_on(work(socket.into(), task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(error.to_string()),
    }
}

fn receive_task(mut socket: &HostStream) -> io::Result<SpawnerTask> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > 2 * HELLO_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    socket.take(length).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

async fn work(socket: OwnedFd, task: SpawnerTask) -> io::Result<()> {
    let _ignored = bootstrap::ignore_signals()?;
    let mut socket = bootstrap::connect(socket)?;
    // The loop ends with the server, and the tasks of the workers kill them.
    while let Ok(1) = socket.read(&mut [0]).await {
        let started = start(&task).await;
        let (errno, handles) = match &started {
            Ok(handles) => (0, handles.iter().map(AsFd::as_fd).collect()),
            Err(error) => (error.raw_os_error().and_then(|errno| u8::try_from(errno).ok()).unwrap_or(0), Vec::new()),
        };
        let send = || pass::send(&socket, errno, &handles);
        socket.async_io(tokio::io::Interest::WRITABLE, send).await?;
    }
    Ok(())
}

/// Starts a worker and sends it the first frame. Returns the server's ends of its socket and of its life.
#[allow(clippy::disallowed_methods, reason = "this very program")]
async fn start(task: &SpawnerTask) -> io::Result<[OwnedFd; 2]> {
    let ((ours, theirs), (life, its_life)) = (HostStream::pair()?, HostStream::pair()?);
    let mut command = Command::new(OWN_PROGRAM);
    command.arg0("isopod").args(task.arguments.iter().cloned().map(OsString::from_vec));
    command.env_clear().current_dir("/");
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::inherit());
    let child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
    tokio::spawn(supervise(child, bootstrap::connect(its_life.into())?));
    let mut ours = bootstrap::connect(ours.into())?;
    // An error says that the worker has died already, which its life reports.
    let _ = ours.write_all(&task.hello).await;
    Ok([ours.into_std()?.into(), life.into()])
}

/// Waits for the end of a worker, or kills it when the server closes its life.
async fn supervise(mut child: tokio::process::Child, mut life: UnixStream) {
    let mut nothing = [0];
    let died = tokio::select! {
        status = child.wait() => status,
        _ = life.read(&mut nothing) => {
            // An error says that it has just died by itself.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    let status_bytes = died.map_or([UNKNOWN, 0], status_bytes);
    // An error says that the server has gone first.
    let _ = life.write_all(&status_bytes).await;
}

/// The status of a worker that died, in two bytes: one of these, and a number.
const BY_SIGNAL: u8 = 0;
const BY_ITSELF: u8 = 1;
const UNKNOWN: u8 = 2;

fn status_bytes(status: ExitStatus) -> [u8; 2] {
    let byte = |number: i32| u8::try_from(number).unwrap_or(0);
    match (status.signal(), status.code()) {
        (Some(signal), _) => [BY_SIGNAL, byte(signal)],
        (None, Some(code)) => [BY_ITSELF, byte(code)],
        (None, None) => [UNKNOWN, 0],
    }
}

/// Describes a status. Without one, the spawner has gone, and the workers with it.
pub(super) fn describe(status: Option<[u8; 2]>) -> String {
    match status {
        Some([BY_SIGNAL, signal]) => format!("signal {signal}"),
        Some([BY_ITSELF, code]) => format!("exit code {code}"),
        _ => "unknown cause".to_owned(),
    }
}
