//! Requests to the HTTP server, on a connection without a network: every input gets one response, and none is an
//! internal error.

use std::sync::LazyLock;
use std::time::Duration;

use isopod::http::{Service, Settings};
use isopod::provider::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::runtime::Runtime;

use super::almost;

/// Valid requests. The sandbox that they name exists.
pub const REQUESTS: &[&[u8]] = &[
    b"POST /v1/sandboxes/SANDBOX_/execute HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 42\r\n\r\n{\"command\": \"echo hi\", \"timeout_ms\": 1000}",
    b"POST /v1/sandboxes/SANDBOX_/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n{\"command\": \"echo hi\"}\r\n0\r\n\r\n",
    b"GET /v1/sandboxes/SANDBOX_/files/content?path=a%20b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: bytes=0-1\r\n\r\n",
    b"PUT /v1/sandboxes/SANDBOX_/files/content?path=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
    b"POST /v1/sandboxes/SANDBOX_/files/edit HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 39\r\n\r\n{\"path\": \"a\", \"old\": \"abc\", \"new\": \"b\"}",
    b"POST /v1/sandboxes/SANDBOX_/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"id\": \"s1\"}",
    b"GET /v1/sandboxes?cursor=00000000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: a\r\n\r\n",
    b"POST /s/SANDBOX_/v1/file/read HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"file\": \"a\"}",
    b"POST /v1/sandboxes/load HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\n\x28\xb5\x2f\xfd",
];

/// Timeout for the response to an input that may be half of a request.
const HALF: Duration = Duration::from_millis(20);

/// A server with one sandbox, its id, and its directory.
static SERVER: LazyLock<(Runtime, Service, String, tempfile::TempDir)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let root = tempfile::tempdir().expect("a directory");
    let mut config = Config::new(root.path());
    (config.limits.wall, config.limits.wall_max) = (Duration::from_secs(1), Duration::from_secs(1));
    let service = runtime.block_on(async { Service::open(Settings::default(), config) }).expect("a server");
    let id = isopod::provider::Provider::id_of("fuzz", None).expect("a name").to_string();
    // The first start takes longer than the timeout for half of a request.
    while !runtime.block_on(send(&service, &new())).starts_with(b"HTTP/1.1 20") {}
    (runtime, service, id, root)
});

/// Returns a request for the one sandbox.
fn new() -> Vec<u8> {
    let body = "{\"thread\": \"fuzz\"}";
    let head = "POST /v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Sends these bytes on a new connection, and reads until its end.
async fn send(service: &Service, request: &[u8]) -> Vec<u8> {
    let (mut client, server) = duplex(1 << 20);
    let service = service.clone();
    let served = tokio::spawn(async move { service.serve(server).await });
    // A server may stop reading before the end of the request.
    let _ = client.write_all(request).await;
    let mut answer = Vec::new();
    let mut client = client.take(64 << 20);
    // A client that closes at once counts as gone and gets no response; half of a request would be awaited for ever.
    if tokio::time::timeout(HALF, client.read_to_end(&mut answer)).await.is_err() {
        let _ = client.get_mut().shutdown().await;
        let _ = client.read_to_end(&mut answer).await;
    }
    assert!(served.await.is_ok(), "a panic got out: {:?}", String::from_utf8_lossy(request));
    answer
}

/// Sends a request.
pub fn http(data: &[u8]) {
    let (runtime, service, id, _) = &*SERVER;
    let request = almost(REQUESTS, data);
    // Puts the id of this server's sandbox into the request.
    let mut request = request;
    while let Some(at) = request.windows(8).position(|eight| eight == b"SANDBOX_") {
        request[at..at + 8].copy_from_slice(id.as_bytes());
    }
    runtime.block_on(async {
        let answer = tokio::time::timeout(Duration::from_secs(15), send(service, &request)).await;
        let shown = String::from_utf8_lossy(&request);
        let answer = answer.unwrap_or_else(|_| panic!("no end after {shown:?}"));
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1."),
            "{shown:?}: {:?}",
            answer.escape_ascii().to_string()
        );
        assert!(!answer.starts_with(b"HTTP/1.1 500"), "{shown:?}: {}", String::from_utf8_lossy(&answer));
        if request.starts_with(b"DELETE") {
            send(service, &new()).await;
        }
    });
}
