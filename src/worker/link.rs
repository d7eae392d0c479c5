//! The host's end of the protocol: the calls that wait for an answer, and their error when the worker dies.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{self, Child};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::bootstrap::Hello;
use super::wire::{self, Answer, HostMessage, Request, Welcome, WireError, WorkerMessage};
use super::{Walls, unexpected};
use crate::backend::{BackendError, Result};
use crate::kernel::Channel;
use crate::limits::TRANSFER_BYTES;
use crate::limits::worker::{EXIT_TIME, HELLO_BYTES, OUTPUT_WINDOW, START_TIME};
use crate::provider::Config;
use crate::sandbox::{Chunk, Command, Completion, StdinReader};
use crate::wall::Report;

/// A worker's socket and process.
pub(super) struct Link {
    /// Frames on their way out. Their number is bounded by that of calls, cancels, and pieces of output read.
    out: mpsc::UnboundedSender<Vec<u8>>,
    calls: Arc<Calls>,
    next: AtomicU64,
    longest: u64,
    pid: u32,
    /// Ends the worker with the link.
    _end: oneshot::Sender<()>,
}

/// The calls that wait. Its lock is held for a look-up, never across an await.
#[derive(Default)]
struct Calls(Mutex<CallTable>);

#[derive(Default)]
struct CallTable {
    pending: HashMap<u64, PendingCall>,
    /// The reason of the worker's death, if it died.
    death: Option<String>,
}

/// A call that waits.
enum PendingCall {
    /// It waits for an answer.
    Answer(oneshot::Sender<Result<Answer>>),
    /// It waits for the start of a command, and then for its output.
    Start(oneshot::Sender<Result<Answer>>, CommandEvents),
    /// It waits for the output of a command.
    Output(CommandEvents),
}

/// The channels of a command.
struct CommandEvents {
    output: mpsc::Sender<Event>,
    /// Takes the worker's requests for input, one at a time. `None` for a command without a reader.
    stdin: Option<mpsc::Sender<()>>,
}

/// A piece of a command's output, or its end.
enum Event {
    Piece(Chunk),
    Completed(Completion),
}

/// A command that runs in the worker. Dropping it ends the command.
pub(super) struct WorkerStream {
    link: Arc<Link>,
    id: u64,
    events: mpsc::Receiver<Event>,
    completion: Option<Completion>,
    /// The notice of the worker's death was given.
    has_notice: bool,
    pub(super) began: Instant,
    /// Copies the standard input.
    stdin: Option<AbortHandle>,
}

