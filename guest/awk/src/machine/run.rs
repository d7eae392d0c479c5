//! The loop over the steps.

use std::rc::Rc;

use super::operators::{append, calculate, is_as, is_case, key_of, stepped};
use super::{Flow, Frame, Machine, Place, Run};
use crate::code::{Op, global};
use crate::syntax::tree::{Arithmetic, Comparison};
use crate::value::Value;

/// Calls inside each other: far more than a program needs, and less than memory holds.
const DEEPEST: usize = 400_000;

impl Machine {
    /// Runs the steps from `entry` until they end.
    pub(crate) fn run(&mut self, entry: usize) -> Run<Flow> {
        let frames = self.frames.len();
        let stack = self.stack.len();
        let iterators = self.iterators.len();
        let flow = self.steps(entry, frames)?;
        self.frames.truncate(frames);
        self.stack.truncate(stack);
        self.iterators.truncate(iterators);
        self.places.clear();
        Ok(flow)
    }

    /// Calls a function of the program from a built-in one.
    pub(crate) fn call(&mut self, function: usize, args: Vec<Value>) -> Run<Value> {
        if self.nested > 20 {
            return Err("sorts call functions that sort, too deep".into());
        }
        self.nested += 1;
        let code = Rc::clone(&self.code);
        let routine = &code.functions[function];
        let base = self.stack.len();
        self.stack.extend(args);
        self.stack.resize(base + routine.parameters, Value::Unset);
        // A frame whose return ends the loop.
        self.frames.push(Frame { return_to: usize::MAX, base, iterators: self.iterators.len() });
        let frames = self.frames.len();
        let flow = self.steps(routine.entry, frames)?;
        self.nested -= 1;
        match flow {
            Flow::Done => Ok(self.pop()),
            _ => Err("a comparison function cannot end the program or the record".into()),
        }
    }

