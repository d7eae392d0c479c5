//! The machine that runs compiled code. Its stacks are on the heap: functions recurse as deep as memory lasts.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::super::functions;
use super::super::number::Number;
use super::super::print::Lines;
use super::code::{Argument, Function, IBASE, LAST, Local, OBASE, Op, SCALE, Variable};

/// The largest index of an array.
const MOST_ELEMENTS: i64 = 16_777_215;
/// The largest base of output and the largest scale.
const LARGEST: i64 = 2_147_483_647;
/// The longest result of a power that is computed at all.
const MOST_DIGITS: usize = 100_000_000;
/// The deepest nesting of calls. Each holds a few hundred bytes.
const DEEPEST: usize = 1_000_000;

type Array = Rc<RefCell<HashMap<i64, Number>>>;

/// The reason why a run ends early.
pub(super) enum Stop {
    Halt,
    Error(String),
}

/// The state of a run: variables, arrays, functions and settings.
pub(super) struct Machine {
    variables: Vec<Number>,
    arrays: Vec<Array>,
    pub(super) functions: HashMap<String, Function>,
    has_library: bool,
    scale: usize,
    ibase: i64,
    obase: i64,
    pub(super) lines: Lines,
    /// Messages that do not end a run.
    pub(super) warnings: Vec<String>,
}

/// A call of a function.
struct Frame {
    code: Rc<[Op]>,
    at: usize,
    saved: Vec<Saved>,
    is_void: bool,
}

/// The outer meaning of a local name.
enum Saved {
    Variable(Variable, Number),
    Array(usize, Array),
}

impl Machine {
    pub(super) fn new(has_library: bool) -> Machine {
        Machine {
            variables: Vec::new(),
            arrays: Vec::new(),
            functions: HashMap::new(),
            has_library,
            scale: if has_library { 20 } else { 0 },
            ibase: 10,
            obase: 10,
            lines: Lines::new("BC_LINE_LENGTH", 0),
            warnings: Vec::new(),
        }
    }

