//! Copying the content of a file.

use isopod_sys::files::{self, Attributes, Kind, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text, write_all};

use super::{Copier, CopyKind};
use isopod_gnu::output::PIECE;
use isopod_gnu::quote::shell;

impl Copier<'_> {
    /// Copies the content of a file, to a new file with its permissions or into an existing one.
    pub(super) fn copy_content(
        &mut self,
        source: &str,
        found: &Attributes,
        dest: &str,
        there: Option<&Attributes>,
    ) -> Result<(), String> {
        if there.is_some_and(|there| there.kind == Kind::Symlink)
            && matches!(files::stat(dest, true), Err(Errno::NoEntry))
        {
            return Err(format!("not writing through dangling symlink {}", shell(dest)));
        }
        let input = Fd::open(source, OpenFlags::READ, 0)
            .map_err(|e| format!("cannot open {} for reading: {}", shell(source), text(e)))?;
        let mode = if self.rules.keep.no_mode { 0o666 } else { found.mode & 0o777 };
        let nothing = self.rules.kind == CopyKind::Nothing;
        let output = match (open(dest, mode, there.is_some(), !nothing), there) {
            (Err(_), Some(_)) if self.rules.force => {
                fs::remove_file(dest).map_err(|e| format!("cannot remove {}: {}", shell(dest), text(e)))?;
                open(dest, mode, false, !nothing)
            }
            (result, _) => result,
        };
        let output = output.map_err(|errno| match there {
            None => {
                // A name that ends in a slash is that of a directory, which does not exist.
                let errno = if dest.ends_with('/') { Errno::NotDirectory } else { errno };
                format!("cannot create regular file {}: {}", shell(dest), text(errno))
            }
            Some(_) => format!("cannot create regular file {}: {}", shell(dest), text(errno)),
        })?;
        if nothing {
            return Ok(());
        }
        pump(&input, &output).map_err(|(reads, errno)| match reads {
            true => format!("error reading {}: {}", shell(source), text(errno)),
            false => format!("error writing {}: {}", shell(dest), text(errno)),
        })
    }
}

/// Opens the file to write. A new one gets the source's permissions, less the umask, from the start: others must
/// not be able to read a private file even for a moment.
fn open(dest: &str, mode: u32, exists: bool, truncates: bool) -> Result<Fd, Errno> {
    let how = match (exists, truncates) {
        (false, _) => OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
        (true, true) => OpenFlags::WRITE | OpenFlags::TRUNCATE,
        (true, false) => OpenFlags::WRITE,
    };
    // A file without write permission can still be created and filled.
    Fd::open(dest, how, mode)
}

/// Copies all bytes. The flag of an error is true if it came from reading.
fn pump(input: &Fd, output: &Fd) -> Result<(), (bool, Errno)> {
    loop {
        let piece = match input.read(PIECE as u32) {
            Ok(piece) => piece,
            Err(Errno::Interrupted) => continue,
            Err(errno) => return Err((true, errno)),
        };
        if piece.is_empty() {
            return Ok(());
        }
        write_all(output.raw(), &piece).map_err(|errno| (false, errno))?;
    }
}
