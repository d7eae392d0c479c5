//! Globs, for all backends.
//!
//! A pattern is parsed once: braces become alternatives, and each alternative is a list of names joined by `/`. During
//! a walk each directory has the set of positions in the alternatives that its path has reached. So a name is matched
//! once, whatever stars the pattern has, and a directory from which no position leads on is not entered.
//!
//! A name is matched by a regular expression, in time linear in its length. `globset` was rejected: it matches bytes,
//! and a `?` is then half of an `é`.

use regex::{Regex, RegexBuilder};

use super::{BackendError, PatternFault, Result, bounds};

/// A glob.
#[derive(Debug, Clone)]
pub struct Pattern {
    shape: Shape,
    /// True if stars match a leading dot too.
    hidden: bool,
}

#[derive(Debug, Clone)]
enum Shape {
    /// Matches names at any depth: `dotted` has the alternatives with a leading dot, `plain` the others.
    Name { dotted: NameMatcher, plain: NameMatcher },
    /// Matches paths below the root.
    Path(Vec<Vec<Segment>>),
}

#[derive(Debug, Clone)]
enum Segment {
    /// `**`
    Any,
    Name {
        names: NameMatcher,
        is_dotted: bool,
    },
    /// A trailing slash: only a directory matches.
    Slash,
}

/// Matches one name.
#[derive(Debug, Clone)]
enum NameMatcher {
    Nothing,
    /// This text: most names in a path have no wildcard.
    Text(String),
    Regex(Regex),
}

/// The positions in a pattern that the path of a directory has reached: the alternative, and the number of its segments
/// that have matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Positions(Vec<(u16, u16)>);

/// A position after a name. `is_any` tells whether a `**` led there.
struct Step {
    path: u16,
    at: u16,
    is_any: bool,
}

impl Pattern {
    /// Parses a pattern. With `hidden`, `*` and `**` match names with a leading dot too.
    pub fn new(pattern: &str, hidden: bool) -> Result<Pattern> {
        let refused = |fault| BackendError::pattern(pattern, fault);
        if pattern.len() > bounds::PATTERN_BYTES {
            return Err(refused(PatternFault::TooBroad));
        }
        if pattern.split(['/', '\\']).any(|segment| segment == "..") {
            return Err(refused(PatternFault::Parent));
        }
        let alternatives = expand(pattern).ok_or_else(|| refused(PatternFault::TooBroad))?;
        // Braces can hide a `..`, as in `{.,}.`.
        if alternatives.iter().any(|path| path.split('/').any(|segment| segment == "..")) {
            return Err(refused(PatternFault::Parent));
        }
        let shape = if pattern.contains('/') { by_path(&alternatives) } else { by_name(&alternatives) };
        Ok(Pattern { shape: shape.map_err(|text| refused(PatternFault::Syntax(text)))?, hidden })
    }

    /// Returns true if the pattern matches names at any depth.
    pub(super) fn is_about_names(&self) -> bool {
        matches!(self.shape, Shape::Name { .. })
    }

    /// The positions at the root of a walk.
    pub(super) fn start(&self) -> Positions {
        match &self.shape {
            Shape::Name { .. } => Positions(Vec::new()),
            Shape::Path(paths) => self.close((0..paths.len() as u16).map(|path| (path, 0)).collect()),
        }
    }

    /// The positions in a directory of this name. `None` if nothing below it can match.
    pub(super) fn enter(&self, positions: &Positions, name: &str) -> Option<Positions> {
        if self.is_about_names() {
            return Some(positions.clone());
        }
        let next = self.close(self.step(positions, name).map(|step| (step.path, step.at)).collect());
        if next.0.is_empty() { None } else { Some(next) }
    }

