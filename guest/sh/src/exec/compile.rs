//! Tree to code.

use std::rc::Rc;

use super::{Code, Op};
use crate::syntax::tree::{ArmEnd, Case, Chain, Command, Connector, For, ForArith, Kind, List, Pipeline};

/// Compiles a list.
pub fn compile(list: &List) -> Rc<Code> {
    let mut code = Code::default();
    code.list(list);
    Rc::new(code)
}

impl Code {
    /// Compiles one command.
    pub fn of_command(command: &Command) -> Rc<Code> {
        let mut code = Code::default();
        code.command(command);
        Rc::new(code)
    }

    /// Compiles one chain.
    pub fn of_chain(chain: &Chain) -> Rc<Code> {
        let mut code = Code::default();
        code.chain(chain);
        Rc::new(code)
    }

    fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    fn here(&self) -> usize {
        self.ops.len()
    }

    /// Emits a placeholder for a step that is filled in later.
    fn hole(&mut self) -> usize {
        self.ops.push(Op::Succeed);
        self.ops.len() - 1
    }

    fn fill(&mut self, hole: usize, op: Op) {
        self.ops[hole] = op;
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            match item.background {
                true => self.emit(Op::Background(item.chain.clone())),
                false => self.chain(&item.chain),
            }
        }
    }

    /// Compiles a chain. Each pipeline but the last is a condition. At each operator the status decides whether the
    /// next pipeline runs; skipping it leaves the status for the operator after it.
    fn chain(&mut self, chain: &Chain) {
        let Some(((last_connector, last), middle)) = chain.rest.split_last() else {
            return self.pipeline(&chain.first);
        };
        self.guarded(|code| code.pipeline(&chain.first));
        for (connector, pipeline) in middle {
            let hole = self.hole();
            self.guarded(|code| code.pipeline(pipeline));
            let end = self.here();
            self.fill(hole, skip(*connector, end));
        }
        let hole = self.hole();
        self.pipeline(last);
        let end = self.here();
        self.fill(hole, skip(*last_connector, end));
    }

    fn guarded(&mut self, emit: impl FnOnce(&mut Code)) {
        self.emit(Op::Guard);
        emit(self);
        self.emit(Op::Unguard);
    }

    fn pipeline(&mut self, pipeline: &Rc<Pipeline>) {
        if pipeline.timed.is_some() {
            self.emit(Op::Time);
        }
        match pipeline.negated {
            true => {
                self.guarded(|code| code.stages(pipeline));
                self.emit(Op::Negate);
            }
            false => self.stages(pipeline),
        }
        if let Some(format) = pipeline.timed {
            self.emit(Op::EndTime(format));
        }
    }

    fn stages(&mut self, pipeline: &Rc<Pipeline>) {
        match pipeline.stages.as_slice() {
            [] => self.emit(Op::Succeed),
            [only] => self.command(only),
            _ => self.emit(Op::Pipeline(pipeline.clone())),
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            Kind::Simple(simple) => return self.emit(Op::Simple(simple.clone())),
            // A subshell redirects in its own process.
            Kind::Subshell(list) => {
                return self.emit(Op::Subshell(list.clone(), command.redirects.clone(), command.line));
            }
            Kind::Coproc(coproc) => return self.emit(Op::Coproc(coproc.clone(), command.line)),
            _ => {}
        }
        if command.redirects.is_empty() {
            return self.compound(command);
        }
        let hole = self.hole();
        self.compound(command);
        self.emit(Op::EndRedirect);
        let end = self.here();
        self.fill(hole, Op::Redirect(command.redirects.clone(), end, command.line));
    }

    fn compound(&mut self, command: &Command) {
        match &command.kind {
            Kind::Group(list) => self.list(list),
            Kind::If(arms, otherwise) => self.if_clause(arms, otherwise.as_ref()),
            Kind::While { until, condition, body } => self.while_loop(*until, condition, body),
            Kind::For(node) => self.for_loop(node, Op::ForNext),
            Kind::Select(node) => self.for_loop(node, Op::SelectNext),
            Kind::ForArith(node) => self.for_arith(node),
            Kind::Case(node) => self.case(node),
            Kind::Arith(arith) => self.emit(Op::Arith(arith.clone(), command.line)),
            Kind::Condition(condition) => self.emit(Op::Condition(condition.clone(), command.line)),
            Kind::Function(function) => self.emit(Op::Define(function.clone())),
            Kind::Simple(_) | Kind::Subshell(_) | Kind::Coproc(_) => self.command(command),
        }
    }

    fn if_clause(&mut self, arms: &[(List, List)], otherwise: Option<&List>) {
        let mut ends = Vec::new();
        for (condition, body) in arms {
            self.guarded(|code| code.list(condition));
            let skip = self.hole();
            self.list(body);
            ends.push(self.hole());
            let next = self.here();
            self.fill(skip, Op::JumpIfFailed(next));
        }
        match otherwise {
            Some(list) => self.list(list),
            None => self.emit(Op::Succeed),
        }
        let end = self.here();
        for hole in ends {
            self.fill(hole, Op::Jump(end));
        }
    }

    fn while_loop(&mut self, until: bool, condition: &List, body: &List) {
        let begin = self.hole();
        let start = self.here();
        self.guarded(|code| code.list(condition));
        let leave = self.hole();
        self.list(body);
        let next = self.here();
        self.emit(Op::Again(start));
        let end = self.here();
        self.emit(Op::EndLoop);
        self.fill(begin, Op::Loop { next, end });
        self.fill(leave, if until { Op::JumpIfOk(end) } else { Op::JumpIfFailed(end) });
    }

    /// Compiles a `for` or `select`. `next` assigns the next value to the variable, or ends the loop.
    fn for_loop(&mut self, node: &Rc<For>, next: fn(Rc<For>, usize) -> Op) {
        let begin = self.hole();
        let start = self.hole();
        self.list(&node.body);
        let step = self.here();
        self.emit(Op::Again(start));
        let end = self.here();
        self.emit(Op::EndLoop);
        self.fill(begin, Op::For { node: node.clone(), next: step, end });
        self.fill(start, next(node.clone(), end));
    }

    fn for_arith(&mut self, node: &Rc<ForArith>) {
        let initial = self.hole();
        let begin = self.hole();
        let test = self.hole();
        self.list(&node.body);
        let next = self.here();
        self.emit(Op::ForStep(node.clone()));
        self.emit(Op::Again(test));
        let end = self.here();
        self.emit(Op::EndLoop);
        self.fill(initial, Op::ForInitial(node.clone(), end + 1));
        self.fill(begin, Op::Loop { next, end });
        self.fill(test, Op::ForTest(node.clone(), end));
    }

    fn case(&mut self, node: &Rc<Case>) {
        let begin = self.hole();
        let mut bodies = Vec::new();
        let mut ends = Vec::new();
        let mut resumes = Vec::new();
        for (i, arm) in node.arms.iter().enumerate() {
            bodies.push(self.here());
            // An empty body succeeds, but one reached by `;&` keeps the status of the body before.
            if arm.body.items.is_empty() {
                self.emit(Op::Succeed);
            }
            self.list(&arm.body);
            match arm.end {
                ArmEnd::Break => ends.push(self.hole()),
                ArmEnd::FallThrough => {}
                ArmEnd::Continue => resumes.push((self.hole(), i + 1)),
            }
        }
        let end = self.here();
        self.emit(Op::EndCase);
        for hole in ends {
            self.fill(hole, Op::Jump(end));
        }
        let bodies: Rc<[usize]> = bodies.into();
        for (hole, arm) in resumes {
            self.fill(hole, Op::CaseFrom { node: node.clone(), bodies: bodies.clone(), end, arm });
        }
        self.fill(begin, Op::Case { node: node.clone(), bodies, end });
    }
}

fn skip(connector: Connector, end: usize) -> Op {
    match connector {
        Connector::And => Op::JumpIfFailed(end),
        Connector::Or => Op::JumpIfOk(end),
    }
}
