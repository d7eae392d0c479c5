//! Tree to program.

use super::{Inst, Invalid, Node};

/// Steps of a program: counted repeats are written out, and nested ones multiply.
const LIMIT: usize = 100_000;

/// Compiles a tree. Group 0 is the whole match.
pub(super) fn compile(node: &Node) -> Result<Vec<Inst>, Invalid> {
    let mut compiler = Compiler { program: vec![Inst::Save(0)] };
    compiler.node(node)?;
    compiler.program.push(Inst::Save(1));
    compiler.program.push(Inst::Match);
    Ok(compiler.program)
}

struct Compiler {
    program: Vec<Inst>,
}

impl Compiler {
    fn emit(&mut self, inst: Inst) -> Result<usize, Invalid> {
        if self.program.len() >= LIMIT {
            return Err(Invalid);
        }
        self.program.push(inst);
        Ok(self.program.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Result<(), Invalid> {
        match node {
            Node::Empty => {}
            Node::Char(c) => {
                self.emit(Inst::Char(*c))?;
            }
            Node::Any => {
                self.emit(Inst::Any)?;
            }
            Node::Set(set) => {
                self.emit(Inst::Set(set.clone()))?;
            }
            Node::Start => {
                self.emit(Inst::Start)?;
            }
            Node::End => {
                self.emit(Inst::End)?;
            }
            Node::Word(boundary) => {
                self.emit(Inst::Word(*boundary))?;
            }
            Node::Group(inner, number) => {
                self.emit(Inst::Save(number * 2))?;
                self.node(inner)?;
                self.emit(Inst::Save(number * 2 + 1))?;
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.node(node)?;
                }
            }
            Node::Alternate(branches) => {
                let mut ends = Vec::new();
                for (i, branch) in branches.iter().enumerate() {
                    if i + 1 == branches.len() {
                        self.node(branch)?;
                        break;
                    }
                    let split = self.emit(Inst::Split(0, 0))?;
                    self.node(branch)?;
                    ends.push(self.emit(Inst::Jump(0))?);
                    self.program[split] = Inst::Split(split + 1, self.program.len());
                }
                let end = self.program.len();
                for jump in ends {
                    self.program[jump] = Inst::Jump(end);
                }
            }
            Node::Repeat(inner, low, high) => self.repeat(inner, *low, *high)?,
        }
        Ok(())
    }

    fn repeat(&mut self, inner: &Node, low: u32, high: Option<u32>) -> Result<(), Invalid> {
        for _ in 0..low {
            self.node(inner)?;
        }
        match high {
            None => {
                let split = self.emit(Inst::Split(0, 0))?;
                self.node(inner)?;
                self.emit(Inst::Jump(split))?;
                self.program[split] = Inst::Split(split + 1, self.program.len());
            }
            Some(high) => {
                let mut splits = Vec::new();
                for _ in low..high {
                    splits.push(self.emit(Inst::Split(0, 0))?);
                    self.node(inner)?;
                }
                let end = self.program.len();
                for split in splits {
                    self.program[split] = Inst::Split(split + 1, end);
                }
            }
        }
        Ok(())
    }
}
