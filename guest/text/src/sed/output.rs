//! Outputs: standard output, files named by `w`, and the file being edited in place.

use isopod_gnu::output::{Out, PIECE};
use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text, write_all};

use super::{Failure, Options};

/// An output stream.
pub(super) struct Output {
    sink: Sink,
    /// The last line had no terminator. It gets one if more output follows.
    lacks_end: bool,
    end: u8,
}

enum Sink {
    Standard(Out),
    /// A file, or standard error if `file` is `None`.
    File {
        file: Option<Fd>,
        buffer: Vec<u8>,
        name: String,
    },
}

impl Output {
    pub(super) fn standard(end: u8) -> Output {
        Output { sink: Sink::Standard(Out::new()), lacks_end: false, end }
    }

    pub(super) fn standard_error(end: u8) -> Output {
        let sink = Sink::File { file: None, buffer: Vec::new(), name: "stderr".to_owned() };
        Output { sink, lacks_end: false, end }
    }

    pub(super) fn create(name: &str, end: u8) -> Result<Output, Failure> {
        let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let fd = Fd::open(name, how, 0o666)
            .map_err(|errno| Failure(format!("couldn't open file {name}: {}", text(errno)), 4))?;
        Ok(Output::to(fd, name, end))
    }

    fn to(fd: Fd, name: &str, end: u8) -> Output {
        let sink = Sink::File { file: Some(fd), buffer: Vec::new(), name: name.to_owned() };
        Output { sink, lacks_end: false, end }
    }

    /// Writes text that includes its terminator.
    pub(super) fn text(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if std::mem::take(&mut self.lacks_end) {
            self.push(&[self.end])?;
        }
        self.push(bytes)
    }

    /// Writes a line, and its terminator if it had one.
    pub(super) fn line(&mut self, bytes: &[u8], has_end: bool) -> Result<(), Failure> {
        self.text(bytes)?;
        if has_end {
            return self.push(&[self.end]);
        }
        self.lacks_end = true;
        Ok(())
    }

    /// Swaps the flag for a missing terminator with another one.
    pub(super) fn change_ends(&mut self, other: &mut bool) {
        std::mem::swap(&mut self.lacks_end, other);
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.sink {
            Sink::Standard(out) => {
                out.push(bytes);
                Ok(())
            }
            Sink::File { buffer, .. } => {
                buffer.extend_from_slice(bytes);
                if buffer.len() >= PIECE { self.flush() } else { Ok(()) }
            }
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.sink {
            Sink::Standard(out) => {
                out.flush();
                Ok(())
            }
            Sink::File { file, buffer, name } => {
                let fd = file.as_ref().map_or(2, Fd::raw);
                let result = if buffer.is_empty() { Ok(()) } else { write_all(fd, buffer) };
                buffer.clear();
                result.map_err(|errno| Failure(format!("couldn't write to {name}: {}", text(errno)), 4))
            }
        }
    }

    /// Returns true if standard output has no reader any more.
    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.sink, Sink::Standard(out) if out.has_failed())
    }

    /// Returns standard output, to be finished.
    pub(super) fn into_standard(self) -> Option<Out> {
        match self.sink {
            Sink::Standard(out) => Some(out),
            Sink::File { .. } => None,
        }
    }
}

/// A file being edited in place. Output goes to a temporary file, which is renamed at the end.
pub(super) struct InPlaceEdit {
    pub(super) output: Output,
    temporary: String,
    target: String,
}

impl InPlaceEdit {
    pub(super) fn start(name: &str, options: &Options) -> Result<InPlaceEdit, Failure> {
        let target = if options.follow_links { resolve(name)? } else { name.to_owned() };
        let directory = target.rfind('/').map_or("", |at| &target[..=at]);
        let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let mut number = u64::from(isopod_sys::process::id());
        let (fd, temporary) = loop {
            let temporary = format!("{directory}sed{number:06}");
            match Fd::open(&temporary, how, 0o600) {
                Ok(fd) => break (fd, temporary),
                Err(Errno::Exist) => number += 1,
                Err(errno) => {
                    return Err(Failure(format!("couldn't open temporary file {temporary}: {}", text(errno)), 4));
                }
            }
        };
        Ok(InPlaceEdit { output: Output::to(fd, &temporary, options.end), temporary, target })
    }

    /// Removes the temporary file and leaves the original unchanged.
    pub(super) fn abandon(self) {
        // If the removal fails, the file stays.
        let _ = fs::remove_file(&self.temporary);
    }

    /// Renames the temporary file to the original, which is first renamed to its backup name if there is a suffix.
    pub(super) fn finish(mut self, suffix: &str) -> Result<(), Failure> {
        self.output.flush()?;
        if let Ok(found) = files::stat(&self.target, true) {
            // If the mode cannot be set, that of a new file stays.
            let _ = files::chmod(&self.temporary, found.mode, true);
        }
        let InPlaceEdit { output, temporary, target } = self;
        drop(output);
        let renamed = |from: &str, to: &str| {
            fs::rename(from, to).map_err(|errno| Failure(format!("cannot rename {from}: {}", text(errno)), 4))
        };
        if !suffix.is_empty() {
            renamed(&target, &backup(&target, suffix))?;
        }
        renamed(&temporary, &target)
    }
}

/// Returns the name of a backup file. A star in the suffix stands for the name, and a slash selects another
/// directory.
fn backup(target: &str, suffix: &str) -> String {
    let (directory, name) = target.rfind('/').map_or(("", target), |at| target.split_at(at + 1));
    let backup = if suffix.contains('*') { suffix.replace('*', name) } else { format!("{name}{suffix}") };
    if backup.contains('/') { backup } else { format!("{directory}{backup}") }
}

/// Resolves a chain of symbolic links.
fn resolve(name: &str) -> Result<String, Failure> {
    let mut path = name.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) if target.starts_with('/') => path = target,
            Ok(target) => {
                let directory = path.rfind('/').map_or("", |at| &path[..=at]);
                path = format!("{directory}{target}");
            }
            Err(_) => return Ok(path),
        }
    }
    Err(Failure(format!("couldn't readlink {name}: {}", text(Errno::Loop)), 4))
}
