//! The machine that runs compiled programs.
//!
//! # Layout
//! - `run`: the loop over the steps; `operators`: what they do with values
//! - `variables`: variables with effects, places, regular expressions
//! - `records`: the main input, `getline`
//! - `output`: `print` and `printf`

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

/// Why a program cannot go on: a message for the user.
pub(crate) type Run<T> = Result<T, String>;

/// How a part of the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Done,
    Next,
    NextFile,
    Exit,
}

/// A call that is under way.
struct Frame {
    return_to: usize,
    /// Where its parameters start on the stack.
    base: usize,
    iterators: usize,
}

/// Something that can be assigned to.
enum Place {
    Global(usize),
    Local(usize),
    Field(usize),
    Element(ArrayRef, Value),
}

pub(crate) struct Machine {
    code: Rc<Code>,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    places: Vec<Place>,
    iterators: Vec<std::vec::IntoIter<Value>>,
    pub(crate) globals: Vec<Value>,
    ranges: Vec<bool>,
    pub(crate) record: Record,
    pub(crate) streams: Streams,
    main: Option<Reader>,
    /// The next operand of the main input, and whether any was a file.
    next_operand: usize,
    had_file: bool,
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
    /// Every byte is a character.
    pub(crate) bytes: bool,
    /// The last long string that was found to be all ASCII: a loop over its characters need not look again.
    pub(crate) ascii: Option<Rc<Vec<u8>>>,
    /// How records are split at present: by FS, FIELDWIDTHS or FPAT, whichever was assigned last.
    split_by: usize,
    regexes: HashMap<Vec<u8>, Rc<Regex>>,
    pub(crate) random: Random,
    pub(crate) exit_code: u8,
    /// Each file of the main input is replaced by what is printed while it is read.
    pub(crate) in_place: bool,
    /// The name for messages.
    pub(crate) name: String,
    /// How many comparisons of a sort call functions of the program inside each other.
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
            places: Vec::new(),
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

    /// Runs the whole program, and returns its exit code.
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
        // `exit` skips to END, unless it comes from BEGIN in a program without one or from END itself.
        if let Some(end) = code.end
            && (flow != Flow::Exit || reads)
        {
            self.run(end)?;
        }
        Ok(self.exit_code)
    }

    /// All records through all rules.
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

    /// Says something on standard error, after what was printed.
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

    /// `$0`.
    pub(crate) fn whole_record(&mut self) -> &[u8] {
        self.record.whole(&self.ofs, &self.convfmt)
    }

    /// What is printed and not yet written goes out, and all commands are waited for.
    pub(crate) fn finish(&mut self) -> Result<(), isopod_sys::Errno> {
        self.streams.finish()
    }
}
