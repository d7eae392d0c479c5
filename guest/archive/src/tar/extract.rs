//! `tar x`: extracts files from an archive.

use std::io::{self, Write};

use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_sys::files::{self, Kind, OpenFlags};
use isopod_sys::{Errno, fs, process, text};

use super::describe;
use super::header::{Header, Type, shown};
use super::listing::{Lines, open, report_missing};
use super::reader::{Archive, Member};
use super::select::Selection;
use super::settings::{Existing, Settings};
use super::transform::Role;
use crate::stream::{Sink, pump, pump_about};
use crate::target::{Refusal, Target};

/// Extracts an archive.
pub(super) fn run(call: &Call, settings: &Settings) -> Result<u8, String> {
    for directory in &settings.directories[1..] {
        match files::stat(directory, true) {
            Ok(found) if found.kind == Kind::Directory => {}
            Ok(_) => return Err(format!("{directory}: Cannot open: Not a directory")),
            Err(errno) => return Err(format!("{directory}: Cannot open: {}", text(errno))),
        }
    }
    let mut archive = match open(settings)? {
        Ok(archive) => archive,
        Err(message) => {
            call.complain(message);
            return Ok(2);
        }
    };
    // The umask can only be read by setting it.
    let umask = process::umask(0o022);
    process::umask(umask);
    let mut extract = Extract {
        call,
        settings,
        target: Target::new(),
        lines: Lines::new(settings),
        out: Out::new(),
        late: Vec::new(),
        stripped: Vec::new(),
        umask,
        code: 0,
    };
    let mut wanted = Selection::new(&settings.names, settings.matching);
    let ended = loop {
        match archive.next() {
            Ok(Some(member)) => {
                let name = String::from_utf8_lossy(&member.header.name).into_owned();
                let Some(directory) = wanted.directory_of(&name).filter(|_| !settings.excluded.has(&name, usize::MAX))
                else {
                    continue;
                };
                if let Err(message) = extract.member(&member, &mut archive, directory) {
                    break Err(message);
                }
            }
            Ok(None) => break Ok(()),
            Err(trouble) => match describe(trouble, &settings.file) {
                Ok(message) => break Err(message),
                Err(message) => {
                    extract.fail(message);
                    break Ok(());
                }
            },
        }
    };
    extract.set_directories();
    let code = report_missing(call, &wanted, settings, extract.code);
    extract.out.flush();
    ended?;
    Ok(call.finish(extract.out, code).min(2))
}

struct Extract<'a> {
    call: &'a Call,
    settings: &'a Settings,
    target: Target,
    lines: Lines,
    out: Out,
    /// Directories with their headers. They get their permissions and times in the end, because files that come later
    /// would change the times or could not be written.
    late: Vec<(String, Header)>,
    stripped: Vec<String>,
    umask: u32,
    code: u8,
}

