//! Visits a syntax tree and records each simple command.

use std::ops::Range;

use isopod_syntax::tree::{
    Arith, AssignedValue, Assignment, Brace, Command, Condition, Descriptor, For, Index, Kind, List, Operation,
    Parameter, Part, Pipeline, Redirect, RedirectAction, Simple, Word,
};
use isopod_syntax::{Fault, Parser};

use super::argument::{self, Field};
use super::nested::{self, ExternalInput, NestedCommands};
use super::{Argument, Plan, PlanGap, Step};
use crate::backend::bounds;

/// Makes the plan of a text.
pub(super) fn plan(text: &str) -> Plan {
    let mut walk = Walk::default();
    if let Err(gap) = walk.script(text, 1) {
        walk.plan.gap.get_or_insert(gap);
    }
    walk.plan
}

/// Makes the plan of a program with these arguments.
pub(super) fn plan_of_program(argv: &[String]) -> Plan {
    let mut walk = Walk::default();
    let fields: Vec<Field> = argv.iter().map(|word| Field::of_constant(word)).collect();
    walk.run(Step { line: 1, ..Step::default() }, &fields, &ExternalInput::default());
    walk.plan
}

#[derive(Default)]
struct Walk {
    plan: Plan,
    /// The depth of the current node in lists, words and scripts.
    depth: u32,
    /// The function whose body contains the current node.
    function: Option<String>,
    /// The step that runs the current node.
    within: Option<usize>,
    /// True if `shopt -s extglob` was seen: the rest is parsed by another grammar.
    extglob: bool,
}

impl Walk {
    /// Visits a whole script. The commands before a syntax error are recorded.
    fn script(&mut self, text: &str, line: u32) -> Result<(), PlanGap> {
        let mut parser = Parser::new(text, line);
        parser.depth_limit = bounds::PLAN_DEPTH.saturating_sub(self.depth);
        parser.keep_sources = true;
        loop {
            parser.extglob = self.extglob;
            match parser.next_command() {
                Ok(Some(list)) => self.list(&list),
                Ok(None) => return Ok(()),
                Err(error) if matches!(error.fault, Fault::TooDeep(_)) => return Err(PlanGap::TooDeep),
                Err(error) => return Err(PlanGap::Syntax { line: error.line, message: error.fault.to_string() }),
            }
        }
    }

