//! The work on each file.

use std::io::{self, Read};

use isopod_gnu::program::Call;
use isopod_sys::files::{self, Attributes, Kind, OpenFlags};
use isopod_sys::{Errno, fs, text, write_all};

use super::job::{Job, Mode};
use super::listing::Listing;
use super::tool::Tool;
use crate::codec::{Encoder, Format, Header, decoder};
use crate::stream::{Sink, Source, pump};

/// Runs any of the programs.
pub(super) fn run(call: &Call) -> u8 {
    let job = match Job::read(call) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let mut run = Run { call, job: &job, listing: Listing::new(job.is_verbose, job.is_quiet), code: 0 };
    if call.operands.is_empty() {
        run.standard_input();
    }
    for path in &call.operands {
        if path == "-" { run.standard_input() } else { run.path(path) }
    }
    if job.mode == Mode::List {
        run.listing.finish();
    }
    run.code
}

struct Run<'a> {
    call: &'a Call,
    job: &'a Job,
    listing: Listing,
    code: u8,
}

/// The current input file.
struct Input {
    source: Source,
    /// The name for messages.
    name: String,
    /// None for standard input.
    attributes: Option<Attributes>,
}

impl Run<'_> {
    fn tool(&self) -> &'static Tool {
        self.job.tool
    }

    fn standard_input(&mut self) {
        let name = self.tool().standard_input().to_owned();
        let input = Input { source: Source::standard(), name, attributes: None };
        self.print(input);
    }

    /// Processes a file, or all files of a tree.
    fn path(&mut self, path: &str) {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            match files::stat(&path, true) {
                Ok(found) if found.kind == Kind::Directory && self.job.is_recursive => match files::read_dir(&path) {
                    Ok(names) => pending.extend(names.iter().rev().map(|name| format!("{path}/{name}"))),
                    Err(errno) => self.fail(&format!("{path}: {}", text(errno))),
                },
                _ => self.file(&path),
            }
        }
    }

    fn file(&mut self, path: &str) {
        let tool = self.tool();
        let (path, found) = match self.look_up(path) {
            Ok(found) => found,
            Err((path, errno)) => return self.fail(&tool.no_such_file(&path, text(errno))),
        };
        let to_file = !self.job.to_stdout && matches!(self.job.mode, Mode::Compress | Mode::Decompress);
        if found.kind == Kind::Directory {
            return self.warn(&tool.is_directory(&path));
        }
        if to_file && !self.job.forces && self.job.output.is_none() {
            if found.kind == Kind::Symlink && !(self.job.keeps && tool.name == "xz") {
                // For gzip this is an error of opening the file; the others skip the file with a warning.
                self.complain(&tool.is_link(&path));
                self.code = if tool.format == Format::Gzip { 1 } else { tool.warning };
                return;
            }
            if found.links > 1 && !self.job.keeps {
                return self.warn(&tool.has_links(&path, found.links - 1));
            }
        }
        let source = match Source::open(&path) {
            Ok(source) => source,
            Err(errno) => return self.fail(&tool.no_such_file(&path, text(errno))),
        };
        let attributes = files::stat(&path, true).ok();
        let input = Input { source, name: path.clone(), attributes };
        if to_file { self.replace_file(&path, input) } else { self.print(input) }
    }

    /// Finds a file, or for decompression the file of that name with a suffix.
    fn look_up(&self, path: &str) -> Result<(String, Attributes), (String, Errno)> {
        match files::stat(path, false) {
            Ok(found) => Ok((path.to_owned(), found)),
            Err(Errno::NoEntry) if self.tool().format == Format::Gzip && self.job.mode != Mode::Compress => {
                if self.job.unpacked_name(path).is_some() {
                    return Err((path.to_owned(), Errno::NoEntry));
                }
                let longer = format!("{path}{}", self.job.suffix);
                match files::stat(&longer, false) {
                    Ok(found) => Ok((longer, found)),
                    Err(errno) => Err((longer, errno)),
                }
            }
            Err(errno) => Err((path.to_owned(), errno)),
        }
    }

    fn print(&mut self, mut input: Input) {
        let result = match self.job.mode {
            Mode::List => return self.list(input),
            Mode::Test => {
                let result = self.unpack(&mut input, &mut Sink::nowhere());
                if result.is_ok() && self.job.is_verbose {
                    self.say(&format!("{}:\t OK", input.name));
                }
                result
            }
            Mode::Compress => {
                let mut sink = match &self.job.output {
                    Some(path) => match self.create(path, 0o666) {
                        Some(sink) => sink,
                        None => return,
                    },
                    None => Sink::standard(),
                };
                self.pack(&mut input, &mut sink).map(drop)
            }
            Mode::Decompress => {
                let mut sink = match &self.job.output {
                    Some(path) => match self.create(path, 0o666) {
                        Some(sink) => sink,
                        None => return,
                    },
                    None => Sink::standard(),
                };
                self.unpack(&mut input, &mut sink)
            }
        };
        if let Err(message) = result {
            self.complain(&message);
        }
    }

    fn replace_file(&mut self, path: &str, mut input: Input) {
        let packs = self.job.mode == Mode::Compress;
        let tool = self.tool();
        if self.job.output.is_some() {
            return self.print(input);
        }
        let name = if packs { self.job.packed_name(path) } else { self.job.unpacked_name(path) };
        let name = match name {
            Some(name) => name,
            None if packs => {
                let suffix = self.job.suffix.clone();
                self.say(&format!("{}: {}", tool.name, tool.has_suffix(path, &suffix)));
                // gzip prints this and exits with 0.
                if tool.format != Format::Gzip {
                    self.code = self.code.max(tool.warning);
                }
                return;
            }
            None if tool.format == Format::Bzip2 => {
                self.complain(&format!("Can't guess original name for {path} -- using {path}.out"));
                format!("{path}.out")
            }
            None if tool.format == Format::Xz && !self.looks_packed(&mut input) => {
                return self.fail(&format!("{path}: File format not recognized"));
            }
            None => return self.warn(&tool.unknown_suffix(path)),
        };
        let mode = input.attributes.as_ref().map_or(0o666, |found| found.mode & 0o777);
        let Some(mut sink) = self.create(&name, mode) else {
            return;
        };
        let result =
            if packs { self.pack(&mut input, &mut sink).map(drop) } else { self.unpack(&mut input, &mut sink) };
        let written = sink.written();
        drop(sink);
        match result {
            Ok(()) => self.replace(path, &name, &input, written),
            Err(message) => {
                self.complain(&message);
                // A partial file could be taken for a whole one.
                let _ = fs::remove_file(&name);
            }
        }
    }

    fn looks_packed(&self, input: &mut Input) -> bool {
        input.source.peek(6).is_ok_and(|bytes| Format::detect(bytes).is_some())
    }

    /// Creates a file, and replaces an existing one if that is allowed.
    fn create(&mut self, name: &str, mode: u32) -> Option<Sink> {
        if self.job.forces {
            // If the file cannot be removed, opening it reports the error.
            let _ = fs::remove_file(name);
        }
        match Sink::open(name, OpenFlags::CREATE | OpenFlags::EXCLUSIVE, mode) {
            Ok(sink) => Some(sink),
            Err(Errno::Exist) => {
                let message = self.tool().exists(name);
                if self.tool().format == Format::Gzip {
                    self.warn(&message)
                } else {
                    self.fail(&message)
                }
                None
            }
            Err(errno) => {
                self.fail(&format!("{name}: {}", text(errno)));
                None
            }
        }
    }

    /// Copies the attributes of the old file to the new one, and removes the old one.
    fn replace(&mut self, path: &str, name: &str, input: &Input, written: u64) {
        if let Some(found) = &input.attributes {
            // The file system may refuse attributes; that is no reason to lose the file.
            let _ = files::chmod(name, found.mode & 0o777, true);
            let _ = fs::set_times(name, found.accessed, found.modified, true);
        }
        if self.job.is_verbose {
            let size = input.attributes.as_ref().map_or(0, |found| found.size);
            let (large, small) = if self.job.mode == Mode::Compress { (size, written) } else { (written, size) };
            let what = if self.job.keeps { "created" } else { "replaced with" };
            let overhead = 19 + path.rsplit('/').next().unwrap_or_default().len() as u64;
            self.say(&format!(
                "{path}:\t{} -- {what} {name}",
                super::listing::ratio(large, small.saturating_sub(overhead))
            ));
        }
        if !self.job.keeps
            && let Err(errno) = fs::remove_file(path)
        {
            self.fail(&format!("{path}: {}", text(errno)));
        }
    }

    fn pack(&mut self, input: &mut Input, sink: &mut Sink) -> Result<u64, String> {
        let stores = self.job.stores_name != Some(false);
        let header = Header {
            name: input.attributes.as_ref().filter(|_| stores).map(|_| last(&input.name).to_owned()),
            modified: input
                .attributes
                .as_ref()
                .filter(|_| stores)
                .map_or(0, |found| (found.modified / 1_000_000_000) as u32),
        };
        let job = self.job;
        let mut work = || -> io::Result<u64> {
            let mut encoder = Encoder::new(Some(job.format), &mut *sink, job.level, &header)?;
            let count = pump(&mut input.source, &mut encoder)?;
            encoder.finish()?;
            Ok(count)
        };
        work().map_err(|error| {
            self.code = 1;
            format!("{}: {error}", input.name)
        })
    }

    fn unpack(&mut self, input: &mut Input, sink: &mut Sink) -> Result<(), String> {
        let tool = self.tool();
        let wrong = |run: &mut Run, error: &io::Error| {
            run.code = tool.corrupt;
            let message = tool.wrong_data(&input.name, error);
            // gzip prints an empty line before an error in the data.
            if tool.format == Format::Gzip { format!("\n{message}") } else { message }
        };
        let source = std::mem::replace(&mut input.source, Source::standard());
        let (mut source, format) = match self.detect(source) {
            Ok(found) => found,
            Err(error) => return Err(wrong(self, &error)),
        };
        let Some(format) = format else {
            let passed = pump(&mut source, sink).and_then(|_| io::Write::flush(sink));
            return passed.map_err(|error| self.lost(&error));
        };
        let mut decoder = decoder(format, source).map_err(|error| wrong(self, &error))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match decoder.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => {
                    // The data before the error is written; a second error would only hide the first.
                    let _ = io::Write::flush(sink);
                    return Err(wrong(self, &error));
                }
            };
            io::Write::write_all(sink, &buffer[..count]).map_err(|error| self.lost(&error))?;
        }
        io::Write::flush(sink).map_err(|error| self.lost(&error))?;
        if decoder.has_garbage() {
            self.complain(&tool.garbage(&input.name));
            self.code = if tool.format == Format::Gzip { self.code.max(2) } else { self.code };
        }
        Ok(())
    }

    /// Returns the format of the data; none for plain data that is passed through.
    fn detect(&self, mut source: Source) -> io::Result<(Source, Option<Format>)> {
        let (own, passes) =
            (self.job.format, self.job.forces && self.job.to_stdout && self.job.mode == Mode::Decompress);
        let start = source.peek(6)?;
        let format = match Format::detect(start) {
            Some(found) if found == own || own == Format::Zstd || own == Format::Gzip && passes => Some(found),
            _ if passes => None,
            None if own == Format::Xz && start.first() == Some(&0x5d) => Some(Format::Lzma),
            Some(Format::Xz) if own == Format::Lzma => Some(Format::Xz),
            _ => {
                let kind = if start.is_empty() && own != Format::Xz {
                    io::ErrorKind::UnexpectedEof
                } else {
                    io::ErrorKind::InvalidData
                };
                if own != Format::Lzma {
                    return Err(io::Error::new(kind, "wrong magic number in the header"));
                }
                Some(own)
            }
        };
        Ok((source, format))
    }

    fn list(&mut self, mut input: Input) {
        if let Err(error) = self.listing.add(&mut input.source, &input.name, self.job, input.attributes.as_ref()) {
            let message = format!("\n{}", self.tool().wrong_data(&input.name, &error));
            self.fail(&message);
        }
    }

    fn lost(&mut self, error: &io::Error) -> String {
        self.code = 1;
        format!("write error: {error}")
    }

    /// Prints an error; the exit code is 1.
    fn fail(&mut self, message: &str) {
        self.complain(message);
        self.code = 1;
    }

    /// Prints a warning about a file that is skipped.
    fn warn(&mut self, message: &str) {
        if !self.job.is_quiet {
            self.complain(message);
        }
        if self.code == 0 {
            self.code = self.tool().warning;
        }
    }

    fn complain(&self, message: &str) {
        let (lead, message) = message.strip_prefix('\n').map_or(("", message), |rest| ("\n", rest));
        self.say(&format!(
            "{lead}{}: {message}",
            if self.tool().format == Format::Gzip { "gzip" } else { &self.call.name }
        ));
    }

    fn say(&self, line: &str) {
        // There is no place left to report that standard error is gone.
        let _ = write_all(2, format!("{line}\n").as_bytes());
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
