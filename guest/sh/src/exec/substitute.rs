//! Command substitution.

use std::rc::Rc;

use isopod_sys::Fd;
use isopod_sys::files::OpenFlags;

use super::capture::Plumbing;
use super::subshell::Work;
use crate::state::files::File;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Kind, List, RedirectAction, Simple};
use crate::text;

impl Shell {
    /// Returns the value of `$( … )`.
    pub fn substitute(&mut self, list: &Rc<List>) -> Result<String, Stop> {
        // Under `set -n` nothing runs.
        if self.options.has(SetOption::NOEXEC) {
            return Ok(String::new());
        }
        if let Some(simple) = single_simple(list)
            && let Some(text) = self.substitute_file(simple)?
        {
            return Ok(text);
        }
        let (bytes, status) = match self.runs_in_place(list) {
            true => self.capture_in_place(list)?,
            false => self.capture_process(list)?,
        };
        self.status = status;
        self.substituted = Some(status);
        Ok(trimmed(bytes))
    }

    /// `$(< file)`: reads a file without a process.
    fn substitute_file(&mut self, simple: &Simple) -> Result<Option<String>, Stop> {
        let [redirect] = simple.redirects.as_slice() else { return Ok(None) };
        let reads = redirect.action == RedirectAction::Read && redirect.descriptor.is_none();
        if !reads || !simple.words.is_empty() || !simple.assignments.is_empty() {
            return Ok(None);
        }
        let path = self.expand_string(&redirect.target)?;
        let opened = self.open_file(&path, OpenFlags::READ);
        let bytes = opened.and_then(|file| read_file(&file));
        match bytes {
            Ok(bytes) => {
                self.substituted = Some(0);
                Ok(Some(trimmed(bytes)))
            }
            Err(errno) => {
                self.complain(&format!("{path}: {}", isopod_sys::text(errno)));
                self.substituted = Some(1);
                self.status = 1;
                Ok(Some(String::new()))
            }
        }
    }

    fn capture_process(&mut self, list: &Rc<List>) -> Result<(Vec<u8>, u8), Stop> {
        self.files.look_for_inherited();
        let (reader, writer) = match Fd::pipe() {
            Ok(pipe) => pipe,
            Err(errno) => {
                return Err(
                    self.refuse(&format!("cannot make pipe for command substitution: {}", isopod_sys::text(errno)))
                );
            }
        };
        let output = self.files.set(1, Some(File::kernel(writer)));
        let options = self.options;
        if !options.shopt(Shopt::INHERIT_ERREXIT) {
            self.options.switch(SetOption::ERREXIT, false);
        }
        // If an outer buffer is among the other files, both pipes are read.
        let started = match self.plumbing() {
            Ok(plumbing) => self.start_shell(&Work::List(list.clone()), &plumbing).map(|pid| (pid, plumbing)),
            Err(errno) => Err(errno),
        };
        self.options = options;
        self.files.set(1, output);
        match started {
            Ok((pid, plumbing)) => {
                let bytes = plumbing.drain_with(&reader);
                let status = self.wait_for(pid, None)?;
                Ok((bytes, status))
            }
            Err(errno) => {
                let status = self.report_spawn("fork", errno)?;
                Ok((Vec::new(), status))
            }
        }
    }
}

/// Returns the simple command of a list that consists of nothing else.
pub(super) fn single_simple(list: &List) -> Option<&Rc<Simple>> {
    let [item] = list.items.as_slice() else { return None };
    let pipeline = &item.chain.first;
    let alone = !item.background && item.chain.rest.is_empty() && !pipeline.negated && pipeline.timed.is_none();
    match pipeline.stages.as_slice() {
        [stage] if alone => match &stage.kind {
            Kind::Simple(simple) => Some(simple),
            _ => None,
        },
        _ => None,
    }
}

fn read_file(file: &File) -> Result<Vec<u8>, isopod_sys::Errno> {
    let mut bytes = Vec::new();
    loop {
        let piece = file.read(65536, None)?;
        if piece.is_empty() {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&piece);
    }
}

/// Makes a value of output: without NULs and without the newlines at its end.
fn trimmed(mut bytes: Vec<u8>) -> String {
    if bytes.contains(&0) {
        bytes.retain(|b| *b != 0);
    }
    while bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    text::from_bytes(bytes)
}

/// The reader is the only source, unless outer buffers are among the files.
impl Plumbing {
    fn drain_with(self, reader: &Fd) -> Vec<u8> {
        let buffer = File::capture();
        self.drain_also(reader, &buffer);
        match &*buffer {
            File::Capture(bytes) => bytes.take(),
            File::Kernel { .. } => Vec::new(),
        }
    }
}
