//! The file operations on a tree of the VFS, without guest code or a shell.
//!
//! [`Isopod`](super::Isopod), [`Memory`](super::Memory), [`Directory`](super::Directory) and [`Store`](super::Store)
//! share it. The VFS confines every path and every link to the tree. This module implements the operations and their
//! limits of time and memory.

mod change;
mod glob;
mod grep;
mod read;
mod walk;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::stop::{Stop, blocking};
use super::threads::Work;
use super::{
    Backend, BackendError, Content, Cut, EditRequest, Edited, Entry, GlobRequest, Globbed, GrepRequest, Grepped,
    Listed, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written, bounds,
};
use crate::error::Errno;
use crate::kernel::Kernel;
use crate::path::GuestPath;
use crate::vfs::Vfs;

/// An owner of a VFS.
pub(super) trait Tree: Send + Sync {
    fn vfs(&self) -> &Vfs;
}

impl Tree for Vfs {
    fn vfs(&self) -> &Vfs {
        self
    }
}

impl Tree for Kernel {
    fn vfs(&self) -> &Vfs {
        Kernel::vfs(self)
    }
}

/// A handle to a tree, and the directory at which relative paths start.
#[derive(Clone)]
pub(super) struct VfsFiles {
    tree: Arc<dyn Tree>,
    cwd: GuestPath,
    /// The largest size of a file that is read or written whole, in bytes.
    largest: u64,
    /// A resource that is kept alive while an operation runs, on any thread.
    _keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

/// A backend whose files are a tree of the VFS. The file operations are the same for all of them.
pub(super) trait HasFiles: Send + Sync {
    fn files(&self) -> &VfsFiles;

    fn fork_files(&self) -> Result<Arc<dyn Backend>> {
        Err(BackendError::Unsupported("a copy of this backend whose changes land nowhere".to_owned()))
    }

    fn as_sandbox(&self) -> Option<&dyn SandboxBackend> {
        None
    }
}

impl VfsFiles {
    pub(super) fn new(tree: Arc<dyn Tree>, cwd: GuestPath, largest: u64) -> VfsFiles {
        VfsFiles { tree, cwd, largest, _keep_alive: None }
    }

    /// Keeps a resource alive while an operation on these files runs, even if the caller of the operation is gone.
    pub(super) fn keeping_alive(self, resource: Arc<dyn Any + Send + Sync>) -> VfsFiles {
        VfsFiles { _keep_alive: Some(resource), ..self }
    }

    fn vfs(&self) -> &Vfs {
        self.tree.vfs()
    }

    fn parse(&self, text: &str) -> Result<GuestPath> {
        GuestPath::parse(&self.cwd, text).map_err(|errno| BackendError::file(text, errno))
    }

    /// Runs `work` on a thread that may block, for at most `time`.
    async fn on_thread<T: Send + 'static>(
        &self,
        kind: Work,
        time: Duration,
        work: impl FnOnce(&VfsFiles, &Stop) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let files = self.clone();
        blocking(kind, time, move |stop| work(&files, stop)).await?
    }

    fn ls(&self, text: &str, stop: &Stop) -> Result<Listed> {
        let refused = |errno| BackendError::file(text, errno);
        let path = self.parse(text)?;
        let mut listing = self.vfs().open_dir(&path).map_err(refused)?;
        let (directory, mut entries, mut cut) = (shown(&path), Vec::new(), None);
        loop {
            let names = listing.next(walk::PIECE).map_err(refused)?;
            if names.is_empty() {
                break;
            }
            stop.check(text)?;
            for name in names {
                let stat = path.join(&name.name).and_then(|at| self.vfs().stat(&at, false));
                let (size, modified) = match stat {
                    Ok(stat) => (stat.size, stat.modified),
                    // Removed since it was listed.
                    Err(Errno::NoEntry) => continue,
                    Err(_) => (0, 0),
                };
                let path = format!("{}/{}", directory.trim_end_matches('/'), name.name);
                entries.push(Entry { name: name.name, path, kind: name.kind, size, modified });
            }
            if entries.len() >= bounds::LIST_ENTRIES {
                cut = Some(Cut::Budget);
                break;
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Listed { entries, cut })
    }

    /// Returns the absolute path without links. The last names of the path need not exist.
    fn resolve(&self, text: &str) -> Result<String> {
        let path = self.parse(text)?;
        for depth in (0..=path.depth()).rev() {
            let start = path.prefix(depth);
            match self.vfs().canonical(&start) {
                Ok(start) => {
                    let rest: Vec<&str> = path.components().skip(depth).collect();
                    // A `..` after a name that does not exist cannot be resolved.
                    if rest.contains(&"..") {
                        return Err(BackendError::file(text, Errno::NoEntry));
                    }
                    let start = start.to_string();
                    return Ok(if rest.is_empty() {
                        start
                    } else {
                        format!("{}/{}", start.trim_end_matches('/'), rest.join("/"))
                    });
                }
                // A write would follow a dangling link, to a path that cannot be named here.
                Err(Errno::NoEntry) if self.vfs().stat(&start, false).is_ok() => {
                    return Err(BackendError::file(text, Errno::NoEntry));
                }
                Err(Errno::NoEntry | Errno::NotDirectory) => {}
                Err(errno) => return Err(BackendError::file(text, errno)),
            }
        }
        Err(BackendError::file(text, Errno::NoEntry))
    }
}

#[async_trait]
impl<T: HasFiles> Backend for T {
    async fn ls(&self, path: &str) -> Result<Listed> {
        let path = path.to_owned();
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, stop| files.ls(&path, stop)).await
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, stop| files.read(&request, stop)).await
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, _| files.write(&request)).await
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, stop| files.edit(&request, stop)).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let path = path.to_owned();
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, stop| files.delete(&path, stop)).await
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        self.files().on_thread(Work::Search, request.time, move |files, stop| files.glob(&request, stop)).await
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        self.files().on_thread(Work::Search, request.time, move |files, stop| files.grep(&request, stop)).await
    }

    async fn upload(&self, uploads: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(uploads.len());
        for Upload { path, content } in uploads {
            answers.push(self.write(WriteRequest::new(path, content)).await);
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let mut answers = Vec::with_capacity(paths.len());
        for path in paths {
            let work =
                move |files: &VfsFiles, stop: &Stop| files.read_whole(&path, &files.parse(&path)?, files.largest, stop);
            answers.push(self.files().on_thread(Work::File, bounds::FILE_TIME, work).await.map(|(content, _)| content));
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let path = path.to_owned();
        self.files().on_thread(Work::File, bounds::FILE_TIME, move |files, _| files.resolve(&path)).await
    }

    fn largest_file(&self) -> u64 {
        self.files().largest
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        self.fork_files()
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.as_sandbox()
    }
}

/// Formats a path for results: absolute, without empty names and `.`. Links are not resolved.
fn shown(path: &GuestPath) -> String {
    path.as_str().to_owned()
}
