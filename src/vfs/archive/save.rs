//! Saving a snapshot.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use crate::error::Errno;
use crate::limits::{ARCHIVE_EXPANSION, PATH_BYTES, TRANSFER_BYTES};
use crate::path::GuestPath;
use crate::vfs::{Kind, OpenHow, Opened, Quota, Snapshot, Stat, Vfs};

use super::frames::FrameWriter;
use super::tar::{Entry, EntryKind, finish, pad};
use super::{ArchiveError, Digest, Result};

impl Snapshot {
    /// Writes the files of the sandbox as one file and returns its digest. Refused if the files are larger than could
    /// be loaded again under a quota of `disk` bytes.
    pub fn save(&self, to: impl Write, disk: u64) -> Result<Digest> {
        let files = self.fork_own(&Arc::new(Quota::unlimited())).map_err(|errno| at("/", errno))?;
        let limit = disk.saturating_mul(ARCHIVE_EXPANSION);
        let mut writer = SnapshotWriter { files, to: FrameWriter::new(to), names: HashMap::new(), limit, room: limit };
        writer.tree()?;
        finish(&mut writer.to)?;
        Ok(writer.to.finish()?)
    }
}

fn at(path: &str, errno: Errno) -> ArchiveError {
    ArchiveError::Files { path: path.to_owned(), errno }
}

struct SnapshotWriter<W> {
    files: Vfs,
    to: FrameWriter<W>,
    /// First names of files with several names.
    names: HashMap<(u64, u64), String>,
    limit: u64,
    /// Remaining bytes of files.
    room: u64,
}

impl<W: Write> SnapshotWriter<W> {
    /// Writes every file, a directory before its entries.
    fn tree(&mut self) -> Result<()> {
        let mut pending = vec![GuestPath::root()];
        while let Some(path) = pending.pop() {
            let error = |errno| at(path.as_str(), errno);
            let stat = self.files.stat(&path, false).map_err(error)?;
            self.entry(&path, &stat)?;
            if stat.kind == Kind::Directory {
                let entries = self.files.read_dir(&path).map_err(error)?;
                // The last one is taken first.
                for entry in entries.iter().rev() {
                    pending.push(path.join(&entry.name).map_err(error)?);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &GuestPath, stat: &Stat) -> Result<()> {
        let error = |errno| at(path.as_str(), errno);
        let text = path.as_str().trim_start_matches('/').to_owned();
        let kind = match stat.kind {
            Kind::Directory => EntryKind::Directory,
            Kind::Symlink => EntryKind::Symlink(self.files.read_link(path).map_err(error)?),
            Kind::File => EntryKind::File(stat.size),
            // A special file of the host that shows through an overlay.
            Kind::Device | Kind::Pipe => return Err(error(Errno::NotSupported)),
        };
        let kind = match self.names.get(&(stat.device, stat.inode)) {
            Some(first) if stat.kind != Kind::Directory => EntryKind::Name(first.clone()),
            _ => kind,
        };
        if stat.kind != Kind::Directory && stat.links > 1 {
            self.names.entry((stat.device, stat.inode)).or_insert_with(|| text.clone());
        }
        // A path beyond the limit of one text counts as content: no other limit bounds the sum of such paths.
        let long =
            text.len().saturating_sub(PATH_BYTES) as u64 * if matches!(kind, EntryKind::Name(_)) { 2 } else { 1 };
        self.take(long)?;
        let Stat { mode, uid, gid, modified, .. } = *stat;
        let entry = Entry { path: text, kind, mode, uid, gid, modified };
        entry.write(&mut self.to)?;
        match entry.kind {
            EntryKind::File(size) => self.content(path, size),
            _ => Ok(()),
        }
    }

    /// Takes `bytes` off the remaining room.
    fn take(&mut self, bytes: u64) -> Result<()> {
        self.room = self.room.checked_sub(bytes).ok_or(ArchiveError::TooLarge(self.limit))?;
        Ok(())
    }

    fn content(&mut self, path: &GuestPath, size: u64) -> Result<()> {
        let error = |errno| at(path.as_str(), errno);
        self.take(size)?;
        let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
        let Opened::File(file) = self.files.open(path, &how).map_err(error)? else {
            return Err(error(Errno::Io));
        };
        let mut offset = 0;
        while offset < size {
            let max = (size - offset).min(TRANSFER_BYTES as u64) as usize;
            let bytes = file.read_at(offset, max).map_err(error)?;
            if bytes.is_empty() {
                // A lower file, in a directory of the host, was truncated since its size was read.
                return Err(error(Errno::Io));
            }
            self.to.write_all(&bytes)?;
            offset += bytes.len() as u64;
        }
        pad(&mut self.to, size)
    }
}
