//! Snapshots: all files of a sandbox as one file, and a sandbox from such a file. Both are streamed, never held in
//! memory.

use std::io::{self, Read, Write};

use axum::Json as Answer;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use bytes::{Buf, Bytes, BytesMut};
use futures::StreamExt;
use tokio::sync::mpsc;

use super::sandboxes::{Sandbox, describe};
use crate::http::App;
use crate::http::body::{Named, pieces};
use crate::http::error::{ApiError, Kind, Result};
use crate::limits::server::http::{SNAPSHOT_PIECE_BYTES, SNAPSHOT_PIECES};
use crate::provider::{Metadata, ProviderError};
use crate::sandbox::Snapshot;

/// Download all files of a sandbox: a tar archive in zstd, followed by its digest.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}/snapshot", tag = "sandboxes", params(("id" = String, Path)),
    responses((status = 200, body = Vec<u8>, content_type = "application/zstd"))
)]
pub(in crate::http) async fn save(State(app): State<App>, Named(id): Named<String>) -> Result<impl IntoResponse> {
    let lease = app.lease(id.parse()?).await?;
    let (to, from) = mpsc::channel(SNAPSHOT_PIECES);
    let writer = ChannelWriter { to: to.clone(), piece: BytesMut::with_capacity(SNAPSHOT_PIECE_BYTES) };
    tokio::spawn(async move {
        if let Err(error) = app.provider.snapshot(lease.sandbox_id(), writer).await {
            // The status line was sent already, so the answer can only break off. A failed send means that the client
            // disconnected.
            let _ = to.send(Err(io::Error::other(error.to_string()))).await;
        }
    });
    let body = futures::stream::unfold(from, |mut from: mpsc::Receiver<io::Result<Bytes>>| async move {
        from.recv().await.map(|piece| (piece, from))
    });
    Ok(([(header::CONTENT_TYPE, "application/zstd")], Body::from_stream(body)))
}

/// Create a sandbox from the `/workspace` of a snapshot.
#[utoipa::path(
    post, path = "/v1/sandboxes/load", tag = "sandboxes",
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 201, body = Sandbox))
)]
pub(in crate::http) async fn load(State(app): State<App>, request: Request) -> Result<(StatusCode, Answer<Sandbox>)> {
    let (parts, body) = request.into_parts();
    let mut pieces = pieces(&parts.headers, body, app.limits.disk)?;
    let (to, from) = mpsc::channel(SNAPSHOT_PIECES);
    let limits = app.limits.clone();
    let loading =
        tokio::task::spawn_blocking(move || Snapshot::load(ChannelReader { from, piece: Bytes::new() }, &limits, None));
    let feeding = async move {
        while let Some(piece) = pieces.next().await {
            // The reader ended early. Its result says why.
            if to.send(piece?).await.is_err() {
                break;
            }
        }
        Ok::<_, ApiError>(())
    };
    let (loaded, fed) = tokio::join!(loading, feeding);
    fed?;
    let loaded = loaded.map_err(|error| ApiError::new(Kind::Internal, error.to_string()))?;
    let (snapshot, _) = loaded.map_err(|error| ApiError::new(Kind::InvalidSnapshot, error.to_string()))?;
    let id = match app.provider.create_from(&snapshot, Metadata::new()).await {
        Err(ProviderError::Copy(why)) => return Err(ApiError::new(Kind::InvalidSnapshot, why)),
        answer => answer?,
    };
    Ok((StatusCode::CREATED, describe(&app, id).await?))
}

/// Writes to a channel, on a thread that may block.
struct ChannelWriter {
    to: mpsc::Sender<io::Result<Bytes>>,
    piece: BytesMut,
}

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= SNAPSHOT_PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.piece.is_empty() {
            true => Ok(()),
            false => {
                let piece = self.piece.split().freeze();
                self.to.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
        }
    }
}

/// Reads from a channel, on a thread that may block.
struct ChannelReader {
    from: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl Read for ChannelReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.from.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let count = to.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut to[..count]);
        Ok(count)
    }
}
