//! What comes with a request: bodies within bounds, JSON, queries, ids.
//!
//! axum's own extractors answer in their own words, and buffer before they look; so these are ours.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::App;
use super::error::{ApiError, Kind, Result};

/// How long a body may bring nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of all bodies that are in memory.
const BUFFERED: usize = 1 << 30;
/// What that is counted in: a permit is this many bytes, and the first piece of a body takes one.
const PAGE: usize = 64 << 10;

/// Room for bodies in memory.
pub(super) fn room() -> Semaphore {
    Semaphore::new(BUFFERED / PAGE)
}

/// A body of JSON. The second part is its room, which lasts as long as it does.
#[allow(dead_code, reason = "the room is held, not read")]
pub(super) struct Json<T>(pub(super) T, pub(super) Room);

/// A body of bytes, as large as a file may be.
#[allow(dead_code, reason = "the room is held, not read")]
pub(super) struct Raw(pub(super) Bytes, pub(super) Room);

/// A part of the room for bodies.
pub(super) type Room = Vec<OwnedSemaphorePermit>;

/// What stands behind the question mark.
pub(super) struct Query<T>(pub(super) T);

/// What stands in the path.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Json<T>> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            return Err(ApiError::new(Kind::MediaType, "expected a body with Content-Type: application/json"));
        }
        let (bytes, room) = read(&parts.headers, body, app.settings.max_body, app).await?;
        // A list of values would do for an object to serde: nobody means that.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(ApiError::new(Kind::BadRequest, "expected a JSON object"));
        }
        let value = serde_json::from_slice(&bytes);
        let value = value.map_err(|error| ApiError::new(Kind::BadRequest, error.to_string()))?;
        Ok(Json(value, room))
    }
}

impl FromRequest<App> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Raw> {
        let (parts, body) = request.into_parts();
        let (bytes, room) = read(&parts.headers, body, app.limits.file, app).await?;
        Ok(Raw(bytes, room))
    }
}

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Query<T>> {
        match axum::extract::Query::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Query(value)),
            Err(error) => Err(ApiError::new(Kind::BadRequest, error.body_text())),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Named<T>> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(value)) => Ok(Named(value)),
            Err(error) => Err(ApiError::new(Kind::NotFound, error.body_text())),
        }
    }
}

/// The pieces of a body, of which there may be so many bytes: one that says that it has more is refused at once.
pub(super) fn pieces(
    headers: &HeaderMap,
    body: Body,
    most: u64,
) -> Result<impl futures::Stream<Item = Result<Bytes>> + Send + Unpin + use<>> {
    let too_large = move || ApiError::new(Kind::TooLarge, format!("the body has more than {most} bytes"));
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let stream = body.into_data_stream();
    let pieces = futures::stream::try_unfold((stream, 0_u64), move |(mut stream, before)| async move {
        let piece = match tokio::time::timeout(PATIENCE, stream.next()).await {
            Err(_) => return Err(ApiError::new(Kind::RequestTimeout, "the body does not come")),
            Ok(None) => return Ok(None),
            Ok(Some(Err(error))) => return Err(ApiError::new(Kind::BadRequest, format!("body: {error}"))),
            Ok(Some(Ok(piece))) => piece,
        };
        let bytes = before.saturating_add(piece.len() as u64);
        if bytes > most { Err(too_large()) } else { Ok(Some((piece, (stream, bytes)))) }
    });
    Ok(Box::pin(pieces))
}

/// A whole body. Room is taken as it comes, not as it is announced: a header costs nothing.
async fn read(headers: &HeaderMap, body: Body, most: u64, app: &App) -> Result<(Bytes, Room)> {
    let mut pieces = pieces(headers, body, most)?;
    let (mut bytes, mut room, mut pages) = (BytesMut::new(), Room::new(), 0);
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        let more = (bytes.len() + piece.len()).div_ceil(PAGE).saturating_sub(pages);
        let permit = app.room.clone().try_acquire_many_owned(u32::try_from(more).unwrap_or(u32::MAX));
        room.push(permit.map_err(|_| ApiError::new(Kind::Overloaded, "no room for this body: try again"))?);
        pages += more;
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes.freeze(), room))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}
