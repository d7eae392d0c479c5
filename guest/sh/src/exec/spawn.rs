//! Programs.

use isopod_sys::{Errno, files, process};

use super::capture::Plumbing;
use crate::state::{Shell, Stop};
use crate::text;

/// The search path when PATH is not set, as in bash.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Shell {
    /// Runs a program and waits for it.
    pub(super) fn program(&mut self, arguments: &[String]) -> Result<(), Stop> {
        let plumbing = self.plumbing();
        let started = match plumbing {
            Ok(plumbing) => self.start(arguments, &plumbing).map(|pid| (pid, plumbing)),
            Err(errno) => Err(errno),
        };
        match started {
            Ok((pid, plumbing)) => {
                plumbing.drain();
                self.status = self.wait_for(pid, Some(arguments))?;
            }
            Err(errno) => self.status = self.report_spawn(&arguments[0], errno)?,
        }
        Ok(())
    }

    /// Starts a program with the shell's files and environment.
    pub(super) fn start(&mut self, arguments: &[String], plumbing: &Plumbing) -> Result<u32, Errno> {
        let env = self.environment();
        self.start_in(arguments, None, env, plumbing)
    }

    /// Like `start`, with a given `argv[0]` and environment.
    fn start_in(
        &mut self,
        arguments: &[String],
        name: Option<String>,
        env: Vec<(String, String)>,
        plumbing: &Plumbing,
    ) -> Result<u32, Errno> {
        let mut argv = outward(arguments)?;
        let mut program = argv[0].clone();
        if let Some(name) = name {
            argv[0] = name;
        }
        if !self.hashed.is_empty()
            && let Some((_, path)) = self.hashed.iter().find(|(name, _)| *name == program)
        {
            program = path.clone();
        }
        // The kernel searches the PATH of the child; a PATH that is not exported is searched here.
        let searched = env.iter().any(|(name, _)| name == "PATH");
        if !program.contains('/') && !searched {
            program = self.find_program(&program).ok_or(Errno::NoEntry)?;
        }
        let background = self.detaching;
        let mut command =
            process::Command { program, argv, env, files: self.child_files(plumbing), payload: Vec::new(), background };
        match spawn(&command) {
            // The kernel knows no such format: it is a script without a `#!` line, which this shell runs.
            Err(Errno::NoExec) => {
                let path = match command.program.contains('/') {
                    true => command.program.clone(),
                    false => self.find_program(&command.program).ok_or(Errno::NoEntry)?,
                };
                if is_binary(&path) {
                    return Err(Errno::NoExec);
                }
                command.argv[0] = path;
                command.argv.insert(0, "sh".to_owned());
                command.program = "/bin/sh".to_owned();
                spawn(&command)
            }
            other => other,
        }
    }

    /// `exec`: runs a program in the shell's place. The kernel cannot replace a process, so the shell closes its files
    /// and waits.
    pub(super) fn exec_program(
        &mut self,
        arguments: Vec<String>,
        name: Option<String>,
        empty: bool,
    ) -> Result<(), Stop> {
        let plumbing = match self.plumbing() {
            Ok(plumbing) => plumbing,
            Err(errno) => {
                self.status = self.report_spawn(&arguments[0], errno)?;
                return Err(Stop::Exit);
            }
        };
        let env = if empty { Vec::new() } else { self.environment() };
        match self.start_in(&arguments, name, env, &plumbing) {
            Ok(pid) => {
                let in_place = self.captures > 0;
                if !in_place {
                    self.files = Default::default();
                    self.traps.set(crate::state::traps::EXIT, None);
                }
                plumbing.drain();
                self.status = self.wait_for(pid, None)?;
                Err(Stop::Exit)
            }
            Err(errno) => {
                let name = format!("exec: {}", arguments[0]);
                self.status = match errno {
                    Errno::NoEntry => {
                        match arguments[0].contains('/') {
                            true => self.complain(&format!("{}: No such file or directory", arguments[0])),
                            false => self.complain(&format!("{name}: not found")),
                        }
                        127
                    }
                    Errno::Access if is_directory(&arguments[0]) => {
                        self.complain(&format!("{}: Is a directory", arguments[0]));
                        self.complain(&format!("{name}: cannot execute: Is a directory"));
                        126
                    }
                    errno => {
                        self.complain(&format!("{name}: cannot execute: {}", isopod_sys::text(errno)));
                        126
                    }
                };
                match self.options.shopt(crate::state::options::Shopt::EXECFAIL) {
                    true => Ok(()),
                    false => Err(Stop::Exit),
                }
            }
        }
    }

    /// Reports why a program did not start. Returns the status.
    pub(super) fn report_spawn(&mut self, name: &str, errno: Errno) -> Result<u8, Stop> {
        match errno {
            Errno::Again => {
                self.complain(&format!("fork: {}", isopod_sys::text(errno)));
                self.status = 254;
                return Err(Stop::Exit);
            }
            // The file exists, but its interpreter does not.
            Errno::NoEntry if name.contains('/') && files::stat(name, true).is_ok() => {
                self.complain(&format!("{name}: cannot execute: required file not found"));
                return Ok(127);
            }
            Errno::NoEntry => {
                let message = format!("{name}: {}", not_found(name));
                self.complain(&message);
                return Ok(127);
            }
            Errno::Access if name.contains('/') && is_directory(name) => {
                self.complain(&format!("{name}: Is a directory"));
            }
            Errno::NoExec => {
                self.complain(&format!("{name}: cannot execute binary file: {}", isopod_sys::text(errno)));
            }
            errno => self.complain(&format!("{name}: {}", isopod_sys::text(errno))),
        }
        Ok(126)
    }

    /// The environment of a child.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let mut env: Vec<(String, String)> = self
            .variables
            .exported()
            .filter_map(|(name, value)| Some((name.to_owned(), text::outward(value)?.into_owned())))
            .collect();
        for (name, definition) in self.functions.iter().filter(|(_, d)| d.exported.get()) {
            let body = crate::syntax::function_text(&definition.function);
            let body = body.split_once('\n').map_or("", |(_, body)| body);
            env.push((format!("BASH_FUNC_{name}%%"), format!("() {body}")));
        }
        env
    }

    /// The files of a child: its numbers and the kernel's.
    pub(super) fn child_files(&self, plumbing: &Plumbing) -> Vec<(u32, u32)> {
        self.files.for_child().filter_map(|(number, file)| Some((number, plumbing.raw(file)?))).collect()
    }

    /// Looks for a program in PATH.
    pub fn find_program(&self, name: &str) -> Option<String> {
        let path = match self.variables.get("PATH") {
            // PATH was never set, which differs from being unset.
            None => DEFAULT_PATH,
            Some(variable) => variable.text()?,
        };
        find_program(name, path).into_iter().next()
    }
}

