//! `ln`, `link` and `unlink`: names of files.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::{join, last_part};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::prompt::ask;
use isopod_gnu::quote::{plain, shell};
use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, text};

use crate::backup::Backup;
use crate::canonical::{MustExist, canonical, relative};
use crate::copying::is_same;

/// `ln`.
pub(crate) const LN: Program = Program {
    name: "ln",
    operands: &[
        "[OPTION]... [-T] TARGET LINK_NAME",
        "[OPTION]... TARGET",
        "[OPTION]... TARGET... DIRECTORY",
        "[OPTION]... -t DIRECTORY TARGET...",
    ],
    about: "Create a link to TARGET with the name LINK_NAME, or links to each TARGET in DIRECTORY.\n\
            Create hard links by default, symbolic links with --symbolic.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('b', "backup", "like --backup but does not accept an argument"),
        Opt::long("backup", "make a backup of each existing destination file: none, numbered, existing, simple")
            .may_take("CONTROL"),
        Opt::flag('S', "suffix", "override the usual backup suffix").takes("SUFFIX"),
        Opt::flag('f', "force", "remove existing destination files"),
        Opt::flag('i', "interactive", "prompt whether to remove destinations"),
        Opt::flag('L', "logical", "dereference TARGETs that are symbolic links"),
        Opt::flag('n', "no-dereference", "treat LINK_NAME as a normal file if it is a symbolic link to a directory"),
        Opt::flag('P', "physical", "make hard links directly to symbolic links"),
        Opt::flag('r', "relative", "with -s, create links relative to link location"),
        Opt::flag('s', "symbolic", "make symbolic links instead of hard links"),
        Opt::flag('t', "target-directory", "specify the DIRECTORY in which to create the links").takes("DIRECTORY"),
        Opt::flag('T', "no-target-directory", "treat LINK_NAME as a normal file always"),
        Opt::flag('v', "verbose", "print name of each linked file"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// `link`.
pub(crate) const LINK: Program = Program {
    name: "link",
    operands: &["FILE1 FILE2"],
    about: "Call the link function to create a link named FILE2 to an existing FILE1.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| match call.operands.as_slice() {
        [] => call.misused("missing operand"),
        [only] => call.misused(&format!("missing operand after {}", plain(only))),
        [from, to] => match fs::hard_link(from, to) {
            Ok(()) => 0,
            Err(errno) => {
                call.complain(&format!("cannot create link {} to {}: {}", shell(to), shell(from), text(errno)));
                1
            }
        },
        [_, _, extra, ..] => call.misused(&format!("extra operand {}", plain(extra))),
    },
};

/// `unlink`.
pub(crate) const UNLINK: Program = Program {
    name: "unlink",
    operands: &["FILE"],
    about: "Call the unlink function to remove the specified FILE.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| match call.operands.as_slice() {
        [] => call.misused("missing operand"),
        [path] => match fs::remove_file(path) {
            Ok(()) => 0,
            Err(errno) => {
                let is_directory = files::stat(path, false).is_ok_and(|found| found.kind == Kind::Directory);
                let errno = if is_directory { Errno::IsDirectory } else { errno };
                call.complain(&format!("cannot unlink {}: {}", shell(path), text(errno)));
                1
            }
        },
        [_, extra, ..] => call.misused(&format!("extra operand {}", plain(extra))),
    },
};

fn run(call: &Call) -> Result<u8, u8> {
    if call.has("relative") && !call.has("symbolic") {
        return Err(call.misused("cannot do --relative without --symbolic"));
    }
    if call.has("target-directory") && call.has("no-target-directory") {
        return Err(call.misused("cannot combine --target-directory and --no-target-directory"));
    }
    let (targets, directory) = destination(call)?;
    let backup = Backup::read(call)?;
    let mut out = Out::new();
    let mut code = 0;
    for target in targets {
        let name = match &directory {
            LinkDestination::In(directory) => join(directory, last_part(target)),
            LinkDestination::As(name) => name.clone(),
        };
        if let Err(message) = link(call, target, &name, backup.as_ref(), &mut out) {
            if !message.is_empty() {
                call.complain(&message);
            }
            code = 1;
        }
    }
    Ok(call.finish(out, code))
}

/// The destination of links.
enum LinkDestination {
    In(String),
    As(String),
}

