//! Pipelines. The stages run at the same time, each in a process, except those that this shell can run itself.

use std::rc::Rc;

use isopod_sys::{Errno, Fd, process};

use super::capture::Plumbing;
use super::subshell::Work;
use crate::state::files::File;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Chain, Command, Kind, Name, Operation, Parameter, Part, Pipeline, Simple, Word};

/// The broken-pipe signal.
const SIGPIPE: u8 = 13;
/// The signals of the keyboard: INT and QUIT.
const KEYBOARD: [u8; 2] = [2, 3];

impl Shell {
    /// Runs a pipeline of two stages or more.
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline) -> Result<(), Stop> {
        let plumbing = match self.plumbing() {
            Ok(plumbing) => plumbing,
            Err(errno) => {
                self.status = self.report_spawn("pipe", errno)?;
                return Ok(());
            }
        };
        let input = self.files.get(0).cloned();
        let stages = self.start_stages(pipeline, &plumbing, true)?;
        let mut statuses = Vec::with_capacity(stages.len());
        // Stages in this shell run after all others have started, and before they are waited for.
        let mut here = Vec::new();
        for stage in &stages {
            here.push(match stage {
                Stage::Output(simple, writer) => Some(self.write_stage(simple, writer.clone())?),
                Stage::Last(command, reader) => Some(self.last_stage(command, reader.clone())?),
                Stage::Process(_) | Stage::Failed(_) => None,
            });
        }
        let results: Vec<_> = stages.iter().map(Stage::result).collect();
        drop(stages);
        drop(input);
        plumbing.drain();
        for (result, here) in results.into_iter().zip(here) {
            statuses.push(match (here, result) {
                (Some(status), _) => status,
                (None, StageResult::Process(pid)) => self.wait_for(pid, None)?,
                (None, StageResult::Status(status)) => status,
            });
        }
        self.status = statuses.last().copied().unwrap_or(0);
        if self.options.has(SetOption::PIPEFAIL)
            && let Some(failed) = statuses.iter().rev().find(|s| **s != 0)
        {
            self.status = *failed;
        }
        self.statuses = statuses;
        Ok(())
    }

    /// Starts the stages, connected by pipes, and returns them all. With `wait` the caller waits for the pipeline, so a
    /// stage that this shell can run itself is not started but left to the caller.
    fn start_stages(&mut self, pipeline: &Pipeline, plumbing: &Plumbing, wait: bool) -> Result<Vec<Stage>, Stop> {
        let count = pipeline.stages.len();
        let (input, output) = (self.files.get(0).cloned(), self.files.get(1).cloned());
        let mut stages = Vec::with_capacity(count);
        let mut reader: Option<Rc<File>> = None;
        let mut failed = None;
        for (i, command) in pipeline.stages.iter().enumerate() {
            if !self.traps.is_empty() {
                self.before_stage(command)?;
            }
            let stdin = if i == 0 { input.clone() } else { reader.take() };
            let mut stdout = output.clone();
            if i + 1 < count {
                match Fd::pipe() {
                    Ok((next, writer)) => {
                        reader = Some(File::kernel(next));
                        stdout = Some(File::kernel(writer));
                    }
                    Err(errno) => {
                        failed = Some(errno);
                        break;
                    }
                }
            }
            if wait
                && i == 0
                && let Some(simple) = self.writes_only(command)
                && let Some(writer) = stdout.clone()
            {
                stages.push(Stage::Output(simple, writer));
                continue;
            }
            if wait
                && i + 1 == count
                && self.runs_last_here()
                && let Some(stdin) = stdin.clone()
            {
                stages.push(Stage::Last(command.clone(), stdin));
                continue;
            }
            self.files.set(0, stdin);
            self.files.set(1, stdout);
            let started = self.start_stage(command, plumbing);
            self.files.set(0, input.clone());
            self.files.set(1, output.clone());
            match started {
                Ok(stage) => stages.push(stage),
                Err(Errno::Again) => {
                    failed = Some(Errno::Again);
                    break;
                }
                Err(_) => stages.push(Stage::Failed(1)),
            }
        }
        if let Some(errno) = failed {
            drop(reader);
            let pids: Vec<u32> = stages.iter().filter_map(Stage::pid).collect();
            drop(stages);
            for pid in pids {
                self.wait_for(pid, None)?;
            }
            self.status = self.report_spawn("pipe", errno)?;
            return Err(Stop::Exit);
        }
        Ok(stages)
    }

    /// Starts one stage with the files as they are now.
    fn start_stage(&mut self, command: &Command, plumbing: &Plumbing) -> Result<Stage, Errno> {
        match self.start_directly(command, plumbing) {
            Some(started) => started,
            None => self.start_shell(&Work::Command(command.clone()), plumbing).map(Stage::Process),
        }
    }

    /// Starts a stage that is a program without a shell between. Returns `None` if it is not one, or if its expansion
    /// could change this shell or read input meant for the stage.
    fn start_directly(&mut self, command: &Command, plumbing: &Plumbing) -> Option<Result<Stage, Errno>> {
        let Kind::Simple(simple) = &command.kind else { return None };
        if !simple.assignments.is_empty() || simple.words.is_empty() || !is_harmless(simple) {
            return None;
        }
        if self.options.has(SetOption::XTRACE) || self.options.has(SetOption::NOUNSET) {
            return None;
        }
        let arguments = self.expand_words(&simple.words).ok()?;
        let name = arguments.first()?;
        if self.functions.contains_key(name.as_str()) || self.find_builtin(name).is_some() {
            return None;
        }
        self.line = simple.line;
        let undo = match self.redirect(&simple.redirects) {
            Ok(Some(undo)) => undo,
            Ok(None) => return Some(Ok(Stage::Failed(1))),
            Err(_) => return None,
        };
        let started = self.start(&arguments, plumbing);
        let stage = match started {
            Ok(pid) => Ok(Stage::Process(pid)),
            Err(Errno::Again) => Err(Errno::Again),
            Err(errno) => match self.report_spawn(&arguments[0], errno) {
                Ok(status) => Ok(Stage::Failed(status)),
                Err(_) => Err(errno),
            },
        };
        self.restore_files(undo);
        Some(stage)
    }

    /// Returns the command if it is a builtin that only prints. As the first stage it then runs in this shell, which
    /// saves a process.
    fn writes_only(&self, command: &Command) -> Option<Rc<Simple>> {
        let Kind::Simple(simple) = &command.kind else { return None };
        let name = simple.words.first()?.bare()?;
        let prints = matches!(name, "echo" | "printf" | ":" | "true" | "false" | "pwd");
        let plain = simple.assignments.is_empty() && simple.redirects.is_empty() && is_harmless(simple);
        // `printf -v` sets a variable.
        let sets = name == "printf" && simple.words.get(1).is_some_and(may_be_option);
        let quiet = !self.options.has(SetOption::XTRACE) && !self.options.has(SetOption::NOUNSET);
        let trapped = self.traps.iter().next().is_some();
        // If the last stage ran in this shell too, the pipe would have no reader while this stage writes.
        let alone = !self.runs_last_here();
        (prints && plain && !sets && quiet && !trapped && alone && !self.functions.contains_key(name))
            .then(|| simple.clone())
    }

    /// Runs a stage that only prints: its output is collected and written at once. SIGPIPE is ignored for the write,
    /// since it would end this shell.
    fn write_stage(&mut self, simple: &Rc<Simple>, writer: Rc<File>) -> Result<u8, Stop> {
        let output = self.files.get(1).cloned();
        let buffer = File::capture();
        self.files.set(1, Some(buffer.clone()));
        let (status, guards) = (self.status, self.guards);
        let last = self.last_argument.clone();
        self.guards += 1;
        let result = self.simple(simple);
        self.guards = guards;
        self.last_argument = last;
        self.files.set(1, output);
        result?;
        let own = std::mem::replace(&mut self.status, status);
        let File::Capture(bytes) = &*buffer else { return Ok(own) };
        let bytes = bytes.take();
        if bytes.is_empty() {
            return Ok(own);
        }
        let before = process::on_signal(SIGPIPE, process::Disposition::Ignore);
        let written = writer.write(&bytes);
        if let Ok(before) = before {
            let _ = process::on_signal(SIGPIPE, before);
        }
        Ok(match written {
            Ok(()) => own,
            Err(Errno::Pipe) => 128 + SIGPIPE,
            Err(_) => 1,
        })
    }

    /// Returns true if the last stage runs in this shell: `shopt -s lastpipe`.
    fn runs_last_here(&self) -> bool {
        self.options.shopt(Shopt::LASTPIPE)
    }

    /// Runs the last stage in this shell, with the end of the pipe as its input.
    fn last_stage(&mut self, command: &Command, reader: Rc<File>) -> Result<u8, Stop> {
        let input = self.files.get(0).cloned();
        self.files.set(0, Some(reader));
        let result = self.run(super::Code::of_command(command));
        self.files.set(0, input);
        result?;
        Ok(self.status)
    }

    /// Starts a chain in the background.
    pub(super) fn background(&mut self, chain: &Rc<Chain>) -> Result<(), Stop> {
        let input = self.files.get(0).cloned();
        self.jobs.reap();
        // As in any shell without job control, a background job ignores the keyboard's signals.
        let before = KEYBOARD.map(|signal| (signal, process::on_signal(signal, process::Disposition::Ignore)));
        self.detaching = true;
        let result = self.start_background(chain);
        self.detaching = false;
        for (signal, before) in before {
            if let Ok(before) = before {
                // The kernel accepted this signal a moment ago.
                let _ = process::on_signal(signal, before);
            }
        }
        self.files.set(0, input);
        let pids = match result? {
            Ok(pids) => pids,
            Err(errno) => {
                self.status = self.report_spawn("&", errno)?;
                return Ok(());
            }
        };
        self.background = pids.last().copied();
        self.jobs.add(pids, crate::syntax::chain_text(chain));
        Ok(())
    }

    fn start_background(&mut self, chain: &Rc<Chain>) -> Result<Result<Vec<u32>, Errno>, Stop> {
        // There is no terminal: a background job reads from /dev/null unless it is redirected.
        match self.open_file("/dev/null", isopod_sys::files::OpenFlags::READ) {
            Ok(null) => self.files.set(0, Some(null)),
            Err(_) => self.files.set(0, None),
        };
        let plumbing = Plumbing::default();
        let pipeline = &chain.first;
        let single = chain.rest.is_empty() && !pipeline.negated && pipeline.timed.is_none();
        if single && pipeline.stages.len() > 1 {
            let stages = self.start_stages(pipeline, &plumbing, false)?;
            return Ok(Ok(stages.iter().filter_map(Stage::pid).collect()));
        }
        if single
            && let [only] = pipeline.stages.as_slice()
            && let Some(started) = self.start_directly(only, &plumbing)
        {
            match started {
                Ok(Stage::Process(pid)) => return Ok(Ok(vec![pid])),
                Err(Errno::Again) => return Ok(Err(Errno::Again)),
                // The error was reported; `$!` needs a process that failed.
                _ => return Ok(self.start_shell(&Work::Exit(127), &plumbing).map(|pid| vec![pid])),
            }
        }
        // A subshell in the background runs in that process itself, not in a child of it.
        let work = match pipeline.stages.as_slice() {
            [only] if single => Work::Command(only.clone()),
            _ => Work::Chain(chain.clone()),
        };
        Ok(self.start_shell(&work, &plumbing).map(|pid| vec![pid]))
    }
}

