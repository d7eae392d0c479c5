//! Variables that the shell computes when they are read.
//!
//! They are not in the map, so that a shell that never reads `$RANDOM` does not pay for it. A name that is not in the
//! map is looked up here. Unsetting one puts a plain variable in its place, as in bash.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use isopod_sys::process;

use super::variable::{Attributes, Value, Variable};
use super::{CurrentCommand, Origin, Shell};

/// The version in BASH_VERSION, which programs check for features.
pub const VERSION: &str = "5.2.15(1)-release";

impl Shell {
    /// Returns the computed variable of this name.
    pub(super) fn special(&self, name: &str) -> Option<Variable> {
        // All names are in upper case or `_`, so this test fails for nearly all missing names.
        if !name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') {
            return None;
        }
        let text = match name {
            "IFS" => " \t\n".to_owned(),
            "PS4" => "+ ".to_owned(),
            "OPTIND" | "OPTERR" => "1".to_owned(),
            "LINENO" => self.line.to_string(),
            "RANDOM" => return Some(integer(i64::from(self.next_random()))),
            "SRANDOM" => {
                let high = i64::from(self.next_random()) << 17;
                return Some(integer((high ^ (i64::from(self.next_random()) << 2) ^ nanoseconds()) & 0xffff_ffff));
            }
            "SECONDS" => return Some(integer((nanoseconds() - self.started()) / 1_000_000_000)),
            "EPOCHSECONDS" => return Some(integer(nanoseconds() / 1_000_000_000)),
            "EPOCHREALTIME" => {
                let now = nanoseconds() / 1000;
                format!("{}.{:06}", now / 1_000_000, now % 1_000_000)
            }
            "BASHPID" => return Some(integer(i64::from(process::id()))),
            "PPID" => return Some(read_only(integer(i64::from(process::parent())))),
            "UID" | "EUID" => return Some(read_only(integer(1000))),
            "GROUPS" => return Some(array(["1000".to_owned()])),
            "BASH_SUBSHELL" => self.level.to_string(),
            "BASH_VERSION" => VERSION.to_owned(),
            "BASH_VERSINFO" => {
                let parts = ["5", "2", "15", "1", "release", "wasm32-wasi"];
                return Some(read_only(array(parts.map(str::to_owned))));
            }
            "BASH" | "SHELL" => "/bin/bash".to_owned(),
            "PATH" => crate::exec::DEFAULT_PATH.to_owned(),
            "BASH_EXECUTION_STRING" if self.origin == Origin::Argument => self.execution.to_string(),
            "BASH_COMMAND" => match &self.current_command {
                CurrentCommand::Nothing => String::new(),
                CurrentCommand::Simple(node) => crate::syntax::simple_text(node),
                CurrentCommand::Text(text) => text.clone(),
            },
            "BASH_ARGV0" => self.name.to_string(),
            "HOSTNAME" => "isopod".to_owned(),
            "HOSTTYPE" => "wasm32".to_owned(),
            "MACHTYPE" => "wasm32-wasi".to_owned(),
            "OSTYPE" => "linux-gnu".to_owned(),
            "TERM" => "dumb".to_owned(),
            "SHELLOPTS" => return Some(read_only(Variable::scalar(self.shell_options()))),
            "BASHOPTS" => return Some(read_only(Variable::scalar(self.bash_options()))),
            "PIPESTATUS" => return Some(array(self.statuses.iter().map(u8::to_string))),
            "DIRSTACK" => {
                let top = self.variables.get("PWD").and_then(Variable::text).unwrap_or_default().to_owned();
                return Some(array([top].into_iter().chain(self.directories.iter().cloned())));
            }
            "FUNCNAME" if self.calls.is_empty() => return None,
            "FUNCNAME" => {
                let mut names: Vec<_> = self.calls.iter().rev().map(|c| c.name.to_string()).collect();
                // Only scripts have a main program of that name.
                names.extend((self.origin == Origin::Script).then(|| "main".to_owned()));
                return Some(array(names));
            }
            "BASH_LINENO" => {
                let mut lines: Vec<_> = self.calls.iter().rev().map(|c| c.line.to_string()).collect();
                lines.extend((self.origin == Origin::Script).then(|| "0".to_owned()));
                return Some(array(lines));
            }
            "BASH_SOURCE" => {
                let mut sources: Vec<_> = self.calls.iter().rev().map(|c| c.source.to_string()).collect();
                sources.extend((self.origin == Origin::Script).then(|| self.name.to_string()));
                return Some(array(sources));
            }
            "_" => self.last_argument.clone(),
            _ => return None,
        };
        Some(Variable::scalar(text))
    }

    /// Assigns to a computed variable, if the name is one.
    pub(super) fn assign_special(&mut self, name: &str, value: &str) -> ComputedAssignment {
        let number = || value.trim().parse::<i64>().unwrap_or(0);
        match name {
            "RANDOM" => {
                self.random.set(Some((number() as u32, 0)));
                ComputedAssignment::Done
            }
            "SECONDS" => {
                self.epoch.set(nanoseconds() - number() * 1_000_000_000);
                ComputedAssignment::Done
            }
            "BASH_ARGV0" => {
                self.name = value.into();
                ComputedAssignment::Done
            }
            "UID" | "EUID" | "PPID" | "BASH_VERSINFO" | "SHELLOPTS" | "BASHOPTS" => ComputedAssignment::ReadOnly,
            // bash accepts assignments to these and ignores them.
            "BASHPID" | "SRANDOM" | "EPOCHSECONDS" | "EPOCHREALTIME" | "FUNCNAME" | "BASH_LINENO" | "BASH_SOURCE"
            | "LINENO" | "GROUPS" | "BASH_SUBSHELL" | "BASH_COMMAND" | "PIPESTATUS" => ComputedAssignment::Done,
            _ => ComputedAssignment::NotComputed,
        }
    }

    /// Returns the names of all computed variables, for listings.
    pub fn special_names(&self) -> impl Iterator<Item = &'static str> {
        let names = [
            "BASH",
            "BASHOPTS",
            "BASHPID",
            "BASH_ARGV0",
            "BASH_COMMAND",
            "BASH_LINENO",
            "BASH_SOURCE",
            "BASH_SUBSHELL",
            "BASH_VERSINFO",
            "BASH_VERSION",
            "DIRSTACK",
            "EPOCHREALTIME",
            "EPOCHSECONDS",
            "EUID",
            "FUNCNAME",
            "GROUPS",
            "HOSTNAME",
            "HOSTTYPE",
            "IFS",
            "LINENO",
            "MACHTYPE",
            "OPTERR",
            "OPTIND",
            "OSTYPE",
            "PATH",
            "PIPESTATUS",
            "PPID",
            "PS4",
            "RANDOM",
            "SECONDS",
            "SHELL",
            "SHELLOPTS",
            "SRANDOM",
            "TERM",
            "UID",
            "_",
        ];
        names.into_iter().filter(|name| self.variables.get(name).is_none())
    }

    /// Returns a number from 0 to 32767, the same as in bash for the same seed. It is good enough for shuffling; no
    /// secret depends on it.
    fn next_random(&self) -> u32 {
        let (seed, last) = match self.random.get() {
            Some(state) => state,
            None => ((nanoseconds() as u32) ^ process::id().wrapping_mul(0x9e37_79b9), 0),
        };
        let mut state = seed;
        loop {
            state = minimal_standard(state);
            let number = ((state >> 16) ^ (state & 0xffff)) & 0x7fff;
            // bash never returns the same number twice in a row.
            if number != last {
                self.random.set(Some((state, number)));
                return number;
            }
        }
    }

    /// Returns the time when the shell started. The first call starts the clock, which costs a system call.
    fn started(&self) -> i64 {
        if self.epoch.get() == 0 {
            self.epoch.set(nanoseconds());
        }
        self.epoch.get()
    }

    fn shell_options(&self) -> String {
        let on = super::options::SetOption::all().filter(|o| self.options.has(*o));
        on.map(super::options::SetOption::name).collect::<Vec<_>>().join(":")
    }

    fn bash_options(&self) -> String {
        let on = super::options::Shopt::all().filter(|o| self.options.shopt(*o));
        on.map(super::options::Shopt::name).collect::<Vec<_>>().join(":")
    }
}