impl Link {
    /// Starts a worker and waits until it is ready.
    pub(super) async fn open(
        program: &Path,
        arguments: Vec<OsString>,
        walls: Walls,
        config: &Config,
    ) -> Result<(Arc<Link>, Report)> {
        let refused = |reason: String| BackendError::Transport { backend: "worker", reason };
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(|error| refused(error.to_string()))?;
        let mut child = start(program, arguments, theirs.into())
            .map_err(|error| refused(format!("cannot start {}: {error}", program.display())))?;
        let connected = ours.set_nonblocking(true).and_then(|()| UnixStream::from_std(ours));
        let (from, mut to) = connected.map_err(|error| refused(error.to_string()))?.into_split();
        let mut from = BufReader::with_capacity(TRANSFER_BYTES, from);

        let hello = wire::frame(&Hello::new(walls, config.clone().made_absolute()), HELLO_BYTES)
            .map_err(|error| refused(error.to_string()))?;
        let welcome = async {
            to.write_all(&hello).await?;
            wire::read(&mut from, HELLO_BYTES).await
        };
        let report = match tokio::time::timeout(START_TIME, welcome).await {
            Ok(Ok(Some(Welcome::Ready(report)))) => report,
            Ok(Ok(Some(Welcome::Refused(why)))) => return Err(refused(why)),
            Ok(said) => {
                let fault = said.err().filter(|error| !matches!(error, WireError::Closed(_)));
                return Err(BackendError::WorkerDied(death_of(end(&mut child).await, fault.map(|it| it.to_string()))));
            }
            Err(_) => return Err(refused("it took too long to start".to_owned())),
        };

        let (out, frames) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let calls = Arc::new(Calls::default());
        let (longest, pid) = (wire::longest(&config.limits), child.id().unwrap_or(0));
        tokio::spawn(send(to, frames));
        tokio::spawn(supervise(child, from, longest, calls.clone(), ended));
        let link = Link { out, calls, next: AtomicU64::new(0), longest, pid, _end: end };
        Ok((Arc::new(link), report))
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn ask(self: &Arc<Link>, request: Request) -> Result<Answer> {
        let (sender, answer) = oneshot::channel();
        let call = self.call(request, PendingCall::Answer(sender))?;
        // The sender is dropped when the worker dies.
        let answer = answer.await.unwrap_or_else(|_| Err(self.death()));
        call.complete();
        answer
    }

    /// Starts a command.
    pub(super) async fn stream(self: &Arc<Link>, command: Command, stdin: Option<StdinReader>) -> Result<WorkerStream> {
        let began = Instant::now();
        let (sender, started) = oneshot::channel();
        let (output, events) = mpsc::channel(OUTPUT_WINDOW + 1);
        let (wanted, wishes) = mpsc::channel(1);
        let (request, wanted) = match stdin {
            Some(_) => (Request::ExecuteWithStdin(command), Some(wanted)),
            None => (Request::Execute(command), None),
        };
        let call = self.call(request, PendingCall::Start(sender, CommandEvents { output, stdin: wanted }))?;
        match started.await.unwrap_or_else(|_| Err(self.death()))? {
            Answer::Started => {}
            _ => return Err(unexpected(self)),
        }
        let id = call.complete();
        let stdin = stdin.map(|reader| tokio::spawn(copy_stdin(self.clone(), id, reader, wishes)).abort_handle());
        Ok(WorkerStream { link: self.clone(), id, events, completion: None, has_notice: false, began, stdin })
    }

    /// Sends a request. Dropping the call cancels it.
    fn call(self: &Arc<Link>, request: Request, pending: PendingCall) -> Result<Call<'_>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let frame = wire::frame(&HostMessage::Call(id, request), self.longest)
            .map_err(|error| BackendError::Transport { backend: "worker", reason: error.to_string() })?;
        {
            let mut table = self.calls.lock();
            if let Some(death) = &table.death {
                return Err(BackendError::WorkerDied(death.clone()));
            }
            table.pending.insert(id, pending);
        }
        // An error says that the worker has died; `supervise` then fails all pending calls.
        let _ = self.out.send(frame);
        Ok(Call { link: self, id, is_complete: false })
    }

    fn send(&self, message: &HostMessage) {
        if let Ok(frame) = wire::frame(message, self.longest) {
            let _ = self.out.send(frame);
        }
    }

    fn death(&self) -> BackendError {
        let death = self.calls.lock().death.clone();
        BackendError::WorkerDied(death.unwrap_or_else(|| "it is ending".to_owned()))
    }

    /// Treats a worker that broke the protocol as dead: it gets no more requests.
    pub(super) fn condemn(&self, why: &str) -> BackendError {
        self.calls.fail_all(why.to_owned());
        self.death()
    }

    fn cancel(&self, id: u64) {
        if self.calls.lock().pending.remove(&id).is_some() {
            self.send(&HostMessage::Cancel(id));
        }
    }
}

/// Copies a standard input to the worker, a piece for each time that its command waits for input.
async fn copy_stdin(link: Arc<Link>, id: u64, mut reader: StdinReader, mut wishes: mpsc::Receiver<()>) {
    let mut buffer = vec![0; TRANSFER_BYTES];
    while wishes.recv().await.is_some() {
        // An error of the reader ends the input, since the protocol cannot carry the error to the command.
        let len = reader.read(&mut buffer).await.unwrap_or(0);
        link.send(&HostMessage::Stdin(id, Bytes::copy_from_slice(&buffer[..len])));
        if len == 0 {
            return;
        }
    }
}

/// A call that is cancelled when it is dropped before its end.
struct Call<'a> {
    link: &'a Link,
    id: u64,
    is_complete: bool,
}

impl Call<'_> {
    fn complete(mut self) -> u64 {
        self.is_complete = true;
        self.id
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_complete {
            self.link.cancel(self.id);
        }
    }
}

impl WorkerStream {
    /// Returns the next piece of output, `None` at the end of the command or of the worker.
    pub(super) async fn piece(&mut self) -> Option<Chunk> {
        if self.completion.is_some() {
            return None;
        }
        match self.events.recv().await? {
            Event::Piece(chunk) => {
                self.link.send(&HostMessage::More(self.id));
                Some(chunk)
            }
            Event::Completed(completion) => {
                self.completion = Some(completion);
                None
            }
        }
    }

