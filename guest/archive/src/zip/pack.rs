//! `zip`.

use std::io::{self, Cursor, Read};

use isopod_gnu::ancestors::Ancestors;
use isopod_gnu::output::Out;
use isopod_gnu::pattern::Pattern;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Attributes, Kind, OpenFlags};
use isopod_sys::{fs, text, write_all};

use super::command::{Command, patterns};
use super::directory;
use super::entry::{DEFLATED, DIRECTORY, Entry, FILE, LINK, UTF8, percent};
use super::write::Writer;
use crate::stream::{Sink, Source};

const NOTHING: u8 = 12;

/// Runs `zip`.
pub(super) fn run(call: &Call) -> u8 {
    match call.operands.first().map(String::as_str) {
        Some("--help" | "-h") => return call.help(),
        Some("--version") => return call.version(),
        _ => {}
    }
    let command = match Command::read(&call.operands, "rqvj0123456789yDXmufdT@", "xi", "") {
        Ok(command) => command,
        Err(message) => return stop(16, &format!("Invalid command arguments ({message})")),
    };
    let Some((archive, names)) = command.names.split_first() else {
        return stop(16, "Invalid command arguments (no zip file is named)");
    };
    let last = archive.rsplit('/').next().unwrap_or(archive);
    let archive = if archive == "-" || last.contains('.') { archive.clone() } else { format!("{archive}.zip") };
    let mut names = names.to_vec();
    if command.has('@') {
        let bytes = isopod_gnu::input::Input::open("-").and_then(|input| input.read_all()).unwrap_or_default();
        names.extend(String::from_utf8_lossy(&bytes).lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let level = command.letters.iter().rev().find_map(|letter| letter.to_digit(10)).unwrap_or(6);
    let mut pack = Pack {
        excluded: patterns(&command.excluded, false),
        included: patterns(&command.included, false),
        is_quiet: command.has('q'),
        level,
        added: Vec::new(),
        out: Out::new(),
        totals: (0, 0),
        command: &command,
    };
    let code = pack.archive(&archive, &names).unwrap_or_else(|(code, message)| {
        pack.out.flush();
        stop(code, &message)
    });
    call.finish(pack.out, code)
}

fn stop(code: u8, message: &str) -> u8 {
    // There is no place left to report that standard error is gone.
    let _ = write_all(2, format!("\nzip error: {message}\n").as_bytes());
    code
}

type Failure = (u8, String);

struct Pack<'a> {
    command: &'a Command,
    excluded: Vec<Pattern>,
    included: Vec<Pattern>,
    is_quiet: bool,
    level: u32,
    /// The files that `-m` removes in the end.
    added: Vec<(String, Kind)>,
    out: Out,
    totals: (u64, u64),
}

/// A file to add to the archive, under a name.
struct Candidate {
    path: String,
    name: String,
    found: Attributes,
}

impl Pack<'_> {
    fn archive(&mut self, archive: &str, names: &[String]) -> Result<u8, Failure> {
        let failed = |error: io::Error| (15, format!("Could not create output file ({archive}): {error}"));
        let mut old = if archive == "-" { None } else { Source::open(archive).ok() };
        let entries = match &mut old {
            Some(source) => {
                directory::read(source).map_err(|_| (3, format!("Zip file structure invalid ({archive})")))?
            }
            None => Vec::new(),
        };
        if self.command.has('T') && names.is_empty() {
            return self.test(archive, old, &entries);
        }
        if self.command.has('d') {
            return self.delete(archive, old, entries, names);
        }
        let candidates = self.candidates(archive, names, &entries);
        if candidates.is_empty() {
            // An update without newer files is an error without a message.
            let is_update = self.command.has('u') || self.command.has('f');
            return if is_update { Ok(NOTHING) } else { Err((NOTHING, format!("Nothing to do! ({archive})"))) };
        }
        let (sink, temporary) = self.open(archive)?;
        let mut writer = Writer::new(sink, temporary.is_some(), !self.command.has('X'));
        let result = self.write(&mut writer, old, entries, candidates).and_then(|()| writer.finish());
        if let Err(error) = result {
            // A partial archive is of no use.
            let _ = temporary.as_deref().map(fs::remove_file);
            return Err(failed(error));
        }
        if let Some(temporary) = temporary {
            fs::rename(&temporary, archive).map_err(|errno| failed(io::Error::other(text(errno))))?;
        }
        if self.command.has('v') && !self.is_quiet {
            let (size, packed) = self.totals;
            self.say(&format!("total bytes={size}, compressed={packed} -> {}% savings", percent(size, packed)));
        }
        if self.command.has('m') {
            for (path, kind) in self.added.iter().rev() {
                // A directory that still has files stays.
                let _ = if *kind == Kind::Directory { fs::remove_dir(path) } else { fs::remove_file(path) };
            }
        }
        Ok(0)
    }

    /// Opens the new archive: a temporary file beside the old one, until it is complete.
    fn open(&self, archive: &str) -> Result<(Sink, Option<String>), Failure> {
        if archive == "-" {
            return Ok((Sink::standard(), None));
        }
        let temporary = format!("{archive}.{:x}.tmp", isopod_sys::process::id());
        let sink = Sink::open(&temporary, OpenFlags::CREATE | OpenFlags::TRUNCATE, 0o666)
            .map_err(|errno| (15, format!("Could not create output file ({archive}): {}", text(errno))))?;
        Ok((sink, Some(temporary)))
    }

    /// Writes all entries. Old ones keep their position, replaced or not, and new ones follow.
    fn write(
        &mut self,
        writer: &mut Writer,
        mut old: Option<Source>,
        entries: Vec<Entry>,
        candidates: Vec<Candidate>,
    ) -> io::Result<()> {
        let mut candidates: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
        let mut numbers: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for (number, candidate) in candidates.iter().flatten().enumerate() {
            numbers.insert(candidate.name.clone(), number);
        }
        for entry in entries {
            match numbers.get(&entry.name).and_then(|number| candidates[*number].take()) {
                Some(candidate) => self.add(writer, &candidate, "updating")?,
                None => {
                    if let Some(source) = &mut old {
                        writer.copy(entry, source)?
                    }
                }
            }
        }
        for candidate in candidates.into_iter().flatten() {
            self.add(writer, &candidate, "  adding")?;
        }
        Ok(())
    }

    fn add(&mut self, writer: &mut Writer, candidate: &Candidate, what: &str) -> io::Result<()> {
        let found = &candidate.found;
        let mut entry = Entry {
            name: candidate.name.clone(),
            method: 0,
            flags: if candidate.name.is_ascii() { 0 } else { UTF8 },
            crc: 0,
            packed: 0,
            size: 0,
            offset: 0,
            mode: found.mode,
            modified: found.modified / 1_000_000_000,
        };
        let mut data: Box<dyn Read> = match found.kind {
            Kind::Directory => {
                entry.mode |= DIRECTORY;
                Box::new(io::empty())
            }
            Kind::Symlink => {
                entry.mode |= LINK;
                let target = fs::read_link(&candidate.path).map_err(crate::stream::failure)?;
                Box::new(Cursor::new(target.into_bytes()))
            }
            _ => {
                entry.mode |= FILE;
                entry.size = found.size;
                match Source::open(&candidate.path) {
                    Ok(source) => Box::new(source),
                    Err(errno) => {
                        self.warn(&format!("could not open for reading: {} ({})", candidate.path, text(errno)));
                        return Ok(());
                    }
                }
            }
        };
        let entry = writer.add(entry, &mut data, self.level)?;
        self.totals = (self.totals.0 + entry.size, self.totals.1 + entry.packed);
        self.added.push((candidate.path.clone(), found.kind));
        let how = if entry.method == DEFLATED { "deflated" } else { "stored" };
        let sizes =
            if self.command.has('v') { format!("\t(in={}) (out={})", entry.size, entry.packed) } else { String::new() };
        if !self.is_quiet {
            self.say(&format!("{what}: {}{sizes} ({how} {}%)", entry.name, entry.saved()));
        }
        Ok(())
    }

    /// Returns the named files, and those below them with `-r`.
    fn candidates(&mut self, archive: &str, names: &[String], entries: &[Entry]) -> Vec<Candidate> {
        let own = files::stat(archive, true).ok().map(|found| (found.device, found.inode));
        let known: std::collections::HashMap<&str, u64> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.modified)).collect();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let all: Vec<String>;
        // Without names, `-f` updates the entries of the archive.
        let names = if names.is_empty() && self.command.has('f') {
            all = entries.iter().map(|entry| entry.name.clone()).collect();
            &all
        } else {
            names
        };
        for name in names {
            let (mut pending, mut within) = (vec![name.clone()], Ancestors::default());
            while let Some(path) = pending.pop() {
                let Ok(found) = files::stat(&path, !self.command.has('y')) else {
                    self.warn(&format!("name not matched: {path}"));
                    continue;
                };
                if found.kind == Kind::Directory && self.command.has('r') {
                    if !within.enter(&path, (found.device, found.inode)) {
                        self.warn(&format!("name not matched: {path} (it leads back to where it is)"));
                        continue;
                    }
                    let below = fs::entries(&path).unwrap_or_default();
                    let mut below: Vec<String> =
                        below.into_iter().map(|entry| isopod_gnu::path::join(&path, &entry.name)).collect();
                    below.sort_unstable_by(|a, b| b.cmp(a));
                    pending.extend(below);
                }
                let Some(name) = self.name(&path, &found) else {
                    continue;
                };
                let is_own = own == Some((found.device, found.inode));
                if !is_own && self.is_wanted(&name, &found, &known) && seen.insert(name.clone()) {
                    candidates.push(Candidate { path, name, found });
                }
            }
        }
        candidates
    }

    /// Returns the name in the archive: relative, and only the last part with `-j`.
    fn name(&self, path: &str, found: &Attributes) -> Option<String> {
        let is_directory = found.kind == Kind::Directory;
        if is_directory && (self.command.has('D') || self.command.has('j')) {
            return None;
        }
        let trimmed = isopod_gnu::path::trim_slashes(path);
        let name = if self.command.has('j') { trimmed.rsplit('/').next().unwrap_or(trimmed) } else { trimmed };
        let mut name = name.trim_start_matches('/');
        while let Some(rest) = name.strip_prefix("./") {
            name = rest.trim_start_matches('/');
        }
        match name {
            "" | "." => None,
            name if is_directory => Some(format!("{name}/")),
            name => Some(name.to_owned()),
        }
    }

    fn is_wanted(&self, name: &str, found: &Attributes, known: &std::collections::HashMap<&str, u64>) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        if matches(&self.excluded) || !self.included.is_empty() && !matches(&self.included) {
            return false;
        }
        match known.get(name) {
            Some(modified) if self.command.has('u') || self.command.has('f') => {
                found.modified / 1_000_000_000 > *modified
            }
            Some(_) => true,
            None => !self.command.has('f'),
        }
    }

    fn delete(
        &mut self,
        archive: &str,
        old: Option<Source>,
        entries: Vec<Entry>,
        names: &[String],
    ) -> Result<u8, Failure> {
        let Some(source) = old else {
            return Err((NOTHING, format!("Nothing to do! ({archive})")));
        };
        let doomed = patterns(names, false);
        let is_doomed = |entry: &Entry| doomed.iter().any(|pattern| pattern.matches(&entry.name));
        let (gone, kept): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(is_doomed);
        if gone.is_empty() {
            for name in names {
                self.warn(&format!("name not matched: {name}"));
            }
            return Err((NOTHING, format!("Nothing to do! ({archive})")));
        }
        for entry in gone.iter().filter(|_| !self.is_quiet) {
            self.out.push(format!("deleting: {}\n", entry.name).as_bytes());
        }
        let (sink, temporary) = self.open(archive)?;
        let mut writer = Writer::new(sink, true, !self.command.has('X'));
        let is_empty = kept.is_empty();
        let written = self.write(&mut writer, Some(source), kept, Vec::new()).and_then(|()| writer.finish());
        written.map_err(|error| (15, format!("Could not create output file ({archive}): {error}")))?;
        if let Some(temporary) = temporary {
            if is_empty {
                self.warn("zip file empty");
            }
            let replaced = fs::rename(&temporary, archive);
            replaced.map_err(|errno| (15, format!("Could not create output file ({archive}): {}", text(errno))))?;
        }
        Ok(0)
    }

    fn test(&mut self, archive: &str, old: Option<Source>, entries: &[Entry]) -> Result<u8, Failure> {
        let Some(mut source) = old else {
            return Err((NOTHING, format!("Nothing to do! ({archive})")));
        };
        for entry in entries {
            super::unpack::copy(&mut source, entry, &mut Sink::nowhere())
                .map_err(|_| (8, format!("Zip file invalid or insufficient memory ({archive})")))?;
        }
        if !self.is_quiet {
            self.out.push(format!("test of {archive} OK\n").as_bytes());
        }
        Ok(0)
    }

    fn warn(&mut self, message: &str) {
        if !self.is_quiet {
            self.out.flush();
            // There is no place left to report that standard error is gone.
            let _ = write_all(2, format!("\tzip warning: {message}\n").as_bytes());
        }
    }

    fn say(&mut self, line: &str) {
        if self.writes_to_output() {
            // Standard output is the archive.
            let _ = write_all(2, format!("{line}\n").as_bytes());
        } else {
            self.out.push(format!("{line}\n").as_bytes());
        }
    }

    fn writes_to_output(&self) -> bool {
        self.command.names.first().is_some_and(|name| name == "-")
    }
}
