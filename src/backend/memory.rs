//! Files in memory, without commands: the state of an agent.

use std::sync::Arc;

use super::vfs_files::{HasFiles, VfsFiles};
use super::{Backend, BackendError, Result};
use crate::error::Errno;
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{MemFs, Quota, Vfs};

/// Files in memory. They last until the last handle is dropped; clones are handles to the same files.
#[derive(Clone)]
pub struct Memory {
    tree: MemFs,
    files: VfsFiles,
    limits: Limits,
}

impl Memory {
    /// Makes an empty tree within the disk limits.
    pub fn new(limits: &Limits) -> Result<Memory> {
        Memory::over(MemFs::new(Arc::new(Quota::new(limits))), limits)
    }

    fn over(tree: MemFs, limits: &Limits) -> Result<Memory> {
        let refused = |errno: Errno| BackendError::file("/", errno);
        let vfs = Vfs::builder().mount(GuestPath::root(), Arc::new(tree.clone()), false).build().map_err(refused)?;
        let files = VfsFiles::new(Arc::new(vfs), GuestPath::root(), limits.file);
        Ok(Memory { tree, files, limits: limits.clone() })
    }
}

impl HasFiles for Memory {
    fn files(&self) -> &VfsFiles {
        &self.files
    }

    fn fork_files(&self) -> Result<Arc<dyn Backend>> {
        let quota = Arc::new(Quota::new(&self.limits));
        let tree = self.tree.fork(quota).map_err(|errno| BackendError::file("/", errno))?;
        Ok(Arc::new(Memory::over(tree, &self.limits)?))
    }
}