    /// Returns true if a name in a directory with these positions matches.
    pub(super) fn accepts(&self, positions: &Positions, name: &str, is_dir: bool) -> bool {
        match &self.shape {
            Shape::Name { dotted, plain } => {
                dotted.matches_name(name) || (self.hidden || !name.starts_with('.')) && plain.matches_name(name)
            }
            Shape::Path(paths) => self.step(positions, name).any(|step| {
                match &paths[step.path as usize][step.at as usize..] {
                    [] => true,
                    // At the end of a path a `**` matches at least one name, so it must be the segment that matched.
                    [Segment::Any] => step.is_any,
                    [Segment::Slash] => is_dir,
                    _ => false,
                }
            }),
        }
    }

    /// Returns true if a path below the root matches.
    pub fn matches(&self, relative: &str) -> bool {
        let (directories, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let mut positions = self.start();
        for directory in directories.split('/').filter(|name| !name.is_empty()) {
            match self.enter(&positions, directory) {
                Some(next) => positions = next,
                None => return false,
            }
        }
        self.accepts(&positions, name, false)
    }

    /// The positions after one name.
    fn step<'a>(&'a self, positions: &'a Positions, name: &'a str) -> impl Iterator<Item = Step> + 'a {
        let paths = match &self.shape {
            Shape::Path(paths) => paths.as_slice(),
            Shape::Name { .. } => &[],
        };
        let is_hidden = name.starts_with('.') && !self.hidden;
        positions.0.iter().filter_map(move |&(path, at)| match paths[path as usize].get(at as usize)? {
            Segment::Any => (!is_hidden).then_some(Step { path, at, is_any: true }),
            Segment::Name { names, is_dotted } => {
                let is_match = (*is_dotted || !is_hidden) && names.matches_name(name);
                is_match.then_some(Step { path, at: at + 1, is_any: false })
            }
            Segment::Slash => None,
        })
    }

    /// Adds the positions after a `**` that matches no name. At the end of a path a `**` matches at least one.
    fn close(&self, mut positions: Vec<(u16, u16)>) -> Positions {
        if let Shape::Path(paths) = &self.shape {
            let is_any = |&(path, at): &(u16, u16)| {
                let segments = &paths[path as usize][at as usize..];
                matches!(segments, [Segment::Any, _, ..])
            };
            let beyond: Vec<_> = positions.iter().copied().filter(is_any).map(|(path, at)| (path, at + 1)).collect();
            positions.extend(beyond);
            positions.sort_unstable();
            positions.dedup();
        }
        Positions(positions)
    }
}

/// Expands the braces of a pattern. Returns `None` if there are too many alternatives. Not recursive, since a pattern
/// can come from an untrusted caller.
pub(super) fn expand(pattern: &str) -> Option<Vec<String>> {
    let mut open = vec![(String::new(), pattern.to_owned())];
    let mut done = Vec::new();
    while let Some((before, rest)) = open.pop() {
        let Some((start, end)) = group(&rest) else {
            done.push(before + &rest);
            continue;
        };
        let parts = alternatives(&rest[start + 1..end]);
        if parts.len() < 2 {
            // `{a}` has no alternatives and is literal.
            open.push((before + &rest[..=end], rest[end + 1..].to_owned()));
            continue;
        }
        if done.len() + open.len() + parts.len() > bounds::ALTERNATIVES {
            return None;
        }
        for part in parts.into_iter().rev() {
            open.push((before.clone() + &rest[..start], part.to_owned() + &rest[end + 1..]));
        }
    }
    Some(done)
}

