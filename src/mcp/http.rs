//! Clients over HTTP: connections, who may connect, and what of a request is looked at before the protocol is.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::bounds;
use super::seat::Origin;
use super::server::{Server, Whose};
use super::sessions::{SESSION_ID, Sessions};
use super::workers::Workers;
use crate::worker::Spawner;

/// Where the protocol is spoken.
const PATH: &str = "/mcp";

/// Who may connect, and for how long.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// What a client has to send as `Authorization: Bearer …`. Without it the address has to be a loopback one.
    pub api_key: Option<String>,
    /// Pages of these origins may connect from a browser; without any, none may.
    pub allow_origins: Vec<String>,
    /// Sessions at a time.
    pub sessions: usize,
    /// A session without a message for so long is ended.
    pub idle: Duration,
}

impl Default for HttpSettings {
    fn default() -> HttpSettings {
        HttpSettings { api_key: None, allow_origins: Vec::new(), sessions: 16, idle: Duration::from_secs(600) }
    }
}

/// Serves clients until `stop` is there. What they left running has ended then.
pub async fn serve_http(
    origin: Arc<Origin>,
    listener: TcpListener,
    settings: HttpSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?.ip();
    let ended = CancellationToken::new();
    let front = Front::new(origin, settings, address, ended.clone());
    accept(listener, front, ended, stop).await
}

/// As `serve_http`, with each session in a process of its own.
pub async fn serve_http_isolated(
    spawner: Spawner,
    listener: TcpListener,
    settings: HttpSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let HttpSettings { api_key, allow_origins: _, sessions, idle } = settings;
    let front = Front { api_key, desk: Desk::Workers(Workers::new(spawner, sessions, idle)) };
    accept(listener, front, CancellationToken::new(), stop).await
}

async fn accept(
    listener: TcpListener,
    front: Front,
    ended: CancellationToken,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    if !listener.local_addr()?.ip().is_loopback() && front.api_key.is_none() {
        return Err(io::Error::other("an address that others can reach needs a key"));
    }
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let front = Arc::new(front);
    let tending = Arc::clone(&front);
    let tending = tokio::spawn(async move { tending.desk.tend().await });
    let room = Arc::new(Semaphore::new(bounds::CONNECTIONS));
    let mut stop = std::pin::pin!(stop);
    loop {
        let connection = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let connection = match connection {
            Ok((connection, _)) => connection,
            Err(_) => {
                // Out of descriptors, say: those that are there have to end first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // One too many is closed at once: it would only wait for others to end.
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
        let (front, ended) = (Arc::clone(&front), ended.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = talk(connection, front) => {}
                () = ended.cancelled() => {}
            }
            drop(permit);
        });
    }
    tending.abort();
    front.desk.close().await;
    ended.cancel();
    Ok(())
}

