//! Finding files by name.

use super::super::stop::Stop;
use super::super::{BackendError, Cut, Found, GlobRequest, Globbed, Pattern, Result};
use super::walk::{Visit, walk};
use super::{VfsFiles, shown};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::vfs::{DirEntry, Kind, Stat};

impl VfsFiles {
    pub(super) fn glob(&self, request: &GlobRequest, stop: &Stop) -> Result<Globbed> {
        let (root, prefix) = self.search_root(&request.path)?;
        let pattern = Pattern::new(&request.pattern, request.hidden)?;
        let mut matches: Vec<Found> = Vec::new();
        let found = walk(self.vfs(), &root, pattern.start(), stop, |places, relative, path, entry| {
            let is_dir = entry.kind == Kind::Directory;
            if pattern.accepts(places, &entry.name, is_dir)
                && let Some(stat) = self.found(&root, path, entry, request.directories)
            {
                if matches.len() >= request.most {
                    return Visit::End(Cut::Count);
                }
                matches.push(Found {
                    path: format!("{prefix}/{relative}"),
                    relative: relative.to_owned(),
                    kind: stat.kind,
                    size: stat.size,
                    modified: stat.modified,
                });
            }
            match pattern.enter(places, &entry.name) {
                Some(places) if is_dir => Visit::Enter(places),
                _ => Visit::Next,
            }
        });
        let cut = found.map_err(|errno| BackendError::file(&request.path, errno))?;
        matches.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        Ok(Globbed { matches, cut })
    }

    /// The directory of a search without links, and what the paths in its answer start with.
    pub(super) fn search_root(&self, text: &str) -> Result<(GuestPath, String)> {
        let refused = |errno| BackendError::file(text, errno);
        let path = self.parse(text)?;
        let root = self.vfs().canonical(&path).map_err(refused)?;
        if self.vfs().stat(&root, true).map_err(refused)?.kind != Kind::Directory {
            return Err(refused(Errno::NotDirectory));
        }
        let prefix = if path.components().any(|name| name == "..") { shown(&root) } else { shown(&path) };
        Ok((root, prefix.trim_end_matches('/').to_owned()))
    }

    /// What a name is, if it is to be found: a link is what it leads to, which has to be a file below the root.
    fn found(&self, root: &GuestPath, path: &GuestPath, entry: &DirEntry, directories: bool) -> Option<Stat> {
        let stat = match entry.kind {
            Kind::File => self.vfs().stat(path, false).ok()?,
            Kind::Directory if directories => self.vfs().stat(path, false).ok()?,
            Kind::Symlink => {
                let target = self.vfs().canonical(path).ok()?;
                let stat = self.vfs().stat(&target, false).ok()?;
                if !target.starts_with(root) || stat.kind != Kind::File {
                    return None;
                }
                stat
            }
            _ => return None,
        };
        Some(stat)
    }
}
