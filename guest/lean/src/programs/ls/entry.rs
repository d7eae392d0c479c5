//! A file in a listing.

use std::cell::OnceCell;

use isopod_sys::files::{self, Attributes, Kind};

use isopod_gnu::human::disk_usage;

/// A file, its shown name and its attributes.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) attributes: Attributes,
    /// The attributes of a link's target, read when they are needed.
    target: OnceCell<Option<Attributes>>,
}

impl Entry {
    pub(super) fn new(name: String, path: String, attributes: Attributes) -> Entry {
        Entry { name, path, attributes, target: OnceCell::new() }
    }

    /// Returns the attributes of a link's target.
    pub(super) fn target(&self) -> Option<&Attributes> {
        self.target.get_or_init(|| files::stat(&self.path, true).ok()).as_ref()
    }

    /// Returns true for a directory or a link to one.
    pub(super) fn leads_to_directory(&self) -> bool {
        match self.attributes.kind {
            Kind::Directory => true,
            Kind::Symlink => self.target().is_some_and(|target| target.kind == Kind::Directory),
            _ => false,
        }
    }

    /// Returns the size in blocks of 512 bytes.
    pub(super) fn blocks(&self) -> u64 {
        disk_usage(&self.attributes) / 512
    }
}
