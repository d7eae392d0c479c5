//! The commands, and the stacks they work on.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use isopod_gnu::input::Input;
use isopod_gnu::output::Out;

use super::super::number::Number;
use super::super::print::Lines;

/// The longest result of a power that is computed at all.
const MOST_DIGITS: usize = 100_000_000;
/// The deepest nesting of macros, tail calls not counted.
const DEEPEST: usize = 1_000_000;

/// A value of a stack.
#[derive(Clone)]
enum Item {
    Number(Number),
    Text(Rc<[u8]>),
}

/// A text that is run, and the position in it.
struct Frame {
    code: Rc<[u8]>,
    at: usize,
}

#[derive(Default)]
struct Register {
    stack: Vec<Item>,
    array: HashMap<i64, Item>,
}

/// The state of a run.
pub(super) struct Machine {
    pub(super) out: Out,
    lines: Lines,
    stack: Vec<Item>,
    registers: HashMap<u8, Register>,
    scale: usize,
    ibase: i64,
    obase: i64,
    typed: Vec<u8>,
    is_over: bool,
}

/// The effect of a command on the control flow.
enum Step {
    Next,
    /// Leaves a number of levels.
    Leave(usize),
    Quit,
}

impl Machine {
    pub(super) fn new() -> Machine {
        Machine {
            out: Out::new(),
            lines: Lines::new("DC_LINE_LENGTH", 1),
            stack: Vec::new(),
            registers: HashMap::new(),
            scale: 0,
            ibase: 10,
            obase: 10,
            typed: Vec::new(),
            is_over: false,
        }
    }

