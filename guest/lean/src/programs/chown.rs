//! `chown` and `chgrp`: owner and group of files.

use isopod_gnu::accounts;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::join;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs, text};

const OPTIONS: &[Opt] = &[
    Opt::flag('c', "changes", "like verbose but report only when a change is made"),
    Opt::flag('f', "silent", "suppress most error messages"),
    Opt::long("quiet", ""),
    Opt::flag('v', "verbose", "output a diagnostic for every file processed"),
    Opt::long("dereference", "affect the referent of each symbolic link (this is the default)"),
    Opt::flag('h', "no-dereference", "affect symbolic links instead of any referenced file"),
    Opt::long("from", "change only if current owner and/or group match").takes("CURRENT_OWNER:CURRENT_GROUP"),
    Opt::long("no-preserve-root", "do not treat '/' specially (the default)"),
    Opt::long("preserve-root", "fail to operate recursively on '/'"),
    Opt::long("reference", "use RFILE's owner and group").takes("RFILE"),
    Opt::flag('R', "recursive", "operate on files and directories recursively"),
    Opt::letter('H', "H", "if a command line argument is a symbolic link to a directory, traverse it"),
    Opt::letter('L', "L", "traverse every symbolic link to a directory encountered"),
    Opt::letter('P', "P", "do not traverse any symbolic links (default)"),
];

/// `chown`.
pub(crate) const CHOWN: Program = Program {
    name: "chown",
    operands: &["[OPTION]... [OWNER][:[GROUP]] FILE...", "[OPTION]... --reference=RFILE FILE..."],
    about: "Change the owner and/or group of each FILE to OWNER and/or GROUP.",
    syntax: Syntax::Mixed,
    options: OPTIONS,
    failure: 1,
    run: |call| run(call, false).unwrap_or_else(|code| code),
};

/// `chgrp`.
pub(crate) const CHGRP: Program = Program {
    name: "chgrp",
    operands: &["[OPTION]... GROUP FILE...", "[OPTION]... --reference=RFILE FILE..."],
    about: "Change the group of each FILE to GROUP.",
    syntax: Syntax::Mixed,
    options: OPTIONS,
    failure: 1,
    run: |call| run(call, true).unwrap_or_else(|code| code),
};

/// An owner and a group, both optional.
type Ids = (Option<u32>, Option<u32>);

struct Work<'a> {
    call: &'a Call,
    ids: Ids,
    from: Ids,
    out: Out,
    code: u8,
}

fn run(call: &Call, group_only: bool) -> Result<u8, u8> {
    let mut operands = call.operands.as_slice();
    let fail = |message: String| {
        call.complain(&message);
        1
    };
    let ids = match call.value("reference") {
        Some(path) => {
            let found = files::stat(path, true)
                .map_err(|errno| fail(format!("failed to get attributes of {}: {}", shell(path), text(errno))))?;
            ((!group_only).then_some(found.uid), Some(found.gid))
        }
        None => {
            let [spec, rest @ ..] = operands else { return Err(call.misused("missing operand")) };
            if rest.is_empty() {
                return Err(call.misused(&format!("missing operand after {}", plain(spec))));
            }
            operands = rest;
            if group_only { (None, group(spec).map_err(fail)?) } else { owner_and_group(spec).map_err(fail)? }
        }
    };
    if operands.is_empty() {
        return Err(call.misused("missing operand"));
    }
    let from = call.value("from").map(owner_and_group).transpose().map_err(fail)?.unwrap_or_default();
    let mut work = Work { call, ids, from, out: Out::new(), code: 0 };
    for path in operands {
        work.change(path, call.has("L") || call.has("H"));
    }
    let code = work.code;
    Ok(call.finish(work.out, code))
}

