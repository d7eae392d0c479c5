//! A leased sandbox: the backend that a caller uses until the lease ends.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, watch};

use super::sandbox_dir::NotifyOnDrop;
use super::transitions::ProviderState;
use super::{Clock, ProviderError, SandboxId};
use crate::backend::execute;
use crate::backend::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Isopod, Listed,
    Offload, Offloaded, OutputStream, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::kernel::Channel;
use crate::sandbox::{Chunk, Command, Completion, Output, Session, StdinReader};
use crate::sync::lock;

/// The exit code of a command that was killed.
const KILLED: u8 = 137;

/// A leased sandbox as a backend. When the lease ends, running commands are ended and every later call is refused.
pub struct Lease {
    id: SandboxId,
    /// `None` after the end of the lease. The backend holds a share of the lock that is the lease.
    backend: Mutex<Option<Arc<Isopod>>>,
    has_ended: watch::Sender<bool>,
    /// Outputs whose readers may have stopped reading. Only dropping such an output ends its command.
    streams: Mutex<Vec<Weak<OutputSlot>>>,
    /// Live shells. They end with the lease.
    sessions: Mutex<Vec<Weak<Session>>>,
    largest_file: u64,
    usage: Arc<LeaseUsage>,
    /// Weak, so that a lease alone does not keep the provider alive.
    provider: Weak<ProviderState>,
}

/// The use of a lease: running operations, and the time of the last use.
struct LeaseUsage {
    clock: Clock,
    last_used: AtomicU64,
    running: AtomicUsize,
    /// Notified when an operation ends, or stops reading an output without taking it.
    released: Arc<Notify>,
}

impl LeaseUsage {
    fn touch(&self) {
        self.last_used.fetch_max(self.clock.now(), Ordering::AcqRel);
    }

    fn begin(self: &Arc<LeaseUsage>) -> OperationGuard {
        self.touch();
        self.running.fetch_add(1, Ordering::AcqRel);
        OperationGuard(self.clone())
    }
}

/// A running operation. The lease is in use until this is dropped.
struct OperationGuard(Arc<LeaseUsage>);

impl Drop for OperationGuard {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        self.0.released.notify_waiters();
    }
}

/// An output that is taken away when the lease ends.
type OutputSlot = tokio::sync::Mutex<Option<CommandOutput>>;

/// The output of a running command.
struct CommandOutput {
    stream: Box<dyn OutputStream>,
    /// Holds a share of the lock while the command runs.
    _backend: Arc<Isopod>,
}

impl Lease {
    pub(super) fn new(id: SandboxId, backend: Isopod, provider: &Arc<ProviderState>) -> Lease {
        let clock = provider.clock.clone();
        Lease {
            id,
            largest_file: backend.largest_file(),
            backend: Mutex::new(Some(Arc::new(backend))),
            has_ended: watch::Sender::new(false),
            streams: Mutex::default(),
            sessions: Mutex::default(),
            usage: Arc::new(LeaseUsage {
                last_used: AtomicU64::new(clock.now()),
                clock,
                running: AtomicUsize::new(0),
                released: Arc::default(),
            }),
            provider: Arc::downgrade(provider),
        }
    }

    /// Returns the id of the sandbox.
    pub fn sandbox_id(&self) -> SandboxId {
        self.id
    }

    /// Returns the time of the last use, in nanoseconds since 1970.
    pub(super) fn last_used(&self) -> u64 {
        self.usage.last_used.load(Ordering::Acquire)
    }

    /// Sets the time of the last use to now.
    pub(super) fn touch(&self) {
        self.usage.touch();
    }

    /// Returns whether no operation runs and the last one ended at least `time` ago.
    pub(super) fn is_unused(&self, time: Option<Duration>) -> bool {
        let LeaseUsage { running, clock, .. } = &*self.usage;
        running.load(Ordering::Acquire) == 0 && clock.has_passed(time, self.last_used())
    }

    /// Returns the notification of an operation that ended, or stopped reading an output without taking it.
    pub(super) fn operation_ended(&self) -> &Notify {
        &self.usage.released
    }

    /// Ends the lease: running operations stop, and later ones are refused.
    pub(super) fn end(&self) {
        let backend = lock(&self.backend).take();
        self.has_ended.send_replace(true);
        drop(backend);
    }

    /// Starts a live shell in the sandbox. It ends with the lease. The lease is in use while the shell exists.
    pub fn session(self: &Arc<Lease>) -> Result<LeasedSession> {
        let backend = self.backend()?;
        let session = Arc::new(backend.handle().session()?);
        let operation = self.usage.begin();
        {
            let mut sessions = lock(&self.sessions);
            sessions.retain(|session| session.strong_count() > 0);
            sessions.push(Arc::downgrade(&session));
        }
        // The lease may have ended before the session was in the list.
        match *self.has_ended.borrow() {
            true => Err(self.over()),
            false => Ok(LeasedSession { session, lease: self.clone(), _operation: operation }),
        }
    }

