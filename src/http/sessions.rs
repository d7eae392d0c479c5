//! The live shells that are kept between requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::error::{ApiError, Kind, Result};
use super::observe::random_id;
use crate::limits::server::http::{
    SESSION_IDLE_TIMEOUT, SESSION_NAME_BYTES, SESSION_SWEEP_PERIOD, SESSIONS, SESSIONS_OF_SANDBOX,
};
use crate::provider::{Lease, LeasedSession, SandboxId};
use crate::sync::lock;

/// The live sessions of a server, by sandbox and name.
#[derive(Default)]
pub(super) struct LiveSessions(Mutex<BTreeMap<(SandboxId, String), Entry>>);

struct Entry {
    session: Arc<LeasedSession>,
    last_used: Instant,
}

impl LiveSessions {
    /// Starts a session under a name of the caller's choice, or a random one.
    pub(super) fn open(&self, lease: &Arc<Lease>, name: Option<String>) -> Result<(String, Arc<LeasedSession>)> {
        let name = name.unwrap_or_else(random_id);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !(1..=SESSION_NAME_BYTES).contains(&name.len()) || !name.bytes().all(is_plain) {
            let message =
                format!("the id of a session has 1 to {SESSION_NAME_BYTES} letters, digits, '-', '_' and '.'");
            return Err(ApiError::new(Kind::BadRequest, message));
        }
        let mut table = self.table();
        let id = lease.sandbox_id();
        table.retain(|_, entry| entry.session.is_open());
        if table.contains_key(&(id, name.clone())) {
            return Err(ApiError::new(Kind::Exists, format!("session {name} exists already")));
        }
        if table.len() >= SESSIONS || table.keys().filter(|(of, _)| *of == id).count() >= SESSIONS_OF_SANDBOX {
            let message = format!("{SESSIONS_OF_SANDBOX} sessions in a sandbox, {SESSIONS} in all: close one");
            return Err(ApiError::new(Kind::TooMany, message));
        }
        let session = Arc::new(lease.session()?);
        table.insert((id, name.clone()), Entry { session: session.clone(), last_used: Instant::now() });
        Ok((name, session))
    }

    /// Returns a session and counts the call as a use.
    pub(super) fn get(&self, id: SandboxId, name: &str) -> Result<Arc<LeasedSession>> {
        let mut table = self.table();
        let entry = table.get_mut(&(id, name.to_owned())).ok_or_else(none)?;
        entry.last_used = Instant::now();
        Ok(entry.session.clone())
    }

    /// Returns the sessions of a sandbox.
    pub(super) fn of(&self, id: SandboxId) -> Vec<(String, Arc<LeasedSession>)> {
        let table = self.table();
        let of = table.range((id, String::new())..).take_while(|((of, _), _)| *of == id);
        of.map(|((_, name), entry)| (name.clone(), entry.session.clone())).collect()
    }

    /// Ends a session.
    pub(super) async fn close(&self, id: SandboxId, name: &str) -> Result<()> {
        let entry = self.table().remove(&(id, name.to_owned())).ok_or_else(none)?;
        entry.session.close().await;
        Ok(())
    }

    /// Forgets the sessions of a sandbox whose lease has ended.
    pub(super) fn forget(&self, id: SandboxId) {
        self.table().retain(|(of, _), _| *of != id);
    }

    /// Ends all sessions.
    pub(super) async fn close_all(&self) {
        let all = std::mem::take(&mut *self.table());
        for entry in all.into_values() {
            entry.session.close().await;
        }
    }

    /// Returns the number of sessions.
    pub(super) fn count(&self) -> usize {
        self.table().len()
    }

    /// Ends unused sessions. Runs for ever.
    pub(super) async fn tend(&self) {
        loop {
            tokio::time::sleep(SESSION_SWEEP_PERIOD).await;
            // A session whose shell has ended still keeps its sandbox leased, so it is removed too.
            let is_idle = |entry: &Entry| !entry.session.is_open() || entry.last_used.elapsed() > SESSION_IDLE_TIMEOUT;
            let idle: Vec<Entry> =
                self.table().extract_if(.., |_, entry| is_idle(entry)).map(|(_, entry)| entry).collect();
            for entry in idle {
                entry.session.close().await;
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<(SandboxId, String), Entry>> {
        lock(&self.0)
    }
}

fn none() -> ApiError {
    ApiError::new(Kind::NotFound, "no such session")
}
