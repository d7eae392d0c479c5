//! The parser: pattern to tree, by glibc's rules.

use crate::bracket;
use crate::error::Error;
use crate::set::{Class, Set, others};
use crate::symbol::{Encoding, Symbol};
use crate::syntax::{Rules, Syntax};
use crate::tree::{Look, Node};
use crate::{Flags, Lines};

/// The deepest nesting of groups. Each level takes stack here and in the compilers, and a guest's stack is small.
const DEPTH_LIMIT: u32 = 200;

/// The limit of repetitions of repetitions, such as `a{2}{3}`, in one pattern.
const STACKED_LIMIT: u32 = 50;

/// The largest count in an interval: glibc's RE_DUP_MAX.
const REPEAT_LIMIT: u32 = 32767;

/// The parser's state.
pub(crate) struct Parser<'a> {
    pattern: &'a [u8],
    at: usize,
    rules: Rules,
    syntax: Syntax,
    flags: &'a Flags,
    depth: u32,
    stacked: u32,
    /// The number of groups in the patterns before this one, which are searched together with it.
    base: usize,
    opened: usize,
    closed: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Symbol(Symbol),
    Period,
    Bracket,
    Open,
    Close,
    Alternate,
    Star,
    Plus,
    Question,
    OpenBrace,
    CloseBrace,
    Look(Look),
    Class(Class, bool),
    BackReference(usize),
    End,
}

/// Parses a pattern whose groups are numbered from `base` + 1. Also returns the number of the last group.
pub(crate) fn parse(pattern: &[u8], syntax: Syntax, flags: &Flags, base: usize) -> Result<(Node, usize), Error> {
    let rules = syntax.rules();
    let mut parser =
        Parser { pattern, at: 0, rules, syntax, flags, depth: 0, stacked: 0, base, opened: base, closed: Vec::new() };
    if syntax == Syntax::Fixed {
        return Ok((parser.text(), base));
    }
    let node = parser.alternatives(true)?;
    match parser.peek(false)?.0 {
        Token::End => Ok((node, parser.opened)),
        _ => Err(Error::CloseParenthesis),
    }
}

impl<'a> Parser<'a> {
    fn text(&mut self) -> Node {
        let mut nodes = Vec::new();
        while self.at < self.pattern.len() {
            let (symbol, length) = self.encoding().at(self.pattern, self.at);
            self.at += length;
            nodes.push(self.symbol(symbol));
        }
        Node::Concat(nodes)
    }

    pub(crate) fn encoding(&self) -> Encoding {
        if self.flags.bytes { Encoding::Bytes } else { Encoding::Utf8 }
    }

    /// Returns the next token and its length. With `starts`, a caret is an anchor.
    fn peek(&self, starts: bool) -> Result<(Token, usize), Error> {
        let Some(&first) = self.pattern.get(self.at) else { return Ok((Token::End, 0)) };
        let rules = &self.rules;
        let token = match first {
            b'\\' => return self.escape(),
            b'\n' if rules.newline_alternates => Token::Alternate,
            b'|' if rules.bare_groups => Token::Alternate,
            b'(' if rules.bare_groups => Token::Open,
            b')' if rules.bare_groups => Token::Close,
            b'*' => Token::Star,
            b'+' if !rules.backslash_plus => Token::Plus,
            b'?' if !rules.backslash_plus => Token::Question,
            b'{' if rules.intervals && rules.bare_braces => Token::OpenBrace,
            b'}' if rules.intervals && rules.bare_braces => Token::CloseBrace,
            b'[' => Token::Bracket,
            b'.' => Token::Period,
            b'^' if starts || rules.anchors_anywhere || self.at == 0 || self.follows_newline() => {
                Token::Look(self.line_look(Look::LineStart))
            }
            b'$' if rules.anchors_anywhere || self.ends_branch() => Token::Look(self.line_look(Look::LineEnd)),
            _ => {
                let (symbol, length) = self.encoding().at(self.pattern, self.at);
                return Ok((Token::Symbol(symbol), length));
            }
        };
        Ok((token, 1))
    }

