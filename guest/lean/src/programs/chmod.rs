//! `chmod`: permission bits.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, process, text};

use isopod_gnu::mode::{Mode, letters};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `chmod`.
pub(crate) const PROGRAM: Program = Program {
    name: "chmod",
    operands: &["[OPTION]... MODE[,MODE]... FILE...", "[OPTION]... --reference=RFILE FILE..."],
    about: "Change the mode of each FILE to MODE, or to that of RFILE.\n\
            MODE is octal or of the form '[ugoa]*([-+=]([rwxXst]*|[ugo]))+'.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('c', "changes", "like verbose but report only when a change is made"),
        Opt::flag('f', "silent", "suppress most error messages"),
        Opt::long("quiet", ""),
        Opt::flag('v', "verbose", "output a diagnostic for every file processed"),
        Opt::long("no-preserve-root", "do not treat '/' specially (the default)"),
        Opt::long("preserve-root", "fail to operate recursively on '/'"),
        Opt::long("reference", "use RFILE's mode instead of MODE values").takes("RFILE"),
        Opt::flag('R', "recursive", "change files and directories recursively"),
        // A mode such as -w looks like an option.
        removal('r'),
        removal('w'),
        removal('x'),
        removal('X'),
        removal('s'),
        removal('t'),
        removal('u'),
        removal('g'),
        removal('o'),
        removal('a'),
        removal(','),
        removal('+'),
        removal('='),
        removal('0'),
        removal('1'),
        removal('2'),
        removal('3'),
        removal('4'),
        removal('5'),
        removal('6'),
        removal('7'),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

const fn removal(letter: char) -> Opt {
    Opt::letter(letter, letter_key(letter), "").may_take("")
}

/// The key that tells `-w` from `-x`: the letter itself.
const fn letter_key(letter: char) -> &'static str {
    const LETTERS: &str = "rwxXstugoa,+=01234567";
    let mut index = 0;
    while index < LETTERS.len() {
        if LETTERS.as_bytes()[index] == letter as u8 {
            return LETTERS.split_at(index).1.split_at(1).0;
        }
        index += 1;
    }
    ""
}

/// The settings of a run.
struct Work<'a> {
    call: &'a Call,
    mode: Mode,
    umask: u32,
    /// The mode was given as an option: GNU's warns if the umask kept bits back.
    surprising: bool,
    recursive: bool,
    silent: bool,
    /// Changes are reported.
    changes: bool,
    retained: bool,
    out: Out,
    code: u8,
}

fn run(call: &Call) -> Result<u8, u8> {
    let removals: Vec<String> = call
        .options
        .iter()
        .filter(|found| found.option.len() == 1)
        .map(|found| format!("-{}{}", found.option, found.value.as_deref().unwrap_or_default()))
        .collect();
    let mut files = call.operands.as_slice();
    let mode = match call.value("reference") {
        Some(_) if !removals.is_empty() => {
            return Err(call.misused("cannot combine mode and --reference options"));
        }
        Some(reference) => {
            let failed = |errno| {
                call.complain(&format!("failed to get attributes of {}: {}", quote::shell(reference), text(errno)));
                1
            };
            Mode::exactly(files::stat(reference, true).map_err(failed)?.mode)
        }
        None => {
            let text = if removals.is_empty() {
                let Some((first, rest)) = files.split_first() else {
                    return Err(call.misused("missing operand"));
                };
                files = rest;
                first.clone()
            } else {
                removals.join(",")
            };
            let Some(mode) = Mode::parse(&text) else {
                return Err(call.misused(&format!("invalid mode: {}", quote::plain(&text))));
            };
            if files.is_empty() {
                return Err(call.misused(&format!("missing operand after {}", quote::plain(&text))));
            }
            mode
        }
    };
    if files.is_empty() {
        return Err(call.misused("missing operand"));
    }
    // The kernel tells the umask only when it is set.
    let umask = process::umask(0o022);
    process::umask(umask);
    let report = call.options.iter().rev().find(|found| matches!(found.option, "changes" | "verbose"));
    let mut work = Work {
        call,
        mode,
        umask,
        surprising: !removals.is_empty(),
        recursive: call.has("recursive"),
        silent: call.has("silent") || call.has("quiet"),
        changes: report.is_some(),
        retained: report.is_some_and(|found| found.option == "verbose"),
        out: Out::new(),
        code: 0,
    };
    for path in files {
        if work.recursive && call.has("preserve-root") && is_root(path) {
            work.fail("it is dangerous to operate recursively on '/'");
            continue;
        }
        work.change(path, true);
    }
    let code = work.code;
    Ok(call.finish(work.out, code))
}

impl Work<'_> {
    /// Changes a file and the tree below it. A link is followed only when the user named it.
    fn change(&mut self, path: &str, named: bool) {
        let found = match files::stat(path, named) {
            Ok(found) if found.kind == Kind::Symlink => return,
            Ok(found) => found,
            Err(errno) => {
                let dangling = errno == Errno::NoEntry && files::stat(path, false).is_ok();
                let what = if dangling { "cannot operate on dangling symlink" } else { "cannot access" };
                let reason = if dangling { String::new() } else { format!(": {}", text(errno)) };
                return self.fail(&format!("{what} {}{reason}", quote::shell(path)));
            }
        };
        let is_directory = found.kind == Kind::Directory;
        let new = self.mode.apply(found.mode, is_directory, self.umask);
        match files::chmod(path, new, true) {
            Err(errno) => {
                self.fail(&format!("changing permissions of {}: {}", quote::shell(path), text(errno)));
            }
            Ok(()) => self.report(path, found.mode, new, is_directory),
        }
        if self.recursive && is_directory {
            self.descend(path);
        }
    }

    fn descend(&mut self, directory: &str) {
        match files::read_dir(directory) {
            Err(errno) => self.fail(&format!("cannot read directory {}: {}", quote::shell(directory), text(errno))),
            Ok(names) => {
                for name in names {
                    self.change(&format!("{}/{name}", directory.trim_end_matches('/')), false);
                }
            }
        }
    }

    fn report(&mut self, path: &str, old: u32, new: u32, is_directory: bool) {
        let (path, now) = (quote::shell(path), letters(new));
        if old != new && self.changes {
            let was = letters(old);
            self.out.push(format!("mode of {path} changed from {old:04o} ({was}) to {new:04o} ({now})\n").as_bytes());
        } else if old == new && self.retained {
            self.out.push(format!("mode of {path} retained as {new:04o} ({now})\n").as_bytes());
        }
        let naive = self.mode.apply(old, is_directory, 0);
        if self.surprising && new & !naive != 0 {
            let message = format!("{path}: new permissions are {now}, not {}", letters(naive));
            self.call.complain(&message);
            self.code = 1;
        }
    }

    fn fail(&mut self, message: &str) {
        if !self.silent {
            self.call.complain(message);
        }
        self.code = 1;
    }
}

fn is_root(path: &str) -> bool {
    let (Ok(path), Ok(root)) = (files::stat(path, true), files::stat("/", true)) else {
        return false;
    };
    (path.device, path.inode) == (root.device, root.inode)
}
