//! The worker's end: a sandbox that does what comes over the socket.

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::wire::{self, Answer, Hello, News, Order, Request, WINDOW, Welcome};
use crate::backend::{Backend, BackendError, ExecuteRequest, Isopod, SandboxBackend};
use crate::limits::TRANSFER_BYTES;
use crate::provider::Config;
use crate::runtime::Runtime;
use crate::wall::{Report, Wall};

/// Is a worker: does what comes over standard input, a socket, until that is closed. For `main`, before it starts any
/// thread; [`Worker::start`](super::Worker::start) is who calls such a program.
pub fn serve() -> ExitCode {
    match prepare() {
        Ok((hello, socket, report)) => work(&hello.config, socket, report),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "isopod: a worker is started by a host: {why}");
            ExitCode::from(2)
        }
    }
}

/// Hears what the sandbox is to be, and raises the wall, in a process with one thread.
fn prepare() -> Result<(Hello, OwnedFd, Result<Report, String>), String> {
    let text = |error: std::io::Error| error.to_string();
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(text)?;
    let hello: Hello = tokio.block_on(async {
        let read = wire::read(&mut connect(&socket).map_err(text)?, wire::HELLO_BYTES).await;
        read.map_err(|error| error.to_string())?.ok_or_else(|| "nobody says hello".to_owned())
    })?;
    if hello.version != wire::VERSION {
        return Err(format!("this is {}, and the host is {}", wire::VERSION, hello.version));
    }
    volunteer();
    let report = match hello.wall {
        None => Ok(Report::none()),
        Some(is_strict) => Wall::within(&hello.config, is_strict).raise().map_err(|error| error.to_string()),
    };
    Ok((hello, socket, report))
}

fn connect(socket: &OwnedFd) -> std::io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(socket.try_clone()?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// If the machine's memory runs out, one sandbox is to go and not the host. A machine that does not let us ask for it
/// decides by size.
#[allow(clippy::disallowed_methods, reason = "a setting of this process")]
fn volunteer() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

fn work(config: &Config, socket: OwnedFd, report: Result<Report, String>) -> ExitCode {
    let failed = |why: String| {
        let _ = writeln!(std::io::stderr(), "isopod: worker: {why}");
        ExitCode::FAILURE
    };
    let tokio = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(tokio) => tokio,
        Err(error) => return failed(error.to_string()),
    };
    let done = tokio.block_on(async {
        let (from, to) = connect(&socket)?.into_split();
        let (out, mut frames) = mpsc::unbounded_channel::<Vec<u8>>();
        let sender = tokio::spawn(async move {
            let mut to = to;
            while let Some(frame) = frames.recv().await {
                if to.write_all(&frame).await.is_err() {
                    return;
                }
            }
        });
        watch(socket)?;
        let sandbox = report.and_then(|report| Ok((sandbox(config)?, report)));
        let (welcome, sandbox) = match sandbox {
            Ok((sandbox, report)) => (Welcome::Ready(report), Some(sandbox)),
            Err(why) => (Welcome::Refused(why), None),
        };
        if let Ok(frame) = wire::frame(&welcome, wire::HELLO_BYTES) {
            let _ = out.send(frame);
        }
        let Some(sandbox) = sandbox else {
            drop(out);
            let _ = sender.await;
            return Ok(());
        };
        let desk = Arc::new(Desk { sandbox, out, tasks: Mutex::default(), longest: wire::longest(&config.limits) });
        let mut from = BufReader::with_capacity(TRANSFER_BYTES, from);
        // The host is believed; when it makes no sense any more, there is nobody left to work for.
        while let Ok(Some(order)) = wire::read(&mut from, desk.longest).await {
            desk.take(order);
        }
        Ok::<_, std::io::Error>(())
    });
    // What still runs runs for nobody.
    tokio.shutdown_background();
    done.map_or_else(|error| failed(error.to_string()), |()| ExitCode::SUCCESS)
}

