//! The files of a directory of the host, without commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::vfs_files::{HasFiles, VfsFiles};
use super::{Backend, BackendError, Result};
use crate::error::Errno;
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{ChargePolicy, FileSystem, HostDir, MemFs, Overlay, Protect, Quota, Rules, Vfs};

/// The files of a directory of the host. The directory is the root of all paths: no path and no link leads out of it.
/// Added bytes and files are charged to the disk limits. Files that programs of the host obey (Git hooks, shell
/// start-up files, editor settings) cannot be changed, unless the rules allow it.
#[derive(Clone)]
pub struct Directory {
    host: PathBuf,
    files: VfsFiles,
    limits: Limits,
    rules: Rules,
}

impl Directory {
    /// Opens the directory `host` with the standard protection.
    pub fn open(host: impl AsRef<Path>, limits: &Limits) -> Result<Directory> {
        Directory::open_with(host, limits, Rules::standard())
    }

    /// Opens the directory `host` with other rules on protected files.
    pub fn open_with(host: impl AsRef<Path>, limits: &Limits, rules: Rules) -> Result<Directory> {
        let host = host.as_ref();
        let quota = Arc::new(Quota::new(limits));
        let dir =
            HostDir::open(host).and_then(|dir| dir.charged_to(quota, ChargePolicy::Growth)).map_err(not_opened)?;
        let files = tree(&GuestPath::root(), Arc::new(Protect::host(dir, rules.clone())), limits)?;
        Ok(Directory { host: host.to_owned(), files, limits: limits.clone(), rules })
    }
}

/// Opens a directory of the host under its path on the host, so that file operations and a shell of the host use the
/// same paths.
pub(super) fn under_own_name(host: &Path, limits: &Limits) -> Result<VfsFiles> {
    let text = host.to_str().ok_or_else(|| BackendError::file("/", Errno::IllegalSequence))?;
    let at = GuestPath::parse(&GuestPath::root(), text).map_err(|errno| BackendError::file(text, errno))?;
    let dir = HostDir::open(host).map_err(not_opened)?;
    tree(&at, Arc::new(dir), limits)
}

fn tree(at: &GuestPath, fs: Arc<dyn FileSystem>, limits: &Limits) -> Result<VfsFiles> {
    let mut builder = Vfs::builder();
    if !at.is_root() {
        builder = builder.mount(GuestPath::root(), Arc::new(MemFs::new(Arc::new(Quota::new(limits)))), true);
    }
    let vfs = builder.mount(at.clone(), fs, false).build().map_err(|errno| BackendError::file(at.as_str(), errno))?;
    Ok(VfsFiles::new(Arc::new(vfs), at.clone(), limits.file))
}

/// The error without the host's path, since it may go to an agent.
fn not_opened(error: std::io::Error) -> BackendError {
    BackendError::Transport { backend: "directory", reason: format!("cannot be opened: {error}") }
}

impl HasFiles for Directory {
    fn files(&self) -> &VfsFiles {
        &self.files
    }

    fn fork_files(&self) -> Result<Arc<dyn Backend>> {
        let refused = |errno| BackendError::file("/", errno);
        let dir = HostDir::open(&self.host).map_err(not_opened)?;
        let names = dir.names_on_host();
        let overlay = Overlay::over_host(dir, Arc::new(Quota::new(&self.limits))).map_err(refused)?;
        let protected = Protect::below(overlay.files(), self.rules.clone(), names.iter().map(String::as_str));
        let files = tree(&GuestPath::root(), Arc::new(protected), &self.limits)?;
        Ok(Arc::new(Directory { files, ..self.clone() }))
    }
}
