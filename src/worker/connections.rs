//! The main loop of a server's worker process, which serves connections that the server passes to it.

use std::os::fd::OwnedFd;
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use super::bootstrap::{self, Bootstrap};
use super::pass;
use super::wire::{self, Welcome};
use crate::limits::worker::HELLO_BYTES;
use crate::wall::{Wall, WallError};

/// Runs a worker: raises its wall, opens its service, and serves every connection. Call it in `main`, before any thread
/// is started. A [`Spawner`](super::Spawner) runs a program that calls this.
pub(crate) fn serve<T: DeserializeOwned, S: Clone, W: Future<Output = ()> + Send + 'static>(
    wall: impl FnOnce(&T) -> Result<Wall, WallError>,
    open: impl FnOnce(T) -> Result<S, String>,
    talk: impl Fn(S, UnixStream) -> W,
) -> ExitCode {
    let Bootstrap { task, socket, report } = match bootstrap::begin(wall) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    bootstrap::run(async {
        let _ignored = bootstrap::ignore_signals()?;
        let mut stream = bootstrap::connect(socket.try_clone()?)?;
        bootstrap::watch(socket)?;
        let (welcome, service) = match report.and_then(|report| Ok((report, open(task)?))) {
            Ok((report, service)) => (Welcome::Ready(report), Some(service)),
            Err(why) => (Welcome::Refused(why), None),
        };
        let welcome = wire::frame(&welcome, HELLO_BYTES).map_err(std::io::Error::other)?;
        stream.write_all(&welcome).await?;
        let Some(service) = service else { return Ok(()) };
        while let Some(connection) = next(&stream).await? {
            tokio::spawn(talk(service.clone(), bootstrap::connect(connection)?));
        }
        Ok(())
    })
}

async fn next(stream: &UnixStream) -> std::io::Result<Option<OwnedFd>> {
    loop {
        match stream.async_io(Interest::READABLE, || pass::receive(stream)).await? {
            // The descriptor was lost because this process has too many open files. Its other end is closed, too.
            Some((_, handles)) if handles.is_empty() => {}
            Some((_, mut handles)) => return Ok(handles.pop()),
            None => return Ok(None),
        }
    }
}
