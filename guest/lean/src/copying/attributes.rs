//! Copying the attributes of a file.

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{fs, text};

use super::Copier;
use isopod_gnu::quote::shell;

impl Copier<'_> {
    /// Sets the attributes of a copy that are to be preserved. A new directory gets its permissions in any case: it
    /// had others while it was filled.
    pub(super) fn apply_attributes(&mut self, found: &Attributes, dest: &str, is_new: bool) {
        let keep = self.rules.keep;
        let is_link = found.kind == Kind::Symlink;
        if keep.times
            && let Err(errno) = fs::set_times(dest, found.accessed, found.modified, !is_link)
        {
            self.fail(&format!("preserving times for {}: {}", shell(dest), text(errno)));
        }
        // As with GNU's, a user who may not give files away preserves the rest.
        let given = keep.owner
            && (files::chown(dest, Some(found.uid), Some(found.gid), !is_link).is_ok()
                || files::stat(dest, false).is_ok_and(|now| (now.uid, now.gid) == (found.uid, found.gid)));
        if is_link {
            return;
        }
        let mode = if keep.mode {
            // Set-id bits belong to the owner and are not passed to another.
            Some(if keep.owner && !given { found.mode & 0o1777 } else { found.mode })
        } else if is_new && found.kind == Kind::Directory {
            let wanted = if keep.no_mode { 0o777 } else { found.mode & 0o1777 };
            Some(wanted & !self.umask)
        } else {
            None
        };
        if let Some(mode) = mode
            && let Err(errno) = files::chmod(dest, mode, true)
        {
            self.fail(&format!("preserving permissions for {}: {}", shell(dest), text(errno)));
        }
    }
}
