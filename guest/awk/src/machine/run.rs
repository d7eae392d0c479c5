//! The interpreter loop, and calls.

use std::rc::Rc;

use super::{Flow, Frame, Lvalue, Machine, Run};
use crate::code::{Op, Routine};
use crate::value::Value;

/// The limit of nested calls: far more than a program needs, and less than memory holds.
const DEEPEST: usize = 400_000;

impl Machine {
    /// Executes instructions from `entry` until the part ends.
    pub(crate) fn run(&mut self, entry: usize) -> Run<Flow> {
        let frames = self.frames.len();
        let stack = self.stack.len();
        let iterators = self.iterators.len();
        let flow = self.interpret(entry, frames)?;
        self.frames.truncate(frames);
        self.stack.truncate(stack);
        self.iterators.truncate(iterators);
        self.lvalues.clear();
        Ok(flow)
    }

    /// Calls a function of the program from a built-in function.
    pub(crate) fn call(&mut self, function: usize, args: Vec<Value>) -> Run<Value> {
        if self.nested > 20 {
            return Err("comparison functions that sort are nested too deeply".into());
        }
        self.nested += 1;
        let code = Rc::clone(&self.code);
        let routine = &code.functions[function];
        let base = self.stack.len();
        self.stack.extend(args);
        self.stack.resize(base + routine.parameters, Value::Unset);
        // The return address tells the loop to end.
        self.frames.push(Frame { return_to: usize::MAX, base, iterators: self.iterators.len() });
        let frames = self.frames.len();
        let flow = self.interpret(routine.entry, frames)?;
        self.nested -= 1;
        match flow {
            Flow::Done => Ok(self.pop()),
            _ => Err("a comparison function cannot end the program or the record".into()),
        }
    }

    /// The interpreter loop. Each arm is short or calls an inlined method, so that the loop fits on a page and the
    /// compiler still sees all of it. `frames` is the number of calls below the one whose return ends the loop.
    fn interpret(&mut self, entry: usize, frames: usize) -> Run<Flow> {
        let code = Rc::clone(&self.code);
        let ops = code.ops.as_slice();
        let mut at = entry;
        let mut base = self.frames.last().map_or(0, |frame| frame.base);
        loop {
            let op = ops[at];
            at += 1;
            match op {
                Op::Const(index) => self.stack.push(code.constants[index as usize].clone()),
                Op::Global(slot) | Op::ArrayGlobal(slot) => self.stack.push(self.globals[slot as usize].clone()),
                Op::Computed(slot) => self.load_computed(slot as usize),
                Op::Local(slot) => self.load_local(base + slot as usize)?,
                Op::LocalAny(slot) => self.stack.push(self.stack[base + slot as usize].clone()),
                Op::FieldAt(index) => at += self.load_field_or_add(index as usize, ops[at]),
                Op::Field => self.load_field()?,
                Op::ArrayLocal(slot) => self.load_local_array(base + slot as usize, true)?,
                Op::ArrayArgument(slot) => self.load_local_array(base + slot as usize, false)?,
                Op::SubArray => self.load_sub_array(true)?,
                Op::ElementArgument => self.load_sub_array(false)?,
                Op::Element => self.load_element()?,
                Op::SetGlobal(slot, keep) => self.store_global(slot as usize, keep)?,
                Op::SetHooked(slot, keep) => self.store_hooked(slot as usize, keep)?,
                Op::SetLocal(slot, keep) => self.store_local(base + slot as usize, keep)?,
                Op::SetFieldAt(index, keep) => self.store_field(index as usize, keep)?,
                Op::SetField(keep) => {
                    let index = self.pop_index()?;
                    self.store_field(index, keep)?;
                }
                Op::SetElement(keep) => self.store_element(keep)?,
                Op::UpdateGlobal(arithmetic, slot, keep) => self.update_global(arithmetic, slot as usize, keep)?,
                Op::UpdateHooked(arithmetic, slot, keep) => self.update_hooked(arithmetic, slot as usize, keep)?,
                Op::UpdateLocal(arithmetic, slot, keep) => self.update_local(arithmetic, base + slot as usize, keep)?,
                Op::UpdateField(arithmetic, keep) => self.update_field(arithmetic, keep)?,
                Op::UpdateElement(arithmetic, keep) => self.update_element(arithmetic, keep)?,
                Op::IncrementGlobal(slot, change) => self.increment_global(slot as usize, change),
                Op::IncrementHooked(slot, change) => self.increment_hooked(slot as usize, change)?,
                Op::IncrementLocal(slot, change) => self.increment_local(base + slot as usize, change),
                Op::IncrementField(change) => self.increment_field(change)?,
                Op::IncrementElement(change) => self.increment_element(change)?,
                Op::AppendGlobal(slot, keep) => self.append_global(slot as usize, keep),
                Op::AppendLocal(slot, keep) => self.append_local(base + slot as usize, keep),
                Op::LvalueGlobal(slot) => self.lvalues.push(Lvalue::Global(slot as usize)),
                Op::LvalueLocal(slot) => self.lvalues.push(Lvalue::Local(base + slot as usize)),
                Op::LvalueField => self.push_field_lvalue()?,
                Op::LvalueElement => self.push_element_lvalue()?,
                Op::Arithmetic(arithmetic) => self.arithmetic(arithmetic)?,
                Op::Negative => self.map_number(|number| -number),
                Op::Positive => self.map_number(|number| number),
                Op::Not => self.not(),
                Op::Compare(comparison) => self.compare(comparison),
                Op::CompareJump(comparison, when, target) => {
                    at = if self.pop_comparison(comparison) == when { target as usize } else { at };
                }
                Op::Match(negated) => self.match_operand(negated)?,
                Op::MatchRecord(constant) => {
                    let matched = self.matches_record(&code.constants[constant as usize])?;
                    match ops[at] {
                        Op::JumpUnless(target) => at = if matched { at + 1 } else { target as usize },
                        Op::JumpIf(target) => at = if matched { target as usize } else { at + 1 },
                        _ => self.stack.push(Value::boolean(matched)),
                    }
                }
                Op::Concat(count) => self.concat(count as usize)?,
                Op::Subscript(count) => self.join_subscript(count as usize),
                Op::Contains => self.contains()?,
                Op::Jump(target) => at = target as usize,
                Op::JumpIf(target) => at = if self.pop().truth() { target as usize } else { at },
                Op::JumpUnless(target) => at = if self.pop().truth() { at } else { target as usize },
                Op::CaseIs(constant) => self.test_case(&code.constants[constant as usize])?,
                Op::Pop => drop(self.stack.pop()),
                Op::Call(function, count) => {
                    let routine = &code.functions[function as usize];
                    base = self.enter(routine, usize::from(count), at)?;
                    at = routine.entry;
                }
                Op::CallIndirect(count) => {
                    let routine = &code.functions[self.indirect_function(count as usize)?];
                    base = self.enter(routine, count as usize, at)?;
                    at = routine.entry;
                }
                Op::Return => match self.leave(frames) {
                    Some(caller) => (at, base) = caller,
                    None => return Ok(Flow::Done),
                },
                Op::BuiltIn(function, count) => self.built_in(function, usize::from(count))?,
                Op::Substitute(global) => self.substitute(global)?,
                Op::PrintRecord => self.print_record()?,
                Op::Print(count, redirect) => self.print(usize::from(count), redirect)?,
                Op::Printf(count, redirect) => self.printf(usize::from(count), redirect)?,
                Op::GetlineMain(has_target) => match self.getline_main(has_target)? {
                    Some(result) => self.stack.push(Value::Number(result)),
                    None => return Ok(Flow::Exit),
                },
                Op::GetlineFile(has_target) => self.getline_file(has_target)?,
                Op::GetlineCommand(has_target) => self.getline_command(has_target)?,
                Op::ForIn => self.start_for_in()?,
                Op::ForInNext(target) => match self.iterators.last_mut().and_then(Iterator::next) {
                    Some(key) => self.stack.push(key),
                    None => at = target as usize,
                },
                Op::ForInEnd => drop(self.iterators.pop()),
                Op::Delete => self.delete()?,
                Op::Clear => self.clear()?,
                Op::Next => return Ok(Flow::Next),
                Op::NextFile => return Ok(Flow::NextFile),
                Op::Exit(has_code) => return Ok(self.exit(has_code)),
                Op::RangeJump(range, target) => at = if self.ranges[usize::from(range)] { target as usize } else { at },
                Op::RangeSet(range, on) => self.ranges[usize::from(range)] = on,
                Op::Halt => return Ok(Flow::Done),
            }
        }
    }

