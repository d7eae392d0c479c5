//! `-exec` and `-execdir`: commands on files, one each or many at once.

use isopod_gnu::child;
use isopod_sys::process::{self, Status};
use isopod_sys::text;

use super::action::Outcome;
use super::visit::Visit;
use crate::messages::quoted;

/// The longest command line in bytes: GNU's own limit, well under the kernel's.
const LONGEST: usize = 128 * 1024;

/// A command to run.
pub(super) struct Exec {
    argv: Vec<String>,
    /// True for `-execdir`: the command runs in the directory of the file.
    in_directory: bool,
    batch: Option<Batch>,
    env: Vec<(String, String)>,
}

/// Files that are collected for one command.
#[derive(Default)]
struct Batch {
    files: Vec<String>,
    length: usize,
    directory: Option<String>,
    has_failed: bool,
}

impl Exec {
    /// Reads the command behind `name`, up to `;` or `{} +`.
    pub(super) fn parse(name: &str, args: &[String], at: &mut usize) -> Result<Exec, String> {
        let rest = &args[*at..];
        let is_end = |index: usize| rest[index] == ";" || rest[index] == "+" && index > 0 && rest[index - 1] == "{}";
        let end = (0..rest.len()).find(|index| is_end(*index)).ok_or_else(|| missing(name, rest))?;
        *at += end + 1;
        let mut argv = rest[..end].to_vec();
        let batched = rest[end] == "+";
        if argv.is_empty() || batched && argv.len() == 1 {
            return Err(format!("invalid argument `{}' to `{name}'", rest[end]));
        }
        if batched {
            argv.pop();
            if let Some(other) = argv.iter().find(|arg| arg.contains("{}")) {
                return Err(if other == "{}" {
                    format!("Only one instance of {{}} is supported with {name} ... +")
                } else {
                    alone(name, other)
                });
            }
        }
        let in_directory = name == "-execdir";
        if in_directory {
            check_path()?;
        }
        let env =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Ok(Exec { argv, in_directory, batch: batched.then(Batch::default), env: env.collect() })
    }

    /// Returns true if adding this file starts a command. The output so far has to be written first.
    pub(super) fn starts_now(&self, visit: &Visit) -> bool {
        self.batch.as_ref().is_none_or(|batch| !batch.files.is_empty() && self.is_due(batch, visit))
    }

    /// Runs the command on a file, or adds the file to the batch.
    pub(super) fn add(&mut self, visit: &Visit) -> Outcome {
        let (directory, file) =
            if self.in_directory { visit.directory_and_name() } else { ("", visit.path.to_owned()) };
        let directory = self.in_directory.then(|| directory.to_owned());
        if self.batch.is_none() {
            let argv = self.argv.iter().map(|arg| arg.replace("{}", &file)).collect::<Vec<_>>();
            return match self.run(&argv, directory.as_deref()) {
                Ok(succeeded) => Outcome::Truth(succeeded),
                Err(message) => {
                    isopod_gnu::output::complain("find", &message);
                    Outcome::Truth(false)
                }
            };
        }
        let mut said = None;
        if self.batch.as_ref().is_some_and(|batch| !batch.files.is_empty() && self.is_due(batch, visit)) {
            said = self.finish();
        }
        if let Some(batch) = &mut self.batch {
            batch.length += file.len() + 1;
            batch.files.push(file);
            batch.directory = directory;
        }
        match said {
            Some(message) => Outcome::Failed(message),
            None => Outcome::Truth(true),
        }
    }

    /// Returns true if the batch has to run before this file is added.
    fn is_due(&self, batch: &Batch, visit: &Visit) -> bool {
        let fixed: usize = self.argv.iter().map(|arg| arg.len() + 1).sum();
        fixed + batch.length + visit.path.len() + 1 > LONGEST
            || self.in_directory && batch.directory.as_deref() != Some(visit.directory_and_name().0)
    }

    /// Runs the command on the rest of the batch. Returns the message of a command that could not be started.
    pub(super) fn finish(&mut self) -> Option<String> {
        let batch = self.batch.as_mut()?;
        if batch.files.is_empty() {
            return None;
        }
        let (files, directory) = (std::mem::take(&mut batch.files), batch.directory.take());
        batch.length = 0;
        let argv: Vec<String> = self.argv.iter().cloned().chain(files).collect();
        let result = self.run(&argv, directory.as_deref());
        let batch = self.batch.as_mut()?;
        batch.has_failed |= result != Ok(true);
        result.err()
    }

    /// Returns true if a command on several files has failed, which is an error of `find`.
    pub(super) fn has_failed(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.has_failed)
    }

    fn run(&self, argv: &[String], directory: Option<&str>) -> Result<bool, String> {
        // A child starts in the working directory of this process, so this process changes it for a moment.
        let home = directory.filter(|directory| *directory != ".").map(|directory| (directory, process::cwd()));
        if let Some((directory, _)) = &home {
            process::chdir(directory).map_err(|errno| format!("{}: {}", quoted(directory), text(errno)))?;
        }
        let started = child::spawn(argv, &self.env);
        if let Some((_, home)) = &home {
            process::chdir(home).map_err(|errno| format!("{}: {}", quoted(home), text(errno)))?;
        }
        let pid = started.map_err(|errno| format!("{}: {}", quoted(&argv[0]), text(errno)))?;
        match child::wait(pid, None) {
            Ok(Some(Status::Exited(code))) => Ok(code == 0),
            Ok(Some(Status::Signalled(signal))) => Err(format!("{} terminated by signal {signal}", argv[0])),
            Ok(None) => Ok(false),
            Err(errno) => Err(format!("error waiting for {}: {}", argv[0], text(errno))),
        }
    }
}

fn missing(name: &str, rest: &[String]) -> String {
    // `x{} +` looks like the end of a command but is not.
    let glued = rest.windows(2).find(|pair| pair[1] == "+" && pair[0].contains("{}"));
    match glued {
        Some(pair) => alone(name, &pair[0]),
        None => format!("missing argument to `{name}'"),
    }
}

fn alone(name: &str, other: &str) -> String {
    format!(
        "In {} the {} must appear by itself, but you specified {}",
        quoted(&format!("{name} ... {{}} +")),
        quoted("{}"),
        quoted(other)
    )
}

/// Refuses a relative directory in PATH, which would be looked up in every directory that `-execdir` visits.
fn check_path() -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default();
    if path.split(':').any(|part| part.is_empty() || part == ".") {
        return Err("The current directory is included in the PATH environment variable, which is insecure in \
                    combination with the -execdir action of find.  Please remove the current directory from your \
                    $PATH (that is, remove \".\", doubled colons, or leading or trailing colons)"
            .into());
    }
    match path.split(':').find(|part| !part.starts_with('/')) {
        Some(part) => Err(format!(
            "The relative path {} is included in the PATH environment variable, which is insecure in combination \
             with the -execdir action of find.  Please remove that entry from $PATH",
            quoted(part)
        )),
        None => Ok(()),
    }
}
