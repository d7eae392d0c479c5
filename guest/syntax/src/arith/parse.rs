//! Compiles an expression by precedence climbing.

use std::rc::Rc;

use super::number::parse_number;
use super::{Binary, Code, Error, Op, PLACEHOLDER, Subscript, Target, Unary};
use crate::name_length;

/// Limit on nested parentheses, unary operators and conditionals; each level costs stack.
const DEPTH_LIMIT: u32 = 200;

/// Compiles a text that has been expanded.
pub fn compile(text: &str) -> Result<Code, Error> {
    // A placeholder character in a script is an ordinary one.
    if let Some(at) = text.find(PLACEHOLDER) {
        return Err(Error::new("syntax error: invalid arithmetic operator", &text[at..]));
    }
    compile_at(text, 0)
}

/// Compiles a text with placeholders in place of expansions.
pub(super) fn compile_marked(text: &str) -> Result<Code, Error> {
    compile_at(text, 0)
}

fn compile_at(text: &str, depth: u32) -> Result<Code, Error> {
    let mut compiler = Compiler { text, at: 0, last: 0, depth, operations: Vec::new(), seen: None };
    compiler.blanks();
    if compiler.at == text.len() {
        return Ok(Code { operations: vec![Op::Number(0)], text: text.to_owned() });
    }
    compiler.comma()?;
    if compiler.at < text.len() {
        let assigns = ASSIGNMENTS.iter().any(|(operator, _)| compiler.rest().starts_with(operator));
        return Err(compiler.fail(if assigns {
            "attempted assignment to non-variable"
        } else if compiler.rest().starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '(') {
            "syntax error in expression"
        } else {
            "syntax error: invalid arithmetic operator"
        }));
    }
    Ok(Code { operations: compiler.operations, text: text.to_owned() })
}

struct Compiler<'a> {
    text: &'a str,
    at: usize,
    /// The start of the last token, for messages.
    last: usize,
    depth: u32,
    operations: Vec<Op>,
    /// The last target that was parsed, with its start and end. Only the next token tells whether it is assigned to.
    seen: Option<(usize, Target, usize)>,
}

