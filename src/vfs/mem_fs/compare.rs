//! Comparison of an overlay with its lower file system.

use std::collections::BTreeSet;

use crate::error::{Errno, Result};
use crate::limits::PATH_DEPTH;
use crate::vfs::{DirEntry, File, Kind, Stat, Stop};

use super::MemSnapshot;
use super::content::CHUNK;
use super::inode::{Body, Directory};
use super::lower::Lower;
use super::names::Entry;
use super::table::{Number, ROOT, Table, join};

/// One path whose file differs from the lower file system.
pub(in crate::vfs) struct Difference {
    /// Names joined by `/`; empty for the root.
    pub(in crate::vfs) path: String,
    /// The file in the lower file system.
    pub(in crate::vfs) before: Option<Side>,
    /// The file in the overlay.
    pub(in crate::vfs) after: Option<Side>,
    /// The bytes of a file or the target of a link differ.
    pub(in crate::vfs) content: bool,
    /// The path names another file, even if both look the same.
    pub(in crate::vfs) is_other: bool,
}

/// The file that a path names on one side.
#[derive(Clone)]
pub(in crate::vfs) struct Side {
    pub(in crate::vfs) stat: Stat,
    source: Source,
}

#[derive(Clone)]
enum Source {
    Lower(String),
    Inode(Number),
}

/// The content of a file on one side.
pub(in crate::vfs) struct Reader<'a> {
    table: &'a Table,
    source: &'a Source,
    below: Option<std::sync::Arc<dyn File>>,
}

impl MemSnapshot {
    /// Returns every difference, in the order of the names of the paths. Unchanged directories are skipped, unless a
    /// file with several names was changed: its other names may be anywhere. A tree that must be searched deeper than
    /// any path reaches is [`NameTooLong`](Errno::NameTooLong); a host can create such a tree.
    pub(in crate::vfs) fn differences(&self) -> Result<Vec<Difference>> {
        let table = &self.table;
        let Some(lower) = &table.lower else {
            return Err(Errno::NotSupported);
        };
        let everywhere = table.has_hidden_changes;
        let mut compare = Comparison { table, lower, everywhere, pending: Vec::new(), found: Vec::new() };
        let before = Side::below(String::new(), lower.stat("", false).map_err(errno)?);
        let after = Side::inode(table, ROOT)?;
        compare.pending.push(Pair { path: String::new(), depth: 0, before: Some(before), after: Some(after) });
        while let Some(pair) = compare.pending.pop() {
            compare.pair(pair)?;
        }
        let mut found = compare.found;
        // A file that was replaced by one of another kind is first removed, then created.
        found.sort_by(|a, b| {
            let names = a.path.split('/').cmp(b.path.split('/'));
            names.then(a.after.is_some().cmp(&b.after.is_some()))
        });
        Ok(found)
    }

    /// Returns a reader of the content of a file.
    pub(in crate::vfs) fn reader<'a>(&'a self, side: &'a Side) -> Result<Reader<'a>> {
        Reader::new(&self.table, &side.source)
    }

    /// Returns the lower path of the file whose bytes are exactly those of `side`.
    pub(in crate::vfs) fn origin<'a>(&'a self, side: &'a Side) -> Option<&'a str> {
        match &side.source {
            Source::Lower(path) => Some(path),
            Source::Inode(number) => match &self.table.peek(*number)?.body {
                Body::File(content) if content.is_untouched() => content.origin().map(|path| &**path),
                _ => None,
            },
        }
    }

    /// Returns the target of a link.
    pub(in crate::vfs) fn target(&self, side: &Side) -> Result<String> {
        target(&self.table, &side.source)
    }
}

impl Side {
    fn below(path: String, stat: Stat) -> Side {
        Side { stat, source: Source::Lower(path) }
    }

    fn inode(table: &Table, number: Number) -> Result<Side> {
        Ok(Side { stat: table.get(number)?.stat(number), source: Source::Inode(number) })
    }

    pub(in crate::vfs) fn is_dir(&self) -> bool {
        self.stat.kind == Kind::Directory
    }
}

