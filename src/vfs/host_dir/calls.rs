//! The calls of the mount table on a directory of the host.

use std::sync::Arc;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::mem_fs::content::blocks;
use crate::vfs::{
    AtomicWrite, Attempt, DirEntry, DirStream, FileSystem, Frozen, GROUP, Node, OpenHow, SetTime, Stat, USER,
};

use super::errors::errno;
use super::stat::Facts;
use super::stream::HostStream;
use super::{HostDir, Reopened, walk};

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
        if let Some(file) = self.at_once(path, how) {
            return self.opened(file?, how);
        }
        let dir = self.walk().directory(parent)?;
        let existing = || {
            let _gate = self.ledger.as_ref().map(|ledger| ledger.shared());
            self.counted(self.open_existing(&dir, name, how)?)
        };
        let new = || self.making(0, || self.open_new(&dir, name, how));
        let file = if how.create && how.exclusive {
            self.check_free(&dir, name)?;
            new()?
        } else {
            let mut opened = existing();
            // Whether a file was made has to be known, so it is not left to one call that may do either. The third
            // call is for a file that someone made after the first.
            if how.create && opened.as_ref().is_err_and(|errno| *errno == Errno::NoEntry) {
                opened = match new() {
                    Err(Errno::Exist) => existing(),
                    made => made,
                };
            }
            opened.map_err(|errno| self.walk().link_or(&dir, name, path, how, errno))?
        };
        self.opened(file, how)
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        Ok(self.walk().device().stat(&self.facts(path, follow)?))
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
        self.making(0, || dir.create_dir_with(name, DirBuilder::new().mode(mode)).map_err(errno))?;
        // The umask again. A set-group-ID bit is what the directory got from its parent, and stays.
        let made = Facts::of_name(&dir, name)?.mode();
        if made & 0o1777 != mode {
            self.set_mode(&dir, name, |_| Ok(mode | made & 0o2000))?;
        }
        Ok(())
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let dir = self.walk().directory(parent)?;
        let remove = || self.removing(&dir, name, || dir.remove_dir(name).map_err(errno));
        match remove() {
            // What the guest cannot see should not be in its way.
            Err(Errno::NotEmpty) if self.remove_hidden(&dir, name) => Ok(remove()?),
            result => Ok(result?),
        }
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
        let dir = self.walk().directory(parent)?;
        Ok(self.removing(&dir, name, || dir.remove_file(name).map_err(errno))?)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (old_parent, old_name) = from.split().ok_or(Errno::Busy)?;
        let (new_parent, new_name) = to.split().ok_or(Errno::Busy)?;
        let (old_dir, new_dir) = (self.walk().directory(old_parent)?, self.walk().directory(new_parent)?);
        let mut removal = self.removal();
        let replaced = removal.look(&new_dir, new_name);
        // To rename a file to another name of the same file does nothing: both names stay.
        let replaced = replaced.filter(|replaced| {
            Facts::of_name(&old_dir, old_name).is_ok_and(|renamed| renamed.identity() != replaced.identity())
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
        Ok(self.making(0, || self.shared.second_names.turn().link(&old_dir, old_name, &new_dir, new_name))?)
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        self.check_writable()?;
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        let dir = self.walk().directory(parent)?;
        self.check_free(&dir, name)?;
        // Whatever the target says, it is read as a path of the guest, and never followed here.
        Ok(self.making(blocks(target.len() as u64), || dir.symlink_contents(target, name).map_err(errno))?)
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        self.check_writable()?;
        // For the link that is to be followed.
        self.facts(path, follow)?;
        let mode = |facts: &Facts| refuse_set_id(mode & !facts.mode()).map(|()| mode);
        match path.split() {
            Some((parent, name)) => self.set_mode(&*self.walk().directory(parent)?, name, mode)?,
            None => self.set_mode(self.walk().root(), ".", mode)?,
        }
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        self.facts(path, follow)?;
        if uid.is_none_or(|uid| uid == USER) && gid.is_none_or(|gid| gid == GROUP) {
            Ok(())
        } else {
            Err(Errno::NotPermitted.into())
        }
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        self.check_writable()?;
        // For the link that is to be followed.
        self.facts(path, follow)?;
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

    fn freeze(&self) -> Option<Arc<dyn Frozen>> {
        // Without an account there is nothing that a fork should not share.
        self.ledger.as_ref().map(|ledger| {
            let reopened: Arc<dyn Frozen> =
                Arc::new(Reopened { shared: Arc::clone(&self.shared), count: ledger.count() });
            reopened
        })
    }
}

/// Refuses set-user-ID and set-group-ID bits: on the host they would run as the host's user.
fn refuse_set_id(mode: u32) -> Result<()> {
    if mode & 0o6000 == 0 { Ok(()) } else { Err(Errno::NotPermitted) }
}