    /// Returns the end of the command, or the death of its worker.
    pub(super) fn completion(&mut self) -> Result<Completion> {
        self.completion.clone().ok_or_else(|| self.link.death())
    }

    /// Returns a line for standard error, once, if the worker died.
    pub(super) fn notice(&mut self) -> Option<Chunk> {
        if self.completion.is_some() || std::mem::replace(&mut self.has_notice, true) {
            return None;
        }
        let bytes = Bytes::from(format!("isopod: {}\n", self.link.death()));
        Some(Chunk { channel: Channel::Stderr, bytes })
    }
}

impl Drop for WorkerStream {
    fn drop(&mut self) {
        if let Some(stdin) = &self.stdin {
            stdin.abort();
        }
        self.link.cancel(self.id);
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, CallTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a message to the call that waits for it. A message for an unknown call crossed a cancel on its way.
    fn dispatch(&self, message: WorkerMessage) -> std::result::Result<(), &'static str> {
        let mut table = self.lock();
        match message {
            WorkerMessage::Answer(id, answer) => match table.pending.remove(&id) {
                Some(PendingCall::Answer(sender)) => drop(sender.send(answer)),
                Some(PendingCall::Start(sender, events)) => {
                    if answer.is_ok() {
                        table.pending.insert(id, PendingCall::Output(events));
                    }
                    drop(sender.send(answer));
                }
                Some(PendingCall::Output(_)) => return Err("it answered twice"),
                None => {}
            },
            WorkerMessage::Output(id, chunk) => match table.pending.get(&id) {
                Some(PendingCall::Output(_)) if chunk.bytes.len() > TRANSFER_BYTES => {
                    return Err("a piece was too long");
                }
                Some(PendingCall::Output(events)) => {
                    if let Err(mpsc::error::TrySendError::Full(_)) = events.output.try_send(Event::Piece(chunk)) {
                        return Err("it sent more than there was room for");
                    }
                }
                Some(_) => return Err("there was output before there was a command"),
                None => {}
            },
            WorkerMessage::StdinWanted(id) => match table.pending.get(&id) {
                Some(PendingCall::Start(_, events) | PendingCall::Output(events)) => match &events.stdin {
                    // The copying may have ended with the input.
                    Some(stdin) => {
                        if let Err(mpsc::error::TrySendError::Full(())) = stdin.try_send(()) {
                            return Err("it asked twice for the same input");
                        }
                    }
                    None => return Err("it asked for input that there is not"),
                },
                Some(PendingCall::Answer(_)) => return Err("it asked for input without a command"),
                None => {}
            },
            WorkerMessage::Completed(id, completion) => match table.pending.remove(&id) {
                // The channel has a place for it beside those of the pieces.
                Some(PendingCall::Output(events)) => drop(events.output.try_send(Event::Completed(completion))),
                Some(_) => return Err("a command ended before it began"),
                None => {}
            },
        }
        Ok(())
    }

    /// Fails all pending calls after the worker's death.
    fn fail_all(&self, death: String) {
        let mut table = self.lock();
        table.death.get_or_insert(death);
        // Dropping the senders wakes the callers, which then look for the reason.
        table.pending.clear();
    }
}

fn start(program: &Path, arguments: Vec<OsString>, socket: OwnedFd) -> std::io::Result<Child> {
    let mut command = process::Command::new(program);
    command.args(arguments).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn()
}

/// Writes frames to the socket until the channel or the socket is closed.
async fn send(mut to: OwnedWriteHalf, mut frames: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if to.write_all(&frame).await.is_err() {
            return;
        }
    }
}

/// Dispatches the worker's messages until it dies or the link is dropped, and ends it.
async fn supervise(
    mut child: Child,
    mut from: BufReader<OwnedReadHalf>,
    longest: u64,
    calls: Arc<Calls>,
    ended: oneshot::Receiver<()>,
) {
    let listen = async {
        loop {
            match wire::read(&mut from, longest).await {
                Ok(Some(message)) => {
                    if let Err(why) = calls.dispatch(message) {
                        return Some(why.to_owned());
                    }
                    if calls.lock().death.is_some() {
                        return None;
                    }
                }
                Ok(None) | Err(WireError::Closed(_)) => return None,
                Err(why) => return Some(why.to_string()),
            }
        }
    };
    let fault = tokio::select! {
        fault = listen => fault,
        _ = ended => None,
    };
    calls.fail_all(death_of(end(&mut child).await, fault));
}