/// The positions of the braces of the first group.
fn group(text: &str) -> Option<(usize, usize)> {
    let (mut start, mut depth) = (None, 0_usize);
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '{' => {
                start.get_or_insert(at);
                depth += 1;
            }
            '}' if depth == 1 => return start.map(|start| (start, at)),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn alternatives(body: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    let mut chars = body.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&body[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&body[from..]);
    parts
}

fn by_name(alternatives: &[String]) -> std::result::Result<Shape, String> {
    let (dotted, plain): (Vec<_>, Vec<_>) =
        alternatives.iter().map(String::as_str).partition(|name| name.starts_with('.'));
    Ok(Shape::Name { dotted: NameMatcher::new(&dotted)?, plain: NameMatcher::new(&plain)? })
}

fn by_path(alternatives: &[String]) -> std::result::Result<Shape, String> {
    let paths = alternatives.iter().map(|path| {
        let mut segments: Vec<Segment> = Vec::new();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            match (name, segments.last()) {
                ("**", Some(Segment::Any)) => {}
                ("**", _) => segments.push(Segment::Any),
                _ => {
                    segments.push(Segment::Name { names: NameMatcher::new(&[name])?, is_dotted: name.starts_with('.') })
                }
            }
        }
        let is_dir = path.ends_with('/') || path.ends_with("/.");
        if is_dir && !matches!(segments.last(), Some(Segment::Any)) {
            segments.push(Segment::Slash);
        }
        Ok(segments)
    });
    Ok(Shape::Path(paths.collect::<std::result::Result<_, String>>()?))
}

impl NameMatcher {
    /// Makes a matcher of any of these patterns.
    fn new(patterns: &[&str]) -> std::result::Result<NameMatcher, String> {
        match patterns {
            [] => return Ok(NameMatcher::Nothing),
            [text] if !text.contains(['*', '?', '[', '\\']) => return Ok(NameMatcher::Text((*text).to_owned())),
            _ => {}
        }
        let all: Vec<String> = patterns.iter().map(|pattern| regex(pattern)).collect();
        let mut regex = RegexBuilder::new(&format!("^(?:{})$", all.join("|")));
        let regex = regex.dot_matches_new_line(true).size_limit(bounds::REGEX_BYTES).build();
        regex.map(NameMatcher::Regex).map_err(|error| error.to_string())
    }

    fn matches_name(&self, name: &str) -> bool {
        match self {
            NameMatcher::Nothing => false,
            NameMatcher::Text(text) => text == name,
            NameMatcher::Regex(regex) => regex.is_match(name),
        }
    }
}

/// Translates the pattern of a name to a regular expression. Braces that are left are literal, and so is an unclosed
/// bracket.
fn regex(name: &str) -> String {
    let mut text = String::with_capacity(2 * name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        let mut len = char.len_utf8();
        match char {
            '*' => text.push_str(".*"),
            '?' => text.push('.'),
            '[' if class_end(rest).is_some() => {
                len = class_end(rest).unwrap_or(len);
                class(&rest[1..len - 1], &mut text);
            }
            '\\' if rest.len() > 1 => {
                let next = rest[1..].chars().next().map_or(0, char::len_utf8);
                text.push_str(&regex::escape(&rest[1..1 + next]));
                len += next;
            }
            _ => text.push_str(&regex::escape(&rest[..len])),
        }
        rest = &rest[len..];
    }
    text
}

/// Adds a character class. A backslash in it is literal.
fn class(body: &str, text: &mut String) {
    let (sign, body) = match body.strip_prefix(['!', '^']) {
        Some(body) => ("^", body),
        None => ("", body),
    };
    text.push('[');
    text.push_str(sign);
    let letters: Vec<char> = body.chars().collect();
    let letter = |char: char| format!("\\x{{{:x}}}", char as u32);
    let mut at = 0;
    while at < letters.len() {
        text.push_str(&letter(letters[at]));
        if letters.get(at + 1) == Some(&'-') && at + 2 < letters.len() {
            text.push('-');
            text.push_str(&letter(letters[at + 2]));
            at += 2;
        }
        at += 1;
    }
    text.push(']');
}

