//! A leased sandbox: the backend that a caller works with until the lease ends.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;

use super::transitions::Shared;
use super::{Clock, ProviderError, SandboxId};
use crate::backend::execute;
use crate::backend::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Isopod, Listed,
    Offload, Offloaded, OutputStream, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::kernel::Channel;
use crate::sandbox::{Chunk, Command, Completion, Output, Session, StdinReader};

/// The exit code of a command that was killed.
const KILLED: u8 = 137;

/// A leased sandbox as a backend. When the lease ends, what runs is stopped and everything from then on is refused, whoever
/// still has this in hand.
pub struct Lease {
    id: SandboxId,
    /// None when the lease has ended. The backend holds the lock that is the lease.
    backend: Mutex<Option<Arc<Isopod>>>,
    has_ended: watch::Sender<bool>,
    /// Output that somebody may have stopped to read: nothing but dropping it ends its command.
    streams: Mutex<Vec<Weak<Slot>>>,
    /// Live shells, which end with the lease.
    sessions: Mutex<Vec<Weak<Session>>>,
    largest_file: u64,
    activity: Arc<Activity>,
    /// Whoever has only this does not keep the provider.
    provider: Weak<Shared>,
}

/// Whether somebody works with the sandbox, and when somebody last did.
struct Activity {
    clock: Clock,
    last_used: AtomicU64,
    running: AtomicUsize,
}

impl Activity {
    fn touch(&self) {
        self.last_used.fetch_max(self.clock.now(), Ordering::AcqRel);
    }

    fn begin(self: &Arc<Activity>) -> Running {
        self.touch();
        self.running.fetch_add(1, Ordering::AcqRel);
        Running(self.clone())
    }
}

