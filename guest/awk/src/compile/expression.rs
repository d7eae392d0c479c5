//! The compilation of expressions.

use std::rc::Rc;

use super::names::Variable;
use super::{Compiled, Compiler};
use crate::code::{Increment, Op, global};
use crate::pattern::Literal;
use crate::syntax::functions::Function;
use crate::syntax::tree::{Arithmetic, Expr, GetlineFrom, Name};
use crate::value::Value;

/// The kind of a target. A variable comes with its slot.
enum Target {
    Field,
    Element,
    Local(u32),
    /// A global variable whose assignment has side effects.
    Hooked(u32),
    Global(u32),
}

impl Compiler<'_> {
    /// Compiles an expression whose value is pushed.
    pub(super) fn expression(&mut self, expr: &Expr) -> Compiled<()> {
        match expr {
            Expr::Number(number) => self.push(Value::Number(*number)),
            Expr::Text(text) => self.push(Value::string(text)),
            Expr::Regex(regex) => {
                let constant = self.regex_constant(regex)?;
                self.emit(Op::MatchRecord(constant));
            }
            Expr::TypedRegex(regex) => {
                let constant = self.regex_constant(regex)?;
                self.emit(Op::Const(constant));
            }
            Expr::Variable(name) => self.load(*name)?,
            Expr::Field(index) => match constant_index(index) {
                Some(index) => {
                    self.emit(Op::FieldAt(index));
                }
                None => {
                    self.expression(index)?;
                    self.emit(Op::Field);
                }
            },
            Expr::Element(array, subscript) => {
                self.array(array)?;
                self.subscript(subscript)?;
                self.emit(Op::Element);
            }
            Expr::Assign(..) | Expr::Update(..) | Expr::Increment { .. } => self.change(expr, true)?,
            Expr::Conditional(test, yes, no) => {
                let to_no = self.jumps(test, false)?;
                self.expression(yes)?;
                let end = self.emit(Op::Jump(0));
                self.land_all(to_no);
                self.expression(no)?;
                self.land(end);
            }
            Expr::And(_) | Expr::Or(_) => {
                let to_false = self.jumps(expr, false)?;
                self.push(Value::Number(1.0));
                let end = self.emit(Op::Jump(0));
                self.land_all(to_false);
                self.push(Value::Number(0.0));
                self.land(end);
            }
            Expr::Not(inner) => {
                self.expression(inner)?;
                self.emit(Op::Not);
            }
            Expr::Negative(inner) => match &**inner {
                Expr::Number(number) => self.push(Value::Number(-number)),
                inner => {
                    self.expression(inner)?;
                    self.emit(Op::Negative);
                }
            },
            Expr::Positive(inner) => {
                self.expression(inner)?;
                self.emit(Op::Positive);
            }
            Expr::Chain(first, rest) => self.chain(first, rest)?,
            Expr::Compare(comparison, left, right) => {
                self.expression(left)?;
                self.expression(right)?;
                self.emit(Op::Compare(*comparison));
            }
            Expr::Match { text, regex, negated } => {
                self.expression(text)?;
                self.regex(regex)?;
                self.emit(Op::Match(*negated));
            }
            Expr::In(subscript, array) => {
                self.subscript(subscript)?;
                self.array(array)?;
                self.emit(Op::Contains);
            }
            Expr::Concat(parts) => {
                for part in parts {
                    self.expression(part)?;
                }
                self.emit(Op::Concat(parts.len() as u32));
            }
            Expr::Call(name, args) => self.call(*name, args)?,
            Expr::CallIndirect(name, args) => {
                for arg in args {
                    self.anything(arg)?;
                }
                self.expression(&Expr::Variable(*name))?;
                self.emit(Op::CallIndirect(args.len() as u32));
            }
            Expr::BuiltIn(function, args) => self.built_in(*function, args)?,
            Expr::Getline { from, target } => self.getline(from, target.as_deref())?,
            Expr::Group(inner) => self.expression(inner)?,
            Expr::List(_) => return Err("syntax error: a list in parentheses is only for `print' and `in'".into()),
        }
        Ok(())
    }

    fn load(&mut self, name: Name) -> Compiled<()> {
        let op = match self.variable(name)? {
            Variable::Global(slot) => {
                self.scalars[slot as usize] = true;
                if (slot as usize) <= global::FNR { Op::Computed(slot) } else { Op::Global(slot) }
            }
            Variable::Local(slot) => Op::Local(slot),
        };
        self.emit(op);
        Ok(())
    }

    /// Compiles operands with arithmetic operators between them. A division by a literal zero is an error.
    fn chain(&mut self, first: &Expr, rest: &[(Arithmetic, Expr)]) -> Compiled<()> {
        self.expression(first)?;
        for (arithmetic, operand) in rest {
            match (arithmetic, operand) {
                (Arithmetic::Divide, Expr::Number(0.0)) => {
                    return Err("error: division by zero attempted".into());
                }
                (Arithmetic::Remainder, Expr::Number(0.0)) => {
                    return Err("error: division by zero attempted in `%'".into());
                }
                _ => {}
            }
            self.expression(operand)?;
            self.emit(Op::Arithmetic(*arithmetic));
        }
        Ok(())
    }

    /// Compiles an expression for its side effects only.
    pub(super) fn effect(&mut self, expr: &Expr) -> Compiled<()> {
        match expr {
            Expr::Assign(..) | Expr::Update(..) | Expr::Increment { .. } => self.change(expr, false),
            Expr::Group(inner) => self.effect(inner),
            other => {
                self.expression(other)?;
                self.emit(Op::Pop);
                Ok(())
            }
        }
    }

    /// Compiles a condition. Returns the jumps taken if its value equals `when`, whose targets are still to be set.
    pub(super) fn jumps(&mut self, expr: &Expr, when: bool) -> Compiled<Vec<usize>> {
        match expr {
            Expr::Group(inner) => self.jumps(inner, when),
            Expr::Not(inner) => self.jumps(inner, !when),
            Expr::And(all) | Expr::Or(all) => {
                // The value that decides early: false for `&&`, true for `||`.
                let decides = matches!(expr, Expr::Or(_));
                let mut jumps = Vec::new();
                let Some((last, others)) = all.split_last() else { return Ok(jumps) };
                for operand in others {
                    jumps.extend(self.jumps(operand, decides)?);
                }
                if decides == when {
                    jumps.extend(self.jumps(last, when)?);
                    return Ok(jumps);
                }
                let away = self.jumps(last, when)?;
                self.land_all(jumps);
                Ok(away)
            }
            Expr::Compare(comparison, left, right) => {
                self.expression(left)?;
                self.expression(right)?;
                Ok(vec![self.emit(Op::CompareJump(*comparison, when, 0))])
            }
            other => {
                self.expression(other)?;
                Ok(vec![self.emit(if when { Op::JumpIf(0) } else { Op::JumpUnless(0) })])
            }
        }
    }

    fn push(&mut self, value: Value) {
        let constant = self.constant(value);
        self.emit(Op::Const(constant));
    }

    fn regex_constant(&mut self, source: &[u8]) -> Compiled<u32> {
        let literal = Literal::new(source.to_vec());
        // A wrong expression is reported before the program starts. The compiled form is kept for the run.
        literal.regex(false).map_err(|message| format!("error: {message}"))?;
        Ok(self.constant(Value::Regex(Rc::new(literal))))
    }

    /// Compiles an operand that is a regular expression. A literal is pushed as such, anything else as a value.
    pub(super) fn regex(&mut self, expr: &Expr) -> Compiled<()> {
        match expr {
            Expr::Regex(source) => {
                let constant = self.regex_constant(source)?;
                self.emit(Op::Const(constant));
                Ok(())
            }
            Expr::Group(inner) if matches!(**inner, Expr::Regex(_)) => self.regex(inner),
            other => self.expression(other),
        }
    }

    /// Returns the constant of a `case` label.
    pub(super) fn label(&mut self, label: &Expr) -> Compiled<u32> {
        Ok(match label {
            Expr::Number(number) => self.constant(Value::Number(*number)),
            Expr::Text(text) => self.constant(Value::string(text)),
            Expr::Regex(source) | Expr::TypedRegex(source) => self.regex_constant(source)?,
            _ => self.constant(Value::Unset),
        })
    }

    /// Compiles a subscript: one value, or several joined by SUBSEP.
    pub(super) fn subscript(&mut self, subscript: &[Expr]) -> Compiled<()> {
        for part in subscript {
            self.expression(part)?;
        }
        if subscript.len() > 1 {
            self.emit(Op::Subscript(subscript.len() as u32));
        }
        Ok(())
    }

    /// Compiles an assignment, an update or an increment. As in gawk, the value is evaluated before the target.
    fn change(&mut self, expr: &Expr, keep: bool) -> Compiled<()> {
        match expr {
            Expr::Assign(target, value) => {
                if let Some(rest) = self.appended(target, value)? {
                    self.expression_of_parts(rest)?;
                    let op = match self.scalar(target)? {
                        Variable::Global(slot) => Op::AppendGlobal(slot, keep),
                        Variable::Local(slot) => Op::AppendLocal(slot, keep),
                    };
                    self.emit(op);
                    return Ok(());
                }
                self.expression(value)?;
                self.assign(target, keep)
            }
            Expr::Update(arithmetic, target, value) => {
                self.expression(value)?;
                let op = match self.target(target)? {
                    Target::Field => Op::UpdateField(*arithmetic, keep),
                    Target::Element => Op::UpdateElement(*arithmetic, keep),
                    Target::Local(slot) => Op::UpdateLocal(*arithmetic, slot, keep),
                    Target::Hooked(slot) => Op::UpdateHooked(*arithmetic, slot, keep),
                    Target::Global(slot) => Op::UpdateGlobal(*arithmetic, slot, keep),
                };
                self.emit(op);
                Ok(())
            }
            Expr::Increment { target, by, before } => {
                let change = Increment { by: *by as i8, before: *before, keep };
                let op = match self.target(target)? {
                    Target::Field => Op::IncrementField(change),
                    Target::Element => Op::IncrementElement(change),
                    Target::Local(slot) => Op::IncrementLocal(slot, change),
                    Target::Hooked(slot) => Op::IncrementHooked(slot, change),
                    Target::Global(slot) => Op::IncrementGlobal(slot, change),
                };
                self.emit(op);
                Ok(())
            }
            other => self.expression(other),
        }
    }

    /// Compiles the assignment of the value on the stack.
    pub(super) fn assign(&mut self, target: &Expr, keep: bool) -> Compiled<()> {
        if let Expr::Field(index) = target
            && let Some(index) = constant_index(index)
        {
            self.emit(Op::SetFieldAt(index, keep));
            return Ok(());
        }
        let op = match self.target(target)? {
            Target::Field => Op::SetField(keep),
            Target::Element => Op::SetElement(keep),
            Target::Local(slot) => Op::SetLocal(slot, keep),
            Target::Hooked(slot) => Op::SetHooked(slot, keep),
            Target::Global(slot) => Op::SetGlobal(slot, keep),
        };
        self.emit(op);
        Ok(())
    }

    /// Compiles the operands that a target needs on the stack: the index of a field, or the array and the key of an
    /// element.
    fn target(&mut self, target: &Expr) -> Compiled<Target> {
        Ok(match target {
            Expr::Field(index) => {
                self.expression(index)?;
                Target::Field
            }
            Expr::Element(array, subscript) => {
                self.array(array)?;
                self.subscript(subscript)?;
                Target::Element
            }
            target => match self.scalar(target)? {
                Variable::Local(slot) => Target::Local(slot),
                Variable::Global(slot) if is_hooked(slot) => Target::Hooked(slot),
                Variable::Global(slot) => Target::Global(slot),
            },
        })
    }

    fn scalar(&mut self, target: &Expr) -> Compiled<Variable> {
        let Expr::Variable(name) = target else { return Err("the target of an assignment is not a variable".into()) };
        let variable = self.variable(*name)?;
        if let Variable::Global(slot) = variable {
            self.scalars[slot as usize] = true;
        }
        Ok(variable)
    }

    /// Returns the operands that `s = s x y` appends to `s`, if the value has that form and cannot change `s` itself.
    fn appended<'e>(&mut self, target: &Expr, value: &'e Expr) -> Compiled<Option<&'e [Expr]>> {
        let (Expr::Variable(name), Expr::Concat(parts)) = (target, value) else { return Ok(None) };
        let Some((Expr::Variable(first), rest)) = parts.split_first() else { return Ok(None) };
        if first != name || !rest.iter().all(is_plain) {
            return Ok(None);
        }
        Ok(match self.variable(*name)? {
            Variable::Global(slot) if is_hooked(slot) => None,
            _ => Some(rest),
        })
    }

    fn expression_of_parts(&mut self, parts: &[Expr]) -> Compiled<()> {
        for part in parts {
            self.expression(part)?;
        }
        if parts.len() > 1 {
            self.emit(Op::Concat(parts.len() as u32));
        }
        Ok(())
    }

    /// Compiles a reference to an lvalue for an instruction that follows.
    fn lvalue(&mut self, target: &Expr) -> Compiled<()> {
        let op = match self.target(target)? {
            Target::Field => Op::LvalueField,
            Target::Element => Op::LvalueElement,
            Target::Local(slot) => Op::LvalueLocal(slot),
            Target::Hooked(slot) | Target::Global(slot) => Op::LvalueGlobal(slot),
        };
        self.emit(op);
        Ok(())
    }

    fn call(&mut self, name: usize, args: &[Expr]) -> Compiled<()> {
        let Some(&function) = self.functions.get(&name) else {
            return Err(format!("function `{}' not defined", self.name_of(name)));
        };
        let most = self.program.functions[function as usize].parameters.len();
        if args.len() > most {
            let name = self.name_of(name);
            return Err(format!("function `{name}' called with more arguments than declared"));
        }
        for (index, arg) in args.iter().enumerate() {
            self.argument(arg, function, index)?;
        }
        self.emit(Op::Call(function, args.len() as u16));
        Ok(())
    }

    fn built_in(&mut self, function: Function, args: &[Expr]) -> Compiled<()> {
        if let Function::Sub | Function::Gsub = function {
            self.regex(&args[0])?;
            self.expression(&args[1])?;
            let record = Expr::Field(Box::new(Expr::Number(0.0)));
            match args.get(2) {
                Some(target) if target.is_lvalue() => self.lvalue(target)?,
                None => self.lvalue(&record)?,
                Some(Expr::Group(inner)) if inner.is_lvalue() => self.lvalue(inner)?,
                // The target is not an lvalue. The result is discarded, and only the count is used.
                Some(other) => {
                    self.expression(other)?;
                    let slot = self.new_global("");
                    self.emit(Op::SetGlobal(slot, false));
                    self.emit(Op::LvalueGlobal(slot));
                }
            }
            self.emit(Op::Substitute(function == Function::Gsub));
            return Ok(());
        }
        for (index, arg) in args.iter().enumerate() {
            if function.wants_array(index) {
                self.array(arg)?;
            } else if function.wants_regex(index) {
                self.regex(arg)?;
            } else if matches!(function, Function::Length | Function::Isarray | Function::Typeof) {
                self.anything(arg)?;
            } else {
                self.expression(arg)?;
            }
        }
        self.emit(Op::BuiltIn(function, args.len().min(255) as u8));
        if args.len() > 255 {
            return Err(format!("too many arguments for {}", function.name()));
        }
        Ok(())
    }

    fn getline(&mut self, from: &GetlineFrom, target: Option<&Expr>) -> Compiled<()> {
        // The lvalue comes last, so that the evaluation of the file's name cannot push another one in between.
        let has_target = target.is_some();
        let op = match from {
            GetlineFrom::Main => Op::GetlineMain(has_target),
            GetlineFrom::File(file) => {
                self.expression(file)?;
                Op::GetlineFile(has_target)
            }
            GetlineFrom::Command(command) => {
                self.expression(command)?;
                Op::GetlineCommand(has_target)
            }
        };
        if let Some(target) = target {
            self.lvalue(target)?;
        }
        self.emit(op);
        Ok(())
    }
}

fn is_hooked(slot: u32) -> bool {
    (slot as usize) < global::HOOKED
}

fn constant_index(index: &Expr) -> Option<u32> {
    match index {
        Expr::Number(number) if *number >= 0.0 && *number < 1e6 => Some(*number as u32),
        Expr::Group(inner) => constant_index(inner),
        _ => None,
    }
}

/// Returns true if an expression has no side effects.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Text(_) | Expr::Variable(_) => true,
        Expr::Field(inner) | Expr::Group(inner) => is_plain(inner),
        Expr::Chain(first, rest) => {
            is_plain(first)
                && rest.iter().all(|(arithmetic, operand)| *arithmetic != Arithmetic::Power && is_plain(operand))
        }
        Expr::Concat(parts) => parts.iter().all(is_plain),
        Expr::Element(_, subscript) => subscript.iter().all(is_plain),
        Expr::Conditional(test, yes, no) => is_plain(test) && is_plain(yes) && is_plain(no),
        Expr::Compare(_, left, right) => is_plain(left) && is_plain(right),
        Expr::BuiltIn(function, args) => {
            matches!(function, Function::Substr | Function::Sprintf | Function::Tolower | Function::Toupper)
                && args.iter().all(is_plain)
        }
        _ => false,
    }
}