    fn steps(&mut self, entry: usize, frames: usize) -> Run<Flow> {
        let code = Rc::clone(&self.code);
        let ops = code.ops.as_slice();
        let mut at = entry;
        let mut base = self.frames.last().map_or(0, |frame| frame.base);
        loop {
            let op = ops[at];
            at += 1;
            match op {
                Op::Const(index) => self.stack.push(code.constants[index as usize].clone()),
                Op::Global(slot) => self.stack.push(self.globals[slot as usize].clone()),
                Op::Computed(slot) => {
                    let value = self.computed(slot as usize);
                    self.stack.push(value);
                }
                Op::Local(slot) => {
                    let value = self.stack[base + slot as usize].clone();
                    if let Value::Array(_) = value {
                        return Err("attempt to use an array in a scalar context".into());
                    }
                    self.stack.push(value);
                }
                Op::LocalAny(slot) => self.stack.push(self.stack[base + slot as usize].clone()),
                Op::FieldAt(index) => {
                    // A field that is only added up is never made a string.
                    if let Op::UpdateGlobal(Arithmetic::Add, slot, false) = ops[at]
                        && index > 0
                    {
                        let number = self.record.number(index as usize);
                        let global = &mut self.globals[slot as usize];
                        *global = Value::Number(global.number() + number);
                        at += 1;
                    } else {
                        let value = self.field(index as usize);
                        self.stack.push(value);
                    }
                }
                Op::Field => {
                    let index = self.pop_index()?;
                    let value = self.field(index);
                    self.stack.push(value);
                }
                Op::ArrayGlobal(slot) => self.stack.push(self.globals[slot as usize].clone()),
                Op::ArrayLocal(slot) => {
                    let local = &mut self.stack[base + slot as usize];
                    if let Value::Unset = local {
                        *local = Value::new_array();
                    }
                    let array = local.clone();
                    if !matches!(array, Value::Array(_)) {
                        return Err("attempt to use a scalar parameter as an array".into());
                    }
                    self.stack.push(array);
                }
                Op::ArrayArgument(slot) => {
                    let local = &mut self.stack[base + slot as usize];
                    if let Value::Unset = local {
                        *local = Value::new_array();
                    }
                    let array = local.clone();
                    self.stack.push(array);
                }
                Op::SubArray | Op::ElementArgument => {
                    let value = self.with_element(|element, _| {
                        if let Value::Unset = element {
                            *element = Value::new_array();
                        }
                        element.clone()
                    })?;
                    if matches!(op, Op::SubArray) && !matches!(value, Value::Array(_)) {
                        return Err("attempt to use a scalar element as an array".into());
                    }
                    self.stack.push(value);
                }
                Op::Element => {
                    let value = self.with_element(|element, _| element.clone())?;
                    self.stack.push(value);
                }
                Op::SetGlobal(slot, keep) => {
                    let value = self.pop_scalar()?;
                    if keep {
                        self.stack.push(value.clone());
                    }
                    self.globals[slot as usize] = value;
                }
                Op::SetHooked(slot, keep) => {
                    let value = self.pop_scalar()?;
                    if keep {
                        self.stack.push(value.clone());
                    }
                    self.set_hooked(slot as usize, value)?;
                }
                Op::SetLocal(slot, keep) => {
                    let value = self.pop_scalar()?;
                    if keep {
                        self.stack.push(value.clone());
                    }
                    self.stack[base + slot as usize] = value;
                }
                Op::SetFieldAt(index, keep) => {
                    let value = self.pop_scalar()?;
                    if keep {
                        self.stack.push(value.clone());
                    }
                    self.set_field(index as usize, value)?;
                }
                Op::SetField(keep) => {
                    let index = self.pop_index()?;
                    let value = self.pop_scalar()?;
                    if keep {
                        self.stack.push(value.clone());
                    }
                    self.set_field(index, value)?;
                }
                Op::SetElement(keep) => {
                    let below = self.stack.len().saturating_sub(3);
                    let value = std::mem::take(&mut self.stack[below]);
                    if let Value::Array(_) = value {
                        return Err("attempt to use an array in a scalar context".into());
                    }
                    let kept = if keep { value.clone() } else { Value::Unset };
                    self.with_element(|element, _| *element = value)?;
                    self.stack.pop();
                    if keep {
                        self.stack.push(kept);
                    }
                }
                Op::UpdateGlobal(arithmetic, slot, keep) => {
                    let operand = self.pop().number();
                    let result = calculate(arithmetic, self.globals[slot as usize].number(), operand)?;
                    self.globals[slot as usize] = Value::Number(result);
                    if keep {
                        self.stack.push(Value::Number(result));
                    }
                }
                Op::UpdateHooked(arithmetic, slot, keep) => {
                    let operand = self.pop().number();
                    let result = calculate(arithmetic, self.computed(slot as usize).number(), operand)?;
                    self.set_hooked(slot as usize, Value::Number(result))?;
                    if keep {
                        self.stack.push(Value::Number(result));
                    }
                }
                Op::UpdateLocal(arithmetic, slot, keep) => {
                    let operand = self.pop().number();
                    let local = base + slot as usize;
                    let result = calculate(arithmetic, self.stack[local].number(), operand)?;
                    self.stack[local] = Value::Number(result);
                    if keep {
                        self.stack.push(Value::Number(result));
                    }
                }
                Op::UpdateField(arithmetic, keep) => {
                    let index = self.pop_index()?;
                    let operand = self.pop().number();
                    let result = calculate(arithmetic, self.field(index).number(), operand)?;
                    self.set_field(index, Value::Number(result))?;
                    if keep {
                        self.stack.push(Value::Number(result));
                    }
                }
                Op::UpdateElement(arithmetic, keep) => {
                    let below = self.stack.len().saturating_sub(3);
                    let operand = self.stack[below].number();
                    let result = self.with_element(|element, _| {
                        let result = calculate(arithmetic, element.number(), operand)?;
                        *element = Value::Number(result);
                        Ok::<f64, String>(result)
                    })??;
                    self.stack.pop();
                    if keep {
                        self.stack.push(Value::Number(result));
                    }
                }
                Op::StepGlobal(slot, step) => {
                    let kept = stepped(&mut self.globals[slot as usize], step);
                    if step.keep {
                        self.stack.push(kept);
                    }
                }
                Op::StepHooked(slot, step) => {
                    let mut value = self.computed(slot as usize);
                    let kept = stepped(&mut value, step);
                    self.set_hooked(slot as usize, value)?;
                    if step.keep {
                        self.stack.push(kept);
                    }
                }
                Op::StepLocal(slot, step) => {
                    let kept = stepped(&mut self.stack[base + slot as usize], step);
                    if step.keep {
                        self.stack.push(kept);
                    }
                }
                Op::StepField(step) => {
                    let index = self.pop_index()?;
                    let mut value = self.field(index);
                    let kept = stepped(&mut value, step);
                    self.set_field(index, value)?;
                    if step.keep {
                        self.stack.push(kept);
                    }
                }
                Op::StepElement(step) => {
                    let kept = self.with_element(|element, _| stepped(element, step))?;
                    if step.keep {
                        self.stack.push(kept);
                    }
                }
                Op::AppendGlobal(slot, keep) => {
                    let more = self.pop();
                    append(&mut self.globals[slot as usize], &more, &self.convfmt);
                    if keep {
                        self.stack.push(self.globals[slot as usize].clone());
                    }
                }
                Op::AppendLocal(slot, keep) => {
                    let more = self.pop();
                    append(&mut self.stack[base + slot as usize], &more, &self.convfmt);
                    if keep {
                        self.stack.push(self.stack[base + slot as usize].clone());
                    }
                }
                Op::PlaceGlobal(slot) | Op::PlaceHooked(slot) => self.places.push(Place::Global(slot as usize)),
                Op::PlaceLocal(slot) => self.places.push(Place::Local(base + slot as usize)),
                Op::PlaceField => {
                    let index = self.pop_index()?;
                    self.places.push(Place::Field(index));
                }
                Op::PlaceElement => {
                    let key = self.pop();
                    let array = self.pop_array()?;
                    self.places.push(Place::Element(array, key));
                }
                Op::Arithmetic(arithmetic) => {
                    let right = self.pop().number();
                    if let Some(left) = self.stack.last_mut() {
                        *left = Value::Number(calculate(arithmetic, left.number(), right)?);
                    }
                }
                Op::Negative => {
                    let number = self.pop().number();
                    self.stack.push(Value::Number(-number));
                }
                Op::Positive => {
                    let number = self.pop().number();
                    self.stack.push(Value::Number(number));
                }
                Op::Not => {
                    let truth = self.pop().truth();
                    self.stack.push(Value::boolean(!truth));
                }
                Op::Compare(comparison) => {
                    let truth = self.pop_comparison(comparison);
                    self.stack.push(Value::boolean(truth));
                }
                Op::CompareJump(comparison, when, target) => {
                    if self.pop_comparison(comparison) == when {
                        at = target as usize;
                    }
                }
                Op::Match(negated) => {
                    let regex = self.pop();
                    let text = self.pop();
                    let regex = self.regex_of(&regex)?;
                    let matched = match text.bytes() {
                        Some(bytes) => regex.is_match(bytes),
                        None => regex.is_match(&text.to_text(&self.convfmt)),
                    };
                    self.stack.push(Value::boolean(matched != negated));
                }
                Op::MatchRecord(constant) => {
                    let regex = self.regex_of(&code.constants[constant as usize])?;
                    let matched = regex.is_match(self.record.whole(&self.ofs, &self.convfmt));
                    match ops[at] {
                        Op::JumpUnless(target) => at = if matched { at + 1 } else { target as usize },
                        Op::JumpIf(target) => at = if matched { target as usize } else { at + 1 },
                        _ => self.stack.push(Value::boolean(matched)),
                    }
                }
                Op::Concat(count) => {
                    let from = self.stack.len() - count as usize;
                    let mut text = Vec::new();
                    for value in &self.stack[from..] {
                        if let Value::Array(_) = value {
                            return Err("attempt to use an array in a scalar context".into());
                        }
                        value.write(&self.convfmt, &mut text);
                    }
                    self.stack.truncate(from);
                    self.stack.push(Value::owned(text));
                }
                Op::Subscript(count) => {
                    let from = self.stack.len() - count as usize;
                    let mut text = Vec::new();
                    for (index, value) in self.stack[from..].iter().enumerate() {
                        if index > 0 {
                            text.extend_from_slice(&self.subsep);
                        }
                        value.write(&self.convfmt, &mut text);
                    }
                    self.stack.truncate(from);
                    self.stack.push(Value::owned(text));
                }
                Op::Contains => {
                    let array = self.pop_array()?;
                    let key = self.pop();
                    let mut buffer = Vec::new();
                    let there = array.borrow().contains(key_of(&key, &self.convfmt, &mut buffer));
                    self.stack.push(Value::boolean(there));
                }
                Op::Jump(target) => at = target as usize,
                Op::JumpIf(target) => {
                    if self.pop().truth() {
                        at = target as usize;
                    }
                }
                Op::JumpUnless(target) => {
                    if !self.pop().truth() {
                        at = target as usize;
                    }
                }
                Op::CaseIs(constant) => {
                    let subject = self.stack.last().cloned().unwrap_or_default();
                    let label = &code.constants[constant as usize];
                    let is = match label {
                        Value::Regex(_) => {
                            let regex = self.regex_of(label)?;
                            regex.is_match(&subject.to_text(&self.convfmt))
                        }
                        label => is_case(&subject, label, &self.convfmt),
                    };
                    self.stack.push(Value::boolean(is));
                }
                Op::Pop => {
                    self.stack.pop();
                }
                Op::Call(function, count) => {
                    let routine = &code.functions[function as usize];
                    base = self.stack.len() - usize::from(count);
                    self.stack.resize(base + routine.parameters, Value::Unset);
                    if self.frames.len() >= DEEPEST {
                        return Err(format!("function `{}' is called too deep in itself", routine.name));
                    }
                    self.frames.push(Frame { return_to: at, base, iterators: self.iterators.len() });
                    at = routine.entry;
                }
                Op::CallIndirect(count) => {
                    let name = self.pop_text();
                    let function = self.function_named(&name)?;
                    let routine = &code.functions[function];
                    if count as usize > routine.parameters {
                        return Err(format!("function `{}' called with more arguments than declared", routine.name));
                    }
                    base = self.stack.len() - count as usize;
                    self.stack.resize(base + routine.parameters, Value::Unset);
                    if self.frames.len() >= DEEPEST {
                        return Err(format!("function `{}' is called too deep in itself", routine.name));
                    }
                    self.frames.push(Frame { return_to: at, base, iterators: self.iterators.len() });
                    at = routine.entry;
                }
                Op::Return => {
                    let value = self.pop();
                    let Some(frame) = self.frames.pop() else { return Ok(Flow::Done) };
                    self.stack.truncate(frame.base);
                    self.iterators.truncate(frame.iterators);
                    self.stack.push(value);
                    if frame.return_to == usize::MAX && self.frames.len() < frames {
                        return Ok(Flow::Done);
                    }
                    base = self.frames.last().map_or(0, |frame| frame.base);
                    at = frame.return_to;
                }
                Op::BuiltIn(function, count) => self.built_in(function, usize::from(count))?,
                Op::Substitute(global) => self.substitute(global)?,
                Op::PrintRecord => self.print_record()?,
                Op::Print(count, redirect) => self.print(usize::from(count), redirect)?,
                Op::Printf(count, redirect) => self.printf(usize::from(count), redirect)?,
                Op::GetlineMain(place) => match self.getline_main(place)? {
                    Some(result) => self.stack.push(Value::Number(result)),
                    None => return Ok(Flow::Exit),
                },
                Op::GetlineFile(place) => self.getline_file(place)?,
                Op::GetlineCommand(place) => self.getline_command(place)?,
                Op::ForIn => {
                    let array = self.pop_array()?;
                    let keys = self.sorted_keys(&array)?;
                    self.iterators.push(keys.into_iter());
                }
                Op::ForInNext(target) => match self.iterators.last_mut().and_then(Iterator::next) {
                    Some(key) => self.stack.push(key),
                    None => at = target as usize,
                },
                Op::ForInEnd => {
                    self.iterators.pop();
                }
                Op::Delete => {
                    let key = self.pop();
                    let array = self.pop_array()?;
                    let mut buffer = Vec::new();
                    array.borrow_mut().remove(key_of(&key, &self.convfmt, &mut buffer));
                }
                Op::Clear => {
                    let array = self.pop_array()?;
                    // What was in it may hold on to much: it goes after the borrow.
                    let old = std::mem::take(&mut *array.borrow_mut());
                    drop(old);
                }
                Op::Next => return Ok(Flow::Next),
                Op::NextFile => return Ok(Flow::NextFile),
                Op::Exit(has_code) => {
                    if has_code {
                        self.exit_code = self.pop().number() as i64 as u8;
                    }
                    return Ok(Flow::Exit);
                }
                Op::RangeJump(range, target) => {
                    if self.ranges[usize::from(range)] {
                        at = target as usize;
                    }
                }
                Op::RangeSet(range, on) => self.ranges[usize::from(range)] = on,
                Op::Halt => return Ok(Flow::Done),
            }
        }
    }

