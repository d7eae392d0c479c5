//! The wall on other systems than Linux, and in builds without it: always absent.

const WHY: &str = if cfg!(target_os = "linux") { "not in this build" } else { "not supported on this system" };

/// Stands in for Landlock.
pub(super) mod files {
    use super::super::{Coverage, Wall, WallError};

    pub(in super::super) fn raise(wall: &Wall) -> Result<(Coverage, u32), WallError> {
        match wall.strict {
            true => Err(WallError::Missing(super::WHY.to_owned())),
            false => Ok((Coverage::Nothing(super::WHY.to_owned()), 0)),
        }
    }
}

/// Stands in for seccomp.
pub(super) mod calls {
    use super::super::Wall;

    pub(in super::super) fn check() -> Result<(), String> {
        Err(super::WHY.to_owned())
    }

    pub(in super::super) fn raise(_wall: &Wall) -> Result<(), String> {
        check()
    }
}
