//! Live shells between requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::{ApiError, Kind, Result};
use super::observe::by_chance;
use crate::provider::{Lease, LeasedSession, SandboxId};

/// Sessions in a sandbox: each is a process of the sandbox's 64.
const IN_SANDBOX: usize = 16;
/// Sessions in all: each has a slot of the runtime's pool, of which there are some hundreds.
const IN_ALL: usize = 128;
/// How long a session is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(600);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(5);
/// Characters of a name.
const NAME: usize = 64;

/// The sessions of a server, by sandbox and name.
#[derive(Default)]
pub(super) struct Sessions(Mutex<BTreeMap<(SandboxId, String), Entry>>);

struct Entry {
    session: Arc<LeasedSession>,
    last_used: Instant,
}

impl Sessions {
    /// Starts one, by a name of the caller's or one by chance.
    pub(super) fn open(&self, lease: &Arc<Lease>, name: Option<String>) -> Result<(String, Arc<LeasedSession>)> {
        let name = name.unwrap_or_else(by_chance);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !(1..=NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
            let message = format!("the id of a session has 1 to {NAME} letters, digits, '-', '_' and '.'");
            return Err(ApiError::new(Kind::BadRequest, message));
        }
        let mut table = self.table();
        let id = lease.sandbox_id();
        table.retain(|_, entry| entry.session.is_open());
        if table.contains_key(&(id, name.clone())) {
            return Err(ApiError::new(Kind::Exists, format!("session {name} is there")));
        }
        if table.len() >= IN_ALL || table.keys().filter(|(of, _)| *of == id).count() >= IN_SANDBOX {
            let message = format!("{IN_SANDBOX} sessions in a sandbox, {IN_ALL} in all: close one");
            return Err(ApiError::new(Kind::TooMany, message));
        }
        let session = Arc::new(lease.session()?);
        table.insert((id, name.clone()), Entry { session: session.clone(), last_used: Instant::now() });
        Ok((name, session))
    }

    /// One that is there.
    pub(super) fn get(&self, id: SandboxId, name: &str) -> Result<Arc<LeasedSession>> {
        let mut table = self.table();
        let entry = table.get_mut(&(id, name.to_owned())).ok_or_else(none)?;
        entry.last_used = Instant::now();
        Ok(entry.session.clone())
    }

    /// Those of a sandbox.
    pub(super) fn of(&self, id: SandboxId) -> Vec<(String, Arc<LeasedSession>)> {
        let table = self.table();
        let of = table.range((id, String::new())..).take_while(|((of, _), _)| *of == id);
        of.map(|((_, name), entry)| (name.clone(), entry.session.clone())).collect()
    }

    /// Ends one.
    pub(super) async fn close(&self, id: SandboxId, name: &str) -> Result<()> {
        let entry = self.table().remove(&(id, name.to_owned())).ok_or_else(none)?;
        entry.session.close().await;
        Ok(())
    }

    /// Forgets those of a sandbox whose lease has ended.
    pub(super) fn forget(&self, id: SandboxId) {
        self.table().retain(|(of, _), _| *of != id);
    }

    /// Ends all.
    pub(super) async fn close_all(&self) {
        let all = std::mem::take(&mut *self.table());
        for entry in all.into_values() {
            entry.session.close().await;
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.table().len()
    }

    /// Ends those that nobody uses, for ever.
    pub(super) async fn tend(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            // A session that has ended keeps its sandbox from being released for as long as it is here.
            let is_idle = |entry: &Entry| !entry.session.is_open() || entry.last_used.elapsed() > IDLE;
            let idle: Vec<Entry> =
                self.table().extract_if(.., |_, entry| is_idle(entry)).map(|(_, entry)| entry).collect();
            for entry in idle {
                entry.session.close().await;
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<(SandboxId, String), Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn none() -> ApiError {
    ApiError::new(Kind::NotFound, "no such session")
}
