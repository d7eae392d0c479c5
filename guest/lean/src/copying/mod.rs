//! Copying files and trees, for `cp` and for `mv` across mounts.

mod attributes;
mod content;

use std::collections::HashMap;

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs, process, text};

use crate::backup::Backup;
use isopod_gnu::ancestors::Ancestors;
use isopod_gnu::output::Out;
use isopod_gnu::path::join;
use isopod_gnu::program::Call;
use isopod_gnu::quote::shell;

/// The options of a copy.
#[derive(Clone)]
pub(crate) struct Rules {
    /// Directories are copied too.
    pub(crate) recursive: bool,
    /// The symbolic links that are followed.
    pub(crate) follow: Follow,
    /// The attributes that are preserved.
    pub(crate) keep: Preserve,
    /// The form of the copy's content.
    pub(crate) kind: CopyKind,
    /// The treatment of existing files.
    pub(crate) replace: Replace,
    /// A file that can't be written is removed first.
    pub(crate) force: bool,
    /// An existing file is always removed first.
    pub(crate) remove_first: bool,
    /// Mounts below the source are left out.
    pub(crate) one_file_system: bool,
    /// A file that is replaced is kept under another name.
    pub(crate) backup: Option<Backup>,
    /// Each copy is reported.
    pub(crate) verbose: bool,
}

/// The symbolic links that are followed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Follow {
    /// None: links are copied as links.
    Never,
    /// Those that the user named.
    Named,
    /// All.
    Always,
}

/// The attributes of a file that are preserved.
#[derive(Clone, Copy, Default)]
pub(crate) struct Preserve {
    /// All permission bits, whatever the umask.
    pub(crate) mode: bool,
    /// No permission bits: new files get all but those of the umask.
    pub(crate) no_mode: bool,
    /// Owner and group, as far as they can be set.
    pub(crate) owner: bool,
    /// Times.
    pub(crate) times: bool,
    /// Hard links among the copied files.
    pub(crate) links: bool,
}

/// The form of a copy's content.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CopyKind {
    /// A copy of the bytes.
    Data,
    /// Nothing: only attributes are copied.
    Nothing,
    /// A second name of the same file.
    HardLink,
    /// A symbolic link to it.
    Symlink,
}

/// The treatment of existing files.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Replace {
    /// The file is replaced.
    Always,
    /// The file stays.
    Never,
    /// The file is replaced if the user agrees.
    Ask,
    /// The file is replaced if it is older.
    IfOlder,
}

/// One run of copying.
pub(crate) struct Copier<'a> {
    call: &'a Call,
    rules: Rules,
    umask: u32,
    /// The copies of files with several names, by device and inode.
    copied: HashMap<(u64, u64), String>,
    /// The files that this run created, so that a second source does not replace the first.
    created: HashMap<String, ()>,
    /// The directories that are being copied.
    within: Ancestors,
    /// Reports of `-v`, in the order of the copies.
    pub(crate) out: Out,
    /// False after the first error.
    pub(crate) complete: bool,
}

