//! `ls`: lists directories.

mod columns;
mod entry;
mod long;
mod options;

use std::cmp::Ordering;

use isopod_sys::files::{self, Kind};
use isopod_sys::text;

use entry::Entry;
use isopod_gnu::output::Out;
use isopod_gnu::path::join;
use isopod_gnu::program::Call;
use isopod_gnu::quote::shell;
use isopod_gnu::{version, width};
pub(crate) use options::{DIR, PROGRAM, VDIR};
use options::{Follow, Format, Hidden, Settings, Sort};

/// The exit code if a file that the user named does not exist.
const SERIOUS: u8 = 2;
/// The exit code if a listed file could not be read.
const MINOR: u8 = 1;

/// One run, with its output and exit code.
struct Listing<'a> {
    call: &'a Call,
    settings: &'a Settings,
    out: Out,
    code: u8,
    /// Something was printed, so that the next directory is set off by an empty line.
    started: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let mut listing = Listing { call, settings: &settings, out: Out::new(), code: 0, started: false };
    let here = [".".to_owned()];
    let operands = if call.operands.is_empty() { here.as_slice() } else { &call.operands };

    let (mut plain, mut directories) = (Vec::new(), Vec::new());
    for path in operands {
        match listing.examine_named(path) {
            Some(entry) if entry.attributes.kind == Kind::Directory && !settings.directory => directories.push(entry),
            Some(entry) => plain.push(entry),
            None => {}
        }
    }
    listing.sort(&mut plain);
    listing.sort(&mut directories);
    if !plain.is_empty() {
        listing.print(&plain);
        listing.started = true;
    }
    let headed = operands.len() > 1 || settings.recursive;
    for directory in directories {
        listing.list(&directory.name, headed, &mut Vec::new());
    }
    let code = listing.code;
    Ok(call.finish(listing.out, code))
}

impl Listing<'_> {
    fn examine_named(&mut self, path: &str) -> Option<Entry> {
        let follow = match self.settings.follow {
            Follow::Always | Follow::Named => true,
            Follow::Never => false,
            Follow::NamedDirectories => files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory),
        };
        // A link that leads nowhere is shown as itself.
        let found = files::stat(path, follow).or_else(|errno| match self.settings.follow {
            Follow::Always | Follow::Named => files::stat(path, false).map_err(|_| errno),
            _ => Err(errno),
        });
        match found {
            Ok(attributes) => Some(Entry::new(path.to_owned(), path.to_owned(), attributes)),
            Err(errno) => {
                self.fail(SERIOUS, &format!("cannot access {}: {}", shell(path), text(errno)));
                None
            }
        }
    }

    /// Lists a directory, and with `-R` those below it. `above` are its ancestors.
    fn list(&mut self, path: &str, headed: bool, above: &mut Vec<(u64, u64)>) {
        let read = files::read_dir(path);
        let names = match read {
            Ok(names) => names,
            Err(errno) => {
                let code = if above.is_empty() { SERIOUS } else { MINOR };
                return self.fail(code, &format!("cannot open directory {}: {}", shell(path), text(errno)));
            }
        };
        let identity = files::stat(path, true).map(|found| (found.device, found.inode)).ok();
        if let Some(identity) = identity {
            // With -L a link may lead back up.
            if above.contains(&identity) {
                let message = format!("{}: not listing already-listed directory", isopod_gnu::quote::name(path));
                return self.fail(SERIOUS, &message);
            }
            above.push(identity);
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(names.len());
        let dots = (self.settings.hidden == Hidden::All).then_some([".".to_owned(), "..".to_owned()]);
        for name in dots.into_iter().flatten().chain(names) {
            if self.settings.shows(&name) {
                entries.extend(self.examine(path, name));
            }
        }
        self.sort(&mut entries);
        let end = self.settings.end;
        if self.started {
            self.out.byte(end);
        }
        self.started = true;
        if headed {
            self.out.push(self.settings.quoted(path).as_bytes());
            self.out.push(b":");
            self.out.byte(end);
        }
        if self.settings.format == Format::Long || self.settings.blocks {
            let total: u64 = entries.iter().map(Entry::blocks).sum();
            self.out.push(format!("total {}", self.settings.block_text(total)).as_bytes());
            self.out.byte(end);
        }
        self.print(&entries);
        if self.settings.recursive {
            for entry in entries {
                if entry.attributes.kind == Kind::Directory && entry.name != "." && entry.name != ".." {
                    self.list(&entry.path, true, above);
                }
            }
        }
        if identity.is_some() {
            above.pop();
        }
    }

    fn examine(&mut self, directory: &str, name: String) -> Option<Entry> {
        let path = join(directory, &name);
        let follow = self.settings.follow == Follow::Always;
        let found = files::stat(&path, follow)
            .or_else(|errno| if follow { files::stat(&path, false).map_err(|_| errno) } else { Err(errno) });
        match found {
            Ok(attributes) => Some(Entry::new(name, path, attributes)),
            Err(errno) => {
                self.fail(MINOR, &format!("cannot access {}: {}", shell(&path), text(errno)));
                None
            }
        }
    }

    fn sort(&self, entries: &mut [Entry]) {
        let settings = self.settings;
        let time = |entry: &Entry| settings.time.of(&entry.attributes);
        let by_name = |a: &Entry, b: &Entry| a.name.cmp(&b.name);
        let order = |a: &Entry, b: &Entry| {
            let order = match settings.sort {
                Sort::None => Ordering::Equal,
                Sort::Name => by_name(a, b),
                Sort::Time => time(b).cmp(&time(a)).then_with(|| by_name(a, b)),
                Sort::Size => b.attributes.size.cmp(&a.attributes.size).then_with(|| by_name(a, b)),
                Sort::Extension => extension(&a.name).cmp(extension(&b.name)).then_with(|| by_name(a, b)),
                Sort::Version => version::compare(a.name.as_bytes(), b.name.as_bytes()).then_with(|| by_name(a, b)),
                Sort::Width => width::of_text(&settings.quoted(&a.name))
                    .cmp(&width::of_text(&settings.quoted(&b.name)))
                    .then_with(|| by_name(a, b)),
            };
            if settings.reverse { order.reverse() } else { order }
        };
        let rank = |entry: &Entry| settings.directories_first && !entry.leads_to_directory();
        entries.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| order(a, b)));
    }

    fn print(&mut self, entries: &[Entry]) {
        match self.settings.format {
            Format::Long => long::print(entries, self.settings, &mut self.out),
            _ => columns::print(entries, self.settings, &mut self.out),
        }
    }

    fn fail(&mut self, code: u8, message: &str) {
        self.out.flush();
        self.call.complain(message);
        self.code = self.code.max(code);
    }
}

fn extension(name: &str) -> &str {
    name.rfind('.').map_or("", |at| &name[at..])
}
