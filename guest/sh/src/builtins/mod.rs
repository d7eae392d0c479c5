//! Builtins, one file each, or a few that belong together.
//!
//! A builtin gets the shell and its arguments, its name first, and returns its status. Its output is buffered and
//! written in one call at the end.

mod alias;
mod caller;
mod cd;
mod command;
mod compgen;
mod complete;
mod control;
mod declare;
mod directories;
mod echo;
mod enable;
mod eval;
mod exec;
mod export;
mod getopts;
mod hash;
mod help;
mod history;
mod jobs;
mod kill;
mod let_builtin;
mod listing;
mod mapfile;
mod options;
mod printf;
mod printf_number;
mod read;
mod set;
mod shift;
mod shopt;
pub mod test;
mod times;
mod trap;
mod type_builtin;
mod ulimit;
mod umask;
mod unset;
mod usage;
mod wait;

use crate::exec::Arguments;
use crate::state::{Shell, Stop};

pub use command::{CommandRequest, command};
pub use eval::{eval, source};
pub use exec::{ExecRequest, exec_request};
pub use listing::array_text;
pub use printf::strftime;
pub use read::read_answer;

/// The calling convention of a builtin.
#[derive(Clone, Copy)]
pub enum Builtin {
    /// A function of the arguments as strings.
    Plain(fn(&mut Shell, &[String]) -> Result<u8, Stop>),
    /// A function of arguments that may be assignments.
    Declaration(fn(&mut Shell, &Arguments) -> Result<u8, Stop>),
    /// Runs a text.
    Eval,
    /// Runs a file.
    Source,
    /// Replaces the shell, or its files.
    Exec,
    /// Runs a builtin or a program.
    Command,
    /// Runs a builtin.
    Builtin,
}

/// All builtins, sorted by name.
const TABLE: [(&str, Builtin); 61] = [
    (".", Builtin::Source),
    (":", Builtin::Plain(succeed)),
    ("[", Builtin::Plain(test::bracket)),
    ("alias", Builtin::Plain(alias::alias)),
    ("bg", Builtin::Plain(jobs::bg)),
    ("bind", Builtin::Plain(help::unsupported)),
    ("break", Builtin::Plain(control::break_loop)),
    ("builtin", Builtin::Builtin),
    ("caller", Builtin::Plain(caller::caller)),
    ("cd", Builtin::Plain(cd::cd)),
    ("command", Builtin::Command),
    ("compgen", Builtin::Plain(compgen::compgen)),
    ("complete", Builtin::Plain(complete::complete)),
    ("compopt", Builtin::Plain(complete::compopt)),
    ("continue", Builtin::Plain(control::continue_loop)),
    ("declare", Builtin::Declaration(declare::declare)),
    ("dirs", Builtin::Plain(directories::dirs)),
    ("disown", Builtin::Plain(jobs::disown)),
    ("echo", Builtin::Plain(echo::echo)),
    ("enable", Builtin::Plain(enable::enable)),
    ("eval", Builtin::Eval),
    ("exec", Builtin::Exec),
    ("exit", Builtin::Plain(control::exit)),
    ("export", Builtin::Declaration(export::export)),
    ("false", Builtin::Plain(fail)),
    ("fc", Builtin::Plain(history::fc)),
    ("fg", Builtin::Plain(jobs::fg)),
    ("getopts", Builtin::Plain(getopts::getopts)),
    ("hash", Builtin::Plain(hash::hash)),
    ("help", Builtin::Plain(help::help)),
    ("history", Builtin::Plain(history::history)),
    ("jobs", Builtin::Plain(jobs::jobs)),
    ("kill", Builtin::Plain(kill::kill)),
    ("let", Builtin::Plain(let_builtin::let_builtin)),
    ("local", Builtin::Declaration(declare::local)),
    ("logout", Builtin::Plain(help::logout)),
    ("mapfile", Builtin::Plain(mapfile::mapfile)),
    ("popd", Builtin::Plain(directories::popd)),
    ("printf", Builtin::Plain(printf::printf)),
    ("pushd", Builtin::Plain(directories::pushd)),
    ("pwd", Builtin::Plain(cd::pwd)),
    ("read", Builtin::Plain(read::read)),
    ("readarray", Builtin::Plain(mapfile::mapfile)),
    ("readonly", Builtin::Declaration(export::readonly)),
    ("return", Builtin::Plain(control::return_from)),
    ("set", Builtin::Plain(set::set)),
    ("shift", Builtin::Plain(shift::shift)),
    ("shopt", Builtin::Plain(shopt::shopt)),
    ("source", Builtin::Source),
    ("suspend", Builtin::Plain(help::suspend)),
    ("test", Builtin::Plain(test::test)),
    ("times", Builtin::Plain(times::times)),
    ("trap", Builtin::Plain(trap::trap)),
    ("true", Builtin::Plain(succeed)),
    ("type", Builtin::Plain(type_builtin::type_builtin)),
    ("typeset", Builtin::Declaration(declare::declare)),
    ("ulimit", Builtin::Plain(ulimit::ulimit)),
    ("umask", Builtin::Plain(umask::umask)),
    ("unalias", Builtin::Plain(alias::unalias)),
    ("unset", Builtin::Plain(unset::unset)),
    ("wait", Builtin::Plain(wait::wait)),
];

/// Finds a builtin by name.
pub fn find(name: &str) -> Option<Builtin> {
    TABLE.binary_search_by(|(n, _)| (*n).cmp(name)).ok().map(|i| TABLE[i].1)
}

/// Returns true for the special builtins of POSIX. In POSIX mode the assignments before one persist, and its errors end
/// the shell.
pub fn is_special(name: &str) -> bool {
    const SPECIAL: [&str; 16] = [
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
        "source", "times", "trap", "unset",
    ];
    SPECIAL.binary_search(&name).is_ok()
}

impl Shell {
    /// Finds a builtin by name, unless `enable -n` disabled it.
    pub fn find_builtin(&self, name: &str) -> Option<Builtin> {
        match self.disabled.iter().any(|d| d == name) {
            true => None,
            false => find(name),
        }
    }
}

/// Names of all builtins.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

fn succeed(_: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    Ok(0)
}

fn fail(_: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by_key(|(name, _)| *name));
    }
}
