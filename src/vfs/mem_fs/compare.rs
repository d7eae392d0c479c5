//! What an overlay differs in from what it stands on.

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

/// One path that is not what it was.
pub(in crate::vfs) struct Difference {
    /// Names joined by `/`; empty for the root.
    pub(in crate::vfs) path: String,
    /// What is below.
    pub(in crate::vfs) before: Option<Side>,
    /// What an overlay shows.
    pub(in crate::vfs) after: Option<Side>,
    /// Whether the bytes of a file, or what a link holds, are different.
    pub(in crate::vfs) content: bool,
    /// Whether it is another file, be it one that looks the same.
    pub(in crate::vfs) is_other: bool,
}

/// What a path names on one side.
#[derive(Clone)]
pub(in crate::vfs) struct Side {
    pub(in crate::vfs) stat: Stat,
    place: Place,
}

#[derive(Clone)]
enum Place {
    Below(String),
    Inode(Number),
}

/// The content of a file on one side.
pub(in crate::vfs) struct Reader<'a> {
    table: &'a Table,
    place: &'a Place,
    below: Option<std::sync::Arc<dyn File>>,
}

impl MemSnapshot {
    /// Every difference, in the order of the paths' names. Directories that nothing was changed in are not looked at,
    /// unless a file with several names was changed: its other names may be anywhere. What would have to be looked at
    /// deeper than any path reaches is [`NameTooLong`](Errno::NameTooLong): a host may have made such a tree.
    pub(in crate::vfs) fn differences(&self) -> Result<Vec<Difference>> {
        let table = &self.table;
        let Some(lower) = &table.lower else {
            return Err(Errno::NotSupported);
        };
        let everywhere = table.has_hidden_changes;
        let mut compare = Compare { table, lower, everywhere, pending: Vec::new(), found: Vec::new() };
        let before = Side::below(String::new(), lower.stat("", false).map_err(errno)?);
        let after = Side::inode(table, ROOT)?;
        compare.pending.push(Pair { path: String::new(), depth: 0, before: Some(before), after: Some(after) });
        while let Some(pair) = compare.pending.pop() {
            compare.pair(pair)?;
        }
        let mut found = compare.found;
        // What was replaced by something of another kind is gone before the other is there.
        found.sort_by(|a, b| {
            let names = a.path.split('/').cmp(b.path.split('/'));
            names.then(a.after.is_some().cmp(&b.after.is_some()))
        });
        Ok(found)
    }

    /// The content of a file.
    pub(in crate::vfs) fn reader<'a>(&'a self, side: &'a Side) -> Result<Reader<'a>> {
        Reader::new(&self.table, &side.place)
    }

    /// The path below of the file whose bytes, all of them and no others, are those of `side`.
    pub(in crate::vfs) fn origin<'a>(&'a self, side: &'a Side) -> Option<&'a str> {
        match &side.place {
            Place::Below(path) => Some(path),
            Place::Inode(number) => match &self.table.peek(*number)?.body {
                Body::File(content) if content.is_untouched() => content.origin().map(|path| &**path),
                _ => None,
            },
        }
    }

    /// What a link holds.
    pub(in crate::vfs) fn target(&self, side: &Side) -> Result<String> {
        target(&self.table, &side.place)
    }
}

impl Side {
    fn below(path: String, stat: Stat) -> Side {
        Side { stat, place: Place::Below(path) }
    }

    fn inode(table: &Table, number: Number) -> Result<Side> {
        Ok(Side { stat: table.get(number)?.stat(number), place: Place::Inode(number) })
    }

    pub(in crate::vfs) fn is_dir(&self) -> bool {
        self.stat.kind == Kind::Directory
    }
}

impl<'a> Reader<'a> {
    fn new(table: &'a Table, place: &'a Place) -> Result<Reader<'a>> {
        let origin = match place {
            Place::Below(path) => Some(path.as_str()),
            Place::Inode(number) => match &table.get(*number)?.body {
                Body::File(content) => content.origin().map(|path| &**path),
                _ => return Err(Errno::Io),
            },
        };
        let below = match (origin, &table.lower) {
            (Some(path), Some(lower)) => Some(lower.open(path)?),
            _ => None,
        };
        Ok(Reader { table, place, below })
    }

    /// Reads at most `max` bytes at `offset`; none at all is the end.
    pub(in crate::vfs) fn read_at(&self, offset: u64, max: usize) -> Result<bytes::Bytes> {
        let below = self.below.as_deref();
        match self.place {
            Place::Below(_) => below.ok_or(Errno::Io)?.read_at(offset, max),
            Place::Inode(number) => match &self.table.get(*number)?.body {
                Body::File(content) => content.read(offset, max, below),
                _ => Err(Errno::Io),
            },
        }
    }
}

struct Compare<'a> {
    table: &'a Table,
    lower: &'a Lower,
    everywhere: bool,
    /// What is still to be compared: a tree as deep as a path can be is too much for some stacks.
    pending: Vec<Pair>,
    found: Vec<Difference>,
}

