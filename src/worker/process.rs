//! The server's end of a worker: a process that takes connections.

use std::io;
use std::os::fd::AsFd;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::spawner::{Spawner, describe};
use super::wire::{self, Welcome};
use super::{bootstrap, pass};
use crate::limits::worker::{EXIT_TIME, HELLO_BYTES, START_TIME};

/// A worker that takes connections. When this is dropped it is killed.
pub(crate) struct Process {
    /// Connections are sent over it, as descriptors.
    socket: UnixStream,
    /// The reason of its death, after its death.
    death: watch::Receiver<Option<String>>,
    /// Set to true, kills it.
    end: watch::Sender<bool>,
}

/// The reason for which there is no worker, or no answer from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    /// It died, for this reason.
    #[error("worker died: {0}")]
    Died(String),
    /// It lives, but the request was incomplete.
    #[error("body: {0}")]
    Request(String),
    /// It lives, but does not work.
    #[error("worker: {0}")]
    Broken(String),
}

impl Process {
    /// Starts a worker and waits until it is ready.
    pub(crate) async fn start(spawner: &Spawner) -> Result<Process, Lost> {
        let started = spawner.spawn().await;
        let (mut socket, life) = started.map_err(|error| Lost::Broken(format!("cannot be started: {error}")))?;
        let (told, death) = watch::channel(None);
        let (end, ended) = watch::channel(false);
        tokio::spawn(supervise(life, ended, told));
        // From here on, dropping this value kills it.
        let welcome = tokio::time::timeout(START_TIME, wire::read(&mut socket, HELLO_BYTES)).await;
        let process = Process { socket, death, end };
        match welcome {
            Ok(Ok(Some(Welcome::Ready(_)))) => Ok(process),
            Ok(Ok(Some(Welcome::Refused(why)))) => Err(Lost::Broken(why)),
            Ok(said) => Err(process.lost(&said.err().map_or("it sent nothing".to_owned(), |it| it.to_string())).await),
            Err(_) => Err(Lost::Broken("it took too long to start".to_owned())),
        }
    }

    /// Opens a connection to it.
    pub(crate) async fn connect(&self) -> Result<UnixStream, Lost> {
        let pass = async {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let send = || pass::send(&self.socket, 0, &[theirs.as_fd()]);
            self.socket.async_io(Interest::WRITABLE, send).await?;
            bootstrap::connect(ours.into())
        };
        match pass.await {
            Ok(stream) => Ok(stream),
            Err(error) => Err(self.lost(&error.to_string()).await),
        }
    }

    /// Returns false after its death.
    pub(crate) fn is_alive(&self) -> bool {
        self.death.borrow().is_none()
    }

    /// Returns the reason for which a connection broke off: its death, or `why`.
    pub(crate) async fn lost(&self, why: &str) -> Lost {
        match tokio::time::timeout(EXIT_TIME, self.died()).await {
            Ok(how) => Lost::Died(how),
            Err(_) => Lost::Broken(why.to_owned()),
        }
    }

    /// Waits for its death, and returns the reason.
    async fn died(&self) -> String {
        let mut death = self.death.clone();
        match death.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            Err(_) => describe(None),
        }
    }

    /// Kills it with its requests, and waits until its resources are free.
    pub(crate) async fn end(&self) {
        self.end.send_replace(true);
        self.died().await;
    }
}

/// Publishes the reason of the worker's death, and kills it when `ended` is set or dropped.
async fn supervise(mut life: UnixStream, mut ended: watch::Receiver<bool>, told: watch::Sender<Option<String>>) {
    let mut status = [0; 2];
    let over = async {
        // An error says that the process was dropped.
        let _ = ended.wait_for(|is_over| *is_over).await;
    };
    let read: io::Result<usize> = tokio::select! {
        read = life.read_exact(&mut status) => read,
        () = over => {
            // An error says that the spawner has gone, and the worker with it.
            let _ = life.shutdown().await;
            life.read_exact(&mut status).await
        }
    };
    // An error says that the process was dropped.
    let _ = told.send(Some(describe(read.is_ok().then_some(status))));
}