    /// Runs the code of a line. `read` returns the next line of input for `read()`; `flush` is called when much output
    /// has gathered.
    pub(super) fn run(
        &mut self,
        code: Vec<Op>,
        read: &mut dyn FnMut() -> Option<Vec<u8>>,
        flush: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<(), Stop> {
        let mut frames = vec![Frame { code: code.into(), at: 0, saved: Vec::new(), is_void: false }];
        let mut stack: Vec<Option<Number>> = Vec::new();
        let result = self.steps(&mut frames, &mut stack, read, flush);
        // Local names are restored even after an error.
        while let Some(frame) = frames.pop() {
            self.restore(frame.saved);
        }
        result
    }

    fn steps(
        &mut self,
        frames: &mut Vec<Frame>,
        stack: &mut Vec<Option<Number>>,
        read: &mut dyn FnMut() -> Option<Vec<u8>>,
        flush: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<(), Stop> {
        loop {
            let Some(frame) = frames.last_mut() else { return Ok(()) };
            let Some(op) = frame.code.get(frame.at).cloned() else { return Ok(()) };
            frame.at += 1;
            match op {
                Op::Jump(target) => frame.at = target,
                Op::JumpZero(target) => {
                    if pop(stack)?.is_zero() {
                        frame.at = target;
                    }
                }
                Op::Call(name, arguments) => self.call(&name, &arguments, frames, stack)?,
                Op::Return => {
                    let value = pop(stack)?;
                    if let Some(frame) = frames.pop() {
                        self.restore(frame.saved);
                        stack.push(if frame.is_void { None } else { Some(value) });
                    }
                }
                Op::Read => stack.push(Some(self.read(read()))),
                Op::Halt => return Err(Stop::Halt),
                op => self.apply(op, stack)?,
            }
            if self.lines.text.len() > 1 << 16 {
                flush(&mut self.lines.text);
            }
        }
    }

    /// Runs an instruction that only concerns the stack, the variables and the output.
    fn apply(&mut self, op: Op, stack: &mut Vec<Option<Number>>) -> Result<(), Stop> {
        match op {
            Op::Constant(digits) => stack.push(Some(Number::read(&digits, self.ibase as u32))),
            Op::Load(variable) => stack.push(Some(self.load(variable))),
            Op::Store(variable) => {
                let value = pop(stack)?;
                self.store(variable, value.clone());
                stack.push(Some(value));
            }
            Op::LoadElement(array) => {
                let index = self.index(pop(stack)?)?;
                stack.push(Some(self.element(array, index)));
            }
            Op::PeekElement(array) => {
                let key = pop(stack)?;
                stack.push(Some(key.clone()));
                let index = self.index(key)?;
                stack.push(Some(self.element(array, index)));
            }
            Op::StoreElement(array) => {
                let value = pop(stack)?;
                let index = self.index(pop(stack)?)?;
                self.array(array).borrow_mut().insert(index, value.clone());
                stack.push(Some(value));
            }
            Op::Step(variable, by, is_old) => {
                let old = self.load(variable);
                let new = old.add(&Number::whole(by));
                self.store(variable, new.clone());
                stack.push(Some(if is_old { old } else { new }));
            }
            Op::StepElement(array, by, is_old) => {
                let index = self.index(pop(stack)?)?;
                let old = self.element(array, index);
                let new = old.add(&Number::whole(by));
                self.array(array).borrow_mut().insert(index, new.clone());
                stack.push(Some(if is_old { old } else { new }));
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder | Op::Power => {
                let (b, a) = (pop(stack)?, pop(stack)?);
                stack.push(Some(self.arithmetic(&op, &a, &b)?));
            }
            Op::Negate => {
                let value = pop(stack)?;
                stack.push(Some(value.negate()));
            }
            Op::Not => {
                let value = pop(stack)?;
                stack.push(Some(Number::whole(i64::from(value.is_zero()))));
            }
            Op::Truth => {
                let value = pop(stack)?;
                stack.push(Some(Number::whole(i64::from(!value.is_zero()))));
            }
            Op::Compare(sign) => {
                let (b, a) = (pop(stack)?, pop(stack)?);
                let order = a.compare(&b);
                let holds = match sign {
                    "==" => order == Ordering::Equal,
                    "!=" => order != Ordering::Equal,
                    "<" => order == Ordering::Less,
                    "<=" => order != Ordering::Greater,
                    ">" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                };
                stack.push(Some(Number::whole(i64::from(holds))));
            }
            Op::Length => {
                let value = pop(stack)?;
                stack.push(Some(Number::whole(value.length() as i64)));
            }
            Op::ScaleOf => {
                let value = pop(stack)?;
                stack.push(Some(Number::whole(value.scale() as i64)));
            }
            Op::SquareRoot => {
                let value = pop(stack)?;
                let root = value.square_root(self.scale);
                stack.push(Some(root.ok_or_else(|| error("Square root of a negative number"))?));
            }
            Op::Print => {
                if let Some(Some(value)) = stack.pop() {
                    self.lines.number(&value, self.obase);
                    self.lines.byte(b'\n');
                    self.store(LAST, value);
                }
            }
            Op::PrintPlain => {
                let value = pop(stack)?;
                self.lines.number(&value, self.obase);
                self.store(LAST, value);
            }
            Op::PrintText(text) => self.lines.plain(&text),
            Op::Pop => {
                stack.pop();
            }
            // The others change the flow of control, and `steps` runs them.
            Op::Jump(_) | Op::JumpZero(_) | Op::Call(..) | Op::Return | Op::Read | Op::Halt => {}
        }
        Ok(())
    }

    fn arithmetic(&mut self, op: &Op, a: &Number, b: &Number) -> Result<Number, Stop> {
        let scale = self.scale;
        match op {
            Op::Add => Ok(a.add(b)),
            Op::Subtract => Ok(a.subtract(b)),
            Op::Multiply => Ok(a.multiply(b, scale)),
            Op::Divide => a.divide(b, scale).ok_or_else(|| error("Divide by zero")),
            Op::Remainder => match a.divide_with_rest(b, scale) {
                Some((_, rest)) => Ok(rest),
                None => Err(error("Modulo by zero")),
            },
            _ => {
                if b.scale() > 0 && !b.subtract(&b.truncate(0)).is_zero() {
                    self.warnings.push("non-zero scale in exponent".into());
                }
                let exponent = b.to_i64().ok_or_else(|| error("exponent too large in raise"))?;
                let digits = a.length().saturating_mul(exponent.unsigned_abs() as usize);
                if digits > MOST_DIGITS && a.length() > 1 && !a.is_zero() {
                    return Err(error("exponent too large in raise"));
                }
                a.power(exponent, scale).ok_or_else(|| error("Divide by zero"))
            }
        }
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Argument],
        frames: &mut Vec<Frame>,
        stack: &mut Vec<Option<Number>>,
    ) -> Result<(), Stop> {
        let Some(function) = self.functions.get(name).cloned() else {
            return self.library(name, arguments, stack);
        };
        let fits = |parameter: &Local, argument: &Argument| match parameter {
            Local::Variable(_) => *argument == Argument::Value,
            Local::Array(_) | Local::Reference(_) => *argument != Argument::Value,
        };
        if function.parameters.len() != arguments.len()
            || !function.parameters.iter().zip(arguments).all(|(parameter, argument)| fits(parameter, argument))
        {
            return Err(error("Parameter type mismatch"));
        }
        if frames.len() >= DEEPEST {
            return Err(error("Function recursion too deep"));
        }
        // All arguments are taken before any parameter is bound: an argument may have the name of a parameter.
        let count = arguments.iter().filter(|argument| **argument == Argument::Value).count();
        let mut values = stack.split_off(stack.len().saturating_sub(count)).into_iter();
        let arrays: Vec<Option<Array>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Value => None,
                Argument::Array(array) => Some(self.array(*array)),
            })
            .collect();
        let mut saved = Vec::new();
        for (parameter, array) in function.parameters.iter().zip(arrays) {
            match (parameter, array) {
                (Local::Variable(variable), _) => {
                    let value = values.next().flatten().ok_or_else(|| error("void value"))?;
                    saved.push(Saved::Variable(*variable, self.load(*variable)));
                    self.store(*variable, value);
                }
                (Local::Array(own), Some(array)) => {
                    saved.push(Saved::Array(*own, self.array(*own)));
                    self.arrays[*own] = Rc::new(RefCell::new(array.borrow().clone()));
                }
                (Local::Reference(own), Some(array)) => {
                    saved.push(Saved::Array(*own, self.array(*own)));
                    self.arrays[*own] = array;
                }
                _ => {}
            }
        }
        for auto in &function.autos {
            match auto {
                Local::Variable(variable) => {
                    saved.push(Saved::Variable(*variable, self.load(*variable)));
                    self.store(*variable, Number::zero());
                }
                Local::Array(array) | Local::Reference(array) => {
                    saved.push(Saved::Array(*array, self.array(*array)));
                    self.arrays[*array] = Array::default();
                }
            }
        }
        frames.push(Frame { code: function.code.clone(), at: 0, saved, is_void: function.is_void });
        Ok(())
    }

