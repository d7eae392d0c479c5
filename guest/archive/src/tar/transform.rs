//! `--transform`: changes names by an expression of sed.

use isopod_regex::{Captures, Flags, Regex, Syntax};

/// A replacement such as `s,^a,b,`.
pub(super) struct Transform {
    regex: Regex,
    parts: Vec<Part>,
    is_global: bool,
    /// The number of the first match to replace.
    nth: usize,
    /// Three flags: it applies to names, to targets of symbolic links and to targets of hard links.
    scope: (bool, bool, bool),
}

enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// The role of a name.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Member,
    Symlink,
    HardLink,
}

impl Transform {
    /// Reads an expression, or several with semicolons between.
    pub(super) fn parse(text: &str) -> Result<Vec<Transform>, String> {
        let wrong = || "Invalid transform expression".to_owned();
        let mut transforms = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let body = rest.strip_prefix('s').ok_or_else(wrong)?;
            let mark = body.chars().next().ok_or_else(wrong)?;
            let (pattern, after) = delimited(&body[mark.len_utf8()..], mark).ok_or_else(wrong)?;
            let (replacement, after) = delimited(after, mark).ok_or_else(wrong)?;
            let end = after.find(';').unwrap_or(after.len());
            transforms.push(Transform::new(&pattern, &replacement, &after[..end])?);
            rest = after[end..].trim_start_matches(';');
        }
        Ok(transforms)
    }

    fn new(pattern: &str, replacement: &str, letters: &str) -> Result<Transform, String> {
        let (mut syntax, mut flags) = (Syntax::Basic, Flags::default());
        let (mut is_global, mut nth, mut scope) = (false, 0, (true, true, true));
        for letter in letters.chars() {
            match letter {
                'g' => is_global = true,
                'i' => flags.icase = true,
                'x' => syntax = Syntax::Extended,
                'r' => scope.0 = true,
                'R' => scope.0 = false,
                's' => scope.1 = true,
                'S' => scope.1 = false,
                'h' => scope.2 = true,
                'H' => scope.2 = false,
                digit if digit.is_ascii_digit() => nth = nth * 10 + digit as usize - '0' as usize,
                other => return Err(format!("Unknown flag in transform expression: {other}")),
            }
        }
        let regex = Regex::new(pattern.as_bytes(), syntax, flags)
            .map_err(|error| format!("Invalid transform expression: {error}"))?;
        Ok(Transform { regex, parts: parts(replacement)?, is_global, nth: nth.max(1), scope })
    }

    /// Returns a name after the replacement. The search continues after each match, so the time is linear.
    pub(super) fn apply(&self, name: &str, role: Role) -> String {
        let is_meant = match role {
            Role::Member => self.scope.0,
            Role::Symlink => self.scope.1,
            Role::HardLink => self.scope.2,
        };
        if !is_meant {
            return name.to_owned();
        }
        let text = name.as_bytes();
        let mut result = Vec::new();
        let (mut at, mut count) = (0, 0);
        let mut captures = Captures::default();
        while at <= text.len() && self.regex.captures_at(text, at, &mut captures) {
            let Some((start, end)) = captures.get(0) else {
                break;
            };
            count += 1;
            result.extend_from_slice(&text[at..start]);
            if count >= self.nth {
                self.replace(text, &captures, &mut result);
            } else {
                result.extend_from_slice(&text[start..end]);
            }
            at = end;
            if start == end {
                result.extend(text.get(at));
                at += 1;
            }
            if count >= self.nth && !self.is_global {
                break;
            }
        }
        result.extend_from_slice(text.get(at..).unwrap_or_default());
        String::from_utf8_lossy(&result).into_owned()
    }

    fn replace(&self, text: &[u8], captures: &Captures, result: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(bytes) => result.extend_from_slice(bytes),
                Part::Group(group) => {
                    if let Some((start, end)) = captures.get(*group) {
                        result.extend_from_slice(&text[start..end]);
                    }
                }
            }
        }
    }
}

/// Splits a text at a mark without a backslash before it. A mark with a backslash is plain text.
fn delimited(text: &str, mark: char) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == mark {
            return Some((part, &text[at + c.len_utf8()..]));
        }
        if c == '\\' {
            let (_, next) = chars.next()?;
            if next != mark {
                part.push('\\');
            }
            part.push(next);
        } else {
            part.push(c);
        }
    }
    None
}

fn parts(replacement: &str) -> Result<Vec<Part>, String> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        let group = match c {
            '&' => 0,
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => digit as usize - '0' as usize,
                Some('n') => {
                    text.push('\n');
                    continue;
                }
                Some(case @ ('L' | 'U' | 'E' | 'l' | 'u')) => {
                    return Err(format!("transform: \\{case} is not supported"));
                }
                Some(other) => {
                    text.push(other);
                    continue;
                }
                None => return Err("Invalid transform replacement: string ends with a backslash".into()),
            },
            c => {
                text.push(c);
                continue;
            }
        };
        parts.push(Part::Text(std::mem::take(&mut text).into_bytes()));
        parts.push(Part::Group(group));
    }
    parts.push(Part::Text(text.into_bytes()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_changed_as_sed_does() {
        for (expression, name, result) in [
            ("s,^,p/,", "a/b", "p/a/b"),
            ("s/a/x/", "aaa", "xaa"),
            ("s/a/x/g", "aaa", "xxx"),
            ("s/a/x/2", "aaa", "axa"),
            ("s/\\(.*\\)\\.txt/\\1.md/", "d/a.txt", "d/a.md"),
            ("s/(a)(b)/\\2\\1/x", "ab", "ba"),
            ("s/A/x/i", "a", "x"),
            ("s/a/b/;s/b/c/", "a", "c"),
            ("s/\\//-/g", "a/b/c", "a-b-c"),
            ("s/x*/-/g", "ab", "-a-b-"),
            ("s/a/[&]/", "a", "[a]"),
        ] {
            let transforms = Transform::parse(expression).unwrap();
            let changed = transforms.iter().fold(name.to_owned(), |name, one| one.apply(&name, Role::Member));
            assert_eq!(changed, result, "{expression}");
        }
        for wrong in ["x", "s", "s/a", "s/a/b", "s/a/b/q"] {
            assert!(Transform::parse(wrong).is_err(), "{wrong}");
        }
    }
}
