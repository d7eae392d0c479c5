//! `unzip`.

use std::io::{self, Read, Write};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use isopod_gnu::output::Out;
use isopod_gnu::pattern::Pattern;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Kind, OpenFlags};
use isopod_sys::{Errno, fs, process, text, write_all};

use super::command::{Command, patterns};
use super::entry::{DEFLATED, ENCRYPTED, Entry, STORED};
use super::{directory, listing};
use crate::stream::{Sink, Source};
use crate::target::{Refusal, Target};

/// Runs `unzip`.
pub(super) fn run(call: &Call) -> u8 {
    match call.operands.first().map(String::as_str) {
        Some("--help" | "-h" | "-hh") => return call.help(),
        Some("--version") => return call.version(),
        _ => {}
    }
    let command = match Command::read(&call.operands, "lvtpcjnoqufCLXZ1a", "x", "d") {
        Ok(command) if !command.names.is_empty() => command,
        Ok(_) => return misused(call, "an archive has to be named"),
        Err(message) => return misused(call, &message),
    };
    let mut out = Out::new();
    let code = archive(call, &command, &mut out);
    call.finish(out, code)
}

fn misused(call: &Call, message: &str) -> u8 {
    call.misused(message);
    10
}

fn archive(call: &Call, command: &Command, out: &mut Out) -> u8 {
    let name = &command.names[0];
    let (path, mut source) = match open(name) {
        Some(found) => found,
        None => {
            call.complain(&format!(" cannot find or open {name}, {name}.zip or {name}.ZIP."));
            return 9;
        }
    };
    let entries = match directory::read(&mut source) {
        Ok(entries) => entries,
        Err(error) => {
            if command.count('q') == 0 {
                out.push(format!("Archive:  {path}\n").as_bytes());
                out.flush();
            }
            let is_none = error.kind() == io::ErrorKind::NotFound;
            say(&if is_none {
                format!(
                    "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it \
                     constitutes one disk of a multi-part archive.  In the\n  latter case the central directory and \
                     zipfile comment will be found on\n  the last disk(s) of this archive.\nunzip:  cannot find zipfile \
                     directory in one of {path} or\n        {path}.zip, and cannot find {path}.ZIP, period."
                )
            } else {
                format!("error [{path}]:  {error}")
            });
            return if is_none { 9 } else { 3 };
        }
    };
    let fold = command.has('C');
    let wanted = patterns(&command.names[1..], fold);
    let excluded = patterns(&command.excluded, fold);
    let matches = |patterns: &[Pattern], entry: &Entry| patterns.iter().any(|pattern| pattern.matches(&entry.name));
    let chosen: Vec<&Entry> = entries
        .iter()
        .filter(|entry| (wanted.is_empty() || matches(&wanted, entry)) && !matches(&excluded, entry))
        .collect();
    let mut code = 0;
    let quiet = command.count('q');
    if command.has('Z') {
        if !command.has('1') {
            call.complain("-Z: only the list of names (-Z1) is supported");
            return 10;
        }
        chosen.iter().for_each(|entry| out.push(format!("{}\n", entry.name).as_bytes()));
    } else if command.has('v') && !command.has('t') {
        listing::long(&path, &chosen, quiet, out);
    } else if command.has('l') {
        listing::short(&path, &chosen, quiet, out);
    } else {
        let mut unpack = Unpack::new(command, &mut source, out, &path);
        code = unpack.run(&chosen);
    }
    out.flush();
    for (pattern, name) in wanted.iter().zip(&command.names[1..]) {
        if !entries.iter().any(|entry| pattern.matches(&entry.name)) {
            if !command.has('l') && !command.has('v') {
                say(&format!("caution: filename not matched:  {name}"));
            }
            code = 11;
        }
    }
    code
}

fn open(name: &str) -> Option<(String, Source)> {
    let names = [name.to_owned(), format!("{name}.zip"), format!("{name}.ZIP")];
    names.into_iter().find_map(|path| Source::open(&path).ok().map(|source| (path, source)))
}

fn say(line: &str) {
    // There is no place left to report that standard error is gone.
    let _ = write_all(2, format!("{line}\n").as_bytes());
}

/// Copies an entry's data to a sink, and checks it.
pub(super) fn copy(source: &mut Source, entry: &Entry, sink: &mut Sink) -> io::Result<()> {
    directory::seek_data(source, entry)?;
    let mut crc = Crc::new();
    let packed = source.take(entry.packed);
    let mut reader: Box<dyn Read + '_> = match entry.method {
        STORED => Box::new(packed),
        DEFLATED => Box::new(DeflateDecoder::new(packed)),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        crc.update(&buffer[..count]);
        sink.write_all(&buffer[..count])?;
    }
    sink.flush()?;
    if crc.sum() == entry.crc {
        return Ok(());
    }
    let message = format!("bad CRC {:08x}  (should be {:08x})", crc.sum(), entry.crc);
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