    /// Calls a function of `-l`.
    fn library(&mut self, name: &str, arguments: &[Argument], stack: &mut Vec<Option<Number>>) -> Result<(), Stop> {
        let wanted = match name {
            "s" | "c" | "a" | "l" | "e" if self.has_library => 1,
            "j" if self.has_library => 2,
            _ => return Err(error(&format!("Function {name} not defined."))),
        };
        if arguments.len() != wanted || arguments.iter().any(|argument| *argument != Argument::Value) {
            return Err(error("Parameter number mismatch"));
        }
        let x = pop(stack)?;
        let scale = self.scale;
        let value = match name {
            "s" => functions::sine(&x, scale),
            "c" => functions::cosine(&x, scale),
            "a" => functions::arctangent(&x, scale),
            "l" => functions::logarithm(&x, scale),
            "e" => functions::exponential(&x, scale),
            _ => functions::bessel(&pop(stack)?, &x, scale),
        };
        stack.push(Some(value));
        Ok(())
    }

    fn restore(&mut self, saved: Vec<Saved>) {
        for saved in saved.into_iter().rev() {
            match saved {
                Saved::Variable(variable, value) => self.store(variable, value),
                Saved::Array(array, values) => self.arrays[array] = values,
            }
        }
    }

    fn load(&self, variable: Variable) -> Number {
        match variable {
            SCALE => Number::whole(self.scale as i64),
            IBASE => Number::whole(self.ibase),
            OBASE => Number::whole(self.obase),
            variable => self.variables.get(variable).cloned().unwrap_or_default(),
        }
    }

    fn store(&mut self, variable: Variable, value: Number) {
        let number = value.to_i64().unwrap_or(i64::MAX);
        match variable {
            SCALE => {
                if value.is_negative() {
                    self.warnings.push("negative scale, set to 0".into());
                } else if number > LARGEST {
                    self.warnings.push(format!("scale too large, set to {LARGEST}"));
                }
                self.scale = number.clamp(0, LARGEST) as usize;
            }
            IBASE => {
                if !(2..=36).contains(&number) {
                    self.warnings.push(format!(
                        "ibase too {}, set to {}",
                        if number < 2 { "small" } else { "large" },
                        if number < 2 { 2 } else { 36 }
                    ));
                }
                self.ibase = number.clamp(2, 36);
            }
            OBASE => {
                if number < 2 {
                    self.warnings.push("obase too small, set to 2".into());
                }
                self.obase = number.clamp(2, LARGEST);
            }
            variable => {
                if variable >= self.variables.len() {
                    self.variables.resize(variable + 1, Number::zero());
                }
                self.variables[variable] = value;
            }
        }
    }

    fn array(&mut self, array: usize) -> Array {
        while array >= self.arrays.len() {
            self.arrays.push(Array::default());
        }
        self.arrays[array].clone()
    }

    fn element(&mut self, array: usize, index: i64) -> Number {
        self.array(array).borrow().get(&index).cloned().unwrap_or_default()
    }

    fn index(&self, value: Number) -> Result<i64, Stop> {
        match value.to_i64() {
            Some(index @ 0..=MOST_ELEMENTS) => Ok(index),
            _ => Err(error("Array index out of bounds")),
        }
    }

    fn read(&self, line: Option<Vec<u8>>) -> Number {
        let line = line.unwrap_or_default();
        let text: Vec<u8> = line.trim_ascii().to_vec();
        let (is_negative, digits) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text.as_slice()),
        };
        let length = digits.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'.')).count();
        let number = Number::read(&digits[..length], self.ibase as u32);
        if is_negative { number.negate() } else { number }
    }
}

fn pop(stack: &mut Vec<Option<Number>>) -> Result<Number, Stop> {
    stack.pop().flatten().ok_or_else(|| error("void value"))
}

fn error(message: &str) -> Stop {
    Stop::Error(message.to_owned())
}
