//! Texts that are run: `eval`, `source`, traps.

use std::rc::Rc;

use super::redirect::Undo;
use super::{Code, Control, compile};
use crate::state::options::{SetOption, Shopt};
use crate::state::{Call, Origin, Positional, Shell, Stop};
use crate::syntax::{Parser, UnfinishedDocument};

/// Limit on nested texts.
const DEPTH_LIMIT: usize = 10_000;

/// A text that is being run, one command at a time.
pub struct Script {
    parser: Parser<'static>,
    /// `eval` or the name of the file, for messages.
    title: Rc<str>,
    /// Set for a sourced file, which `return` ends.
    file: Option<SourcedFile>,
    code: Rc<Code>,
    at: usize,
    pub(super) undo: Undo,
    pub(super) temporary: bool,
    /// A special builtin runs it in POSIX mode: a syntax error ends the shell.
    pub(super) special: bool,
    /// The number of conditions around it.
    pub(super) guards: u32,
    /// A command of it has run. Without any, the text succeeds.
    ran: bool,
}

struct SourcedFile {
    source: Rc<str>,
    positional: Option<Positional>,
    line: u32,
}

impl Script {
    /// Makes a script of the text of `eval`.
    pub fn eval(text: String, line: u32) -> Script {
        Script::new(Parser::new(text, line), "eval".into(), None)
    }

    /// Makes a script of a sourced file, with its own arguments if it has any.
    pub fn sourced(text: String, path: &str, arguments: Option<Vec<String>>) -> Script {
        let file = SourcedFile { source: path.into(), positional: arguments.map(Positional::from), line: 0 };
        Script::new(Parser::new(text, 1), path.into(), Some(file))
    }

    fn new(parser: Parser<'static>, title: Rc<str>, file: Option<SourcedFile>) -> Script {
        let (code, at, undo) = (Rc::default(), 0, Undo::default());
        Script { parser, title, file, code, at, undo, temporary: false, special: false, guards: 0, ran: false }
    }

    pub(super) fn is_file(&self) -> bool {
        self.file.is_some()
    }
}

impl Shell {
    /// Begins to run a text. Its commands are fetched one by one.
    pub(super) fn enter_script(&mut self, mut script: Script, code: Rc<Code>, at: usize) {
        script.code = code;
        script.at = at;
        script.guards = self.guards;
        if let Some(file) = &mut script.file {
            file.line = self.line;
            self.calls.push(Call { name: "source".into(), line: self.line, source: file.source.clone() });
            std::mem::swap(&mut self.source, &mut file.source);
            if let Some(positional) = &mut file.positional {
                std::mem::swap(&mut self.positional, positional);
            }
        }
        self.texts += 1;
        self.controls.push(Control::Script(Box::new(script)));
    }

    /// Returns the code of the next command of the text on top of the stack.
    pub(super) fn next_of_script(&mut self) -> Result<Option<Rc<Code>>, Stop> {
        let too_deep = self.controls.len() > DEPTH_LIMIT
            && self.controls.iter().filter(|c| matches!(c, Control::Script(_))).count() > DEPTH_LIMIT;
        if too_deep {
            // Gives up more than the line: otherwise the text would resume with its next command, which is this one
            // again.
            return Err(self.refuse(&format!("eval: nested too deep (limit {DEPTH_LIMIT})")).abandoning());
        }
        let Some(Control::Script(mut script)) = self.controls.pop() else { return Ok(None) };
        self.prepare(&mut script.parser);
        let parsed = script.parser.next_command();
        let warnings = std::mem::take(&mut script.parser.unfinished);
        let title = script.title.clone();
        let is_file = script.is_file();
        let is_fatal = script.special && !is_file;
        let ran = std::mem::replace(&mut script.ran, true);
        self.controls.push(Control::Script(script));
        self.warn_of_unfinished(&warnings);
        match parsed {
            Ok(Some(list)) => Ok(Some(compile(&list))),
            Ok(None) => {
                if !ran {
                    self.status = 0;
                }
                Ok(None)
            }
            Err(error) => {
                let prefix = match is_file {
                    true => title.to_string(),
                    false => format!("{}: {title}", self.source),
                };
                let message = error.message(&prefix);
                self.write_error(&message);
                self.status = 2;
                if is_fatal { Err(Stop::Exit) } else { Ok(None) }
            }
        }
    }

