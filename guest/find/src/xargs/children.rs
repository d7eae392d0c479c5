//! The running commands, up to a maximum at once.

use isopod_gnu::program::Call;
use isopod_gnu::quote;
use isopod_sys::files::OpenFlags;
use isopod_sys::process::{self, Command, Status};
use isopod_sys::{Errno, Fd, text, write_all};

use super::settings::Settings;

/// The children of a run.
pub(super) struct Children<'a> {
    call: &'a Call,
    settings: &'a Settings,
    env: Vec<(String, String)>,
    /// The input of children when standard input is the list of arguments.
    no_input: Option<Fd>,
    /// The process in each slot, with its name for messages.
    slots: Vec<Option<(u32, String)>>,
    /// The exit code for the failure of a child.
    failure: Option<u8>,
}

impl<'a> Children<'a> {
    pub(super) fn new(call: &'a Call, settings: &'a Settings) -> Children<'a> {
        let env =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        // Without /dev/null a child has no input at all, which ends it just the same.
        let no_input = settings.source.is_none().then(|| Fd::open("/dev/null", OpenFlags::READ, 0).ok()).flatten();
        Children { call, settings, env: env.collect(), no_input, slots: Vec::new(), failure: None }
    }

    /// Returns the exit code for failed children.
    pub(super) fn failure(&self) -> Option<u8> {
        self.failure
    }

    /// Starts a command once a slot is free. An error is the exit code that ends the run.
    pub(super) fn start(&mut self, argv: Vec<String>) -> Result<(), u8> {
        while self.settings.max_procs != 0 && self.running() >= self.settings.max_procs {
            self.wait()?;
        }
        if self.settings.is_verbose {
            let words: Vec<String> = argv.iter().map(|arg| quote::argument(arg)).collect();
            // There is no place left to report that standard error is gone.
            let _ = write_all(2, format!("{}\n", words.join(" ")).as_bytes());
        }
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        let mut env = self.env.clone();
        if let Some(variable) = &self.settings.slot_variable {
            env.retain(|(name, _)| name != variable);
            env.push((variable.clone(), slot.to_string()));
        }
        let pid = loop {
            match self.spawn(&argv, &env) {
                // The sandbox's limit on processes is reached: there is room again when a child has ended.
                Err(Errno::Again) if self.running() > 0 => self.wait()?,
                Err(errno) => {
                    self.call.complain(&format!("{}: {}", argv[0], text(errno)));
                    return Err(if errno == Errno::NoEntry { 127 } else { 126 });
                }
                Ok(pid) => break pid,
            }
        };
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some((pid, argv[0].clone()));
        // With one process at a time each command is waited for, because its result may end the run.
        if self.settings.max_procs == 1 { self.wait() } else { Ok(()) }
    }

    /// Waits for all running commands. The first one that ends the run decides the exit code.
    pub(super) fn wait_for_all(&mut self) {
        while self.running() > 0 {
            // The exit code is kept in `failure`, and the others are still waited for.
            let _ = self.wait();
        }
    }

    fn running(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    fn spawn(&self, argv: &[String], env: &[(String, String)]) -> Result<u32, Errno> {
        let input = self.no_input.as_ref().map_or(0, Fd::raw);
        let start = |program: &str, argv: Vec<String>| {
            process::spawn(&Command {
                program: program.to_owned(),
                argv,
                env: env.to_vec(),
                files: vec![(0, input), (1, 1), (2, 2)],
                payload: Vec::new(),
                background: false,
            })
        };
        match start(&argv[0], argv.to_vec()) {
            // A script without `#!` is run by the shell, as `execvp` does it.
            Err(Errno::NoExec) => start("/bin/sh", [vec!["sh".to_owned()], argv.to_vec()].concat()),
            result => result,
        }
    }

    fn wait(&mut self) -> Result<(), u8> {
        let (pid, status) = loop {
            match process::wait(None, None) {
                Ok(ended) => break ended,
                Err(Errno::Interrupted) => {}
                Err(errno) => {
                    self.call.complain(&format!("error waiting for child process: {}", text(errno)));
                    self.slots.clear();
                    return Err(1);
                }
            }
        };
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.as_ref().is_some_and(|(theirs, _)| *theirs == pid))
        else {
            return Ok(());
        };
        let name = slot.take().map(|(_, name)| name).unwrap_or_default();
        match status {
            Status::Exited(0) => Ok(()),
            Status::Exited(255) => {
                self.call.complain(&format!("{name}: exited with status 255; aborting"));
                self.failure = Some(124);
                Err(124)
            }
            Status::Exited(_) => {
                self.failure = self.failure.or(Some(123));
                Ok(())
            }
            Status::Signalled(signal) => {
                self.call.complain(&format!("{name}: terminated by signal {signal}"));
                self.failure = Some(125);
                Err(125)
            }
        }
    }
}
