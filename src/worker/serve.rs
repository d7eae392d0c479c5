//! The worker's end: a sandbox that does what comes over the socket.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::outset::{self, Begun};
use super::wire::{self, Answer, News, Order, Request, WINDOW, Welcome};
use crate::backend::{Backend, BackendError, ExecuteRequest, Isopod, SandboxBackend};
use crate::limits::TRANSFER_BYTES;
use crate::provider::Config;
use crate::runtime::Runtime;
use crate::wall::Wall;

/// Is a worker: does what comes over standard input, a socket, until that is closed. For `main`, before it starts any
/// thread; [`Worker::start`](super::Worker::start) is who calls such a program.
pub fn serve() -> ExitCode {
    match outset::begin(|config: &Config| Ok(Wall::within(config))) {
        Ok(begun) => work(begun),
        Err(code) => code,
    }
}

fn work(Begun { task: config, socket, report }: Begun<Config>) -> ExitCode {
    outset::run(async {
        let (from, to) = outset::connect(socket.try_clone()?)?.into_split();
        let (out, mut frames) = mpsc::unbounded_channel::<Vec<u8>>();
        let sender = tokio::spawn(async move {
            let mut to = to;
            while let Some(frame) = frames.recv().await {
                if to.write_all(&frame).await.is_err() {
                    return;
                }
            }
        });
        outset::watch(socket)?;
        let sandbox = report.and_then(|report| Ok((sandbox(&config)?, report)));
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
        Ok(())
    })
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
