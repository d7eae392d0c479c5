//! A relay: an open file that stands for another, which its owner may exchange.
//!
//! The processes of a live session keep their descriptors, while each call brings its own input and takes its own
//! output: this is what lies between, as a terminal does elsewhere.

use std::sync::{Arc, Mutex};

use super::open_file::OpenFile;
use crate::sync::lock;

/// The owner's side of a relay.
pub struct Relay {
    /// Guards which file it stands for; held for a copy. A leaf.
    target: Mutex<Arc<OpenFile>>,
}

impl Relay {
    /// A relay to a file.
    pub fn to(file: Arc<OpenFile>) -> Arc<Relay> {
        Arc::new(Relay { target: Mutex::new(file) })
    }

    /// Lets it stand for another file from now on. What was begun with the one before ends there.
    pub fn connect(&self, file: Arc<OpenFile>) {
        let old = std::mem::replace(&mut *lock(&self.target), file);
        // It may be the last handle of a pipe, whose end wakes others: not under the lock.
        drop(old);
    }

    pub(super) fn target(&self) -> Arc<OpenFile> {
        lock(&self.target).clone()
    }
}
