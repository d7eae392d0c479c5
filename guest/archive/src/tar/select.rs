//! The choice of members: by name, by pattern, and by exclusion.

use isopod_gnu::pattern::{Pattern, Rules};

/// Patterns of names that are left out.
#[derive(Default)]
pub(super) struct Exclusions {
    patterns: Vec<Exclusion>,
}

struct Exclusion {
    pattern: Pattern,
    is_anchored: bool,
    /// The number of the first name on the command line that it applies to. Names before it are not affected.
    from: usize,
}

impl Exclusions {
    /// Adds a pattern. An anchored one matches from the start of a name, another one after any slash.
    pub(super) fn add(&mut self, text: &str, how: Matching, from: usize) {
        let rules = Rules {
            leading_directory: true,
            slash_is_special: !how.stars_match_slashes,
            fold: how.folds,
            ..Rules::default()
        };
        let text = text.strip_suffix('/').filter(|text| !text.is_empty()).unwrap_or(text);
        self.patterns.push(Exclusion { pattern: how.pattern(text, rules), is_anchored: how.is_anchored, from });
    }

    /// Returns true if a name is excluded. `number` is that of the name on the command line that it comes from.
    pub(super) fn has(&self, name: &str, number: usize) -> bool {
        let name = name.strip_suffix('/').unwrap_or(name);
        self.patterns.iter().filter(|exclusion| exclusion.from <= number).any(|exclusion| {
            let after_slash = |(at, _): (usize, &str)| exclusion.pattern.matches(&name[at + 1..]);
            exclusion.pattern.matches(name) || !exclusion.is_anchored && name.match_indices('/').any(after_slash)
        })
    }
}

/// The interpretation of patterns. Options change it for the patterns after them.
#[derive(Clone, Copy)]
pub(super) struct Matching {
    pub(super) is_anchored: bool,
    pub(super) has_wildcards: bool,
    pub(super) stars_match_slashes: bool,
    pub(super) folds: bool,
}

impl Matching {
    fn pattern(self, text: &str, rules: Rules) -> Pattern {
        if self.has_wildcards {
            return Pattern::new(text, rules);
        }
        let literal: String =
            text.chars().flat_map(|c| if "*?[\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect();
        Pattern::new(&literal, rules)
    }
}

/// The requested members.
pub(super) struct Selection {
    names: Vec<Name>,
}

struct Name {
    text: String,
    pattern: Pattern,
    /// The number of the directory to extract to.
    directory: usize,
    is_found: bool,
}

impl Selection {
    /// Creates the choice. Without names it is all members.
    pub(super) fn new(names: &[(String, usize)], how: Matching) -> Selection {
        let rules = Rules { leading_directory: true, fold: how.folds, ..Rules::default() };
        let name = |(text, directory): &(String, usize)| {
            let trimmed = text.strip_suffix('/').filter(|text| !text.is_empty()).unwrap_or(text);
            Name { text: text.clone(), pattern: how.pattern(trimmed, rules), directory: *directory, is_found: false }
        };
        Selection { names: names.iter().map(name).collect() }
    }

    /// Returns the number of the directory for a member, if it is requested. `usize::MAX` is the last directory.
    pub(super) fn directory_of(&mut self, name: &str) -> Option<usize> {
        if self.names.is_empty() {
            return Some(usize::MAX);
        }
        let name = name.strip_suffix('/').unwrap_or(name);
        let found = self.names.iter_mut().find(|wanted| wanted.pattern.matches(name))?;
        found.is_found = true;
        Some(found.directory)
    }

    /// Returns the names that no member had.
    pub(super) fn missing(&self) -> Vec<&str> {
        self.names.iter().filter(|name| !name.is_found).map(|name| name.text.as_str()).collect()
    }

    /// Returns true if a name looks like a pattern while patterns are off, which is most likely a mistake.
    pub(super) fn looks_like_patterns(&self, how: Matching) -> bool {
        !how.has_wildcards && self.names.iter().any(|name| !name.is_found && name.text.contains(['*', '?', '[']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: Matching =
        Matching { is_anchored: false, has_wildcards: true, stars_match_slashes: true, folds: false };

    #[test]
    fn exclusions_match_after_any_slash() {
        let mut excluded = Exclusions::default();
        excluded.add("*.o", LOOSE, 0);
        excluded.add("node_modules", LOOSE, 0);
        excluded.add("d/cache/", LOOSE, 0);
        for name in ["a.o", "d/a.o", "x/node_modules", "x/node_modules/y", "d/cache/x", "p/d/cache"] {
            assert!(excluded.has(name, 0), "{name}");
        }
        for name in ["a.oo", "node_modules2", "d/cachex"] {
            assert!(!excluded.has(name, 0), "{name}");
        }
    }
}
