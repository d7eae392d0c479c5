//! Finding files by name.

use super::super::stop::Stop;
use super::super::{BackendError, Cut, Found, GlobRequest, Globbed, Pattern, Result};
use super::walk::{Here, Visit, walk};
use super::{VfsFiles, shown};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::vfs::{Kind, Stat};

impl VfsFiles {
    pub(super) fn glob(&self, request: &GlobRequest, stop: &Stop) -> Result<Globbed> {
        let (root, prefix) = self.search_root(&request.path, &self.parse(&request.path)?)?;
        let pattern = Pattern::new(&request.pattern, request.hidden)?;
        let mut matches: Vec<Found> = Vec::new();
        let found = walk(self.vfs(), &root, pattern.start(), stop, |here| {
            let is_dir = here.entry.kind == Kind::Directory;
            if pattern.accepts(here.state, here.name(), is_dir)
                && let Some(stat) = self.found(&root, here, request.directories)
            {
                if matches.len() >= request.most {
                    return Visit::End(Cut::Count);
                }
                let relative = here.relative();
                matches.push(Found {
                    path: [&prefix, "/", &relative].concat(),
                    relative,
                    kind: stat.kind,
                    size: stat.size,
                    modified: stat.modified,
                });
            }
            let below = if is_dir { pattern.enter(here.state, here.name()) } else { None };
            below.map_or(Visit::Next, Visit::Enter)
        });
        let cut = found.map_err(|errno| BackendError::file(&request.path, errno))?;
        matches.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        Ok(Globbed { matches, cut })
    }

    /// The directory of a search without links, and what the paths in its answer start with.
    pub(super) fn search_root(&self, text: &str, path: &GuestPath) -> Result<(GuestPath, String)> {
        let refused = |errno| BackendError::file(text, errno);
        let root = self.vfs().canonical(path).map_err(refused)?;
        if self.vfs().stat(&root, true).map_err(refused)?.kind != Kind::Directory {
            return Err(refused(Errno::NotDirectory));
        }
        let prefix = if path.components().any(|name| name == "..") { shown(&root) } else { shown(path) };
        Ok((root, prefix.trim_end_matches('/').to_owned()))
    }

    /// What a name is, if it is to be found: a link is what it leads to, which has to be a file below the root.
    fn found<S>(&self, root: &GuestPath, here: &Here<'_, S>, directories: bool) -> Option<Stat> {
        let stat = match here.entry.kind {
            Kind::File => self.vfs().stat(&here.path().ok()?, false).ok()?,
            Kind::Directory if directories => self.vfs().stat(&here.path().ok()?, false).ok()?,
            Kind::Symlink => {
                let target = self.vfs().canonical(&here.path().ok()?).ok()?;
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
