//! Rules that exclude files: `.gitignore`, `.ignore`, `.rgignore`, and the globs of `-g` and `-t`.

use isopod_gnu::output::read_file;
use isopod_gnu::pattern::one;

/// The largest number of bytes read from an ignore file.
const MOST: usize = 4 << 20;

/// One line of an ignore file.
pub(super) struct Rule {
    pattern: Vec<char>,
    /// `!`: a matching file is not ignored.
    pub(super) negated: bool,
    directories_only: bool,
    /// The pattern has a slash and matches paths relative to its directory. Without one it matches names.
    anchored: bool,
    icase: bool,
}

/// The rules of one directory.
pub(super) struct Rules {
    /// The path prefix that the rules apply to, with a slash at its end unless it is empty.
    root: String,
    /// The prefix that the rules expect in place of `root`.
    lead: String,
    rules: Vec<Rule>,
}

impl Rule {
    /// Parses a line. Returns `None` for a comment or an empty line.
    fn parse(line: &str) -> Option<Rule> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with('#') {
            return None;
        }
        let trimmed = line.trim_end_matches(' ');
        // A space escaped with a backslash is kept.
        let line =
            if trimmed.ends_with('\\') && trimmed.len() < line.len() { &line[..=trimmed.len()] } else { trimmed };
        (!line.is_empty()).then(|| Rule::glob(line, false))
    }

    /// Parses a glob of an option.
    pub(super) fn glob(text: &str, icase: bool) -> Rule {
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (directories_only, text) = text.strip_suffix('/').map_or((false, text), |rest| (true, rest));
        let anchored = text.contains('/');
        let text = text.strip_prefix('/').unwrap_or(text);
        let text = if icase { text.to_lowercase() } else { text.to_owned() };
        Rule { pattern: text.chars().collect(), negated, directories_only, anchored, icase }
    }

    /// Returns true if the rule matches a path relative to its directory.
    pub(super) fn fits(&self, path: &str, is_dir: bool) -> bool {
        if self.directories_only && !is_dir {
            return false;
        }
        let subject = if self.anchored { path } else { path.rsplit('/').next().unwrap_or(path) };
        let subject: Vec<char> =
            if self.icase { subject.to_lowercase().chars().collect() } else { subject.chars().collect() };
        expand(&self.pattern).iter().any(|pattern| matches(pattern, &subject))
    }
}

impl Rules {
    /// Reads an ignore file. Returns `None` if it does not exist or has no rules.
    pub(super) fn read(file: &str, root: &str) -> Option<Rules> {
        let bytes = read_file(file, MOST).ok()?;
        let rules: Vec<Rule> = String::from_utf8_lossy(&bytes).lines().filter_map(Rule::parse).collect();
        (!rules.is_empty()).then(|| Rules { root: root.to_owned(), lead: String::new(), rules })
    }

    /// Returns true if the rules ignore a path, false if they include it, and `None` if no rule matches.
    pub(super) fn verdict(&self, path: &str, is_dir: bool) -> Option<bool> {
        let below = path.strip_prefix(self.root.as_str())?;
        let full = format!("{}{below}", self.lead);
        self.rules.iter().rev().find(|rule| rule.fits(&full, is_dir)).map(|rule| !rule.negated)
    }

    /// Adapts the rules of a parent directory: paths below `root` are matched as paths below `lead`.
    pub(super) fn seen_from(self, root: &str, lead: &str) -> Rules {
        Rules { root: root.to_owned(), lead: lead.to_owned(), ..self }
    }
}

/// Returns true if the globs of the options exclude a path.
pub(super) fn leaves_out(globs: &[Rule], path: &str, is_dir: bool) -> bool {
    match globs.iter().rev().find(|rule| rule.fits(path, is_dir)) {
        Some(rule) => rule.negated,
        None => !is_dir && globs.iter().any(|rule| !rule.negated),
    }
}

