//! Pipes for children whose output a substitution in place collects.

use std::rc::Rc;

use isopod_sys::{Errno, Fd, files};

use crate::state::Shell;
use crate::state::files::File;

/// A pipe for each buffer among the shell's files.
#[derive(Default)]
pub(super) struct Plumbing {
    pipes: Vec<Pipe>,
}

struct Pipe {
    buffer: Rc<File>,
    reader: Fd,
    writer: Option<Fd>,
}

impl Shell {
    /// Makes the pipes that children need in place of buffers. Outside of substitutions there are none.
    pub(super) fn plumbing(&mut self) -> Result<Plumbing, Errno> {
        self.files.look_for_inherited();
        let mut plumbing = Plumbing::default();
        if self.captures == 0 {
            return Ok(plumbing);
        }
        for (_, file) in self.files.iter() {
            if matches!(**file, File::Capture(_)) && plumbing.writer_for(file).is_none() {
                let (reader, writer) = Fd::pipe()?;
                plumbing.pipes.push(Pipe { buffer: file.clone(), reader, writer: Some(writer) });
            }
        }
        Ok(plumbing)
    }
}

impl Plumbing {
    fn writer_for(&self, file: &Rc<File>) -> Option<u32> {
        self.pipes.iter().find(|p| Rc::ptr_eq(&p.buffer, file)).and_then(|p| p.writer.as_ref().map(Fd::raw))
    }

    /// Returns the kernel's descriptor for a file, as a child gets it.
    pub(super) fn raw(&self, file: &Rc<File>) -> Option<u32> {
        file.raw().or_else(|| self.writer_for(file))
    }

    /// Reads the output of the children until all of them have closed their ends.
    pub(super) fn drain(mut self) {
        for pipe in &mut self.pipes {
            pipe.writer = None;
        }
        let sources: Vec<(u32, &File)> = self.pipes.iter().map(|p| (p.reader.raw(), &*p.buffer)).collect();
        drain_all(sources);
    }

    /// Like `drain`, with one more pipe.
    pub(super) fn drain_also(mut self, reader: &Fd, buffer: &File) {
        for pipe in &mut self.pipes {
            pipe.writer = None;
        }
        let own = self.pipes.iter().map(|p| (p.reader.raw(), &*p.buffer));
        drain_all([(reader.raw(), buffer)].into_iter().chain(own).collect());
    }
}

fn drain_all(mut sources: Vec<(u32, &File)>) {
    let mut turn = 0;
    while !sources.is_empty() {
        turn %= sources.len();
        // Two at once are rare; then both are polled, so that neither fills up.
        let timeout = (sources.len() > 1).then_some(1_000_000);
        let (reader, buffer) = sources[turn];
        match files::read(reader, 65536, timeout) {
            Ok(bytes) if !bytes.is_empty() => {
                // Writing to a buffer does not fail.
                let _ = buffer.write(&bytes);
            }
            Err(Errno::TimedOut | Errno::Interrupted) => turn += 1,
            Ok(_) | Err(_) => {
                sources.remove(turn);
            }
        }
    }
}