/// Starts a process.
pub(super) fn spawn(command: &process::Command) -> Result<u32, Errno> {
    process::spawn(command)
}

/// Returns all executable files of this name in a search path.
pub fn find_program(name: &str, path: &str) -> Vec<String> {
    let found = |candidate: &String| {
        files::stat(candidate, true).is_ok_and(|a| a.kind == files::Kind::File && a.mode & 0o111 != 0)
    };
    path.split(':')
        .map(|directory| match directory {
            "" => format!("./{name}"),
            _ => format!("{}/{name}", directory.trim_end_matches('/')),
        })
        .filter(found)
        .collect()
}

fn not_found(name: &str) -> &'static str {
    if name.contains('/') { "No such file or directory" } else { "command not found" }
}

fn is_directory(path: &str) -> bool {
    files::stat(path, true).is_ok_and(|a| a.kind == files::Kind::Directory)
}

/// Returns true if a file is not a script. Like bash, looks for a NUL in its first line.
fn is_binary(path: &str) -> bool {
    /// Number of bytes that bash examines.
    const BEGINNING: u32 = 80;
    let file = isopod_sys::Fd::open(path, files::OpenFlags::READ, 0);
    let bytes = file.and_then(|file| file.read(BEGINNING)).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(&0))
}

fn outward(arguments: &[String]) -> Result<Vec<String>, Errno> {
    arguments.iter().map(|a| text::outward(a).map(|a| a.into_owned()).ok_or(Errno::IllegalSequence)).collect()
}
