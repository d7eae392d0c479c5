//! The main input, and `getline`.

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd, text};

use super::{Flow, Machine, Run};
use crate::array::Key;
use crate::code::global;
use crate::input::Reader;
use crate::value::Value;

impl Machine {
    /// Reads the next record of the main input into `$0`. Returns `None` at the end of all files.
    pub(super) fn next_record(&mut self) -> Run<Option<Flow>> {
        loop {
            if self.main.is_none() {
                match self.open_next()? {
                    Some(Flow::Done) => {}
                    other => return Ok(other),
                }
            }
            if self.read_main_record()? {
                self.record.renew();
                return Ok(Some(Flow::Done));
            }
            if self.close_main()? == Flow::Exit {
                return Ok(Some(Flow::Exit));
            }
        }
    }

    /// Reads a record of the open file into the record's buffer.
    #[inline]
    fn read_main_record(&mut self) -> Run<bool> {
        let Some(reader) = &mut self.main else { return Ok(false) };
        let before = self.terminator.len();
        let first = self.terminator.first().copied();
        match reader.read(&self.separator, self.record.buffer(), &mut self.terminator) {
            Ok(true) => {
                self.nr += 1.0;
                self.fnr += 1.0;
                // RT is nearly always the same newline, so it is seldom assigned.
                if before != 1 || self.terminator.len() != 1 || self.terminator.first().copied() != first {
                    self.globals[global::RT] = Value::string(&self.terminator);
                }
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(Errno::IsDirectory) => Ok(false),
            Err(errno) => {
                let name = self.globals[global::FILENAME].to_text(&self.convfmt);
                Err(format!("error reading input file `{}': {}", String::from_utf8_lossy(&name), text(errno)))
            }
        }
    }

    /// Closes the current file, and runs ENDFILE.
    pub(super) fn close_main(&mut self) -> Run<Flow> {
        let was_open = self.main.take().is_some();
        if was_open && self.in_place {
            self.streams.end_diversion().map_err(|errno| format!("inplace: {}", text(errno)))?;
        }
        if was_open && let Some(end_file) = self.code.end_file {
            return self.run(end_file);
        }
        Ok(Flow::Done)
    }

    /// Opens the next file among the operands, performs the assignments before it, and runs BEGINFILE.
    fn open_next(&mut self) -> Run<Option<Flow>> {
        loop {
            let Some(name) = self.next_operand()? else {
                if self.had_file {
                    return Ok(None);
                }
                self.had_file = true;
                self.globals[global::FILENAME] = Value::string(b"-");
                self.main = Some(Reader::standard_input());
                return self.begin_file(None).map(Some);
            };
            self.had_file = true;
            self.fnr = 0.0;
            self.globals[global::FILENAME] = Value::input(&name);
            self.globals[global::ARGIND] = Value::Number((self.next_operand - 1) as f64);
            let opened = match name.as_slice() {
                b"-" | b"/dev/stdin" => Ok(Reader::standard_input()),
                name => std::str::from_utf8(name)
                    .map_err(|_| Errno::IllegalSequence)
                    .and_then(|path| Fd::open(path, OpenFlags::READ, 0))
                    .map(|file| Reader::new(file, None)),
            };
            let shown = String::from_utf8_lossy(&name).into_owned();
            match opened {
                Ok(reader) => {
                    if self.in_place && shown != "-" {
                        self.streams.divert(&shown).map_err(|errno| format!("inplace: {shown}: {}", text(errno)))?;
                    }
                    self.main = Some(reader);
                    match self.begin_file(None)? {
                        Flow::NextFile => {
                            if self.close_main()? == Flow::Exit {
                                return Ok(Some(Flow::Exit));
                            }
                        }
                        flow => return Ok(Some(flow)),
                    }
                }
                Err(Errno::IsDirectory) if self.code.begin_file.is_none() => {
                    self.warn(&format!("command line argument `{shown}' is a directory: skipped"));
                }
                Err(errno) => {
                    // BEGINFILE can skip a file that cannot be read.
                    if self.code.begin_file.is_some() {
                        match self.begin_file(Some(errno))? {
                            Flow::NextFile => continue,
                            Flow::Exit => return Ok(Some(Flow::Exit)),
                            _ => {}
                        }
                    }
                    if errno == Errno::IsDirectory {
                        continue;
                    }
                    return Err(format!("cannot open file `{shown}' for reading: {}", text(errno)));
                }
            }
        }
    }

    fn begin_file(&mut self, problem: Option<Errno>) -> Run<Flow> {
        let Some(entry) = self.code.begin_file else { return Ok(Flow::Done) };
        self.record.set_text(b"");
        self.globals[global::ERRNO] = problem.map_or(Value::string(b""), |errno| Value::string(text(errno).as_bytes()));
        self.run(entry)
    }

    /// Returns the next operand that names a file. ARGV can change while the program runs.
    fn next_operand(&mut self) -> Run<Option<Vec<u8>>> {
        loop {
            if self.next_operand as f64 >= self.globals[global::ARGC].number() {
                return Ok(None);
            }
            let index = self.next_operand;
            self.next_operand += 1;
            let Value::Array(argv) = &self.globals[global::ARGV] else { return Ok(None) };
            let operand = argv.borrow().get(Key::Integer(index as i64)).map(|value| value.to_text(&self.convfmt));
            let Some(operand) = operand.filter(|operand| !operand.is_empty()) else { continue };
            match assignment(&operand) {
                Some((name, text)) => self.assign_text(&name, &text)?,
                None => return Ok(Some(operand)),
            }
        }
    }

    /// Runs `getline` on the main input. Returns 1, or 0 at the end, or `None` if the program has to exit.
    pub(super) fn getline_main(&mut self, has_target: bool) -> Run<Option<f64>> {
        if !has_target {
            return Ok(match self.next_record()? {
                Some(Flow::Exit) => None,
                Some(_) => Some(1.0),
                None => Some(0.0),
            });
        }
        // The record stays as it is, since the line goes to a variable.
        let kept = std::mem::replace(&mut self.record, crate::record::Record::new());
        let found = self.next_record();
        let mut read = std::mem::replace(&mut self.record, kept);
        match found? {
            Some(Flow::Exit) => Ok(None),
            Some(_) => {
                let value = Value::input(read.buffer());
                self.set_lvalue(value)?;
                Ok(Some(1.0))
            }
            None => {
                self.drop_lvalue();
                Ok(Some(0.0))
            }
        }
    }

    pub(super) fn getline_file(&mut self, has_target: bool) -> Run<()> {
        let name = self.pop_text();
        if name.is_empty() {
            return Err("expression for `<' redirection has null string value".into());
        }
        let mut line = Vec::new();
        let mut terminator = Vec::new();
        let result =
            self.streams.file_reader(&name).and_then(|reader| reader.read(&self.separator, &mut line, &mut terminator));
        self.got(result, line, &terminator, has_target)
    }

    pub(super) fn getline_command(&mut self, has_target: bool) -> Run<()> {
        let command = self.pop_text();
        let mut line = Vec::new();
        let mut terminator = Vec::new();
        let env = super::output::environment(&self.globals);
        let result = self
            .streams
            .command_reader(&command, &env)
            .and_then(|reader| reader.read(&self.separator, &mut line, &mut terminator));
        self.got(result, line, &terminator, has_target)
    }

    fn got(&mut self, result: Result<bool, Errno>, line: Vec<u8>, terminator: &[u8], has_target: bool) -> Run<()> {
        let code = match result {
            Ok(true) => {
                self.globals[global::RT] = Value::string(terminator);
                if has_target {
                    self.set_lvalue(Value::input(&line))?;
                } else {
                    self.record.set_text(&line);
                }
                1.0
            }
            Ok(false) => 0.0,
            Err(errno) => {
                self.globals[global::ERRNO] = Value::string(text(errno).as_bytes());
                -1.0
            }
        };
        if has_target && code != 1.0 {
            self.drop_lvalue();
        }
        self.push(Value::Number(code));
        Ok(())
    }
}

/// Parses an operand of the form `name=value`.
pub(crate) fn assignment(operand: &[u8]) -> Option<(String, Vec<u8>)> {
    let equals = operand.iter().position(|byte| *byte == b'=')?;
    let name = &operand[..equals];
    let starts_right = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    if !starts_right || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return None;
    }
    Some((String::from_utf8_lossy(name).into_owned(), operand[equals + 1..].to_vec()))
}
