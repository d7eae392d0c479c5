//! The descriptor table of a process, and the count of its open files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::open_file::OpenFile;
use crate::error::{Errno, Result};
use crate::limits::DESCRIPTORS;

/// The open files of a process by number.
#[derive(Default)]
pub(super) struct Descriptors(Vec<Option<Entry>>);

struct Entry {
    file: Arc<OpenFile>,
    /// Counts the file while it is in the table.
    _slot: Slot,
}

impl Descriptors {
    /// The open file with this number.
    pub(super) fn get(&self, fd: u32) -> Result<Arc<OpenFile>> {
        self.0.get(fd as usize).and_then(Option::as_ref).map(|entry| entry.file.clone()).ok_or(Errno::BadDescriptor)
    }

    /// Puts a file at the lowest free number.
    pub(super) fn add(&mut self, file: Arc<OpenFile>, slot: Slot) -> u32 {
        let at = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        self.set(at, Entry { file, _slot: slot });
        at as u32
    }

    /// Puts a file at this number and closes the one that was there.
    pub(super) fn put(&mut self, fd: u32, file: Arc<OpenFile>, slot: Slot) -> Result<()> {
        if fd >= DESCRIPTORS {
            return Err(Errno::BadDescriptor);
        }
        self.set(fd as usize, Entry { file, _slot: slot });
        Ok(())
    }

    /// Closes a descriptor.
    pub(super) fn close(&mut self, fd: u32) -> Result<()> {
        self.0.get_mut(fd as usize).and_then(Option::take).map(drop).ok_or(Errno::BadDescriptor)
    }

    /// The numbers of the open descriptors.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().filter(|(_, entry)| entry.is_some()).map(|(n, _)| n as u32)
    }

    /// Closes all descriptors.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn set(&mut self, at: usize, entry: Entry) {
        if at >= self.0.len() {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(entry);
    }
}

/// The count of a process's open files: descriptors of the kernel and of WASI alike.
#[derive(Debug, Clone)]
pub struct FileCount {
    open: Arc<AtomicU32>,
    limit: u32,
}

impl FileCount {
    /// Makes a count that goes up to `limit`.
    pub fn new(limit: u32) -> FileCount {
        FileCount { open: Arc::default(), limit }
    }

    /// Counts one more, until the slot is dropped.
    pub fn open(&self) -> Result<Slot> {
        let more = |open: u32| (open < self.limit).then_some(open + 1);
        match self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, more) {
            Ok(_) => Ok(Slot(self.open.clone())),
            Err(_) => Err(Errno::TooManyFiles),
        }
    }
}

/// The count of one open file. Dropping it takes the file off the count.
#[derive(Debug)]
pub struct Slot(Arc<AtomicU32>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
