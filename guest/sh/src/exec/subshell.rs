//! Subshells: this program again, with this shell's state and something to do.

use std::rc::Rc;

use isopod_sys::{Errno, Fd, process};
use serde::{Deserialize, Serialize};

use super::Code;
use super::capture::Plumbing;
use super::spawn::spawn;
use crate::state::files::{File, Files};
use crate::state::jobs::exit_status;
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value, Variable};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Chain, Command, Coproc, Direction, Kind, List, Redirect};

/// What a subshell does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Work {
    /// A stage of a pipeline, a subshell in parentheses.
    Command(Command),
    /// A background job.
    Chain(Rc<Chain>),
    /// The inside of a substitution.
    List(Rc<List>),
    /// Nothing: it ends with this status.
    Exit(u8),
    /// It writes this to standard output: a here-document.
    Write(String),
}

impl Work {
    /// Whether it is a subshell by name, and not only a command that needs a process.
    pub fn is_subshell(&self) -> bool {
        match self {
            Work::Command(command) => matches!(command.kind, Kind::Subshell(_)),
            Work::List(_) => true,
            Work::Chain(_) | Work::Exit(_) | Work::Write(_) => false,
        }
    }

    /// Its code. The parentheses of a subshell are gone: this is it.
    pub fn code(&self) -> Rc<Code> {
        match self {
            Work::Command(Command { kind: Kind::Subshell(list), redirects, line }) => {
                let kind = Kind::Group(list.clone());
                Code::of_command(&Command { kind, redirects: redirects.clone(), line: *line })
            }
            Work::Command(command) => Code::of_command(command),
            Work::Chain(chain) => Code::of_chain(chain),
            Work::List(list) => super::compile(list),
            Work::Exit(_) | Work::Write(_) => Rc::default(),
        }
    }
}

impl Shell {
    /// Starts a subshell with the files as they are now.
    pub(super) fn start_shell(&mut self, work: &Work, plumbing: &Plumbing) -> Result<u32, Errno> {
        let files = self.child_files(plumbing);
        let numbers: Vec<u32> = files.iter().map(|(number, _)| *number).collect();
        let command = process::Command {
            program: "/bin/sh".to_owned(),
            argv: vec![self.name.to_string()],
            // The state has the variables.
            env: Vec::new(),
            files,
            payload: self.snapshot(work, &numbers),
            background: self.detaching,
        };
        spawn(&command)
    }

    /// Forgets the processes of substitutions and documents that have ended by now.
    fn reap_strays(&mut self) {
        let mut ended = Vec::new();
        self.strays.retain(|pid| match process::wait(Some(*pid), Some(0)) {
            Ok((pid, status)) => {
                ended.push((pid, exit_status(status)));
                false
            }
            Err(errno) => errno == Errno::TimedOut,
        });
        for (pid, status) in ended {
            self.jobs.remember(pid, status);
        }
    }

    /// Lets a process write a text into a pipe.
    pub(super) fn write_beside(&mut self, content: &str, writer: &Fd) -> Result<(), Errno> {
        let command = process::Command {
            program: "/bin/sh".to_owned(),
            argv: vec![self.name.to_string()],
            env: Vec::new(),
            files: vec![(1, writer.raw())],
            payload: Shell::default().snapshot(&Work::Write(content.to_owned()), &[1]),
            background: self.detaching,
        };
        self.reap_strays();
        let pid = spawn(&command)?;
        self.strays.push(pid);
        Ok(())
    }

    /// `( … )`
    pub(super) fn subshell(&mut self, list: &Rc<List>, redirects: &Rc<[Redirect]>) -> Result<(), Stop> {
        let command = Command { kind: Kind::Subshell(list.clone()), redirects: redirects.clone(), line: self.line };
        let started = match self.plumbing() {
            Ok(plumbing) => self.start_shell(&Work::Command(command), &plumbing).map(|pid| (pid, plumbing)),
            Err(errno) => Err(errno),
        };
        match started {
            Ok((pid, plumbing)) => {
                plumbing.drain();
                self.status = self.wait_for(pid, None)?;
            }
            Err(errno) => self.status = self.report_spawn("fork", errno)?,
        }
        Ok(())
    }

