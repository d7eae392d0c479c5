//! The calls of the mount table on a directory of the host.

use std::sync::Arc;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::mem_fs::content::blocks;
use crate::vfs::{
    AtomicWrite, Attempt, DirEntry, DirStream, FileSystem, FrozenFs, GROUP, MountKind, Node, OpenHow, SetTime, Stat,
    USER,
};

use super::errors::errno;
use super::stat::HostStat;
use super::stream::HostStream;
use super::{FrozenHostDir, HostDir, walk};

impl FileSystem for HostDir {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        if how.create {
            refuse_set_id(how.mode)?;
        }
        if how.writes() || how.create || how.truncate {
            self.check_writable()?;
        }
        let Some((parent, name)) = path.split() else {
            return if how.create && how.exclusive {
                Err(Errno::Exist.into())
            } else if how.writes() || how.create || how.truncate {
                Err(Errno::IsDirectory.into())
            } else {
                Ok(Node::Directory)
            };
        };
        if let Some(file) = self.open_directly(path, how) {
            return self.finish_open(file?, how);
        }
        let dir = self.walk().directory(parent)?;
        let existing = || {
            let _gate = self.ledger.as_ref().map(|ledger| ledger.shared());
            self.track_open(self.open_existing(&dir, name, how)?)
        };
        let new = || self.create_charged(0, || self.open_new(&dir, name, how));
        let file = if how.create && how.exclusive {
            self.check_free(&dir, name)?;
            new()?
        } else {
            let mut opened = existing();
            // Two calls instead of one `O_CREAT` open, because it must be known whether the file was created. The third
            // call covers a file that another process created after the first.
            if how.create && opened.as_ref().is_err_and(|errno| *errno == Errno::NoEntry) {
                opened = match new() {
                    Err(Errno::Exist) => existing(),
                    made => made,
                };
            }
            opened.map_err(|errno| self.walk().link_or(&dir, name, path, how, errno))?
        };
        self.finish_open(file, how)
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        Ok(self.walk().device().stat(&self.host_stat(path, follow)?))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        HostStream::open(self.walk(), path)?.next(usize::MAX)
    }

    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        Ok(Box::new(HostStream::open(self.walk(), path)?))
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        let (parent, name) = path.split().ok_or(Errno::Invalid)?;
        Ok(walk::read_link(&*self.walk().directory(parent)?, name)?)
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        self.check_writable()?;
        refuse_set_id(mode)?;
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        let dir = self.walk().directory(parent)?;
        self.check_free(&dir, name)?;
        self.create_charged(0, || dir.create_dir_with(name, DirBuilder::new().mode(mode)).map_err(errno))?;
        // Undoes the umask. A set-group-ID bit was inherited from the parent directory and stays.
        let made = HostStat::of_name(&dir, name)?.mode();
        if made & 0o1777 != mode {
            self.set_mode(&dir, name, |_| Ok(mode | made & 0o2000))?;
        }
        Ok(())
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let dir = self.walk().directory(parent)?;
        let remove = || self.remove_charged(&dir, name, || dir.remove_dir(name).map_err(errno));
        match remove() {
            // Files with reserved names, which the guest cannot see, must not block it.
            Err(Errno::NotEmpty) if self.remove_hidden(&dir, name) => Ok(remove()?),
            result => Ok(result?),
        }
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
        let dir = self.walk().directory(parent)?;
        Ok(self.remove_charged(&dir, name, || dir.remove_file(name).map_err(errno))?)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (old_parent, old_name) = from.split().ok_or(Errno::Busy)?;
        let (new_parent, new_name) = to.split().ok_or(Errno::Busy)?;
        let (old_dir, new_dir) = (self.walk().directory(old_parent)?, self.walk().directory(new_parent)?);
        let mut removal = self.removal();
        let replaced = removal.look(&new_dir, new_name);
        // Renaming a file to another name of the same file does nothing: both names stay.
        let replaced = replaced.filter(|replaced| {
            HostStat::of_name(&old_dir, old_name).is_ok_and(|renamed| renamed.identity() != replaced.identity())
        });
        old_dir.rename(old_name, &new_dir, new_name).map_err(errno)?;
        removal.done(replaced);
        Ok(())
    }

    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (old_parent, old_name) = from.split().ok_or(Errno::NotPermitted)?;
        let (new_parent, new_name) = to.split().ok_or(Errno::Exist)?;
        let (old_dir, new_dir) = (self.walk().directory(old_parent)?, self.walk().directory(new_parent)?);
        self.check_free(&new_dir, new_name)?;
        Ok(self.create_charged(0, || self.shared.hard_links.lock().link(&old_dir, old_name, &new_dir, new_name))?)
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        let dir = self.walk().directory(parent)?;
        self.check_free(&dir, name)?;
        // The target is a guest path and is never followed here.
        Ok(self.create_charged(blocks(target.len() as u64), || dir.symlink_contents(target, name).map_err(errno))?)
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        self.check_writable()?;
        // Returns the link if the call follows one.
        self.host_stat(path, follow)?;
        let mode = |attributes: &HostStat| refuse_set_id(mode & !attributes.mode()).map(|()| mode);
        match path.split() {
            Some((parent, name)) => self.set_mode(&*self.walk().directory(parent)?, name, mode)?,
            None => self.set_mode(self.walk().root(), ".", mode)?,
        }
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        self.host_stat(path, follow)?;
        if uid.is_none_or(|uid| uid == USER) && gid.is_none_or(|gid| gid == GROUP) {
            Ok(())
        } else {
            Err(Errno::NotPermitted.into())
        }
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        self.check_writable()?;
        // Returns the link if the call follows one.
        self.host_stat(path, follow)?;
        let set = |dir: &Dir, name: &str| self.changeable(dir, name)?.0.set_times(accessed, modified);
        match path.split() {
            Some((parent, name)) => set(&*self.walk().directory(parent)?, name)?,
            None => set(self.walk().root(), ".")?,
        }
        Ok(())
    }

    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        self.check_writable()?;
        refuse_set_id(how.mode)?;
        self.replace(path, bytes, how)
    }

    fn mount_kind(&self) -> MountKind {
        MountKind::Host
    }

    fn freeze(&self) -> Option<Arc<dyn FrozenFs>> {
        // Without an account a fork can share everything.
        self.ledger.as_ref().map(|ledger| {
            let reopened: Arc<dyn FrozenFs> =
                Arc::new(FrozenHostDir { shared: Arc::clone(&self.shared), policy: ledger.policy() });
            reopened
        })
    }
}

/// Refuses set-user-ID and set-group-ID bits: on the host such a file would run as the user of the host.
fn refuse_set_id(mode: u32) -> Result<()> {
    if mode & 0o6000 == 0 { Ok(()) } else { Err(Errno::NotPermitted) }
}
