//! The instructions of a stack machine that a program is compiled to.
//!
//! Walking a tree takes recursion, and a function that calls itself ten thousand times would overflow the small stack
//! of a process. The machine keeps its own stack on the heap.

use crate::syntax::functions::Function;
use crate::syntax::tree::{Arithmetic, Comparison, Redirect};
use crate::value::Value;

/// The predefined global variables, which have fixed slots in this order.
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

/// The slots of the predefined variables. An assignment to one of the first `HOOKED` has side effects. The first
/// three are computed on access.
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

/// The parameters of `++` and `--`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Increment {
    pub by: i8,
    /// The result is the value after the change.
    pub before: bool,
    /// The result is used.
    pub keep: bool,
}

/// One instruction. Operands are on the stack in the order named, the last one on top.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Const(u32),
    Global(u32),
    /// NF, NR or FNR.
    Computed(u32),
    Local(u32),
    /// A local variable, which can be an array.
    LocalAny(u32),
    /// index
    Field,
    FieldAt(u32),
    ArrayGlobal(u32),
    ArrayLocal(u32),
    /// A local variable, which becomes an array if it is unset.
    ArrayArgument(u32),
    /// array, key: the array in the element, which is created if it is unset.
    SubArray,
    /// array, key: as `SubArray`, but a scalar in the element is passed on.
    ElementArgument,
    /// array, key
    Element,
    /// value; the flag keeps the value on the stack.
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
    IncrementGlobal(u32, Increment),
    IncrementHooked(u32, Increment),
    IncrementLocal(u32, Increment),
    /// index
    IncrementField(Increment),
    /// array, key
    IncrementElement(Increment),
    /// value: is appended to the variable.
    AppendGlobal(u32, bool),
    AppendLocal(u32, bool),
    /// Pushes an lvalue for an instruction that follows.
    LvalueGlobal(u32),
    LvalueLocal(u32),
    LvalueField,
    LvalueElement,
    Arithmetic(Arithmetic),
    Negative,
    Positive,
    Not,
    Compare(Comparison),
    /// text, regex
    Match(bool),
    MatchRecord(u32),
    /// The number of values to join.
    Concat(u32),
    /// The number of values to join by SUBSEP.
    Subscript(u32),
    /// key, array
    Contains,
    Jump(u32),
    JumpIf(u32),
    JumpUnless(u32),
    /// Jumps if the result of the comparison equals the flag.
    CompareJump(Comparison, bool, u32),
    /// Tests if the value on top equals the constant or matches it. The value stays.
    CaseIs(u32),
    Pop,
    Call(u32, u16),
    /// arguments, name
    CallIndirect(u32),
    /// value
    Return,
    BuiltIn(Function, u8),
    /// regex, replacement; the target is an lvalue.
    Substitute(bool),
    PrintRecord,
    /// values, and the target if the output is redirected.
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
    /// The flag tells if an exit code is on the stack.
    Exit(bool),
    /// Jumps if the range is active.
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
    /// The globals that are arrays.
    pub arrays: Vec<bool>,
    pub functions: Vec<Routine>,
    pub ranges: usize,
    /// The entry points of the parts of a program. Each part ends with `Halt`.
    pub begin: Option<usize>,
    pub rules: Option<usize>,
    pub end: Option<usize>,
    pub begin_file: Option<usize>,
    pub end_file: Option<usize>,
}
