//! The built-in functions.
//!
//! # Layout
//! - this file: numbers, bits, files and commands
//! - `strings`: length, parts, searching, splitting
//! - `substitute`: `sub`, `gsub`, `gensub`
//! - `sort`: `asort`, `asorti` and the order of `for (… in …)`
//! - `time`: `strftime`, `mktime`
//! - `random`: `rand`

pub(crate) mod random;
mod sort;
mod strings;
mod substitute;
mod time;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::machine::{Machine, Run};
use crate::number;
use crate::printf;
use crate::syntax::functions::Function;
use crate::value::Value;

/// The largest integer with all bits exact in a double: the limit of bit operations.
const MOST_BITS: f64 = 9_007_199_254_740_991.0;

impl Machine {
    /// Calls a function with `count` arguments from the stack, and pushes its value.
    pub(crate) fn built_in(&mut self, function: Function, count: usize) -> Run<()> {
        let value = match function {
            Function::Length => self.length(count)?,
            Function::Substr => self.substr(count),
            Function::Index => self.index(),
            Function::Split => self.split(count)?,
            Function::Patsplit => self.patsplit(count)?,
            Function::Match => self.match_text(count)?,
            Function::Tolower => self.change_case(false),
            Function::Toupper => self.change_case(true),
            Function::Sub | Function::Gsub => Value::Unset,
            Function::Gensub => self.gensub(count)?,
            Function::Sprintf => {
                let args = self.pop_many(count);
                let format = args[0].to_text(&self.convfmt);
                Value::owned(printf::format(&format, &args[1..], &self.convfmt, self.bytes)?)
            }
            Function::Sin => self.calculated(f64::sin),
            Function::Cos => self.calculated(f64::cos),
            Function::Exp => self.calculated(f64::exp),
            Function::Int => self.calculated(f64::trunc),
            Function::Log => self.calculated(|x| if x < 0.0 { -f64::NAN } else { x.ln() }),
            Function::Sqrt => self.calculated(|x| if x < 0.0 { -f64::NAN } else { x.sqrt() }),
            Function::Atan2 => {
                let x = self.pop().number();
                let y = self.pop().number();
                Value::Number(y.atan2(x))
            }
            Function::Rand => Value::Number(self.random.next()),
            Function::Srand => {
                let seed = if count == 1 { self.pop().number() } else { now() };
                Value::Number(self.random.seed(seed))
            }
            Function::And => self.bits(count, function.name(), |a, b| a & b)?,
            Function::Or => self.bits(count, function.name(), |a, b| a | b)?,
            Function::Xor => self.bits(count, function.name(), |a, b| a ^ b)?,
            Function::Compl => {
                let number = self.pop().number();
                Value::Number((!bits_of(number, "compl")? & ((1 << 53) - 1)) as f64)
            }
            Function::Lshift | Function::Rshift => {
                let by = self.pop().number();
                let number = bits_of(self.pop().number(), function.name())?;
                let by = bits_of(by, function.name())?.min(63) as u32;
                let shifted = if function == Function::Lshift { number << by } else { number >> by };
                Value::Number((shifted & ((1 << 53) - 1)) as f64)
            }
            Function::Strtonum => {
                let value = self.pop();
                match value.as_numeric() {
                    Some(number) => Value::Number(number),
                    None => Value::Number(number::with_base(value.bytes().unwrap_or_default()).0),
                }
            }
            Function::Systime => Value::Number(now()),
            Function::Strftime => self.strftime(count)?,
            Function::Mktime => self.mktime(count),
            Function::Asort => self.asort(count, false)?,
            Function::Asorti => self.asort(count, true)?,
            Function::Isarray => Value::boolean(matches!(self.pop(), Value::Array(_))),
            Function::Mkbool => Value::boolean(self.pop().truth()),
            Function::Typeof => Value::string(kind(&self.pop()).as_bytes()),
            Function::Close => {
                if count == 2 {
                    self.pop();
                }
                let name = self.pop_text();
                Value::Number(self.streams.close(&name))
            }
            Function::Fflush => {
                let name = if count == 1 { self.pop_text() } else { Vec::new() };
                if name.is_empty() {
                    self.streams.flush_all();
                    Value::Number(0.0)
                } else {
                    Value::Number(if self.streams.flush(&name) { 0.0 } else { -1.0 })
                }
            }
            Function::System => {
                let command = self.pop_text();
                let env = crate::machine::environment(&self.globals);
                Value::Number(self.streams.run(&command, &env))
            }
        };
        self.push(value);
        Ok(())
    }

    fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let mut args: Vec<Value> = (0..count).map(|_| self.pop()).collect();
        args.reverse();
        args
    }

    fn calculated(&mut self, function: fn(f64) -> f64) -> Value {
        let number = self.pop().number();
        Value::Number(function(number))
    }

    fn bits(&mut self, count: usize, name: &str, join: fn(u64, u64) -> u64) -> Run<Value> {
        let args = self.pop_many(count);
        let mut numbers = Vec::with_capacity(count);
        for arg in &args {
            numbers.push(bits_of(arg.number(), name)?);
        }
        let joined = numbers.into_iter().reduce(join).unwrap_or(0);
        Ok(Value::Number((joined & ((1 << 53) - 1)) as f64))
    }
}

fn bits_of(number: f64, name: &str) -> Run<u64> {
    if number < 0.0 {
        return Err(format!("{name}: argument {number} negative value is not allowed"));
    }
    Ok(number.min(MOST_BITS) as u64)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Unset => "untyped",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        Value::Regex(_) => "regexp",
        other if other.as_numeric().is_some() => "strnum",
        _ => "string",
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs() as f64)
}