    /// Ends the live shells, and the commands whose output is not being read. A reader at work stops by itself, because
    /// it sees that the lease has ended.
    pub(super) fn drop_streams(&self) {
        // The streams first: the call of a session has the shell for as long as its stream exists.
        lock(&self.streams).retain(|stream| match stream.upgrade() {
            Some(slot) => slot.try_lock().map(|mut stream| stream.take()).is_err(),
            None => false,
        });
        lock(&self.sessions).iter().filter_map(Weak::upgrade).for_each(|session| session.end());
    }

    async fn run<T, F>(&self, work: impl FnOnce(Arc<Isopod>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let backend = self.backend()?;
        let _operation = self.usage.begin();
        tokio::select! {
            biased;
            () = self.ended() => Err(self.over()),
            answer = work(backend) => answer,
        }
    }

    fn backend(&self) -> Result<Arc<Isopod>> {
        lock(&self.backend).clone().ok_or_else(|| self.over())
    }

    /// Wraps an output so that it is taken away when the lease ends.
    fn lend_output(&self, output: CommandOutput) -> Result<Box<dyn OutputStream>> {
        let slot = Arc::new(tokio::sync::Mutex::new(Some(output)));
        {
            let mut streams = lock(&self.streams);
            streams.retain(|stream| stream.strong_count() > 0);
            streams.push(Arc::downgrade(&slot));
        }
        // The lease may have ended before the output was in the list.
        let has_ended = self.has_ended.subscribe();
        if *has_ended.borrow() {
            return Err(self.over());
        }
        Ok(Box::new(LeasedStream { slot, has_ended, over: Some(self.over()), operation: self.usage.begin() }))
    }

    async fn ended(&self) {
        // The sender is a field of this lease, so it exists.
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
            // Another lease has the sandbox now.
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
            Ok(CommandOutput { stream: backend.stream(command).await?, _backend: backend })
        };
        self.lend_output(self.run(work).await?)
    }

    async fn stream_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        let work = |backend: Arc<Isopod>| async move {
            Ok(CommandOutput { stream: backend.stream_with_stdin(command, stdin).await?, _backend: backend })
        };
        self.lend_output(self.run(work).await?)
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

/// A live shell of a leased sandbox. It ends with the lease at the latest. Its commands run one after the other.
pub struct LeasedSession {
    session: Arc<Session>,
    lease: Arc<Lease>,
    _operation: OperationGuard,
}

impl LeasedSession {
    /// Starts a command in the shell, after the commands before it, and returns its output as a stream. Dropping the
    /// stream interrupts the command; the shell goes on.
    pub async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let work = |backend: Arc<Isopod>| async move {
            Ok(CommandOutput { stream: Box::new(self.session.stream(command).await?), _backend: backend })
        };
        self.lease.lend_output(self.lease.run(work).await?)
    }

    /// Executes a command in the shell and collects its output, as [`SandboxBackend::execute`] does.
    pub async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(self.lease.backend()?.handle().limits().output);
        execute::collect(self.stream(command).await?, limit).await
    }

    /// Interrupts the running command, as Ctrl-C in a terminal does.
    pub fn interrupt(&self) {
        self.session.interrupt();
    }

    /// Returns the shell's working directory, if the shell is alive.
    pub fn cwd(&self) -> Option<String> {
        self.session.cwd()
    }

    /// Returns whether the shell is alive.
    pub fn is_open(&self) -> bool {
        self.session.is_open()
    }

    /// Ends the shell with all its processes, and waits until they are gone.
    pub async fn close(&self) {
        self.session.close().await;
    }
}

/// The output of a command, until the lease ends.
struct LeasedStream {
    slot: Arc<OutputSlot>,
    has_ended: watch::Receiver<bool>,
    /// The error that a reader gets once when the lease has ended.
    over: Option<BackendError>,
    operation: OperationGuard,
}

#[async_trait]
impl OutputStream for LeasedStream {
    async fn next(&mut self) -> Option<Chunk> {
        // Dropped after the slot's guard. A caller that drops this future and never polls again leaves the output in
        // the slot, and a release has to take it from there.
        let _released = NotifyOnDrop(self.operation.0.released.clone());
        let mut slot = self.slot.lock().await;
        if let Some(CommandOutput { stream, .. }) = slot.as_mut() {
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
        let Some(CommandOutput { stream, _backend }) = self.slot.lock().await.take() else {
            return killed;
        };
        tokio::select! {
            biased;
            _ = self.has_ended.wait_for(|has_ended| *has_ended) => killed,
            completion = stream.finish() => completion,
        }
    }
}
