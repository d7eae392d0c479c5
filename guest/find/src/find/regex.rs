//! `-regex`: a regular expression for a whole path.

use isopod_regex::{Flags, Regex, Syntax, Whole};
use isopod_sys::Errno;

use crate::messages::quoted;

/// A compiled expression that a whole path is matched against.
///
/// It is boxed because it is fifty times the size of any other test.
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

/// Returns the dialect with a name of `-regextype`.
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

    /// Returns true if the whole path matches. An error means that the match was given up.
    pub(super) fn matches(&self, path: &str) -> Result<bool, Errno> {
        let found = self.0.is_match(path.as_bytes());
        if self.0.gave_up() { Err(Errno::NoMemory) } else { Ok(found) }
    }
}
