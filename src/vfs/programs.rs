//! The program table as a directory of executable files.
//!
//! The content of a file, not its name, identifies the program. The kernel reads the content when it spawns, so a copy
//! or a link of `/bin/tr` under any name runs `tr`.

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::text_file::{TextFile, builtin_stat};
use super::{Attempt, DirEntry, FileSystem, Kind, MountKind, Node, OpenHow, Stat};

/// The start of a program file. The name of the program and a line feed follow.
pub const PROGRAM_MAGIC: &str = "#!isopod-program ";

/// The inode of the directory. The programs have the numbers after it.
const ROOT: u64 = 1;

/// A read-only file system with one file for each program.
pub struct Programs {
    /// Sorted, without duplicates.
    names: Vec<String>,
}

impl Programs {
    /// Creates the directory of these programs.
    pub fn new(names: impl Iterator<Item = String>) -> Programs {
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        Programs { names }
    }

    /// Returns the file of a path; none for the directory itself.
    fn find(&self, path: Subpath<'_>) -> Result<Option<TextFile>> {
        let mut names = path.names();
        let Some(name) = names.next() else {
            return Ok(None);
        };
        let index = self.names.binary_search_by(|known| known.as_str().cmp(name)).map_err(|_| Errno::NoEntry)?;
        match names.next() {
            Some(_) => Err(Errno::NotDirectory),
            None => {
                let text = Bytes::from(format!("{PROGRAM_MAGIC}{name}\n"));
                let stat = builtin_stat(Kind::File, 0o755, ROOT + 1 + index as u64, text.len() as u64);
                Ok(Some(TextFile { text, stat }))
            }
        }
    }
}

impl FileSystem for Programs {
    fn mount_kind(&self) -> MountKind {
        MountKind::Programs
    }

    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        TextFile::open(self.find(path), how)
    }

    fn stat(&self, path: Subpath<'_>, _follow: bool) -> Attempt<Stat> {
        match self.find(path)? {
            Some(program) => Ok(program.stat),
            None => Ok(builtin_stat(Kind::Directory, 0o755, ROOT, 0)),
        }
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        if self.find(path)?.is_some() {
            return Err(Errno::NotDirectory.into());
        }
        let entry = |(name, inode): (&String, u64)| DirEntry { name: name.clone(), kind: Kind::File, inode };
        Ok(self.names.iter().zip(ROOT + 1..).map(entry).collect())
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        self.find(path)?;
        Err(Errno::Invalid.into())
    }
}
