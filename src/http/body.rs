//! Extractors: bounded bodies, JSON, queries, path parameters.
//!
//! axum's own extractors have other error texts and buffer a body before they check its size.

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
use crate::limits::server::http::{BODIES_BYTES, BODY_PAGE_BYTES, BODY_TIMEOUT};

/// Makes the budget for bodies in memory. A permit is one page.
pub(super) fn body_budget() -> Semaphore {
    Semaphore::new(BODIES_BYTES / BODY_PAGE_BYTES)
}

/// A JSON body. The permits for its bytes are held as long as it is.
#[allow(dead_code, reason = "the permits are held, not read")]
pub(super) struct Json<T>(pub(super) T, pub(super) BodyPermits);

/// A body of bytes, as large as a file of the sandbox may be.
#[allow(dead_code, reason = "the permits are held, not read")]
pub(super) struct Raw(pub(super) Bytes, pub(super) BodyPermits);

/// The share of the budget that a body holds.
pub(super) type BodyPermits = Vec<OwnedSemaphorePermit>;

/// The query of a request.
pub(super) struct Query<T>(pub(super) T);

/// The parameters in the path of a request.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Json<T>> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            return Err(ApiError::new(Kind::MediaType, "expected a body with Content-Type: application/json"));
        }
        let (bytes, permits) = read(&parts.headers, body, app.settings.max_body, app).await?;
        // serde also reads an array as a struct, which no client means.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(ApiError::new(Kind::BadRequest, "expected a JSON object"));
        }
        let value = serde_json::from_slice(&bytes);
        let value = value.map_err(|error| ApiError::new(Kind::BadRequest, error.to_string()))?;
        Ok(Json(value, permits))
    }
}

impl FromRequest<App> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Raw> {
        let (parts, body) = request.into_parts();
        let (bytes, permits) = read(&parts.headers, body, app.limits.file, app).await?;
        Ok(Raw(bytes, permits))
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

/// Returns the pieces of a body of at most `most` bytes. A body that declares more is refused at once.
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
        let piece = match tokio::time::timeout(BODY_TIMEOUT, stream.next()).await {
            Err(_) => return Err(ApiError::new(Kind::RequestTimeout, "the body did not arrive in time")),
            Ok(None) => return Ok(None),
            Ok(Some(Err(error))) => return Err(ApiError::new(Kind::BadRequest, format!("body: {error}"))),
            Ok(Some(Ok(piece))) => piece,
        };
        let bytes = before.saturating_add(piece.len() as u64);
        if bytes > most { Err(too_large()) } else { Ok(Some((piece, (stream, bytes)))) }
    });
    Ok(Box::pin(pieces))
}

/// Reads a whole body. Permits are taken for received bytes, not for declared ones: a header costs nothing.
async fn read(headers: &HeaderMap, body: Body, most: u64, app: &App) -> Result<(Bytes, BodyPermits)> {
    let mut pieces = pieces(headers, body, most)?;
    let (mut bytes, mut permits, mut pages) = (BytesMut::new(), BodyPermits::new(), 0);
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        let more = (bytes.len() + piece.len()).div_ceil(BODY_PAGE_BYTES).saturating_sub(pages);
        let permit = app.body_budget.clone().try_acquire_many_owned(u32::try_from(more).unwrap_or(u32::MAX));
        permits.push(permit.map_err(|_| ApiError::new(Kind::Overloaded, "no room for this body: try again"))?);
        pages += more;
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes.freeze(), permits))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}
