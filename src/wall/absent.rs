//! Where there is no wall: another system, or a build without it.

const WHY: &str = if cfg!(target_os = "linux") { "not in this build" } else { "not supported on this system" };

/// In place of Landlock.
pub(super) mod files {
    use super::super::{Hold, Wall, WallError};

    pub(in super::super) fn raise(wall: &Wall) -> Result<(Hold, u32), WallError> {
        match wall.strict {
            true => Err(WallError::Missing(super::WHY.to_owned())),
            false => Ok((Hold::Nothing(super::WHY.to_owned()), 0)),
        }
    }
}

/// In place of seccomp.
pub(super) mod calls {
    use super::super::Wall;

    pub(in super::super) fn check() -> Result<(), String> {
        Err(super::WHY.to_owned())
    }

    pub(in super::super) fn raise(_wall: &Wall) -> Result<(), String> {
        check()
    }
}