/// Something that runs.
struct Running(Arc<Activity>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A stream that is taken away when the lease ends.
type Slot = tokio::sync::Mutex<Option<OpenStream>>;

/// The output of a command that runs.
struct OpenStream {
    stream: Box<dyn OutputStream>,
    /// It has the lock as long as the command runs.
    _backend: Arc<Isopod>,
}

impl Lease {
    pub(super) fn new(id: SandboxId, backend: Isopod, provider: &Arc<Shared>) -> Lease {
        let clock = provider.clock.clone();
        Lease {
            id,
            largest_file: backend.largest_file(),
            backend: Mutex::new(Some(Arc::new(backend))),
            has_ended: watch::Sender::new(false),
            streams: Mutex::default(),
            sessions: Mutex::default(),
            activity: Arc::new(Activity {
                last_used: AtomicU64::new(clock.now()),
                clock,
                running: AtomicUsize::new(0),
            }),
            provider: Arc::downgrade(provider),
        }
    }

    /// The id of the sandbox.
    pub fn sandbox_id(&self) -> SandboxId {
        self.id
    }

    /// When it was last used.
    pub(super) fn last_used(&self) -> u64 {
        self.activity.last_used.load(Ordering::Acquire)
    }

    /// Notes that it is used now.
    pub(super) fn touch(&self) {
        self.activity.touch();
    }

    /// Whether nothing runs and nobody used it for this long.
    pub(super) fn is_unused(&self, time: Option<Duration>) -> bool {
        let Activity { running, clock, .. } = &*self.activity;
        running.load(Ordering::Acquire) == 0 && clock.has_passed(time, self.last_used())
    }

    /// Ends the lease: what runs learns of it and stops, the rest is refused.
    pub(super) fn end(&self) {
        let backend = lock(&self.backend).take();
        self.has_ended.send_replace(true);
        drop(backend);
    }

    /// Starts a live shell in the sandbox. It ends with the lease, and while it is there the lease is used.
    pub fn session(self: &Arc<Lease>) -> Result<LeasedSession> {
        let backend = self.backend()?;
        let session = Arc::new(backend.handle().session()?);
        let running = self.activity.begin();
        {
            let mut sessions = lock(&self.sessions);
            sessions.retain(|session| session.strong_count() > 0);
            sessions.push(Arc::downgrade(&session));
        }
        // The lease may have ended before the session was noted down.
        match *self.has_ended.borrow() {
            true => Err(self.over()),
            false => Ok(LeasedSession { session, lease: self.clone(), _running: running }),
        }
    }

    /// Ends the commands whose output nobody reads at the moment, and the live shells. Whoever does has heard that the
    /// lease has ended.
    pub(super) fn drop_streams(&self) {
        lock(&self.sessions).iter().filter_map(Weak::upgrade).for_each(|session| session.end());
        let mut streams = lock(&self.streams);
        streams.retain(|stream| match stream.upgrade() {
            Some(slot) => slot.try_lock().map(|mut stream| stream.take()).is_err(),
            None => false,
        });
    }

    async fn run<T, F>(&self, work: impl FnOnce(Arc<Isopod>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let backend = self.backend()?;
        let _running = self.activity.begin();
        tokio::select! {
            biased;
            () = self.ended() => Err(self.over()),
            answer = work(backend) => answer,
        }
    }

    fn backend(&self) -> Result<Arc<Isopod>> {
        lock(&self.backend).clone().ok_or_else(|| self.over())
    }

    /// Output that is taken away when the lease ends.
    fn lend(&self, output: OpenStream) -> Result<Box<dyn OutputStream>> {
        let slot = Arc::new(tokio::sync::Mutex::new(Some(output)));
        {
            let mut streams = lock(&self.streams);
            streams.retain(|stream| stream.strong_count() > 0);
            streams.push(Arc::downgrade(&slot));
        }
        // The lease may have ended before the stream was noted down.
        let has_ended = self.has_ended.subscribe();
        if *has_ended.borrow() {
            return Err(self.over());
        }
        Ok(Box::new(LeasedStream { slot, has_ended, over: Some(self.over()), _running: self.activity.begin() }))
    }

    async fn ended(&self) {
        // The sender is a part of this: it cannot be gone.
        let _ = self.has_ended.subscribe().wait_for(|has_ended| *has_ended).await;
    }

    fn over(&self) -> BackendError {
        BackendError::Refused { layer: "provider", reason: format!("the lease of sandbox {} has ended", self.id) }
    }
}

#[async_trait]
impl Backend for Lease {
    async fn ls(&self, path: &str) -> Result<Listed> {
        self.run(|backend| async move { backend.ls(path).await }).await
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        self.run(|backend| async move { backend.read(request).await }).await
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        self.run(|backend| async move { backend.write(request).await }).await
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        self.run(|backend| async move { backend.edit(request).await }).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.run(|backend| async move { backend.delete(path).await }).await
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        self.run(|backend| async move { backend.glob(request).await }).await
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        self.run(|backend| async move { backend.grep(request).await }).await
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for Upload { path, content } in files {
            answers.push(self.write(WriteRequest::new(path, content)).await);
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let count = paths.len();
        let all = self.run(|backend| async move { Ok(backend.download(paths).await) }).await;
        all.unwrap_or_else(|error| vec![Err(error); count])
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        self.run(|backend| async move { backend.resolve(path).await }).await
    }

    fn largest_file(&self) -> u64 {
        self.largest_file
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        let provider = self.provider.upgrade().ok_or_else(|| self.over())?;
        match provider.dry_copy(self.id) {
            Ok(copy) if !*self.has_ended.borrow() => Ok(Arc::new(copy)),
            // What is leased under this id now is not this.
            Ok(_) | Err(ProviderError::NotLeased(_) | ProviderError::ShutDown) => Err(self.over()),
            Err(error) => Err(BackendError::Transport { backend: "provider", reason: error.to_string() }),
        }
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        Some(self)
    }
}

#[async_trait]
impl SandboxBackend for Lease {
    fn id(&self) -> String {
        self.id.to_string()
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let work = |backend: Arc<Isopod>| async move {
            Ok(OpenStream { stream: backend.stream(command).await?, _backend: backend })
        };
        self.lend(self.run(work).await?)
    }

    async fn stream_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        let work = |backend: Arc<Isopod>| async move {
            Ok(OpenStream { stream: backend.stream_with_stdin(command, stdin).await?, _backend: backend })
        };
        self.lend(self.run(work).await?)
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        self.run(|backend| async move { backend.execute(command).await }).await
    }

    async fn execute_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Output> {
        self.run(|backend| async move { backend.execute_with_stdin(command, stdin).await }).await
    }

    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        self.run(|backend| async move { backend.execute_with_offload(command, offload).await }).await
    }
}

/// A live shell of a leased sandbox, until one of them ends. Calls take turns.
pub struct LeasedSession {
    session: Arc<Session>,
    lease: Arc<Lease>,
    _running: Running,
}

impl LeasedSession {
    /// Starts a command in the shell, after those that came before, whose output comes piece by piece. Dropping the stream
    /// interrupts the command; the shell goes on.
    pub async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let work = |backend: Arc<Isopod>| async move {
            Ok(OpenStream { stream: Box::new(self.session.stream(command).await?), _backend: backend })
        };
        self.lease.lend(self.lease.run(work).await?)
    }

    /// Executes a command in the shell and keeps its output, as [`SandboxBackend::execute`] does.
    pub async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(self.lease.backend()?.handle().limits().output);
        execute::collect(self.stream(command).await?, limit).await
    }

    /// Interrupts the command that runs, as the keyboard of a terminal would.
    pub fn interrupt(&self) {
        self.session.interrupt();
    }

    /// The shell's working directory, if it lives.
    pub fn cwd(&self) -> Option<String> {
        self.session.cwd()
    }

    /// Whether the shell still lives.
    pub fn is_open(&self) -> bool {
        self.session.is_open()
    }

    /// Ends the shell with all that runs in it, and waits until that has gone.
    pub async fn close(&self) {
        self.session.close().await;
    }
}

/// The output of a command, as long as the lease lasts.
struct LeasedStream {
    slot: Arc<Slot>,
    has_ended: watch::Receiver<bool>,
    /// What to say when the lease has ended; once.
    over: Option<BackendError>,
    _running: Running,
}

#[async_trait]
impl OutputStream for LeasedStream {
    async fn next(&mut self) -> Option<Chunk> {
        let mut slot = self.slot.lock().await;
        if let Some(OpenStream { stream, .. }) = slot.as_mut() {
            tokio::select! {
                biased;
                _ = self.has_ended.wait_for(|has_ended| *has_ended) => {}
                chunk = stream.next() => return chunk,
            }
        }
        *slot = None;
        let over = self.over.take()?;
        Some(Chunk { channel: Channel::Stderr, bytes: Bytes::from(format!("isopod: {over}\n")) })
    }

    async fn finish(mut self: Box<Self>) -> Completion {
        let killed = Completion::new(KILLED);
        let Some(OpenStream { stream, _backend }) = self.slot.lock().await.take() else {
            return killed;
        };
        tokio::select! {
            biased;
            _ = self.has_ended.wait_for(|has_ended| *has_ended) => killed,
            completion = stream.finish() => completion,
        }
    }
}

/// What these mutexes guard is whole at all times, whoever panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
