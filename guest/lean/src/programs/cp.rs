//! `cp`: copies of files and directories.

use isopod_sys::files::{self, Kind};
use isopod_sys::{fs, text};

use crate::backup::Backup;
use crate::copying::{Copier, CopyKind, Follow, Preserve, Replace, Rules};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::path::{join, last_part, trim_slashes};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};

/// `cp`.
pub(crate) const PROGRAM: Program = Program {
    name: "cp",
    operands: &[
        "[OPTION]... [-T] SOURCE DEST",
        "[OPTION]... SOURCE... DIRECTORY",
        "[OPTION]... -t DIRECTORY SOURCE...",
    ],
    about: "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "archive", "same as -dR --preserve=all"),
        Opt::long("attributes-only", "don't copy the file data, just the attributes"),
        Opt::letter('d', "d", "same as --no-dereference --preserve=links"),
        Opt::letter('b', "backup", "like --backup but does not accept an argument"),
        Opt::long("backup", "make a backup of each existing destination file: none, numbered, existing, simple")
            .may_take("CONTROL"),
        Opt::flag('S', "suffix", "override the usual backup suffix").takes("SUFFIX"),
        Opt::flag('f', "force", "if an existing destination file cannot be opened, remove it and try again"),
        Opt::flag('i', "interactive", "prompt before overwrite (overrides a previous -n option)"),
        Opt::letter('H', "H", "follow command-line symbolic links in SOURCE"),
        Opt::flag('l', "link", "hard link files instead of copying"),
        Opt::flag('L', "dereference", "always follow symbolic links in SOURCE"),
        Opt::flag('n', "no-clobber", "do not overwrite an existing file (overrides a previous -i option)"),
        Opt::flag('P', "no-dereference", "never follow symbolic links in SOURCE"),
        Opt::letter('p', "p", "same as --preserve=mode,ownership,timestamps"),
        Opt::long("preserve", "preserve the specified attributes: mode,ownership,timestamps,links,all")
            .may_take("ATTR_LIST"),
        Opt::long("no-preserve", "don't preserve the specified attributes").takes("ATTR_LIST"),
        Opt::long("parents", "use full source file name under DIRECTORY"),
        Opt::flag('R', "recursive", "copy directories recursively"),
        Opt::letter('r', "recursive", "same as -R"),
        Opt::long("reflink", "accepted with auto or never: there are no clones").may_take("WHEN"),
        Opt::long("remove-destination", "remove each existing destination file before attempting to open it"),
        Opt::long("sparse", "accepted with auto or never: files have no holes").takes("WHEN"),
        Opt::long("strip-trailing-slashes", "remove any trailing slashes from each SOURCE argument"),
        Opt::flag('s', "symbolic-link", "make symbolic links instead of copying"),
        Opt::flag('t', "target-directory", "copy all SOURCE arguments into DIRECTORY").takes("DIRECTORY"),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag('u', "update", "copy only when the SOURCE file is newer than the destination file"),
        Opt::flag('v', "verbose", "explain what is being done"),
        Opt::flag('x', "one-file-system", "stay on this file system"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let rules = rules(call)?;
    let (sources, target, into) = operands(call)?;
    let parents = call.has("parents");
    if parents && !into {
        return Err(call.misused("with --parents, the destination must be a directory"));
    }
    let mut copier = Copier::new(call, rules);
    for source in sources {
        let source = if call.has("strip-trailing-slashes") { trim_slashes(source) } else { source };
        let dest = match (into, parents) {
            (false, _) => target.to_owned(),
            (true, true) => {
                if !make_parents(call, source, target) {
                    copier.complete = false;
                    continue;
                }
                join(target, trim_slashes(source).trim_start_matches('/'))
            }
            (true, false) => match last_part(source) {
                // The content of a directory goes into the target itself.
                "." | ".." | "/" => target.to_owned(),
                name => join(target, name),
            },
        };
        copier.copy_named(source, &dest);
    }
    let code = u8::from(!copier.complete);
    Ok(call.finish(copier.out, code))
}

fn rules(call: &Call) -> Result<Rules, u8> {
    let recursive = call.has("recursive") || call.has("archive");
    let mut follow = None;
    let mut rules = Rules {
        recursive,
        follow: Follow::Always,
        keep: Preserve::default(),
        kind: CopyKind::Data,
        replace: Replace::Always,
        force: call.has("force"),
        remove_first: call.has("remove-destination"),
        one_file_system: call.has("one-file-system"),
        backup: Backup::read(call)?,
        verbose: call.has("verbose"),
    };
    for GivenOption { option, value } in &call.options {
        match *option {
            "archive" => {
                follow = Some(Follow::Never);
                rules.keep = Preserve { mode: true, no_mode: false, owner: true, times: true, links: true };
            }
            "d" => {
                follow = Some(Follow::Never);
                rules.keep.links = true;
            }
            "p" => keep(call, &mut rules.keep, "mode,ownership,timestamps", true)?,
            "preserve" => {
                keep(call, &mut rules.keep, value.as_deref().unwrap_or("mode,ownership,timestamps"), true)?;
            }
            "no-preserve" => keep(call, &mut rules.keep, value.as_deref().unwrap_or_default(), false)?,
            "H" => follow = Some(Follow::Named),
            "dereference" => follow = Some(Follow::Always),
            "no-dereference" => follow = Some(Follow::Never),
            "interactive" => rules.replace = Replace::Ask,
            "no-clobber" => rules.replace = Replace::Never,
            "update" if rules.replace == Replace::Always => rules.replace = Replace::IfOlder,
            "link" => rules.kind = CopyKind::HardLink,
            "symbolic-link" => rules.kind = CopyKind::Symlink,
            "attributes-only" => rules.kind = CopyKind::Nothing,
            "reflink" | "sparse" => {
                let when = value.as_deref().unwrap_or("always");
                if when != "auto" && when != "never" {
                    return Err(call.misused(&format!("unsupported argument {} for '--{option}'", plain(when))));
                }
            }
            _ => {}
        }
    }
    if call.has("link") && call.has("symbolic-link") {
        return Err(call.misused("cannot make both hard and symbolic links"));
    }
    rules.follow = follow.unwrap_or(match (recursive, rules.kind) {
        (true, _) | (_, CopyKind::HardLink) => Follow::Never,
        _ => Follow::Always,
    });
    Ok(rules)
}

fn keep(call: &Call, keep: &mut Preserve, list: &str, value: bool) -> Result<(), u8> {
    for attribute in list.split(',') {
        match attribute {
            "mode" => (keep.mode, keep.no_mode) = (value, !value),
            "ownership" => keep.owner = value,
            "timestamps" => keep.times = value,
            "links" => keep.links = value,
            "all" => *keep = Preserve { mode: value, no_mode: !value, owner: value, times: value, links: value },
            // A sandbox has no such attributes.
            "context" | "xattr" => {}
            wrong => {
                let option = if value { "--preserve" } else { "--no-preserve" };
                return Err(call.misused(&format!("invalid argument {} for '{option}'", plain(wrong))));
            }
        }
    }
    Ok(())
}

/// Returns the sources, the target, and true if the sources go into the target.
pub(super) fn operands(call: &Call) -> Result<(&[String], &str, bool), u8> {
    let exact = call.has("no-target-directory");
    if let Some(target) = call.value("target-directory") {
        if exact {
            call.complain("cannot combine --target-directory (-t) and --no-target-directory (-T)");
            return Err(1);
        }
        if call.operands.is_empty() {
            return Err(call.misused("missing file operand"));
        }
        check_directory(call, target, "target directory")?;
        return Ok((&call.operands, target, true));
    }
    let (sources, target) = match call.operands.as_slice() {
        [] => return Err(call.misused("missing file operand")),
        [only] => return Err(call.misused(&format!("missing destination file operand after {}", shell(only)))),
        [_, _, extra, ..] if exact => return Err(call.misused(&format!("extra operand {}", shell(extra)))),
        [sources @ .., target] => (sources, target.as_str()),
    };
    let is_directory = files::stat(target, true).is_ok_and(|found| found.kind == Kind::Directory);
    if sources.len() > 1 && !is_directory {
        check_directory(call, target, "target")?;
    }
    Ok((sources, target, is_directory && !exact))
}

fn check_directory(call: &Call, path: &str, what: &str) -> Result<(), u8> {
    let reason = match files::stat(path, true) {
        Ok(found) if found.kind == Kind::Directory => return Ok(()),
        Ok(_) => "Not a directory",
        Err(errno) => text(errno),
    };
    call.complain(&format!("{what} {}: {reason}", shell(path)));
    Err(1)
}

/// Makes the directories of a source's path below the target, with the permissions of their originals.
fn make_parents(call: &Call, source: &str, target: &str) -> bool {
    let source = trim_slashes(source).trim_start_matches('/');
    let lead = if call.operands.iter().any(|operand| operand.starts_with('/')) { "/" } else { "" };
    for (at, _) in source.match_indices('/') {
        let (original, dest) = (&source[..at], join(target, &source[..at]));
        if files::stat(&dest, true).is_ok() {
            continue;
        }
        if let Err(errno) = fs::create_dir(&dest) {
            call.complain(&format!("cannot make directory {}: {}", shell(&dest), text(errno)));
            return false;
        }
        if let Ok(found) = files::stat(&format!("{lead}{original}"), true) {
            // The directory must be writable while it is filled, as in a recursive copy.
            let _ = files::chmod(&dest, found.mode | 0o700, true);
        }
        if call.has("verbose") {
            let line = format!("{lead}{original} -> {dest}\n");
            // Written at once: the copier's own reports follow.
            let _ = isopod_sys::write_all(1, line.as_bytes());
        }
    }
    true
}