/// The length of the character class at the start of a text. A `]` that comes first is a member.
fn class_end(text: &str) -> Option<usize> {
    let mut from = 1;
    for first in ["!^", "]"] {
        from += usize::from(text[from..].starts_with(|char| first.contains(char)));
    }
    text[from..].find(']').map(|at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_agents_expect_of_them() {
        let cases: [(&str, &[&str], &[&str]); 24] = [
            ("*.py", &["a.py", "x/y/b.py", ".git/c.py"], &[".a.py", "a.pyc", "a.py/b"]),
            (".*", &[".env", "a/.env"], &["env"]),
            ("src/*.rs", &["src/a.rs"], &["a.rs", "src/x/a.rs", "src/.a.rs", "x/src/a.rs"]),
            ("/top.py", &["top.py"], &["x/top.py"]),
            ("**/*.rs", &["a.rs", "x/y/a.rs"], &[".x/a.rs", "x/.y/a.rs", "x/.a.rs"]),
            ("src/**", &["src/a", "src/x/y"], &["src", "a", "src/.x/y", "src/x/.y"]),
            ("src/**/t/*.js", &["src/t/a.js", "src/a/b/t/c.js"], &["t/a.js", "src/t/x/a.js"]),
            ("**/.github/**", &[".github/x/y", "a/.github/x"], &[".github", "github/x"]),
            ("[^a]*", &["b", "x/bc"], &["a", "ab"]),
            ("[!a-c]x", &["dx"], &["ax", "cx"]),
            ("[]]", &["]"], &["a"]),
            ("[a", &["[a"], &["a"]),
            ("*.{ts,tsx}", &["a.ts", "b/c.tsx"], &["a.js"]),
            ("{src,lib/{a,b}}/*", &["src/x", "lib/a/x", "lib/b/x"], &["lib/x", "lib/c/x"]),
            ("{a}", &["{a}"], &["a"]),
            ("{a", &["{a"], &["a"]),
            ("a//b", &["a/b"], &["a"]),
            ("./a/*", &["a/b"], &["b"]),
            ("dir/", &[], &["dir", "dir/x"]),
            ("\\[id\\].tsx", &["app/[id].tsx"], &["i.tsx"]),
            ("a?c", &["abc", "aéc"], &["ac", "abbc"]),
            ("[é-ü].{x,ÿ}", &["é.x", "ö.ÿ"], &["e.x", "ä"]),
            ("x/.", &[], &["x"]),
            ("[a\\]*", &["a", "\\b"], &["b"]),
        ];
        for (pattern, yes, no) in cases {
            let glob = Pattern::new(pattern, false).unwrap();
            yes.iter().for_each(|path| assert!(glob.matches(path), "{pattern:?} should match {path:?}"));
            no.iter().for_each(|path| assert!(!glob.matches(path), "{pattern:?} should not match {path:?}"));
        }
        assert!(Pattern::new("**", true).unwrap().matches(".a/.b"));
    }

    #[test]
    fn attack_102_patterns_are_bounded_and_linear() {
        let broad = Pattern::new(&"{a,b}".repeat(20), false).unwrap_err();
        assert!(matches!(broad, BackendError::Pattern { fault: PatternFault::TooBroad, .. }));
        let deep = "{".repeat(2000) + "a,b" + &"}".repeat(2000);
        assert!(Pattern::new(&deep, false).is_ok());
        let stars = Pattern::new(&"**/*/".repeat(50), true).unwrap();
        assert!(!stars.matches(&"a/".repeat(120)));
        let begin = std::time::Instant::now();
        assert!(!Pattern::new(&("*a".repeat(30) + "b"), false).unwrap().matches(&"a".repeat(250)));
        assert!(begin.elapsed().as_secs() < 2);
    }

    #[test]
    fn attack_71_no_pattern_leads_up() {
        for pattern in ["..", "../x", "a/../b", "{..,a}/x", "{.,a}./x", "a\\..\\b"] {
            let error = Pattern::new(pattern, false).unwrap_err();
            assert!(matches!(error, BackendError::Pattern { fault: PatternFault::Parent, .. }), "{pattern}");
        }
    }
}
