//! Sorted pieces in temporary files, for inputs that do not fit in memory.

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd, fs, process, text};

use super::{Batch, Failure, Settings, Sink, merge};
use isopod_gnu::input::Input;
use isopod_gnu::path::join;
use isopod_gnu::quote;

/// The number of pieces at which they are merged into one: fewer than the open files of a process.
const MOST_PIECES: usize = 64;

/// Sorted pieces, in the order of the input.
pub(super) struct Pieces<'a> {
    settings: &'a Settings,
    paths: Vec<String>,
    made: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(settings: &'a Settings) -> Pieces<'a> {
        Pieces { settings, paths: Vec::new(), made: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Sorts a batch and writes it out.
    pub(super) fn add(&mut self, batch: Batch) -> Result<(), Failure> {
        if self.paths.len() >= MOST_PIECES {
            let sources = self.sources()?;
            let mut sink = self.create()?;
            merge::run(self.settings, sources, &mut sink)?;
            let merged = sink.path.clone();
            self.remove();
            self.paths.push(merged);
        }
        let mut sink = self.create()?;
        self.paths.push(sink.path.clone());
        let lines = batch.sorted(self.settings);
        for line in batch.output_lines(&lines, self.settings) {
            sink.line(line);
        }
        sink.finish()
    }

    /// Merges all pieces into the output.
    pub(super) fn merge(mut self) -> Result<(), Failure> {
        let sources = self.sources()?;
        let result = merge::run(self.settings, sources, &mut Sink::open(self.settings)?);
        self.remove();
        result
    }

    fn sources(&self) -> Result<Vec<merge::Source>, Failure> {
        let open = |path: &String| {
            Input::open(path)
                .map(|input| merge::Source::file(input, self.settings.end))
                .map_err(|errno| format!("open failed: {}: {}", quote::name(path), text(errno)))
        };
        self.paths.iter().map(open).collect()
    }

    fn create(&mut self) -> Result<Sink, Failure> {
        loop {
            // The process id is unique in the sandbox; a name that exists all the same is passed over.
            let path = join(&self.settings.directory, &format!("sort{}.{}", process::id(), self.made));
            self.made += 1;
            let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
            match Fd::open(&path, how, 0o600) {
                Ok(file) => return Ok(Sink::to(Some(file), &path, self.settings.end)),
                Err(Errno::Exist) => {}
                Err(errno) => {
                    let directory = quote::shell(&self.settings.directory);
                    return Err(format!("cannot create temporary file in {directory}: {}", text(errno)));
                }
            }
        }
    }

    fn remove(&mut self) {
        for path in self.paths.drain(..) {
            // The output is right even if a temporary file stays.
            let _ = fs::remove_file(&path);
        }
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
