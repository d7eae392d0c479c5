//! `tar c`, `r` and `u`: adds files to an archive.

use std::collections::HashMap;
use std::io;

use isopod_gnu::accounts;
use isopod_gnu::ancestors::Ancestors;
use isopod_gnu::mode;
use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Attributes, Kind, OpenFlags};
use isopod_sys::{Errno, fs, text};

use super::describe;
use super::header::{Header, Type, shown};
use super::listing::Lines;
use super::reader::Archive;
use super::settings::{Operation, Settings};
use super::transform::Role;
use super::writer::Builder;
use crate::codec::Format;
use crate::stream::{Sink, Source};

/// Creates an archive, or adds to one.
pub(super) fn run(call: &Call, settings: &Settings) -> Result<u8, String> {
    let (sink, position, known) = open(settings)?;
    let record = settings.record;
    let builder = Builder::new(sink, settings.format, settings.level, settings.dialect, record, position)
        .map_err(|error| format!("{}: Cannot write: {error}", settings.file))?;
    let mut create = Create {
        call,
        settings,
        builder,
        archive: if settings.file == "-" { files::stat_fd(1).ok() } else { files::stat(&settings.file, true).ok() },
        lines: Lines::new(settings),
        out: Out::new(),
        names: HashMap::new(),
        groups: HashMap::new(),
        links: HashMap::new(),
        known,
        stripped: Vec::new(),
        added: Vec::new(),
        code: 0,
    };
    for late in &settings.late_exclusions {
        create.fail(&format!("The --exclude option for '{late}' has no effect: it stands after all names"));
    }
    for (index, (name, directory)) in settings.names.iter().enumerate() {
        if let Err(error) = create.tree(name, *directory, index) {
            return Err(format!("{}: Cannot write: {error}", settings.file));
        }
    }
    create.finish()
}

/// Opens the archive. Returns the sink, the position to write at, and the modification time of each existing member.
fn open(settings: &Settings) -> Result<(Sink, u64, HashMap<String, i64>), String> {
    let path = settings.file.as_str();
    let cannot = |errno| format!("{path}: Cannot open: {}", text(errno));
    if settings.operation == Operation::Create {
        let sink = match path {
            "-" => Sink::standard(),
            path => Sink::open(path, OpenFlags::CREATE | OpenFlags::TRUNCATE, 0o666).map_err(cannot)?,
        };
        return Ok((sink, 0, HashMap::new()));
    }
    if path == "-" {
        return Err("cannot append to standard output".into());
    }
    let (mut end, mut known) = (0, HashMap::new());
    if let Ok(mut source) = Source::open(path) {
        let start = source.peek(6).map_err(|error| format!("{path}: Cannot read: {error}"))?;
        if Format::detect(start).is_some() || settings.format.is_some() {
            return Err("Cannot update compressed archives".into());
        }
        if !start.is_empty() {
            let read = |trouble| describe(trouble, path).unwrap_or_else(str::to_owned);
            let mut archive = Archive::new(source, None, false).map_err(read)?;
            while let Some(member) = archive.next().map_err(read)? {
                let name = String::from_utf8_lossy(&member.header.name).into_owned();
                known.insert(name.trim_end_matches('/').to_owned(), member.header.modified);
            }
            end = archive.end();
        }
    }
    let mut sink = Sink::open(path, OpenFlags::CREATE, 0o666).map_err(cannot)?;
    if let Ok(Some(number)) = sink.raw() {
        files::seek(number, end as i64, files::Whence::Start).map_err(cannot)?;
    }
    Ok((sink, end, known))
}

struct Create<'a> {
    call: &'a Call,
    settings: &'a Settings,
    builder: Builder,
    /// The archive itself, which is not added to itself.
    archive: Option<Attributes>,
    lines: Lines,
    out: Out,
    /// The names of users and groups by their numbers, as far as they were looked up.
    names: HashMap<u32, String>,
    groups: HashMap<u32, String>,
    /// The first name of each file with several links.
    links: HashMap<(u64, u64), String>,
    /// The existing members, for `u`.
    known: HashMap<String, i64>,
    /// The prefixes that were removed from names, each of which is reported once.
    stripped: Vec<String>,
    /// The files that `--remove-files` removes in the end.
    added: Vec<(String, Kind)>,
    code: u8,
}

