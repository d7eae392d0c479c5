//! Accepts connections, serves them, and closes them at shutdown.

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

use super::write_timeout::WriteTimeout;
use crate::limits::server::http::{ACCEPT_PAUSE, CONNECTIONS, HEAD_BYTES, HEAD_TIME, WRITE_TIMEOUT};

/// Accepts connections until the first `stop`. Open connections may finish until the second `stop` or the end of the
/// grace period. Returns the number of connections that were cut off.
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
                        // An error means that the client disconnected or spoke another protocol, so it cannot be
                        // reported.
                        let _ = connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(target: "isopod::http", %error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
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
    // Dropping a connection ends the commands that it runs.
    while connections.try_join_next().is_some() {}
    let cut_off = connections.len();
    connections.shutdown().await;
    cut_off
}

/// Serves a connection that the server has opened to this worker.
pub(super) async fn answer(stream: UnixStream, router: Router) {
    // Ends with an error if the server or its client disconnected.
    let Ok(mut parts) = serve_on(stream, router).without_shutdown().await else { return };
    // An answer may be sent before the whole request was read. If this side closed now, the server's send would fail,
    // and it might see that failure before the answer. So the rest of the request is read, for a while.
    let _ = parts.io.inner_mut().shutdown().await;
    let _ = tokio::time::timeout(WRITE_TIMEOUT, tokio::io::copy(parts.io.inner_mut(), &mut tokio::io::sink())).await;
}

fn connect(
    stream: TcpStream,
    router: Router,
) -> http1::Connection<TokioIo<WriteTimeout<TcpStream>>, TowerToHyperService<Router>> {
    // Answers are written whole, so Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    serve_on(stream, router)
}

/// Serves HTTP/1.1 on a stream.
pub(super) fn serve_on<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
) -> http1::Connection<TokioIo<WriteTimeout<S>>, TowerToHyperService<Router>> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), TowerToHyperService::new(router))
}
