//! The actions.

use isopod_sys::files::Kind;
use isopod_sys::{Errno, fs};

use super::exec::Exec;
use super::format::Piece;
use super::listing::{self, Names};
use super::print;
use super::sink::Sinks;
use super::visit::Visit;

/// An action on a file.
pub(super) enum Action {
    /// `-print`, `-print0` and their files.
    Print { sink: usize, end: u8 },
    /// `-printf`.
    Format { sink: usize, pieces: Vec<Piece> },
    /// `-ls`.
    List { sink: usize },
    /// `-exec` and `-execdir`.
    Exec(Exec),
    /// `-delete`.
    Delete,
    /// `-prune`.
    Prune,
    /// `-quit`.
    Quit,
}

/// The effect of an action.
pub(super) enum Outcome {
    /// The truth value that the expression continues with.
    Truth(bool),
    /// The directory is not entered.
    Prune,
    /// The run ends.
    Quit,
    /// The action failed with this message, and the expression continues with false.
    Failed(String),
}

/// State that all actions of a run share.
pub(super) struct ActionContext {
    pub(super) sinks: Sinks,
    pub(super) names: Names,
    /// The time at which the run started.
    pub(super) now: u64,
    /// True if a file that is removed during the run is no error.
    pub(super) forgives_races: bool,
}

impl Action {
    /// Returns true if the implicit `-print` is left out because of this action.
    pub(super) fn replaces_print(&self) -> bool {
        !matches!(self, Action::Prune)
    }

    /// Runs the action on a file.
    pub(super) fn run(&mut self, visit: &Visit, context: &mut ActionContext) -> Result<Outcome, Errno> {
        Ok(match self {
            Action::Print { sink, end } => {
                context.sinks.push(*sink, visit.path.as_bytes());
                context.sinks.push(*sink, &[*end]);
                Outcome::Truth(true)
            }
            Action::Format { sink, pieces } => {
                let line = print::formatted(pieces, visit, &mut context.names)?;
                context.sinks.push(*sink, &line);
                Outcome::Truth(true)
            }
            Action::List { sink } => {
                let line = listing::line(visit, &mut context.names, context.now)?;
                context.sinks.push(*sink, line.as_bytes());
                Outcome::Truth(true)
            }
            Action::Exec(exec) => {
                if exec.starts_now(visit) {
                    context.sinks.flush();
                }
                exec.add(visit)
            }
            Action::Delete => delete(visit, context.forgives_races),
            Action::Prune => Outcome::Prune,
            Action::Quit => Outcome::Quit,
        })
    }
}

fn delete(visit: &Visit, forgives_races: bool) -> Outcome {
    // `find . -delete` empties the directory and leaves it.
    if visit.path == "." {
        return Outcome::Truth(true);
    }
    let removed = match visit.kind {
        Kind::Directory => fs::remove_dir(visit.path),
        _ => fs::remove_file(visit.path),
    };
    match removed {
        Ok(()) => Outcome::Truth(true),
        Err(Errno::NoEntry) if forgives_races => Outcome::Truth(true),
        Err(errno) => {
            let name = crate::messages::quoted(visit.path);
            Outcome::Failed(format!("cannot delete {name}: {}", isopod_sys::text(errno)))
        }
    }
}