/// Waits for the end of a worker whose socket is closed, and kills it after a while.
async fn end(child: &mut Child) -> Option<ExitStatus> {
    match tokio::time::timeout(EXIT_TIME, child.wait()).await {
        Ok(status) => status.ok(),
        Err(_) => {
            let _ = child.start_kill();
            child.wait().await.ok()
        }
    }
}

/// The reason of a worker's death, in words.
fn death_of(status: Option<ExitStatus>, fault: Option<String>) -> String {
    match (fault, status.map(|status| (status.signal(), status.code()))) {
        (Some(fault), _) => format!("killed, because {fault}"),
        (None, Some((Some(signal), _))) => format!("signal {signal}"),
        (None, Some((_, Some(code)))) => format!("exit code {code}"),
        _ => "unknown cause".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that has started, and its events.
    fn running_with(stdin: Option<mpsc::Sender<()>>) -> (Calls, mpsc::Receiver<Event>) {
        let (calls, (sender, _), (output, events)) =
            (Calls::default(), oneshot::channel(), mpsc::channel(OUTPUT_WINDOW + 1));
        calls.lock().pending.insert(1, PendingCall::Start(sender, CommandEvents { output, stdin }));
        calls.dispatch(WorkerMessage::Answer(1, Ok(Answer::Started))).unwrap();
        (calls, events)
    }

    fn running() -> (Calls, mpsc::Receiver<Event>) {
        running_with(None)
    }

    fn piece(bytes: usize) -> WorkerMessage {
        WorkerMessage::Output(1, Chunk { channel: Channel::Stdout, bytes: Bytes::from(vec![0; bytes]) })
    }

    fn ended() -> WorkerMessage {
        WorkerMessage::Completed(1, Completion::new(0))
    }

    #[test]
    fn a_worker_that_asks_for_input_it_was_not_given_is_found_out() {
        let (calls, _events) = running();
        assert!(calls.dispatch(WorkerMessage::StdinWanted(1)).is_err());
        let (wanted, mut wishes) = mpsc::channel(1);
        let (calls, _events) = running_with(Some(wanted));
        calls.dispatch(WorkerMessage::StdinWanted(1)).unwrap();
        assert!(calls.dispatch(WorkerMessage::StdinWanted(1)).is_err());
        wishes.try_recv().unwrap();
        calls.dispatch(WorkerMessage::StdinWanted(1)).unwrap();
    }

    #[test]
    fn a_worker_that_sends_more_than_there_is_room_for_is_found_out() {
        let (calls, _events) = running();
        let sent = (0..).take_while(|_| calls.dispatch(piece(1)).is_ok()).count();
        assert_eq!(sent, OUTPUT_WINDOW + 1);
        let (calls, _events) = running();
        assert!(calls.dispatch(piece(TRANSFER_BYTES + 1)).is_err());
    }

    #[test]
    fn answers_that_were_not_asked_for_are_found_out_or_dropped() {
        let (calls, _events) = running();
        assert!(calls.dispatch(WorkerMessage::Answer(1, Ok(Answer::Done(())))).is_err());
        let (calls, events) = running();
        drop(events);
        calls.dispatch(piece(1)).unwrap();
        calls.dispatch(ended()).unwrap();
        // A message of an unknown call, or of one that has ended, may have crossed a cancel on its way.
        calls.dispatch(piece(1)).unwrap();
        calls.dispatch(ended()).unwrap();
        let calls = Calls::default();
        calls.lock().pending.insert(1, PendingCall::Answer(oneshot::channel().0));
        assert!(calls.dispatch(piece(1)).is_err());
        assert!(calls.dispatch(ended()).is_err());
    }

    #[test]
    fn the_end_of_a_command_has_room_besides_its_output() {
        let (calls, mut events) = running();
        (0..OUTPUT_WINDOW).for_each(|_| calls.dispatch(piece(1)).unwrap());
        calls.dispatch(ended()).unwrap();
        let received =
            std::iter::from_fn(|| events.try_recv().ok()).filter(|event| matches!(event, Event::Completed(_)));
        assert_eq!(received.count(), 1);
    }
}