/// A stage: a started process, or a command for this shell to run.
enum Stage {
    Process(u32),
    /// A command that could not be started, with its exit status.
    Failed(u8),
    /// A first stage that only prints, and its output file.
    Output(Rc<Simple>, Rc<File>),
    /// A last stage that runs in this shell, and its input file.
    Last(Command, Rc<File>),
}

/// The process of a stage to wait for, or its status if there is no process.
enum StageResult {
    Process(u32),
    Status(u8),
}

impl Stage {
    fn pid(&self) -> Option<u32> {
        match self {
            Stage::Process(pid) => Some(*pid),
            _ => None,
        }
    }

    fn result(&self) -> StageResult {
        match self {
            Stage::Process(pid) => StageResult::Process(*pid),
            Stage::Failed(status) => StageResult::Status(*status),
            Stage::Output(..) | Stage::Last(..) => StageResult::Status(0),
        }
    }
}

/// Returns true if expanding a command's words and redirections only reads this shell's state.
fn is_harmless(simple: &Simple) -> bool {
    let redirects = simple.redirects.iter().all(|r| {
        let document = r.document.as_ref().is_none_or(|d| word_is_harmless(&d.borrow()));
        document
            && word_is_harmless(&r.target)
            && !matches!(r.descriptor, Some(crate::syntax::tree::Descriptor::Variable(_)))
    });
    redirects && simple.words.iter().all(word_is_harmless)
}

