//! `--wall`: the machine's kernel restricts this process, as a second wall around the sandbox.

use clap::{Args, ValueEnum};
use isopod::wall::{Wall, WallError};
use isopod::worker::Walls;

use super::answer::Failure;
use super::{NO_SANDBOX, USAGE, say};

/// The option of commands.
#[derive(Args)]
pub(super) struct WallOption {
    /// Have this machine's kernel shut this process in; --wall=strict fails where it cannot
    #[arg(long, value_name = "strict", num_args = 0..=1, require_equals = true, default_missing_value = "best-effort")]
    wall: Option<WallMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WallMode {
    #[value(hide = true)]
    BestEffort,
    Strict,
}

impl WallOption {
    /// Returns the kind of wall of a worker. Without the option it has one if the machine supports it.
    pub(super) fn of_worker(&self) -> Walls {
        if self.wall == Some(WallMode::Strict) { Walls::Strict } else { Walls::BestEffort }
    }

    /// Raises the wall if the option is given, and prints the parts that the machine does not support. `around` makes
    /// the wall, with the access that the command needs.
    pub(super) fn raise(&self, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
        self.wall.map_or(Ok(()), |effort| raise(effort, around))
    }
}

/// The option of servers. Their wall is on by default, because a server lives long and has many clients.
#[cfg(any(feature = "http", feature = "mcp"))]
#[derive(Args)]
pub(super) struct ServerWallOption {
    /// Have this machine's kernel shut this process in: as far as it can, or fail, or not at all
    #[arg(long, value_name = "HOW", default_value = "best-effort")]
    wall: ServerWallMode,
}

#[cfg(any(feature = "http", feature = "mcp"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ServerWallMode {
    BestEffort,
    Strict,
    Off,
}

#[cfg(any(feature = "http", feature = "mcp"))]
impl ServerWallOption {
    /// Returns the wall of the workers.
    pub(super) fn of_workers(&self) -> Walls {
        match self.wall {
            ServerWallMode::BestEffort => Walls::BestEffort,
            ServerWallMode::Strict => Walls::Strict,
            ServerWallMode::Off => Walls::None,
        }
    }

    /// Raises the wall, with the access that the server needs.
    pub(super) fn raise(&self, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
        match self.wall {
            ServerWallMode::BestEffort => raise(WallMode::BestEffort, around),
            ServerWallMode::Strict => raise(WallMode::Strict, around),
            ServerWallMode::Off => Ok(()),
        }
    }
}

fn raise(effort: WallMode, around: impl FnOnce() -> Result<Wall, WallError>) -> Result<(), Failure> {
    let raise = |wall: Wall| match effort {
        WallMode::Strict => wall.strict().raise(),
        WallMode::BestEffort => wall.raise(),
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
