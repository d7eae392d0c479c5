//! Runs compiled arithmetic on a shell's variables.

#[cfg(test)]
mod tests;

use isopod_syntax::arith::{
    Binary, Code, Error, Op, PLACEHOLDER, Parsed, Subscript, Target, Unary, compile, parse_number,
};

use crate::state::options::SetOption;
use crate::state::variable::Value;
use crate::state::{Key, Shell, Stop};
use crate::syntax::tree::Arith;

/// Limit on variables whose values are expressions that name further variables. Each step costs stack.
const RECURSION_LIMIT: u32 = 100;

/// The reason why an evaluation did not finish.
enum ArithFailure {
    /// The expression is wrong.
    Error(Error),
    /// Another error stopped it and has been reported.
    Stop(Stop),
}

impl From<Stop> for ArithFailure {
    fn from(stop: Stop) -> ArithFailure {
        ArithFailure::Stop(stop)
    }
}

impl From<Error> for ArithFailure {
    fn from(error: Error) -> ArithFailure {
        ArithFailure::Error(error)
    }
}

impl Shell {
    /// Evaluates an expression of the syntax tree.
    pub fn arith(&mut self, arith: &Arith) -> Result<i64, Stop> {
        if let Some(parsed) = arith.parsed.get_or_init(|| Parsed::new(arith)).clone()
            && let Some(dollars) = self.dollars(&parsed)
        {
            let result = self.run_arith(&parsed.code, &dollars, 0);
            return self.report(result, &parsed.code.text, &dollars);
        }
        let text = self.expand_string(&arith.text)?;
        self.evaluate(&text)
    }

    /// Like `arith`, for `((`, `[[` or a builtin, whose name its messages start with.
    pub fn arith_for(&mut self, who: &'static str, arith: &Arith) -> Result<i64, Stop> {
        let outer = std::mem::replace(&mut self.evaluating, who);
        let result = self.arith(arith);
        self.evaluating = outer;
        result
    }

    /// Like `evaluate`, for `((`, `[[` or a builtin, whose name its messages start with.
    pub fn evaluate_for(&mut self, who: &'static str, text: &str) -> Result<i64, Stop> {
        let outer = std::mem::replace(&mut self.evaluating, who);
        let result = self.evaluate(text);
        self.evaluating = outer;
        result
    }

    /// Evaluates an expression given as a text that has been expanded already.
    pub fn evaluate(&mut self, text: &str) -> Result<i64, Stop> {
        if let Some(number) = plain_number(text) {
            return Ok(number);
        }
        let result = match compile(text) {
            Ok(code) => self.run_arith(&code, &[], 0),
            Err(error) => Err(error.into()),
        };
        self.report(result, text, &[])
    }

    fn report(&mut self, result: Result<i64, ArithFailure>, text: &str, dollars: &[i64]) -> Result<i64, Stop> {
        result.map_err(|failure| match failure {
            ArithFailure::Stop(stop) => stop,
            ArithFailure::Error(error) => {
                let text = without_placeholders(error.within.as_deref().unwrap_or(text.trim_start()), dollars);
                let token = without_placeholders(&error.token, dollars);
                let by = if self.evaluating.is_empty() { "" } else { ": " };
                let message = format!("{}{by}{text}: {} (error token is \"{token}\")", self.evaluating, error.message);
                self.refuse(&message)
            }
        })
    }

    /// Returns the values of the placeholders if all are numbers. Only then does the expanded text parse like the
    /// compiled one.
    fn dollars(&mut self, parsed: &Parsed) -> Option<Vec<i64>> {
        parsed.dollars.iter().map(|parameter| plain_number(&self.plain_value(parameter)?)).collect()
    }

    fn run_arith(&mut self, code: &Code, dollars: &[i64], depth: u32) -> Result<i64, ArithFailure> {
        let mut stack: Vec<i64> = Vec::with_capacity(8);
        let mut fetched: Vec<Option<Key>> = Vec::new();
        let mut at = 0;
        while let Some(op) = code.operations.get(at) {
            at += 1;
            match op {
                Op::Number(number) => stack.push(*number),
                Op::Dollar(index) => stack.push(dollars.get(*index).copied().unwrap_or(0)),
                Op::Load(target) => {
                    let value = self.load_target(target, dollars, depth)?;
                    stack.push(value);
                }
                Op::Unary(unary) => {
                    let value = stack.pop().unwrap_or(0);
                    stack.push(match unary {
                        Unary::Minus => value.wrapping_neg(),
                        Unary::Not => i64::from(value == 0),
                        Unary::Complement => !value,
                    });
                }
                Op::Binary(binary, position) => {
                    let right = stack.pop().unwrap_or(0);
                    let left = stack.pop().unwrap_or(0);
                    stack.push(apply(*binary, left, right, code, *position)?);
                }
                Op::Fetch(target) => {
                    let key = self.target_key(target, dollars, depth)?;
                    stack.push(self.load_key(target, key.as_ref(), depth)?);
                    fetched.push(key);
                }
                Op::Store(target, binary, position) => {
                    let mut value = stack.pop().unwrap_or(0);
                    let key = match binary {
                        Some(binary) => {
                            let old = stack.pop().unwrap_or(0);
                            value = apply(*binary, old, value, code, *position)?;
                            fetched.pop().flatten()
                        }
                        None => self.target_key(target, dollars, depth)?,
                    };
                    self.assign_element(&target.name, key, value.to_string(), false)?;
                    stack.push(value);
                }
                Op::Step(target, delta, post) => {
                    let key = self.target_key(target, dollars, depth)?;
                    let old = self.load_key(target, key.as_ref(), depth)?;
                    let new = old.wrapping_add(*delta);
                    self.assign_element(&target.name, key, new.to_string(), false)?;
                    stack.push(if *post { old } else { new });
                }
                Op::And(end) => {
                    if stack.pop() == Some(0) {
                        stack.push(0);
                        at = *end;
                    }
                }
                Op::Or(end) => {
                    if stack.pop() != Some(0) {
                        stack.push(1);
                        at = *end;
                    }
                }
                Op::Truth => {
                    let value = stack.pop().unwrap_or(0);
                    stack.push(i64::from(value != 0));
                }
                Op::JumpIfZero(target) => {
                    if stack.pop() == Some(0) {
                        at = *target;
                    }
                }
                Op::Jump(target) => at = *target,
                Op::Drop => {
                    stack.pop();
                }
            }
        }
        Ok(stack.pop().unwrap_or(0))
    }

