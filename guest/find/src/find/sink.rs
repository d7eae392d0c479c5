//! Destinations of actions: standard output, and the files of `-fprint` and the like.

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd, text, write_all};

use isopod_gnu::output::PIECE;

use crate::messages::quoted;

/// All destinations, by number.
pub(super) struct Sinks {
    sinks: Vec<Sink>,
}

struct Sink {
    name: String,
    /// None for standard output and standard error, which are not closed here.
    file: Option<Fd>,
    number: u32,
    buffer: Vec<u8>,
    result: Result<(), Errno>,
}

/// The number of standard output.
pub(super) const OUTPUT: usize = 0;

impl Sinks {
    pub(super) fn new() -> Sinks {
        let output = Sink { name: "/dev/stdout".into(), file: None, number: 1, buffer: Vec::new(), result: Ok(()) };
        Sinks { sinks: vec![output] }
    }

    /// Returns the number of a file, which is created or emptied the first time. Two actions on one file share it.
    pub(super) fn open(&mut self, name: &str) -> Result<usize, String> {
        if let Some(index) = self.sinks.iter().position(|sink| sink.name == name) {
            return Ok(index);
        }
        let (file, number) = if name == "/dev/stderr" {
            (None, 2)
        } else {
            let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
            let file = Fd::open(name, how, 0o666).map_err(|errno| format!("{}: {}", quoted(name), text(errno)))?;
            let number = file.raw();
            (Some(file), number)
        };
        self.sinks.push(Sink { name: name.into(), file, number, buffer: Vec::new(), result: Ok(()) });
        Ok(self.sinks.len() - 1)
    }

    /// Adds bytes to the output of a destination.
    pub(super) fn push(&mut self, sink: usize, bytes: &[u8]) {
        let sink = &mut self.sinks[sink];
        sink.buffer.extend_from_slice(bytes);
        if sink.buffer.len() >= PIECE {
            sink.flush();
        }
    }

    /// Writes everything: before a message, before a child starts, and at the end.
    pub(super) fn flush(&mut self) {
        self.sinks.iter_mut().for_each(Sink::flush);
    }

    /// Returns true if standard output is closed, so that the run can end early.
    pub(super) fn has_failed(&self) -> bool {
        self.sinks[OUTPUT].result.is_err()
    }

    /// Writes everything and closes the files. An error is the message for the first one that failed.
    pub(super) fn finish(mut self) -> Result<(), String> {
        self.flush();
        for sink in self.sinks {
            sink.result.map_err(|errno| match sink.file {
                Some(_) => format!("failed to write output file {}: {}", quoted(&sink.name), text(errno)),
                None => format!("write error: {}", text(errno)),
            })?;
        }
        Ok(())
    }
}

impl Sink {
    fn flush(&mut self) {
        if !self.buffer.is_empty() && self.result.is_ok() {
            self.result = write_all(self.number, &self.buffer);
        }
        self.buffer.clear();
    }
}
