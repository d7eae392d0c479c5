//! `expr`: the value of an expression.

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

use crate::pattern::Pattern;

/// `expr`.
pub(crate) const PROGRAM: Program = Program {
    name: "expr",
    operands: &["EXPRESSION", "OPTION"],
    about: "Print the value of EXPRESSION to standard output: ARG1 | ARG2, ARG1 & ARG2, ARG1 < ARG2 (and <= = != >= >),\n\
            ARG1 + ARG2 (and - * / %), STRING : REGEXP, match STRING REGEXP, substr STRING POS LENGTH,\n\
            index STRING CHARS, length STRING, + TOKEN, ( EXPRESSION ).\n\
            Exit status is 0 if EXPRESSION is neither null nor 0, 1 if it is, 2 if it is invalid, 3 if an error occurred.",
    syntax: Syntax::Plain,
    options: &[],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The depth of nested parentheses: the stack is small, and no honest expression goes deeper.
const MOST_DEPTH: usize = 200;

#[derive(Clone)]
enum Value {
    Number(i128),
    Text(String),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        }
    }

    fn number(&self) -> Option<i128> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                if is_number { text.parse().ok() } else { None }
            }
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Value::Number(number) => *number == 0,
            Value::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                text.is_empty() || !digits.is_empty() && digits.bytes().all(|byte| byte == b'0')
            }
        }
    }
}

/// An error message and its exit code.
type Failure = (String, u8);

fn run(call: &Call) -> Result<u8, u8> {
    let args = match call.operands.as_slice() {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    };
    if args.is_empty() {
        return Err(call.misused("missing operand"));
    }
    let mut parser = Parser { args, at: 0, depth: 0 };
    let result = parser.any(true).and_then(|value| match args.get(parser.at) {
        None => Ok(value),
        Some(extra) => Err((format!("syntax error: unexpected argument {}", plain(extra)), 2)),
    });
    match result {
        Ok(value) => {
            let mut out = Out::new();
            out.push(value.text().as_bytes());
            out.byte(b'\n');
            Ok(call.finish(out, u8::from(value.is_null())))
        }
        Err((message, code)) => {
            call.complain(&message);
            Err(code)
        }
    }
}

