//! Shell patterns against names and paths, as POSIX's `fnmatch` has them.
//!
//! A pattern is compiled once and matched against thousands of names: most are a suffix such as `*.rs`, which needs
//! no more than a comparison.

use isopod_ctype::Class;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    parts: Vec<Part>,
    rules: Rules,
}

/// The rules of matching.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Upper and lower case are the same.
    pub fold: bool,
    /// `*`, `?` and sets match no slash.
    pub slash_is_special: bool,
    /// A match may end before a slash, so that a directory stands for all below it.
    pub leading_directory: bool,
    /// Only a dot matches the dot that a name starts with.
    pub leading_dot: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Char(char),
    Any,
    Star,
    Set { negated: bool, members: Vec<Member> },
}

#[derive(Debug, Clone, PartialEq)]
enum Member {
    Range(char, char),
    Class(Class),
}

impl Pattern {
    /// Compiles a pattern. Every text is one: a bracket without an end is a bracket.
    pub fn new(text: &str, rules: Rules) -> Pattern {
        let chars: Vec<char> = text.chars().collect();
        let mut parts = Vec::with_capacity(chars.len());
        let mut at = 0;
        while let Some(c) = chars.get(at) {
            at += 1;
            parts.push(match c {
                '*' if parts.last() == Some(&Part::Star) => continue,
                '*' => Part::Star,
                '?' => Part::Any,
                '[' => match set(&chars, at, rules.fold) {
                    Some((part, next)) => {
                        at = next;
                        part
                    }
                    None => Part::Char('['),
                },
                '\\' if at < chars.len() => {
                    at += 1;
                    Part::Char(folded(chars[at - 1], rules.fold))
                }
                // A backslash at the end matches nothing in glibc; no name is expected to end in one.
                c => Part::Char(folded(*c, rules.fold)),
            });
        }
        Pattern { parts, rules }
    }

    /// Returns true if the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        if let Some(quick) = self.matches_suffix(name) {
            return quick;
        }
        if self.rules.leading_dot && name.starts_with('.') && self.parts.first() != Some(&Part::Char('.')) {
            return false;
        }
        let name: Vec<char> = name.chars().map(|c| folded(c, self.rules.fold)).collect();
        let (mut part, mut at) = (0, 0);
        // Only the last star is ever tried again, so that the time is at most the product of the lengths.
        let mut star: Option<(usize, usize)> = None;
        loop {
            if part == self.parts.len() && (at == name.len() || self.rules.leading_directory && name[at] == '/') {
                return true;
            }
            if self.parts.get(part) == Some(&Part::Star) {
                star = Some((part, at));
                part += 1;
            } else if at < name.len() && self.parts.get(part).is_some_and(|part| self.is_match(part, name[at])) {
                (part, at) = (part + 1, at + 1);
            } else {
                match star {
                    Some((again, taken)) if taken < name.len() && !self.stops_star(name[taken]) => {
                        star = Some((again, taken + 1));
                        (part, at) = (again + 1, taken + 1);
                    }
                    _ => return false,
                }
            }
        }
    }

    /// Matches a pattern of a star and plain characters by one comparison; `None` if it is another.
    fn matches_suffix(&self, name: &str) -> Option<bool> {
        if self.rules != Rules::default() {
            return None;
        }
        let (star, literal) = match self.parts.split_first() {
            Some((Part::Star, rest)) => (true, rest),
            _ => (false, self.parts.as_slice()),
        };
        let mut from_end = name.chars().rev();
        for part in literal.iter().rev() {
            let Part::Char(wanted) = part else {
                return None;
            };
            if from_end.next() != Some(*wanted) {
                // A later star would make this no plain suffix.
                return literal.iter().all(|part| matches!(part, Part::Char(_))).then_some(false);
            }
        }
        Some(star || from_end.next().is_none())
    }

    fn stops_star(&self, c: char) -> bool {
        self.rules.slash_is_special && c == '/'
    }

    fn is_match(&self, part: &Part, c: char) -> bool {
        match part {
            Part::Char(wanted) => *wanted == c,
            Part::Star => false,
            Part::Any => !self.stops_star(c),
            Part::Set { negated, members } => {
                members.iter().any(|member| member.has(c, self.rules.fold)) != *negated && !self.stops_star(c)
            }
        }
    }
}

/// Matches a character by the element at `at` of a pattern and returns the index of the next element. For pattern
/// languages that have more than these patterns, such as `**`.
pub fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let (is_match, next) = match *pattern.get(at)? {
        '?' => (true, at + 1),
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == c, at + 2),
        '[' => match set(pattern, at + 1, false) {
            Some((Part::Set { negated, members }, next)) => {
                (members.iter().any(|member| member.has(c, false)) != negated, next)
            }
            _ => (c == '[', at + 1),
        },
        other => (other == c, at + 1),
    };
    is_match.then_some(next)
}

