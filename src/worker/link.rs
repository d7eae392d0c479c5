//! The host's end of a worker: who waits for which answer, and what they hear when it dies.

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
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};

use super::outset::Hello;
use super::wire::{self, Answer, News, Order, Request, WINDOW, Welcome, WireError};
use super::{LAST_MOMENTS, START, Walls, astray};
use crate::backend::{BackendError, Ending, ExecuteRequest, Result};
use crate::kernel::Channel;
use crate::limits::TRANSFER_BYTES;
use crate::provider::Config;
use crate::sandbox::Chunk;
use crate::wall::Report;

/// A worker's socket and process.
pub(super) struct Link {
    /// Frames on their way out. There are as many as there are calls, cancels and pieces read.
    out: mpsc::UnboundedSender<Vec<u8>>,
    calls: Arc<Calls>,
    next: AtomicU64,
    longest: u64,
    pid: u32,
    /// Ends the worker with the link.
    _end: oneshot::Sender<()>,
}

/// Who waits. Its lock is held for a look-up, never while something is awaited.
#[derive(Default)]
struct Calls(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    /// How the worker died, if it did.
    death: Option<String>,
}

enum Waiting {
    /// For an answer.
    Answer(oneshot::Sender<Result<Answer>>),
    /// For whether a command starts, and then for its output.
    Start(oneshot::Sender<Result<Answer>>, mpsc::Sender<Event>),
    Output(mpsc::Sender<Event>),
}

/// What comes from a command.
enum Event {
    Piece(Chunk),
    Ended(Ending),
}

/// A command that runs in the worker. Dropping it ends the command.
pub(super) struct Output {
    link: Arc<Link>,
    id: u64,
    events: mpsc::Receiver<Event>,
    ending: Option<Ending>,
    has_said: bool,
    pub(super) began: Instant,
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

        let hello = wire::frame(&Hello::new(walls, config.clone().made_absolute()), wire::HELLO_BYTES)
            .map_err(|error| refused(error.to_string()))?;
        let welcome = async {
            to.write_all(&hello).await?;
            wire::read(&mut from, wire::HELLO_BYTES).await
        };
        let report = match tokio::time::timeout(START, welcome).await {
            Ok(Ok(Some(Welcome::Ready(report)))) => report,
            Ok(Ok(Some(Welcome::Refused(why)))) => return Err(refused(why)),
            Ok(said) => {
                let fault = said.err().filter(|error| !matches!(error, WireError::Closed(_)));
                return Err(BackendError::WorkerDied(obituary(end(&mut child).await, fault.map(|it| it.to_string()))));
            }
            Err(_) => return Err(refused("it took too long to start".to_owned())),
        };

        let (out, frames) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let calls = Arc::new(Calls::default());
        let (longest, pid) = (wire::longest(&config.limits), child.id().unwrap_or(0));
        tokio::spawn(send(to, frames));
        tokio::spawn(attend(child, from, longest, calls.clone(), ended));
        let link = Link { out, calls, next: AtomicU64::new(0), longest, pid, _end: end };
        Ok((Arc::new(link), report))
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Asks and waits for the answer.
    pub(super) async fn ask(self: &Arc<Link>, request: Request) -> Result<Answer> {
        let (sender, answer) = oneshot::channel();
        let call = self.call(request, Waiting::Answer(sender))?;
        // Whoever knows nothing of the call any more has died.
        let answer = answer.await.unwrap_or_else(|_| Err(self.death()));
        call.settle();
        answer
    }

    /// Starts a command.
    pub(super) async fn stream(self: &Arc<Link>, request: ExecuteRequest) -> Result<Output> {
        let began = Instant::now();
        let (sender, started) = oneshot::channel();
        let (events_in, events) = mpsc::channel(WINDOW + 1);
        let call = self.call(Request::Execute(request), Waiting::Start(sender, events_in))?;
        match started.await.unwrap_or_else(|_| Err(self.death()))? {
            Answer::Started => {}
            _ => return Err(astray(self)),
        }
        let id = call.settle();
        Ok(Output { link: self.clone(), id, events, ending: None, has_said: false, began })
    }

