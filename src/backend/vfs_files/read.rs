//! Reading files: a page, or all of it.

use std::sync::Arc;

use super::super::pager::{PageRequest, Pager, is_text};
use super::super::stop::Stop;
use super::super::{BackendError, Content, ReadAs, ReadRequest, Result, bounds};
use super::VfsFiles;
use crate::error::Errno;
use crate::limits::TRANSFER_BYTES;
use crate::path::GuestPath;
use crate::vfs::{File, Kind, OpenHow, Opened, Stat};

impl VfsFiles {
    pub(super) fn read(&self, request: &ReadRequest, stop: &Stop) -> Result<Content> {
        let path = &request.path;
        let (file, stat) = self.open_regular(path, &self.parse(path)?)?;
        if stat.size == 0 {
            return Ok(Content::Empty);
        }
        let refused = |errno| BackendError::file(path, errno);
        let whole = |most: u64| Ok(Content::Bytes(read_all(&*file, &stat, path, most.min(self.largest), stop)?));
        let (offset, limit, most, universal_newlines) = match request.r#as {
            ReadAs::Bytes { most } => return whole(most),
            ReadAs::Text { offset, limit, most, universal_newlines } => (offset, limit, most, universal_newlines),
        };
        let mut piece = file.read_at(0, TRANSFER_BYTES).map_err(refused)?;
        if !is_text(&piece[..piece.len().min(bounds::SNIFF_BYTES)]) {
            return whole(self.largest);
        }
        if limit == 0 {
            return Ok(Content::NoLines);
        }
        let mut pager = Pager::new(PageRequest { offset, limit, most, universal_newlines }, stat.size);
        let mut at = 0;
        while !piece.is_empty() {
            if !pager.feed(&piece) {
                return pager.finish(path, false).map(Content::Text);
            }
            stop.check(path)?;
            at += piece.len() as u64;
            piece = file.read_at(at, TRANSFER_BYTES).map_err(refused)?;
        }
        pager.finish(path, true).map(Content::Text)
    }

    /// Reads all bytes of a regular file. Returns them with the attributes from before the read.
    pub(super) fn read_whole(&self, text: &str, path: &GuestPath, most: u64, stop: &Stop) -> Result<(Vec<u8>, Stat)> {
        let (file, stat) = self.open_regular(text, path)?;
        Ok((read_all(&*file, &stat, text, most, stop)?, stat))
    }

    /// Opens a regular file. Its kind is that of the open file, so it cannot be swapped in between.
    pub(super) fn open_regular(&self, text: &str, path: &GuestPath) -> Result<(Arc<dyn File>, Stat)> {
        let refused = |errno| BackendError::file(text, errno);
        let how = OpenHow { read: true, ..OpenHow::default() };
        let file = match self.vfs().open(path, &how) {
            Ok(Opened::File(file)) => file,
            Ok(Opened::Directory(_)) => return Err(refused(Errno::IsDirectory)),
            Ok(Opened::Descriptor(_)) | Err(Errno::NoDevice) => return Err(BackendError::NotRegular(text.to_owned())),
            Err(errno) => return Err(refused(errno)),
        };
        let stat = file.stat().map_err(refused)?;
        // A device may be endless. A file of /proc has size 0, whatever its content.
        if stat.kind != Kind::File || !file.seekable() {
            return Err(BackendError::NotRegular(text.to_owned()));
        }
        Ok((file, stat))
    }
}

/// Reads all bytes of a file, if there are no more than `most`.
fn read_all(file: &dyn File, stat: &Stat, path: &str, most: u64, stop: &Stop) -> Result<Vec<u8>> {
    let too_large = |size| BackendError::TooLarge { path: path.to_owned(), size, limit: most };
    if stat.size > most {
        return Err(too_large(stat.size));
    }
    let mut bytes = Vec::with_capacity(stat.size as usize);
    loop {
        let piece = file.read_at(bytes.len() as u64, TRANSFER_BYTES);
        let piece = piece.map_err(|errno| BackendError::file(path, errno))?;
        if piece.is_empty() {
            return Ok(bytes);
        }
        stop.check(path)?;
        bytes.extend_from_slice(&piece);
        // The file may grow while it is read.
        if bytes.len() as u64 > most {
            return Err(too_large(bytes.len() as u64));
        }
    }
}
