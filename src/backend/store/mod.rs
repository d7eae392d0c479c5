//! Files in an embedded database: the long-term memory of an agent, shared between threads and kept between runs.

mod file_system;
mod tables;

use std::path::Path;
use std::sync::Arc;

use super::vfs_files::{HasFiles, VfsFiles};
use crate::error::Errno;
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::Vfs;
use file_system::StoreFs;

/// Files in one database file. Clones are handles to the same files. One process at a time can open the database. A
/// write is a transaction that is on disk when it returns. There are no links.
#[derive(Clone)]
pub struct Store {
    files: VfsFiles,
}

/// The error of a store that could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be opened or created.
    #[error("cannot open the store: {0}")]
    Database(String),
    /// The tree of files cannot be created.
    #[error("cannot make the store's files: {0}")]
    Files(#[from] Errno),
}

impl Store {
    /// Opens the store in the file `path`, within the disk and file limits. The file is created if it does not exist.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Store, StoreError> {
        let database = redb::Database::create(path).map_err(|error| StoreError::Database(error.to_string()))?;
        Store::over(database, limits)
    }

    /// Makes a store in memory.
    pub fn in_memory(limits: &Limits) -> Result<Store, StoreError> {
        let backend = redb::backends::InMemoryBackend::new();
        let database = redb::Builder::new().create_with_backend(backend);
        Store::over(database.map_err(|error| StoreError::Database(error.to_string()))?, limits)
    }

    fn over(database: redb::Database, limits: &Limits) -> Result<Store, StoreError> {
        let tree = StoreFs::new(database, limits.disk)?;
        let vfs = Vfs::builder().mount(GuestPath::root(), Arc::new(tree), false).build()?;
        Ok(Store { files: VfsFiles::new(Arc::new(vfs), GuestPath::root(), limits.file) })
    }
}

impl HasFiles for Store {
    fn files(&self) -> &VfsFiles {
        &self.files
    }
}