impl<'a> Reader<'a> {
    fn new(table: &'a Table, source: &'a Source) -> Result<Reader<'a>> {
        let origin = match source {
            Source::Lower(path) => Some(path.as_str()),
            Source::Inode(number) => match &table.get(*number)?.body {
                Body::File(content) => content.origin().map(|path| &**path),
                _ => return Err(Errno::Io),
            },
        };
        let below = match (origin, &table.lower) {
            (Some(path), Some(lower)) => Some(lower.open(path)?),
            _ => None,
        };
        Ok(Reader { table, source, below })
    }

    /// Reads at most `max` bytes at `offset`. An empty result is the end.
    pub(in crate::vfs) fn read_at(&self, offset: u64, max: usize) -> Result<bytes::Bytes> {
        let below = self.below.as_deref();
        match self.source {
            Source::Lower(_) => below.ok_or(Errno::Io)?.read_at(offset, max),
            Source::Inode(number) => match &self.table.get(*number)?.body {
                Body::File(content) => content.read(offset, max, below),
                _ => Err(Errno::Io),
            },
        }
    }
}

struct Comparison<'a> {
    table: &'a Table,
    lower: &'a Lower,
    everywhere: bool,
    /// Pairs that are still to be compared. A list, because a tree as deep as a path can be overflows some stacks.
    pending: Vec<Pair>,
    found: Vec<Difference>,
}

/// The files of one path on both sides.
struct Pair {
    path: String,
    /// Number of names of the path.
    depth: usize,
    before: Option<Side>,
    after: Option<Side>,
}