    /// Visits one level deeper, unless that is too deep. The parser's limit is not enough: it does not count braces.
    fn deeper(&mut self, walk: impl FnOnce(&mut Self)) {
        if self.depth >= bounds::PLAN_DEPTH {
            self.plan.gap.get_or_insert(PlanGap::TooDeep);
            return;
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }

    fn list(&mut self, list: &List) {
        self.deeper(|walk| {
            for item in &list.items {
                walk.pipeline(&item.chain.first);
                item.chain.rest.iter().for_each(|(_, pipeline)| walk.pipeline(pipeline));
            }
        });
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        self.redirects(&command.redirects);
        let writes = writes(&command.redirects);
        if !writes.is_empty() {
            self.note(Step { writes, line: command.line, ..Step::default() });
        }
        match &command.kind {
            Kind::Simple(simple) => self.simple(simple),
            Kind::Group(list) | Kind::Subshell(list) => self.list(list),
            Kind::If(arms, otherwise) => {
                for (condition, body) in arms {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            Kind::While { condition, body, .. } => {
                self.list(condition);
                self.list(body);
            }
            Kind::For(node) | Kind::Select(node) => self.for_words(node),
            Kind::ForArith(node) => {
                [&node.initial, &node.condition, &node.step].into_iter().flatten().for_each(|arith| self.arith(arith));
                self.list(&node.body);
            }
            Kind::Case(node) => {
                self.word(&node.word);
                for arm in &node.arms {
                    arm.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.list(&arm.body);
                }
            }
            Kind::Arith(arith) => self.arith(arith),
            Kind::Condition(condition) => self.condition(condition),
            Kind::Function(function) => {
                let outer = self.function.replace(function.name.clone());
                self.deeper(|walk| walk.command(&function.body));
                self.function = outer;
            }
            Kind::Coproc(coproc) => self.deeper(|walk| walk.command(&coproc.body)),
        }
    }

    fn for_words(&mut self, node: &For) {
        node.words.iter().flatten().for_each(|word| self.word(word));
        self.list(&node.body);
    }

    fn simple(&mut self, simple: &Simple) {
        simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
        simple.words.iter().for_each(|word| self.word(word));
        self.redirects(&simple.redirects);
        let step = Step {
            variables: simple.assignments.iter().map(|assignment| assignment.name.clone()).collect(),
            writes: writes(&simple.redirects),
            line: simple.line,
            ..Step::default()
        };
        let fields: Vec<Field> = simple.words.iter().map(Field::new).collect();
        match fields.is_empty() {
            true => {
                self.note(step);
            }
            false => {
                self.run(step, &fields, &ExternalInput { input: input(&simple.redirects), ..ExternalInput::default() })
            }
        }
    }

    /// Records a command and the commands that it runs. Each word belongs to one step, so a chain of `env env env …`
    /// costs time linear in its length.
    fn run(&mut self, mut step: Step, mut fields: &[Field], external: &ExternalInput) {
        let outer = self.within;
        let mut external = external.clone();
        while let Some((program, rest)) = fields.split_first() {
            let NestedCommands { opaque, script, command, others, external: next } =
                nested::nested_commands(fields, &external);
            self.extglob |= nested::is_extglob(fields);
            let line = step.line;
            step.program = Some(program.argument.clone());
            step.arguments = own(rest, command, &others).map(|field| field.argument.clone()).collect();
            step.opaque = opaque;
            let noted = self.note(std::mem::take(&mut step));
            self.within = noted.or(self.within);
            if let Some(script) = script {
                self.deeper(|walk| walk.nested_script(&script, line, noted));
            }
            for range in others {
                let step = Step { line, ..Step::default() };
                self.deeper(|walk| walk.run(step, &rest[range], &next));
            }
            step.line = line;
            fields = command.map_or(&[], |from| &rest[from..]);
            external = next;
        }
        self.within = outer;
    }

    fn nested_script(&mut self, script: &str, line: u32, by: Option<usize>) {
        match self.script(script, line) {
            Ok(()) => {}
            Err(PlanGap::Syntax { .. }) => {
                if let Some(step) = by.and_then(|at| self.plan.steps.get_mut(at)) {
                    step.opaque = true;
                }
            }
            Err(gap) => {
                self.plan.gap.get_or_insert(gap);
            }
        }
    }

    /// Adds a step and returns its index.
    fn note(&mut self, step: Step) -> Option<usize> {
        if self.plan.steps.len() >= bounds::PLAN_STEPS {
            self.plan.gap.get_or_insert(PlanGap::TooMany);
            return None;
        }
        self.plan.steps.push(Step { function: self.function.clone(), within: self.within, ..step });
        Some(self.plan.steps.len() - 1)
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.document {
                Some(document) => self.word(&document.borrow()),
                None => self.word(&redirect.target),
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        assignment.index.iter().for_each(|index| self.arith(index));
        match &assignment.value {
            AssignedValue::Scalar(word) => self.word(word),
            AssignedValue::Array(elements) => {
                for element in elements {
                    element.index.iter().for_each(|index| self.arith(index));
                    self.word(&element.word);
                }
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Word(word) | Condition::Unary(_, word) => self.word(word),
            Condition::Binary(_, left, right) => {
                self.word(left);
                self.word(right);
            }
            Condition::Not(inner) | Condition::Group(inner) => self.deeper(|walk| walk.condition(inner)),
            Condition::And(terms) | Condition::Or(terms) => {
                self.deeper(|walk| terms.iter().for_each(|term| walk.condition(term)));
            }
        }
    }

    fn arith(&mut self, arith: &Arith) {
        self.word(&arith.text);
    }

    fn word(&mut self, word: &Word) {
        word.parts.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(_) | Part::Bare(_) | Part::Glob(_) => {}
            Part::Parameter(parameter) => self.deeper(|walk| walk.parameter(parameter)),
            Part::Command(substitution, _) => self.list(&substitution.list),
            Part::Process(list, _) => self.list(list),
            Part::Arith(arith, _) => self.deeper(|walk| walk.arith(arith)),
            Part::Brace(brace) => {
                if let Brace::List(alternatives) = &**brace {
                    self.deeper(|walk| alternatives.iter().flatten().for_each(|part| walk.part(part)));
                }
            }
            Part::Assignment(assignment) => self.assignment(assignment),
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        if let Some(Index::Element(index)) = &parameter.index {
            self.arith(index);
        }
        match &parameter.operation {
            Operation::Fallback { word, .. } => self.word(word),
            Operation::Remove { pattern, .. } | Operation::Case { pattern, .. } => self.word(pattern),
            Operation::Replace { pattern, with, .. } => {
                self.word(pattern);
                self.word(with);
            }
            Operation::Slice { offset, length } => {
                self.arith(offset);
                length.iter().for_each(|length| self.arith(length));
            }
            Operation::Value
            | Operation::Length
            | Operation::Transform(_)
            | Operation::Keys
            | Operation::Names(_)
            | Operation::Bad(_) => {}
        }
    }
}

/// The arguments that are not part of a nested command.
fn own<'a>(rest: &'a [Field], command: Option<usize>, others: &[Range<usize>]) -> impl Iterator<Item = &'a Field> {
    let starts = others.iter().map(|range| range.start).chain([command.unwrap_or(rest.len())]);
    let ends = [0].into_iter().chain(others.iter().map(|range| range.end));
    let between: Vec<_> = ends.zip(starts).map(|(from, to)| &rest[from..to]).collect();
    between.into_iter().flatten()
}

/// The files that redirections write.
fn writes(redirects: &[Redirect]) -> Vec<Argument> {
    let written = redirects.iter().filter(|redirect| match redirect.action {
        RedirectAction::Write
        | RedirectAction::Clobber
        | RedirectAction::Append
        | RedirectAction::ReadWrite
        | RedirectAction::Both
        | RedirectAction::AppendBoth => true,
        // `>&f` writes a file, `>&2` and `>&-` do not.
        RedirectAction::DuplicateWrite => argument::constant(&redirect.target)
            .is_none_or(|text| !text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())),
        _ => false,
    });
    written.map(|redirect| argument::argument(&redirect.target)).collect()
}

/// The constant text that is redirected to the standard input, if there is one.
fn input(redirects: &[Redirect]) -> Option<String> {
    let is_input = |redirect: &&Redirect| match (&redirect.descriptor, redirect.action) {
        (None | Some(Descriptor::Number(0)), action) => matches!(
            action,
            RedirectAction::Read
                | RedirectAction::ReadWrite
                | RedirectAction::DuplicateRead
                | RedirectAction::Document
                | RedirectAction::DocumentTabs
                | RedirectAction::String
        ),
        _ => false,
    };
    let last = redirects.iter().rev().find(is_input)?;
    match (&last.document, last.action) {
        (Some(document), _) => argument::constant(&document.borrow()),
        (None, RedirectAction::String) => argument::constant(&last.target),
        _ => None,
    }
}
