//! The actions.

use isopod_sys::files::Kind;
use isopod_sys::{Errno, fs};

use super::exec::Exec;
use super::format::Piece;
use super::listing::{self, Names};
use super::print;
use super::sink::Sinks;
use super::visit::Visit;

/// Something to do with a file.
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

/// What follows from an action.
pub(super) enum Outcome {
    /// The expression goes on with this.
    Truth(bool),
    /// The directory is not entered.
    Prune,
    /// Nothing follows.
    Quit,
    /// It failed with this, and the expression goes on with false.
    Failed(String),
}

/// What actions share in a run.
pub(super) struct Means {
    pub(super) sinks: Sinks,
    pub(super) names: Names,
    /// When the run started.
    pub(super) now: u64,
    /// Whether a file that has gone meanwhile is no error.
    pub(super) forgives_races: bool,
}

impl Action {
    /// Whether nothing is printed but what is asked for.
    pub(super) fn replaces_print(&self) -> bool {
        !matches!(self, Action::Prune)
    }

    /// Does it.
    pub(super) fn run(&mut self, visit: &Visit, means: &mut Means) -> Result<Outcome, Errno> {
        Ok(match self {
            Action::Print { sink, end } => {
                means.sinks.push(*sink, visit.path.as_bytes());
                means.sinks.push(*sink, &[*end]);
                Outcome::Truth(true)
            }
            Action::Format { sink, pieces } => {
                let line = print::formatted(pieces, visit, &mut means.names)?;
                means.sinks.push(*sink, &line);
                Outcome::Truth(true)
            }
            Action::List { sink } => {
                let line = listing::line(visit, &mut means.names, means.now)?;
                means.sinks.push(*sink, line.as_bytes());
                Outcome::Truth(true)
            }
            Action::Exec(exec) => {
                if exec.starts_now(visit) {
                    means.sinks.flush();
                }
                exec.add(visit)
            }
            Action::Delete => delete(visit, means.forgives_races),
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