    fn escape(&self) -> Result<(Token, usize), Error> {
        let Some(&next) = self.pattern.get(self.at + 1) else { return Err(Error::TrailingBackslash) };
        let rules = &self.rules;
        let token = match next {
            b'|' if !rules.bare_groups => Token::Alternate,
            b'(' if !rules.bare_groups => Token::Open,
            b')' if !rules.bare_groups => Token::Close,
            b'+' if rules.backslash_plus => Token::Plus,
            b'?' if rules.backslash_plus => Token::Question,
            b'{' if rules.intervals && !rules.bare_braces => Token::OpenBrace,
            b'}' if rules.intervals && !rules.bare_braces => Token::CloseBrace,
            b'1'..=b'9' if self.syntax != Syntax::Awk => Token::BackReference(usize::from(next - b'0')),
            b'<' => Token::Look(Look::WordStart),
            b'>' => Token::Look(Look::WordEnd),
            // In awk `\b` is a backspace, and the boundary is `\y`.
            b'y' if self.syntax == Syntax::Awk => Token::Look(Look::WordEdge),
            b'b' if self.syntax != Syntax::Awk => Token::Look(Look::WordEdge),
            b'B' => Token::Look(Look::NoWordEdge),
            b'`' => Token::Look(self.text_look(Look::TextStart)),
            b'\'' => Token::Look(self.text_look(Look::TextEnd)),
            b'w' => Token::Class(Class::Word, false),
            b'W' => Token::Class(Class::Word, true),
            b's' => Token::Class(Class::Space, false),
            b'S' => Token::Class(Class::Space, true),
            _ => {
                let (symbol, length) = self.encoding().at(self.pattern, self.at + 1);
                return Ok((Token::Symbol(symbol), length + 1));
            }
        };
        Ok((token, 2))
    }

    fn follows_newline(&self) -> bool {
        self.rules.newline_alternates && self.pattern[self.at - 1] == b'\n'
    }

    /// Returns true if the `$` here ends a branch. Only then is it an anchor in basic syntax.
    fn ends_branch(&self) -> bool {
        match &self.pattern[self.at + 1..] {
            [] => true,
            [b'\n', ..] => self.rules.newline_alternates,
            [b'\\', b'|' | b')', ..] => !self.rules.bare_groups,
            _ => false,
        }
    }

    fn line_look(&self, look: Look) -> Look {
        match (self.flags.lines, look) {
            (Lines::None, Look::LineStart) => Look::TextStart,
            (Lines::None, _) => Look::TextEnd,
            (_, look) => look,
        }
    }

    /// With `Lines::Records` each line is a text of its own, so its ends are the ends of the text.
    fn text_look(&self, look: Look) -> Look {
        match (self.flags.lines, look) {
            (Lines::Records(_), Look::TextStart) => Look::LineStart,
            (Lines::Records(_), _) => Look::LineEnd,
            (_, look) => look,
        }
    }

    fn alternatives(&mut self, mut starts: bool) -> Result<Node, Error> {
        let mut branches = Vec::new();
        // A back-reference sees the groups before it in its own branch, not those of other branches.
        let (before, mut all) = (self.closed.len(), Vec::new());
        loop {
            branches.push(self.branch(starts)?);
            all.extend(self.closed.drain(before..));
            match self.peek(false)? {
                (Token::Alternate, length) => self.at += length,
                _ => break,
            }
            starts = true;
        }
        self.closed.append(&mut all);
        if branches.len() == 1 {
            return Ok(branches.swap_remove(0));
        }
        // glibc tries an empty branch after the others.
        let (empty, mut filled): (Vec<Node>, Vec<Node>) =
            branches.into_iter().partition(|branch| matches!(branch, Node::Empty));
        filled.extend(empty.into_iter().next());
        Ok(Node::Alternate(filled))
    }

