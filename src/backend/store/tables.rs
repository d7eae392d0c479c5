//! The tables of a store.

use redb::{ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction};

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{GROUP, Kind, Stat, USER};

/// The key of a name: the directory's path and the name in it, so that the names of a directory are neighbours.
pub(super) type Key = (&'static str, &'static str);

/// The attributes of a name: true for a directory, size, time of the last change, inode number, permission bits.
pub(super) type Facts = (bool, u64, u64, u64, u32);

/// The names and their attributes.
pub(super) const NAMES: TableDefinition<'static, Key, Facts> = TableDefinition::new("names");
/// The content of files, apart from the names so that a listing does not read it.
pub(super) const CONTENT: TableDefinition<'static, Key, &'static [u8]> = TableDefinition::new("content");
/// The last inode number (`LAST_INODE`), and the bytes of all files (`BYTES`).
const COUNTERS: TableDefinition<'static, &'static str, u64> = TableDefinition::new("counters");
const LAST_INODE: &str = "next";
const BYTES: &str = "bytes";

/// The inode number of the root, which is not in the tables.
const ROOT: u64 = 1;

/// Maps every error of the database to EIO.
pub(super) fn io(_error: impl Into<redb::Error>) -> Errno {
    Errno::Io
}

pub(super) fn stat((is_dir, size, modified, inode, mode): Facts) -> Stat {
    Stat {
        kind: if is_dir { Kind::Directory } else { Kind::File },
        mode,
        uid: USER,
        gid: GROUP,
        size,
        links: if is_dir { 2 } else { 1 },
        device: 0,
        inode,
        accessed: modified,
        modified,
        changed: modified,
    }
}

pub(super) fn root() -> Facts {
    (true, 0, 0, ROOT, 0o755)
}

/// Looks up the attributes of a path.
pub(super) fn look(names: &impl ReadableTable<Key, Facts>, path: Subpath<'_>) -> Result<Option<Facts>> {
    match path.split() {
        None => Ok(Some(root())),
        Some((parent, name)) => Ok(names.get((parent.as_str(), name)).map_err(io)?.map(|facts| facts.value())),
    }
}

/// Looks up the attributes of a path. Fails if it does not exist, or if a name on the way is a file.
pub(super) fn find(names: &impl ReadableTable<Key, Facts>, path: Subpath<'_>) -> Result<Facts> {
    if let Some(facts) = look(names, path)? {
        return Ok(facts);
    }
    directory_of(names, path)?;
    Err(Errno::NoEntry)
}

/// Checks that the parent of a path exists and is a directory.
pub(super) fn directory_of(names: &impl ReadableTable<Key, Facts>, path: Subpath<'_>) -> Result<()> {
    let mut at = path;
    while let Some((parent, _)) = at.split() {
        match look(names, parent)? {
            Some((true, ..)) if at == path => return Ok(()),
            Some((true, ..)) => return Err(Errno::NoEntry),
            Some(_) => return Err(Errno::NotDirectory),
            None => at = parent,
        }
    }
    Ok(())
}

/// Replaces a file's old size `before` by `size` in the count of all bytes, and returns a new inode number. Fails if
/// the file grows and the count is then above `most`.
pub(super) fn account(write: &WriteTransaction, before: u64, size: u64, most: u64) -> Result<u64> {
    let mut counters = write.open_table(COUNTERS).map_err(io)?;
    let bytes = value(&counters, BYTES)?.saturating_sub(before).saturating_add(size);
    if size > before && bytes > most {
        return Err(Errno::NoSpace);
    }
    let number = value(&counters, LAST_INODE)?.max(ROOT) + 1;
    counters.insert(BYTES, bytes).map_err(io)?;
    counters.insert(LAST_INODE, number).map_err(io)?;
    Ok(number)
}

fn value(counters: &Table<'_, &'static str, u64>, name: &str) -> Result<u64> {
    Ok(counters.get(name).map_err(io)?.map_or(0, |value| value.value()))
}

/// Creates the tables, so that a reader finds them.
pub(super) fn make(database: &redb::Database) -> Result<()> {
    let write = database.begin_write().map_err(io)?;
    write.open_table(NAMES).map_err(io)?;
    write.open_table(CONTENT).map_err(io)?;
    write.open_table(COUNTERS).map_err(io)?;
    write.commit().map_err(io)
}

/// Calls `look` with a snapshot of the names, and with its transaction, for the content.
pub(super) fn read<T>(
    database: &redb::Database,
    look: impl FnOnce(&redb::ReadOnlyTable<Key, Facts>, &redb::ReadTransaction) -> Result<T>,
) -> Result<T> {
    let read = database.begin_read().map_err(io)?;
    let names = read.open_table(NAMES).map_err(io)?;
    look(&names, &read)
}
