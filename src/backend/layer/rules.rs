//! Which paths may be used.

use std::sync::Arc;

use async_trait::async_trait;
use unicode_normalization::UnicodeNormalization;

use super::super::{Backend, BackendError, GlobRequest, Pattern, Result};
use super::gate::{Call, Gate, Guarded, Operation, Permit};
use crate::vfs::Kind;

/// Paths that file operations may not touch: patterns as those of a glob, from the root. What a pattern names is denied
/// with all that is below it, whatever the case of its letters and whatever way of writing them a file system may take
/// for the same; also through links.
///
/// Commands are another matter: they do not come through here. They are refused, unless
/// [`with_commands`](DenyList::with_commands) says that something below keeps them in check.
pub struct DenyList(Rules);

/// Paths that file operations may touch, and no others: the reverse of a [`DenyList`].
pub struct AllowList(Rules);

struct Rules {
    patterns: Vec<Pattern>,
    only_writes: bool,
    commands: bool,
}

impl DenyList {
    /// Denies what the patterns name.
    pub fn new(patterns: &[&str]) -> Result<DenyList> {
        Ok(DenyList(Rules::new(patterns)?))
    }

    /// Reading is allowed.
    pub fn only_writes(mut self) -> DenyList {
        self.0.only_writes = true;
        self
    }

    /// Commands are allowed: protected paths or mounts keep them from what is denied here, or nobody cares.
    pub fn with_commands(mut self) -> DenyList {
        self.0.commands = true;
        self
    }

    /// Around a backend.
    pub fn around(self, inner: Arc<dyn Backend>) -> Guarded<DenyList> {
        Guarded::new(inner, self)
    }
}

impl AllowList {
    /// Allows what the patterns name.
    pub fn new(patterns: &[&str]) -> Result<AllowList> {
        Ok(AllowList(Rules::new(patterns)?))
    }

    /// Reading is allowed everywhere.
    pub fn only_writes(mut self) -> AllowList {
        self.0.only_writes = true;
        self
    }

    /// Commands are allowed: mounts keep them where they belong, or nobody cares.
    pub fn with_commands(mut self) -> AllowList {
        self.0.commands = true;
        self
    }

    /// Around a backend.
    pub fn around(self, inner: Arc<dyn Backend>) -> Guarded<AllowList> {
        Guarded::new(inner, self)
    }
}

impl Rules {
    fn new(patterns: &[&str]) -> Result<Rules> {
        let patterns = patterns.iter().map(|pattern| Pattern::new(&fold(pattern), true));
        Ok(Rules { patterns: patterns.collect::<Result<_>>()?, only_writes: false, commands: false })
    }

    /// Whether a pattern names the path or a directory that it is in.
    fn name(&self, path: &str) -> bool {
        let path = fold(path);
        let path = path.trim_matches('/');
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter(|end| *end > 0).any(|end| self.patterns.iter().any(|pattern| pattern.matches(&path[..end])))
    }

    /// The path that an operation is about, by the text and without links: both have to be allowed.
    async fn paths(&self, layer: &'static str, call: &Call, inner: &dyn Backend) -> Result<Vec<String>> {
        if call.operation == Operation::Execute && !self.commands {
            let reason = "commands do not go through lists of paths".to_owned();
            return Err(BackendError::Refused { layer, reason });
        }
        if self.only_writes && !call.writes() {
            return Ok(Vec::new());
        }
        match &call.path {
            Some(path) => {
                let resolved = inner.resolve(path).await?;
                // By the text only if it says where: a relative path starts somewhere.
                let text = path.starts_with('/').then(|| path.clone());
                Ok(text.into_iter().chain([resolved]).collect())
            }
            None => Ok(Vec::new()),
        }
    }
}

#[async_trait]
impl Gate for DenyList {
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<Permit> {
        for path in self.0.paths("deny list", call, inner).await? {
            if self.0.name(&path) {
                return Err(refused("deny list", &path));
            }
            if call.operation == Operation::Delete {
                self.below(&path, inner).await?;
            }
        }
        Ok(None)
    }

    fn shows(&self, path: &str) -> bool {
        self.0.only_writes || !self.0.name(path)
    }
}

impl DenyList {
    /// Refuses to delete a directory that holds what is denied.
    async fn below(&self, path: &str, inner: &dyn Backend) -> Result<()> {
        let everything = GlobRequest { directories: true, hidden: true, ..GlobRequest::new("/**", path) };
        // What is no directory holds nothing.
        let Ok(found) = inner.glob(everything).await else { return Ok(()) };
        let listed = inner.ls(path).await.map(|listed| listed.entries).unwrap_or_default();
        let links = listed.iter().filter(|entry| entry.kind == Kind::Symlink).map(|entry| &entry.path);
        let denied = found.matches.iter().map(|found| &found.path).chain(links).find(|path| self.0.name(path));
        match denied {
            Some(path) => Err(refused("deny list", path)),
            None if found.cut.is_some() => Err(BackendError::Refused {
                layer: "deny list",
                reason: "there is more in it than can be looked at".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Gate for AllowList {
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<Permit> {
        match self.0.paths("allow list", call, inner).await?.iter().find(|path| !self.0.name(path)) {
            Some(path) => Err(refused("allow list", path)),
            None => Ok(None),
        }
    }

    fn shows(&self, path: &str) -> bool {
        self.0.only_writes || self.0.name(path)
    }
}

fn refused(layer: &'static str, path: &str) -> BackendError {
    BackendError::Refused { layer, reason: format!("{path:?} is not allowed") }
}

/// A path in the one way of writing it that stands for all that some file system takes for the same.
fn fold(path: &str) -> String {
    let is_seen =
        |char: &char| !matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    path.nfkd().filter(is_seen).flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_68_twins_of_a_denied_name_are_denied() {
        let rules = Rules::new(&["/secrets", ".env", "/a/**/key"]).unwrap();
        for path in ["/secrets", "/secrets/x/y", "/SECRETS/x", "/ſecrets", "/x/.ENV", "/.e\u{200b}nv", "/a/b/c/Key/z"]
        {
            assert!(rules.name(path), "{path:?}");
        }
        for path in ["/", "/secret", "/x/env", "/b/key"] {
            assert!(!rules.name(path), "{path:?}");
        }
    }
}
