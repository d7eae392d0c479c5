//! Arrays and scalars among the names of a program.

use super::{Compiled, Compiler};
use crate::code::Op;
use crate::syntax::tree::{Expr, Name};

/// The storage of a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    Global(u32),
    Local(u32),
}

/// An argument of a call that can turn out to be an array.
pub(super) struct Argument {
    /// The instruction that pushes it.
    op: usize,
    /// The variable and its function. `None` for an element.
    variable: Option<(Variable, Option<u32>)>,
    /// The function called, and the index of the parameter.
    function: u32,
    parameter: usize,
}

impl Compiler<'_> {
    /// Compiles an expression that has to be an array.
    pub(super) fn array(&mut self, array: &Expr) -> Compiled<()> {
        match array {
            Expr::Variable(name) => {
                let variable = self.variable(*name)?;
                self.mark_array(variable, self.function);
                self.emit(array_op(variable));
            }
            Expr::Element(array, subscript) => {
                self.array(array)?;
                self.subscript(subscript)?;
                self.emit(Op::SubArray);
            }
            _ => return Err("an array is required".into()),
        }
        Ok(())
    }

    fn mark_array(&mut self, variable: Variable, function: Option<u32>) {
        match (variable, function) {
            (Variable::Global(slot), _) => self.code.arrays[slot as usize] = true,
            (Variable::Local(slot), Some(function)) => {
                self.array_parameters[function as usize][slot as usize] = true;
            }
            (Variable::Local(_), None) => {}
        }
    }

    /// Compiles an argument of a call. A name or an element can be an array.
    pub(super) fn argument(&mut self, argument: &Expr, function: u32, parameter: usize) -> Compiled<()> {
        let variable = match argument {
            Expr::Variable(name) => {
                let variable = self.variable(*name)?;
                let function = self.function;
                self.emit(any_op(variable));
                Some((variable, function))
            }
            Expr::Element(array, subscript) => {
                self.array(array)?;
                self.subscript(subscript)?;
                self.emit(Op::Element);
                None
            }
            other => return self.expression(other),
        };
        let op = self.code.ops.len() - 1;
        self.arguments.push(Argument { op, variable, function, parameter });
        Ok(())
    }

    /// Compiles an expression whose value can be an array.
    pub(super) fn anything(&mut self, expr: &Expr) -> Compiled<()> {
        match expr {
            Expr::Variable(name) => {
                let variable = self.variable(*name)?;
                self.emit(any_op(variable));
                Ok(())
            }
            Expr::Group(inner) => self.anything(inner),
            other => self.expression(other),
        }
    }

    /// Marks variables passed to array parameters as arrays, until nothing changes, and corrects the instructions
    /// that push them.
    pub(super) fn settle_arrays(&mut self) -> Compiled<()> {
        let arguments = std::mem::take(&mut self.arguments);
        loop {
            let mut changed = false;
            for argument in &arguments {
                let parameters = &self.array_parameters[argument.function as usize];
                if parameters.get(argument.parameter) != Some(&true) {
                    continue;
                }
                if let Some((variable, function)) = argument.variable {
                    let known = match (variable, function) {
                        (Variable::Global(slot), _) => self.code.arrays[slot as usize],
                        (Variable::Local(slot), Some(function)) => {
                            self.array_parameters[function as usize][slot as usize]
                        }
                        (Variable::Local(_), None) => true,
                    };
                    if !known {
                        self.mark_array(variable, function);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        for argument in &arguments {
            if self.array_parameters[argument.function as usize].get(argument.parameter) != Some(&true) {
                continue;
            }
            self.code.ops[argument.op] = match argument.variable {
                // A parameter can still be a scalar at run time and is then passed on as it is.
                Some((variable @ Variable::Global(_), _)) => array_op(variable),
                Some((variable @ Variable::Local(_), _)) => array_or_scalar_op(variable),
                None => Op::ElementArgument,
            };
        }
        for (slot, name) in self.code.globals.iter().enumerate() {
            if self.code.arrays[slot] && self.scalars[slot] {
                return Err(format!("attempt to use array `{name}' in a scalar context"));
            }
        }
        Ok(())
    }

    /// Returns the text of a name, for messages.
    pub(super) fn name_of(&self, name: Name) -> &str {
        &self.program.names[name]
    }
}

fn array_op(variable: Variable) -> Op {
    match variable {
        Variable::Global(slot) => Op::ArrayGlobal(slot),
        Variable::Local(slot) => Op::ArrayLocal(slot),
    }
}

fn array_or_scalar_op(variable: Variable) -> Op {
    match variable {
        Variable::Global(slot) => Op::ArrayGlobal(slot),
        Variable::Local(slot) => Op::ArrayArgument(slot),
    }
}

fn any_op(variable: Variable) -> Op {
    match variable {
        Variable::Global(slot) => Op::Global(slot),
        Variable::Local(slot) => Op::LocalAny(slot),
    }
}
