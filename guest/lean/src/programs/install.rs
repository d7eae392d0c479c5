//! `install`: copies files and sets their modes and owners.

use isopod_gnu::accounts;
use isopod_gnu::mode::Mode;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::{join, last_part};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};
use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, text};

use crate::backup::Backup;
use crate::copying::{Copier, CopyKind, Follow, Preserve, Replace, Rules};

/// `install`.
pub(crate) const PROGRAM: Program = Program {
    name: "install",
    operands: &[
        "[OPTION]... [-T] SOURCE DEST",
        "[OPTION]... SOURCE... DIRECTORY",
        "[OPTION]... -t DIRECTORY SOURCE...",
        "[OPTION]... -d DIRECTORY...",
    ],
    about: "Copy SOURCE to DEST or multiple SOURCE(s) to the existing DIRECTORY, while setting permission modes\n\
            and owner/group.  With -d, create all components of the given DIRECTORY(ies).",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('b', "backup", "like --backup but does not accept an argument"),
        Opt::long("backup", "make a backup of each existing destination file: none, numbered, existing, simple")
            .may_take("CONTROL"),
        Opt::flag('S', "suffix", "override the usual backup suffix").takes("SUFFIX"),
        Opt::letter('c', "c", "(ignored)"),
        Opt::flag('C', "compare", "do not modify the destination if content and permissions are the same"),
        Opt::flag('d', "directory", "treat all arguments as directory names"),
        Opt::letter('D', "D", "create all leading components of DEST except the last"),
        Opt::flag('g', "group", "set group ownership, instead of process' current group").takes("GROUP"),
        Opt::flag('m', "mode", "set permission mode (as in chmod), instead of rwxr-xr-x").takes("MODE"),
        Opt::flag('o', "owner", "set ownership (super-user only)").takes("OWNER"),
        Opt::flag('p', "preserve-timestamps", "apply access/modification times of SOURCE files"),
        Opt::flag('s', "strip", "(there are no symbol tables to strip)"),
        Opt::flag('t', "target-directory", "copy all SOURCE arguments into DIRECTORY").takes("DIRECTORY"),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag('v', "verbose", "print the name of each directory as it is created"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

struct Work<'a> {
    call: &'a Call,
    mode: Mode,
    ids: (Option<u32>, Option<u32>),
    backup: Option<Backup>,
    out: Out,
    code: u8,
}

fn run(call: &Call) -> Result<u8, u8> {
    let fail = |message: String| {
        call.complain(&message);
        1
    };
    if call.has("strip") {
        return Err(fail("unsupported option -- 's'".to_owned()));
    }
    let mode = match call.value("mode") {
        None => Mode::exactly(0o755),
        Some(text) => Mode::parse(text).ok_or_else(|| fail(format!("invalid mode {}", plain(text))))?,
    };
    let owner = match call.value("owner") {
        None => None,
        Some(name) => {
            let known = accounts::users().into_iter().find(|user| user.name == name).map(|user| user.uid);
            Some(known.or_else(|| name.parse().ok()).ok_or_else(|| fail(format!("invalid user {}", plain(name))))?)
        }
    };
    let group = match call.value("group") {
        None => None,
        Some(name) => {
            let known = accounts::groups().into_iter().find(|group| group.name == name).map(|group| group.gid);
            Some(known.or_else(|| name.parse().ok()).ok_or_else(|| fail(format!("invalid group {}", plain(name))))?)
        }
    };
    let mut work = Work { call, mode, ids: (owner, group), backup: Backup::read(call)?, out: Out::new(), code: 0 };
    if call.operands.is_empty() {
        return Err(call.misused("missing file operand"));
    }
    if call.has("directory") {
        for path in &call.operands {
            work.make_directories(path);
            if files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory) {
                work.apply_attributes(path);
            }
        }
    } else {
        work.copy_all()?;
    }
    let code = work.code;
    Ok(call.finish(work.out, code))
}

