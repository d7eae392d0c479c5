//! Files, ports and signals: Landlock.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::{Coverage, Wall, WallError};

/// The newest version of the interface whose rights are requested. Later versions add only logging.
const NEWEST: ABI = ABI::V6;

/// The files of its own system that the host reads at run time: its memory map and the number of its cores. A path that
/// does not exist is skipped.
const SYSTEM: [&str; 3] = ["/proc/self", "/sys/fs/cgroup", "/sys/devices/system/cpu"];

/// Restricts this thread and all that it starts. Returns the coverage, and the version of the kernel's interface.
pub(super) fn raise(wall: &Wall) -> Result<(Coverage, u32), WallError> {
    let level = if wall.strict { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let refused = |error: RulesetError| match wall.strict {
        true => WallError::Missing(error.to_string()),
        false => WallError::Host(error.to_string()),
    };
    let mut rules = Ruleset::default()
        .set_compatibility(level)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(refused)?;
    let read = reading(wall.exec);
    for path in &wall.read_write {
        rules = add(rules, path, read | writing())?;
    }
    for path in &wall.read_only {
        rules = add(rules, path, read)?;
    }
    for path in SYSTEM.iter().map(Path::new).filter(|path| is_there(path)) {
        rules = add(rules, path, reading(false))?;
    }
    for (ports, access) in [(&wall.bind, AccessNet::BindTcp), (&wall.connect, AccessNet::ConnectTcp)] {
        for port in ports {
            rules = rules.add_rule(NetPort::new(*port, access)).map_err(refused)?;
        }
    }
    let status = rules.restrict_self().map_err(refused)?;
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            let abi = kernel_abi.unwrap_or(effective_abi as i32) as u32;
            (missing(abi).map_or(Coverage::Whole, |what| Coverage::But(what.to_owned())), abi)
        }
        LandlockStatus::NotEnabled => (Coverage::Nothing("Landlock is switched off in the kernel".to_owned()), 0),
        _ => (Coverage::Nothing("the kernel has no Landlock".to_owned()), 0),
    })
}

/// The rights that an older interface leaves open.
fn missing(abi: u32) -> Option<&'static str> {
    match abi {
        0..=2 => Some("truncation, devices, ports and signals"),
        3 => Some("devices, ports and signals"),
        4 => Some("devices and signals"),
        5 => Some("signals"),
        _ => None,
    }
}

/// The rights to all that a sandbox does in a directory of the host. It creates no devices, sockets or pipes there.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::RemoveDir
        | AccessFs::RemoveFile
        | AccessFs::MakeDir
        | AccessFs::MakeReg
        | AccessFs::MakeSym
        | AccessFs::Refer
        | AccessFs::Truncate
}

fn reading(executing: bool) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    if executing { read | AccessFs::Execute } else { read }
}

#[allow(clippy::disallowed_methods, reason = "looks at what the wall is to leave")]
fn add(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, WallError> {
    let failed = |error| WallError::Path { path: path.to_owned(), error };
    let is_file = !std::fs::metadata(path).map_err(failed)?.is_dir();
    let access = if is_file { access & AccessFs::from_file(NEWEST) } else { access };
    let handle = PathFd::new(path).map_err(|error| failed(std::io::Error::other(error.to_string())))?;
    rules.add_rule(PathBeneath::new(handle, access)).map_err(|error| WallError::Host(error.to_string()))
}

#[allow(clippy::disallowed_methods, reason = "looks at what the wall is to leave")]
fn is_there(path: &Path) -> bool {
    path.exists()
}