/// What a path has on both sides.
struct Pair {
    path: String,
    /// How many names the path has.
    depth: usize,
    before: Option<Side>,
    after: Option<Side>,
}

impl Compare<'_> {
    /// Compares what a path has on both sides; what is in it is to be compared next.
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
                // All names of a file that is going to be written anew have to be names of the new one.
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
        let own = match after.map(|side| &side.place) {
            Some(Place::Inode(number)) => Some(self.table.directory(*number)?),
            // Unchanged, and where it always was.
            Some(Place::Below(below)) if below == path && !self.everywhere => return Ok(()),
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
            match (own, after.map(|side| &side.place)) {
                (Some(own), _) => {
                    let shown = self.table.list(own).map_err(errno)?;
                    names.extend(shown.into_iter().map(name_of));
                }
                (None, Some(Place::Below(below))) => {
                    let shown = self.lower.read_dir(below).map_err(errno)?;
                    names.extend(shown.into_iter().map(name_of));
                }
                _ => {}
            }
        }
        for name in names {
            let old = match before {
                Some(_) => self.side_below(&join(path, &name))?,
                None => None,
            };
            let new = match (own, after.map(|side| &side.place)) {
                (Some(own), _) => self.side_in(own, &name)?,
                (None, Some(Place::Below(below))) => self.shown_below(&join(below, &name))?,
                _ => None,
            };
            self.pending.push(Pair { path: join(path, &name), depth: depth + 1, before: old, after: new });
        }
        Ok(())
    }

    /// What a directory of the overlay has under a name.
    fn side_in(&self, directory: &Directory, name: &str) -> Result<Option<Side>> {
        match (directory.names.get(name), &directory.origin) {
            (Some(Entry::Inode(number, _)), _) => Side::inode(self.table, number).map(Some),
            (None, Some(origin)) => self.shown_below(&join(origin, name)),
            _ => Ok(None),
        }
    }

    /// What shows through from below, unless it was changed by another name.
    fn shown_below(&self, path: &str) -> Result<Option<Side>> {
        match self.side_below(path)? {
            Some(side) if self.table.peek(side.stat.inode).is_some() => {
                Side::inode(self.table, side.stat.inode).map(Some)
            }
            side => Ok(side),
        }
    }

    fn side_below(&self, path: &str) -> Result<Option<Side>> {
        match self.lower.stat(path, false) {
            Ok(stat) => Ok(Some(Side::below(path.to_owned(), stat))),
            Err(Stop::Errno(Errno::NoEntry)) => Ok(None),
            Err(stop) => Err(errno(stop)),
        }
    }

    fn content_differs(&self, old: &Side, new: &Side) -> Result<bool> {
        match new.stat.kind {
            Kind::Symlink => Ok(target(self.table, &old.place)? != target(self.table, &new.place)?),
            Kind::File => match (&old.place, &new.place) {
                (Place::Below(old), Place::Below(new)) if old == new => Ok(false),
                (Place::Below(path), Place::Inode(number))
                    if old.stat.size == new.stat.size && self.is_untouched(path, *number)? =>
                {
                    Ok(false)
                }
                _ => Ok(old.stat.size != new.stat.size || self.bytes_differ(old, new)?),
            },
            _ => Ok(false),
        }
    }

    /// Whether a file has nothing but the bytes of some file below.
    fn is_whole(&self, side: &Side) -> Result<bool> {
        Ok(match &side.place {
            Place::Below(_) => true,
            Place::Inode(number) => match &self.table.get(*number)?.body {
                Body::File(content) => content.is_untouched(),
                _ => true,
            },
        })
    }

    /// Whether an inode has nothing but the bytes of the file at `path` below.
    fn is_untouched(&self, path: &str, number: Number) -> Result<bool> {
        Ok(match &self.table.get(number)?.body {
            Body::File(content) => content.is_untouched() && content.origin().is_some_and(|origin| &**origin == path),
            _ => false,
        })
    }

    /// Compares two files of one length, byte by byte.
    fn bytes_differ(&self, old: &Side, new: &Side) -> Result<bool> {
        let old = Reader::new(self.table, &old.place)?;
        let new = Reader::new(self.table, &new.place)?;
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

fn target(table: &Table, place: &Place) -> Result<String> {
    match (place, &table.lower) {
        (Place::Below(path), Some(lower)) => lower.read_link(path).map_err(errno),
        (Place::Inode(number), _) => match &table.get(*number)?.body {
            Body::Symlink(target) => Ok(target.to_string()),
            _ => Err(Errno::Io),
        },
        _ => Err(Errno::Io),
    }
}

/// Paths here were put together of names without links; one that is met now was put there meanwhile.
fn errno(stop: Stop) -> Errno {
    stop.errno_or(Errno::Io)
}
