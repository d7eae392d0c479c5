//! Reserved names: temporary files on the host beside the files that they will replace.
//!
//! A guest cannot create, open, see or remove a file with a reserved name. A path that holds one, even through a link,
//! is refused with [`NotPermitted`](Errno::NotPermitted), and no listing shows one. A guest therefore cannot tamper
//! with a temporary file before it is renamed.

use crate::error::{Errno, Result};
use crate::path::GuestPath;

use super::fold::fold;

/// The prefix of every reserved name.
pub const RESERVED: &str = ".isopod-tmp-";

/// Returns true for a reserved name, and for a name that some host would treat as a reserved one.
pub(super) fn is_reserved(name: &str) -> bool {
    let may_be = name.starts_with('.') || !name.is_ascii();
    may_be && fold(name).starts_with(RESERVED)
}

/// Refuses a path that holds a reserved name.
pub(super) fn check(path: &GuestPath) -> Result<()> {
    if path.components().any(is_reserved) { Err(Errno::NotPermitted) } else { Ok(()) }
}

/// Returns a random token for a unique name.
pub(super) fn token() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| Errno::Io)?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_the_prefix_are_reserved_whatever_their_letters() {
        for name in [".isopod-tmp-x", ".ISOPOD-tmp-x", ".iſopod-tmp-", "\u{200b}.isopod-tmp-1"] {
            assert!(is_reserved(name), "{name:?}");
        }
        for name in [".isopod", ".isopod-tmp", "isopod-tmp-x", "x.isopod-tmp-", "é", ".", "a"] {
            assert!(!is_reserved(name), "{name:?}");
        }
    }
}