/// Ends this process when the host has gone, whatever its threads are busy with.
fn watch(socket: OwnedFd) -> std::io::Result<()> {
    let wait = move || {
        // Without any events asked for, what comes is the other end's closing.
        while poll(&mut [PollFd::new(&socket, PollFlags::empty())], None).is_err() {}
        let _ = kill_process(getpid(), Signal::KILL);
    };
    std::thread::Builder::new().name("host watch".to_owned()).spawn(wait).map(drop)
}

fn sandbox(config: &Config) -> Result<Isopod, String> {
    // As many slots as there can be processes: this process has one sandbox.
    let runtime = Runtime::pooling(config.limits.processes).map_err(|error| error.to_string())?;
    let sandbox = config.builder(false).runtime(runtime).build().map_err(|error| error.to_string())?;
    Isopod::new("worker", sandbox).map_err(|error| error.to_string())
}

/// Where orders are taken and done.
struct Desk {
    sandbox: Isopod,
    out: mpsc::UnboundedSender<Vec<u8>>,
    /// What is being done. Its lock is held for a look-up.
    tasks: Mutex<HashMap<u64, Task>>,
    longest: u64,
}

struct Task {
    work: AbortHandle,
    /// Pieces of output that there is room for.
    room: Arc<Semaphore>,
}

impl Desk {
    fn take(self: &Arc<Desk>, order: Order) {
        let mut tasks = self.tasks();
        match order {
            Order::Call(id, request) => {
                let (desk, room) = (self.clone(), Arc::new(Semaphore::new(WINDOW)));
                let theirs = room.clone();
                // With the lock held, so that it is on the list before it is done.
                let work = tokio::spawn(async move {
                    match request {
                        Request::Execute(request) => desk.execute(id, request, &theirs).await,
                        request => {
                            let answer = desk.answer(request).await;
                            desk.tell(id, News::Answer(id, answer));
                        }
                    }
                    desk.tasks().remove(&id);
                });
                tasks.insert(id, Task { work: work.abort_handle(), room });
            }
            Order::Cancel(id) => {
                if let Some(task) = tasks.remove(&id) {
                    task.work.abort();
                }
            }
            Order::More(id) => {
                if let Some(task) = tasks.get(&id) {
                    task.room.add_permits(1);
                }
            }
        }
    }

    async fn answer(&self, request: Request) -> Result<Answer, BackendError> {
        let it = &self.sandbox;
        Ok(match request {
            Request::Ls(path) => Answer::Listed(it.ls(&path).await?),
            Request::Read(request) => Answer::Content(it.read(request).await?),
            Request::Write(request) => Answer::Written(it.write(request).await?),
            Request::Edit(request) => Answer::Edited(it.edit(request).await?),
            Request::Delete(path) => Answer::Done(it.delete(&path).await?),
            Request::Glob(request) => Answer::Globbed(it.glob(request).await?),
            Request::Grep(request) => Answer::Grepped(it.grep(request).await?),
            Request::Download(path) => match it.download(vec![path]).await.pop() {
                Some(content) => Answer::Bytes(Bytes::from(content?)),
                None => Answer::Started,
            },
            Request::Resolve(path) => Answer::Path(it.resolve(&path).await?),
            Request::Execute(_) => Answer::Started,
        })
    }

    async fn execute(&self, id: u64, request: ExecuteRequest, room: &Semaphore) {
        let mut stream = match self.sandbox.stream(request).await {
            Ok(stream) => stream,
            Err(error) => return self.tell(id, News::Answer(id, Err(error))),
        };
        self.tell(id, News::Answer(id, Ok(Answer::Started)));
        while let Some(chunk) = stream.next().await {
            // Never closed. The permit comes back when the host has taken a piece.
            if let Ok(permit) = room.acquire().await {
                permit.forget();
            }
            self.tell(id, News::Piece(id, chunk));
        }
        self.tell(id, News::Ended(id, stream.finish().await));
    }

    fn tell(&self, id: u64, news: News) {
        let frame = wire::frame(&news, self.longest).or_else(|error| {
            let error = BackendError::Transport { backend: "worker", reason: error.to_string() };
            wire::frame(&News::Answer(id, Err(error)), self.longest)
        });
        if let Ok(frame) = frame {
            let _ = self.out.send(frame);
        }
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<u64, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
