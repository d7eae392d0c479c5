//! `-regex`: a whole path by a regular expression.

use isopod_regex::{Flags, Regex, Syntax, Whole};
use isopod_sys::Errno;

use crate::messages::quoted;

/// A compiled expression that a whole path is matched against.
///
/// In a box: it is fifty times the size of any other test.
pub(super) struct PathRegex(Box<Regex>);

/// The dialects by name, in the order in which GNU lists them.
const DIALECTS: [(&str, Syntax); 13] = [
    ("findutils-default", Syntax::Emacs),
    ("ed", Syntax::Basic),
    ("emacs", Syntax::Emacs),
    ("gnu-awk", Syntax::Awk),
    ("grep", Syntax::Grep),
    ("posix-awk", Syntax::Awk),
    ("awk", Syntax::Awk),
    ("posix-basic", Syntax::Basic),
    ("posix-egrep", Syntax::Egrep),
    ("egrep", Syntax::Egrep),
    ("posix-extended", Syntax::Extended),
    ("posix-minimal-basic", Syntax::Basic),
    ("sed", Syntax::Basic),
];

/// The dialect of a name for `-regextype`.
pub(super) fn dialect(name: &str) -> Result<Syntax, String> {
    DIALECTS.iter().find(|(known, _)| *known == name).map(|(_, syntax)| *syntax).ok_or_else(|| {
        let names: Vec<String> = DIALECTS.iter().map(|(known, _)| quoted(known)).collect();
        format!("Unknown regular expression type {}; valid types are {}.", quoted(name), names.join(", "))
    })
}

impl PathRegex {
    /// Compiles an expression.
    pub(super) fn new(pattern: &str, syntax: Syntax, fold: bool) -> Result<PathRegex, String> {
        let flags = Flags { icase: fold, whole: Whole::Line, ..Flags::default() };
        Regex::new(pattern.as_bytes(), syntax, flags)
            .map(|regex| PathRegex(Box::new(regex)))
            .map_err(|error| format!("failed to compile regular expression '{pattern}': {error}"))
    }

    /// Whether the whole path matches. The error is for an expression that was given up.
    pub(super) fn matches(&self, path: &str) -> Result<bool, Errno> {
        let found = self.0.is_match(path.as_bytes());
        if self.0.gave_up() { Err(Errno::NoMemory) } else { Ok(found) }
    }
}
