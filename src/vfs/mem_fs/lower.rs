//! The lower file system of an overlay, which is only read.

use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{Attempt, DirEntry, DirStream, File, FileSystem, HostDir, Kind, MemFs, Node, OpenHow, Stat, Stop};

use super::table::{Number, join};

/// Set in the number of every lower file, so that it differs from every new inode. A changed file keeps its number: the
/// names of one file stay names of one file, and a program that compares numbers sees the same file.
pub(super) const LOWER_BIT: Number = 1 << 63;

/// The lower file system. Its paths hold no links, because they come from lookups that met none.
#[derive(Clone)]
pub(super) struct Lower {
    fs: Arc<dyn FileSystem>,
    host: Option<HostDir>,
}

impl Lower {
    pub(super) fn host(dir: HostDir) -> Lower {
        Lower { fs: Arc::new(dir.clone()), host: Some(dir) }
    }

    pub(super) fn memory(fs: MemFs) -> Lower {
        Lower { fs: Arc::new(fs), host: None }
    }

    /// Returns the directory of the host, if it is one.
    pub(super) fn host_dir(&self) -> Option<&HostDir> {
        self.host.as_ref()
    }

    pub(super) fn stat(&self, path: &str, follow: bool) -> Attempt<Stat> {
        let stat = self.fs.stat(Subpath::trusted(path), follow)?;
        Ok(with_lower_bit(stat))
    }

    /// Returns the kind of a name in a directory; none if the name does not exist.
    pub(super) fn kind(&self, directory: &str, name: &str) -> Result<Option<Kind>> {
        match self.stat(&join(directory, name), false) {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(Stop::Errno(Errno::NoEntry)) => Ok(None),
            Err(Stop::Errno(errno)) => Err(errno),
            Err(Stop::Link { .. }) => Err(Errno::Io),
        }
    }

    pub(super) fn read_dir(&self, path: &str) -> Attempt<Vec<DirEntry>> {
        let mut entries = self.fs.read_dir(Subpath::trusted(path))?;
        for entry in &mut entries {
            entry.inode |= LOWER_BIT;
        }
        Ok(entries)
    }

    pub(super) fn open_dir(&self, path: &str) -> Attempt<Box<dyn DirStream>> {
        let stream = self.fs.open_dir(Subpath::trusted(path))?;
        Ok(Box::new(LowerStream(stream)))
    }

    pub(super) fn read_link(&self, path: &str) -> Attempt<String> {
        self.fs.read_link(Subpath::trusted(path))
    }

    /// Opens a file for reading.
    pub(super) fn open(&self, path: &str) -> Result<Arc<dyn File>> {
        let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
        match self.fs.open(Subpath::trusted(path), &how) {
            Ok(Node::File(file)) => Ok(file),
            Ok(_) => Err(Errno::Io),
            Err(Stop::Errno(errno)) => Err(errno),
            Err(Stop::Link { .. }) => Err(Errno::Io),
        }
    }
}

/// Returns the attributes of a lower file with its number in the overlay.
pub(super) fn with_lower_bit(stat: Stat) -> Stat {
    Stat { inode: stat.inode | LOWER_BIT, ..stat }
}

/// A listing of a lower directory, with the numbers of the overlay.
struct LowerStream(Box<dyn DirStream>);

impl DirStream for LowerStream {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        let mut entries = self.0.next(max)?;
        for entry in &mut entries {
            entry.inode |= LOWER_BIT;
        }
        Ok(entries)
    }
}