impl Work<'_> {
    fn copy_all(&mut self) -> Result<(), u8> {
        let is_directory = |path: &str| files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory);
        let operands = self.call.operands.as_slice();
        let (sources, target, inside) = match (self.call.value("target-directory"), operands) {
            (Some(directory), sources) => (sources, directory.to_owned(), true),
            (None, [only]) => {
                return Err(self.call.misused(&format!("missing destination file operand after {}", plain(only))));
            }
            (None, [_, _, extra, ..]) if self.call.has("no-target-directory") => {
                return Err(self.call.misused(&format!("extra operand {}", plain(extra))));
            }
            (None, [sources @ .., last]) => {
                let inside = !self.call.has("no-target-directory") && is_directory(last);
                (sources, last.clone(), inside || sources.len() > 1)
            }
            (None, []) => return Ok(()),
        };
        if inside && self.call.has("D") {
            self.make_directories(&target);
        }
        if inside && !is_directory(&target) {
            let why = files::stat(&target, true).err().map_or("Not a directory", text);
            let what = if self.call.has("target-directory") { "target directory" } else { "target" };
            self.call.complain(&format!("{what} {}: {why}", shell(&target)));
            return Err(1);
        }
        for source in sources {
            let dest = if inside { join(&target, last_part(source)) } else { target.clone() };
            if self.call.has("D")
                && !inside
                && let Some(at) = dest.rfind('/').filter(|at| *at > 0)
            {
                self.make_directories(&dest[..at]);
            }
            self.copy(source, &dest);
        }
        Ok(())
    }

    fn copy(&mut self, source: &str, dest: &str) {
        let found = match files::stat(source, true) {
            Ok(found) => found,
            Err(errno) => return self.fail(&format!("cannot stat {}: {}", shell(source), text(errno))),
        };
        if found.kind == Kind::Directory {
            return self.fail(&format!("omitting directory {}", shell(source)));
        }
        match files::stat(dest, false) {
            Ok(there) if there.kind == Kind::Directory => {
                let message = format!("cannot overwrite directory {} with non-directory", shell(dest));
                return self.fail(&message);
            }
            Ok(there) if crate::copying::is_same(&there, &found) => {
                return self.fail(&format!("{} and {} are the same file", shell(source), shell(dest)));
            }
            _ => {}
        }
        let rules = Rules {
            recursive: false,
            follow: Follow::Always,
            keep: Preserve { no_mode: true, times: self.call.has("preserve-timestamps"), ..Preserve::default() },
            kind: CopyKind::Data,
            replace: Replace::Always,
            force: false,
            remove_first: true,
            one_file_system: false,
            backup: self.backup.clone(),
            verbose: false,
        };
        if self.call.has("verbose") {
            self.out.push(format!("{} -> {}\n", shell(source), shell(dest)).as_bytes());
        }
        let mut copier = Copier::new(self.call, rules);
        if copier.copy_named(source, dest) {
            self.apply_attributes(dest);
        } else {
            self.code = 1;
        }
    }

    /// Sets the mode and the owners of a file.
    fn apply_attributes(&mut self, path: &str) {
        let (owner, group) = self.ids;
        if (owner.is_some() || group.is_some())
            && let Err(errno) = files::chown(path, owner, group, true)
            && !files::stat(path, true)
                .is_ok_and(|found| owner.is_none_or(|uid| uid == found.uid) && group.is_none_or(|gid| gid == found.gid))
        {
            return self.fail(&format!("cannot change ownership of {}: {}", shell(path), text(errno)));
        }
        let is_directory = files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory);
        if let Err(errno) = files::chmod(path, self.mode.apply(0, is_directory, 0), true) {
            self.fail(&format!("cannot change permissions of {}: {}", shell(path), text(errno)));
        }
    }

    fn make_directories(&mut self, path: &str) {
        let mut made = String::new();
        if path.starts_with('/') {
            made.push('/');
        }
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if !made.is_empty() && !made.ends_with('/') {
                made.push('/');
            }
            made.push_str(part);
            match fs::create_dir(&made) {
                Ok(()) => {
                    if self.call.has("verbose") {
                        let line = format!("{}: creating directory {}\n", self.call.name, shell(&made));
                        self.out.push(line.as_bytes());
                    }
                }
                Err(Errno::Exist) => {
                    if files::stat(&made, true).is_ok_and(|found| found.kind != Kind::Directory) {
                        let message = format!("cannot create directory {}: Not a directory", shell(&made));
                        return self.fail(&message);
                    }
                }
                Err(errno) => {
                    return self.fail(&format!("cannot create directory {}: {}", shell(&made), text(errno)));
                }
            }
        }
    }

    fn fail(&mut self, message: &str) {
        self.call.complain(message);
        self.code = 1;
    }
}
