//! The instructions that take more than a line of code.
//!
//! Those of hot loops are always inlined into the interpreter loop, because a call would cost more than they do.

use super::operators::{append, calculate, increment, is_as, is_case, key_of};
use super::{Flow, Lvalue, Machine, Run};
use crate::code::{Increment, Op, global};
use crate::syntax::tree::{Arithmetic, Comparison};
use crate::value::Value;

#[cold]
fn array_in_scalar_context() -> String {
    "attempt to use an array in a scalar context".into()
}

/// Loads and stores.
impl Machine {
    /// Returns the value of a global variable. NF, NR and FNR are computed.
    pub(super) fn computed(&mut self, slot: usize) -> Value {
        match slot {
            global::NF => Value::Number(self.record.count() as f64),
            global::NR => Value::Number(self.nr),
            global::FNR => Value::Number(self.fnr),
            slot => self.globals[slot].clone(),
        }
    }

    #[inline(always)]
    pub(super) fn load_computed(&mut self, slot: usize) {
        let value = self.computed(slot);
        self.stack.push(value);
    }

    #[inline(always)]
    pub(super) fn load_local(&mut self, slot: usize) -> Run<()> {
        let value = self.stack[slot].clone();
        if let Value::Array(_) = value {
            return Err(array_in_scalar_context());
        }
        self.stack.push(value);
        Ok(())
    }

    /// Pushes a field, or adds it to a variable if that is the next instruction: a field that is only added up is
    /// never converted to a string. Returns the number of instructions to skip.
    #[inline(always)]
    pub(super) fn load_field_or_add(&mut self, index: usize, next: Op) -> usize {
        if let Op::UpdateGlobal(Arithmetic::Add, slot, false) = next
            && index > 0
        {
            let number = self.record.number(index);
            let global = &mut self.globals[slot as usize];
            *global = Value::Number(global.number() + number);
            return 1;
        }
        let value = self.field(index);
        self.stack.push(value);
        0
    }

    #[inline(always)]
    pub(super) fn load_field(&mut self) -> Run<()> {
        let index = self.pop_index()?;
        let value = self.field(index);
        self.stack.push(value);
        Ok(())
    }

    /// Pushes a local array, which is created if the variable is unset. A scalar is pushed as it is, or is an error
    /// if an array is `required`.
    #[inline(always)]
    pub(super) fn load_local_array(&mut self, slot: usize, required: bool) -> Run<()> {
        let local = &mut self.stack[slot];
        if let Value::Unset = local {
            *local = Value::new_array();
        }
        let array = local.clone();
        if required && !matches!(array, Value::Array(_)) {
            return Err("attempt to use a scalar parameter as an array".into());
        }
        self.stack.push(array);
        Ok(())
    }

