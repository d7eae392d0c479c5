//! The state of a shell as bytes: the start of a subshell.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::completions::Specification;
use super::files::Files;
use super::jobs::Job;
use super::options::{Options, SetOption};
use super::traps::Traps;
use super::variable::Variable;
use super::variables::ScopeKind;
use super::{Call, Definition, History, Positional, Shell};
use crate::exec::Work;
use crate::syntax::tree::Function;

/// Marks a payload as a snapshot of this version.
const MAGIC: u32 = 0x6973_6801;

/// The payload. It is borrowed for sending and owned when received; both have the same encoding.
#[derive(Serialize, Deserialize)]
struct Snapshot<V, F, S> {
    magic: u32,
    work: Work,
    files: Vec<u32>,
    variables: Vec<(S, V)>,
    functions: Vec<(F, S, bool, bool)>,
    aliases: Vec<(S, S)>,
    options: Options,
    positional: Positional,
    name: S,
    source: S,
    traps: Traps,
    status: u8,
    statuses: Vec<u8>,
    background: Option<u32>,
    last_argument: S,
    line: u32,
    origin: u8,
    pid: u32,
    level: u32,
    texts: u32,
    epoch: i64,
    guarded: bool,
    calls: Vec<(S, u32, S)>,
    directories: Vec<String>,
    getopts: (i64, usize),
    fatal_status: u8,
    disabled: Vec<String>,
    hashed: Vec<(String, String)>,
    completions: Vec<(String, Specification)>,
    history: History,
    /// Jobs of the parent, which a subshell can show but not wait for.
    jobs: Vec<(u32, Processes, S)>,
}

/// Processes of a job, with their statuses.
type Processes = Vec<(u32, Option<u8>)>;

impl Shell {
    /// Serialises the state and the work, for a subshell with these files.
    pub fn snapshot(&self, work: &Work, files: &[u32]) -> Vec<u8> {
        let errtrace = self.options.has(SetOption::ERRTRACE);
        let functrace = self.options.has(SetOption::FUNCTRACE);
        let snapshot: Snapshot<&Variable, &Function, &str> = Snapshot {
            magic: MAGIC,
            work: work.clone(),
            files: files.to_vec(),
            variables: self.variables.iter().collect(),
            functions: self
                .functions
                .values()
                .map(|d| (&*d.function, &*d.source, d.exported.get(), d.readonly.get()))
                .collect(),
            aliases: self.aliases.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
            options: self.options,
            positional: self.positional.clone(),
            name: &self.name,
            source: &self.source,
            traps: self.traps.for_subshell(errtrace, functrace),
            status: self.status,
            statuses: self.statuses.clone(),
            background: self.background,
            last_argument: &self.last_argument,
            line: self.line,
            origin: self.origin as u8,
            pid: self.shell_pid(),
            level: self.level + 1,
            texts: self.texts + u32::from(matches!(work, Work::List(_))),
            epoch: self.epoch.get(),
            guarded: self.guards > 0,
            calls: self.calls.iter().map(|c| (&*c.name, c.line, &*c.source)).collect(),
            directories: self.directories.clone(),
            getopts: self.getopts,
            disabled: self.disabled.clone(),
            hashed: self.hashed.clone(),
            completions: self.completions.clone(),
            history: self.history.clone(),
            jobs: self.jobs.list.iter().map(|j| (j.number, j.processes.clone(), j.text.as_str())).collect(),
            fatal_status: if work.is_subshell() { 1 } else { self.fatal_status },
        };
        // Serialising to memory cannot fail.
        postcard::to_allocvec(&snapshot).unwrap_or_default()
    }

    /// Restores a shell and its work from a payload. `None` if the payload is not a snapshot.
    pub fn from_snapshot(bytes: &[u8]) -> Option<(Shell, Work)> {
        let snapshot: Snapshot<Variable, Function, String> = postcard::from_bytes(bytes).ok()?;
        if snapshot.magic != MAGIC {
            return None;
        }
        let mut shell = Shell {
            files: Files::inherited(&snapshot.files),
            aliases: Rc::new(snapshot.aliases.into_iter().collect()),
            options: snapshot.options,
            positional: snapshot.positional,
            name: snapshot.name.into(),
            source: snapshot.source.into(),
            traps: snapshot.traps,
            status: snapshot.status,
            statuses: snapshot.statuses,
            background: snapshot.background,
            last_argument: snapshot.last_argument,
            line: snapshot.line,
            origin: match snapshot.origin {
                1 => super::Origin::Script,
                2 => super::Origin::Input,
                _ => super::Origin::Argument,
            },
            level: snapshot.level,
            texts: snapshot.texts,
            guards: u32::from(snapshot.guarded),
            directories: snapshot.directories,
            getopts: snapshot.getopts,
            disabled: snapshot.disabled,
            hashed: snapshot.hashed,
            completions: snapshot.completions,
            history: snapshot.history,
            fatal_status: snapshot.fatal_status,
            ..Shell::default()
        };
        shell.pid.set(snapshot.pid);
        shell.epoch.set(snapshot.epoch);
        for (number, processes, text) in snapshot.jobs {
            shell.jobs.list.push(Job { number, processes, text, reported: false });
        }
        for (name, variable) in snapshot.variables {
            shell.variables.insert(&name, variable);
        }
        let functions = Rc::make_mut(&mut shell.functions);
        for (function, source, exported, readonly) in snapshot.functions {
            let definition = Definition::new(Rc::new(function), source.into());
            definition.exported.set(exported);
            definition.readonly.set(readonly);
            functions.insert(definition.function.name.as_str().into(), definition);
        }
        for (name, line, source) in snapshot.calls {
            shell.calls.push(Call { name: name.into(), line, source: source.into() });
        }
        // In a subshell of a function `local` is allowed.
        if shell.calls.iter().any(|c| &*c.name != "source") {
            shell.variables.enter(ScopeKind::Function);
        }
        Some((shell, snapshot.work))
    }
}
