//! Finding files by name.

use super::super::stop::Stop;
use super::super::{BackendError, Cut, Found, GlobRequest, Globbed, Pattern, Result};
use super::walk::{Visit, WalkEntry, walk};
use super::{VfsFiles, shown};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::vfs::{Kind, Stat};

impl VfsFiles {
    pub(super) fn glob(&self, request: &GlobRequest, stop: &Stop) -> Result<Globbed> {
        let (root, prefix) = self.search_root(&request.path, &self.parse(&request.path)?)?;
        let pattern = Pattern::new(&request.pattern, request.hidden)?;
        let mut matches: Vec<Found> = Vec::new();
        let found = walk(self.vfs(), &root, pattern.start(), stop, |item| {
            let is_dir = item.entry.kind == Kind::Directory;
            if pattern.accepts(item.state, item.name(), is_dir)
                && let Some(stat) = self.found(&root, item, request.directories)
            {
                if matches.len() >= request.most {
                    return Visit::End(Cut::Count);
                }
                let relative = item.relative();
                matches.push(Found {
                    path: [&prefix, "/", &relative].concat(),
                    relative,
                    kind: stat.kind,
                    size: stat.size,
                    modified: stat.modified,
                });
            }
            let below = if is_dir { pattern.enter(item.state, item.name()) } else { None };
            below.map_or(Visit::Next, Visit::Enter)
        });
        let cut = found.map_err(|errno| BackendError::file(&request.path, errno))?;
        matches.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        Ok(Globbed { matches, cut })
    }

    /// The directory of a search without links, and the prefix of the paths in its result.
    pub(super) fn search_root(&self, text: &str, path: &GuestPath) -> Result<(GuestPath, String)> {
        let refused = |errno| BackendError::file(text, errno);
        let root = self.vfs().canonical(path).map_err(refused)?;
        if self.vfs().stat(&root, true).map_err(refused)?.kind != Kind::Directory {
            return Err(refused(Errno::NotDirectory));
        }
        let prefix = if path.components().any(|name| name == "..") { shown(&root) } else { shown(path) };
        Ok((root, prefix.trim_end_matches('/').to_owned()))
    }

    /// The attributes of a match, or `None` if it is not to be returned. A link has those of its target, which has to
    /// be a file below the root.
    fn found<S>(&self, root: &GuestPath, item: &WalkEntry<'_, S>, directories: bool) -> Option<Stat> {
        let stat = match item.entry.kind {
            Kind::File => self.vfs().stat(&item.path().ok()?, false).ok()?,
            Kind::Directory if directories => self.vfs().stat(&item.path().ok()?, false).ok()?,
            Kind::Symlink => {
                let target = self.vfs().canonical(&item.path().ok()?).ok()?;
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