    /// Pushes the array in an element, which is created if the element is unset. A scalar is pushed as it is, or is an
    /// error if an array is `required`.
    pub(super) fn load_sub_array(&mut self, required: bool) -> Run<()> {
        let value = self.with_element(|element| {
            if let Value::Unset = element {
                *element = Value::new_array();
            }
            element.clone()
        })?;
        if required && !matches!(value, Value::Array(_)) {
            return Err("attempt to use a scalar element as an array".into());
        }
        self.stack.push(value);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn load_element(&mut self) -> Run<()> {
        let value = self.with_element(|element| element.clone())?;
        self.stack.push(value);
        Ok(())
    }

    /// Pops the value of an assignment, and pushes it again if the assignment's value is used.
    #[inline(always)]
    fn pop_assigned(&mut self, keep: bool) -> Run<Value> {
        let value = match self.pop() {
            Value::Array(_) => return Err(array_in_scalar_context()),
            value => value,
        };
        if keep {
            self.stack.push(value.clone());
        }
        Ok(value)
    }

    #[inline(always)]
    pub(super) fn store_global(&mut self, slot: usize, keep: bool) -> Run<()> {
        self.globals[slot] = self.pop_assigned(keep)?;
        Ok(())
    }

    /// Assigns a variable whose assignment has side effects, such as NF and FS.
    pub(super) fn store_hooked(&mut self, slot: usize, keep: bool) -> Run<()> {
        let value = self.pop_assigned(keep)?;
        self.set_hooked(slot, value)
    }

    #[inline(always)]
    pub(super) fn store_local(&mut self, slot: usize, keep: bool) -> Run<()> {
        let value = self.pop_assigned(keep)?;
        self.stack[slot] = value;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn store_field(&mut self, index: usize, keep: bool) -> Run<()> {
        let value = self.pop_assigned(keep)?;
        self.set_field(index, value)
    }

    #[inline(always)]
    pub(super) fn store_element(&mut self, keep: bool) -> Run<()> {
        let below = self.stack.len().saturating_sub(3);
        let value = std::mem::take(&mut self.stack[below]);
        if let Value::Array(_) = value {
            return Err(array_in_scalar_context());
        }
        let kept = if keep { value.clone() } else { Value::Unset };
        self.with_element(|element| *element = value)?;
        self.stack.pop();
        if keep {
            self.stack.push(kept);
        }
        Ok(())
    }
}

/// Updates and increments.
impl Machine {
    /// Pushes the result of an update if it is used.
    #[inline(always)]
    fn push_result(&mut self, result: f64, keep: bool) {
        if keep {
            self.stack.push(Value::Number(result));
        }
    }

    #[inline(always)]
    pub(super) fn update_global(&mut self, arithmetic: Arithmetic, slot: usize, keep: bool) -> Run<()> {
        let operand = self.pop().number();
        let result = calculate(arithmetic, self.globals[slot].number(), operand)?;
        self.globals[slot] = Value::Number(result);
        self.push_result(result, keep);
        Ok(())
    }

    pub(super) fn update_hooked(&mut self, arithmetic: Arithmetic, slot: usize, keep: bool) -> Run<()> {
        let operand = self.pop().number();
        let result = calculate(arithmetic, self.computed(slot).number(), operand)?;
        self.set_hooked(slot, Value::Number(result))?;
        self.push_result(result, keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn update_local(&mut self, arithmetic: Arithmetic, slot: usize, keep: bool) -> Run<()> {
        let operand = self.pop().number();
        let result = calculate(arithmetic, self.stack[slot].number(), operand)?;
        self.stack[slot] = Value::Number(result);
        self.push_result(result, keep);
        Ok(())
    }

    pub(super) fn update_field(&mut self, arithmetic: Arithmetic, keep: bool) -> Run<()> {
        let index = self.pop_index()?;
        let operand = self.pop().number();
        let result = calculate(arithmetic, self.field(index).number(), operand)?;
        self.set_field(index, Value::Number(result))?;
        self.push_result(result, keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn update_element(&mut self, arithmetic: Arithmetic, keep: bool) -> Run<()> {
        let below = self.stack.len().saturating_sub(3);
        let operand = self.stack[below].number();
        let result = self.with_element(|element| {
            let result = calculate(arithmetic, element.number(), operand)?;
            *element = Value::Number(result);
            Ok::<f64, String>(result)
        })??;
        self.stack.pop();
        self.push_result(result, keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn increment_global(&mut self, slot: usize, change: Increment) {
        let result = increment(&mut self.globals[slot], change);
        self.push_result(result, change.keep);
    }

    pub(super) fn increment_hooked(&mut self, slot: usize, change: Increment) -> Run<()> {
        let mut value = self.computed(slot);
        let result = increment(&mut value, change);
        self.set_hooked(slot, value)?;
        self.push_result(result, change.keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn increment_local(&mut self, slot: usize, change: Increment) {
        let result = increment(&mut self.stack[slot], change);
        self.push_result(result, change.keep);
    }

    pub(super) fn increment_field(&mut self, change: Increment) -> Run<()> {
        let index = self.pop_index()?;
        let mut value = self.field(index);
        let result = increment(&mut value, change);
        self.set_field(index, value)?;
        self.push_result(result, change.keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn increment_element(&mut self, change: Increment) -> Run<()> {
        let result = self.with_element(|element| increment(element, change))?;
        self.push_result(result, change.keep);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn append_global(&mut self, slot: usize, keep: bool) {
        let more = self.pop();
        append(&mut self.globals[slot], &more, &self.convfmt);
        if keep {
            self.stack.push(self.globals[slot].clone());
        }
    }

    #[inline(always)]
    pub(super) fn append_local(&mut self, slot: usize, keep: bool) {
        let more = self.pop();
        append(&mut self.stack[slot], &more, &self.convfmt);
        if keep {
            self.stack.push(self.stack[slot].clone());
        }
    }

    pub(super) fn push_field_lvalue(&mut self) -> Run<()> {
        let index = self.pop_index()?;
        self.lvalues.push(Lvalue::Field(index));
        Ok(())
    }

    pub(super) fn push_element_lvalue(&mut self) -> Run<()> {
        let key = self.pop();
        let array = self.pop_array()?;
        self.lvalues.push(Lvalue::Element(array, key));
        Ok(())
    }
}

/// Operators.
impl Machine {
    #[inline(always)]
    pub(super) fn arithmetic(&mut self, arithmetic: Arithmetic) -> Run<()> {
        let right = self.pop().number();
        if let Some(left) = self.stack.last_mut() {
            *left = Value::Number(calculate(arithmetic, left.number(), right)?);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn map_number(&mut self, function: impl FnOnce(f64) -> f64) {
        let number = self.pop().number();
        self.stack.push(Value::Number(function(number)));
    }

    #[inline(always)]
    pub(super) fn not(&mut self) {
        let truth = self.pop().truth();
        self.stack.push(Value::boolean(!truth));
    }

    #[inline(always)]
    pub(super) fn compare(&mut self, comparison: Comparison) {
        let truth = self.pop_comparison(comparison);
        self.stack.push(Value::boolean(truth));
    }

    #[inline(always)]
    pub(super) fn pop_comparison(&mut self, comparison: Comparison) -> bool {
        let right = self.pop();
        let left = self.pop();
        is_as(comparison, &left, &right, &self.convfmt, self.ignore_case)
    }

    #[inline(always)]
    pub(super) fn match_operand(&mut self, negated: bool) -> Run<()> {
        let regex = self.pop();
        let text = self.pop();
        let regex = self.regex_of(&regex)?;
        let matched = match text.bytes() {
            Some(bytes) => regex.is_match(bytes),
            None => regex.is_match(&text.to_text(&self.convfmt)),
        };
        self.stack.push(Value::boolean(matched != negated));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn matches_record(&mut self, regex: &Value) -> Run<bool> {
        let regex = self.regex_of(regex)?;
        Ok(regex.is_match(self.record.whole(&self.ofs, &self.convfmt)))
    }

    #[inline(always)]
    pub(super) fn concat(&mut self, count: usize) -> Run<()> {
        let from = self.stack.len() - count;
        let mut text = Vec::new();
        for value in &self.stack[from..] {
            if let Value::Array(_) = value {
                return Err(array_in_scalar_context());
            }
            value.write(&self.convfmt, &mut text);
        }
        self.stack.truncate(from);
        self.stack.push(Value::owned(text));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn join_subscript(&mut self, count: usize) {
        let from = self.stack.len() - count;
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

    #[inline(always)]
    pub(super) fn contains(&mut self) -> Run<()> {
        let array = self.pop_array()?;
        let key = self.pop();
        let mut buffer = Vec::new();
        let is_there = array.borrow().contains(key_of(&key, &self.convfmt, &mut buffer));
        self.stack.push(Value::boolean(is_there));
        Ok(())
    }

    /// Pushes the result of comparing the value on top with a `case` label. The value stays below.
    pub(super) fn test_case(&mut self, label: &Value) -> Run<()> {
        let subject = self.stack.last().cloned().unwrap_or_default();
        let is = match label {
            Value::Regex(_) => {
                let regex = self.regex_of(label)?;
                regex.is_match(&subject.to_text(&self.convfmt))
            }
            label => is_case(&subject, label, &self.convfmt),
        };
        self.stack.push(Value::boolean(is));
        Ok(())
    }
}

/// Arrays, and the end of the program.
impl Machine {
    pub(super) fn start_for_in(&mut self) -> Run<()> {
        let array = self.pop_array()?;
        let keys = self.sorted_keys(&array)?;
        self.iterators.push(keys.into_iter());
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Run<()> {
        let key = self.pop();
        let array = self.pop_array()?;
        let mut buffer = Vec::new();
        array.borrow_mut().remove(key_of(&key, &self.convfmt, &mut buffer));
        Ok(())
    }

    pub(super) fn clear(&mut self) -> Run<()> {
        let array = self.pop_array()?;
        // The old content is dropped after the borrow has ended.
        let old = std::mem::take(&mut *array.borrow_mut());
        drop(old);
        Ok(())
    }

    pub(super) fn exit(&mut self, has_code: bool) -> Flow {
        if has_code {
            self.exit_code = self.pop().number() as i64 as u8;
        }
        Flow::Exit
    }

    #[inline]
    pub(super) fn pop_index(&mut self) -> Run<usize> {
        let number = self.pop().number();
        if number < 0.0 || number.is_nan() {
            return Err(format!("attempt to access field {number}"));
        }
        Ok(number as usize)
    }

    /// Pops a key and an array, and applies `work` to the element, which is created if necessary.
    #[inline(always)]
    fn with_element<T>(&mut self, work: impl FnOnce(&mut Value) -> T) -> Run<T> {
        let key = self.pop();
        let array = self.pop();
        let Value::Array(array) = &array else { return Err("attempt to use a scalar value as array".into()) };
        let mut buffer = Vec::new();
        let key = key_of(&key, &self.convfmt, &mut buffer);
        Ok(work(array.borrow_mut().element(key)))
    }
}