fn word_is_harmless(word: &Word) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Text(_) | Part::Bare(_) | Part::Glob(_) | Part::Brace(_) => true,
        Part::Parameter(parameter) => parameter_is_harmless(parameter),
        _ => false,
    })
}

fn parameter_is_harmless(parameter: &Parameter) -> bool {
    let operation = match &parameter.operation {
        Operation::Value | Operation::Length | Operation::Keys => true,
        Operation::Fallback { kind, word, .. } => {
            use crate::syntax::tree::Fallback;
            matches!(kind, Fallback::Default | Fallback::Alternative) && word_is_harmless(word)
        }
        Operation::Remove { pattern, .. } | Operation::Case { pattern, .. } => word_is_harmless(pattern),
        Operation::Replace { pattern, with, .. } => word_is_harmless(pattern) && word_is_harmless(with),
        _ => false,
    };
    // A subscript is arithmetic, which may assign; RANDOM and similar variables change when they are read.
    let name = match &parameter.name {
        Name::Variable(name) => !matches!(name.as_str(), "BASHPID" | "RANDOM" | "SRANDOM" | "BASH_SUBSHELL"),
        _ => true,
    };
    let index = match &parameter.index {
        None => true,
        Some(crate::syntax::tree::Index::Element(arith)) => {
            arith.text.parts.iter().all(|p| matches!(p, Part::Bare(t) if !t.contains(['=', '+', '-'])))
        }
        Some(_) => true,
    };
    operation && name && index && !parameter.indirect
}

/// Returns true if a word might expand to an option.
fn may_be_option(word: &Word) -> bool {
    match word.parts.first() {
        Some(Part::Text(text) | Part::Bare(text)) => text.starts_with('-'),
        _ => true,
    }
}
