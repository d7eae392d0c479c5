//! Connections: accepted, served, and ended.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::patience::Patient;

/// Connections at the same time; the next one waits to be accepted. Each is a file of this process, which often has a
/// limit of that order.
const CONNECTIONS: usize = 1024;
/// How long the head of a request may take to come, and so how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// Bytes of a head, and of what is read at once.
const HEAD_BYTES: usize = 64 << 10;
/// How long a client may take not a single byte of its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait when the host has no more handles.
const BREATH: Duration = Duration::from_millis(50);

/// Serves connections until `stop`, and those that are there then until `stop` again or the end of the grace. Answers how
/// many were cut off.
pub(super) async fn serve<F: Future<Output = ()>>(
    listener: TcpListener,
    router: Router,
    grace: Duration,
    mut stop: impl FnMut() -> F,
) -> usize {
    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let mut first = std::pin::pin!(stop());
    loop {
        let accepted = async {
            let permit = permits.clone().acquire_owned().await;
            (listener.accept().await, permit)
        };
        tokio::select! {
            biased;
            () = &mut first => break,
            Some(_) = connections.join_next() => {}
            (accepted, permit) = accepted => match accepted {
                Ok((stream, _)) => {
                    let connection = graceful.watch(connect(stream, router.clone()));
                    connections.spawn(async move {
                        // A client that went away, or that spoke something else: there is nobody to tell.
                        let _ = connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(target: "isopod::http", %error, "cannot accept a connection");
                    tokio::time::sleep(BREATH).await;
                }
            },
        }
    }
    drop(listener);
    tracing::info!(target: "isopod::http", connections = connections.len(), "stopping");
    tokio::select! {
        () = graceful.shutdown() => return 0,
        () = tokio::time::sleep(grace) => {}
        () = stop() => {}
    }
    // What is left of them is dropped, and with them what they run.
    while connections.try_join_next().is_some() {}
    let cut_off = connections.len();
    connections.shutdown().await;
    cut_off
}

/// Answers what comes on a connection to a worker.
pub(super) async fn answer(stream: UnixStream, router: Router) {
    // A server that went away, or whose client did.
    let Ok(mut parts) = serve_on(stream, router).without_shutdown().await else { return };
    // An answer may come before all of the request was sent. Whoever closes then makes sending fail, and the other side may
    // see that before it sees the answer; so the rest is taken, for a while.
    let _ = parts.io.inner_mut().shutdown().await;
    let _ = tokio::time::timeout(PATIENCE, tokio::io::copy(parts.io.inner_mut(), &mut tokio::io::sink())).await;
}

fn connect(
    stream: TcpStream,
    router: Router,
) -> http1::Connection<TokioIo<Patient<TcpStream>>, TowerToHyperService<Router>> {
    // Answers are small and whole: to wait for more to send would only be late.
    let _ = stream.set_nodelay(true);
    serve_on(stream, router)
}

/// Answers what comes on a stream.
pub(super) fn serve_on<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
) -> http1::Connection<TokioIo<Patient<S>>, TowerToHyperService<Router>> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, PATIENCE)), TowerToHyperService::new(router))
}
