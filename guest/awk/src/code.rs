//! What a program is compiled to: steps of a stack machine.
//!
//! A tree would be walked by recursion, and a function that calls itself ten thousand times would walk off the small
//! stack that a process has. Steps keep their own stack, on the heap.

use crate::syntax::functions::Function;
use crate::syntax::tree::{Arithmetic, Comparison, Redirect};
use crate::value::Value;

/// Global variables with a place of their own, in this order.
pub(crate) const GLOBALS: [&str; 25] = [
    "NF",
    "NR",
    "FNR",
    "FS",
    "OFS",
    "ORS",
    "RS",
    "SUBSEP",
    "CONVFMT",
    "OFMT",
    "IGNORECASE",
    "FIELDWIDTHS",
    "FPAT",
    "RSTART",
    "RLENGTH",
    "FILENAME",
    "RT",
    "ENVIRON",
    "ARGC",
    "ARGV",
    "PROCINFO",
    "ERRNO",
    "ARGIND",
    "BINMODE",
    "LINT",
];

/// Their numbers. An assignment to one of the first `HOOKED` has effects, and the first three are computed.
pub(crate) mod global {
    pub(crate) const NF: usize = 0;
    pub(crate) const NR: usize = 1;
    pub(crate) const FNR: usize = 2;
    pub(crate) const FS: usize = 3;
    pub(crate) const OFS: usize = 4;
    pub(crate) const ORS: usize = 5;
    pub(crate) const RS: usize = 6;
    pub(crate) const SUBSEP: usize = 7;
    pub(crate) const CONVFMT: usize = 8;
    pub(crate) const OFMT: usize = 9;
    pub(crate) const IGNORECASE: usize = 10;
    pub(crate) const FIELDWIDTHS: usize = 11;
    pub(crate) const FPAT: usize = 12;
    pub(crate) const HOOKED: usize = 13;
    pub(crate) const RSTART: usize = 13;
    pub(crate) const RLENGTH: usize = 14;
    pub(crate) const FILENAME: usize = 15;
    pub(crate) const RT: usize = 16;
    pub(crate) const ENVIRON: usize = 17;
    pub(crate) const ARGC: usize = 18;
    pub(crate) const ARGV: usize = 19;
    pub(crate) const PROCINFO: usize = 20;
    pub(crate) const ERRNO: usize = 21;
    pub(crate) const ARGIND: usize = 22;
}

/// What `++` and `--` do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub by: i8,
    /// The value is the one after the change.
    pub before: bool,
    /// The value is wanted.
    pub keep: bool,
}

/// One step. Operands are on the stack in the order in which they are named, the last on top.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Const(u32),
    Global(u32),
    /// NF, NR and FNR.
    Computed(u32),
    Local(u32),
    /// A local variable, be it an array.
    LocalAny(u32),
    /// index
    Field,
    FieldAt(u32),
    ArrayGlobal(u32),
    ArrayLocal(u32),
    /// A local variable that becomes an array unless it is a scalar already.
    ArrayArgument(u32),
    /// array, key: the array in the element, made if there is none.
    SubArray,
    /// array, key: as `SubArray`, but a scalar that is there is passed on.
    ElementArgument,
    /// array, key
    Element,
    /// value; the flag keeps the value on the stack
    SetGlobal(u32, bool),
    SetHooked(u32, bool),
    SetLocal(u32, bool),
    /// value, index
    SetField(bool),
    SetFieldAt(u32, bool),
    /// value, array, key
    SetElement(bool),
    /// value
    UpdateGlobal(Arithmetic, u32, bool),
    UpdateHooked(Arithmetic, u32, bool),
    UpdateLocal(Arithmetic, u32, bool),
    /// value, index
    UpdateField(Arithmetic, bool),
    /// value, array, key
    UpdateElement(Arithmetic, bool),
    StepGlobal(u32, Step),
    StepHooked(u32, Step),
    StepLocal(u32, Step),
    /// index
    StepField(Step),
    /// array, key
    StepElement(Step),
    /// value: appended to the variable
    AppendGlobal(u32, bool),
    AppendLocal(u32, bool),
    /// A place that a later step reads or writes.
    PlaceGlobal(u32),
    PlaceHooked(u32),
    PlaceLocal(u32),
    PlaceField,
    PlaceElement,
    Arithmetic(Arithmetic),
    Negative,
    Positive,
    Not,
    Compare(Comparison),
    /// text, regex
    Match(bool),
    MatchRecord(u32),
    /// That many values
    Concat(u32),
    /// That many values, joined by SUBSEP
    Subscript(u32),
    /// key, array
    Contains,
    Jump(u32),
    JumpIf(u32),
    JumpUnless(u32),
    /// Jumps if the comparison is as the flag says.
    CompareJump(Comparison, bool, u32),
    /// Whether the value on top equals the constant, or matches it; the value stays.
    CaseIs(u32),
    Pop,
    Call(u32, u16),
    /// arguments, name
    CallIndirect(u32),
    /// value
    Return,
    BuiltIn(Function, u8),
    /// regex, replacement; the target is a place
    Substitute(bool),
    PrintRecord,
    /// values, and the target if it is redirected
    Print(u16, Option<Redirect>),
    Printf(u16, Option<Redirect>),
    GetlineMain(bool),
    /// file
    GetlineFile(bool),
    /// command
    GetlineCommand(bool),
    /// array
    ForIn,
    /// Pushes the next key, or jumps.
    ForInNext(u32),
    ForInEnd,
    /// array, key
    Delete,
    /// array
    Clear,
    Next,
    NextFile,
    /// The flag says that a code is on the stack.
    Exit(bool),
    /// Jumps if the range is on.
    RangeJump(u16, u32),
    RangeSet(u16, bool),
    Halt,
}

/// A function of the program.
pub(crate) struct Routine {
    pub name: String,
    pub entry: usize,
    pub parameters: usize,
}

/// A compiled program.
#[derive(Default)]
pub(crate) struct Code {
    pub ops: Vec<Op>,
    pub constants: Vec<Value>,
    pub globals: Vec<String>,
    /// Which of them are arrays.
    pub arrays: Vec<bool>,
    pub functions: Vec<Routine>,
    pub ranges: usize,
    /// Where the parts start; each ends with `Halt`.
    pub begin: Option<usize>,
    pub rules: Option<usize>,
    pub end: Option<usize>,
    pub begin_file: Option<usize>,
    pub end_file: Option<usize>,
}