/// Answers what comes on a connection until it ends.
pub(super) async fn talk(connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, front: Arc<Front>) {
    let answer = service_fn(move |request| {
        let front = Arc::clone(&front);
        async move { Ok::<_, Infallible>(front.answer(request).await) }
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(bounds::REQUEST_TIME);
    // A client that breaks off is no news.
    let _ = protocol.serve_connection(TokioIo::new(connection), answer).await;
}

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What stands before the protocol.
pub(super) struct Front {
    api_key: Option<String>,
    desk: Desk,
}

/// Where the sessions are.
enum Desk {
    /// In this process.
    Here(Arc<Sessions>, StreamableHttpService<Server, Sessions>),
    /// In processes of their own.
    Workers(Workers),
}

impl Desk {
    fn is_full(&self) -> bool {
        match self {
            Desk::Here(sessions, _) => sessions.is_full(),
            Desk::Workers(workers) => workers.is_full(),
        }
    }

    fn knows(&self, id: &str) -> bool {
        match self {
            Desk::Here(sessions, _) => sessions.seat(id).is_some(),
            Desk::Workers(workers) => workers.knows(id),
        }
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        match self {
            Desk::Here(_, protocol) => protocol.handle(request).await,
            Desk::Workers(workers) => workers.answer(request).await,
        }
    }

    /// Ends what nobody uses. The library's sessions do so themselves.
    async fn tend(&self) {
        if let Desk::Workers(workers) = self {
            workers.tend().await;
        }
    }

    /// Ends all sessions.
    async fn close(&self) {
        match self {
            Desk::Here(sessions, _) => sessions.close().await,
            Desk::Workers(workers) => workers.close().await,
        }
    }
}

impl Front {
    pub(super) fn new(origin: Arc<Origin>, settings: HttpSettings, address: IpAddr, ended: CancellationToken) -> Front {
        let HttpSettings { api_key, allow_origins, sessions, idle } = settings;
        let sessions = Arc::new(Sessions::new(Arc::clone(&origin), sessions, idle));
        let mut config = StreamableHttpServerConfig::default()
            .with_sse_keep_alive(Some(bounds::KEEP_ALIVE))
            .with_sse_retry(None)
            .with_max_request_body_bytes(bounds::MESSAGE_BYTES)
            .with_cancellation_token(ended)
            .with_allowed_origins(allow_origins)
            .enforce_origin_validation();
        config = match address.is_loopback() {
            true => config.with_allowed_hosts(["localhost".to_owned(), address.to_string()]),
            // Nobody knows by which names a machine is called. A page that has its name point here has no key.
            false => config.disable_allowed_hosts(),
        };
        let server = Server { origin, whose: Whose::Session(Arc::clone(&sessions)) };
        let protocol = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        Front { api_key, desk: Desk::Here(sessions, protocol) }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if !self.is_known(request.headers()) {
            return with(plain(StatusCode::UNAUTHORIZED, "the key is missing or wrong"), WWW_AUTHENTICATE, "Bearer");
        }
        let is_post = request.method() == Method::POST;
        match request.headers().get(SESSION_ID) {
            None if is_post && self.desk.is_full() => {
                let answer = plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions");
                return with(answer, RETRY_AFTER, "10");
            }
            Some(id) if !id.to_str().is_ok_and(|id| self.desk.knows(id)) => {
                return plain(StatusCode::NOT_FOUND, "there is no such session");
            }
            _ => {}
        }
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(bounds::REQUEST_TIME, read(body)).await {
            Ok(Ok(body)) => body,
            Ok(Err(answer)) => return answer,
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request took too long to come"),
        };
        if is_post && let Err(error) = serde_json::from_slice::<IgnoredAny>(&body) {
            return not_json(&error);
        }
        let is_delete = head.method == Method::DELETE;
        let mut answer = self.desk.answer(Request::from_parts(head, Full::new(body))).await;
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            // It is done, not only accepted: clients take the latter for a failure.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    fn is_known(&self, head: &HeaderMap) -> bool {
        let Some(key) = &self.api_key else { return true };
        let sent = head.get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        sent.is_some_and(|sent| is_same(sent, key.as_bytes()))
    }
}

/// Whether two keys are the same, in a time that does not tell how much of them is.
fn is_same(sent: &[u8], key: &[u8]) -> bool {
    let difference = sent.iter().zip(key).fold(0, |difference, (a, b)| difference | (a ^ b));
    std::hint::black_box(difference) == 0 && sent.len() == key.len()
}

async fn read(body: Incoming) -> Result<Bytes, Answer> {
    match Limited::new(body, bounds::MESSAGE_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let text = format!("a message of more than {} bytes", bounds::MESSAGE_BYTES);
            Err(plain(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Err(_) => Err(plain(StatusCode::BAD_REQUEST, "the request is not whole")),
    }
}

pub(super) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer
}

pub(super) fn with(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}

fn not_json(error: &serde_json::Error) -> Answer {
    let message = format!("not JSON: {error}");
    let text = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": message } });
    with(plain(StatusCode::BAD_REQUEST, text.to_string()), CONTENT_TYPE, "application/json")
}
