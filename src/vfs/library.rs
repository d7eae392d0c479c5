//! The library of an interpreter, built into the binary.
//!
//! Files are read from the binary itself: a sandbox that reads none pays nothing, and one that reads some pages in only
//! those. The tree of names is built at the first lookup, once for all sandboxes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::text_file::{TextFile, builtin_stat};
use super::{Attempt, DirEntry, FileSystem, Kind, MountKind, Node, OpenHow, Stat};

/// A read-only file system of files that never change.
pub struct Library {
    index: &'static str,
    bytes: &'static [u8],
    /// Indexed by inode minus one. The root is the first.
    nodes: OnceLock<Vec<Entry>>,
}

enum Entry {
    File(&'static [u8]),
    Directory(BTreeMap<&'static str, usize>),
}

impl Library {
    /// Creates the file system from an index with lines `offset length path` into `bytes`.
    pub fn new(index: &'static str, bytes: &'static [u8]) -> Library {
        Library { index, bytes, nodes: OnceLock::new() }
    }

    fn nodes(&self) -> &[Entry] {
        self.nodes.get_or_init(|| {
            let mut nodes = vec![Entry::Directory(BTreeMap::new())];
            for line in self.index.lines() {
                // The build writes index and bytes together, so an invalid line does not occur; it would be a missing
                // file.
                let _ = self.add(&mut nodes, line);
            }
            nodes
        })
    }

    /// Adds the file of one index line and its parent directories.
    fn add(&self, nodes: &mut Vec<Entry>, line: &'static str) -> Option<()> {
        let mut words = line.splitn(3, ' ');
        let offset: usize = words.next()?.parse().ok()?;
        let length: usize = words.next()?.parse().ok()?;
        let content = self.bytes.get(offset..offset.checked_add(length)?)?;
        let (mut at, mut names) = (0, words.next()?.split('/').peekable());
        while let Some(name) = names.next() {
            let next = nodes.len();
            let Entry::Directory(here) = &mut nodes[at] else { return None };
            at = *here.entry(name).or_insert(next);
            if at == next {
                let is_last = names.peek().is_none();
                nodes.push(if is_last { Entry::File(content) } else { Entry::Directory(BTreeMap::new()) });
            }
        }
        Some(())
    }

    fn find(&self, path: Subpath<'_>) -> Result<usize> {
        let nodes = self.nodes();
        path.names().try_fold(0, |at, name| match &nodes[at] {
            Entry::Directory(names) => names.get(name).copied().ok_or(Errno::NoEntry),
            Entry::File(_) => Err(Errno::NotDirectory),
        })
    }

    fn stat_of(&self, node: usize) -> Stat {
        let inode = node as u64 + 1;
        match &self.nodes()[node] {
            Entry::File(content) => builtin_stat(Kind::File, 0o644, inode, content.len() as u64),
            Entry::Directory(_) => builtin_stat(Kind::Directory, 0o755, inode, 0),
        }
    }

    /// Returns the file of a path; none for a directory.
    fn file(&self, path: Subpath<'_>) -> Result<Option<TextFile>> {
        let node = self.find(path)?;
        Ok(match &self.nodes()[node] {
            Entry::File(content) => Some(TextFile { text: Bytes::from_static(content), stat: self.stat_of(node) }),
            Entry::Directory(_) => None,
        })
    }
}

impl FileSystem for Library {
    fn mount_kind(&self) -> MountKind {
        MountKind::Library
    }

    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        TextFile::open(self.file(path), how)
    }

    fn stat(&self, path: Subpath<'_>, _follow: bool) -> Attempt<Stat> {
        Ok(self.stat_of(self.find(path)?))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let node = self.find(path)?;
        let Entry::Directory(names) = &self.nodes()[node] else { return Err(Errno::NotDirectory.into()) };
        let entry = |(name, node): (&&str, &usize)| {
            let stat = self.stat_of(*node);
            DirEntry { name: (*name).to_owned(), kind: stat.kind, inode: stat.inode }
        };
        Ok(names.iter().map(entry).collect())
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        self.find(path)?;
        Err(Errno::Invalid.into())
    }
}