/// Returns the patterns that a pattern with `{a,b}` expands to.
fn expand(pattern: &[char]) -> Vec<Vec<char>> {
    /// The largest number of expansions.
    const MOST: usize = 200;
    let mut done = Vec::new();
    let mut open = vec![pattern.to_vec()];
    while let Some(pattern) = open.pop() {
        let start = pattern.iter().enumerate().position(|(at, c)| *c == '{' && (at == 0 || pattern[at - 1] != '\\'));
        let Some(start) = start else {
            done.push(pattern);
            continue;
        };
        let (mut depth, mut parts, mut from, mut end) = (0, Vec::new(), start + 1, None);
        for (at, c) in pattern.iter().enumerate().skip(start) {
            match c {
                '{' => depth += 1,
                '}' if depth == 1 => {
                    parts.push(&pattern[from..at]);
                    end = Some(at);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 1 => {
                    parts.push(&pattern[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
        }
        match end {
            Some(end) if done.len() + open.len() < MOST => {
                open.extend(parts.iter().map(|part| [&pattern[..start], part, &pattern[end + 1..]].concat()));
            }
            _ => done.push(pattern),
        }
    }
    done
}

/// Matches a glob. One star stays within a directory, two stars do not. Backtracking retries only the last star of
/// each kind, so the time is bounded.
fn matches(pattern: &[char], subject: &[char]) -> bool {
    let (mut p, mut s) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        if pattern[p..].starts_with(&['*', '*']) {
            let stars = pattern[p..].iter().take_while(|c| **c == '*').count();
            let after = p + stars;
            // `**/` also matches the empty text.
            let after =
                if pattern.get(after) == Some(&'/') && (p == 0 || pattern[p - 1] == '/') { after + 1 } else { after };
            deep = Some((after, s));
            star = None;
            p = after;
            continue;
        }
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, s));
            p += 1;
            continue;
        }
        if p == pattern.len() && s == subject.len() {
            return true;
        }
        let step = match (pattern.get(p), subject.get(s)) {
            (Some('/'), Some('/')) => Some(p + 1),
            (Some(_), Some('/')) | (_, None) => None,
            (_, Some(c)) => one(pattern, p, *c),
        };
        if let Some(next) = step {
            (p, s) = (next, s + 1);
        } else if let Some((at, from)) = star.filter(|(_, from)| subject.get(*from).is_some_and(|c| *c != '/')) {
            star = Some((at, from + 1));
            (p, s) = (at, from + 1);
        } else if let Some((at, from)) = deep.filter(|(_, from)| *from < subject.len()) {
            // `**/` continues only after a slash; `**` at the end matches everything.
            let whole = at > 0 && pattern[at - 1] == '/';
            let mut next = from + 1;
            while whole && next < subject.len() && subject[next - 1] != '/' {
                next += 1;
            }
            if whole && subject[next - 1] != '/' {
                return false;
            }
            deep = Some((at, next));
            star = None;
            (p, s) = (at, next);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_paths_as_git_has_it() {
        for (glob, path, is_dir, fits) in [
            ("*.log", "a/b.log", false, true),
            ("/build", "build", true, true),
            ("/build", "a/build", true, false),
            ("node_modules/", "a/node_modules", true, true),
            ("node_modules/", "node_modules", false, false),
            ("a/*.c", "a/x.c", false, true),
            ("a/*.c", "a/b/x.c", false, false),
            ("a/**/x.c", "a/x.c", false, true),
            ("a/**/x.c", "a/b/c/x.c", false, true),
            ("**/foo", "x/y/foo", false, true),
            ("foo/**", "foo/a/b", false, true),
            ("*.{rs,toml}", "Cargo.toml", false, true),
            ("src/**/*.rs", "src/a/b.rs", false, true),
            ("a?c", "abc", false, true),
            ("[a-c]x", "bx", false, true),
        ] {
            assert_eq!(Rule::glob(glob, false).fits(path, is_dir), fits, "{glob} {path}");
        }
    }
}
