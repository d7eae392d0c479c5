//! The program of the backtracker: tree to steps.
//!
//! Repetitions are expanded the way glibc does it, because the text of a group depends on the order of the threads.

use crate::error::Error;
use crate::set::Set;
use crate::symbol::Symbol;
use crate::tree::{Look, Node};

/// The limit of steps in a program, with repetitions expanded.
const STEP_LIMIT: u64 = 250_000;

/// One step. Targets are indices of steps.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Symbol(Symbol),
    Letter(u8),
    Set(usize),
    Look(Look),
    Open(usize),
    Close(usize),
    BackReference(usize),
    /// Continues at both targets; the first one is preferred.
    Split(usize, usize),
    Jump(usize),
    /// The end of a loop's body: jumps to its start, or to the exit if the body matched nothing.
    Again {
        start: usize,
        exit: usize,
        group: Option<usize>,
    },
    Match,
}

/// A pattern compiled to steps.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) sets: Vec<Set>,
    /// The groups that back-references name.
    pub(crate) referenced: Vec<usize>,
    /// The program has a loop whose body can match the empty text.
    pub(crate) loops_can_be_empty: bool,
}

/// Checks that a tree's program stays within the limit.
pub(crate) fn check(node: &Node) -> Result<(), Error> {
    if node.weight() > STEP_LIMIT { Err(Error::TooBig) } else { Ok(()) }
}

impl Program {
    pub(crate) fn new(node: &Node) -> Program {
        let mut program =
            Program { steps: Vec::new(), sets: Vec::new(), referenced: Vec::new(), loops_can_be_empty: false };
        program.node(node);
        program.steps.push(Step::Match);
        program
    }

    fn here(&self) -> usize {
        self.steps.len()
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Symbol(symbol) => {
                self.push(Step::Symbol(*symbol));
            }
            Node::Letter(small) => {
                self.push(Step::Letter(*small));
            }
            Node::Set(set) => {
                self.sets.push(Set::clone(set));
                self.push(Step::Set(self.sets.len() - 1));
            }
            Node::Look(look) => {
                self.push(Step::Look(*look));
            }
            Node::Group(number, inner) => {
                self.push(Step::Open(*number));
                self.node(inner);
                self.push(Step::Close(*number));
            }
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Alternate(branches) => self.alternate(branches),
            Node::Repeat(inner, least, most) => self.repeat(inner, *least, *most),
            Node::BackReference(number) => {
                self.push(Step::BackReference(*number));
                if !self.referenced.contains(number) {
                    self.referenced.push(*number);
                }
            }
        }
    }

    fn alternate(&mut self, branches: &[Node]) {
        let mut jumps = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if index + 1 == branches.len() {
                self.node(branch);
                break;
            }
            let split = self.push(Step::Jump(0));
            self.node(branch);
            jumps.push(self.push(Step::Jump(0)));
            self.steps[split] = Step::Split(split + 1, self.here());
        }
        let end = self.here();
        for jump in jumps {
            self.steps[jump] = Step::Jump(end);
        }
    }

    fn repeat(&mut self, inner: &Node, least: u32, most: Option<u32>) {
        for _ in 0..least {
            self.node(inner);
        }
        let Some(most) = most else {
            let start = self.push(Step::Jump(0));
            self.node(inner);
            let group = if let Node::Group(number, _) = inner { Some(*number) } else { None };
            // Only these can match the empty text.
            self.loops_can_be_empty |= matches!(inner, Node::Group(..) | Node::BackReference(_) | Node::Repeat(..));
            let exit = self.here() + 1;
            self.push(Step::Again { start, exit, group });
            self.steps[start] = Step::Split(start + 1, exit);
            return;
        };
        // All splits come first, the outermost in front, as in `((a?a)?a)?`.
        let optional = most.saturating_sub(least);
        let splits: Vec<usize> = (0..optional).map(|_| self.push(Step::Jump(0))).collect();
        for split in splits.iter().rev() {
            self.node(inner);
            self.steps[*split] = Step::Split(split + 1, self.here());
        }
    }
}