    /// Sends a request. Dropping what comes back cancels it.
    fn call(self: &Arc<Link>, request: Request, waiting: Waiting) -> Result<Call<'_>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let frame = wire::frame(&Order::Call(id, request), self.longest)
            .map_err(|error| BackendError::Transport { backend: "worker", reason: error.to_string() })?;
        {
            let mut state = self.calls.lock();
            if let Some(death) = &state.death {
                return Err(BackendError::WorkerDied(death.clone()));
            }
            state.waiting.insert(id, waiting);
        }
        // If nobody sends any more, the worker has died, and whoever notes it tells all that wait.
        let _ = self.out.send(frame);
        Ok(Call { link: self, id, is_settled: false })
    }

    fn order(&self, order: &Order) {
        if let Ok(frame) = wire::frame(order, self.longest) {
            let _ = self.out.send(frame);
        }
    }

    fn death(&self) -> BackendError {
        let death = self.calls.lock().death.clone();
        BackendError::WorkerDied(death.unwrap_or_else(|| "it is ending".to_owned()))
    }

    /// A worker that cannot be believed is dead to us: nobody asks it any more.
    pub(super) fn condemn(&self, why: &str) -> BackendError {
        self.calls.bury(why.to_owned());
        self.death()
    }

    fn forget(&self, id: u64) {
        if self.calls.lock().waiting.remove(&id).is_some() {
            self.order(&Order::Cancel(id));
        }
    }
}

/// A call that is cancelled when nobody waits for it.
struct Call<'a> {
    link: &'a Link,
    id: u64,
    is_settled: bool,
}

impl Call<'_> {
    fn settle(mut self) -> u64 {
        self.is_settled = true;
        self.id
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            self.link.forget(self.id);
        }
    }
}

impl Output {
    /// The next piece of output.
    pub(super) async fn piece(&mut self) -> Option<Chunk> {
        if self.ending.is_some() {
            return None;
        }
        match self.events.recv().await? {
            Event::Piece(chunk) => {
                self.link.order(&Order::More(self.id));
                Some(chunk)
            }
            Event::Ended(ending) => {
                self.ending = Some(ending);
                None
            }
        }
    }

    /// How the command ended, or how its worker did.
    pub(super) fn ending(&mut self) -> Result<Ending> {
        self.ending.clone().ok_or_else(|| self.link.death())
    }

    /// What a reader of the output is told, once, if the worker died.
    pub(super) fn notice(&mut self) -> Option<Chunk> {
        if self.ending.is_some() || std::mem::replace(&mut self.has_said, true) {
            return None;
        }
        let bytes = Bytes::from(format!("isopod: {}\n", self.link.death()));
        Some(Chunk { channel: Channel::Stderr, bytes })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.link.forget(self.id);
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings news to whoever waits for it. Nobody may: it crossed a cancel on its way.
    fn deliver(&self, news: News) -> std::result::Result<(), &'static str> {
        let mut state = self.lock();
        match news {
            News::Answer(id, answer) => match state.waiting.remove(&id) {
                Some(Waiting::Answer(sender)) => drop(sender.send(answer)),
                Some(Waiting::Start(sender, events)) => {
                    if answer.is_ok() {
                        state.waiting.insert(id, Waiting::Output(events));
                    }
                    drop(sender.send(answer));
                }
                Some(Waiting::Output(_)) => return Err("it answered twice"),
                None => {}
            },
            News::Piece(id, chunk) => match state.waiting.get(&id) {
                Some(Waiting::Output(_)) if chunk.bytes.len() > TRANSFER_BYTES => return Err("a piece was too long"),
                Some(Waiting::Output(events)) => {
                    if let Err(mpsc::error::TrySendError::Full(_)) = events.try_send(Event::Piece(chunk)) {
                        return Err("it sent more than there was room for");
                    }
                }
                Some(_) => return Err("there was output before there was a command"),
                None => {}
            },
            News::Ended(id, ending) => match state.waiting.remove(&id) {
                // There is a place for it besides those of the pieces.
                Some(Waiting::Output(events)) => drop(events.try_send(Event::Ended(ending))),
                Some(_) => return Err("a command ended before it began"),
                None => {}
            },
        }
        Ok(())
    }