impl Comparison<'_> {
    /// Compares the files of one path. The entries of a directory are compared next.
    fn pair(&mut self, pair: Pair) -> Result<()> {
        let Pair { path, depth, before, after } = pair;
        if depth > PATH_DEPTH {
            return Err(Errno::NameTooLong);
        }
        match (&before, &after) {
            (Some(old), Some(new)) if old.stat.kind != new.stat.kind => {
                self.pending.push(Pair { path: path.clone(), depth, before, after: None });
                self.pending.push(Pair { path, depth, before: None, after });
                return Ok(());
            }
            (Some(old), Some(new)) => {
                let content = self.content_differs(old, new)?;
                let times = old.stat.modified != new.stat.modified && !old.is_dir();
                // All names of a file that will be rewritten must become names of the new file.
                let is_rewritten = new.stat.links > 1 && !self.is_whole(new)?;
                let is_other = new.stat.kind == Kind::File && (old.stat.inode != new.stat.inode || is_rewritten);
                if content || times || is_other || old.stat.mode != new.stat.mode {
                    self.report(&path, before.clone(), after.clone(), content, is_other);
                }
            }
            (None, None) => return Ok(()),
            _ => self.report(&path, before.clone(), after.clone(), true, true),
        }
        self.children(&path, before.as_ref(), after.as_ref(), depth)
    }

    fn children(&mut self, path: &str, before: Option<&Side>, after: Option<&Side>, depth: usize) -> Result<()> {
        let before = before.filter(|side| side.is_dir());
        let after = after.filter(|side| side.is_dir());
        let own = match after.map(|side| &side.source) {
            Some(Source::Inode(number)) => Some(self.table.directory(*number)?),
            // Unchanged and not moved.
            Some(Source::Lower(below)) if below == path && !self.everywhere => return Ok(()),
            _ => None,
        };
        let is_in_place = own.is_some_and(|own| own.origin.as_deref() == Some(path));
        let mut names: BTreeSet<String> = BTreeSet::new();
        let name_of = |entry: DirEntry| entry.name;
        if let (Some(own), true, false) = (own, is_in_place, self.everywhere) {
            names.extend(own.names.iter().map(|(name, _)| name.to_owned()));
        } else {
            if before.is_some() {
                let below = self.lower.read_dir(path).map_err(errno)?;
                names.extend(below.into_iter().map(name_of));
            }
            match (own, after.map(|side| &side.source)) {
                (Some(own), _) => {
                    let shown = self.table.list(own).map_err(errno)?;
                    names.extend(shown.into_iter().map(name_of));
                }
                (None, Some(Source::Lower(below))) => {
                    let shown = self.lower.read_dir(below).map_err(errno)?;
                    names.extend(shown.into_iter().map(name_of));
                }
                _ => {}
            }
        }
        for name in names {
            let old = match before {
                Some(_) => self.lower_side(&join(path, &name))?,
                None => None,
            };
            let new = match (own, after.map(|side| &side.source)) {
                (Some(own), _) => self.side_in(own, &name)?,
                (None, Some(Source::Lower(below))) => self.visible_lower(&join(below, &name))?,
                _ => None,
            };
            self.pending.push(Pair { path: join(path, &name), depth: depth + 1, before: old, after: new });
        }
        Ok(())
    }

    /// Returns the file under a name in a directory of the overlay.
    fn side_in(&self, directory: &Directory, name: &str) -> Result<Option<Side>> {
        match (directory.names.get(name), &directory.origin) {
            (Some(Entry::Inode(number, _)), _) => Side::inode(self.table, number).map(Some),
            (None, Some(origin)) => self.visible_lower(&join(origin, name)),
            _ => Ok(None),
        }
    }

    /// Returns a file of the lower file system, or its inode if it was changed under another name.
    fn visible_lower(&self, path: &str) -> Result<Option<Side>> {
        match self.lower_side(path)? {
            Some(side) if self.table.peek(side.stat.inode).is_some() => {
                Side::inode(self.table, side.stat.inode).map(Some)
            }
            side => Ok(side),
        }
    }

    fn lower_side(&self, path: &str) -> Result<Option<Side>> {
        match self.lower.stat(path, false) {
            Ok(stat) => Ok(Some(Side::below(path.to_owned(), stat))),
            Err(Stop::Errno(Errno::NoEntry)) => Ok(None),
            Err(stop) => Err(errno(stop)),
        }
    }

    fn content_differs(&self, old: &Side, new: &Side) -> Result<bool> {
        match new.stat.kind {
            Kind::Symlink => Ok(target(self.table, &old.source)? != target(self.table, &new.source)?),
            Kind::File => match (&old.source, &new.source) {
                (Source::Lower(old), Source::Lower(new)) if old == new => Ok(false),
                (Source::Lower(path), Source::Inode(number))
                    if old.stat.size == new.stat.size && self.is_untouched(path, *number)? =>
                {
                    Ok(false)
                }
                _ => Ok(old.stat.size != new.stat.size || self.bytes_differ(old, new)?),
            },
            _ => Ok(false),
        }
    }

    /// Returns true if the content of the file is exactly that of some lower file.
    fn is_whole(&self, side: &Side) -> Result<bool> {
        Ok(match &side.source {
            Source::Lower(_) => true,
            Source::Inode(number) => match &self.table.get(*number)?.body {
                Body::File(content) => content.is_untouched(),
                _ => true,
            },
        })
    }

    /// Returns true if the content of the inode is exactly that of the lower file at `path`.
    fn is_untouched(&self, path: &str, number: Number) -> Result<bool> {
        Ok(match &self.table.get(number)?.body {
            Body::File(content) => content.is_untouched() && content.origin().is_some_and(|origin| &**origin == path),
            _ => false,
        })
    }

    /// Compares two files of the same length byte by byte.
    fn bytes_differ(&self, old: &Side, new: &Side) -> Result<bool> {
        let old = Reader::new(self.table, &old.source)?;
        let new = Reader::new(self.table, &new.source)?;
        let mut offset = 0;
        loop {
            let (one, mut other) = (old.read_at(offset, CHUNK as usize)?, new.read_at(offset, CHUNK as usize)?);
            let len = one.len().min(other.len());
            if len == 0 {
                return Ok(one.len() != other.len());
            }
            other.truncate(len);
            if one[..len] != other {
                return Ok(true);
            }
            offset += len as u64;
        }
    }

    fn report(&mut self, path: &str, before: Option<Side>, after: Option<Side>, content: bool, is_other: bool) {
        self.found.push(Difference { path: path.to_owned(), before, after, content, is_other });
    }
}

fn target(table: &Table, source: &Source) -> Result<String> {
    match (source, &table.lower) {
        (Source::Lower(path), Some(lower)) => lower.read_link(path).map_err(errno),
        (Source::Inode(number), _) => match &table.get(*number)?.body {
            Body::Symlink(target) => Ok(target.to_string()),
            _ => Err(Errno::Io),
        },
        _ => Err(Errno::Io),
    }
}

/// The paths here consist of names without links; a link that is met now was created in between.
fn errno(stop: Stop) -> Errno {
    stop.errno_or(Errno::Io)
}
