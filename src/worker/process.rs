//! A worker of a server, from the server's side: a process that takes connections.

use std::io;
use std::os::fd::AsFd;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::spawner::{Spawner, words};
use super::wire::{self, Welcome};
use super::{LAST_MOMENTS, START, outset, pass};

/// A worker that takes connections. When this is dropped it is killed.
pub(crate) struct Process {
    /// Connections go over it, as descriptors.
    socket: UnixStream,
    /// How it died, once it has.
    death: watch::Receiver<Option<String>>,
    /// Whether it is to be killed.
    end: watch::Sender<bool>,
}

/// Why there is no worker, or no answer from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    /// It died, and this is how.
    #[error("worker died: {0}")]
    Died(String),
    /// It lives, and was asked something that is not whole.
    #[error("body: {0}")]
    Request(String),
    /// It lives, and does not do what it should.
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
        tokio::spawn(attend(life, ended, told));
        // From here on it dies with this value.
        let welcome = tokio::time::timeout(START, wire::read(&mut socket, wire::HELLO_BYTES)).await;
        let process = Process { socket, death, end };
        match welcome {
            Ok(Ok(Some(Welcome::Ready(_)))) => Ok(process),
            Ok(Ok(Some(Welcome::Refused(why)))) => Err(Lost::Broken(why)),
            Ok(said) => Err(process.lost(&said.err().map_or("it said nothing".to_owned(), |it| it.to_string())).await),
            Err(_) => Err(Lost::Broken("it took too long to start".to_owned())),
        }
    }

    /// A connection to it.
    pub(crate) async fn connect(&self) -> Result<UnixStream, Lost> {
        let pass = async {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let send = || pass::send(&self.socket, 0, &[theirs.as_fd()]);
            self.socket.async_io(Interest::WRITABLE, send).await?;
            outset::connect(ours.into())
        };
        match pass.await {
            Ok(stream) => Ok(stream),
            Err(error) => Err(self.lost(&error.to_string()).await),
        }
    }

    /// Whether it has not died yet.
    pub(crate) fn is_alive(&self) -> bool {
        self.death.borrow().is_none()
    }

    /// Why a connection to it broke off: it died, or this went wrong.
    pub(crate) async fn lost(&self, why: &str) -> Lost {
        match tokio::time::timeout(LAST_MOMENTS, self.died()).await {
            Ok(how) => Lost::Died(how),
            Err(_) => Lost::Broken(why.to_owned()),
        }
    }

    /// Waits until it has died, and says how.
    async fn died(&self) -> String {
        let mut death = self.death.clone();
        match death.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            Err(_) => words(None),
        }
    }

    /// Kills it, whoever uses it, and waits until all that it held is free.
    pub(crate) async fn end(&self) {
        self.end.send_replace(true);
        self.died().await;
    }
}

/// Tells how the worker died; and has it killed when nobody wants it any more.
async fn attend(mut life: UnixStream, mut ended: watch::Receiver<bool>, told: watch::Sender<Option<String>>) {
    let mut obituary = [0; 2];
    let over = async {
        // Or nobody can want it any more.
        let _ = ended.wait_for(|is_over| *is_over).await;
    };
    let read: io::Result<usize> = tokio::select! {
        read = life.read_exact(&mut obituary) => read,
        () = over => {
            // Its spawner may be gone, and it with that.
            let _ = life.shutdown().await;
            life.read_exact(&mut obituary).await
        }
    };
    // Nobody may be left to hear it.
    let _ = told.send(Some(words(read.is_ok().then_some(obituary))));
}
