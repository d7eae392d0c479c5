//! MCP over HTTP: accepts connections, and checks key, session and body of a request before the protocol library sees
//! it.

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

use super::server::{Clients, Server};
use super::session::SessionTemplate;
use super::session_table::{ClientSessions, SESSION_ID};
use super::session_workers::SessionWorkers;
use crate::limits::server::mcp as limits;
use crate::worker::Spawner;

/// The path of the protocol.
const PATH: &str = "/mcp";

/// The settings of a server over HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The key that clients send as `Authorization: Bearer …`. Without a key the address must be a loopback one.
    pub api_key: Option<String>,
    /// Origins whose web pages may connect. By default none may.
    pub allow_origins: Vec<String>,
    /// Sessions at the same time.
    pub sessions: usize,
    /// The time after which a session without a message ends.
    pub idle: Duration,
}

impl Default for HttpSettings {
    fn default() -> HttpSettings {
        HttpSettings {
            api_key: None,
            allow_origins: Vec::new(),
            sessions: limits::DEFAULT_SESSIONS,
            idle: limits::DEFAULT_IDLE_TIMEOUT,
        }
    }
}

/// Serves clients until `stop` resolves. All their commands have ended when this returns.
pub async fn serve_http(
    template: Arc<SessionTemplate>,
    listener: TcpListener,
    settings: HttpSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?.ip();
    let ended = CancellationToken::new();
    let endpoint = Endpoint::new(template, settings, address, ended.clone());
    accept(listener, endpoint, ended, stop).await
}

/// Does the same as [`serve_http`], with each session in a process of its own.
pub async fn serve_http_isolated(
    spawner: Spawner,
    listener: TcpListener,
    settings: HttpSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let HttpSettings { api_key, allow_origins: _, sessions, idle } = settings;
    let endpoint = Endpoint { api_key, host: SessionHost::Workers(SessionWorkers::new(spawner, sessions, idle)) };
    accept(listener, endpoint, CancellationToken::new(), stop).await
}

async fn accept(
    listener: TcpListener,
    endpoint: Endpoint,
    ended: CancellationToken,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    if !listener.local_addr()?.ip().is_loopback() && endpoint.api_key.is_none() {
        return Err(io::Error::other("an address that others can reach needs a key"));
    }
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let endpoint = Arc::new(endpoint);
    let tending = Arc::clone(&endpoint);
    let tending = tokio::spawn(async move { tending.host.tend().await });
    let permits = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut stop = std::pin::pin!(stop);
    loop {
        let connection = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let connection = match connection {
            Ok((connection, _)) => connection,
            Err(_) => {
                // The process is out of descriptors, say: open connections have to end first.
                tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                continue;
            }
        };
        // A connection over the bound is closed at once. It would only wait for others to end.
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        let (endpoint, ended) = (Arc::clone(&endpoint), ended.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve_connection(connection, endpoint) => {}
                () = ended.cancelled() => {}
            }
            drop(permit);
        });
    }
    tending.abort();
    endpoint.host.close().await;
    ended.cancel();
    Ok(())
}

/// Serves a connection until it ends.
pub(super) async fn serve_connection(
    connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    endpoint: Arc<Endpoint>,
) {
    let answer = service_fn(move |request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits::REQUEST_TIME);
    // A client that disconnects is no error.
    let _ = protocol.serve_connection(TokioIo::new(connection), answer).await;
}

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The HTTP endpoint of the server.
pub(super) struct Endpoint {
    api_key: Option<String>,
    host: SessionHost,
}

/// The place of the sessions.
enum SessionHost {
    /// In this process.
    Local(Arc<ClientSessions>, StreamableHttpService<Server, ClientSessions>),
    /// In processes of their own.
    Workers(SessionWorkers),
}

impl SessionHost {
    fn is_full(&self) -> bool {
        match self {
            SessionHost::Local(sessions, _) => sessions.is_full(),
            SessionHost::Workers(workers) => workers.is_full(),
        }
    }

    fn contains(&self, id: &str) -> bool {
        match self {
            SessionHost::Local(sessions, _) => sessions.get(id).is_some(),
            SessionHost::Workers(workers) => workers.contains(id),
        }
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        match self {
            SessionHost::Local(_, protocol) => protocol.handle(request).await,
            SessionHost::Workers(workers) => workers.answer(request).await,
        }
    }

    /// Ends idle sessions. The library does that for the local ones.
    async fn tend(&self) {
        if let SessionHost::Workers(workers) = self {
            workers.tend().await;
        }
    }

    /// Ends all sessions.
    async fn close(&self) {
        match self {
            SessionHost::Local(sessions, _) => sessions.close().await,
            SessionHost::Workers(workers) => workers.close().await,
        }
    }
}

impl Endpoint {
    pub(super) fn new(
        template: Arc<SessionTemplate>,
        settings: HttpSettings,
        address: IpAddr,
        ended: CancellationToken,
    ) -> Endpoint {
        let HttpSettings { api_key, allow_origins, sessions, idle } = settings;
        let sessions = Arc::new(ClientSessions::new(Arc::clone(&template), sessions, idle));
        let mut config = StreamableHttpServerConfig::default()
            .with_sse_keep_alive(Some(limits::KEEP_ALIVE))
            .with_sse_retry(None)
            .with_max_request_body_bytes(limits::MESSAGE_BYTES)
            .with_cancellation_token(ended)
            .with_allowed_origins(allow_origins)
            .enforce_origin_validation();
        config = match address.is_loopback() {
            true => config.with_allowed_hosts(["localhost".to_owned(), address.to_string()]),
            // A server cannot know all names of its machine. A web page whose name was made to resolve to this address
            // has no key.
            false => config.disable_allowed_hosts(),
        };
        let server = Server { template, clients: Clients::Many(Arc::clone(&sessions)) };
        let protocol = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        Endpoint { api_key, host: SessionHost::Local(sessions, protocol) }
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
            None if is_post && self.host.is_full() => {
                let answer = plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions");
                return with(answer, RETRY_AFTER, "10");
            }
            Some(id) if !id.to_str().is_ok_and(|id| self.host.contains(id)) => {
                return plain(StatusCode::NOT_FOUND, "there is no such session");
            }
            _ => {}
        }
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(limits::REQUEST_TIME, read(body)).await {
            Ok(Ok(body)) => body,
            Ok(Err(answer)) => return answer,
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time"),
        };
        if is_post && let Err(error) = serde_json::from_slice::<IgnoredAny>(&body) {
            return not_json(&error);
        }
        let is_delete = head.method == Method::DELETE;
        let mut answer = self.host.answer(Request::from_parts(head, Full::new(body))).await;
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            // The session has ended, which is more than "accepted"; some clients take that status for a failure.
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

/// Compares two keys in a time that does not depend on their common prefix.
fn is_same(sent: &[u8], key: &[u8]) -> bool {
    let difference = sent.iter().zip(key).fold(0, |difference, (a, b)| difference | (a ^ b));
    std::hint::black_box(difference) == 0 && sent.len() == key.len()
}

async fn read(body: Incoming) -> Result<Bytes, Answer> {
    match Limited::new(body, limits::MESSAGE_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let text = format!("a message of more than {} bytes", limits::MESSAGE_BYTES);
            Err(plain(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Err(_) => Err(plain(StatusCode::BAD_REQUEST, "the request is incomplete")),
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
