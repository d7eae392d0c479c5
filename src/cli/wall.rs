//! `--wall`: a second wall around this process.

use clap::{Args, ValueEnum};
use isopod::wall::{Wall, WallError};
use isopod::worker::Walls;

use super::answer::Failure;
use super::{NO_SANDBOX, USAGE, say};

/// Whether to raise it.
#[derive(Args)]
pub(super) struct Walled {
    /// Have this machine's kernel shut this process in; --wall=strict fails where it cannot
    #[arg(long, value_name = "strict", num_args = 0..=1, require_equals = true, default_missing_value = "best-effort")]
    wall: Option<Effort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Effort {
    #[value(hide = true)]
    BestEffort,
    Strict,
}

impl Walled {
    /// That of a worker, which has one unless the machine cannot.
    pub(super) fn of_worker(&self) -> Walls {
        if self.wall == Some(Effort::Strict) { Walls::Strict } else { Walls::BestEffort }
    }

    /// Raises it, if it is asked for, around what the command needs. What does not hold is said.
    pub(super) fn raise(&self, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
        self.wall.map_or(Ok(()), |effort| raise(effort, around))
    }
}

/// The wall of a server, which stands unless someone says otherwise: a server lives long, and many may talk to it.
#[cfg(any(feature = "http", feature = "mcp"))]
#[derive(Args)]
pub(super) struct Guarded {
    /// Have this machine's kernel shut this process in: as far as it can, or fail, or not at all
    #[arg(long, value_name = "HOW", default_value = "best-effort")]
    wall: Guard,
}

#[cfg(any(feature = "http", feature = "mcp"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Guard {
    BestEffort,
    Strict,
    Off,
}

#[cfg(any(feature = "http", feature = "mcp"))]
impl Guarded {
    /// That of the workers.
    pub(super) fn of_workers(&self) -> Walls {
        match self.wall {
            Guard::BestEffort => Walls::BestEffort,
            Guard::Strict => Walls::Strict,
            Guard::Off => Walls::None,
        }
    }

    /// Raises it around what the server needs.
    pub(super) fn raise(&self, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
        match self.wall {
            Guard::BestEffort => raise(Effort::BestEffort, around),
            Guard::Strict => raise(Effort::Strict, around),
            Guard::Off => Ok(()),
        }
    }
}

fn raise(effort: Effort, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
    let raise = |wall: Wall| match effort {
        Effort::Strict => wall.strict().raise(),
        Effort::BestEffort => wall.raise(),
    };
    let report = around().and_then(raise).map_err(|error| Failure {
        code: if matches!(error, WallError::Path { .. }) { USAGE } else { NO_SANDBOX },
        why: error.to_string(),
    })?;
    if !report.is_whole() {
        say(&report);
    }
    Ok(())
}
