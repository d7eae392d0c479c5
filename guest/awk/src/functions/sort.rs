//! `asort`, `asorti`, and the order of `for (… in …)`.

use std::cmp::Ordering;

use crate::array::Key;
use crate::code::global;
use crate::machine::{Machine, Run, key_of};
use crate::value::{ArrayRef, Value};

/// The order of elements.
enum Order {
    As(By, bool),
    Function(usize),
}

#[derive(Clone, Copy)]
enum By {
    IndexText,
    IndexNumber,
    ValueText,
    ValueNumber,
    ValueType,
}

type Pair = (Value, Value);

impl Machine {
    /// Returns the keys of an array in the order of PROCINFO["sorted_in"].
    pub(crate) fn sorted_keys(&mut self, array: &ArrayRef) -> Run<Vec<Value>> {
        let how = match &self.globals[global::PROCINFO] {
            Value::Array(info) if info.borrow().len() > 0 => {
                info.borrow().get(Key::Text(b"sorted_in")).map(|how| how.to_text(&self.convfmt))
            }
            _ => None,
        };
        let keys = array.borrow().keys();
        match how.as_deref() {
            None | Some(b"" | b"@unsorted") => Ok(keys),
            Some(how) => {
                let order = self.order(how)?;
                let pairs = self.sorted(pairs(array, keys, &self.convfmt), &order)?;
                Ok(pairs.into_iter().map(|(key, _)| key).collect())
            }
        }
    }

    pub(super) fn asort(&mut self, count: usize, by_index: bool) -> Run<Value> {
        let how = if count == 3 { self.pop_text() } else { Vec::new() };
        let target = if count >= 2 { Some(self.pop_array()?) } else { None };
        let source = self.pop_array()?;
        let order = match how.as_slice() {
            b"" if by_index => Order::As(By::IndexText, false),
            b"" => Order::As(By::ValueType, false),
            how => self.order(how)?,
        };
        let keys = source.borrow().keys();
        let sorted = self.sorted(pairs(&source, keys, &self.convfmt), &order)?;
        let target = target.unwrap_or(source);
        let mut target = target.borrow_mut();
        target.clear();
        for (index, (key, value)) in sorted.into_iter().enumerate() {
            *target.element(Key::Integer(index as i64 + 1)) = if by_index { key } else { value };
        }
        Ok(Value::Number(target.len() as f64))
    }

    fn order(&self, how: &[u8]) -> Run<Order> {
        let (by, descending) = match how {
            b"@ind_str_asc" => (By::IndexText, false),
            b"@ind_str_desc" => (By::IndexText, true),
            b"@ind_num_asc" => (By::IndexNumber, false),
            b"@ind_num_desc" => (By::IndexNumber, true),
            b"@val_str_asc" => (By::ValueText, false),
            b"@val_str_desc" => (By::ValueText, true),
            b"@val_num_asc" => (By::ValueNumber, false),
            b"@val_num_desc" => (By::ValueNumber, true),
            b"@val_type_asc" => (By::ValueType, false),
            b"@val_type_desc" => (By::ValueType, true),
            [b'@', ..] => return Err(format!("sort order `{}' is not known", String::from_utf8_lossy(how))),
            name => return self.function_named(name).map(Order::Function),
        };
        Ok(Order::As(by, descending))
    }

    fn sorted(&mut self, pairs: Vec<Pair>, order: &Order) -> Run<Vec<Pair>> {
        let mut pairs = pairs;
        match order {
            Order::As(by, descending) => {
                let convfmt = self.convfmt.clone();
                let ignore_case = self.ignore_case;
                pairs.sort_by(|a, b| {
                    let order = compare(*by, a, b, &convfmt, ignore_case);
                    if *descending { order.reverse() } else { order }
                });
                Ok(pairs)
            }
            Order::Function(function) => self.merged(pairs, *function),
        }
    }

    /// Sorts by a function of the program. The sort of std cannot be used, since the function can fail and need not
    /// be an order.
    fn merged(&mut self, mut pairs: Vec<Pair>, function: usize) -> Run<Vec<Pair>> {
        let mut width = 1;
        while width < pairs.len() {
            let mut merged = Vec::with_capacity(pairs.len());
            let mut rest = pairs.into_iter().peekable();
            while rest.peek().is_some() {
                let left: Vec<Pair> = rest.by_ref().take(width).collect();
                let right: Vec<Pair> = rest.by_ref().take(width).collect();
                let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
                while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                    let args = vec![a.0.clone(), a.1.clone(), b.0.clone(), b.1.clone()];
                    let order = self.call(function, args)?.number();
                    merged.extend(if order > 0.0 { right.next() } else { left.next() });
                }
                merged.extend(left);
                merged.extend(right);
            }
            pairs = merged;
            width *= 2;
        }
        Ok(pairs)
    }
}

fn pairs(array: &ArrayRef, keys: Vec<Value>, convfmt: &[u8]) -> Vec<Pair> {
    let array = array.borrow();
    keys.into_iter()
        .map(|key| {
            let mut buffer = Vec::new();
            let value = array.get(key_of(&key, convfmt, &mut buffer)).cloned().unwrap_or_default();
            (key, value)
        })
        .collect()
}

fn compare(by: By, a: &Pair, b: &Pair, convfmt: &[u8], ignore_case: bool) -> Ordering {
    let texts = |a: &Value, b: &Value| {
        let (mut a, mut b) = (a.to_text(convfmt), b.to_text(convfmt));
        if ignore_case {
            a.make_ascii_lowercase();
            b.make_ascii_lowercase();
        }
        a.cmp(&b)
    };
    let numbers = |a: &Value, b: &Value| a.number().partial_cmp(&b.number()).unwrap_or(Ordering::Equal);
    let keys = || texts(&a.0, &b.0);
    match by {
        By::IndexText => keys(),
        By::IndexNumber => numbers(&a.0, &b.0).then_with(keys),
        By::ValueText => rank(&a.1).max(1).cmp(&rank(&b.1).max(1)).then_with(|| texts(&a.1, &b.1)).then_with(keys),
        By::ValueNumber => {
            let arrays = (rank(&a.1) == 2).cmp(&(rank(&b.1) == 2));
            arrays.then_with(|| numbers(&a.1, &b.1)).then_with(|| texts(&a.1, &b.1)).then_with(keys)
        }
        By::ValueType => rank(&a.1).cmp(&rank(&b.1)).then_with(|| {
            if rank(&a.1) == 0 { numbers(&a.1, &b.1).then_with(keys) } else { texts(&a.1, &b.1).then_with(keys) }
        }),
    }
}

/// Returns the rank of a value's type: numbers, then strings, then arrays.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Array(_) => 2,
        value if value.as_numeric().is_some() => 0,
        _ => 1,
    }
}