impl Extract<'_> {
    /// Extracts a member. An error ends the run.
    fn member(&mut self, member: &Member, archive: &mut Archive, directory: usize) -> Result<(), String> {
        let header = &member.header;
        let Ok(name) = std::str::from_utf8(&header.name) else {
            self.fail(&format!("{}: a name that is not UTF-8 cannot be used", header.shown_name()));
            return Ok(());
        };
        let Some(name) = strip(&self.settings.transformed(name, Role::Member), self.settings.strip) else {
            return Ok(());
        };
        if self.settings.verbosity > 0 {
            let mut listed = header.clone();
            if self.settings.shows_transformed {
                listed.name = name.clone().into_bytes();
            }
            let line = self.lines.line(&listed, self.settings.verbosity > 1);
            if self.settings.to_stdout {
                // There is no place left to report that standard error is gone.
                let _ = isopod_sys::write_all(2, line.as_bytes());
            } else {
                self.out.push(line.as_bytes());
            }
        }
        if member.is_sparse {
            self.fail(&format!("{}: members with holes are not supported", header.shown_name()));
            return Ok(());
        }
        if self.settings.to_stdout {
            if header.kind == Type::File {
                let mut sink = Sink::standard();
                pump(archive, &mut sink).map_err(|error| self.lost(header, &error))?;
                sink.flush().map_err(|error| self.lost(header, &error))?;
            }
            return Ok(());
        }
        let path = match self.path_of(&name, directory) {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(()),
            Err(refusal) => {
                self.refuse(header, "open", &refusal);
                return Ok(());
            }
        };
        match header.kind {
            Type::Directory => self.directory(path, header),
            Type::File => return self.file(&path, header, archive),
            Type::Symlink => self.symlink(&path, header),
            Type::HardLink => self.hard_link(&path, header, directory),
            Type::Special(_) => self.fail(&format!("{}: Cannot mknod: Operation not permitted", header.shown_name())),
            _ => self.fail(&format!("{}: Unknown file type; not extracted", header.shown_name())),
        }
        Ok(())
    }

    /// Returns the path of a member and creates its parents; none for the target directory itself.
    fn path_of(&mut self, name: &str, directory: usize) -> Result<Option<String>, Refusal> {
        if self.settings.is_absolute {
            let path = self.settings.in_directory(directory, name);
            self.target.make_parents(&path)?;
            return Ok(Some(path));
        }
        if name.starts_with('/') {
            self.say_stripped("/", "member names");
        }
        let relative = Target::relative(name)?;
        if relative.is_empty() {
            return Ok(None);
        }
        let path = self.settings.in_directory(directory, &relative);
        if self.target.leads_through_link(&path) {
            return Err(Refusal::Link);
        }
        self.target.make_parents(&path)?;
        Ok(Some(path))
    }

    fn directory(&mut self, path: String, header: &Header) {
        let there = Target::at(&path);
        if there.as_ref().is_some_and(|found| found.kind != Kind::Directory) {
            let leads_to_directory = files::stat(&path, true).is_ok_and(|found| found.kind == Kind::Directory);
            // A link to a directory that existed before may stand for it.
            if (!leads_to_directory || self.target.is_own_link(&path))
                && let Err(errno) = self.target.clear(&path)
            {
                return self.refuse(header, "mkdir", &Refusal::Kernel(errno));
            }
        }
        match self.target.make_directory(&path) {
            Ok(_) => self.late.push((path, header.clone())),
            Err(refusal) => self.refuse(header, "mkdir", &refusal),
        }
    }

    fn file(&mut self, path: &str, header: &Header, archive: &mut Archive) -> Result<(), String> {
        let mode = if self.settings.keeps_mode { header.mode & 0o777 } else { header.mode & 0o777 & !self.umask };
        let mut sink = match self.create(path, header, mode | 0o200) {
            Ok(Some(sink)) => sink,
            Ok(None) => return Ok(()),
            Err(errno) => {
                self.refuse(header, "open", &Refusal::Kernel(errno));
                return Ok(());
            }
        };
        let written = pump_about(archive, &mut sink, header.size).and_then(|_| sink.flush());
        drop(sink);
        if let Err(error) = written {
            // A partial file could be taken for a whole one. After a failed write the next file would fail too.
            let _ = fs::remove_file(path);
            return Err(self.lost(header, &error));
        }
        if mode & 0o200 == 0 || self.settings.keeps_mode {
            let mode = if self.settings.keeps_mode { header.mode } else { mode };
            if let Err(errno) = files::chmod(path, mode, true) {
                self.fail(&format!("{}: Cannot change mode to {mode:o}: {}", header.shown_name(), text(errno)));
            }
        }
        self.set_owner(path, header);
        self.set_time(path, header);
        Ok(())
    }

    /// Creates a file, and replaces an existing one if that is allowed.
    fn create(&mut self, path: &str, header: &Header, mode: u32) -> Result<Option<Sink>, Errno> {
        let new = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        match Sink::open(path, new, mode) {
            Err(Errno::Exist) => {}
            result => return result.map(Some),
        }
        let there = Target::at(path);
        match self.settings.existing {
            Existing::Keep => return Err(Errno::Exist),
            Existing::Skip => return Ok(None),
            Existing::KeepNewer
                if there.as_ref().is_some_and(|found| (found.modified / 1_000_000_000) as i64 >= header.modified) =>
            {
                self.call.complain(&format!("Current {} is newer or same age", quoted(path)));
                return Ok(None);
            }
            // Nothing is ever written through a link, not even one of the user's own.
            Existing::Overwrite if there.as_ref().is_some_and(|found| found.kind == Kind::File) => {
                return Sink::open(path, OpenFlags::TRUNCATE, mode).map(Some);
            }
            _ => {}
        }
        if there.is_some_and(|found| found.kind == Kind::Directory) {
            fs::remove_dir(path).map_err(|_| Errno::IsDirectory)?;
        } else {
            self.target.clear(path)?;
        }
        Sink::open(path, new, mode).map(Some)
    }

    fn symlink(&mut self, path: &str, header: &Header) {
        let Ok(target) = std::str::from_utf8(&header.link) else {
            return self.fail(&format!("{}: a name that is not UTF-8 cannot be used", header.shown_name()));
        };
        let target = self.settings.transformed(target, Role::Symlink);
        let made = match fs::symlink(&target, path) {
            Err(Errno::Exist) if self.may_replace() => {
                self.target.clear(path).and_then(|()| fs::symlink(&target, path))
            }
            Err(Errno::Exist) if self.settings.existing == Existing::Skip => return,
            made => made,
        };
        match made {
            Ok(()) => {
                self.target.made_link(path);
                self.set_time(path, header);
            }
            Err(errno) => {
                let message =
                    format!("{}: Cannot create symlink to {}: {}", header.shown_name(), quoted(&target), text(errno));
                self.fail(&message);
            }
        }
    }

    fn hard_link(&mut self, path: &str, header: &Header, directory: usize) {
        let Ok(target) = std::str::from_utf8(&header.link) else {
            return self.fail(&format!("{}: a name that is not UTF-8 cannot be used", header.shown_name()));
        };
        let target = self.settings.transformed(target, Role::HardLink);
        let Some(target) = strip(&target, self.settings.strip) else {
            return self.fail(&format!(
                "{}: Cannot hard link to {}: its name is stripped",
                header.shown_name(),
                quoted(&target)
            ));
        };
        if target.starts_with('/') && !self.settings.is_absolute {
            self.say_stripped("/", "hard link targets");
        }
        let existing = match Target::relative(&target) {
            _ if self.settings.is_absolute => self.settings.in_directory(directory, &target),
            Ok(relative) => self.settings.in_directory(directory, &relative),
            Err(refusal) => return self.refuse(header, "hard link", &refusal),
        };
        if self.target.leads_through_link(&existing) {
            return self.refuse(header, "hard link", &Refusal::Link);
        }
        if existing == path {
            return;
        }
        let made = match fs::hard_link(&existing, path) {
            Err(Errno::Exist) if self.may_replace() => {
                self.target.clear(path).and_then(|()| fs::hard_link(&existing, path))
            }
            Err(Errno::Exist) if self.settings.existing == Existing::Skip => return,
            made => made,
        };
        match made {
            Ok(()) if self.target.is_own_link(&existing) => self.target.made_link(path),
            Ok(()) => {}
            Err(errno) => {
                let message =
                    format!("{}: Cannot hard link to {}: {}", header.shown_name(), quoted(&target), text(errno));
                self.fail(&message);
            }
        }
    }

    fn may_replace(&self) -> bool {
        !matches!(self.settings.existing, Existing::Keep | Existing::Skip)
    }

    /// Sets permissions and times of directories, the deepest first.
    fn set_directories(&mut self) {
        let late = std::mem::take(&mut self.late);
        for (path, header) in late.iter().rev() {
            let mode = if self.settings.keeps_mode { header.mode } else { header.mode & 0o777 & !self.umask };
            if files::stat(path, false).is_ok_and(|found| found.kind == Kind::Directory && found.mode != mode)
                && let Err(errno) = files::chmod(path, mode, true)
            {
                self.fail(&format!("{}: Cannot change mode to {mode:o}: {}", header.shown_name(), text(errno)));
            }
            self.set_owner(path, header);
            self.set_time(path, header);
        }
    }

    fn set_owner(&mut self, path: &str, header: &Header) {
        if self.settings.keeps_owner {
            let number = |id: u64| u32::try_from(id).ok();
            if let Err(errno) = files::chown(path, number(header.uid), number(header.gid), false) {
                self.fail(&format!("{}: Cannot change ownership: {}", header.shown_name(), text(errno)));
            }
        }
    }

    fn set_time(&mut self, path: &str, header: &Header) {
        if !self.settings.keeps_time {
            return;
        }
        let modified =
            u64::try_from(header.modified).unwrap_or(0).saturating_mul(1_000_000_000) + u64::from(header.nanos);
        if let Err(errno) = fs::set_times(path, modified, modified, false) {
            self.fail(&format!("{}: Cannot utime: {}", header.shown_name(), text(errno)));
        }
    }

    fn refuse(&mut self, header: &Header, what: &str, refusal: &Refusal) {
        let name = header.shown_name();
        self.fail(&match refusal {
            Refusal::Parent if what == "hard link" => {
                format!("{name}: Cannot hard link to {}: it contains '..'", quoted(&shown(&header.link)))
            }
            Refusal::Parent => format!("{name}: Member name contains '..'"),
            Refusal::Link => format!("{name}: Cannot {what}: it leads through a symbolic link of the archive"),
            Refusal::Kernel(errno) => format!("{name}: Cannot {what}: {}", text(*errno)),
        });
    }

    fn say_stripped(&mut self, lead: &str, what: &str) {
        let message = format!("Removing leading `{lead}' from {what}");
        if !self.stripped.contains(&message) {
            self.call.complain(&message);
            self.stripped.push(message);
        }
    }

    fn lost(&mut self, header: &Header, error: &io::Error) -> String {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return "Unexpected EOF in archive".into();
        }
        format!("{}: Cannot write: {error}", header.shown_name())
    }

    fn fail(&mut self, message: &str) {
        self.out.flush();
        self.call.complain(message);
        self.code = 2;
    }
}

/// Removes parts from the front of a name; none if nothing is left.
fn strip(name: &str, count: usize) -> Option<String> {
    if count == 0 {
        return Some(name.to_owned());
    }
    let mut rest = name;
    for _ in 0..count {
        let (_, after) = rest.trim_start_matches('/').split_once('/')?;
        rest = after.trim_start_matches('/');
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn quoted(name: &str) -> String {
    format!("‘{name}’")
}
