//! The worker's end of the protocol: a sandbox that does the requests from the socket.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWriteExt, BufReader, ReadBuf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::bootstrap::{self, Bootstrap};
use super::wire::{self, Answer, HostMessage, Request, Welcome, WorkerMessage};
use crate::backend::{Backend, BackendError, Isopod, OutputStream, SandboxBackend};
use crate::limits::TRANSFER_BYTES;
use crate::limits::worker::{HELLO_BYTES, OUTPUT_WINDOW};
use crate::provider::Config;
use crate::runtime::Runtime;
use crate::wall::Wall;

/// Runs a worker: does the requests that come over standard input, a socket, until that is closed. For `main`, before it
/// starts any thread. [`Worker::start`](super::Worker::start) runs a program that calls this.
pub fn serve() -> ExitCode {
    match bootstrap::begin(|config: &Config| Ok(Wall::within(config))) {
        Ok(bootstrap) => work(bootstrap),
        Err(code) => code,
    }
}

fn work(Bootstrap { task: config, socket, report }: Bootstrap<Config>) -> ExitCode {
    bootstrap::run(async {
        let (from, to) = bootstrap::connect(socket.try_clone()?)?.into_split();
        let (out, mut frames) = mpsc::unbounded_channel::<Vec<u8>>();
        let sender = tokio::spawn(async move {
            let mut to = to;
            while let Some(frame) = frames.recv().await {
                if to.write_all(&frame).await.is_err() {
                    return;
                }
            }
        });
        bootstrap::watch(socket)?;
        let sandbox = report.and_then(|report| Ok((sandbox(&config)?, report)));
        let (welcome, sandbox) = match sandbox {
            Ok((sandbox, report)) => (Welcome::Ready(report), Some(sandbox)),
            Err(why) => (Welcome::Refused(why), None),
        };
        if let Ok(frame) = wire::frame(&welcome, HELLO_BYTES) {
            let _ = out.send(frame);
        }
        let Some(sandbox) = sandbox else {
            drop(out);
            let _ = sender.await;
            return Ok(());
        };
        let longest = wire::longest(&config.limits);
        let dispatcher = Arc::new(Dispatcher { sandbox, out, tasks: Mutex::default(), longest });
        let mut from = BufReader::with_capacity(TRANSFER_BYTES, from);
        // The host is trusted. After a message that makes no sense there is no host left to work for.
        while let Ok(Some(message)) = wire::read(&mut from, longest).await {
            dispatcher.take(message);
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

/// Starts a task for each request, and routes later messages to it.
struct Dispatcher {
    sandbox: Isopod,
    out: mpsc::UnboundedSender<Vec<u8>>,
    /// The running requests. Its lock is held for a look-up.
    tasks: Mutex<HashMap<u64, Task>>,
    longest: u64,
}

struct Task {
    work: AbortHandle,
    /// The number of pieces of output that the host has room for.
    room: Arc<Semaphore>,
    /// Takes pieces of standard input.
    stdin: mpsc::UnboundedSender<Bytes>,
}

impl Dispatcher {
    fn take(self: &Arc<Dispatcher>, message: HostMessage) {
        let mut tasks = self.tasks();
        match message {
            HostMessage::Call(id, request) => {
                let (dispatcher, room) = (self.clone(), Arc::new(Semaphore::new(OUTPUT_WINDOW)));
                let (stdin, pieces) = mpsc::unbounded_channel();
                let of_task = room.clone();
                // Started with the lock held, so that the task is in the table before it is done.
                let work = tokio::spawn(async move {
                    dispatcher.run(id, request, pieces, &of_task).await;
                    dispatcher.tasks().remove(&id);
                });
                tasks.insert(id, Task { work: work.abort_handle(), room, stdin });
            }
            HostMessage::Cancel(id) => {
                if let Some(task) = tasks.remove(&id) {
                    task.work.abort();
                }
            }
            HostMessage::More(id) => {
                if let Some(task) = tasks.get(&id) {
                    task.room.add_permits(1);
                }
            }
            HostMessage::Stdin(id, piece) => {
                if let Some(task) = tasks.get(&id) {
                    let _ = task.stdin.send(piece);
                }
            }
        }
    }

    async fn run(
        self: &Arc<Dispatcher>,
        id: u64,
        request: Request,
        pieces: mpsc::UnboundedReceiver<Bytes>,
        room: &Semaphore,
    ) {
        let started = match request {
            Request::Execute(command) => self.sandbox.stream(command).await,
            Request::ExecuteWithStdin(command) => {
                let (dispatcher, piece) = (self.clone(), Bytes::new());
                let stdin = Stdin { id, dispatcher, pieces, piece, is_awaited: false };
                self.sandbox.stream_with_stdin(command, Box::new(stdin)).await
            }
            request => {
                let answer = self.answer(request).await;
                return self.send(id, &WorkerMessage::Answer(id, answer));
            }
        };
        match started {
            Ok(stream) => self.forward(id, stream, room).await,
            Err(error) => self.send(id, &WorkerMessage::Answer(id, Err(error))),
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
            Request::Execute(_) | Request::ExecuteWithStdin(_) => Answer::Started,
        })
    }

    /// Sends the output of a command as the host takes it, and then its end.
    async fn forward(&self, id: u64, mut stream: Box<dyn OutputStream>, room: &Semaphore) {
        self.send(id, &WorkerMessage::Answer(id, Ok(Answer::Started)));
        while let Some(chunk) = stream.next().await {
            // Never closed. The permit comes back when the host has taken a piece.
            if let Ok(permit) = room.acquire().await {
                permit.forget();
            }
            self.send(id, &WorkerMessage::Output(id, chunk));
        }
        self.send(id, &WorkerMessage::Completed(id, stream.finish().await));
    }

    fn send(&self, id: u64, message: &WorkerMessage) {
        let frame = wire::frame(message, self.longest).or_else(|error| {
            let error = BackendError::Transport { backend: "worker", reason: error.to_string() };
            wire::frame(&WorkerMessage::Answer(id, Err(error)), self.longest)
        });
        if let Ok(frame) = frame {
            let _ = self.out.send(frame);
        }
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<u64, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The standard input of a command. It asks the host for each piece, so that the host reads no more than the command does.
struct Stdin {
    id: u64,
    dispatcher: Arc<Dispatcher>,
    pieces: mpsc::UnboundedReceiver<Bytes>,
    /// The rest of the last piece.
    piece: Bytes,
    /// The host was asked for the next piece.
    is_awaited: bool,
}

impl AsyncRead for Stdin {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.piece.is_empty() {
            if !std::mem::replace(&mut self.is_awaited, true) {
                self.dispatcher.send(self.id, &WorkerMessage::StdinWanted(self.id));
            }
            // An empty piece is the end of the input, and so is that of the channel.
            self.piece = ready!(self.pieces.poll_recv(cx)).unwrap_or_default();
            self.is_awaited = false;
        }
        let len = self.piece.len().min(buffer.remaining());
        buffer.put_slice(&self.piece[..len]);
        self.piece.advance(len);
        Poll::Ready(Ok(()))
    }
}
