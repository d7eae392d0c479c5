//! The machine that runs compiled programs.
//!
//! # Layout
//! - `run`: the interpreter loop, and `instructions`: the longer instructions
//! - `operators`: operators on values
//! - `variables`: variables with side effects, lvalues, regular expressions
//! - `records`: the main input and `getline`
//! - `output`: `print` and `printf`

mod instructions;
mod operators;
mod output;
mod records;
mod run;
mod variables;

use std::collections::HashMap;
use std::rc::Rc;

use isopod_regex::Regex;

use crate::code::{Code, global};
use crate::functions::random::Random;
use crate::input::{Reader, Separator};
use crate::record::Record;
use crate::streams::Streams;
use crate::value::{ArrayRef, Value};

pub(crate) use operators::key_of;
pub(crate) use output::environment;
pub(crate) use records::assignment;

/// A result whose error is the message that ends the program.
pub(crate) type Run<T> = Result<T, String>;

/// The way in which a part of the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Done,
    Next,
    NextFile,
    Exit,
}

/// An active function call.
struct Frame {
    return_to: usize,
    /// The index on the stack of the first parameter.
    base: usize,
    /// The number of `for (key in array)` loops outside the call.
    iterators: usize,
}

/// The target of an assignment.
enum Lvalue {
    Global(usize),
    Local(usize),
    Field(usize),
    Element(ArrayRef, Value),
}

pub(crate) struct Machine {
    code: Rc<Code>,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// The targets of `sub` and `getline` whose call is not complete.
    lvalues: Vec<Lvalue>,
    /// The remaining keys of each active `for (key in array)` loop.
    iterators: Vec<std::vec::IntoIter<Value>>,
    pub(crate) globals: Vec<Value>,
    /// True for each range pattern whose first record was found and whose last was not.
    ranges: Vec<bool>,
    pub(crate) record: Record,
    pub(crate) streams: Streams,
    /// The current file of the main input.
    main: Option<Reader>,
    /// The index in ARGV of the next operand.
    next_operand: usize,
    /// True once an operand was a file.
    had_file: bool,
    /// The text that ended the last record, as in RT.
    terminator: Vec<u8>,
    nr: f64,
    fnr: f64,
    separator: Separator,
    ofs: Vec<u8>,
    ors: Vec<u8>,
    subsep: Vec<u8>,
    pub(crate) convfmt: Vec<u8>,
    ofmt: Vec<u8>,
    pub(crate) ignore_case: bool,
    /// True if every byte is a character.
    pub(crate) bytes: bool,
    /// The last long string found to be ASCII. A loop over its characters need not check it again.
    pub(crate) ascii: Option<Rc<Vec<u8>>>,
    /// The variable that determines how records are split: the last one assigned of FS, FIELDWIDTHS and FPAT.
    split_by: usize,
    regexes: HashMap<Vec<u8>, Rc<Regex>>,
    pub(crate) random: Random,
    pub(crate) exit_code: u8,
    /// True if the output replaces each file of the main input.
    pub(crate) in_place: bool,
    /// The program name for messages.
    pub(crate) name: String,
    /// The depth of nested sorts: a comparison function may sort, too.
    nested: usize,
}

impl Machine {
    pub(crate) fn new(code: Code, name: &str, bytes: bool) -> Machine {
        let mut globals = vec![Value::Unset; code.globals.len()];
        for (slot, is_array) in code.arrays.iter().enumerate() {
            if *is_array {
                globals[slot] = Value::new_array();
            }
        }
        for (slot, text) in [
            (global::FS, " "),
            (global::OFS, " "),
            (global::ORS, "\n"),
            (global::RS, "\n"),
            (global::SUBSEP, "\x1c"),
            (global::CONVFMT, "%.6g"),
            (global::OFMT, "%.6g"),
            (global::FPAT, "[^[:space:]]+"),
            (global::FILENAME, ""),
        ] {
            globals[slot] = Value::string(text.as_bytes());
        }
        globals[global::RLENGTH] = Value::Number(-1.0);
        globals[global::RSTART] = Value::Number(0.0);
        globals[global::IGNORECASE] = Value::Number(0.0);
        globals[global::ARGIND] = Value::Number(0.0);
        Machine {
            ranges: vec![false; code.ranges],
            code: Rc::new(code),
            stack: Vec::with_capacity(64),
            frames: Vec::new(),
            lvalues: Vec::new(),
            iterators: Vec::new(),
            globals,
            record: Record::new(),
            streams: Streams::new(),
            main: None,
            next_operand: 1,
            had_file: false,
            terminator: Vec::new(),
            nr: 0.0,
            fnr: 0.0,
            separator: Separator::Byte(b'\n'),
            ofs: b" ".to_vec(),
            ors: b"\n".to_vec(),
            subsep: b"\x1c".to_vec(),
            convfmt: b"%.6g".to_vec(),
            ofmt: b"%.6g".to_vec(),
            ignore_case: false,
            bytes,
            ascii: None,
            split_by: global::FS,
            regexes: HashMap::new(),
            random: Random::new(1),
            exit_code: 0,
            in_place: false,
            name: name.to_owned(),
            nested: 0,
        }
    }

    /// Runs the whole program and returns its exit code.
    pub(crate) fn execute(&mut self) -> Run<u8> {
        let code = Rc::clone(&self.code);
        let mut flow = Flow::Done;
        if let Some(begin) = code.begin {
            flow = self.run(begin)?;
        }
        let reads = code.rules.is_some() || code.end.is_some() || code.begin_file.is_some() || code.end_file.is_some();
        if flow != Flow::Exit && reads {
            flow = self.read_all(&code)?;
        }
        // `exit` jumps to END, unless it is in END or the program has nothing but BEGIN.
        if let Some(end) = code.end
            && (flow != Flow::Exit || reads)
        {
            self.run(end)?;
        }
        Ok(self.exit_code)
    }

    /// Runs all rules on all records.
    fn read_all(&mut self, code: &Code) -> Run<Flow> {
        loop {
            match self.next_record()? {
                Some(Flow::Done) => {}
                Some(flow) => return Ok(flow),
                None => return Ok(Flow::Done),
            }
            let Some(rules) = code.rules else { continue };
            match self.run(rules)? {
                Flow::Done | Flow::Next => {}
                Flow::NextFile => {
                    if self.close_main()? == Flow::Exit {
                        return Ok(Flow::Exit);
                    }
                }
                Flow::Exit => return Ok(Flow::Exit),
            }
        }
    }

    /// Prints a warning on standard error, after the output so far.
    pub(crate) fn warn(&mut self, message: &str) {
        isopod_gnu::output::complain(&self.name, &format!("warning: {message}"));
    }

    pub(crate) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    pub(crate) fn pop_text(&mut self) -> Vec<u8> {
        let value = self.pop();
        value.to_text(&self.convfmt)
    }

    pub(crate) fn pop_array(&mut self) -> Run<ArrayRef> {
        match self.pop() {
            Value::Array(array) => Ok(array),
            _ => Err("attempt to use a scalar value as array".into()),
        }
    }

    /// Returns `$0`.
    pub(crate) fn whole_record(&mut self) -> &[u8] {
        self.record.whole(&self.ofs, &self.convfmt)
    }

    /// Writes all buffered output and waits for all commands.
    pub(crate) fn finish(&mut self) -> Result<(), isopod_sys::Errno> {
        self.streams.finish()
    }
}
