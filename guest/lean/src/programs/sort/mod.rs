//! `sort`: lines in order.
//!
//! Lines are read into memory up to a limit. Larger inputs are sorted in pieces that go to temporary files, and the
//! pieces are merged. So a file may be larger than a process.

mod check;
mod key;
mod lines;
mod merge;
mod options;
mod order;
mod radix;
mod spill;

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd, text};

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::output::read_file;
use isopod_gnu::program::Call;
use isopod_gnu::quote;
use lines::Batch;
pub(crate) use options::PROGRAM;
use options::{Mode, Settings};

/// The text of an error; the exit code is 2.
type Failure = String;

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let names = settings.names(call)?;
    let inputs = match &names {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => or_standard_input(&call.operands),
    };
    let result = match settings.mode {
        Mode::Check { quiet } => return check::run(call, &settings, &inputs, quiet),
        Mode::Merge => merge_inputs(&settings, &inputs),
        Mode::Sort => sort(&settings, &inputs),
    };
    result.map(|()| 0).map_err(|message| {
        call.complain(&message);
        2
    })
}

fn open(path: &str) -> Result<Input, Failure> {
    Input::open(path).map_err(|errno| format!("cannot read: {}: {}", quote::name(path), text(errno)))
}

fn sort(settings: &Settings, inputs: &[&str]) -> Result<(), Failure> {
    // All inputs are opened before any is read, so that a missing one is found at once.
    let opened = inputs.iter().map(|path| open(path).map(|input| (*path, input))).collect::<Result<Vec<_>, _>>()?;
    let mut batch = Batch::new(settings.end);
    let mut pieces = spill::Pieces::new(settings);
    let room = settings.memory.min(room());
    for (path, input) in &opened {
        loop {
            let piece = input.read().map_err(|errno| format!("read failed: {}: {}", quote::name(path), text(errno)))?;
            if piece.is_empty() {
                break;
            }
            batch.add(&piece);
            if batch.size() >= room {
                let rest = batch.split_last();
                pieces.add(batch)?;
                batch = rest;
            }
        }
        batch.end_line();
    }
    drop(opened);
    if pieces.is_empty() {
        let lines = batch.sorted(settings);
        let mut sink = Sink::open(settings)?;
        for line in batch.output_lines(&lines, settings) {
            sink.line(line);
        }
        return sink.finish();
    }
    pieces.add(batch)?;
    pieces.merge()
}

/// The memory of a process without its data.
const OWN_MEMORY: usize = 4 << 20;
/// The smallest batch that is worth a temporary file.
const LEAST_BATCH: usize = 512 << 10;

/// Returns the largest batch for the memory limit of this process. A growing batch is in memory twice, and its bytes
/// once more while they are moved.
fn room() -> usize {
    let limits = read_file("/proc/self/limits", 64 << 10).unwrap_or_default();
    let limits = String::from_utf8_lossy(&limits);
    let memory = limits.lines().find_map(|line| line.strip_prefix("Max address space")?.split_whitespace().next());
    match memory.and_then(|memory| memory.parse::<usize>().ok()) {
        Some(memory) => (memory.saturating_sub(OWN_MEMORY) / 4).max(LEAST_BATCH),
        None => usize::MAX,
    }
}

fn merge_inputs(settings: &Settings, inputs: &[&str]) -> Result<(), Failure> {
    let opened = inputs.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    // The output may be one of the inputs, which must be read before it is truncated.
    if let Some(output) = &settings.output
        && inputs.iter().any(|input| is_same(input, output))
    {
        let mut whole = Vec::new();
        for input in opened {
            let bytes = input.read_all().map_err(|errno| format!("read failed: {}", text(errno)))?;
            whole.push(merge::Source::memory(bytes, settings.end));
        }
        return merge::run(settings, whole, &mut Sink::open(settings)?);
    }
    let sources = opened.into_iter().map(|input| merge::Source::file(input, settings.end)).collect();
    merge::run(settings, sources, &mut Sink::open(settings)?)
}

fn is_same(a: &str, b: &str) -> bool {
    let identity = |path| isopod_sys::files::stat(path, true).map(|found| (found.device, found.inode)).ok();
    a != "-" && identity(a).is_some() && identity(a) == identity(b)
}

/// The destination of sorted lines.
struct Sink {
    file: Option<Fd>,
    path: String,
    buffer: Vec<u8>,
    end: u8,
    result: Result<(), Errno>,
}

impl Sink {
    /// Opens standard output, or the file of `-o`.
    fn open(settings: &Settings) -> Result<Sink, Failure> {
        match &settings.output {
            None => Ok(Sink::to(None, "standard output", settings.end)),
            Some(path) => {
                let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
                let file = Fd::open(path, how, 0o666)
                    .map_err(|errno| format!("open failed: {}: {}", quote::name(path), text(errno)))?;
                Ok(Sink::to(Some(file), path, settings.end))
            }
        }
    }

    fn to(file: Option<Fd>, path: &str, end: u8) -> Sink {
        Sink { file, path: path.to_owned(), buffer: Vec::with_capacity(isopod_gnu::output::PIECE), end, result: Ok(()) }
    }

    fn line(&mut self, line: &[u8]) {
        if self.buffer.len() + line.len() >= isopod_gnu::output::PIECE {
            self.flush();
        }
        self.buffer.extend_from_slice(line);
        self.buffer.push(self.end);
    }

    fn flush(&mut self) {
        if self.result.is_ok() && !self.buffer.is_empty() {
            self.result = isopod_sys::write_all(self.file.as_ref().map_or(1, Fd::raw), &self.buffer);
        }
        self.buffer.clear();
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        self.result.map_err(|errno| format!("write failed: {}: {}", quote::shell(&self.path), text(errno)))
    }
}