    /// Returns the next line of standard input, and the lines after it while a bracket is open.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let mut searched = 0;
        let mut open = 0usize;
        loop {
            while let Some(byte) = self.typed.get(searched) {
                searched += 1;
                match byte {
                    b'[' => open += 1,
                    b']' => open = open.saturating_sub(1),
                    b'\n' if open == 0 => return Some(self.typed.drain(..searched).collect()),
                    _ => {}
                }
            }
            if self.is_over {
                return if self.typed.is_empty() { None } else { Some(std::mem::take(&mut self.typed)) };
            }
            self.flush();
            self.out.flush();
            match Input::open("-").and_then(|input| input.read()) {
                Ok(piece) if !piece.is_empty() => self.typed.extend_from_slice(&piece),
                _ => self.is_over = true,
            }
        }
    }

    /// Runs a text. Returns false if the run is over.
    pub(super) fn run(&mut self, code: Vec<u8>) -> bool {
        let mut frames = vec![Frame { code: code.into(), at: 0 }];
        while let Some(frame) = frames.last_mut() {
            let Some(&command) = frame.code.get(frame.at) else {
                frames.pop();
                continue;
            };
            frame.at += 1;
            match self.command(command, &mut frames) {
                Ok(Step::Next) => {}
                Ok(Step::Leave(levels)) => {
                    if levels >= frames.len() {
                        frames.truncate(1);
                        // With more levels than there are, the run continues with the next typed line.
                        if let Some(frame) = frames.last_mut() {
                            frame.at = frame.code.len();
                        }
                    } else {
                        frames.truncate(frames.len() - levels);
                    }
                }
                Ok(Step::Quit) => {
                    self.flush();
                    return false;
                }
                Err(message) => {
                    self.flush();
                    self.out.flush();
                    isopod_gnu::output::complain("dc", &message);
                }
            }
            if self.lines.text.len() > 1 << 16 {
                self.flush();
            }
        }
        self.flush();
        !self.out.has_failed()
    }

    fn flush(&mut self) {
        self.out.push(&std::mem::take(&mut self.lines.text));
    }

    fn command(&mut self, command: u8, frames: &mut Vec<Frame>) -> Result<Step, String> {
        match command {
            b'0'..=b'9' | b'A'..=b'F' | b'.' | b'_' => self.number(command, frames),
            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => {}
            b'#' => while next(frames).is_some_and(|byte| byte != b'\n') {},
            b'[' => self.text(frames),
            b'p' | b'n' | b'P' | b'f' => self.printing(command)?,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'^' => self.arithmetic(command)?,
            b'|' => self.modular_power()?,
            b'v' => self.square_root()?,
            b'c' | b'd' | b'r' | b'R' | b'z' => self.stacking(command)?,
            b'k' | b'i' | b'o' | b'K' | b'I' | b'O' => self.parameter(command)?,
            b'Z' | b'X' | b'a' => self.conversion(command)?,
            b's' | b'S' | b'l' | b'L' | b':' | b';' => self.register(command, frames)?,
            b'x' => match self.pop()? {
                Item::Text(code) => call(frames, code)?,
                number => self.stack.push(number),
            },
            b'<' | b'>' | b'=' => self.compare(command, false, frames)?,
            b'!' => match next(frames) {
                Some(sign @ (b'<' | b'>' | b'=')) => self.compare(sign, true, frames)?,
                _ => {
                    while next(frames).is_some_and(|byte| byte != b'\n') {}
                    return Err("! runs no commands here".into());
                }
            },
            b'?' => {
                if let Some(line) = self.next_line() {
                    call(frames, line.into())?;
                }
            }
            b'q' => return Ok(if frames.len() <= 2 { Step::Quit } else { Step::Leave(2) }),
            b'Q' => match self.pop_number()?.to_i64() {
                Some(levels @ 1..) => return Ok(Step::Leave(levels as usize)),
                _ => return Err("Q command requires a number >= 1".into()),
            },
            other => {
                // GNU's dc prints the first word on standard error and the rest on standard output.
                let _ = isopod_sys::write_all(2, b"dc: ");
                let shown = if other.is_ascii_graphic() {
                    format!("'{}' (0{other:o})", char::from(other))
                } else {
                    format!("0{other:o}")
                };
                self.lines.plain(format!("{shown} unimplemented\n").as_bytes());
            }
        }
        Ok(Step::Next)
    }

    /// Runs a command that prints: `p`, `n`, `P` or `f`.
    fn printing(&mut self, command: u8) -> Result<(), String> {
        match command {
            b'p' => {
                let item = self.stack.last().cloned().ok_or("stack empty")?;
                self.print(&item);
                self.lines.byte(b'\n');
            }
            b'n' => {
                let item = self.pop()?;
                self.print(&item);
            }
            b'P' => match self.pop()? {
                Item::Text(text) => self.lines.plain(&text),
                Item::Number(number) => self.bytes(&number),
            },
            _ => {
                for item in self.stack.clone().iter().rev() {
                    self.print(item);
                    self.lines.byte(b'\n');
                }
            }
        }
        Ok(())
    }

    fn square_root(&mut self) -> Result<(), String> {
        let value = self.pop_number()?;
        match value.square_root(self.scale) {
            Some(root) => self.stack.push(Item::Number(root)),
            None => {
                self.stack.push(Item::Number(value));
                return Err("square root of negative number".into());
            }
        }
        Ok(())
    }

    /// Runs a command on the stack as a whole: `c`, `d`, `r`, `R` or `z`.
    fn stacking(&mut self, command: u8) -> Result<(), String> {
        match command {
            b'c' => self.stack.clear(),
            b'd' => {
                let item = self.stack.last().cloned().ok_or("stack empty")?;
                self.stack.push(item);
            }
            b'r' => {
                let count = self.stack.len();
                if count < 2 {
                    return Err("stack empty".into());
                }
                self.stack.swap(count - 1, count - 2);
            }
            b'R' => {
                let count = self.pop_number()?.to_i64().unwrap_or(0);
                let depth = (count.unsigned_abs() as usize).min(self.stack.len());
                let from = self.stack.len() - depth;
                if count > 0 && depth > 1 {
                    self.stack[from..].rotate_left(1);
                } else if depth > 1 {
                    self.stack[from..].rotate_right(1);
                }
            }
            _ => self.push(self.stack.len() as i64),
        }
        Ok(())
    }

    /// Sets or pushes the scale or a base: `k`, `i`, `o`, `K`, `I` or `O`.
    fn parameter(&mut self, command: u8) -> Result<(), String> {
        match command {
            b'k' => match self.pop_number()?.to_i64() {
                Some(scale @ 0..) => self.scale = scale as usize,
                _ => return Err("scale must be a nonnegative number".into()),
            },
            b'i' => match self.pop_number()?.to_i64() {
                Some(base @ 2..=16) => self.ibase = base,
                _ => return Err("input base must be a number between 2 and 16 (inclusive)".into()),
            },
            b'o' => match self.pop_number()?.to_i64() {
                Some(base @ 2..) => self.obase = base,
                _ => return Err("output base must be a number greater than 1".into()),
            },
            b'K' => self.push(self.scale as i64),
            b'I' => self.push(self.ibase),
            _ => self.push(self.obase),
        }
        Ok(())
    }

    /// Replaces a value by its length (`Z`), its scale (`X`) or its first character (`a`).
    fn conversion(&mut self, command: u8) -> Result<(), String> {
        match (command, self.pop()?) {
            (b'Z', Item::Text(text)) => self.push(text.len() as i64),
            (b'Z', Item::Number(number)) => self.push(number.length() as i64),
            (b'X', Item::Text(_)) => self.push(0),
            (b'X', Item::Number(number)) => self.push(number.scale() as i64),
            (_, Item::Text(text)) => self.stack.push(Item::Text(text[..text.len().min(1)].into())),
            (_, Item::Number(number)) => {
                let (_, low) = number.truncate(0).divide_with_rest(&Number::whole(256), 0).ok_or("divide by zero")?;
                self.stack.push(Item::Text([low.to_i64().unwrap_or(0) as u8].into()));
            }
        }
        Ok(())
    }

    fn number(&mut self, first: u8, frames: &mut [Frame]) {
        let mut is_negative = first == b'_';
        let mut digits = if is_negative { Vec::new() } else { vec![first] };
        let mut has_point = first == b'.';
        while let Some(byte) = peek(frames) {
            match byte {
                b'0'..=b'9' | b'A'..=b'F' => {}
                b'.' if !has_point => has_point = true,
                b'_' if digits.is_empty() => is_negative = true,
                _ => break,
            }
            if byte != b'_' {
                digits.push(byte);
            }
            next(frames);
        }
        let number = self.read(&digits);
        self.stack.push(Item::Number(if is_negative { number.negate() } else { number }));
    }

    /// Reads digits. They keep their value even if it is beyond the base.
    fn read(&self, digits: &[u8]) -> Number {
        if digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') && self.ibase == 10 {
            return Number::read(digits, 10);
        }
        let base = Number::whole(self.ibase);
        let mut number = Number::zero();
        let mut divisor = None;
        let mut scale = 0;
        for byte in digits {
            let value = match byte {
                b'.' => {
                    divisor = Some(Number::whole(1));
                    continue;
                }
                b'0'..=b'9' => i64::from(byte - b'0'),
                byte => i64::from(byte - b'A') + 10,
            };
            number = number.multiply(&base, 0).add(&Number::whole(value));
            if let Some(divisor) = &mut divisor {
                *divisor = divisor.multiply(&base, 0);
                scale += 1;
            }
        }
        match divisor {
            Some(divisor) => number.divide(&divisor, scale).unwrap_or_default(),
            None => number,
        }
    }

    fn text(&mut self, frames: &mut [Frame]) {
        let mut text = Vec::new();
        let mut open = 1;
        while let Some(byte) = next(frames) {
            match byte {
                b'[' => open += 1,
                b']' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            text.push(byte);
        }
        self.stack.push(Item::Text(text.into()));
    }

    fn print(&mut self, item: &Item) {
        match item {
            Item::Text(text) => self.lines.plain(text),
            Item::Number(number) => self.lines.number(number, self.obase),
        }
    }

    /// Prints the whole part as bytes, the highest first.
    fn bytes(&mut self, number: &Number) {
        let mut left = if number.is_negative() { number.negate() } else { number.clone() }.truncate(0);
        let mut bytes = Vec::new();
        while !left.is_zero() {
            let Some((quotient, rest)) = left.divide_with_rest(&Number::whole(256), 0) else { break };
            bytes.push(rest.to_i64().unwrap_or(0) as u8);
            left = quotient;
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
        bytes.reverse();
        self.lines.plain(&bytes);
    }

    fn arithmetic(&mut self, command: u8) -> Result<(), String> {
        let (a, b) = self.two_numbers()?;
        let scale = self.scale;
        let result = match command {
            b'+' => Some(a.add(&b)),
            b'-' => Some(a.subtract(&b)),
            b'*' => Some(a.multiply(&b, scale)),
            b'/' => a.divide(&b, scale),
            b'%' => a.divide_with_rest(&b, scale).map(|(_, rest)| rest),
            b'~' => a.divide_with_rest(&b, scale).map(|(quotient, rest)| {
                self.stack.push(Item::Number(quotient));
                rest
            }),
            _ => match b.to_i64() {
                Some(exponent)
                    if a.length().saturating_mul(exponent.unsigned_abs() as usize) <= MOST_DIGITS
                        || a.length() == 1 =>
                {
                    a.power(exponent, scale)
                }
                _ => {
                    self.restore(a, b);
                    return Err("exponent too large".into());
                }
            },
        };
        match result {
            Some(result) => self.stack.push(Item::Number(result)),
            None => {
                self.restore(a, b);
                return Err(
                    if command == b'%' || command == b'~' { "remainder by zero" } else { "divide by zero" }.into()
                );
            }
        }
        Ok(())
    }

    fn modular_power(&mut self) -> Result<(), String> {
        let modulus = self.pop_number()?;
        let (base, exponent) = self.two_numbers()?;
        if modulus.is_zero() || exponent.is_negative() {
            return Err(if modulus.is_zero() { "remainder by zero" } else { "negative exponent" }.into());
        }
        let rest = |number: &Number| number.divide_with_rest(&modulus, 0).map(|(_, rest)| rest).unwrap_or_default();
        let mut power = rest(&base.truncate(0));
        let mut left = exponent.truncate(0);
        let mut result = rest(&Number::whole(1));
        while !left.is_zero() {
            let Some((half, odd)) = left.divide_with_rest(&Number::whole(2), 0) else { break };
            if !odd.is_zero() {
                result = rest(&result.multiply(&power, 0));
            }
            power = rest(&power.multiply(&power, 0));
            left = half;
        }
        self.stack.push(Item::Number(result));
        Ok(())
    }

    fn register(&mut self, command: u8, frames: &mut [Frame]) -> Result<(), String> {
        let name = next(frames).ok_or("unexpected end of input")?;
        match command {
            b's' | b'S' => {
                let item = self.pop()?;
                let stack = &mut self.registers.entry(name).or_default().stack;
                if command == b's' {
                    stack.pop();
                }
                stack.push(item);
            }
            b'l' => {
                let item = self.registers.get(&name).and_then(|register| register.stack.last().cloned());
                self.stack.push(item.unwrap_or(Item::Number(Number::zero())));
            }
            b'L' => match self.registers.entry(name).or_default().stack.pop() {
                Some(item) => self.stack.push(item),
                None => return Err(format!("stack register '{}' (0{name:o}) is empty", char::from(name))),
            },
            b':' => {
                let index = self.pop_number()?.to_i64().filter(|index| *index >= 0);
                let item = self.pop()?;
                let index = index.ok_or("array index must be a nonnegative integer")?;
                self.registers.entry(name).or_default().array.insert(index, item);
            }
            _ => {
                let index = self.pop_number()?.to_i64().filter(|index| *index >= 0);
                let index = index.ok_or("array index must be a nonnegative integer")?;
                let item = self.registers.get(&name).and_then(|register| register.array.get(&index).cloned());
                self.stack.push(item.unwrap_or(Item::Number(Number::zero())));
            }
        }
        Ok(())
    }

    fn compare(&mut self, sign: u8, is_negated: bool, frames: &mut Vec<Frame>) -> Result<(), String> {
        let name = next(frames).ok_or("unexpected end of input")?;
        let (second, top) = self.two_numbers()?;
        let order = top.compare(&second);
        let holds = match sign {
            b'<' => order == Ordering::Less,
            b'>' => order == Ordering::Greater,
            _ => order == Ordering::Equal,
        };
        if holds == is_negated {
            return Ok(());
        }
        match self.registers.get(&name).and_then(|register| register.stack.last().cloned()) {
            Some(Item::Text(code)) => call(frames, code),
            Some(number) => {
                self.stack.push(number);
                Ok(())
            }
            None => Err(format!("register '{}' (0{name:o}) is empty", char::from(name))),
        }
    }

    fn push(&mut self, value: i64) {
        self.stack.push(Item::Number(Number::whole(value)));
    }

    fn pop(&mut self) -> Result<Item, String> {
        self.stack.pop().ok_or_else(|| "stack empty".into())
    }

    fn pop_number(&mut self) -> Result<Number, String> {
        match self.pop()? {
            Item::Number(number) => Ok(number),
            text => {
                self.stack.push(text);
                Err("non-numeric value".into())
            }
        }
    }

    fn two_numbers(&mut self) -> Result<(Number, Number), String> {
        match self.stack.as_slice() {
            [.., Item::Number(_), Item::Number(_)] => {}
            [.., _, _] => return Err("non-numeric value".into()),
            _ => return Err("stack empty".into()),
        }
        let b = self.pop_number()?;
        Ok((self.pop_number()?, b))
    }

    fn restore(&mut self, a: Number, b: Number) {
        self.stack.push(Item::Number(a));
        self.stack.push(Item::Number(b));
    }
}

/// Runs a text next. A call at the end of a macro replaces the macro, so that loops can run for ever.
fn call(frames: &mut Vec<Frame>, code: Rc<[u8]>) -> Result<(), String> {
    if frames.len() > 1 && frames.last().is_some_and(|frame| frame.at >= frame.code.len()) {
        frames.pop();
    }
    if frames.len() >= DEEPEST {
        return Err("macros nested too deep".into());
    }
    frames.push(Frame { code, at: 0 });
    Ok(())
}

fn peek(frames: &[Frame]) -> Option<u8> {
    let frame = frames.last()?;
    frame.code.get(frame.at).copied()
}

fn next(frames: &mut [Frame]) -> Option<u8> {
    let byte = peek(frames)?;
    frames.last_mut()?.at += 1;
    Some(byte)
}