impl Create<'_> {
    /// Adds a file and, if it is a directory, all below it. `directory` is the number of the `-C` directory, and
    /// `index` the position of the name among all names. Fails only if the archive cannot be written.
    fn tree(&mut self, name: &str, directory: usize, index: usize) -> io::Result<()> {
        let mut pending = vec![name.to_owned()];
        let (mut device, mut within) = (None, Ancestors::default());
        while let Some(name) = pending.pop() {
            if self.settings.excluded.has(&name, index) {
                continue;
            }
            let path = self.settings.in_directory(directory, &name);
            let found = match files::stat(&path, self.settings.dereferences) {
                Ok(found) => found,
                Err(_) if self.settings.dereferences && files::stat(&path, false).is_ok() => {
                    self.call.complain(&format!("{}: File removed before we read it", shown(name.as_bytes())));
                    self.code = self.code.max(1);
                    continue;
                }
                Err(errno) => {
                    self.fail(&format!("{}: Cannot stat: {}", shown(name.as_bytes()), text(errno)));
                    continue;
                }
            };
            if found.kind != Kind::Directory {
                self.file(&name, &path, &found)?;
                continue;
            }
            let name = if name.ends_with('/') { name } else { format!("{name}/") };
            if !within.enter(&name, (found.device, found.inode)) {
                self.fail(&format!("{}: Cannot stat: {}", shown(name.as_bytes()), text(Errno::Loop)));
                continue;
            }
            self.member(&name, &found, Type::Directory, "")?;
            self.added.push((path.clone(), Kind::Directory));
            let is_elsewhere = *device.get_or_insert(found.device) != found.device;
            if !self.settings.is_recursive || self.settings.one_device && is_elsewhere {
                continue;
            }
            match fs::entries(&path) {
                Ok(mut entries) => {
                    entries.sort_unstable_by(|a, b| b.name.cmp(&a.name));
                    pending.extend(entries.into_iter().map(|entry| format!("{name}{}", entry.name)));
                }
                Err(errno) => self.fail(&format!("{}: Cannot open: {}", shown(name.as_bytes()), text(errno))),
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &str, path: &str, found: &Attributes) -> io::Result<()> {
        let is_self = |archive: &Attributes| (archive.device, archive.inode) == (found.device, found.inode);
        if self.archive.as_ref().is_some_and(is_self) && found.kind == Kind::File {
            self.call.complain(&format!("{}: file is the archive; not dumped", shown(name.as_bytes())));
            return Ok(());
        }
        if self.settings.operation == Operation::Update {
            let seconds = (found.modified / 1_000_000_000) as i64;
            if self.known.get(name).is_some_and(|known| *known >= seconds) {
                return Ok(());
            }
        }
        if found.links > 1 && !self.settings.follows_hard {
            if let Some(first) = self.links.get(&(found.device, found.inode)) {
                let first = first.clone();
                self.added.push((path.to_owned(), found.kind));
                return self.member(name, found, Type::HardLink, &first);
            }
            let stored = self.stored(name, Role::HardLink);
            self.links.insert((found.device, found.inode), stored);
        }
        match found.kind {
            Kind::File => self.content(name, path, found)?,
            Kind::Symlink => match fs::read_link(path) {
                Ok(target) => {
                    let target = self.settings.transformed(&target, Role::Symlink);
                    self.member(name, found, Type::Symlink, &target)?;
                }
                Err(errno) => return self.failed_read(name, "readlink", text(errno)),
            },
            _ => {
                self.fail(&format!("{}: devices and pipes are not archived", shown(name.as_bytes())));
                return Ok(());
            }
        }
        self.added.push((path.to_owned(), found.kind));
        Ok(())
    }

    fn content(&mut self, name: &str, path: &str, found: &Attributes) -> io::Result<()> {
        let mut source = match Source::open(path) {
            Ok(source) => source,
            Err(errno) => return self.failed_read(name, "open", text(errno)),
        };
        self.member(name, found, Type::File, "")?;
        let missing = self.builder.data(&mut source, found.size)?;
        if missing > 0 {
            let name = shown(name.as_bytes());
            self.call.complain(&format!("{name}: File shrank by {missing} bytes; padding with zeros"));
            self.code = self.code.max(1);
        }
        Ok(())
    }

    /// Writes the header of a member, and its line with `-v`.
    fn member(&mut self, name: &str, found: &Attributes, kind: Type, link: &str) -> io::Result<()> {
        let stored = self.stored(name, Role::Member);
        let stored = if kind == Type::Directory && !stored.ends_with('/') { stored + "/" } else { stored };
        let mut header = Header::new(stored.into_bytes(), kind);
        header.link = link.as_bytes().to_vec();
        header.size = if kind == Type::File { found.size } else { 0 };
        header.mode = match &self.settings.mode {
            Some(change) => match mode::apply(change, found.mode, kind == Type::Directory) {
                Some(mode) => mode,
                None => return Err(io::Error::other(format!("invalid mode {change}"))),
            },
            None => found.mode,
        };
        let modified = self.settings.modified.unwrap_or(found.modified.into());
        header.modified = i64::try_from(modified.div_euclid(1_000_000_000)).unwrap_or(0);
        header.nanos = modified.rem_euclid(1_000_000_000) as u32;
        (header.user, header.uid) = match &self.settings.owner {
            Some((name, number)) => (name.clone(), number.unwrap_or(found.uid.into())),
            None => (self.user(found.uid), found.uid.into()),
        };
        (header.group, header.gid) = match &self.settings.group {
            Some((name, number)) => (name.clone(), number.unwrap_or(found.gid.into())),
            None => (self.group(found.gid), found.gid.into()),
        };
        if self.settings.has_numbers {
            (header.user, header.group) = (String::new(), String::new());
        }
        if self.settings.verbosity > 0 {
            let mut shown = header.clone();
            if !self.settings.shows_transformed {
                shown.name = name.as_bytes().to_vec();
            }
            let line = self.lines.line(&shown, self.settings.verbosity > 1);
            if self.settings.file == "-" {
                // A failure to write to standard error cannot be reported.
                let _ = isopod_sys::write_all(2, line.as_bytes());
            } else {
                self.out.push(line.as_bytes());
            }
        }
        self.builder.header(&header)
    }

    /// Returns the name that a file is stored under: transformed, and relative unless `-P` is given.
    fn stored(&mut self, name: &str, role: Role) -> String {
        let changed = self.settings.transformed(name, role);
        if self.settings.is_absolute {
            return changed;
        }
        let mut start = changed.len() - changed.trim_start_matches('/').len();
        // Everything up to the last `..` is removed.
        let mut at = 0;
        for part in changed.split_inclusive('/') {
            at += part.len();
            if part.trim_end_matches('/') == ".." {
                start = at + changed[at..].len() - changed[at..].trim_start_matches('/').len();
            }
        }
        let lead = &changed[..start];
        if lead.is_empty() {
            return changed;
        }
        let what = if role == Role::HardLink { "hard link targets" } else { "member names" };
        let message = format!("Removing leading `{lead}' from {what}");
        if !self.stripped.contains(&message) {
            self.call.complain(&message);
            self.stripped.push(message);
        }
        match &changed[start..] {
            "" => "./".to_owned(),
            rest => rest.to_owned(),
        }
    }

    fn user(&mut self, uid: u32) -> String {
        self.names.entry(uid).or_insert_with(|| accounts::user_name(uid).unwrap_or_default()).clone()
    }

    fn group(&mut self, gid: u32) -> String {
        self.groups.entry(gid).or_insert_with(|| accounts::group_name(gid).unwrap_or_default()).clone()
    }

    fn failed_read(&mut self, name: &str, what: &str, why: &str) -> io::Result<()> {
        self.call.complain(&format!("{}: Cannot {what}: {why}", shown(name.as_bytes())));
        if !self.settings.forgives {
            self.code = 2;
        }
        Ok(())
    }

    fn fail(&mut self, message: &str) {
        self.call.complain(message);
        self.code = 2;
    }

    fn finish(mut self) -> Result<u8, String> {
        self.builder.finish().map_err(|error| format!("{}: Cannot write: {error}", self.settings.file))?;
        if self.settings.removes {
            for (path, kind) in self.added.iter().rev() {
                let removed = if *kind == Kind::Directory { fs::remove_dir(path) } else { fs::remove_file(path) };
                if let Err(errno) = removed {
                    let what = if *kind == Kind::Directory { "rmdir" } else { "unlink" };
                    self.call.complain(&format!("{}: Cannot {what}: {}", shown(path.as_bytes()), text(errno)));
                    self.code = 2;
                }
            }
        }
        Ok(self.call.finish(self.out, self.code).min(2))
    }
}
