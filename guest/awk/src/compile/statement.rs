//! The compilation of statements.

use super::{Compiled, Compiler, Loop};
use crate::code::Op;
use crate::syntax::tree::{Case, Expr, Name, Redirect, Statement};
use crate::value::Value;

impl Compiler<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Compiled<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Compiled<()> {
        match statement {
            Statement::Expr(expr) => self.effect(expr)?,
            Statement::Print { args, to, formatted } => self.print(args, to.as_ref(), *formatted)?,
            Statement::If(branches, otherwise) => {
                let mut ends = Vec::new();
                for (test, body) in branches {
                    let skips = self.jumps(test, false)?;
                    self.statements(body)?;
                    ends.push(self.emit(Op::Jump(0)));
                    self.land_all(skips);
                }
                self.statements(otherwise)?;
                self.land_all(ends);
            }
            Statement::While(test, body) => {
                let start = self.here();
                let exits = self.jumps(test, false)?;
                self.repeat(body, |_| Ok(()), start)?;
                self.land_all(exits);
                self.end_loop();
            }
            Statement::Do(body, test) => {
                let start = self.here();
                self.loops.push(Loop::default());
                self.statements(body)?;
                self.land_continues();
                for jump in self.jumps(test, true)? {
                    self.aim(jump, start);
                }
                self.end_loop();
            }
            Statement::For { init, test, step, body } => {
                if let Some(init) = init {
                    self.statement(init)?;
                }
                self.for_loop(test.as_ref(), step.as_deref(), body)?;
            }
            Statement::ForIn { variable, array, body } => self.for_in(*variable, array, body)?,
            Statement::Switch(subject, cases) => self.switch(subject, cases)?,
            Statement::Block(body) => self.statements(body)?,
            Statement::Next => {
                self.emit(Op::Next);
            }
            Statement::NextFile => {
                self.emit(Op::NextFile);
            }
            Statement::Exit(code) => {
                if let Some(code) = code {
                    self.expression(code)?;
                }
                self.emit(Op::Exit(code.is_some()));
            }
            Statement::Return(value) => {
                match value {
                    Some(value) => self.expression(value)?,
                    None => {
                        let nothing = self.constant(Value::Unset);
                        self.emit(Op::Const(nothing));
                    }
                }
                self.emit(Op::Return);
            }
            Statement::Break => {
                let jump = self.emit(Op::Jump(0));
                if let Some(innermost) = self.loops.last_mut() {
                    innermost.breaks.push(jump);
                }
            }
            Statement::Continue => {
                let jump = self.emit(Op::Jump(0));
                if let Some(innermost) = self.loops.iter_mut().rev().find(|innermost| !innermost.is_switch) {
                    innermost.continues.push(jump);
                }
            }
            Statement::Delete(array, subscript) => {
                self.array(array)?;
                match subscript {
                    Some(subscript) => {
                        self.subscript(subscript)?;
                        self.emit(Op::Delete);
                    }
                    None => {
                        self.emit(Op::Clear);
                    }
                }
            }
        }
        Ok(())
    }

    fn print(&mut self, args: &[Expr], to: Option<&(Redirect, Expr)>, formatted: bool) -> Compiled<()> {
        for arg in args {
            self.expression(arg)?;
        }
        if let Some((_, target)) = to {
            self.expression(target)?;
        }
        let redirect = to.map(|(redirect, _)| *redirect);
        let count = u16::try_from(args.len()).map_err(|_| "too many arguments of print")?;
        self.emit(match (formatted, redirect, count) {
            (false, None, 0) => Op::PrintRecord,
            (true, redirect, count) => Op::Printf(count, redirect),
            (false, redirect, count) => Op::Print(count, redirect),
        });
        Ok(())
    }

    fn for_loop(&mut self, test: Option<&Expr>, step: Option<&Statement>, body: &[Statement]) -> Compiled<()> {
        let start = self.here();
        let exits = match test {
            Some(test) => self.jumps(test, false)?,
            None => Vec::new(),
        };
        self.repeat(body, |compiler| step.map_or(Ok(()), |step| compiler.statement(step)), start)?;
        self.land_all(exits);
        self.end_loop();
        Ok(())
    }

    fn for_in(&mut self, variable: Name, array: &Expr, body: &[Statement]) -> Compiled<()> {
        self.array(array)?;
        self.emit(Op::ForIn);
        let start = self.here();
        let exit = self.emit(Op::ForInNext(0));
        self.assign(&Expr::Variable(variable), false)?;
        self.repeat(body, |_| Ok(()), start)?;
        self.land(exit);
        self.end_loop();
        self.emit(Op::ForInEnd);
        Ok(())
    }

    /// Compiles the body of a loop, its step and the jump back to its start. `end_loop` has to follow after the
    /// exits.
    fn repeat(&mut self, body: &[Statement], step: impl FnOnce(&mut Self) -> Compiled<()>, start: u32) -> Compiled<()> {
        self.loops.push(Loop::default());
        self.statements(body)?;
        self.land_continues();
        step(self)?;
        self.emit(Op::Jump(start));
        Ok(())
    }

    fn land_continues(&mut self) {
        let continues = self.loops.last_mut().map(|innermost| std::mem::take(&mut innermost.continues));
        self.land_all(continues.unwrap_or_default());
    }

    fn end_loop(&mut self) {
        let ended = self.loops.pop().unwrap_or_default();
        self.land_all(ended.breaks);
    }

    fn switch(&mut self, subject: &Expr, cases: &[Case]) -> Compiled<()> {
        self.expression(subject)?;
        let mut entries = Vec::new();
        for case in cases {
            let Some(label) = &case.label else {
                entries.push(None);
                continue;
            };
            let constant = self.label(label)?;
            self.emit(Op::CaseIs(constant));
            let next = self.emit(Op::JumpUnless(0));
            self.emit(Op::Pop);
            entries.push(Some(self.emit(Op::Jump(0))));
            self.land(next);
        }
        self.emit(Op::Pop);
        let none = self.emit(Op::Jump(0));
        self.loops.push(Loop { is_switch: true, ..Loop::default() });
        let mut has_default = false;
        for (case, entry) in cases.iter().zip(entries) {
            has_default |= entry.is_none();
            self.land(entry.unwrap_or(none));
            self.statements(&case.body)?;
        }
        if !has_default {
            self.land(none);
        }
        self.end_loop();
        Ok(())
    }
}
