//! The description of a program, and its start by the name in /bin.

use crate::options::{self, GivenOption, Opt};
use crate::output::{Out, complain};

/// A program of this component.
pub struct Program {
    /// The name it is called by.
    pub name: &'static str,
    /// The operands in the usage line; one line a form.
    pub operands: &'static [&'static str],
    /// One or two sentences for `--help`.
    pub about: &'static str,
    /// The syntax of its arguments.
    pub syntax: Syntax,
    /// Its options besides `--help` and `--version`.
    pub options: &'static [Opt],
    /// The exit code of a usage error.
    pub failure: u8,
    /// The main function; it returns the exit code.
    pub run: fn(&Call) -> u8,
}

/// The syntax of arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Options and operands in any order, as most GNU programs have it.
    Mixed,
    /// Options end at the first operand; the rest belongs to another command.
    OptionsFirst,
    /// Every argument is an operand; only a sole `--help` or `--version` is answered.
    Plain,
    /// Every argument is an operand and the program reads them itself, `--help` included.
    Own,
}

/// One run of a program, with its parsed arguments.
pub struct Call {
    /// The name for messages: as it was called, directory and all, like GNU's.
    pub name: String,
    /// The program.
    pub program: &'static Program,
    /// The options, in their order.
    pub options: Vec<GivenOption>,
    /// The other arguments.
    pub operands: Vec<String>,
}

/// Runs the program that the kernel names for this process, out of the programs of a component, sorted by name.
/// `args[0]` is the caller's choice and only for messages.
///
/// Not `isopod_sys::entry`: paths go to the kernel, which knows the working directory, so that std need not.
pub fn main_of(programs: &[&'static Program]) -> ! {
    isopod_sys::exit(start(programs, &isopod_sys::process::program(), std::env::args().collect()))
}

fn start(programs: &[&'static Program], program: &str, mut args: Vec<String>) -> u8 {
    if args.is_empty() {
        complain(program, "called without a name");
        return 127;
    }
    let name = args.remove(0);
    let Ok(index) = programs.binary_search_by(|entry| entry.name.cmp(program)) else {
        complain(program, "no such program");
        return 127;
    };
    let program = programs[index];
    let mut call = Call { name, program, options: Vec::new(), operands: args };
    match (program.syntax, call.operands.as_slice()) {
        (Syntax::Plain, [only]) if only == "--help" => return call.help(),
        (Syntax::Plain, [only]) if only == "--version" => return call.version(),
        (Syntax::Plain | Syntax::Own, _) => {}
        (syntax, _) => {
            if let Err(code) = call.read_options(syntax == Syntax::Mixed) {
                return code;
            }
        }
    }
    (program.run)(&call)
}

impl Call {
    /// Reads other operands in place of this call's, for a program of `Syntax::Own` that rewrites old notations first.
    pub fn read_operands(&self, operands: Vec<String>, mixed: bool) -> Result<Call, u8> {
        let mut call = Call { name: self.name.clone(), program: self.program, options: Vec::new(), operands };
        call.read_options(mixed)?;
        Ok(call)
    }

    /// Moves the options out of the operands. An error is the exit code, after the message was written.
    pub fn read_options(&mut self, mixed: bool) -> Result<(), u8> {
        match options::parse(self.program.options, std::mem::take(&mut self.operands), mixed) {
            Ok((options, operands)) => (self.options, self.operands) = (options, operands),
            Err(message) => return Err(self.misused(&message)),
        }
        match self.options.last().map(|last| last.option) {
            Some("help") => Err(self.help()),
            Some("version") => Err(self.version()),
            _ => Ok(()),
        }
    }

    /// Writes a message to standard error.
    pub fn complain(&self, message: &str) {
        complain(&self.name, message);
    }

    /// Reports a failure and returns its exit code.
    pub fn failed(&self, message: &str) -> u8 {
        self.complain(message);
        self.program.failure
    }

    /// Reports a usage error with the hint at `--help` and returns its exit code.
    pub fn misused(&self, message: &str) -> u8 {
        self.complain(message);
        self.hint()
    }

    /// Writes the hint of a usage error alone and returns the exit code.
    pub fn hint(&self) -> u8 {
        let hint = format!("Try '{} --help' for more information.\n", self.name);
        // There is no place left to report that standard error is gone.
        let _ = isopod_sys::write_all(2, hint.as_bytes());
        self.program.failure
    }

    /// Reports a usage error if there are more than `most` operands.
    pub fn at_most(&self, most: usize) -> Result<(), u8> {
        match self.operands.get(most) {
            Some(extra) => Err(self.misused(&format!("extra operand {}", crate::quote::plain(extra)))),
            None => Ok(()),
        }
    }

    /// Returns true if an option is given.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|found| found.option == option)
    }

    /// Returns the last value that an option is given.
    pub fn value(&self, option: &str) -> Option<&str> {
        self.options.iter().rev().find(|found| found.option == option)?.value.as_deref()
    }

    /// Writes the answer to `--help`.
    pub fn help(&self) -> u8 {
        let mut text = String::new();
        for (index, form) in self.program.operands.iter().enumerate() {
            let lead = if index == 0 { "Usage: " } else { "  or:  " };
            text.push_str(&format!("{lead}{} {form}\n", self.name));
        }
        text.push_str(&format!("{}\n\n", self.program.about));
        for option in self.program.options.iter().chain(options::COMMON) {
            option.describe(&mut text);
        }
        self.print(&text)
    }

    /// Writes the answer to `--version`.
    pub fn version(&self) -> u8 {
        let name = self.program.name;
        // Scripts look for `GNU sed` and the like here, to know which options there are.
        self.print(&format!("{name} (Isopod, as GNU {name}) {}\n", env!("CARGO_PKG_VERSION")))
    }

    /// Writes a text that is the whole output of this run and returns the exit code.
    pub fn print(&self, text: &str) -> u8 {
        let mut out = Out::new();
        out.push(text.as_bytes());
        self.finish(out, 0)
    }

    /// Flushes the output and returns `code`, or the failure's code if output was lost.
    pub fn finish(&self, out: Out, code: u8) -> u8 {
        match out.finish() {
            Ok(()) => code,
            Err(errno) => {
                self.complain(&format!("write error: {}", isopod_sys::text(errno)));
                // `env` and `timeout` use 125 for themselves, `printenv` 2; a lost output is no different.
                if self.program.failure == 0 { 1 } else { self.program.failure }
            }
        }
    }
}
