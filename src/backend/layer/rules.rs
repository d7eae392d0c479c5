//! Lists of allowed and denied paths.

use std::sync::Arc;

use async_trait::async_trait;
use unicode_normalization::UnicodeNormalization;

use super::super::{Backend, BackendError, GlobRequest, Pattern, Result};
use super::gate::{AdmissionGuard, Call, Gate, GatedBackend, Operation};
use crate::vfs::Kind;

/// Paths that file operations may not touch: glob patterns from the root. A path that matches is denied with all paths
/// below it, also through links. Case and Unicode variants that some file system treats as the same name are denied
/// too.
///
/// A list of paths cannot check the actions of commands. So commands are refused, unless
/// [`with_commands`](DenyList::with_commands) allows them.
pub struct DenyList(PathRules);

/// The only paths that file operations may touch: the reverse of a [`DenyList`].
pub struct AllowList(PathRules);

struct PathRules {
    patterns: Vec<Pattern>,
    only_writes: bool,
    commands: bool,
}

impl DenyList {
    /// Denies the paths that match one of the patterns.
    pub fn new(patterns: &[&str]) -> Result<DenyList> {
        Ok(DenyList(PathRules::new(patterns)?))
    }

    /// Allows reading.
    pub fn only_writes(mut self) -> DenyList {
        self.0.only_writes = true;
        self
    }

    /// Allows commands: for backends on which protected paths or mounts deny them the same paths.
    pub fn with_commands(mut self) -> DenyList {
        self.0.commands = true;
        self
    }

    /// Wraps a backend.
    pub fn around(self, inner: Arc<dyn Backend>) -> GatedBackend<DenyList> {
        GatedBackend::new(inner, self)
    }
}

impl AllowList {
    /// Allows the paths that match one of the patterns.
    pub fn new(patterns: &[&str]) -> Result<AllowList> {
        Ok(AllowList(PathRules::new(patterns)?))
    }

    /// Allows reading everywhere.
    pub fn only_writes(mut self) -> AllowList {
        self.0.only_writes = true;
        self
    }

    /// Allows commands: for backends on which mounts confine them to the same paths.
    pub fn with_commands(mut self) -> AllowList {
        self.0.commands = true;
        self
    }

    /// Wraps a backend.
    pub fn around(self, inner: Arc<dyn Backend>) -> GatedBackend<AllowList> {
        GatedBackend::new(inner, self)
    }
}

impl PathRules {
    fn new(patterns: &[&str]) -> Result<PathRules> {
        let patterns = patterns.iter().map(|pattern| Pattern::new(&fold(pattern), true));
        Ok(PathRules { patterns: patterns.collect::<Result<_>>()?, only_writes: false, commands: false })
    }

    /// Returns true if a pattern matches the path or one of its parent directories.
    fn matches(&self, path: &str) -> bool {
        let path = fold(path);
        let path = path.trim_matches('/');
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter(|end| *end > 0).any(|end| self.patterns.iter().any(|pattern| pattern.matches(&path[..end])))
    }

    /// The path of an operation, as the caller wrote it and without links: both have to be allowed.
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
                // The text counts only if it is absolute.
                let text = path.starts_with('/').then(|| path.clone());
                Ok(text.into_iter().chain([resolved]).collect())
            }
            None => Ok(Vec::new()),
        }
    }
}

#[async_trait]
impl Gate for DenyList {
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<AdmissionGuard> {
        for path in self.0.paths("deny list", call, inner).await? {
            if self.0.matches(&path) {
                return Err(refused("deny list", &path));
            }
            if call.operation == Operation::Delete {
                self.below(&path, inner).await?;
            }
        }
        Ok(None)
    }

    fn shows(&self, path: &str) -> bool {
        self.0.only_writes || !self.0.matches(path)
    }
}

impl DenyList {
    /// Refuses to delete a directory that contains a denied path.
    async fn below(&self, path: &str, inner: &dyn Backend) -> Result<()> {
        let everything = GlobRequest { directories: true, hidden: true, ..GlobRequest::new("/**", path) };
        // The search fails for a path that is not a directory.
        let Ok(found) = inner.glob(everything).await else { return Ok(()) };
        let listed = inner.ls(path).await.map(|listed| listed.entries).unwrap_or_default();
        let links = listed.iter().filter(|entry| entry.kind == Kind::Symlink).map(|entry| &entry.path);
        let denied = found.matches.iter().map(|found| &found.path).chain(links).find(|path| self.0.matches(path));
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
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<AdmissionGuard> {
        match self.0.paths("allow list", call, inner).await?.iter().find(|path| !self.0.matches(path)) {
            Some(path) => Err(refused("allow list", path)),
            None => Ok(None),
        }
    }

    fn shows(&self, path: &str) -> bool {
        self.0.only_writes || self.0.matches(path)
    }
}

fn refused(layer: &'static str, path: &str) -> BackendError {
    BackendError::Refused { layer, reason: format!("{path:?} is not allowed") }
}

/// Folds case and Unicode variants of a path to one form, so that names which some file system treats as the same are
/// equal.
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
        let rules = PathRules::new(&["/secrets", ".env", "/a/**/key"]).unwrap();
        for path in ["/secrets", "/secrets/x/y", "/SECRETS/x", "/ſecrets", "/x/.ENV", "/.e\u{200b}nv", "/a/b/c/Key/z"]
        {
            assert!(rules.matches(path), "{path:?}");
        }
        for path in ["/", "/secret", "/x/env", "/b/key"] {
            assert!(!rules.matches(path), "{path:?}");
        }
    }
}
