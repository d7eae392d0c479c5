//! `-perm`: exactly these permission bits, all of them, or any.

use crate::messages::quoted;

/// What permission bits are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Permissions {
    how: How,
    /// For files.
    file: u32,
    /// For directories, for which `X` means something else.
    directory: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Exactly,
    All,
    Any,
}

impl Permissions {
    /// Reads the argument: octal or symbolic, behind `-` for all bits and `/` for any.
    pub(super) fn parse(text: &str) -> Result<Permissions, String> {
        let (how, mode) = match text.split_at_checked(1) {
            Some(("-", mode)) => (How::All, mode),
            Some(("/", mode)) => (How::Any, mode),
            _ => (How::Exactly, text),
        };
        let bits = |is_directory| octal(mode).or_else(|| symbolic(mode, is_directory));
        match (bits(false), bits(true)) {
            (Some(file), Some(directory)) => Ok(Permissions { how, file, directory }),
            _ => Err(format!("invalid mode {}", quoted(text))),
        }
    }

    /// Whether a file's bits are as wanted.
    pub(super) fn holds(&self, mode: u32, is_directory: bool) -> bool {
        let wanted = if is_directory { self.directory } else { self.file };
        match self.how {
            How::Exactly => mode == wanted,
            How::All => mode & wanted == wanted,
            How::Any => wanted == 0 || mode & wanted != 0,
        }
    }
}

fn octal(text: &str) -> Option<u32> {
    let is_octal = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    is_octal.then(|| u32::from_str_radix(text, 8).ok()).flatten().filter(|mode| *mode <= 0o7777)
}

/// As `chmod` would change no permissions at all, with no umask.
fn symbolic(text: &str, is_directory: bool) -> Option<u32> {
    let mut mode = 0;
    for clause in text.split(',') {
        let who_end = clause.find(|c| !"ugoa".contains(c))?;
        let who = clause[..who_end].chars().fold(0, |who, letter| {
            who | match letter {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                _ => 0o7777,
            }
        });
        let who = if who == 0 { 0o7777 } else { who };
        let mut rest = &clause[who_end..];
        while let Some(operator) = rest.chars().next() {
            if !"+-=".contains(operator) {
                return None;
            }
            let end = rest[1..].find(['+', '-', '=']).map_or(rest.len(), |at| at + 1);
            let bits = rights(&rest[1..end], mode, is_directory)? & who;
            mode = match operator {
                '+' => mode | bits,
                '-' => mode & !bits,
                // The sticky bit is nobody's, and `=` leaves a directory's set-id bits.
                _ => mode & !(who & 0o777) | bits,
            };
            rest = &rest[end..];
        }
    }
    Some(mode)
}

fn rights(letters: &str, mode: u32, is_directory: bool) -> Option<u32> {
    // A copy of somebody's rights stands alone.
    let copied = match letters {
        "u" => Some(mode >> 6 & 7),
        "g" => Some(mode >> 3 & 7),
        "o" => Some(mode & 7),
        _ => None,
    };
    if let Some(copied) = copied {
        return Some(copied * 0o111);
    }
    letters.chars().try_fold(0, |bits, letter| {
        Some(
            bits | match letter {
                'r' => 0o444,
                'w' => 0o222,
                'x' => 0o111,
                'X' if is_directory || mode & 0o111 != 0 => 0o111,
                'X' => 0,
                's' => 0o6000,
                't' => 0o1000,
                _ => return None,
            },
        )
    })
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