    /// The worker has died: whoever waits hears it.
    fn bury(&self, how: String) {
        let mut state = self.lock();
        state.death.get_or_insert(how);
        // Dropping their senders wakes them, and they ask for the reason.
        state.waiting.clear();
    }
}

fn start(program: &Path, arguments: Vec<OsString>, socket: OwnedFd) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn()
}

/// Sends frames until there are no more, or nobody takes them.
async fn send(mut to: OwnedWriteHalf, mut frames: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if to.write_all(&frame).await.is_err() {
            return;
        }
    }
}

/// Takes what the worker says, until it dies or nobody has the link any more.
async fn attend(
    mut child: Child,
    mut from: BufReader<OwnedReadHalf>,
    longest: u64,
    calls: Arc<Calls>,
    ended: oneshot::Receiver<()>,
) {
    let listen = async {
        loop {
            match wire::read(&mut from, longest).await {
                Ok(Some(news)) => {
                    if let Err(why) = calls.deliver(news) {
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
    calls.bury(obituary(end(&mut child).await, fault));
}

/// Waits for a worker that has gone, or is about to, or has to.
async fn end(child: &mut Child) -> Option<ExitStatus> {
    match tokio::time::timeout(LAST_MOMENTS, child.wait()).await {
        Ok(status) => status.ok(),
        Err(_) => {
            let _ = child.start_kill();
            child.wait().await.ok()
        }
    }
}

fn obituary(status: Option<ExitStatus>, fault: Option<String>) -> String {
    match (fault, status.map(|status| (status.signal(), status.code()))) {
        (Some(fault), _) => format!("killed, because {fault}"),
        (None, Some((Some(signal), _))) => format!("signal {signal}"),
        (None, Some((_, Some(code)))) => format!("exit code {code}"),
        _ => "nobody knows how".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A command that has started, and its events.
    fn running() -> (Calls, mpsc::Receiver<Event>) {
        let (calls, (sender, _), (events_in, events)) =
            (Calls::default(), oneshot::channel(), mpsc::channel(WINDOW + 1));
        calls.lock().waiting.insert(1, Waiting::Start(sender, events_in));
        calls.deliver(News::Answer(1, Ok(Answer::Started))).unwrap();
        (calls, events)
    }

    fn piece(bytes: usize) -> News {
        News::Piece(1, Chunk { channel: Channel::Stdout, bytes: Bytes::from(vec![0; bytes]) })
    }

    fn ended() -> News {
        News::Ended(1, Ending { exit_code: 0, timed_out: false, limits: Vec::new(), wall: Duration::ZERO })
    }

    #[test]
    fn a_worker_that_sends_more_than_there_is_room_for_is_found_out() {
        let (calls, _events) = running();
        let sent = (0..).take_while(|_| calls.deliver(piece(1)).is_ok()).count();
        assert_eq!(sent, WINDOW + 1);
        let (calls, _events) = running();
        assert!(calls.deliver(piece(TRANSFER_BYTES + 1)).is_err());
    }

    #[test]
    fn answers_that_were_not_asked_for_are_found_out_or_dropped() {
        let (calls, _events) = running();
        assert!(calls.deliver(News::Answer(1, Ok(Answer::Done(())))).is_err());
        let (calls, events) = running();
        drop(events);
        calls.deliver(piece(1)).unwrap();
        calls.deliver(ended()).unwrap();
        // After its end, and of a call that nobody knows, it may have crossed a cancel on its way.
        calls.deliver(piece(1)).unwrap();
        calls.deliver(ended()).unwrap();
        let calls = Calls::default();
        calls.lock().waiting.insert(1, Waiting::Answer(oneshot::channel().0));
        assert!(calls.deliver(piece(1)).is_err());
        assert!(calls.deliver(ended()).is_err());
    }

    #[test]
    fn the_end_of_a_command_has_room_besides_its_output() {
        let (calls, mut events) = running();
        (0..WINDOW).for_each(|_| calls.deliver(piece(1)).unwrap());
        calls.deliver(ended()).unwrap();
        let received = std::iter::from_fn(|| events.try_recv().ok()).filter(|event| matches!(event, Event::Ended(_)));
        assert_eq!(received.count(), 1);
    }
}