    /// Configures a parser by the options that change the language.
    fn prepare(&self, parser: &mut Parser<'_>) {
        parser.posix = self.options.has(SetOption::POSIX);
        parser.extglob = self.options.shopt(Shopt::EXTGLOB);
        parser.keep_sources = !self.traps.is_empty() || self.options.has(SetOption::XTRACE);
        parser.aliases = self.options.shopt(Shopt::EXPAND_ALIASES).then(|| self.aliases.clone());
    }

    /// Warns of here-documents that the end of the text ended.
    pub fn warn_of_unfinished(&mut self, warnings: &[UnfinishedDocument]) {
        for UnfinishedDocument { line, end, delimiter } in warnings {
            self.line = *end;
            self.complain(&format!(
                "warning: here-document at line {line} delimited by end-of-file (wanted `{delimiter}')"
            ));
        }
    }

    /// Restores the state that a text changed. Returns the caller's code and position.
    pub(super) fn leave_script(&mut self, script: Script) -> (Rc<Code>, usize) {
        self.texts = self.texts.saturating_sub(1);
        if let Some(file) = script.file {
            self.calls.pop();
            self.source = file.source;
            // `set --` in the file changes the caller's parameters only if the file got no arguments of its own.
            if let Some(positional) = file.positional {
                self.positional = positional;
            }
            self.line = file.line;
        }
        if script.temporary {
            self.variables.leave();
        }
        self.restore_files(script.undo);
        (script.code, script.at)
    }

    /// Runs a text on the native stack: traps, and the main program.
    pub fn run_text(&mut self, text: &str, title: &str) -> Result<(), Stop> {
        let mut parser = Parser::new(text, self.line.max(1));
        loop {
            self.prepare(&mut parser);
            match parser.next_command() {
                Ok(Some(list)) => self.run(compile(&list))?,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let prefix = format!("{}: {title}", self.source);
                    let message = error.message(&prefix);
                    self.write_error(&message);
                    self.status = 2;
                    return Ok(());
                }
            }
        }
    }

    /// Runs PROMPT_COMMAND, as an interactive shell does before it reads a command.
    fn run_prompt_command(&mut self) {
        if !self.interactive || self.origin != Origin::Input {
            return;
        }
        if let Some(text) = self.text_of("PROMPT_COMMAND") {
            let status = self.status;
            // The next command is read even after an error.
            let _ = self.run_text(&text, "PROMPT_COMMAND");
            self.status = status;
        }
    }

    /// Runs a program to its end, each command as soon as it is read. Returns true if the shell must end too.
    pub fn run_program(&mut self, parser: &mut Parser<'_>, prefix: &str) -> bool {
        loop {
            self.run_prompt_command();
            self.prepare(parser);
            let start = parser.position();
            let parsed = parser.next_command();
            if self.options.has(SetOption::VERBOSE) {
                let read = parser.consumed(start).trim_end_matches('\n').to_owned();
                if !read.is_empty() {
                    self.write_error(&(read + "\n"));
                }
            }
            let warnings = std::mem::take(&mut parser.unfinished);
            self.warn_of_unfinished(&warnings);
            if self.options.has(SetOption::HISTORY) && self.origin == Origin::Input {
                let read = parser.consumed(start).trim().to_owned();
                if !read.is_empty() {
                    self.remember_command(read);
                }
            }
            match parsed {
                Ok(Some(list)) => {
                    if self.options.has(SetOption::NOEXEC) {
                        continue;
                    }
                    // All other stops end only the line.
                    let guards = self.guards;
                    match self.run(compile(&list)) {
                        Err(Stop::Exit) => return true,
                        Err(Stop::Abandon) if self.origin == Origin::Argument => return false,
                        Err(Stop::Interrupt) => return false,
                        _ => self.guards = guards,
                    }
                }
                Ok(None) => return false,
                Err(error) => {
                    let message = error.message(prefix);
                    self.write_error(&message);
                    self.status = 2;
                    return false;
                }
            }
        }
    }
}
