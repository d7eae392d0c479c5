//! `mv`: renames files and directories.

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs, text};

use super::cp::operands;
use crate::backup::Backup;
use crate::copying::{Copier, CopyKind, Follow, Preserve, Replace, Rules, is_same, is_within};
use crate::removal::{RemovalStep, remove_tree};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::{join, last_part, trim_slashes};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::prompt::ask;
use isopod_gnu::quote::shell;

/// `mv`.
pub(crate) const PROGRAM: Program = Program {
    name: "mv",
    operands: &[
        "[OPTION]... [-T] SOURCE DEST",
        "[OPTION]... SOURCE... DIRECTORY",
        "[OPTION]... -t DIRECTORY SOURCE...",
    ],
    about: "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('b', "backup", "like --backup but does not accept an argument"),
        Opt::long("backup", "make a backup of each existing destination file: none, numbered, existing, simple")
            .may_take("CONTROL"),
        Opt::flag('S', "suffix", "override the usual backup suffix").takes("SUFFIX"),
        Opt::flag('f', "force", "do not prompt before overwriting"),
        Opt::flag('i', "interactive", "prompt before overwrite"),
        Opt::flag('n', "no-clobber", "do not overwrite an existing file"),
        Opt::long("strip-trailing-slashes", "remove any trailing slashes from each SOURCE argument"),
        Opt::flag('t', "target-directory", "move all SOURCE arguments into DIRECTORY").takes("DIRECTORY"),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag('u', "update", "move only when the SOURCE file is newer than the destination file"),
        Opt::flag('v', "verbose", "explain what is being done"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let (sources, target, into) = operands(call)?;
    // Of -f, -i and -n the last one counts.
    let last = call.options.iter().rev().find(|o| matches!(o.option, "force" | "interactive" | "no-clobber"));
    let replace = match last.map(|found| found.option) {
        Some("interactive") => Replace::Ask,
        Some("no-clobber") => Replace::Never,
        _ => Replace::Always,
    };
    let backup = Backup::read(call)?;
    let mut out = Out::new();
    let mut code = 0;
    for source in sources {
        let source = if call.has("strip-trailing-slashes") { trim_slashes(source) } else { source };
        let dest = if into { join(target, last_part(source)) } else { target.to_owned() };
        if let Err(message) = move_one(call, source, &dest, replace, backup.as_ref(), &mut out) {
            if !message.is_empty() {
                call.complain(&message);
            }
            code = 1;
        }
    }
    Ok(call.finish(out, code))
}

/// Moves one file or directory. An error with an empty text was already reported.
fn move_one(
    call: &Call,
    source: &str,
    dest: &str,
    replace: Replace,
    backup: Option<&Backup>,
    out: &mut Out,
) -> Result<(), String> {
    let found = files::stat(source, false).map_err(|e| format!("cannot stat {}: {}", shell(source), text(e)))?;
    let is_directory = found.kind == Kind::Directory;
    if let Ok(there) = files::stat(dest, false) {
        if is_same(&found, &there) {
            return Err(format!("{} and {} are the same file", shell(source), shell(dest)));
        }
        if !may_replace(call, &found, &there, dest, replace, out) {
            return Ok(());
        }
        match (is_directory, there.kind == Kind::Directory) {
            (true, false) => {
                let (source, dest) = (shell(source), shell(dest));
                return Err(format!("cannot overwrite non-directory {dest} with directory {source}"));
            }
            (false, true) => return Err(format!("cannot overwrite directory {} with non-directory", shell(dest))),
            _ => {}
        }
        if let Some(backup) = backup {
            backup.save(dest).map_err(|e| format!("cannot backup {}: {}", shell(dest), text(e)))?;
        }
    }
    let target = trim_slashes(dest);
    if is_directory && is_within(parent(target), &found) {
        let (source, dest) = (shell(source), shell(dest));
        return Err(format!("cannot move {source} to a subdirectory of itself, {dest}"));
    }
    // A name that ends in a slash can only be a directory's.
    let to = if is_directory { target } else { dest };
    match fs::rename(source, to) {
        Ok(()) => {
            if call.has("verbose") {
                out.push(format!("renamed {} -> {}\n", shell(source), shell(dest)).as_bytes());
            }
            Ok(())
        }
        Err(Errno::CrossDevice) => move_across(call, source, to, out),
        Err(errno) => Err(format!("cannot move {} to {}: {}", shell(source), shell(dest), text(errno))),
    }
}

fn may_replace(
    call: &Call,
    found: &Attributes,
    there: &Attributes,
    dest: &str,
    replace: Replace,
    out: &mut Out,
) -> bool {
    if replace == Replace::Never || call.has("update") && there.modified >= found.modified {
        return false;
    }
    if replace == Replace::Ask {
        out.flush();
        return ask(&format!("{}: overwrite {}? ", call.name, shell(dest)));
    }
    true
}

/// Moves a tree to another mount, where there is no rename: it is copied and then removed.
fn move_across(call: &Call, source: &str, dest: &str, out: &mut Out) -> Result<(), String> {
    let failed = |errno| format!("inter-device move failed: {} to {}: {}", shell(source), shell(dest), text(errno));
    match files::stat(dest, false) {
        Ok(there) if there.kind == Kind::Directory => fs::remove_dir(dest).map_err(failed)?,
        Ok(_) => fs::remove_file(dest).map_err(failed)?,
        Err(_) => {}
    }
    let rules = Rules {
        recursive: true,
        follow: Follow::Never,
        keep: Preserve { mode: true, no_mode: false, owner: true, times: true, links: true },
        kind: CopyKind::Data,
        replace: Replace::Always,
        force: false,
        remove_first: false,
        one_file_system: false,
        backup: None,
        verbose: false,
    };
    let mut copier = Copier::new(call, rules);
    if !copier.copy_named(source, dest) {
        // The source stays whole: files that were not copied must not be lost.
        return Err(String::new());
    }
    let verbose = call.has("verbose");
    if verbose {
        out.push(format!("copied {} -> {}\n", shell(source), shell(dest)).as_bytes());
    }
    let removed = remove_tree(source, None, &mut |step| {
        match step {
            RemovalStep::Asked(..) => {}
            RemovalStep::Removed(Kind::Directory, path) if verbose => {
                out.push(format!("removed directory {}\n", shell(path)).as_bytes());
            }
            RemovalStep::Removed(_, path) if verbose => out.push(format!("removed {}\n", shell(path)).as_bytes()),
            RemovalStep::Removed(..) => {}
            RemovalStep::Failed(path, errno) => {
                call.complain(&format!("cannot remove {}: {}", shell(path), text(errno)))
            }
        }
        true
    });
    if removed { Ok(()) } else { Err(String::new()) }
}

fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(at) => &path[..at],
        None => ".",
    }
}
