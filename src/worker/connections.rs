//! A worker of a server, from its own side: its work comes as connections.

use std::os::fd::OwnedFd;
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use super::outset::{self, Begun};
use super::pass;
use super::wire::{self, Welcome};
use crate::wall::{Wall, WallError};

/// Is a worker: opens what it is told to be, behind its wall, and talks on every connection that comes. For `main`, before
/// it starts any thread; a [`Spawner`](super::Spawner) is who calls such a program.
pub(crate) fn serve<T: DeserializeOwned, S: Clone, W: Future<Output = ()> + Send + 'static>(
    wall: impl FnOnce(&T) -> Result<Wall, WallError>,
    open: impl FnOnce(T) -> Result<S, String>,
    talk: impl Fn(S, UnixStream) -> W,
) -> ExitCode {
    let Begun { task, socket, report } = match outset::begin(wall) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    outset::run(async {
        let _deaf = outset::deafen()?;
        let mut stream = outset::connect(socket.try_clone()?)?;
        outset::watch(socket)?;
        let (welcome, place) = match report.and_then(|report| Ok((report, open(task)?))) {
            Ok((report, place)) => (Welcome::Ready(report), Some(place)),
            Err(why) => (Welcome::Refused(why), None),
        };
        let welcome = wire::frame(&welcome, wire::HELLO_BYTES).map_err(std::io::Error::other)?;
        stream.write_all(&welcome).await?;
        let Some(place) = place else { return Ok(()) };
        while let Some(connection) = next(&stream).await? {
            tokio::spawn(talk(place.clone(), outset::connect(connection)?));
        }
        Ok(())
    })
}

async fn next(stream: &UnixStream) -> std::io::Result<Option<OwnedFd>> {
    loop {
        match stream.async_io(Interest::READABLE, || pass::receive(stream)).await? {
            // One that got lost on the way, for want of room among the open files: its other end is closed, too.
            Some((_, handles)) if handles.is_empty() => {}
            Some((_, mut handles)) => return Ok(handles.pop()),
            None => return Ok(None),
        }
    }
}
