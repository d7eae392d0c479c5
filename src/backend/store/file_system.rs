//! The file system of a store, so that it shares the file operations of all backends.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use redb::{Database, ReadableTable};

use super::tables::{self, CONTENT, Facts, NAMES, io};
use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{AtomicWrite, Attempt, DirEntry, Expected, File, FileSystem, Kind, Node, OpenHow, SetTime, Stat};

/// The files of a database.
pub(super) struct StoreFs {
    database: Arc<Database>,
    /// The limit of the bytes of all files.
    most: u64,
}

impl StoreFs {
    pub(super) fn new(database: Database, most: u64) -> Result<StoreFs> {
        tables::make(&database)?;
        Ok(StoreFs { database: Arc::new(database), most })
    }

    fn find(&self, path: Subpath<'_>) -> Result<Facts> {
        tables::read(&self.database, |names, _| tables::find(names, path))
    }

    /// Replaces the content of a file by the result of `make`, in one transaction.
    fn replace(
        &self,
        path: Subpath<'_>,
        mode: u32,
        make: impl FnOnce(Option<(&Facts, &[u8])>) -> Result<Vec<u8>>,
    ) -> Result<Facts> {
        let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
        let key = (parent.as_str(), name);
        let write = self.database.begin_write().map_err(io)?;
        let facts = {
            let mut names = write.open_table(NAMES).map_err(io)?;
            let mut content = write.open_table(CONTENT).map_err(io)?;
            tables::directory_of(&names, path)?;
            let before = tables::look(&names, path)?;
            if matches!(before, Some((true, ..))) {
                return Err(Errno::IsDirectory);
            }
            let bytes = {
                let old = content.get(key).map_err(io)?;
                make(before.as_ref().map(|facts| (facts, old.as_ref().map_or(&[][..], |old| old.value()))))?
            };
            let size = bytes.len() as u64;
            let number = tables::account(&write, before.map_or(0, |(_, size, ..)| size), size, self.most)?;
            let mode = before.map_or(mode, |(.., mode)| mode);
            let facts = (false, size, now(), number, mode);
            names.insert(key, facts).map_err(io)?;
            content.insert(key, bytes.as_slice()).map_err(io)?;
            facts
        };
        write.commit().map_err(io)?;
        Ok(facts)
    }

    fn remove(&self, path: Subpath<'_>, check: impl FnOnce(&Facts, bool) -> Result<()>) -> Result<()> {
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let write = self.database.begin_write().map_err(io)?;
        {
            let mut names = write.open_table(NAMES).map_err(io)?;
            let facts = tables::find(&names, path)?;
            let is_empty = names
                .range((path.as_str(), "")..)
                .map_err(io)?
                .next()
                .is_none_or(|first| first.is_ok_and(|(key, _)| key.value().0 != path.as_str()));
            check(&facts, is_empty)?;
            names.remove((parent.as_str(), name)).map_err(io)?;
            write.open_table(CONTENT).map_err(io)?.remove((parent.as_str(), name)).map_err(io)?;
            tables::account(&write, facts.1, 0, self.most)?;
        }
        write.commit().map_err(io)
    }
}