    /// A value that can be stored: an array cannot.
    #[inline]
    fn pop_scalar(&mut self) -> Run<Value> {
        match self.pop() {
            Value::Array(_) => Err("attempt to use an array in a scalar context".into()),
            value => Ok(value),
        }
    }

    fn pop_index(&mut self) -> Run<usize> {
        let number = self.pop().number();
        if number < 0.0 || number.is_nan() {
            return Err(format!("attempt to access field {number}"));
        }
        Ok(number as usize)
    }

    #[inline]
    fn pop_comparison(&mut self, comparison: Comparison) -> bool {
        let right = self.pop();
        let left = self.pop();
        is_as(comparison, &left, &right, &self.convfmt, self.ignore_case)
    }

    /// Takes key and array from the stack and works on the element, which is made if need be.
    #[inline]
    fn with_element<T>(&mut self, work: impl FnOnce(&mut Value, &[u8]) -> T) -> Run<T> {
        let key = self.pop();
        let array = self.pop();
        let Value::Array(array) = &array else { return Err("attempt to use a scalar value as array".into()) };
        let mut buffer = Vec::new();
        let key = key_of(&key, &self.convfmt, &mut buffer);
        Ok(work(array.borrow_mut().element(key), &self.convfmt))
    }

    pub(crate) fn function_named(&self, name: &[u8]) -> Run<usize> {
        self.code
            .functions
            .iter()
            .position(|routine| routine.name.as_bytes() == name)
            .ok_or_else(|| format!("function `{}' not defined", String::from_utf8_lossy(name)))
    }

    /// The name of a global variable, for `-v` and operands.
    pub(crate) fn global_named(&self, name: &str) -> Option<usize> {
        self.code.globals.iter().position(|known| known == name)
    }

    pub(super) fn computed(&mut self, slot: usize) -> Value {
        match slot {
            global::NF => Value::Number(self.record.count() as f64),
            global::NR => Value::Number(self.nr),
            global::FNR => Value::Number(self.fnr),
            slot => self.globals[slot].clone(),
        }
    }
}
