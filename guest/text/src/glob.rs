//! Shell patterns on whole paths, where a star also matches slashes: `fnmatch` without flags.

/// A pattern.
pub(crate) struct Glob {
    pattern: Vec<char>,
}

impl Glob {
    pub(crate) fn new(pattern: &str) -> Glob {
        Glob { pattern: pattern.chars().collect() }
    }

    /// Whether all of a name fits.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let pattern = &self.pattern;
        let (mut p, mut n) = (0, 0);
        // Where the last star was and how much it took: only that one is ever tried again, so the time is bounded.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            if pattern.get(p) == Some(&'*') {
                star = Some((p, n));
                p += 1;
            } else if let Some(next) = one(pattern, p, name[n]) {
                (p, n) = (next, n + 1);
            } else if let Some((at, taken)) = star {
                star = Some((at, taken + 1));
                (p, n) = (at + 1, taken + 1);
            } else {
                return false;
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

/// Matches one character and returns where the pattern goes on.
pub(crate) fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match *pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == c).then_some(at + 2),
        '[' => match set(pattern, at, c) {
            Some((true, next)) => Some(next),
            Some((false, _)) => None,
            // Without an end it is a bracket like any other character.
            None => (c == '[').then_some(at + 1),
        },
        other => (other == c).then_some(at + 1),
    }
}

/// Whether a character is in the set that starts here, and where the set ends.
fn set(pattern: &[char], at: usize, c: char) -> Option<(bool, usize)> {
    let mut next = at + 1;
    let negated = matches!(pattern.get(next), Some('!' | '^'));
    next += usize::from(negated);
    let (first, mut found) = (next, false);
    loop {
        let low = *pattern.get(next)?;
        if low == ']' && next > first {
            return Some((found != negated, next + 1));
        }
        if low == '[' && pattern.get(next + 1) == Some(&':') {
            let length = pattern[next + 2..].windows(2).position(|pair| pair == [':', ']'])?;
            let name: String = pattern[next + 2..next + 2 + length].iter().collect();
            found |= is_of(&name, c);
            next += length + 4;
            continue;
        }
        let escaped = usize::from(low == '\\' && pattern.get(next + 1).is_some());
        let low = pattern[next + escaped];
        next += escaped + 1;
        match (pattern.get(next), pattern.get(next + 1)) {
            (Some('-'), Some(high)) if *high != ']' => {
                found |= (low..=*high).contains(&c);
                next += 2;
            }
            _ => found |= low == c,
        }
    }
}

fn is_of(class: &str, c: char) -> bool {
    match class {
        "alnum" => c.is_alphanumeric(),
        "alpha" => c.is_alphabetic(),
        "blank" => c == ' ' || c == '\t',
        "cntrl" => c.is_control(),
        "digit" => c.is_ascii_digit(),
        "graph" => !c.is_control() && !c.is_whitespace(),
        "lower" => c.is_lowercase(),
        "print" => !c.is_control(),
        "punct" => c.is_ascii_punctuation(),
        "space" => c.is_whitespace(),
        "upper" => c.is_uppercase(),
        "xdigit" => c.is_ascii_hexdigit(),
        _ => false,
    }
}
