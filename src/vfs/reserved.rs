//! Names that are ours: temporary files beside those they are going to replace.
//!
//! A guest cannot make, open, see or remove one. Whatever path holds one, also by way of a link, is refused with
//! [`NotPermitted`](Errno::NotPermitted), and no listing shows one. Since the names are out of reach, what is written
//! under one until it is renamed cannot be tampered with.

use crate::error::{Errno, Result};
use crate::path::GuestPath;

use super::fold::fold;

/// What every such name starts with.
pub const RESERVED: &str = ".isopod-tmp-";

/// Whether a name is reserved, or one that some host would take for a reserved one.
pub(super) fn is_reserved(name: &str) -> bool {
    let may_be = name.starts_with('.') || !name.is_ascii();
    may_be && fold(name).starts_with(RESERVED)
}

/// Refuses a path that holds a reserved name.
pub(super) fn check(path: &GuestPath) -> Result<()> {
    if path.components().any(is_reserved) { Err(Errno::NotPermitted) } else { Ok(()) }
}

/// Letters and digits that nobody has used before.
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
