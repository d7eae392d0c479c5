//! Text to tree.

use std::str::Chars;

use super::{Boundary, Invalid, Node, Set};

/// Groups in each other; each level costs stack.
const DEPTH_LIMIT: u32 = 100;
/// The largest count in `{…}`.
const REPEAT_LIMIT: u32 = 32767;

/// Parses an expression; also returns how many groups it has.
pub(super) fn parse(source: &str) -> Result<(Node, usize), Invalid> {
    let mut parser = Parser { chars: source.chars(), groups: 0, depth: 0 };
    let node = parser.alternation()?;
    match parser.chars.next() {
        None => Ok((node, parser.groups)),
        Some(_) => Err(Invalid),
    }
}

struct Parser<'a> {
    chars: Chars<'a>,
    groups: usize,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    fn alternation(&mut self) -> Result<Node, Invalid> {
        let mut branches = vec![self.concat()?];
        while self.peek() == Some('|') {
            self.chars.next();
            branches.push(self.concat()?);
        }
        match branches.pop() {
            Some(only) if branches.is_empty() => Ok(only),
            last => {
                branches.extend(last);
                Ok(Node::Alternate(branches))
            }
        }
    }

    fn concat(&mut self) -> Result<Node, Invalid> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            // A closing parenthesis without an opening one is text.
            if c == '|' || (c == ')' && self.depth > 0) {
                break;
            }
            let atom = self.atom()?;
            nodes.push(self.repeats(atom)?);
        }
        Ok(if nodes.is_empty() { Node::Empty } else { Node::Concat(nodes) })
    }

    fn repeats(&mut self, atom: Node) -> Result<Node, Invalid> {
        let mut node = atom;
        loop {
            let (low, high) = match self.peek() {
                Some('*') => self.skip((0, None)),
                Some('+') => self.skip((1, None)),
                Some('?') => self.skip((0, Some(1))),
                Some('{') => self.bounds()?,
                _ => return Ok(node),
            };
            // An anchor cannot be repeated.
            if let Node::Start = node {
                return Err(Invalid);
            }
            node = Node::Repeat(Box::new(node), low, high);
        }
    }

    fn skip<T>(&mut self, value: T) -> T {
        self.chars.next();
        value
    }

    /// `{m}`, `{m,}`, `{,n}`, `{m,n}`
    fn bounds(&mut self) -> Result<(u32, Option<u32>), Invalid> {
        let rest = &self.chars.as_str()[1..];
        let end = rest.find('}').ok_or(Invalid)?;
        let body = &rest[..end];
        let number = |t: &str| t.parse::<u32>().ok().filter(|n| *n <= REPEAT_LIMIT).ok_or(Invalid);
        let bounds = match body.split_once(',') {
            None => {
                let n = number(body)?;
                (n, Some(n))
            }
            Some(("", "")) => (0, None),
            Some((low, "")) => (number(low)?, None),
            Some(("", high)) => (0, Some(number(high)?)),
            Some((low, high)) => (number(low)?, Some(number(high)?)),
        };
        if bounds.1.is_some_and(|high| high < bounds.0) {
            return Err(Invalid);
        }
        self.chars = rest[end + 1..].chars();
        Ok(bounds)
    }

    fn atom(&mut self) -> Result<Node, Invalid> {
        let Some(c) = self.chars.next() else { return Ok(Node::Empty) };
        Ok(match c {
            '.' => Node::Any,
            '^' => Node::Start,
            '$' => Node::End,
            '[' => Node::Set(self.set()?),
            '(' => {
                self.depth += 1;
                if self.depth > DEPTH_LIMIT {
                    return Err(Invalid);
                }
                self.groups += 1;
                let group = self.groups;
                let inner = self.alternation()?;
                if self.chars.next() != Some(')') {
                    return Err(Invalid);
                }
                self.depth -= 1;
                Node::Group(Box::new(inner), group)
            }
            '\\' => self.escape()?,
            // Nothing to repeat.
            '*' | '+' | '?' | '{' => return Err(Invalid),
            c => Node::Char(c),
        })
    }

    fn escape(&mut self) -> Result<Node, Invalid> {
        let class = |negated: bool, class: fn(char) -> bool| {
            Node::Set(Set { negated, ranges: Vec::new(), classes: vec![class] })
        };
        let is_space: fn(char) -> bool = char::is_whitespace;
        Ok(match self.chars.next() {
            None => return Err(Invalid),
            Some('w') => class(false, super::run::is_word),
            Some('W') => class(true, super::run::is_word),
            Some('s') => class(false, is_space),
            Some('S') => class(true, is_space),
            Some('b') => Node::Word(Boundary::Any),
            Some('B') => Node::Word(Boundary::None),
            Some('<') => Node::Word(Boundary::Start),
            Some('>') => Node::Word(Boundary::End),
            Some('`') => Node::Start,
            Some('\'') => Node::End,
            Some('1'..='9') => return Err(Invalid),
            Some(c) => Node::Char(c),
        })
    }

    /// A bracket expression after its `[`. A backslash is itself here.
    fn set(&mut self) -> Result<Set, Invalid> {
        let mut set = Set::default();
        if self.peek() == Some('^') {
            self.chars.next();
            set.negated = true;
        }
        let mut first = true;
        loop {
            let c = self.chars.next().ok_or(Invalid)?;
            if c == ']' && !first {
                return Ok(set);
            }
            first = false;
            let low = match (c, self.peek()) {
                ('[', Some(':')) => {
                    set.classes.push(class_named(&self.delimited(':')?).ok_or(Invalid)?);
                    continue;
                }
                ('[', Some(kind @ ('.' | '='))) => self.delimited(kind)?.chars().next().ok_or(Invalid)?,
                (c, _) => c,
            };
            let mut ahead = self.chars.clone();
            let mut high = low;
            if ahead.next() == Some('-') && !matches!(ahead.clone().next(), None | Some(']')) {
                self.chars = ahead;
                high = match (self.chars.next().ok_or(Invalid)?, self.peek()) {
                    ('[', Some(kind @ ('.' | '='))) => self.delimited(kind)?.chars().next().ok_or(Invalid)?,
                    (c, _) => c,
                };
                if high < low {
                    return Err(Invalid);
                }
            }
            set.ranges.push((low, high));
        }
    }

    /// The name in `[:name:]`, `[.name.]` or `[=name=]`, with the cursor on the kind.
    fn delimited(&mut self, kind: char) -> Result<String, Invalid> {
        let rest = &self.chars.as_str()[1..];
        let end = rest.find(&format!("{kind}]")).ok_or(Invalid)?;
        let name = rest[..end].to_owned();
        self.chars = rest[end + 2..].chars();
        Ok(name)
    }
}

fn class_named(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "alnum" => char::is_alphanumeric,
        "alpha" => char::is_alphabetic,
        "blank" => |c| matches!(c, ' ' | '\t'),
        "cntrl" => char::is_control,
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| !c.is_control() && !c.is_whitespace(),
        "lower" => char::is_lowercase,
        "print" => |c| !c.is_control(),
        "punct" => |c| c.is_ascii_punctuation() || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace()),
        "space" => char::is_whitespace,
        "upper" => char::is_uppercase,
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}
