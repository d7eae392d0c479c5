//! An HTTP request to a worker. Each has a connection of its own, so that the worker sees when the client
//! disconnects.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::handshake;
use hyper::header::{
    AUTHORIZATION, CONNECTION, EXPECT, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use super::process::{Lost, Process};

/// The headers that hold for one connection and not for the next.
const OF_ONE_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    EXPECT,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The headers with keys. A worker that was taken over must not know them.
const KEYS: [HeaderName; 2] = [AUTHORIZATION, HeaderName::from_static("x-api-key")];

/// Sends a request to a worker. Dropping the future or the response ends the request there.
pub(crate) async fn ask<B>(process: &Arc<Process>, mut request: Request<B>) -> Result<Response<Pieces>, Lost>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    clean(request.headers_mut());
    KEYS.iter().for_each(|name| drop(request.headers_mut().remove(name)));
    let stream = TokioIo::new(process.connect().await?);
    let (mut sender, connection) = match handshake(stream).await {
        Ok(shaken) => shaken,
        Err(error) => return Err(process.lost(&error.to_string()).await),
    };
    let connection = tokio::spawn(async move {
        // The error reaches the request that waits for the answer.
        let _ = connection.await;
    });
    let connection = Connection(connection.abort_handle());
    match sender.send_request(request).await {
        Ok(answer) => {
            let mut answer = answer.map(|body| Pieces { body, process: process.clone(), _connection: connection });
            clean(answer.headers_mut());
            Ok(answer)
        }
        // The body of the request broke off, which is not the worker's fault.
        Err(error) if error.is_user() => {
            Err(Lost::Request(error.source().map_or_else(|| error.to_string(), ToString::to_string)))
        }
        Err(error) => Err(process.lost(&error.to_string()).await),
    }
}

/// Removes the headers of one connection.
fn clean(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    named.iter().chain(&OF_ONE_CONNECTION).for_each(|name| drop(headers.remove(name)));
}

/// Ends a connection when it is dropped.
struct Connection(AbortHandle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a response, piece by piece.
pub(crate) struct Pieces {
    body: Incoming,
    process: Arc<Process>,
    _connection: Connection,
}

impl Pieces {
    /// Returns the next piece; after an error there are no more.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Lost>> {
        loop {
            match std::future::poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await? {
                Ok(frame) => {
                    // Other frames are trailers, which the worker's server does not send.
                    if let Ok(bytes) = frame.into_data() {
                        return Some(Ok(bytes));
                    }
                }
                Err(error) => return Some(Err(self.process.lost(&error.to_string()).await)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_connection_stays_there() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Private"),
            ("x-private", "1"),
            ("transfer-encoding", "chunked"),
            ("expect", "100-continue"),
            ("host", "localhost"),
            ("content-length", "3"),
        ] {
            headers.insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        clean(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["host", "content-length"]);
    }
}