    /// Starts a call: adds the missing parameters and a frame. Returns the base of the parameters.
    #[inline(always)]
    fn enter(&mut self, routine: &Routine, count: usize, return_to: usize) -> Run<usize> {
        let base = self.stack.len() - count;
        self.stack.resize(base + routine.parameters, Value::Unset);
        if self.frames.len() >= DEEPEST {
            return Err(format!("too many nested calls of function `{}'", routine.name));
        }
        self.frames.push(Frame { return_to, base, iterators: self.iterators.len() });
        Ok(base)
    }

    /// Ends a call. Returns the address and the base of the caller, or `None` if the loop has to end.
    #[inline(always)]
    fn leave(&mut self, frames: usize) -> Option<(usize, usize)> {
        let value = self.pop();
        let frame = self.frames.pop()?;
        self.stack.truncate(frame.base);
        self.iterators.truncate(frame.iterators);
        self.stack.push(value);
        if frame.return_to == usize::MAX && self.frames.len() < frames {
            return None;
        }
        Some((frame.return_to, self.frames.last().map_or(0, |frame| frame.base)))
    }

    /// Pops the name of a function, which is called with `count` arguments.
    fn indirect_function(&mut self, count: usize) -> Run<usize> {
        let name = self.pop_text();
        let function = self.function_named(&name)?;
        let routine = &self.code.functions[function];
        if count > routine.parameters {
            return Err(format!("function `{}' called with more arguments than declared", routine.name));
        }
        Ok(function)
    }

    pub(crate) fn function_named(&self, name: &[u8]) -> Run<usize> {
        self.code
            .functions
            .iter()
            .position(|routine| routine.name.as_bytes() == name)
            .ok_or_else(|| format!("function `{}' not defined", String::from_utf8_lossy(name)))
    }

    /// Returns the slot of a global variable, for `-v` and operands.
    pub(crate) fn global_named(&self, name: &str) -> Option<usize> {
        self.code.globals.iter().position(|known| known == name)
    }
}
