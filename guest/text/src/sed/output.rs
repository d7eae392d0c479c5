//! Files out: standard output, files that `w` names, and a file that is edited in place.

use isopod_gnu::output::{Out, PIECE};
use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text, write_all};

use super::{Failure, Options};

/// Something that is written to.
pub(super) struct Output {
    sink: Sink,
    /// The last line had no end, and gets one if another follows.
    lacks_end: bool,
    end: u8,
}

enum Sink {
    Standard(Out),
    /// Without a file it is standard error.
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

    /// Writes text that has its own end.
    pub(super) fn text(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if std::mem::take(&mut self.lacks_end) {
            self.push(&[self.end])?;
        }
        self.push(bytes)
    }

    /// Writes a line and its end, if it had one.
    pub(super) fn line(&mut self, bytes: &[u8], has_end: bool) -> Result<(), Failure> {
        self.text(bytes)?;
        if has_end {
            return self.push(&[self.end]);
        }
        self.lacks_end = true;
        Ok(())
    }

    /// Changes places with another's note that its last line had no end.
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

    /// Whether nobody reads standard output any more.
    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.sink, Sink::Standard(out) if out.has_failed())
    }

    /// Standard output, to be finished.
    pub(super) fn into_standard(self) -> Option<Out> {
        match self.sink {
            Sink::Standard(out) => Some(out),
            Sink::File { .. } => None,
        }
    }
}

/// A file that is edited in place: what is written goes to another one, which takes its name at the end.
pub(super) struct Edited {
    pub(super) output: Output,
    temporary: String,
    target: String,
}

impl Edited {
    pub(super) fn start(name: &str, options: &Options) -> Result<Edited, Failure> {
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
        Ok(Edited { output: Output::to(fd, &temporary, options.end), temporary, target })
    }

    /// Leaves the file as it was.
    pub(super) fn abandon(self) {
        // There is nothing to be done about a file that stays.
        let _ = fs::remove_file(&self.temporary);
    }

    /// Puts the new file in the old one's place, and keeps that under the name that the suffix makes.
    pub(super) fn finish(mut self, suffix: &str) -> Result<(), Failure> {
        self.output.flush()?;
        if let Ok(found) = files::stat(&self.target, true) {
            // What cannot be set is as it is for a new file.
            let _ = files::chmod(&self.temporary, found.mode, true);
        }
        let Edited { output, temporary, target } = self;
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

/// A star in a suffix stands for the name; with a slash it is another directory.
fn backup(target: &str, suffix: &str) -> String {
    let (directory, name) = target.rfind('/').map_or(("", target), |at| target.split_at(at + 1));
    let backup = if suffix.contains('*') { suffix.replace('*', name) } else { format!("{name}{suffix}") };
    if backup.contains('/') { backup } else { format!("{directory}{backup}") }
}

/// Where a link leads to in the end.
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