    fn load_target(&mut self, target: &Target, dollars: &[i64], depth: u32) -> Result<i64, ArithFailure> {
        let key = self.target_key(target, dollars, depth)?;
        self.load_key(target, key.as_ref(), depth)
    }

    fn load_key(&mut self, target: &Target, key: Option<&Key>, depth: u32) -> Result<i64, ArithFailure> {
        let text = match self.variable(&target.name) {
            Some(variable) => {
                let text = match (&variable.value, key) {
                    (Value::Indexed(elements), Some(Key::Index(index))) => {
                        let end = elements.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
                        let index = if *index < 0 { index + end } else { *index };
                        elements.get(&index).map(String::as_str)
                    }
                    (Value::Associative(elements), Some(Key::Name(key))) => elements.get(key),
                    (Value::Scalar(text), Some(Key::Index(0))) => Some(text.as_str()),
                    (_, Some(_)) => None,
                    (_, None) => variable.text(),
                };
                match text {
                    Some(text) => match plain_number(text) {
                        Some(number) => return Ok(number),
                        None => Some(text.to_owned()),
                    },
                    None => None,
                }
            }
            None => None,
        };
        let Some(text) = text else {
            if self.options.has(SetOption::NOUNSET) {
                return Err(self.unbound(&target.name).into());
            }
            return Ok(0);
        };
        if depth >= RECURSION_LIMIT {
            let message = "expression recursion level exceeded";
            return Err(Error::new(message, text).into());
        }
        let code = compile(&text).map_err(|e| e.within(&text))?;
        self.run_arith(&code, &[], depth + 1).map_err(|failure| match failure {
            ArithFailure::Error(error) => ArithFailure::Error(error.within(&text)),
            stop => stop,
        })
    }

    fn target_key(&mut self, target: &Target, dollars: &[i64], depth: u32) -> Result<Option<Key>, ArithFailure> {
        let Some(subscript) = &target.index else { return Ok(None) };
        let name = match self.is_reference(&target.name) {
            true => self.resolve(&target.name).map(|(name, _)| name),
            false => None,
        };
        let name = name.as_deref().unwrap_or(&target.name);
        if let Some(Value::Associative(_)) = self.variables.get(name).map(|v| &v.value) {
            let text = without_placeholders(&subscript.text, dollars);
            // Quotes in a key are removed, as in the subscript of an assignment.
            return Ok(Some(match text.contains(['\'', '"']) {
                true => self.key_in_text(name, &text)?,
                false => Key::Name(text),
            }));
        }
        let Subscript { code, text } = &**subscript;
        match code {
            Ok(code) => Ok(Some(Key::Index(self.run_arith(code, dollars, depth)?))),
            Err(_) if text.trim().is_empty() => Err(Error::new("bad array subscript", text.as_str()).into()),
            Err(error) => Err(error.clone().into()),
        }
    }
}

fn apply(binary: Binary, left: i64, right: i64, code: &Code, position: u32) -> Result<i64, Error> {
    let fail = |message| Err(Error::new(message, &code.text[position as usize..]));
    Ok(match binary {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => return fail("division by 0"),
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::Power if right < 0 => return fail("exponent less than 0"),
        Binary::Power => power(left, right),
        Binary::ShiftLeft => left.wrapping_shl(right as u32),
        Binary::ShiftRight => left.wrapping_shr(right as u32),
        Binary::Less => i64::from(left < right),
        Binary::LessEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterEqual => i64::from(left >= right),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::BitAnd => left & right,
        Binary::BitXor => left ^ right,
        Binary::BitOr => left | right,
    })
}

/// Wrapping exponentiation.
fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result = 1i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// Reads a decimal number without leading zeros. It means the same in every context.
fn plain_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    match digits {
        [b'0'] | [b'1'..=b'9', ..] if digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit) => {
            let magnitude = digits.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'));
            Some(if digits.len() < text.len() { -magnitude } else { magnitude })
        }
        // `compile` reads the octal and hexadecimal notations.
        _ => None,
    }
}

fn without_placeholders(text: &str, dollars: &[i64]) -> String {
    if !text.contains(PLACEHOLDER) {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == PLACEHOLDER {
            let number = chars.next().map_or(0, |c| (c as usize).saturating_sub(32));
            out.push_str(&dollars.get(number).copied().unwrap_or(0).to_string());
        } else {
            out.push(c);
        }
    }
    out
}

/// Reads a plain integer as `strtol` does, for `test -eq` and the like.
pub fn integer(text: &str) -> Option<i64> {
    let text = text.trim_matches(|c: char| matches!(c, ' ' | '\t' | '\n'));
    match text.strip_prefix(['+', '-']) {
        Some(digits) if text.starts_with('-') => decimal(digits).map(i64::wrapping_neg),
        Some(digits) => decimal(digits),
        None => decimal(text),
    }
}

fn decimal(digits: &str) -> Option<i64> {
    match !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        true => digits.parse().ok().or_else(|| parse_number(digits.trim_start_matches('0')).ok()),
        false => None,
    }
}
