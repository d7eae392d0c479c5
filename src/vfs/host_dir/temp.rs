//! Temporary files on the host that get their final name by a rename.

use std::os::fd::AsFd;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::Mode;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::mem_fs::content::blocks;
use crate::vfs::reserved::is_reserved;
use crate::vfs::{AtomicWrite, Attempt, Expected, Kind, SetTime, Stat};

use super::HostDir;
use super::errors::errno;
use super::file::timestamps;
use super::stat::HostStat;
use super::walk::DirHandle;

/// A file with a reserved name. It is removed unless it is placed.
pub(in crate::vfs) struct TempFile {
    host: HostDir,
    /// The directory of the file.
    directory: String,
    /// Handles of the directory and the file. None for a link, or after `close`, which limits the number of open
    /// handles.
    dir: Option<Dir>,
    file: Option<File>,
    name: String,
    len: u64,
    /// True if it is a second name of another file.
    is_second: bool,
    is_placed: bool,
}

impl HostDir {
    /// Creates an empty temporary file in a directory. Only the user of the host can open it.
    pub(in crate::vfs) fn temp_file(&self, directory: Subpath<'_>) -> Attempt<TempFile> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.follow(FollowSymlinks::No);
        self.temp(directory, 0, |dir, name| dir.open_with(name, &options).map(Some).map_err(errno))
    }

    /// Creates a temporary link in a directory.
    pub(in crate::vfs) fn temp_link(&self, directory: Subpath<'_>, target: &str) -> Attempt<TempFile> {
        self.temp(directory, target.len() as u64, |dir, name| {
            dir.symlink_contents(target, name).map(|()| None).map_err(errno)
        })
    }

    /// Creates a temporary second name of a file.
    pub(in crate::vfs) fn temp_name(&self, directory: Subpath<'_>, file: Subpath<'_>) -> Attempt<TempFile> {
        let (parent, own) = file.split().ok_or(Errno::NotPermitted)?;
        let from = self.walk().directory(parent)?;
        let link = |dir: &Dir, name: &str| self.shared.hard_links.lock().link(&from, own, dir, name).map(|()| None);
        let mut temp = self.temp(directory, 0, link)?;
        temp.is_second = true;
        Ok(temp)
    }

    fn temp(
        &self,
        directory: Subpath<'_>,
        len: u64,
        make: impl FnOnce(&Dir, &str) -> Result<Option<File>>,
    ) -> Attempt<TempFile> {
        self.check_writable()?;
        let dir = self.walk().directory(directory)?.into_dir()?;
        let name = self.shared.lease.name(self.walk().root())?;
        let file = self.create_charged(blocks(len), || make(&dir, &name))?;
        Ok(TempFile {
            host: self.clone(),
            directory: directory.as_str().to_owned(),
            dir: Some(dir),
            file,
            name,
            len,
            is_second: false,
            is_placed: false,
        })
    }

    /// Removes the files with reserved names in a directory that holds nothing else, and returns true on success. They
    /// belong to a dead process, or to one whose directory is being removed.
    pub(super) fn remove_hidden(&self, dir: &Dir, name: &str) -> bool {
        let Ok(inner) = dir.open_dir_nofollow(name) else {
            return false;
        };
        let Ok(entries) = inner.entries() else {
            return false;
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry.map(|entry| entry.file_name().into_string()) {
                Ok(Ok(name)) if is_reserved(&name) => names.push(name),
                _ => return false,
            }
        }
        names.iter().all(|name| inner.remove_file(name).is_ok())
    }

    /// Replaces a file in one step.
    pub(super) fn replace(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
        let dir = self.walk().directory(parent)?;
        let old = match self.host_stat(path, true) {
            Ok(attributes) => Some(self.walk().device().stat(&attributes)),
            Err(stop) if stop == Errno::NoEntry.into() => None,
            Err(stop) => return Err(stop),
        };
        match old.map(|stat| stat.kind) {
            None | Some(Kind::File) => {}
            Some(Kind::Directory) => return Err(Errno::IsDirectory.into()),
            Some(_) => return Err(Errno::NoDevice.into()),
        }
        // Checked again under the lock; this check saves the work.
        how.expected.check(old.as_ref())?;
        if let Some(ledger) = &self.ledger {
            ledger.quota().check_file(bytes.len() as u64)?;
        }
        let mut temp = self.temp_file(parent)?;
        temp.write(bytes)?;
        // The set-ID bits applied to the old content.
        temp.set_mode(old.map_or(how.mode, |stat| stat.mode) & 0o1777)?;
        if how.durable {
            temp.sync()?;
        }
        let stat = temp.stat()?;
        temp.place(&dir, name, how.expected)?;
        if how.durable {
            sync_directory(&dir)?;
        }
        // The rename has changed the change time.
        let now = self.host_stat(path, false).map(|attributes| self.walk().device().stat(&attributes));
        Ok(now.ok().filter(|now| now.inode == stat.inode).unwrap_or(stat))
    }
}