    /// `<( … )` and `>( … )`: a path that names the other end.
    pub fn process_substitution(&mut self, list: &Rc<List>, direction: Direction) -> Result<String, Stop> {
        if self.options.has(SetOption::NOEXEC) {
            return Ok("/dev/null".to_owned());
        }
        self.files.look_for_inherited();
        self.reap_strays();
        let (reader, writer) = match Fd::pipe() {
            Ok(pipe) => pipe,
            Err(errno) => {
                return Err(
                    self.refuse(&format!("cannot make pipe for process substitution: {}", isopod_sys::text(errno)))
                );
            }
        };
        let (reader, writer) = (File::kernel(reader), File::kernel(writer));
        let (own, other, number) = match direction {
            Direction::Read => (reader, writer, 1),
            Direction::Write => (writer, reader, 0),
        };
        // Other substitutions' ends would stay open in this one's process.
        let mut hidden = Vec::new();
        for number in self.process_files.clone() {
            hidden.push((number, self.files.set(number, None)));
        }
        let before = self.files.set(number, Some(other));
        // Buffers of substitutions in place are not for it: nobody would read the pipe.
        let started = self.start_shell(&Work::List(list.clone()), &Plumbing::default());
        self.files.set(number, before);
        for (number, file) in hidden {
            self.files.set(number, file);
        }
        match started {
            Ok(pid) => {
                self.background = Some(pid);
                self.strays.push(pid);
                if direction == Direction::Write {
                    self.readers.push(pid);
                }
            }
            Err(errno) => {
                self.status = self.report_spawn("fork", errno)?;
                return Err(Stop::Discard);
            }
        }
        let number = self.files.free_below(63);
        self.files.set(number, Some(own));
        self.process_files.push(number);
        Ok(format!("/dev/fd/{number}"))
    }

    /// Before the shell ends: what `>( … )` still has to print belongs to its output, and a reader of that output
    /// would not know to wait for more.
    pub fn let_readers_finish(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        // They end when nobody can write to them any more.
        self.files = Files::default();
        for pid in std::mem::take(&mut self.readers) {
            // One that was waited for already is none of the children.
            if self.wait_for(pid, None).is_err() {
                return;
            }
        }
    }

    /// After the command that they belong to, the ends of process substitutions are closed.
    pub(super) fn close_process_files(&mut self) {
        for number in std::mem::take(&mut self.process_files) {
            self.files.set(number, None);
        }
    }

    /// `coproc`
    pub(super) fn coprocess(&mut self, coproc: &Rc<Coproc>) -> Result<(), Stop> {
        self.files.look_for_inherited();
        let pipes = Fd::pipe().and_then(|first| Fd::pipe().map(|second| (first, second)));
        let ((from_it, its_output), (its_input, to_it)) = match pipes {
            Ok(pipes) => pipes,
            Err(errno) => return Err(self.refuse(&format!("coproc: {}", isopod_sys::text(errno)))),
        };
        let input = self.files.set(0, Some(File::kernel(its_input)));
        let output = self.files.set(1, Some(File::kernel(its_output)));
        self.detaching = true;
        let started = self.start_shell(&Work::Command(coproc.body.clone()), &Plumbing::default());
        self.detaching = false;
        self.files.set(0, input);
        self.files.set(1, output);
        let pid = match started {
            Ok(pid) => pid,
            Err(errno) => {
                self.status = self.report_spawn("fork", errno)?;
                return Ok(());
            }
        };
        let mut numbers = Vec::new();
        for end in [from_it, to_it] {
            let number = self.files.free_below(63);
            self.files.set(number, Some(File::kernel(end)));
            self.files.keep_private(number);
            numbers.push(number);
        }
        let elements = numbers.iter().enumerate().map(|(i, n)| (i as i64, n.to_string())).collect();
        let array = Variable { value: Value::Indexed(elements), attributes: Attributes::default() };
        *self.variables.slot(&coproc.name) = array;
        *self.variables.slot(&format!("{}_PID", coproc.name)) = Variable::scalar(pid.to_string());
        self.background = Some(pid);
        self.jobs.add(vec![pid], format!("coproc {}", coproc.name));
        self.coprocesses.push((coproc.name.clone(), pid));
        self.status = 0;
        Ok(())
    }

    /// After a `wait`: what is over has no pipes and no variables any more. Before that they stay, even if the
    /// coprocess ended, so that its last words can be read.
    pub fn forget_coprocesses(&mut self) {
        for (name, pid) in std::mem::take(&mut self.coprocesses) {
            if self.jobs.status_of(pid).is_none() {
                self.coprocesses.push((name, pid));
                continue;
            }
            let numbers: Vec<u32> = match self.variables.get(&name).map(|v| &v.value) {
                Some(Value::Indexed(ends)) => ends.values().filter_map(|n| n.parse().ok()).collect(),
                _ => Vec::new(),
            };
            for number in numbers {
                self.files.set(number, None);
            }
            self.variables.unset(&name);
            self.variables.unset(&format!("{name}_PID"));
        }
    }
}