impl<'a> Compiler<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Makes an error at the next token, or at the last one if there is none.
    fn fail(&self, message: &'static str) -> Error {
        let from = if self.rest().is_empty() { self.last } else { self.at };
        Error::new(message, &self.text[from..])
    }

    fn blanks(&mut self) {
        let rest = self.rest().as_bytes();
        self.at += rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn eat(&mut self, operator: &str) -> bool {
        let found = self.rest().starts_with(operator);
        if found {
            self.last = self.at;
            self.at += operator.len();
            self.blanks();
        }
        found
    }

    fn emit(&mut self, op: Op) {
        self.operations.push(op);
    }

    /// Emits a jump whose target is filled in later.
    fn hole(&mut self, op: fn(usize) -> Op) -> usize {
        self.operations.push(op(0));
        self.operations.len() - 1
    }

    /// Directs the jump at `hole` to the next operation.
    fn fill(&mut self, hole: usize, op: fn(usize) -> Op) {
        self.operations[hole] = op(self.operations.len());
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= DEPTH_LIMIT {
            return Err(self.fail("expression nested too deep"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn comma(&mut self) -> Result<(), Error> {
        self.assignment()?;
        while self.eat(",") {
            self.emit(Op::Drop);
            self.assignment()?;
        }
        Ok(())
    }

    fn assignment(&mut self) -> Result<(), Error> {
        let start = self.at;
        if let Some(target) = self.target()? {
            for (text, operator) in ASSIGNMENTS {
                if self.rest().starts_with(text) && !(text == "=" && self.rest().starts_with("==")) {
                    self.eat(text);
                    let at = self.at as u32;
                    if operator.is_some() {
                        self.emit(Op::Fetch(target.clone()));
                    }
                    self.nested(Self::assignment)?;
                    self.emit(Op::Store(target, operator, at));
                    return Ok(());
                }
            }
            self.at = start;
        }
        self.conditional()
    }

    fn conditional(&mut self) -> Result<(), Error> {
        self.binary(0)?;
        if !self.eat("?") {
            return Ok(());
        }
        let otherwise = self.hole(Op::JumpIfZero);
        if self.rest().starts_with(':') {
            return Err(self.fail("expression expected"));
        }
        self.nested(Self::comma)?;
        if !self.eat(":") {
            return Err(self.fail("`:' expected for conditional expression"));
        }
        let end = self.hole(Op::Jump);
        self.fill(otherwise, Op::JumpIfZero);
        // As in C, an assignment needs parentheses here.
        self.nested(Self::conditional)?;
        self.fill(end, Op::Jump);
        Ok(())
    }

    /// Compiles operators of at least this level, from the left.
    fn binary(&mut self, level: u8) -> Result<(), Error> {
        self.unary()?;
        loop {
            let Some((text, own_level, kind)) = self.operator() else { return Ok(()) };
            if own_level < level {
                return Ok(());
            }
            self.eat(text);
            let at = self.at as u32;
            match kind {
                Kind::And => {
                    let hole = self.hole(Op::And);
                    self.nested(|c| c.binary(own_level + 1))?;
                    self.emit(Op::Truth);
                    self.fill(hole, Op::And);
                }
                Kind::Or => {
                    let hole = self.hole(Op::Or);
                    self.nested(|c| c.binary(own_level + 1))?;
                    self.emit(Op::Truth);
                    self.fill(hole, Op::Or);
                }
                // Only powers group from the right.
                Kind::Plain(Binary::Power) => {
                    self.nested(|c| c.binary(own_level))?;
                    self.emit(Op::Binary(Binary::Power, self.last as u32));
                }
                Kind::Plain(binary) => {
                    self.nested(|c| c.binary(own_level + 1))?;
                    self.emit(Op::Binary(binary, at));
                }
            }
        }
    }

    fn operator(&self) -> Option<(&'static str, u8, Kind)> {
        let rest = self.rest();
        let found = OPERATORS.iter().find(|(text, _, _)| rest.starts_with(text))?;
        // `5--x` is not a difference: the two signs belong to the name.
        if (rest.starts_with("--") || rest.starts_with("++")) && name_length(rest[2..].trim_start().as_bytes()) > 0 {
            return None;
        }
        // `a += b` is an assignment, not a sum.
        let after = rest.as_bytes().get(found.0.len());
        let assigns = after == Some(&b'=')
            && !matches!(
                found.2,
                Kind::Plain(Binary::Equal | Binary::NotEqual | Binary::LessEqual | Binary::GreaterEqual)
            );
        (!assigns || rest.starts_with("==")).then_some(*found)
    }

    fn unary(&mut self) -> Result<(), Error> {
        self.blanks();
        for (text, delta) in [("++", 1), ("--", -1)] {
            if self.rest().starts_with(text) {
                let start = self.at;
                self.eat(text);
                if let Some(target) = self.target()? {
                    self.emit(Op::Step(target, delta, false));
                    return Ok(());
                }
                // `--5` is two minus signs.
                self.at = start;
            }
        }
        if self.eat("-") {
            self.nested(Self::unary)?;
            self.emit(Op::Unary(Unary::Minus));
        } else if self.eat("+") {
            self.nested(Self::unary)?;
        } else if self.eat("!") {
            self.nested(Self::unary)?;
            self.emit(Op::Unary(Unary::Not));
        } else if self.eat("~") {
            self.nested(Self::unary)?;
            self.emit(Op::Unary(Unary::Complement));
        } else {
            self.primary()?;
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), Error> {
        if self.eat("(") {
            self.nested(Self::comma)?;
            return match self.eat(")") {
                true => Ok(()),
                false => Err(self.fail("missing `)'")),
            };
        }
        if let Some(target) = self.target()? {
            for (text, delta) in [("++", 1), ("--", -1)] {
                if self.eat(text) {
                    self.emit(Op::Step(target, delta, true));
                    return Ok(());
                }
            }
            self.emit(Op::Load(target));
            return Ok(());
        }
        let rest = self.rest();
        if let Some(placeholder) = rest.strip_prefix(PLACEHOLDER) {
            let number = usize::from(placeholder.as_bytes()[0].saturating_sub(32));
            self.at += 2;
            if self.rest().starts_with(is_token) {
                return Err(self.fail("text joins an expansion"));
            }
            self.blanks();
            self.emit(Op::Dollar(number));
            return Ok(());
        }
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.fail("syntax error: operand expected"));
        }
        let length = rest.find(|c| !is_token(c)).unwrap_or(rest.len());
        // An expansion right after a digit would become part of the number.
        if rest[..length].contains(PLACEHOLDER) {
            return Err(self.fail("text joins an expansion"));
        }
        // The message shows the text up to the end of the number.
        let number = parse_number(&rest[..length]).map_err(|e| e.within(&self.text[..self.at + length]))?;
        self.last = self.at;
        self.at += length;
        self.blanks();
        self.emit(Op::Number(number));
        Ok(())
    }

    /// Parses a variable or an element, if one comes next.
    fn target(&mut self) -> Result<Option<Target>, Error> {
        if let Some((start, target, end)) = &self.seen
            && *start == self.at
        {
            self.at = *end;
            return Ok(Some(target.clone()));
        }
        let start = self.at;
        let length = name_length(self.rest().as_bytes());
        if length == 0 {
            return Ok(None);
        }
        let name: Rc<str> = self.rest()[..length].into();
        if self.rest()[length..].starts_with(PLACEHOLDER) {
            return Err(self.fail("text joins an expansion"));
        }
        self.at += length;
        let mut index = None;
        if self.rest().starts_with('[') {
            let inner = &self.rest()[1..];
            let Some(end) = closing_bracket(inner) else { return Err(self.fail("bad array subscript")) };
            let text = inner[..end].to_owned();
            let code = match self.depth >= DEPTH_LIMIT {
                true => Err(self.fail("expression nested too deep")),
                false => compile_at(&text, self.depth + 1),
            };
            index = Some(Rc::new(Subscript { text, code }));
            self.at += end + 2;
        }
        self.blanks();
        let target = Target { name, index };
        self.seen = Some((start, target.clone(), self.at));
        Ok(Some(target))
    }
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 0 => return Some(at),
            b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns true for characters that may belong to a constant.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '#' | PLACEHOLDER)
}

#[derive(Clone, Copy)]
enum Kind {
    And,
    Or,
    Plain(Binary),
}

/// The operators; of those with a common beginning the longest first.
const OPERATORS: [(&str, u8, Kind); 19] = [
    ("||", 1, Kind::Or),
    ("&&", 2, Kind::And),
    ("==", 6, Kind::Plain(Binary::Equal)),
    ("!=", 6, Kind::Plain(Binary::NotEqual)),
    ("<=", 7, Kind::Plain(Binary::LessEqual)),
    (">=", 7, Kind::Plain(Binary::GreaterEqual)),
    ("<<", 8, Kind::Plain(Binary::ShiftLeft)),
    (">>", 8, Kind::Plain(Binary::ShiftRight)),
    ("**", 11, Kind::Plain(Binary::Power)),
    ("|", 3, Kind::Plain(Binary::BitOr)),
    ("^", 4, Kind::Plain(Binary::BitXor)),
    ("&", 5, Kind::Plain(Binary::BitAnd)),
    ("<", 7, Kind::Plain(Binary::Less)),
    (">", 7, Kind::Plain(Binary::Greater)),
    ("+", 9, Kind::Plain(Binary::Add)),
    ("-", 9, Kind::Plain(Binary::Subtract)),
    ("*", 10, Kind::Plain(Binary::Multiply)),
    ("/", 10, Kind::Plain(Binary::Divide)),
    ("%", 10, Kind::Plain(Binary::Remainder)),
];

const ASSIGNMENTS: [(&str, Option<Binary>); 11] = [
    ("<<=", Some(Binary::ShiftLeft)),
    (">>=", Some(Binary::ShiftRight)),
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Subtract)),
    ("*=", Some(Binary::Multiply)),
    ("/=", Some(Binary::Divide)),
    ("%=", Some(Binary::Remainder)),
    ("&=", Some(Binary::BitAnd)),
    ("^=", Some(Binary::BitXor)),
    ("|=", Some(Binary::BitOr)),
];
