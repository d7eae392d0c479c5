//! Shell patterns, for the names that `ls` and `du` leave out.

/// Whether a name matches a shell pattern: `*`, `?`, `[…]` and backslashes.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // A leading dot is hidden anyway, and a star does not uncover it.
    if name.first() == Some(&'.') && pattern.first() != Some(&'.') {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    // Where the last star was and how much it took: only that one is ever tried again, so the time is bounded.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(next) = one(&pattern, p, name[n]) {
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

/// Matches one character and returns where the pattern goes on.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match *pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&c)).then_some(at + 2),
        '[' => match set(pattern, at, c) {
            Some((true, next)) => Some(next),
            Some((false, _)) => None,
            // Without an end it is a bracket like any other character.
            None => (c == '[').then_some(at + 1),
        },
        other => (other == c).then_some(at + 1),
    }
}

/// Whether a character is in the set that starts here, and where it ends.
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
        match (pattern.get(next + 1), pattern.get(next + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                found |= (low..=*high).contains(&c);
                next += 3;
            }
            _ => {
                found |= low == c;
                next += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_names() {
        for (pattern, name) in [
            ("*.c", "a.c"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("a*b*c", "aXbXbc"),
            ("\\*", "*"),
            ("[", "["),
            (".*", ".x"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.c", "a.d"), ("*", ".x"), ("a", "ab"), ("[!b]x", "bx"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
