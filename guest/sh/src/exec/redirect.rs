//! Redirections: changes of the map of open files, undone after the command.

use std::rc::Rc;

use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd};

use crate::state::files::{File, HIGHEST};
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop, TargetName};
use crate::syntax::tree::{Descriptor, Redirect, RedirectAction};
use crate::text;

/// The capacity of a pipe without a reader: a here-document that fits needs no process.
const PIPE_CAPACITY: usize = 64 * 1024;

/// The changes that redirections made.
#[derive(Default)]
pub struct Undo {
    /// The numbers and their previous files, in the order in which they were changed.
    saved: Vec<(u32, Option<Rc<File>>)>,
}

impl Undo {
    /// Makes the redirections permanent: `exec`.
    pub(super) fn keep(&mut self) {
        self.saved.clear();
    }
}

/// The reason why a redirection failed.
enum RedirectFailure {
    /// A message to print; the command fails.
    Message(String),
    /// The shell stops.
    Stop(Stop),
}

impl From<Stop> for RedirectFailure {
    fn from(stop: Stop) -> RedirectFailure {
        RedirectFailure::Stop(stop)
    }
}

impl Shell {
    /// Performs redirections. Returns `None` if one failed, which has been reported and undone.
    pub(super) fn redirect(&mut self, redirects: &[Redirect]) -> Result<Option<Undo>, Stop> {
        let mut undo = Undo::default();
        for redirect in redirects {
            match self.redirect_one(redirect, &mut undo) {
                Ok(()) => {}
                Err(failure) => {
                    let result = match failure {
                        // The message goes to standard error as redirected so far.
                        RedirectFailure::Message(message) => {
                            self.complain(&message);
                            Ok(None)
                        }
                        RedirectFailure::Stop(Stop::Discard) => Ok(None),
                        RedirectFailure::Stop(stop) => Err(stop),
                    };
                    self.restore_files(undo);
                    return result;
                }
            }
        }
        Ok(Some(undo))
    }

    /// Undoes redirections.
    pub(super) fn restore_files(&mut self, undo: Undo) {
        for (number, file) in undo.saved.into_iter().rev() {
            self.files.set(number, file);
        }
    }