struct Unpack<'a> {
    command: &'a Command,
    source: &'a mut Source,
    out: &'a mut Out,
    archive: &'a str,
    target: Target,
    /// The links, which are created last so that no file can be written through one.
    links: Vec<(String, String)>,
    umask: u32,
    /// True if the question whether to replace a file had no answer. No file is replaced from then on.
    asked: bool,
    code: u8,
}

impl<'a> Unpack<'a> {
    fn new(command: &'a Command, source: &'a mut Source, out: &'a mut Out, archive: &'a str) -> Unpack<'a> {
        // The umask can only be read by setting it.
        let umask = process::umask(0o022);
        process::umask(umask);
        Unpack { command, source, out, archive, target: Target::new(), links: Vec::new(), umask, asked: false, code: 0 }
    }

    fn run(&mut self, entries: &[&Entry]) -> u8 {
        let (tests, pipes) = (self.command.has('t'), self.command.has('p'));
        if !pipes && self.command.count('q') == 0 {
            self.out.push(format!("Archive:  {}\n", self.archive).as_bytes());
        }
        if let Some(directory) = self.command.directory.as_deref().filter(|_| !tests && !pipes)
            && let Err(refusal) = self.target.make_parents(&format!("{}/x", directory.trim_end_matches('/')))
        {
            self.refuse(directory, &refusal);
            return 3;
        }
        for entry in entries {
            if entry.flags & ENCRYPTED != 0 || !matches!(entry.method, STORED | DEFLATED) {
                self.out.flush();
                let why = if entry.flags & ENCRYPTED != 0 {
                    "unable to get password"
                } else {
                    "unsupported compression method"
                };
                say(&format!("   skipping: {:<22}  {why}", entry.name));
                self.code = if entry.flags & ENCRYPTED != 0 { 82 } else { 81 };
            } else if tests {
                self.test(entry);
            } else if pipes || self.command.has('c') {
                self.print(entry, pipes);
            } else {
                self.extract(entry);
            }
        }
        self.make_links();
        if tests && self.command.count('q') < 2 {
            let line = match self.code {
                0 => format!("No errors detected in compressed data of {}.\n", self.archive),
                _ => format!("At least one error was detected in {}.\n", self.archive),
            };
            self.out.push(line.as_bytes());
        }
        self.code
    }

    fn test(&mut self, entry: &Entry) {
        let result = copy(self.source, entry, &mut Sink::nowhere());
        if self.command.count('q') == 0 {
            let end = result.as_ref().map_or_else(|error| format!("  {error}"), |()| " OK".to_owned());
            self.out.push(format!("    testing: {:<22}  {end}\n", entry.name).as_bytes());
        }
        if result.is_err() {
            self.code = 2;
        }
    }

    fn print(&mut self, entry: &Entry, pipes: bool) {
        if entry.is_directory() {
            return;
        }
        if !pipes && self.command.count('q') == 0 {
            self.out.push(format!("{} {:<22}  \n", verb(entry), entry.name).as_bytes());
        }
        self.out.flush();
        if let Err(error) = copy(self.source, entry, &mut Sink::standard()) {
            self.fail(&format!("{}:  {error}", entry.name), 2);
        }
        if !pipes && self.command.count('q') == 0 {
            self.out.push(b"\n");
        }
    }

    fn extract(&mut self, entry: &Entry) {
        let Some(path) = self.path_of(entry) else {
            return;
        };
        if entry.is_directory() {
            match self.target.make_directory(&path) {
                Ok(true) => self.say_verb("   creating:", &format!("{path}/"), false),
                Ok(false) => {}
                Err(refusal) => self.refuse(&entry.name, &refusal),
            }
            return;
        }
        if !self.may_write(&path, entry) {
            return;
        }
        if entry.is_link() {
            return self.link(entry, path);
        }
        let mode = if entry.mode == 0 { 0o644 } else { entry.mode & 0o777 & !self.umask };
        let how = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let mut sink = match Sink::open(&path, how, mode | 0o200) {
            Ok(sink) => sink,
            Err(errno) => return self.fail(&format!("error:  cannot create {path}\n        {}", text(errno)), 50),
        };
        self.say_verb(&verb(entry), &path, true);
        let written = copy(self.source, entry, &mut sink);
        drop(sink);
        if let Err(error) = written {
            // A partial file could be taken for a whole one. A file with a wrong checksum is kept, because it may be of
            // use.
            if error.kind() != io::ErrorKind::InvalidData {
                let _ = fs::remove_file(&path);
            }
            return self.fail(
                &format!("{}:  {error}", entry.name),
                if error.kind() == io::ErrorKind::InvalidData { 2 } else { 50 },
            );
        }
        if mode & 0o200 == 0 {
            // The mode was given when the file was created; the file system may refuse the change.
            let _ = files::chmod(&path, mode, true);
        }
        let nanos = entry.modified.saturating_mul(1_000_000_000);
        let _ = fs::set_times(&path, nanos, nanos, true);
    }

    /// Returns the path of an entry, and reports one that must not be written.
    fn path_of(&mut self, entry: &Entry) -> Option<String> {
        let name = if self.command.has('j') { entry.name.rsplit('/').next().unwrap_or_default() } else { &entry.name };
        if self.command.has('j') && entry.is_directory() {
            return None;
        }
        // Only names from systems without lower case are changed.
        let name = if self.command.has('L') && entry.mode == 0 { name.to_lowercase() } else { name.to_owned() };
        let relative = match Target::relative(&name) {
            Ok(relative) if relative.is_empty() => return None,
            Ok(relative) => relative,
            Err(refusal) => {
                self.refuse(&entry.name, &refusal);
                return None;
            }
        };
        let path = match &self.command.directory {
            Some(directory) => isopod_gnu::path::join(directory, &relative),
            None => relative,
        };
        if let Err(refusal) = self.target.make_parents(&path) {
            self.refuse(&entry.name, &refusal);
            return None;
        }
        Some(path)
    }

    /// Returns true if a file may be written. An existing one that may be replaced is removed.
    fn may_write(&mut self, path: &str, entry: &Entry) -> bool {
        let Some(there) = Target::at(path) else {
            return !self.command.has('f');
        };
        let is_newer = entry.modified > there.modified / 1_000_000_000;
        if self.command.has('n') || (self.command.has('u') || self.command.has('f')) && !is_newer {
            return false;
        }
        if !self.command.has('o') {
            if !std::mem::replace(&mut self.asked, true) {
                self.out.flush();
                say(&format!(
                    "replace {path}? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n(EOF or read error, treating as \
                     \"[N]one\" ...)"
                ));
            }
            self.code = self.code.max(1);
            return false;
        }
        let removed = if there.kind == Kind::Directory { Err(Errno::IsDirectory) } else { self.target.clear(path) };
        if let Err(errno) = removed {
            self.fail(&format!("error:  cannot delete old {path}\n        {}", text(errno)), 50);
        }
        removed.is_ok()
    }

    /// Records a link, which is created in the end.
    fn link(&mut self, entry: &Entry, path: String) {
        let mut bytes = Vec::new();
        let read = directory::seek_data(self.source, entry).and_then(|()| {
            let packed = self.source.take(entry.packed.min(1 << 16));
            match entry.method {
                STORED => packed.take(4096).read_to_end(&mut bytes),
                _ => DeflateDecoder::new(packed).take(4096).read_to_end(&mut bytes),
            }
        });
        match (read, String::from_utf8(bytes)) {
            (Ok(_), Ok(target)) => {
                self.say_verb("    linking:", &format!("{path:<22}  -> {target}"), false);
                self.links.push((path, target));
            }
            _ => self.fail(&format!("{}:  the link cannot be read", entry.name), 2),
        }
    }

    fn make_links(&mut self) {
        let links = std::mem::take(&mut self.links);
        if !links.is_empty() && self.command.count('q') == 0 {
            self.out.push(b"finishing deferred symbolic links:\n");
        }
        for (path, target) in links {
            if self.command.count('q') == 0 {
                self.out.push(format!("  {path:<22} -> {target}\n").as_bytes());
            }
            if let Err(errno) = fs::symlink(&target, &path) {
                self.fail(&format!("error:  cannot link {path}: {}", text(errno)), 2);
            }
        }
    }

    fn refuse(&mut self, name: &str, refusal: &Refusal) {
        self.fail(
            &match refusal {
                Refusal::Parent => format!("error:  {name} leads out of the directory and is not extracted"),
                Refusal::Link => format!("error:  {name} leads through a link of the archive and is not extracted"),
                Refusal::Kernel(errno) => format!("error:  cannot create {name}: {}", text(*errno)),
            },
            2,
        );
    }

    fn say_verb(&mut self, verb: &str, path: &str, is_padded: bool) {
        if self.command.count('q') == 0 {
            let line = if is_padded { format!("{verb} {path:<22}  \n") } else { format!("{verb} {path}\n") };
            self.out.push(line.as_bytes());
        }
    }

    fn fail(&mut self, message: &str, code: u8) {
        self.out.flush();
        say(message);
        self.code = self.code.max(code);
    }
}

fn verb(entry: &Entry) -> String {
    if entry.method == STORED { " extracting:".to_owned() } else { "  inflating:".to_owned() }
}
