//! Who has which seat, over HTTP.
//!
//! The library's sessions carry the messages; around them are what a seat needs: how many there may be, that a session
//! that ends takes its commands along, and that so does a connection on which nobody waits for the answer any more. The
//! protocol would let a client come back for the answer on another connection; we take it at its word that it has gone,
//! since a command that nobody waits for would run on until its time is over.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::runtime::Handle;

use super::seat::{Origin, Seat};
use crate::sandbox::BuildError;

/// The field of a request's head that names the session.
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The sessions.
pub(super) struct Sessions {
    origin: Arc<Origin>,
    most: usize,
    carrier: Arc<LocalSessionManager>,
    /// Guards who has which seat. Held for a look-up.
    seats: Mutex<HashMap<SessionId, Arc<Seat>>>,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("there are {0} sessions already")]
    Full(usize),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Carrier(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(origin: Arc<Origin>, most: usize, idle: Duration) -> Sessions {
        let mut config = SessionConfig::default();
        // Without a time to come back there is no coming back.
        (config.keep_alive, config.sse_retry) = (Some(idle), None);
        let mut carrier = LocalSessionManager::default();
        carrier.session_config = config;
        Sessions { origin, most, carrier: Arc::new(carrier), seats: Mutex::default() }
    }

    pub(super) fn seat(&self, id: &str) -> Option<Arc<Seat>> {
        self.seats().get(id).cloned()
    }

    pub(super) fn is_full(&self) -> bool {
        self.seats().len() >= self.most
    }

    /// Ends them all.
    pub(super) async fn close(&self) {
        let ids: Vec<SessionId> = self.seats().keys().cloned().collect();
        for id in ids {
            // One that ended by itself meanwhile is as good.
            let _ = self.close_session(&id).await;
        }
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Seat>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let seat = Arc::new(self.origin.seat()?);
        let (id, transport) = self.carrier.create_session().await?;
        let is_full = {
            let mut seats = self.seats();
            let is_full = seats.len() >= self.most;
            if !is_full {
                seats.insert(id.clone(), seat);
            }
            is_full
        };
        if is_full {
            self.carrier.close_session(&id).await?;
            return Err(SessionError::Full(self.most));
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.carrier.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.carrier.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let seat = self.seats().remove(id);
        if let Some(seat) = seat {
            seat.close().await;
        }
        Ok(self.carrier.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        // Before the message is on its way: from then on someone has to be there for the answer.
        let listener = Listener { request, session: id.clone(), carrier: Arc::clone(&self.carrier) };
        let answers = Box::pin(self.carrier.create_stream(id, message).await?);
        Ok(Answers { answers, listener })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        Ok(self.carrier.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.carrier.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.carrier.resume(id, last_event_id).await?)
    }
}

/// The answers to a request, as long as someone listens.
struct Answers<S> {
    answers: Pin<Box<S>>,
    listener: Listener,
}

impl<S: Stream> Stream for Answers<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let answer = self.answers.as_mut().poll_next(cx);
        if matches!(answer, Poll::Ready(None)) {
            self.listener.request = None;
        }
        answer
    }
}

/// Cancels a request when nobody waits for its answer any more.
struct Listener {
    request: Option<RequestId>,
    session: SessionId,
    carrier: Arc<LocalSessionManager>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        let cancelled = CancelledNotificationParam::new(Some(request), Some("the connection is closed".to_owned()));
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(cancelled));
        let (carrier, session) = (Arc::clone(&self.carrier), self.session.clone());
        // Without a runtime everything ends.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            // A session that has ended has nothing to cancel.
            let _ = carrier.accept_message(&session, JsonRpcMessage::notification(notification)).await;
        });
    }
}
