//! The regular expressions of `[[ … =~ … ]]`: the engine of the programs, in the shell's dialect.

use std::rc::Rc;

use isopod_regex::{Captures, Error, Flags, Syntax};

/// Number of expressions that are kept compiled. A loop tests few; an engine takes some kilobytes.
const CAPACITY: usize = 8;

/// Start and end of a group in the text, in bytes; `None` if it took no part in the match.
pub type Span = Option<(usize, usize)>;

/// A compiled expression.
#[derive(Debug)]
pub struct Regex {
    engine: isopod_regex::Regex,
}

impl Regex {
    /// Compiles an expression. `fold` ignores the case of letters.
    pub fn new(source: &str, fold: bool) -> Result<Regex, Error> {
        let flags = Flags { icase: fold, ..Flags::default() };
        isopod_regex::Regex::new(source.as_bytes(), Syntax::Shell, flags).map(|engine| Regex { engine })
    }

    /// Returns the leftmost, longest match: the whole, then its groups.
    pub fn captures(&self, text: &str) -> Option<Vec<Span>> {
        let mut captures = Captures::default();
        let found = self.engine.captures_at(text.as_bytes(), 0, &mut captures);
        found.then(|| (0..captures.count()).map(|group| captures.get(group)).collect())
    }

    /// Returns true if a search with back-references was ended because it took too long. Its answer may be wrong.
    pub fn gave_up(&self) -> bool {
        self.engine.gave_up()
    }
}

/// The most recently used expressions, compiled. Compiling costs more than matching a short text.
#[derive(Debug, Default)]
pub struct RegexCache {
    /// Source, case folding and engine. The most recently used is last.
    entries: Vec<(String, bool, Rc<Regex>)>,
}

impl RegexCache {
    /// Returns the compiled expression, from the cache if it is there.
    pub fn get(&mut self, source: &str, fold: bool) -> Result<Rc<Regex>, Error> {
        // `gave_up` stays true after the text that caused it, so such a regex is compiled again.
        let is_wanted =
            |(known, folds, regex): &(String, bool, Rc<Regex>)| *folds == fold && known == source && !regex.gave_up();
        let position = self.entries.iter().rposition(is_wanted);
        let entry = match position {
            Some(last) if last + 1 == self.entries.len() => return Ok(self.entries[last].2.clone()),
            Some(position) => self.entries.remove(position),
            None => (source.to_owned(), fold, Rc::new(Regex::new(source, fold)?)),
        };
        if self.entries.len() == CAPACITY {
            self.entries.remove(0);
        }
        let regex = entry.2.clone();
        self.entries.push(entry);
        Ok(regex)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Instant;

    use super::{CAPACITY, Regex, RegexCache};

    #[test]
    fn the_cache_keeps_the_expressions_used_last() {
        let mut cache = RegexCache::default();
        let first = cache.get("a+", false).unwrap();
        assert!(Rc::ptr_eq(&first, &cache.get("a+", false).unwrap()));
        assert!(!Rc::ptr_eq(&first, &cache.get("a+", true).unwrap()));
        for i in 0..CAPACITY - 2 {
            cache.get(&format!("x{i}"), false).unwrap();
        }
        assert!(Rc::ptr_eq(&first, &cache.get("a+", false).unwrap()), "used again before it was dropped");
        for i in 0..CAPACITY {
            cache.get(&format!("y{i}"), false).unwrap();
        }
        assert!(!Rc::ptr_eq(&first, &cache.get("a+", false).unwrap()));
        assert!(cache.get("(", false).is_err());
        assert_eq!(cache.entries.len(), CAPACITY);
    }

    fn groups(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
        let captures = Regex::new(pattern, false).unwrap().captures(text)?;
        Some(captures.into_iter().map(|g| g.map(|(a, b)| text[a..b].to_owned())).collect())
    }

    fn whole(pattern: &str, text: &str) -> Option<String> {
        groups(pattern, text)?.swap_remove(0)
    }

    #[test]
    fn the_match_is_leftmost_and_longest() {
        assert_eq!(whole("ab|abcd", "xabcd").as_deref(), Some("abcd"));
        assert_eq!(whole("a*", "baaa").as_deref(), Some(""));
        assert_eq!(whole("x*|xyz", "xyz").as_deref(), Some("xyz"));
        assert_eq!(whole("b+", "abbbab").as_deref(), Some("bbb"));
    }

    #[test]
    fn groups_are_kept() {
        let found = groups("^([a-z]+)@([a-z.]+)$", "me@x.org").unwrap();
        assert_eq!(found, [Some("me@x.org".into()), Some("me".into()), Some("x.org".into())]);
        assert_eq!(groups("a(b)?c", "ac").unwrap(), [Some("ac".into()), None]);
        assert_eq!(groups("(ab)+", "abab").unwrap(), [Some("abab".into()), Some("ab".into())]);
    }

    #[test]
    fn operators() {
        for (pattern, text, expected) in [
            ("^a{2,3}$", "aaa", true),
            ("^a{2}$", "a", false),
            ("^[[:upper:]]$", "É", true),
            ("[^a]", "a", false),
            ("[]]", "]", true),
            ("a\\.b", "a.b", true),
            ("a\\.b", "axb", false),
            ("\\bfoo\\b", "a foo", true),
            ("\\bfoo\\b", "afoo", false),
            ("a.c", "a\nc", true),
            ("^$", "", true),
            ("a|^b", "xb", false),
            ("()", "x", true),
            ("a)", "a)", true),
        ] {
            assert_eq!(whole(pattern, text).is_some(), expected, "{pattern} {text}");
        }
        assert!(Regex::new("ABC", true).unwrap().captures("xabcx").is_some());
    }

    #[test]
    fn nonsense_is_refused() {
        for pattern in
            ["(", "[a", "a{2,1}", "*a", "+", "a{", "{", "^*", "(*a)", "a{99999}", "\\", "[[:nope:]]", "[b-a]"]
        {
            assert!(Regex::new(pattern, false).is_err(), "{pattern}");
        }
        assert!(Regex::new(&"(".repeat(100_000), false).is_err());
        assert!(Regex::new("((a{1000}){1000}){1000}", false).is_err());
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let start = Instant::now();
        assert!(Regex::new("(a+)+$", false).unwrap().captures(&format!("{}b", "a".repeat(20_000))).is_none());
        assert!(Regex::new("(a|a)*b", false).unwrap().captures(&"a".repeat(20_000)).is_none());
        assert!(start.elapsed().as_secs() < 20);
    }
}
