//! Subshells: this program again, with a snapshot of this shell's state and a piece of work.

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

/// The work of a subshell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Work {
    /// A stage of a pipeline, or a subshell in parentheses.
    Command(Command),
    /// A background job.
    Chain(Rc<Chain>),
    /// The inside of a substitution.
    List(Rc<List>),
    /// Exits with this status.
    Exit(u8),
    /// Writes this text to standard output: a here-document.
    Write(String),
}

impl Work {
    /// Returns true for a subshell in the language, false for a command that merely needs a process.
    pub fn is_subshell(&self) -> bool {
        match self {
            Work::Command(command) => matches!(command.kind, Kind::Subshell(_)),
            Work::List(_) => true,
            Work::Chain(_) | Work::Exit(_) | Work::Write(_) => false,
        }
    }

    /// Returns its code. The parentheses of a subshell are left out, since the process is the subshell.
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
            // The snapshot has the variables.
            env: Vec::new(),
            files,
            payload: self.snapshot(work, &numbers),
            background: self.detaching,
        };
        spawn(&command)
    }

    /// Reaps the processes of substitutions and here-documents that have ended.
    fn reap_substitution_processes(&mut self) {
        let mut ended = Vec::new();
        self.substitution_processes.retain(|pid| match process::wait(Some(*pid), Some(0)) {
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

    /// Starts a process that writes a text into a pipe.
    pub(super) fn write_in_background(&mut self, content: &str, writer: &Fd) -> Result<(), Errno> {
        let command = process::Command {
            program: "/bin/sh".to_owned(),
            argv: vec![self.name.to_string()],
            env: Vec::new(),
            files: vec![(1, writer.raw())],
            payload: Shell::default().snapshot(&Work::Write(content.to_owned()), &[1]),
            background: self.detaching,
        };
        self.reap_substitution_processes();
        let pid = spawn(&command)?;
        self.substitution_processes.push(pid);
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

    /// `<( … )` and `>( … )`: starts the process and returns a path that names the other end.
    pub fn process_substitution(&mut self, list: &Rc<List>, direction: Direction) -> Result<String, Stop> {
        if self.options.has(SetOption::NOEXEC) {
            return Ok("/dev/null".to_owned());
        }
        self.files.look_for_inherited();
        self.reap_substitution_processes();
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
        // The process must not inherit the ends of other substitutions, which would stay open.
        let mut hidden = Vec::new();
        for number in self.process_files.clone() {
            hidden.push((number, self.files.set(number, None)));
        }
        let before = self.files.set(number, Some(other));
        // The process does not write to buffers of substitutions in place, whose pipes nothing would drain.
        let started = self.start_shell(&Work::List(list.clone()), &Plumbing::default());
        self.files.set(number, before);
        for (number, file) in hidden {
            self.files.set(number, file);
        }
        match started {
            Ok(pid) => {
                self.background = Some(pid);
                self.substitution_processes.push(pid);
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

    /// Waits for the processes of `>( … )` before the shell ends. Their output belongs to the shell's, and its reader
    /// would not know to wait for it.
    pub fn wait_for_readers(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        // They end when the last writer has closed the pipe.
        self.files = Files::default();
        for pid in std::mem::take(&mut self.readers) {
            // A process that was waited for already is no longer a child.
            if self.wait_for(pid, None).is_err() {
                return;
            }
        }
    }

    /// Closes the ends of process substitutions after their command.
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
        let name = self.indexed_array_name("coproc", &coproc.name)?;
        *self.variables.slot(&name) = array;
        *self.variables.slot(&format!("{}_PID", coproc.name)) = Variable::scalar(pid.to_string());
        self.background = Some(pid);
        self.jobs.add(vec![pid], format!("coproc {}", coproc.name));
        self.coprocesses.push((coproc.name.clone(), pid));
        self.status = 0;
        Ok(())
    }

    /// Removes the pipes and variables of finished coprocesses after a `wait`. Until then they stay, so that the rest
    /// of the output can be read.
    pub fn remove_finished_coprocesses(&mut self) {
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
