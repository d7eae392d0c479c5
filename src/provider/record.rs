//! The record of a sandbox on disk, and its description for callers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ProviderError, Result, SandboxId};
use crate::limits::server::provider::{METADATA_BYTES, NAME_BYTES};

/// Key-value pairs of the caller's choice.
pub type Metadata = BTreeMap<String, String>;

/// The owner of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Owner {
    pub(super) thread: String,
    pub(super) user: Option<String>,
}

impl Owner {
    pub(super) fn new(thread: &str, user: Option<&str>) -> Result<Owner> {
        for (what, name) in [("the name of the thread", Some(thread)), ("the name of the user", user)] {
            match name {
                Some("") => return Err(ProviderError::InvalidName { what, fault: "is empty" }),
                Some(name) if name.len() > NAME_BYTES => {
                    return Err(ProviderError::InvalidName { what, fault: "has more than 1,024 bytes" });
                }
                _ => {}
            }
        }
        Ok(Owner { thread: thread.to_owned(), user: user.map(str::to_owned) })
    }

    /// Returns the id of the owner's sandbox: the first digits of a hash over both names. The length of the first name
    /// is hashed too, so that `ab` and `c` differ from `a` and `bc`. The name of a user is never empty, so "no user"
    /// differs from every user.
    pub(super) fn id(&self) -> SandboxId {
        let user = self.user.as_deref().unwrap_or_default();
        let mut hash = Sha256::new();
        hash.update((user.len() as u64).to_le_bytes());
        hash.update(user);
        hash.update(&self.thread);
        let hash = hash.finalize();
        SandboxId::from_hash([hash[0], hash[1], hash[2], hash[3]])
    }
}

/// The content of the file `record` of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// `None` for a sandbox without an owner.
    pub(super) owner: Option<Owner>,
    /// The time of creation, in nanoseconds since 1970.
    pub(super) created: u64,
    pub(super) metadata: Metadata,
}

impl Record {
    pub(super) fn new(owner: Option<Owner>, created: u64, metadata: Metadata) -> Result<Record> {
        if metadata.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > METADATA_BYTES {
            return Err(ProviderError::InvalidName { what: "the metadata", fault: "has more than 64 KiB" });
        }
        Ok(Record { owner, created, metadata })
    }
}

/// The description of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxInfo {
    /// The id of the sandbox.
    pub id: SandboxId,
    /// The state, as this process sees it.
    pub state: SandboxState,
    /// The thread that owns it.
    pub thread: Option<String>,
    /// The user of the thread.
    pub user: Option<String>,
    /// The time of creation, in nanoseconds since 1970.
    pub created: u64,
    /// The time of the last acquire, release or operation, in nanoseconds since 1970.
    pub last_used: u64,
    /// The caller's metadata.
    pub metadata: Metadata,
    /// The damage, if the sandbox is damaged. Then the fields above may be missing.
    pub damage: Option<String>,
}

/// The state of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxState {
    /// Leased, here or by another process.
    Leased,
    /// Not leased, and in the memory of this process.
    Warm,
    /// Not leased, and on disk only, or warm in another process.
    Stored,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The sandboxes, in the order of their ids.
    pub items: Vec<SandboxInfo>,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<SandboxId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(thread: &str, user: Option<&str>) -> SandboxId {
        Owner::new(thread, user).unwrap().id()
    }

    #[test]
    fn an_id_follows_from_thread_and_user_and_from_where_one_ends() {
        // The first digits of sha256(length, user, thread), computed by another program.
        assert_eq!(id("thread-1", Some("user-1")).to_string(), "1bfc28f2");
        assert_eq!(id("thread-1", None).to_string(), "7db786ba");
        assert_ne!(id("bc", Some("a")), id("c", Some("ab")));
        assert_ne!(id("a", Some("b")), id("b", Some("a")));
    }

    #[test]
    fn names_that_mean_nothing_are_refused() {
        for (thread, user) in [("", None), ("t", Some(""))] {
            assert!(Owner::new(thread, user).unwrap_err().to_string().ends_with("is empty"));
        }
        let long = "x".repeat(NAME_BYTES + 1);
        for (thread, user) in [(long.as_str(), None), ("t", Some(long.as_str()))] {
            assert!(Owner::new(thread, user).unwrap_err().to_string().ends_with("has more than 1,024 bytes"));
        }
        let metadata = Metadata::from([("key".to_owned(), "x".repeat(METADATA_BYTES))]);
        assert!(Record::new(None, 0, metadata).is_err());
        // Any other text is a name: it is hashed and never used as a path.
        for name in ["../../etc", "a\0b", "\u{202e}", "local:x", "💥"] {
            assert_eq!(id(name, Some(name)).to_string().len(), 8);
        }
    }
}
