//! The compiler: tree to instructions.
//!
//! The names of arrays are known only after all uses have been seen, since a function can be called before it is
//! defined and can pass its parameter to another function. So arguments that are plain names are compiled as scalars,
//! recorded, and corrected at the end (`names`).

mod expression;
mod names;
mod statement;

use std::collections::HashMap;

use crate::code::{Code, GLOBALS, Op, Routine};
use crate::syntax::tree::{Name, Pattern, Program, Statement};
use crate::value::Value;
use names::{Argument, Variable};

/// A result whose error is a message about the program.
pub(crate) type Compiled<T> = Result<T, String>;

struct Compiler<'a> {
    program: &'a Program,
    code: Code,
    /// The slot of each name that is a global variable.
    globals: Vec<Option<u32>>,
    /// The index of each name that is a function.
    functions: HashMap<Name, u32>,
    /// The parameters of the function being compiled, and its index.
    locals: Vec<Name>,
    function: Option<u32>,
    /// The parameters that are arrays, for each function.
    array_parameters: Vec<Vec<bool>>,
    /// The globals used as scalars.
    scalars: Vec<bool>,
    arguments: Vec<Argument>,
    loops: Vec<Loop>,
}

/// The jumps of `break` and `continue`, whose targets are set at the end of the loop.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
    /// A `switch` has `break` but no `continue`.
    is_switch: bool,
}

/// Compiles a program.
pub(crate) fn compile(program: &Program) -> Compiled<Code> {
    let mut compiler = Compiler {
        program,
        code: Code::default(),
        globals: vec![None; program.names.len()],
        functions: HashMap::new(),
        locals: Vec::new(),
        function: None,
        array_parameters: Vec::new(),
        scalars: Vec::new(),
        arguments: Vec::new(),
        loops: Vec::new(),
    };
    for name in GLOBALS {
        compiler.new_global(name);
    }
    for name in ["ENVIRON", "ARGV", "PROCINFO"] {
        let slot = compiler.known_global(name);
        compiler.code.arrays[slot] = true;
    }
    for (index, function) in program.functions.iter().enumerate() {
        compiler.functions.insert(function.name, index as u32);
        compiler.array_parameters.push(vec![false; function.parameters.len()]);
    }
    compiler.all()?;
    compiler.settle_arrays()?;
    Ok(compiler.code)
}

impl Compiler<'_> {
    /// Compiles the functions, then BEGIN, END and the rules.
    fn all(&mut self) -> Compiled<()> {
        let program = self.program;
        for (index, function) in program.functions.iter().enumerate() {
            self.locals.clone_from(&function.parameters);
            self.function = Some(index as u32);
            let entry = self.code.ops.len();
            self.statements(&function.body)?;
            let nothing = self.constant(Value::Unset);
            self.emit(Op::Const(nothing));
            self.emit(Op::Return);
            let name = program.names[function.name].clone();
            self.code.functions.push(Routine { name, entry, parameters: function.parameters.len() });
        }
        self.locals.clear();
        self.function = None;
        self.code.begin = self.part(&program.begin)?;
        self.code.end = self.part(&program.end)?;
        self.code.begin_file = self.part(&program.begin_file)?;
        self.code.end_file = self.part(&program.end_file)?;
        if !program.rules.is_empty() {
            self.code.rules = Some(self.code.ops.len());
            self.rules()?;
            self.emit(Op::Halt);
        }
        Ok(())
    }

    /// Compiles all blocks of one kind, such as BEGIN, one after the other. Returns the index of the first instruction.
    fn part(&mut self, blocks: &[Vec<Statement>]) -> Compiled<Option<usize>> {
        if blocks.is_empty() {
            return Ok(None);
        }
        let entry = self.code.ops.len();
        for block in blocks {
            self.statements(block)?;
        }
        self.emit(Op::Halt);
        Ok(Some(entry))
    }

    fn rules(&mut self) -> Compiled<()> {
        let program = self.program;
        for rule in &program.rules {
            let mut skips = Vec::new();
            match &rule.pattern {
                Pattern::Always => {}
                Pattern::When(test) => skips = self.jumps(test, false)?,
                Pattern::Range(from, to) => {
                    let range = self.code.ranges as u16;
                    self.code.ranges += 1;
                    let on = self.emit(Op::RangeJump(range, 0));
                    skips = self.jumps(from, false)?;
                    self.emit(Op::RangeSet(range, true));
                    self.land(on);
                    let inside = self.jumps(to, false)?;
                    self.emit(Op::RangeSet(range, false));
                    self.land_all(inside);
                }
            }
            match &rule.action {
                Some(action) => self.statements(action)?,
                None => {
                    self.emit(Op::PrintRecord);
                }
            }
            self.land_all(skips);
        }
        Ok(())
    }

    /// Appends an instruction and returns its index.
    fn emit(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.ops.len() - 1
    }

    /// Returns the index of the next instruction.
    fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    /// Sets the target of a jump to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        self.aim(jump, here);
    }

    fn land_all(&mut self, jumps: Vec<usize>) {
        for jump in jumps {
            self.land(jump);
        }
    }

    /// Sets the target of a jump.
    fn aim(&mut self, jump: usize, to: u32) {
        match &mut self.code.ops[jump] {
            Op::Jump(target)
            | Op::JumpIf(target)
            | Op::JumpUnless(target)
            | Op::CompareJump(_, _, target)
            | Op::ForInNext(target)
            | Op::RangeJump(_, target) => *target = to,
            _ => {}
        }
    }

    fn constant(&mut self, value: Value) -> u32 {
        self.code.constants.push(value);
        (self.code.constants.len() - 1) as u32
    }

    /// Adds a global variable and returns its slot.
    fn new_global(&mut self, name: &str) -> u32 {
        self.code.globals.push(name.to_owned());
        self.code.arrays.push(false);
        self.scalars.push(false);
        (self.code.globals.len() - 1) as u32
    }

    /// Returns the slot of a predefined variable.
    fn known_global(&self, name: &str) -> usize {
        GLOBALS.iter().position(|known| *known == name).unwrap_or(0)
    }

    fn variable(&mut self, name: Name) -> Compiled<Variable> {
        if let Some(local) = self.locals.iter().position(|parameter| *parameter == name) {
            return Ok(Variable::Local(local as u32));
        }
        let text = &self.program.names[name];
        if self.functions.contains_key(&name) {
            return Err(format!(
                "function `{text}' called with space between name and `('\nor used as a variable or an array"
            ));
        }
        if matches!(text.as_str(), "SYMTAB" | "FUNCTAB") {
            return Err(format!("{text} is not supported"));
        }
        if let Some(slot) = self.globals[name] {
            return Ok(Variable::Global(slot));
        }
        let slot = match GLOBALS.iter().position(|known| known == text) {
            Some(slot) => slot as u32,
            None => self.new_global(text),
        };
        self.globals[name] = Some(slot);
        Ok(Variable::Global(slot))
    }
}