impl Member {
    fn has(&self, c: char, fold: bool) -> bool {
        match self {
            Member::Range(low, high) => (*low..=*high).contains(&c),
            Member::Class(Class::Upper | Class::Lower) if fold => c.is_alphabetic(),
            Member::Class(class) => class.contains(c),
        }
    }
}

/// With no special rules.
impl From<&str> for Pattern {
    fn from(text: &str) -> Pattern {
        Pattern::new(text, Rules::default())
    }
}

/// Reads the set whose first character is at `at`. Returns it and the index behind it.
fn set(chars: &[char], at: usize, fold: bool) -> Option<(Part, usize)> {
    let negated = matches!(chars.get(at), Some('!' | '^'));
    let mut next = at + usize::from(negated);
    let first = next;
    let mut members = Vec::new();
    loop {
        if *chars.get(next)? == ']' && next > first {
            return Some((Part::Set { negated, members }, next + 1));
        }
        if let Some((class, after)) = class(chars, next) {
            // An unknown class makes the set match nothing.
            members.extend(class.map(Member::Class));
            next = after;
            continue;
        }
        let low = element(chars, &mut next)?;
        if chars.get(next) == Some(&'-') && chars.get(next + 1).is_some_and(|high| *high != ']') {
            next += 1;
            let high = element(chars, &mut next)?;
            members.push(Member::Range(folded(low, fold), folded(high, fold)));
        } else {
            members.push(Member::Range(folded(low, fold), folded(low, fold)));
        }
    }
}

/// Reads one character of a set, maybe behind a backslash or as `[.x.]`.
fn element(chars: &[char], next: &mut usize) -> Option<char> {
    let c = *chars.get(*next)?;
    if c == '[' && matches!(chars.get(*next + 1), Some('.' | '=')) {
        let kind = chars[*next + 1];
        if chars.get(*next + 3) == Some(&kind) && chars.get(*next + 4) == Some(&']') {
            *next += 5;
            return Some(chars[*next - 3]);
        }
    }
    *next += 1;
    if c == '\\' {
        *next += 1;
        return chars.get(*next - 1).copied();
    }
    Some(c)
}

/// Reads `[:name:]`, if it starts here. Returns the class, if there is one of this name, and the index behind it.
fn class(chars: &[char], at: usize) -> Option<(Option<Class>, usize)> {
    if chars.get(at) != Some(&'[') || chars.get(at + 1) != Some(&':') {
        return None;
    }
    let length = chars[at + 2..].iter().take_while(|c| c.is_ascii_lowercase()).count();
    let end = at + 2 + length;
    if chars.get(end) != Some(&':') || chars.get(end + 1) != Some(&']') {
        return None;
    }
    let name: String = chars[at + 2..end].iter().collect();
    Some((Class::named(name.as_bytes()), end + 2))
}

fn folded(c: char, fold: bool) -> char {
    match c {
        c if !fold => c,
        c if c.is_ascii() => c.to_ascii_lowercase(),
        // A letter whose lower case is several characters stays as it is, as in the C library.
        c => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => c,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, name: &str, rules: Rules) -> bool {
        Pattern::new(pattern, rules).matches(name)
    }

    #[test]
    fn patterns_match_as_fnmatch_does() {
        for (pattern, name, expected) in [
            ("*.c", "a.c", true),
            ("*.c", "a.cc", false),
            ("a", "ab", false),
            ("*", "", true),
            ("", "", true),
            ("a*b*c", "aXbXbc", true),
            ("*a*b", "ab1ab2", false),
            ("*x", "ax*", false),
            ("?", "é", true),
            ("[!a]x", "bx", true),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("[[:digit:][:upper:]]", "Q", true),
            ("[[:nosuch:]]", "a", false),
            ("[\\]]", "]", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("d/*", "d/e/f", true),
            (".*", ".x", true),
            ("*", ".x", true),
            ("*ab", "aab", true),
        ] {
            assert_eq!(is_match(pattern, name, Rules::default()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn rules_change_what_matches() {
        let fold = Rules { fold: true, ..Rules::default() };
        assert!(is_match("*.JPG", "a.jpg", fold) && is_match("É[A-C]", "éb", fold));
        let slash = Rules { slash_is_special: true, ..Rules::default() };
        assert!(
            !is_match("d/*", "d/e/f", slash) && is_match("d/*/f", "d/e/f", slash) && !is_match("d?e", "d/e", slash)
        );
        let dot = Rules { leading_dot: true, ..Rules::default() };
        assert!(!is_match("*x", ".x", dot) && !is_match("?x", ".x", dot) && is_match(".*", ".x", dot));
        let leading = Rules { leading_directory: true, ..Rules::default() };
        assert!(is_match("d", "d/e/f", leading) && is_match("d/?", "d/e/f", leading) && !is_match("d", "de", leading));
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(!is_match(&pattern, &"a".repeat(2000), Rules::default()));
    }
}