    fn branch(&mut self, mut starts: bool) -> Result<Node, Error> {
        let mut nodes = Vec::new();
        loop {
            let (token, length) = self.peek(starts)?;
            match token {
                Token::End | Token::Alternate => break,
                Token::Close if self.depth > 0 => break,
                _ => {}
            }
            self.at += length;
            if let Some(node) = self.expression(token)? {
                nodes.push(node);
            }
            starts = false;
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.swap_remove(0),
            _ => Node::Concat(nodes),
        })
    }

    /// Reads an atom with its repetitions. Returns `None` for an operator that is skipped.
    fn expression(&mut self, mut token: Token) -> Result<Option<Node>, Error> {
        // As in glibc, the token after a skipped star starts an expression, even a closing parenthesis.
        while self.rules.stray_operator_is_skipped && matches!(token, Token::Star | Token::Plus | Token::Question) {
            let length;
            (token, length) = self.peek(false)?;
            if matches!(token, Token::End | Token::Alternate) {
                return Ok(None);
            }
            self.at += length;
        }
        let node = match token {
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Period => self.period(),
            Token::Bracket => Node::Set(self.bracket()?),
            Token::Class(class, negated) => self.class(class, negated),
            Token::Open => self.group()?,
            Token::BackReference(number) => {
                let number = number + self.base;
                if !self.closed.contains(&number) {
                    return Err(Error::BackReference);
                }
                Node::BackReference(number)
            }
            // In `grep -E`, `^*` is an optional anchor.
            Token::Look(look) if self.syntax == Syntax::Egrep && !look.is_about_words() => Node::Look(look),
            // Elsewhere an anchor cannot be repeated, and an operator after it is treated as at the start of the
            // pattern.
            Token::Look(look) => {
                let node = Node::Look(look);
                return match self.peek(false)? {
                    (next @ (Token::Star | Token::Plus | Token::Question | Token::OpenBrace), length) => {
                        self.at += length;
                        let rest = self.expression(next)?;
                        Ok(Some(Node::Concat(std::iter::once(node).chain(rest).collect())))
                    }
                    _ => Ok(Some(node)),
                };
            }
            Token::Star | Token::Plus | Token::Question | Token::OpenBrace => {
                if token == Token::OpenBrace && self.rules.stray_interval_is_error || self.rules.stray_operator_is_error
                {
                    return Err(Error::Repetition);
                }
                let is_text = token == Token::OpenBrace && self.rules.wrong_interval_is_text && !self.is_interval()?;
                if self.rules.stray_operator_is_skipped && !is_text {
                    return Ok(None);
                }
                self.symbol(Symbol::from(self.pattern[self.at - 1]))
            }
            Token::Close if !self.rules.lone_parenthesis_is_text => return Err(Error::CloseParenthesis),
            Token::Close => self.symbol(Symbol::from(b')')),
            Token::CloseBrace => self.symbol(Symbol::from(b'}')),
            Token::Alternate | Token::End => return Ok(None),
        };
        self.repetitions(node).map(Some)
    }

    fn repetitions(&mut self, mut node: Node) -> Result<Node, Error> {
        let mut levels = 0;
        loop {
            let (token, length) = self.peek(false)?;
            let before = self.at;
            self.at += length;
            let (least, most) = match token {
                Token::Star => (0, None),
                Token::Plus => (1, None),
                Token::Question => (0, Some(1)),
                Token::OpenBrace => match self.interval()? {
                    Some(bounds) => bounds,
                    // The brace is text and is read as the next atom.
                    None => {
                        self.at = before;
                        return Ok(node);
                    }
                },
                _ => {
                    self.at = before;
                    return Ok(node);
                }
            };
            if levels > 0 && self.rules.stray_interval_is_error && matches!(token, Token::Star | Token::OpenBrace) {
                return Err(Error::Repetition);
            }
            levels += 1;
            node = match (node, least, most) {
                // `a**` and the like are `a*`, however many there are.
                (Node::Repeat(inner, 0, None), _, None | Some(1..)) => Node::Repeat(inner, 0, None),
                (Node::Repeat(inner, 0 | 1, None | Some(1)), 0, None) => Node::Repeat(inner, 0, None),
                (Node::Repeat(inner, 1, None), 1, None) => Node::Repeat(inner, 1, None),
                (Node::Repeat(inner, 0, Some(1)), 0, Some(1)) => Node::Repeat(inner, 0, Some(1)),
                (node, least, most) => {
                    self.stacked += u32::from(matches!(node, Node::Repeat(..)));
                    Node::Repeat(Box::new(node), least, most)
                }
            };
            if self.stacked > STACKED_LIMIT {
                return Err(Error::TooBig);
            }
        }
    }

    /// Reads the bounds after an opening brace. Returns `None` if they are malformed and the dialect reads them as
    /// text.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let close: &[u8] = if self.rules.bare_braces { b"}" } else { b"\\}" };
        let rest = &self.pattern[self.at..];
        let (low, used) = number(rest);
        let (comma, high, used) = match rest.get(used) {
            Some(b',') => {
                let (high, more) = number(&rest[used + 1..]);
                (true, high, used + 1 + more)
            }
            _ => (false, low, used),
        };
        let closes = rest[used..].starts_with(close);
        if !closes || (low.is_none() && !comma) {
            if self.rules.wrong_interval_is_text {
                return Ok(None);
            }
            let is_open = !rest.windows(close.len()).any(|bytes| bytes == close);
            return Err(if is_open { Error::Brace } else { Error::Interval });
        }
        self.at += used + close.len();
        let least = low.unwrap_or(0);
        if high.is_some_and(|most| most < least) {
            return Err(Error::Interval);
        }
        if least.max(high.unwrap_or(0)) > REPEAT_LIMIT {
            return Err(Error::TooBig);
        }
        Ok(Some((least, high)))
    }

    /// Returns true if an interval follows the brace, and skips it.
    fn is_interval(&mut self) -> Result<bool, Error> {
        Ok(self.interval()?.is_some())
    }

    fn group(&mut self) -> Result<Node, Error> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::TooBig);
        }
        self.opened += 1;
        let number = self.opened;
        let inner = self.alternatives(true)?;
        match self.peek(false)? {
            (Token::Close, length) => self.at += length,
            _ => return Err(Error::OpenParenthesis),
        }
        self.depth -= 1;
        self.closed.push(number);
        Ok(Node::Group(number, Box::new(inner)))
    }

    fn symbol(&self, symbol: Symbol) -> Node {
        if !self.flags.icase || others(symbol) == [None, None] {
            return Node::Symbol(symbol);
        }
        if symbol < 0x80 {
            return Node::Letter(symbol as u8 | 0x20);
        }
        let mut set = Set::new(self.encoding(), false);
        set.add(symbol, symbol);
        for other in others(symbol).into_iter().flatten() {
            set.add(other, other);
        }
        Node::Set(set.finish())
    }

    fn period(&self) -> Node {
        let mut set = self.new_set();
        set.negate();
        if self.rules.dot_not_nul {
            set.except(0);
        }
        self.finish(set, true)
    }

    fn class(&self, class: Class, negated: bool) -> Node {
        let mut set = self.new_set();
        set.add_class(class, false);
        if negated {
            set.negate();
        }
        self.finish(set, false)
    }

    fn bracket(&mut self) -> Result<Box<Set>, Error> {
        let mut reader = bracket::Reader {
            pattern: self.pattern,
            at: self.at,
            encoding: self.encoding(),
            escapes: self.rules.backslash_in_brackets,
            refuses_bare_class: self.syntax.refuses_bare_class(),
        };
        let mut set = self.new_set();
        reader.read(&mut set)?;
        self.at = reader.at;
        let is_negated = set.is_negated();
        match self.finish(set, is_negated) {
            Node::Set(set) => Ok(set),
            _ => Err(Error::Bracket),
        }
    }

    fn new_set(&self) -> Set {
        Set::new(self.encoding(), self.flags.icase)
    }

    /// Completes a set. Within lines, `.` and `[^x]` exclude the newline; `[x\n]` and `\W` do not.
    fn finish(&self, mut set: Set, is_about_the_rest: bool) -> Node {
        match self.flags.lines {
            Lines::Within(_) if !is_about_the_rest => {}
            Lines::Records(end) | Lines::Within(end) => set.except(Symbol::from(end)),
            Lines::None => {}
        }
        Node::Set(set.finish())
    }
}

/// Returns the number at the start of the text, if there is one, and its length. Numbers too large saturate.
fn number(text: &[u8]) -> (Option<u32>, usize) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = |value: u32, digit: &u8| value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    ((length > 0).then(|| text[..length].iter().fold(0, value)), length)
}
