//! `-perm`: exactly these permission bits, all of them, or any.

use crate::messages::quoted;
use isopod_gnu::mode;

/// The permission bits to compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Permissions {
    how: Comparison,
    /// The bits for files.
    file: u32,
    /// The bits for directories, for which `X` means something else.
    directory: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Exactly,
    All,
    Any,
}

impl Permissions {
    /// Reads the argument: octal or symbolic, behind `-` for all bits and `/` for any.
    pub(super) fn parse(text: &str) -> Result<Permissions, String> {
        let (how, bits) = match text.split_at_checked(1) {
            Some(("-", bits)) => (Comparison::All, bits),
            Some(("/", bits)) => (Comparison::Any, bits),
            _ => (Comparison::Exactly, text),
        };
        match (mode::apply(bits, 0, false), mode::apply(bits, 0, true)) {
            (Some(file), Some(directory)) => Ok(Permissions { how, file, directory }),
            _ => Err(format!("invalid mode {}", quoted(text))),
        }
    }

    /// Returns true if the bits of a file match.
    pub(super) fn holds(&self, mode: u32, is_directory: bool) -> bool {
        let wanted = if is_directory { self.directory } else { self.file };
        match self.how {
            Comparison::Exactly => mode == wanted,
            Comparison::All => mode & wanted == wanted,
            Comparison::Any => wanted == 0 || mode & wanted != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal_or_symbolic() {
        let bits = |text: &str| Permissions::parse(text).map(|read| read.file).ok();
        for (text, mode) in [
            ("644", 0o644),
            ("u=rw,g=r,o=r", 0o644),
            ("a+r", 0o444),
            ("-u+w", 0o200),
            ("+x", 0o111),
            ("u+s", 0o4000),
            ("o+t", 0o1000),
            ("u=", 0),
            ("=", 0),
            ("u=rwx,g=u", 0o770),
            ("u=rw-w", 0o400),
        ] {
            assert_eq!(bits(text), Some(mode), "{text}");
        }
        for wrong in ["", "x", "99", "+222", "u,g=r", "-", "/", "-x", "10000"] {
            assert_eq!(bits(wrong), None, "{wrong}");
        }
        assert!(Permissions::parse("/222").unwrap().holds(0o644, false));
        assert!(!Permissions::parse("-222").unwrap().holds(0o644, false));
        assert!(Permissions::parse("a=rX").unwrap().holds(0o555, true));
    }
}
