//! The sessions over HTTP, by session id.
//!
//! The library's session manager transports the messages. This one adds the sandbox of a session and the bound on their
//! number. It ends a session's commands with the session, and a call with the connection that waits for its answer. The
//! protocol would let a client come back for the answer on another connection. A command without a waiting client would
//! run until its timeout, so a disconnect is taken as final.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
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

use super::session::{ClientSession, SessionTemplate};
use crate::sandbox::BuildError;
use crate::sync::lock;

/// The header with the session id.
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The sessions of all clients.
pub(super) struct ClientSessions {
    template: Arc<SessionTemplate>,
    max_sessions: usize,
    transport: Arc<LocalSessionManager>,
    /// Guards the sessions by id. Held for a look-up.
    sessions: Mutex<HashMap<SessionId, Arc<ClientSession>>>,
}

/// The reason why a call of the session manager failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("there are {0} sessions already")]
    Full(usize),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Transport(#[from] LocalSessionManagerError),
}

impl ClientSessions {
    pub(super) fn new(template: Arc<SessionTemplate>, max_sessions: usize, idle: Duration) -> ClientSessions {
        let mut config = SessionConfig::default();
        // Without a retry time no client comes back for an answer.
        (config.keep_alive, config.sse_retry) = (Some(idle), None);
        let mut transport = LocalSessionManager::default();
        transport.session_config = config;
        ClientSessions { template, max_sessions, transport: Arc::new(transport), sessions: Mutex::default() }
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<ClientSession>> {
        self.sessions().get(id).cloned()
    }

    pub(super) fn is_full(&self) -> bool {
        self.sessions().len() >= self.max_sessions
    }

    /// Ends all sessions.
    pub(super) async fn close(&self) {
        let ids: Vec<SessionId> = self.sessions().keys().cloned().collect();
        for id in ids {
            // It may have ended by itself in between.
            let _ = self.close_session(&id).await;
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<ClientSession>>> {
        lock(&self.sessions)
    }
}

impl SessionManager for ClientSessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let session = Arc::new(self.template.open_session()?);
        let (id, transport) = self.transport.create_session().await?;
        let is_full = {
            let mut sessions = self.sessions();
            let is_full = sessions.len() >= self.max_sessions;
            if !is_full {
                sessions.insert(id.clone(), session);
            }
            is_full
        };
        if is_full {
            self.transport.close_session(&id).await?;
            return Err(SessionError::Full(self.max_sessions));
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.transport.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.transport.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let session = self.sessions().remove(id);
        if let Some(session) = session {
            session.close().await;
        }
        Ok(self.transport.close_session(id).await?)
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
        // Made before the message is sent: from then on, a lost connection has to cancel the request.
        let cancel = CancelOnDrop { request, session: id.clone(), transport: Arc::clone(&self.transport) };
        let answers = Box::pin(self.transport.create_stream(id, message).await?);
        Ok(AnswerStream { answers, cancel })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        Ok(self.transport.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.transport.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.transport.resume(id, last_event_id).await?)
    }
}

/// The answers to a request. Dropping the stream before its end cancels the request.
struct AnswerStream<S> {
    answers: Pin<Box<S>>,
    cancel: CancelOnDrop,
}

impl<S: Stream> Stream for AnswerStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let answer = self.answers.as_mut().poll_next(cx);
        if matches!(answer, Poll::Ready(None)) {
            self.cancel.request = None;
        }
        answer
    }
}

/// Cancels a request whose client has disconnected.
struct CancelOnDrop {
    request: Option<RequestId>,
    session: SessionId,
    transport: Arc<LocalSessionManager>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        let cancelled = CancelledNotificationParam::new(Some(request), Some("the connection is closed".to_owned()));
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(cancelled));
        let (transport, session) = (Arc::clone(&self.transport), self.session.clone());
        // Without a runtime everything is ending anyway.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            // A session that has ended has nothing to cancel.
            let _ = transport.accept_message(&session, JsonRpcMessage::notification(notification)).await;
        });
    }
}
