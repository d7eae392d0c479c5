//! Changing files: write, edit, delete.

use super::super::stop::Stop;
use super::super::{BackendError, EditRequest, Edited, Result, WriteMode, WriteRequest, Written, replace};
use super::VfsFiles;
use crate::error::Errno;
use crate::path::{End, GuestPath};
use crate::vfs::{AtomicWrite, Expected, Kind, OpenHow, Opened};

impl VfsFiles {
    pub(super) fn write(&self, request: &WriteRequest) -> Result<Written> {
        let text = &request.path;
        let refused = |errno| match errno {
            // The path is a device, a pipe or a socket.
            Errno::NoDevice => BackendError::NotRegular(text.clone()),
            errno => BackendError::file(text, errno),
        };
        let (path, size) = (self.parse(text)?, request.content.len() as u64);
        if size > self.largest {
            return Err(BackendError::TooLarge { path: text.clone(), size, limit: self.largest });
        }
        match self.put(&path, request) {
            // A path that ends in a slash names a directory, even one that does not exist.
            Err(Errno::NoEntry) if path.must_be_dir() => return Err(refused(Errno::IsDirectory)),
            // Parents are created only after the write has failed: most of the time they exist.
            Err(Errno::NoEntry) => {
                self.make_parents(&path).map_err(refused)?;
                self.put(&path, request).map_err(refused)?;
            }
            answer => answer.map_err(refused)?,
        }
        Ok(Written { bytes: size })
    }

    pub(super) fn edit(&self, request: &EditRequest, stop: &Stop) -> Result<Edited> {
        replace::check(request)?;
        let text = &request.path;
        let path = self.parse(text)?;
        let (content, stat) = self.read_whole(text, &path, self.largest, stop)?;
        let (content, occurrences) = replace::replace(content, request, self.largest.min(request.most))?;
        let how = AtomicWrite { expected: Expected::Version(stat.version()), ..AtomicWrite::default() };
        match self.vfs().write_atomic(&path, &content, &how) {
            Ok(stat) => Ok(Edited { occurrences, bytes: stat.size }),
            Err(Errno::Again) => Err(BackendError::Conflict(text.clone())),
            Err(errno) => Err(BackendError::file(text, errno)),
        }
    }

    pub(super) fn delete(&self, text: &str, stop: &Stop) -> Result<()> {
        let refused = |errno| BackendError::file(text, errno);
        let path = self.parse(text)?;
        match path.end() {
            End::Name => {}
            End::Root => return Err(refused(Errno::Busy)),
            End::Dot | End::DotDot => return Err(refused(Errno::Invalid)),
        }
        // Without a trailing slash, which would follow a link and empty its target.
        let path = path.without_tail();
        if self.vfs().stat(&path, false).map_err(refused)?.kind != Kind::Directory {
            return self.vfs().unlink(&path).map_err(refused);
        }
        let mut pending = vec![(path, false)];
        while let Some((directory, is_empty)) = pending.pop() {
            stop.check(text)?;
            if is_empty {
                self.vfs().rmdir(&directory).map_err(refused)?;
                continue;
            }
            pending.push((directory.clone(), true));
            for entry in self.vfs().read_dir(&directory).map_err(refused)? {
                let at = directory.join(&entry.name).map_err(refused)?;
                match entry.kind {
                    Kind::Directory => pending.push((at, false)),
                    _ => self.vfs().unlink(&at).map_err(refused)?,
                }
            }
        }
        Ok(())
    }

    /// Writes a file once, without creating its parent directories.
    fn put(&self, path: &GuestPath, request: &WriteRequest) -> crate::error::Result<()> {
        let expected = match request.mode {
            WriteMode::Replace => Expected::Anything,
            WriteMode::Create => Expected::Nothing,
            WriteMode::Append => {
                let how = OpenHow { append: true, create: true, mode: 0o644, ..OpenHow::default() };
                return match self.vfs().open(path, &how)? {
                    Opened::File(file) if file.seekable() => file.append(&request.content).map(drop),
                    Opened::File(_) | Opened::Descriptor(_) => Err(Errno::NoDevice),
                    Opened::Directory(_) => Err(Errno::IsDirectory),
                };
            }
        };
        let how = AtomicWrite { expected, ..AtomicWrite::default() };
        self.vfs().write_atomic(path, &request.content, &how).map(drop)
    }

    fn make_parents(&self, path: &GuestPath) -> crate::error::Result<()> {
        for depth in 1..path.depth() {
            let at = path.prefix(depth);
            match self.vfs().mkdir(&at, 0o755) {
                Ok(()) => {}
                // A read-only mount refuses `mkdir` with its own error even if the directory exists.
                Err(Errno::Exist | Errno::ReadOnly | Errno::NotPermitted | Errno::Access)
                    if self.vfs().stat(&at, true).is_ok_and(|stat| stat.kind == Kind::Directory) => {}
                Err(Errno::Exist) => return Err(Errno::NotDirectory),
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}