impl FileSystem for StoreFs {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        match self.find(path) {
            Ok((true, ..)) if how.writes() || how.create || how.truncate => return Err(Errno::IsDirectory.into()),
            Ok((true, ..)) => return Ok(Node::Directory),
            Ok(_) if how.create && how.exclusive => return Err(Errno::Exist.into()),
            Ok(_) if how.directory => return Err(Errno::NotDirectory.into()),
            Ok(_) => {}
            Err(Errno::NoEntry) if how.create => {
                self.replace(path, how.mode, |old| Ok(old.map_or(Vec::new(), |(_, old)| old.to_vec())))?;
            }
            Err(errno) => return Err(errno.into()),
        }
        if how.truncate {
            self.replace(path, how.mode, |_| Ok(Vec::new()))?;
        }
        let tree = StoreFs { database: self.database.clone(), most: self.most };
        Ok(Node::File(Arc::new(StoreFile::open(tree, path)?)))
    }

    fn stat(&self, path: Subpath<'_>, _follow: bool) -> Attempt<Stat> {
        Ok(tables::stat(self.find(path)?))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let entries = tables::read(&self.database, |names, _| {
            if !tables::find(names, path)?.0 {
                return Err(Errno::NotDirectory);
            }
            let mut entries = Vec::new();
            for found in names.range((path.as_str(), "")..).map_err(io)? {
                let (key, facts) = found.map_err(io)?;
                let ((parent, name), facts) = (key.value(), facts.value());
                if parent != path.as_str() {
                    break;
                }
                let kind = if facts.0 { Kind::Directory } else { Kind::File };
                entries.push(DirEntry { name: name.to_owned(), kind, inode: facts.3 });
            }
            Ok(entries)
        });
        Ok(entries?)
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        self.find(path)?;
        Err(Errno::Invalid.into())
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        let write = self.database.begin_write().map_err(io)?;
        {
            let mut names = write.open_table(NAMES).map_err(io)?;
            tables::directory_of(&names, path)?;
            if tables::look(&names, path)?.is_some() {
                return Err(Errno::Exist.into());
            }
            let number = tables::account(&write, 0, 0, self.most)?;
            names.insert((parent.as_str(), name), (true, 0, now(), number, mode)).map_err(io)?;
        }
        Ok(write.commit().map_err(io)?)
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        Ok(self.remove(path, |facts, is_empty| match facts.0 {
            true if is_empty => Ok(()),
            true => Err(Errno::NotEmpty),
            false => Err(Errno::NotDirectory),
        })?)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        Ok(self.remove(path, |facts, _| if facts.0 { Err(Errno::IsDirectory) } else { Ok(()) })?)
    }

    fn rename(&self, _from: Subpath<'_>, _to: Subpath<'_>) -> Attempt<()> {
        Err(Errno::NotSupported.into())
    }

    fn link(&self, _from: Subpath<'_>, _to: Subpath<'_>) -> Attempt<()> {
        Err(Errno::NotSupported.into())
    }

    fn symlink(&self, _target: &str, _path: Subpath<'_>) -> Attempt<()> {
        Err(Errno::NotSupported.into())
    }

    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let facts = self.replace(path, how.mode, |old| match (how.expected, old) {
            (Expected::Nothing, Some(_)) => Err(Errno::Exist),
            (Expected::Version(_), None) => Err(Errno::Again),
            (Expected::Version(version), Some((facts, _))) if tables::stat(*facts).version() != version => {
                Err(Errno::Again)
            }
            _ => Ok(bytes.to_vec()),
        });
        Ok(tables::stat(facts?))
    }
}

/// An open file: its content when it was opened, and its path for appends.
struct StoreFile {
    tree: StoreFs,
    path: String,
    facts: Facts,
    content: Bytes,
}

impl StoreFile {
    fn open(tree: StoreFs, path: Subpath<'_>) -> Result<StoreFile> {
        let (facts, content) = tables::read(&tree.database, |names, read| {
            let facts = tables::find(names, path)?;
            let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
            let table = read.open_table(CONTENT).map_err(io)?;
            let content = table.get((parent.as_str(), name)).map_err(io)?;
            Ok((facts, content.map_or(Bytes::new(), |content| Bytes::copy_from_slice(content.value()))))
        })?;
        Ok(StoreFile { path: path.as_str().to_owned(), tree, facts, content })
    }
}

impl File for StoreFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.content.len());
        Ok(self.content.slice(from..from.saturating_add(max).min(self.content.len())))
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<usize> {
        Err(Errno::NotSupported)
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let root = crate::path::GuestPath::parse(&crate::path::GuestPath::root(), &self.path)?;
        let facts = self.tree.replace(root.below(0), 0o644, |old| match old {
            Some((_, old)) => Ok([old, bytes].concat()),
            // Removed since it was opened.
            None => Err(Errno::NoEntry),
        })?;
        Ok(facts.1)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(tables::stat(self.facts))
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(Errno::NotSupported)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Err(Errno::NotSupported)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