impl TempFile {
    /// Appends.
    pub(in crate::vfs) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.file.as_ref().ok_or(Errno::Io)?;
        let end = self.len + bytes.len() as u64;
        if let Some(ledger) = &self.host.ledger {
            let _gate = ledger.growth()?;
            ledger.reserve(blocks(end) - blocks(self.len), 0)?;
        }
        // Charged from here on; released with the file.
        self.len = end;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(file, rest)).map_err(errno)?;
            rest = &rest[written..];
        }
        Ok(())
    }

    pub(in crate::vfs) fn set_mode(&self, mode: u32) -> Result<()> {
        let file = self.file.as_ref().ok_or(Errno::Io)?;
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode)).map_err(errno)
    }

    pub(in crate::vfs) fn set_modified(&self, time: u64) -> Result<()> {
        let times = timestamps(SetTime::Keep, SetTime::At(time));
        let file = self.file.as_ref().ok_or(Errno::Io)?;
        rustix::fs::futimens(file, &times).map_err(errno)
    }

    fn sync(&self) -> Result<()> {
        let file = self.file.as_ref().ok_or(Errno::Io)?;
        rustix::fs::fsync(file).map_err(errno)
    }

    /// Closes the handles. Only the name remains.
    pub(in crate::vfs) fn close(&mut self) {
        (self.dir, self.file) = (None, None);
    }

    fn stat(&self) -> Result<Stat> {
        let file = self.file.as_ref().ok_or(Errno::Io)?;
        Ok(self.host.walk().device().stat(&HostStat::of(file)?))
    }

    /// Returns the directory of the file.
    fn dir(&self) -> Result<DirHandle<'_>> {
        match &self.dir {
            Some(dir) => Ok(DirHandle::Root(dir)),
            None => {
                let found = self.host.walk().directory(Subpath::trusted(&self.directory));
                // A link has replaced the directory.
                found.map_err(|stop| stop.errno_or(Errno::NotDirectory))
            }
        }
    }

    /// Renames the file to its final name, replacing the file that has it.
    fn place(mut self, to: &Dir, name: &str, expected: Expected) -> Result<()> {
        let host = self.host.clone();
        // The check and the rename are one step.
        let mut removal = host.removal();
        let replaced = HostStat::of_name(to, name).ok();
        let found = replaced.as_ref().map(|attributes| host.walk().device().stat(attributes));
        expected.check(found.as_ref())?;
        if found.is_some_and(|stat| stat.kind == Kind::Directory) {
            return Err(Errno::IsDirectory);
        }
        let dir = self.dir()?;
        let own = HostStat::of_name(&dir, &self.name)?;
        if replaced.as_ref().is_some_and(|replaced| replaced.identity() == own.identity()) {
            // It already has the name. A rename would do nothing and leave the temporary name.
            return Ok(());
        }
        dir.rename(&self.name, to, name).map_err(errno)?;
        drop(dir);
        self.is_placed = true;
        removal.done(replaced);
        Ok(())
    }

    /// Places the file like `place`, by a path.
    pub(in crate::vfs) fn place_at(self, path: Subpath<'_>) -> Attempt<()> {
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let host = self.host.clone();
        let dir = host.walk().directory(parent)?;
        Ok(self.place(&dir, name, Expected::Anything)?)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if self.is_placed {
            return;
        }
        if let Ok(dir) = self.dir() {
            let mut hard_links = self.host.shared.hard_links.lock();
            let second = if self.is_second { HostStat::of_name(&dir, &self.name).ok() } else { None };
            if dir.remove_file(&self.name).is_ok()
                && let Some(attributes) = second
            {
                hard_links.removed(&attributes);
            }
        }
        if let Some(ledger) = &self.host.ledger {
            ledger.release(blocks(self.len), 1);
        }
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(dir: &Dir) -> Result<()> {
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(dir.as_fd(), ".", flags, Mode::empty()).map_err(errno)?;
    rustix::fs::fsync(dir).map_err(errno)
}