impl<'a> Copier<'a> {
    /// A copier for a program.
    pub(crate) fn new(call: &'a Call, rules: Rules) -> Copier<'a> {
        // The kernel tells the umask only when it is set.
        let umask = process::umask(0o022);
        process::umask(umask);
        Copier {
            call,
            rules,
            umask,
            copied: HashMap::new(),
            created: HashMap::new(),
            within: Ancestors::default(),
            out: Out::new(),
            complete: true,
        }
    }

    /// Copies a source that the user named to its destination.
    pub(crate) fn copy_named(&mut self, source: &str, dest: &str) -> bool {
        let before = std::mem::replace(&mut self.complete, true);
        match self.examine(source, true) {
            Ok(found) => self.copy(source, &found, dest, Some(found.device)),
            Err(errno) => self.fail(&format!("cannot stat {}: {}", shell(source), text(errno))),
        }
        let succeeded = self.complete;
        self.complete &= before;
        succeeded
    }

    fn examine(&self, path: &str, named: bool) -> Result<Attributes, Errno> {
        let follow = match self.rules.follow {
            Follow::Never => false,
            Follow::Named => named,
            Follow::Always => true,
        };
        files::stat(path, follow)
    }

    fn copy(&mut self, source: &str, found: &Attributes, dest: &str, device: Option<u64>) {
        let is_directory = found.kind == Kind::Directory;
        if is_directory && !self.rules.recursive {
            return self.fail(&format!("-r not specified; omitting directory {}", shell(source)));
        }
        let mut there = files::stat(dest, false).ok();
        if let Some(there) = &there {
            let target = files::stat(dest, true).ok();
            if is_same(found, target.as_ref().unwrap_or(there)) && !self.may_be_same(source, found, dest, there) {
                return self.fail(&format!("{} and {} are the same file", shell(source), shell(dest)));
            }
            let leads_to_directory = target.as_ref().is_some_and(|target| target.kind == Kind::Directory);
            match (is_directory, leads_to_directory) {
                (true, false) => {
                    let (dest, source) = (shell(dest), shell(source));
                    return self.fail(&format!("cannot overwrite non-directory {dest} with directory {source}"));
                }
                (false, true) if there.kind == Kind::Directory || found.kind != Kind::Symlink => {
                    return self.fail(&format!("cannot overwrite directory {} with non-directory", shell(dest)));
                }
                _ => {}
            }
            if !is_directory {
                if self.created.contains_key(dest) {
                    let (dest, source) = (shell(dest), shell(source));
                    return self.fail(&format!("will not overwrite just-created {dest} with {source}"));
                }
                if !self.replaces(found, target.as_ref().unwrap_or(there), dest) {
                    return;
                }
            }
        }
        if there.is_some()
            && !is_directory
            && let Some(backup) = &self.rules.backup
        {
            match backup.save(dest) {
                Ok(_) => there = None,
                Err(errno) => return self.fail(&format!("cannot backup {}: {}", shell(dest), text(errno))),
            }
        }
        if self.rules.keep.links
            && found.links > 1
            && !is_directory
            && let Some(first) = self.copied.get(&(found.device, found.inode)).cloned()
        {
            return self.link_again(&first, source, dest, there.is_some());
        }
        if !is_directory {
            self.copied.insert((found.device, found.inode), dest.to_owned());
            self.created.insert(dest.to_owned(), ());
        }
        if is_directory {
            self.copy_directory(source, found, dest, there.as_ref(), device);
        } else {
            self.copy_file(source, found, dest, there.as_ref());
        }
    }

    /// Returns true if a file may be copied onto itself: the link that leads to it is replaced, not the file.
    fn may_be_same(&self, source: &str, found: &Attributes, dest: &str, there: &Attributes) -> bool {
        let (how, is_link) = (self.rules.kind, there.kind == Kind::Symlink);
        match how {
            CopyKind::HardLink => true,
            CopyKind::Symlink => self.rules.force && source != dest,
            _ if self.rules.remove_first && is_link => true,
            // A link copied as a link replaces another link to the same file.
            _ => found.kind == Kind::Symlink && is_link && !is_same(found, there),
        }
    }

    fn replaces(&mut self, found: &Attributes, there: &Attributes, dest: &str) -> bool {
        match self.rules.replace {
            Replace::Always => true,
            Replace::Never => false,
            Replace::IfOlder => there.modified < found.modified,
            Replace::Ask => {
                // Reports so far belong before the question.
                self.out.flush();
                isopod_gnu::prompt::ask(&format!("{}: overwrite {}? ", self.call.name, shell(dest)))
            }
        }
    }

    fn copy_directory(
        &mut self,
        source: &str,
        found: &Attributes,
        dest: &str,
        there: Option<&Attributes>,
        device: Option<u64>,
    ) {
        if !self.within.enter(source, (found.device, found.inode)) {
            return self.fail(&format!("cannot copy cyclic symbolic link {}", shell(source)));
        }
        if there.is_none() {
            if let Err(errno) = fs::create_dir(dest) {
                return self.fail(&format!("cannot create directory {}: {}", shell(dest), text(errno)));
            }
            self.report(source, dest);
            // The directory must be writable while it is filled; its own bits are set afterwards.
            if let Err(errno) = files::chmod(dest, 0o700, true) {
                self.fail(&format!("setting permissions for {}: {}", shell(dest), text(errno)));
            }
        }
        if is_within(dest, found) {
            let (source, dest) = (shell(source), shell(dest));
            return self.fail(&format!("cannot copy a directory, {source}, into itself, {dest}"));
        }
        match files::read_dir(source) {
            Err(errno) => self.fail(&format!("cannot access {}: {}", shell(source), text(errno))),
            Ok(names) => {
                for name in names {
                    let (from, to) = (join(source, &name), join(dest, &name));
                    match self.examine(&from, false) {
                        Ok(below) if self.rules.one_file_system && device.is_some_and(|d| d != below.device) => {}
                        Ok(below) => self.copy(&from, &below, &to, device),
                        Err(errno) => self.fail(&format!("cannot stat {}: {}", shell(&from), text(errno))),
                    }
                }
            }
        }
        self.apply_attributes(found, dest, there.is_none());
    }

    fn copy_file(&mut self, source: &str, found: &Attributes, dest: &str, there: Option<&Attributes>) {
        let makes_link =
            found.kind == Kind::Symlink || matches!(self.rules.kind, CopyKind::HardLink | CopyKind::Symlink);
        let in_the_way = there.is_some()
            && (self.rules.remove_first
                || found.kind == Kind::Symlink
                || makes_link && (self.rules.force || self.rules.replace == Replace::Ask));
        if in_the_way {
            if let Err(errno) = fs::remove_file(dest) {
                return self.fail(&format!("cannot remove {}: {}", shell(dest), text(errno)));
            }
            if self.rules.verbose {
                self.out.push(format!("removed {}\n", shell(dest)).as_bytes());
            }
        }
        let is_new = there.is_none() || in_the_way;
        let result = match self.rules.kind {
            CopyKind::HardLink => self.make_hard_link(source, dest),
            CopyKind::Symlink => self.make_symlink(source, dest),
            _ if found.kind == Kind::Symlink => self.copy_link(source, dest),
            _ => self.copy_content(source, found, dest, there.filter(|_| !in_the_way)),
        };
        match result {
            Ok(()) => {
                self.report(source, dest);
                if !matches!(self.rules.kind, CopyKind::HardLink | CopyKind::Symlink) {
                    self.apply_attributes(found, dest, is_new);
                }
            }
            Err(message) => self.fail(&message),
        }
    }

    fn link_again(&mut self, first: &str, source: &str, dest: &str, there: bool) {
        if there && let Err(errno) = fs::remove_file(dest) {
            return self.fail(&format!("cannot remove {}: {}", shell(dest), text(errno)));
        }
        match fs::hard_link(first, dest) {
            Ok(()) => self.report(source, dest),
            Err(errno) => {
                let (first, dest) = (shell(first), shell(dest));
                self.fail(&format!("cannot create hard link {dest} to {first}: {}", text(errno)));
            }
        }
    }

    fn make_hard_link(&self, source: &str, dest: &str) -> Result<(), String> {
        let same = files::stat(source, false).ok().zip(files::stat(dest, false).ok());
        if same.is_some_and(|(source, dest)| is_same(&source, &dest)) {
            return Ok(());
        }
        let (from, to) = (shell(source), shell(dest));
        fs::hard_link(source, dest).map_err(|e| format!("cannot create hard link {to} to {from}: {}", text(e)))
    }

    fn make_symlink(&self, source: &str, dest: &str) -> Result<(), String> {
        let beside = !dest.trim_start_matches("./").contains('/');
        if !source.starts_with('/') && !beside {
            return Err(format!("{}: can make relative symbolic links only in current directory", shell(dest)));
        }
        let (from, to) = (shell(source), shell(dest));
        fs::symlink(source, dest).map_err(|e| format!("cannot create symbolic link {to} to {from}: {}", text(e)))
    }

    fn copy_link(&self, source: &str, dest: &str) -> Result<(), String> {
        let target =
            fs::read_link(source).map_err(|e| format!("cannot read symbolic link {}: {}", shell(source), text(e)))?;
        fs::symlink(&target, dest).map_err(|e| format!("cannot create symbolic link {}: {}", shell(dest), text(e)))
    }

    fn report(&mut self, source: &str, dest: &str) {
        if self.rules.verbose {
            self.out.push(format!("{} -> {}\n", shell(source), shell(dest)).as_bytes());
        }
    }

    fn fail(&mut self, message: &str) {
        self.call.complain(message);
        self.complete = false;
    }
}

/// Returns true if two are the same file.
pub(crate) fn is_same(a: &Attributes, b: &Attributes) -> bool {
    (a.device, a.inode) == (b.device, b.inode)
}

/// Returns true if a path lies in a directory. It goes up by `..`: a comparison of strings misses links.
pub(crate) fn is_within(path: &str, directory: &Attributes) -> bool {
    let mut up = path.to_owned();
    // As deep as a path can be.
    for _ in 0..4096 {
        let Ok(here) = files::stat(&up, true) else { return false };
        if is_same(&here, directory) {
            return true;
        }
        up = join(&up, "..");
        match files::stat(&up, true) {
            Ok(parent) if !is_same(&parent, &here) => {}
            _ => return false,
        }
    }
    false
}