    fn redirect_one(&mut self, redirect: &Redirect, undo: &mut Undo) -> Result<(), RedirectFailure> {
        if let Some(document) = &redirect.document {
            let text = self.expand_document(&document.borrow())?;
            let file = self.document(&text)?;
            return self.install(redirect, 0, file, undo);
        }
        if redirect.action == RedirectAction::String {
            let text = self.expand_string(&redirect.target)? + "\n";
            let file = self.document(&text)?;
            return self.install(redirect, 0, file, undo);
        }
        let target = self.redirect_target(redirect)?;
        match redirect.action {
            RedirectAction::DuplicateRead => return self.duplicate(redirect, &target, 0, undo),
            RedirectAction::DuplicateWrite => {
                let numeric = target.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit());
                let plain = matches!(redirect.descriptor, None | Some(Descriptor::Number(1)));
                if numeric || !plain {
                    return self.duplicate(redirect, &target, 1, undo);
                }
                return self.both(&target, false, undo);
            }
            RedirectAction::Both => return self.both(&target, false, undo),
            RedirectAction::AppendBoth => return self.both(&target, true, undo),
            _ => {}
        }
        let default = u32::from(!matches!(redirect.action, RedirectAction::Read | RedirectAction::ReadWrite));
        let file = self.open_target(&target, redirect.action)?;
        self.install(redirect, default, file, undo)
    }

    fn redirect_target(&mut self, redirect: &Redirect) -> Result<String, RedirectFailure> {
        // POSIX neither splits the word nor matches file names here.
        if self.options.has(SetOption::POSIX) && !self.interactive {
            return Ok(self.expand_string(&redirect.target)?);
        }
        let mut words = Vec::new();
        self.expand_word(&redirect.target, &mut words)?;
        match words.pop() {
            Some(only) if words.is_empty() => Ok(only),
            _ => Err(RedirectFailure::Message(format!(
                "{}: ambiguous redirect",
                crate::syntax::word_text(&redirect.target)
            ))),
        }
    }

    /// `&>`
    fn both(&mut self, target: &str, append: bool, undo: &mut Undo) -> Result<(), RedirectFailure> {
        let action = if append { RedirectAction::Append } else { RedirectAction::Write };
        let file = self.open_target(target, action)?;
        self.change(1, Some(file.clone()), undo)?;
        self.change(2, Some(file), undo)
    }

    /// `n>&m`, `n>&m-`, `n>&-`
    fn duplicate(
        &mut self,
        redirect: &Redirect,
        target: &str,
        default: u32,
        undo: &mut Undo,
    ) -> Result<(), RedirectFailure> {
        if target == "-" {
            let number = match &redirect.descriptor {
                Some(Descriptor::Variable(name)) => {
                    let text = self.value_of(name)?.unwrap_or_default();
                    let Ok(number) = text.parse::<u32>() else {
                        return Err(RedirectFailure::Message(format!("{name}: ambiguous redirect")));
                    };
                    // A descriptor of `{name}>` is closed permanently.
                    self.files.set(number, None);
                    return Ok(());
                }
                Some(Descriptor::Number(number)) => *number,
                None => default,
            };
            return self.change(number, None, undo);
        }
        let (digits, moves) = match target.strip_suffix('-') {
            Some(digits) => (digits, true),
            None => (target, false),
        };
        let Ok(from) = digits.parse::<u32>() else {
            return Err(RedirectFailure::Message(format!("{target}: ambiguous redirect")));
        };
        if from > 2 {
            self.files.look_for_inherited();
        }
        let Some(file) = self.files.get(from).cloned() else {
            // The message shows the word as it was written, not expanded.
            let written = crate::syntax::word_text(&redirect.target);
            return Err(RedirectFailure::Message(format!("{written}: Bad file descriptor")));
        };
        self.install(redirect, default, file, undo)?;
        if moves && redirect.descriptor != Some(Descriptor::Number(from)) {
            self.change(from, None, undo)?;
        }
        Ok(())
    }

    /// The value of `name` or `name[subscript]`.
    fn value_of(&mut self, name: &str) -> Result<Option<String>, Stop> {
        match TargetName::parse(name) {
            Some(TargetName { name, subscript: Some(subscript) }) => {
                let key = self.key_of(name, subscript)?;
                self.element(name, key)
            }
            _ => Ok(self.text_of(name)),
        }
    }

    /// Assigns an opened file to the number that the redirection names.
    fn install(
        &mut self,
        redirect: &Redirect,
        default: u32,
        file: Rc<File>,
        undo: &mut Undo,
    ) -> Result<(), RedirectFailure> {
        match &redirect.descriptor {
            None => self.change(default, Some(file), undo),
            Some(Descriptor::Number(number)) => self.change(*number, Some(file), undo),
            Some(Descriptor::Variable(name)) => {
                let number = self.files.free_from(10);
                let Some(target) = TargetName::parse(name) else { return Err(self.refuse_name("", name).into()) };
                self.assign_target("", target, number.to_string())?;
                match self.options.shopt(Shopt::VARREDIR_CLOSE) {
                    true => self.change(number, Some(file), undo),
                    // Unlike all others, the descriptor outlives the command.
                    false => {
                        self.files.set(number, Some(file));
                        Ok(())
                    }
                }
            }
        }
    }

    fn change(&mut self, number: u32, file: Option<Rc<File>>, undo: &mut Undo) -> Result<(), RedirectFailure> {
        if number > HIGHEST {
            return Err(RedirectFailure::Message(format!("{number}: Bad file descriptor")));
        }
        if number > 2 {
            self.files.look_for_inherited();
        }
        let old = self.files.set(number, file);
        undo.saved.push((number, old));
        Ok(())
    }

    fn open_target(&mut self, target: &str, action: RedirectAction) -> Result<Rc<File>, RedirectFailure> {
        self.open_for(target, action).map_err(|errno| {
            RedirectFailure::Message(match errno {
                Errno::Exist if self.options.has(SetOption::NOCLOBBER) => {
                    format!("{target}: cannot overwrite existing file")
                }
                errno => format!("{target}: {}", isopod_sys::text(errno)),
            })
        })
    }

    fn open_for(&mut self, target: &str, action: RedirectAction) -> Result<Rc<File>, Errno> {
        let how = match action {
            RedirectAction::Read => OpenFlags::READ,
            RedirectAction::ReadWrite => OpenFlags::READ | OpenFlags::WRITE | OpenFlags::CREATE,
            RedirectAction::Append => OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::APPEND,
            RedirectAction::Write if self.options.has(SetOption::NOCLOBBER) => {
                let exclusive = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
                return match self.open_file(target, exclusive) {
                    // Only regular files are protected: /dev/null stays writable.
                    Err(Errno::Exist) if files::stat(target, true).is_ok_and(|a| a.kind != files::Kind::File) => {
                        self.open_file(target, OpenFlags::WRITE)
                    }
                    other => other,
                };
            }
            _ => OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE,
        };
        self.open_file(target, how)
    }

    /// Opens a file. Paths that name descriptors refer to the script's numbers.
    pub fn open_file(&mut self, path: &str, how: OpenFlags) -> Result<Rc<File>, Errno> {
        self.files.look_for_inherited();
        let number = match path {
            "/dev/stdin" => Some(0),
            "/dev/stdout" => Some(1),
            "/dev/stderr" => Some(2),
            _ => path.strip_prefix("/dev/fd/").and_then(|n| n.parse::<u32>().ok()),
        };
        if let Some(number) = number {
            return self.files.get(number).cloned().ok_or(Errno::NoEntry);
        }
        if path.is_empty() {
            return Err(Errno::NoEntry);
        }
        let path = text::outward(path).ok_or(Errno::IllegalSequence)?;
        File::open(&path, how, 0o666)
    }

    /// Returns a pipe with this content. The shell is not reading while it writes, so a process writes the content if
    /// it exceeds the pipe's capacity. A temporary file, as in bash, would need a writable directory and leave traces.
    fn document(&mut self, content: &str) -> Result<Rc<File>, RedirectFailure> {
        let bytes = text::to_bytes(content);
        self.files.look_for_inherited();
        let made = Fd::pipe().and_then(|(reader, writer)| {
            match bytes.len() <= PIPE_CAPACITY {
                true => isopod_sys::write_all(writer.raw(), &bytes)?,
                false => self.write_in_background(content, &writer)?,
            }
            Ok(File::kernel(reader))
        });
        made.map_err(|errno| {
            RedirectFailure::Message(format!("cannot create pipe for here-document: {}", isopod_sys::text(errno)))
        })
    }
}