fn owner_and_group(spec: &str) -> Result<Ids, String> {
    let (owner, group_name) = match spec.split_once(':') {
        Some((owner, group)) => (owner, Some(group)),
        None => (spec, None),
    };
    let user = match owner {
        "" => None,
        name => {
            let known = accounts::users().into_iter().find(|user| user.name == name);
            Some(match known {
                Some(user) => (user.uid, Some(user.gid)),
                None => (name.parse().map_err(|_| format!("invalid user: {}", plain(spec)))?, None),
            })
        }
    };
    let gid = match group_name {
        None => None,
        // `user:` is that user's own group.
        Some("") if user.is_some() => user.and_then(|(_, gid)| gid),
        Some(name) => group(name).map_err(|_| format!("invalid group: {}", plain(spec)))?,
    };
    Ok((user.map(|(uid, _)| uid), gid))
}

fn group(name: &str) -> Result<Option<u32>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    let known = accounts::groups().into_iter().find(|group| group.name == name).map(|group| group.gid);
    known.or_else(|| name.parse().ok()).map(Some).ok_or_else(|| format!("invalid group: {}", plain(name)))
}

impl Work<'_> {
    fn change(&mut self, path: &str, follow_directory: bool) {
        let follow = !self.call.has("no-dereference") && (!self.call.has("recursive") || follow_directory);
        let found = match files::stat(path, follow) {
            Ok(found) => found,
            Err(errno) => return self.fail(&format!("cannot access {}: {}", shell(path), text(errno))),
        };
        let matches = self.from.0.is_none_or(|uid| uid == found.uid) && self.from.1.is_none_or(|gid| gid == found.gid);
        if matches {
            match files::chown(path, self.ids.0, self.ids.1, follow) {
                Ok(()) => self.report(path, &found),
                // A file that has this owner already needs no right to change it.
                Err(_) if self.is_already(&found) => self.report(path, &found),
                Err(errno) => self.refused(path, errno),
            }
        }
        if self.call.has("recursive") && found.kind == Kind::Directory {
            match fs::entries(path) {
                Ok(entries) => {
                    let follow_below = self.call.has("L");
                    for entry in entries {
                        self.change(&join(path, &entry.name), follow_below);
                    }
                }
                Err(errno) => self.fail(&format!("cannot read directory {}: {}", shell(path), text(errno))),
            }
        }
    }

    fn is_already(&self, found: &Attributes) -> bool {
        self.ids.0.is_none_or(|uid| uid == found.uid) && self.ids.1.is_none_or(|gid| gid == found.gid)
    }

    fn refused(&mut self, path: &str, errno: Errno) {
        let what = if self.ids.0.is_some() { "ownership" } else { "group" };
        self.fail(&format!("changing {what} of {}: {}", shell(path), text(errno)));
    }

    fn report(&mut self, path: &str, found: &Attributes) {
        let changed = !self.is_already(found);
        if !(self.call.has("verbose") || self.call.has("changes") && changed) {
            return;
        }
        let user = |uid: u32| accounts::user_name(uid).unwrap_or_else(|| uid.to_string());
        let group = |gid: u32| accounts::group_name(gid).unwrap_or_else(|| gid.to_string());
        let (what, old, new) = match self.ids {
            (Some(uid), Some(gid)) => (
                "ownership",
                format!("{}:{}", user(found.uid), group(found.gid)),
                format!("{}:{}", user(uid), group(gid)),
            ),
            (Some(uid), None) => ("ownership", user(found.uid), user(uid)),
            (None, Some(gid)) => ("group", group(found.gid), group(gid)),
            (None, None) => ("ownership", String::new(), String::new()),
        };
        let text = match changed {
            true => format!("changed {what} of {} from {old} to {new}\n", shell(path)),
            false if new.is_empty() => format!("ownership of {} retained\n", shell(path)),
            false => format!("{what} of {} retained as {new}\n", shell(path)),
        };
        self.out.push(text.as_bytes());
    }

    fn fail(&mut self, message: &str) {
        if !(self.call.has("silent") || self.call.has("quiet")) {
            self.call.complain(message);
        }
        self.code = 1;
    }
}