struct Parser<'a> {
    args: &'a [String],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// Takes the next argument if it is one of these.
    fn take(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let next = self.args.get(self.at)?;
        let word = words.iter().find(|word| *word == next)?;
        self.at += 1;
        Some(word)
    }

    /// `|`. A side that does not count is parsed and not computed, as in a shell.
    fn any(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.all(computes)?;
        while self.take(&["|"]).is_some() {
            let right = self.all(computes && left.is_null())?;
            if left.is_null() {
                left = if right.is_null() { Value::Number(0) } else { right };
            }
        }
        Ok(left)
    }

    fn all(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.comparison(computes)?;
        while self.take(&["&"]).is_some() {
            let right = self.comparison(computes && !left.is_null())?;
            if left.is_null() || right.is_null() {
                left = Value::Number(0);
            }
        }
        Ok(left)
    }

    fn comparison(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.sum(computes)?;
        while let Some(operator) = self.take(&["<", "<=", "=", "==", "!=", ">=", ">"]) {
            let right = self.sum(computes)?;
            let order = match (left.number(), right.number()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => left.text().as_bytes().cmp(right.text().as_bytes()),
            };
            let holds = match operator {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                ">=" => order.is_ge(),
                "!=" => order.is_ne(),
                _ => order.is_eq(),
            };
            left = Value::Number(holds.into());
        }
        Ok(left)
    }

    fn sum(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.product(computes)?;
        while let Some(operator) = self.take(&["+", "-"]) {
            let right = self.product(computes)?;
            if computes {
                left = arithmetic(operator, &left, &right)?;
            }
        }
        Ok(left)
    }

    fn product(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.matching(computes)?;
        while let Some(operator) = self.take(&["*", "/", "%"]) {
            let right = self.matching(computes)?;
            if computes {
                left = arithmetic(operator, &left, &right)?;
            }
        }
        Ok(left)
    }

    fn matching(&mut self, computes: bool) -> Result<Value, Failure> {
        let mut left = self.function(computes)?;
        while self.take(&[":"]).is_some() {
            let right = self.function(computes)?;
            if computes {
                left = matched(&left.text(), &right.text())?;
            }
        }
        Ok(left)
    }

    fn function(&mut self, computes: bool) -> Result<Value, Failure> {
        match self.take(&["length", "match", "index", "substr"]) {
            Some("length") => {
                let text = self.function(computes)?.text();
                Ok(Value::Number(text.chars().count() as i128))
            }
            Some("match") => {
                let (text, pattern) = (self.function(computes)?, self.function(computes)?);
                if computes { matched(&text.text(), &pattern.text()) } else { Ok(text) }
            }
            Some("index") => {
                let (text, chars) = (self.function(computes)?.text(), self.function(computes)?.text());
                let place = text.chars().position(|c| chars.contains(c)).map_or(0, |place| place + 1);
                Ok(Value::Number(place as i128))
            }
            Some(_) => {
                let text = self.function(computes)?.text();
                let (from, count) = (self.function(computes)?.number(), self.function(computes)?.number());
                Ok(Value::Text(match (from, count) {
                    (Some(from), Some(count)) if from > 0 && count > 0 => {
                        let limit = |number: i128| usize::try_from(number).unwrap_or(usize::MAX);
                        text.chars().skip(limit(from) - 1).take(limit(count)).collect()
                    }
                    _ => String::new(),
                }))
            }
            None => self.atom(computes),
        }
    }

    fn atom(&mut self, computes: bool) -> Result<Value, Failure> {
        let missing = |parser: &Self| {
            let last = parser.args.get(parser.at.wrapping_sub(1)).map_or("", String::as_str);
            (format!("syntax error: missing argument after {}", plain(last)), 2)
        };
        if self.take(&["+"]).is_some() {
            let Some(text) = self.args.get(self.at) else { return Err(missing(self)) };
            self.at += 1;
            return Ok(Value::Text(text.clone()));
        }
        if self.take(&["("]).is_some() {
            self.depth += 1;
            if self.depth > MOST_DEPTH {
                return Err(("parentheses are nested too deeply".to_owned(), 3));
            }
            let value = self.any(computes)?;
            self.depth -= 1;
            return match (self.take(&[")"]), self.args.get(self.at)) {
                (Some(_), _) => Ok(value),
                (None, None) => {
                    let last = self.args.last().map_or("", String::as_str);
                    Err((format!("syntax error: expecting ')' after {}", plain(last)), 2))
                }
                (None, Some(other)) => Err((format!("syntax error: expecting ')' instead of {}", plain(other)), 2)),
            };
        }
        if self.args.get(self.at).is_some_and(|next| next == ")") {
            return Err(("syntax error: unexpected ')'".to_owned(), 2));
        }
        let Some(text) = self.args.get(self.at) else { return Err(missing(self)) };
        self.at += 1;
        Ok(Value::Text(text.clone()))
    }
}

fn arithmetic(operator: &str, left: &Value, right: &Value) -> Result<Value, Failure> {
    let number = |value: &Value| value.number().ok_or_else(|| ("non-integer argument".to_owned(), 2));
    let (a, b) = (number(left)?, number(right)?);
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        _ if b == 0 => return Err(("division by zero".to_owned(), 2)),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    result.map(Value::Number).ok_or_else(|| ("Numerical result out of range".to_owned(), 3))
}

/// Returns the group of a match, or the number of characters that match.
fn matched(text: &str, pattern: &str) -> Result<Value, Failure> {
    let pattern = Pattern::basic(pattern).map_err(|message| (message, 2))?;
    let found = pattern.at_start(text.as_bytes());
    Ok(if pattern.has_group() {
        let group = found.and_then(|(_, group)| group).map(|range| text.as_bytes()[range].to_vec());
        Value::Text(group.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default())
    } else {
        let length = found.map_or(0, |(end, _)| String::from_utf8_lossy(&text.as_bytes()[..end]).chars().count());
        Value::Number(length as i128)
    })
}