/// The generator of Park and Miller, with Schrage's method to keep it in 32 bits.
fn minimal_standard(last: u32) -> u32 {
    let last = if last == 0 { 123_459_876 } else { i64::from(last) };
    let (high, low) = (last / 127_773, last % 127_773);
    // bash computes in 32 bits.
    let next = (16_807 * low - 2_836 * high) as i32;
    (if next < 0 { i64::from(next) + 0x7fff_ffff } else { i64::from(next) }) as u32
}

/// The result of an assignment to a computed variable.
pub(super) enum ComputedAssignment {
    /// The name is not that of a computed variable.
    NotComputed,
    Done,
    ReadOnly,
}

/// Returns the nanoseconds since 1970.
pub fn nanoseconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}

fn integer(value: i64) -> Variable {
    let mut variable = Variable::scalar(value.to_string());
    variable.attributes.insert(Attributes::INTEGER);
    variable
}

fn read_only(mut variable: Variable) -> Variable {
    variable.attributes.insert(Attributes::READONLY);
    variable
}

fn array(items: impl IntoIterator<Item = String>) -> Variable {
    let elements: BTreeMap<i64, String> = items.into_iter().enumerate().map(|(i, v)| (i as i64, v)).collect();
    Variable { value: Value::Indexed(elements), attributes: Attributes::default() }
}
