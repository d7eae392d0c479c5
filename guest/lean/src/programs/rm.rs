//! `rm`: removes files and directories.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, text};

use crate::copying::is_same;
use crate::removal::{Question, RemovalStep, remove_tree};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::path::last_part;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::prompt::ask;
use isopod_gnu::quote::{plain, shell};

/// `rm`.
pub(crate) const PROGRAM: Program = Program {
    name: "rm",
    operands: &["[OPTION]... [FILE]..."],
    about: "Remove (unlink) the FILE(s).",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('f', "force", "ignore nonexistent files and arguments, never prompt"),
        Opt::letter('i', "i", "prompt before every removal"),
        Opt::letter('I', "I", "prompt once before removing more than three files, or when removing recursively"),
        Opt::long("interactive", "prompt according to WHEN: never, once (-I), or always (-i)").may_take("WHEN"),
        Opt::long("one-file-system", "when removing recursively, skip directories of other file systems"),
        Opt::long("no-preserve-root", "do not treat '/' specially"),
        Opt::long("preserve-root", "do not remove '/' (default)"),
        Opt::flag('r', "recursive", "remove directories and their contents recursively"),
        Opt::letter('R', "recursive", "same as -r"),
        Opt::flag('d', "dir", "remove empty directories"),
        Opt::flag('v', "verbose", "explain what is being done"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The cases in which the user must confirm.
#[derive(Clone, Copy, PartialEq)]
enum PromptPolicy {
    Never,
    Once,
    Always,
}

fn run(call: &Call) -> Result<u8, u8> {
    let (prompt_policy, force) = prompt_policy(call)?;
    if call.operands.is_empty() {
        return if force { Ok(0) } else { Err(call.misused("missing operand")) };
    }
    let recursive = call.has("recursive");
    let count = call.operands.len();
    if prompt_policy == PromptPolicy::Once && (recursive || count > 3) {
        let (plural, how) = (if count == 1 { "" } else { "s" }, if recursive { " recursively" } else { "" });
        if !ask(&format!("{}: remove {count} argument{plural}{how}? ", call.name)) {
            return Ok(0);
        }
    }
    let mut run = Run { call, prompt_policy, force, verbose: call.has("verbose"), out: Out::new(), code: 0 };
    for path in &call.operands {
        run.remove(path, recursive);
    }
    let code = run.code;
    Ok(call.finish(run.out, code))
}

/// Reads `-f`, `-i`, `-I` and `--interactive`, of which the last counts; with `-f` missing files are no error.
fn prompt_policy(call: &Call) -> Result<(PromptPolicy, bool), u8> {
    let (mut prompt_policy, mut force) = (PromptPolicy::Never, false);
    for GivenOption { option, value } in &call.options {
        (prompt_policy, force) = match (*option, value.as_deref()) {
            ("force", _) => (PromptPolicy::Never, true),
            ("i", _) | ("interactive", None | Some("always" | "yes")) => (PromptPolicy::Always, false),
            ("I", _) | ("interactive", Some("once")) => (PromptPolicy::Once, false),
            ("interactive", Some("never" | "no" | "none")) => (PromptPolicy::Never, force),
            ("interactive", Some(wrong)) => {
                return Err(call.misused(&format!("invalid argument {} for '--interactive'", plain(wrong))));
            }
            _ => continue,
        };
    }
    Ok((prompt_policy, force))
}

struct Run<'a> {
    call: &'a Call,
    prompt_policy: PromptPolicy,
    force: bool,
    verbose: bool,
    out: Out,
    code: u8,
}

impl Run<'_> {
    fn remove(&mut self, path: &str, recursive: bool) {
        let found = match files::stat(path, false) {
            Ok(found) => found,
            Err(Errno::NoEntry | Errno::NotDirectory) if self.force => return,
            Err(errno) => return self.fail(&format!("cannot remove {}: {}", shell(path), text(errno))),
        };
        if found.kind != Kind::Directory || recursive {
            if recursive && found.kind == Kind::Directory && self.is_protected(path) {
                return;
            }
            let device = self.call.has("one-file-system").then_some(found.device);
            remove_tree(path, device, &mut |step| self.observe(step));
        } else if self.call.has("dir") {
            if self.observe(RemovalStep::Asked(Question::Remove(Kind::Directory), path)) {
                match fs::remove_dir(path) {
                    Ok(()) => self.observe(RemovalStep::Removed(Kind::Directory, path)),
                    Err(errno) => self.observe(RemovalStep::Failed(path, errno)),
                };
            }
        } else {
            self.fail(&format!("cannot remove {}: Is a directory", shell(path)));
        }
    }

    fn is_protected(&mut self, path: &str) -> bool {
        if matches!(last_part(path), "." | "..") {
            self.fail(&format!("refusing to remove '.' or '..' directory: skipping {}", shell(path)));
            return true;
        }
        let root = files::stat("/", true).ok().zip(files::stat(path, false).ok());
        let is_root = root.is_some_and(|(root, path)| is_same(&root, &path));
        if is_root && !self.call.has("no-preserve-root") {
            let same = if path == "/" { "'/'".to_owned() } else { format!("{} (same as '/')", shell(path)) };
            self.fail(&format!("it is dangerous to operate recursively on {same}"));
            self.call.complain("use --no-preserve-root to override this failsafe");
        }
        is_root && !self.call.has("no-preserve-root")
    }

    /// Answers the questions of a removal and reports its steps.
    fn observe(&mut self, step: RemovalStep) -> bool {
        match step {
            RemovalStep::Asked(..) if self.prompt_policy != PromptPolicy::Always => true,
            RemovalStep::Asked(question, path) => {
                self.out.flush();
                let what = match question {
                    Question::Enter => "descend into directory",
                    Question::Remove(Kind::Directory) => "remove directory",
                    Question::Remove(Kind::Symlink) => "remove symbolic link",
                    Question::Remove(Kind::Device) => "remove character special file",
                    Question::Remove(Kind::Pipe) => "remove fifo",
                    Question::Remove(Kind::File) if files::stat(path, false).is_ok_and(|f| f.size == 0) => {
                        "remove regular empty file"
                    }
                    Question::Remove(Kind::File) => "remove regular file",
                };
                ask(&format!("{}: {what} {}? ", self.call.name, shell(path)))
            }
            RemovalStep::Removed(kind, path) => {
                if self.verbose {
                    let what = if kind == Kind::Directory { "removed directory" } else { "removed" };
                    self.out.push(format!("{what} {}\n", shell(path)).as_bytes());
                }
                true
            }
            RemovalStep::Failed(path, Errno::CrossDevice) => {
                self.fail(&format!("skipping {}, since it's on a different device", shell(path)));
                false
            }
            // Another process removed it first.
            RemovalStep::Failed(_, Errno::NoEntry) if self.force => false,
            RemovalStep::Failed(path, errno) => {
                self.fail(&format!("cannot remove {}: {}", shell(path), text(errno)));
                false
            }
        }
    }

    fn fail(&mut self, message: &str) {
        self.call.complain(message);
        self.code = 1;
    }
}