fn destination(call: &Call) -> Result<(&[String], LinkDestination), u8> {
    let operands = call.operands.as_slice();
    let is_directory = |path: &str| {
        let follow = !call.has("no-dereference");
        files::stat(path, follow).is_ok_and(|found| found.kind == Kind::Directory)
    };
    if let Some(directory) = call.value("target-directory") {
        if operands.is_empty() {
            return Err(call.misused("missing file operand"));
        }
        if !files::stat(directory, true).is_ok_and(|found| found.kind == Kind::Directory) {
            let why = files::stat(directory, true).err().map_or("Not a directory", text);
            call.complain(&format!("target directory {}: {why}", shell(directory)));
            return Err(1);
        }
        return Ok((operands, LinkDestination::In(directory.to_owned())));
    }
    match operands {
        [] => Err(call.misused("missing file operand")),
        [only] if call.has("no-target-directory") => {
            Err(call.misused(&format!("missing destination file operand after {}", plain(only))))
        }
        [only] => Ok((
            &operands[..1],
            if only.is_empty() { LinkDestination::As(String::new()) } else { LinkDestination::In(".".to_owned()) },
        )),
        [_, name] if call.has("no-target-directory") || !is_directory(name) => {
            Ok((&operands[..1], LinkDestination::As(name.clone())))
        }
        [_, _, extra, ..] if call.has("no-target-directory") => {
            Err(call.misused(&format!("extra operand {}", plain(extra))))
        }
        [targets @ .., directory] => {
            if !files::stat(directory, true).is_ok_and(|found| found.kind == Kind::Directory) {
                let why = files::stat(directory, true).err().map_or("Not a directory", text);
                call.complain(&format!("target {}: {why}", shell(directory)));
                return Err(1);
            }
            Ok((targets, LinkDestination::In(directory.clone())))
        }
    }
}

fn link(call: &Call, target: &str, name: &str, backup: Option<&Backup>, out: &mut Out) -> Result<(), String> {
    let symbolic = call.has("symbolic");
    let kind = if symbolic { "symbolic" } else { "hard" };
    // `ln FILE` in the working directory makes the name without `./`.
    let name = name.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(name);
    if !symbolic {
        let found = files::stat(target, call.has("logical"))
            .map_err(|errno| format!("failed to access {}: {}", shell(target), text(errno)))?;
        if found.kind == Kind::Directory {
            return Err(format!("{}: hard link not allowed for directory", isopod_gnu::quote::name(target)));
        }
    }
    if let Ok(there) = files::stat(name, false) {
        if there.kind == Kind::Directory {
            return Err(if call.has("force") || call.has("interactive") {
                format!("{}: cannot overwrite directory", isopod_gnu::quote::name(name))
            } else {
                format!("failed to create {kind} link {}: File exists", shell(name))
            });
        }
        if call.has("interactive") {
            out.flush();
            if !ask(&format!("{}: replace {}? ", call.name, shell(name))) {
                return Ok(());
            }
        } else if !call.has("force") && backup.is_none() {
            let hint = if symbolic { String::new() } else { format!(" => {}", shell(target)) };
            return Err(format!("failed to create {kind} link {}{hint}: File exists", shell(name)));
        }
        let same = files::stat(target, false).is_ok_and(|found| is_same(&found, &there));
        if same && (symbolic || there.links == 1) {
            return Err(format!("{} and {} are the same file", shell(target), shell(name)));
        }
        if same {
            return Ok(());
        }
        if let Some(backup) = backup {
            backup.save(name).map_err(|errno| format!("cannot backup {}: {}", shell(name), text(errno)))?;
        } else {
            fs::remove_file(name).map_err(|errno| format!("cannot remove {}: {}", shell(name), text(errno)))?;
        }
    }
    let shown;
    let result = if symbolic {
        shown = if call.has("relative") { seen_from(target, name) } else { target.to_owned() };
        fs::symlink(&shown, name)
    } else {
        shown = target.to_owned();
        let file = if call.has("logical") { canonical(target, MustExist::All, true) } else { Ok(target.to_owned()) };
        file.and_then(|file| fs::hard_link(&file, name))
    };
    result.map_err(|errno| {
        let hint = if symbolic { String::new() } else { format!(" => {}", shell(target)) };
        format!("failed to create {kind} link {}{hint}: {}", shell(name), text(errno))
    })?;
    if call.has("verbose") {
        let arrow = if symbolic { "->" } else { "=>" };
        out.push(format!("{} {arrow} {}\n", shell(name), shell(&shown)).as_bytes());
    }
    Ok(())
}

/// Returns a target relative to the directory of its link.
fn seen_from(target: &str, name: &str) -> String {
    let directory = match name.rfind('/') {
        Some(0) => "/",
        Some(at) => &name[..at],
        None => ".",
    };
    match (canonical(target, MustExist::Nothing, true), canonical(directory, MustExist::Nothing, true)) {
        (Ok(target), Ok(directory)) => relative(&target, &directory),
        _ => target.to_owned(),
    }
}
