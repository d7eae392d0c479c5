//! The start of the shell: arguments and environment.

use std::rc::Rc;

use isopod_sys::{Errno, files, process};

use crate::exec::Work;
use crate::input::Lines;
use crate::state::files::Files;
use crate::state::options::{SetOption, Shopt};
use crate::state::traps::{INTERRUPT, TIME_OVER};
use crate::state::variable::{Attributes, Variable};
use crate::state::{Definition, Origin, Shell, VERSION};
use crate::syntax::tree::Kind;
use crate::syntax::{Parser, is_name};
use crate::text;

/// Runs the shell and returns its status.
pub fn main() -> u8 {
    let payload = process::payload();
    if !payload.is_empty() {
        return match Shell::from_snapshot(&payload) {
            Some((shell, work)) => subshell(shell, &work),
            None => {
                let _ = isopod_sys::write_all(2, b"sh: cannot read the state of the parent shell\n");
                2
            }
        };
    }
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_else(|| "sh".to_owned());
    let mut shell = Shell { files: Files::standard(), fatal_status: 1, ..Shell::default() };
    shell.name = program.as_str().into();
    shell.source = shell.name.clone();
    shell.import_environment(std::env::vars());
    // The program file decides, not `argv[0]`: the sandbox's own command lines are in bash's language and call
    // themselves `sh`.
    if matches!(process::program().as_str(), "sh" | "dash") {
        shell.enter_posix_mode();
    }
    match Invocation::read(&mut shell, arguments.collect()) {
        Ok(invocation) => shell.begin(invocation),
        Err(status) => status,
    }
}

/// Runs the work that a parent shell handed over.
fn subshell(mut shell: Shell, work: &Work) -> u8 {
    match work {
        Work::Exit(status) => return *status,
        Work::Write(content) => {
            // The reader may close the pipe early.
            let _ = isopod_sys::write_all(1, &text::to_bytes(content));
            return 0;
        }
        _ => {}
    }
    // `break` and `return` reach no further than the subshell.
    let _ = shell.run(work.code());
    shell.run_exit_trap();
    shell.raise_fatal_signal();
    shell.wait_for_readers();
    shell.status
}

/// The request that the arguments make.
struct Invocation {
    source: Source,
    /// `$1` and on.
    positional: Vec<String>,
    /// The file that an interactive shell runs first.
    start_up: Option<String>,
}

enum Source {
    /// `-c`
    Text(String),
    File(String),
    Input,
    /// `--live`: orders from the owner of the session.
    Orders,
}

impl Invocation {
    fn read(shell: &mut Shell, arguments: Vec<String>) -> Result<Invocation, u8> {
        let mut command = false;
        let mut input = false;
        let mut live = false;
        let (mut reads_start_up, mut start_up) = (true, None);
        let mut rest = arguments.into_iter().map(|a| text::from_bytes(a.into_bytes())).peekable();
        while let Some(argument) = rest.next_if(|a| a.len() > 1 && a.starts_with(['-', '+'])) {
            let on = argument.starts_with('-');
            match argument.as_str() {
                "--" => break,
                "--version" => {
                    let text = format!("GNU bash, version {VERSION} (wasm32-wasi-isopod)\n");
                    let _ = isopod_sys::write_all(1, text.as_bytes());
                    return Err(0);
                }
                "--help" => {
                    let text =
                        "Usage: sh [-abefhmnuvxBCEPT] [-o option] [-O option] [-c command | file | -s] [argument]...\n";
                    let _ = isopod_sys::write_all(1, text.as_bytes());
                    return Err(0);
                }
                "--live" => live = true,
                "--posix" => shell.enter_posix_mode(),
                "--norc" => reads_start_up = false,
                "--rcfile" | "--init-file" => start_up = rest.next(),
                // There is no terminal and there are no profiles, so these have no effect.
                "--noprofile" | "--noediting" | "--login" | "-l" => {}
                long if long.starts_with("--") => return Err(shell.reject(long)),
                letters => {
                    for letter in letters[1..].bytes() {
                        match letter {
                            b'c' if on => command = true,
                            b's' if on => input = true,
                            b'l' => {}
                            // There is no terminal; `-i` shows in `$-`, in aliases and in the history.
                            b'i' => {
                                shell.interactive = on;
                                shell.options.switch_shopt(Shopt::EXPAND_ALIASES, on);
                            }
                            b'o' => {
                                let name = rest.next().unwrap_or_default();
                                let Some(option) = SetOption::named(&name) else { return Err(shell.reject(&name)) };
                                shell.switch_option("sh", option, on)?;
                            }
                            b'O' => {
                                let name = rest.next().unwrap_or_default();
                                let Some(option) = Shopt::named(&name) else { return Err(shell.reject(&name)) };
                                shell.options.switch_shopt(option, on);
                            }
                            _ => match SetOption::lettered(letter) {
                                Some(option) => shell.switch_option("sh", option, on)?,
                                None => return Err(shell.reject(&argument)),
                            },
                        }
                    }
                }
            }
        }
        let source = if live {
            Source::Orders
        } else if command {
            let Some(text) = rest.next() else {
                let message = format!("{}: -c: option requires an argument\n", shell.name);
                shell.write_error(&message);
                return Err(2);
            };
            if let Some(name) = rest.next() {
                shell.name = name.into();
                shell.source = shell.name.clone();
            }
            Source::Text(text)
        } else if input {
            Source::Input
        } else {
            rest.next().filter(|f| f != "-").map_or(Source::Input, Source::File)
        };
        let own = || shell.text_of("HOME").map(|home| format!("{home}/.bashrc"));
        let start_up = match shell.interactive && reads_start_up {
            true => start_up.or_else(own),
            false => None,
        };
        Ok(Invocation { source, positional: rest.collect(), start_up })
    }
}

impl Shell {
    fn reject(&mut self, option: &str) -> u8 {
        let message = format!("{}: {option}: invalid option\n", self.name);
        self.write_error(&message);
        2
    }

    /// Switches to POSIX mode, as bash does when it is started as `sh`.
    fn enter_posix_mode(&mut self) {
        // This option is supported, so it cannot be refused.
        let _ = self.switch_option("sh", SetOption::POSIX, true);
    }

    fn begin(mut self, invocation: Invocation) -> u8 {
        self.positional = invocation.positional.into();
        let first = match self.interactive {
            true => invocation.start_up,
            // A bash without a terminal runs BASH_ENV instead.
            false => self.text_of("BASH_ENV").filter(|path| !path.is_empty()),
        };
        if first.is_some_and(|path| self.run_start_up_file(&path)) {
            return self.end();
        }
        match invocation.source {
            Source::Text(text) => {
                self.origin = Origin::Argument;
                self.fatal_status = 127;
                let prefix = format!("{}: -c", self.name);
                self.execution = text.as_str().into();
                self.run_program(&mut Parser::new(text, 1), &prefix);
            }
            Source::File(path) => {
                self.origin = Origin::Script;
                let text = match self.load(&path) {
                    Ok(text) => text,
                    Err(status) => return status,
                };
                self.name = path.as_str().into();
                self.source = self.name.clone();
                self.run_program(&mut Parser::new(text, 1), &path);
            }
            Source::Orders => self.serve(),
            Source::Input => {
                self.origin = Origin::Input;
                let Some(file) = self.files.get(0).cloned() else { return 0 };
                let prefix = self.name.to_string();
                let log = self.text_of("HISTFILE").filter(|path| self.interactive && !path.is_empty());
                self.options.switch(SetOption::HISTORY, self.interactive);
                if let Some(path) = &log {
                    // Before the first session there is no file.
                    let _ = self.read_history(path, 0);
                }
                self.run_program(&mut Parser::reading(Box::new(Lines::new(file))), &prefix);
                if let Some(path) = &log
                    && let Err(errno) = self.append_history(path)
                {
                    self.complain(&format!("{path}: cannot write the history: {}", isopod_sys::text(errno)));
                }
            }
        }
        self.end()
    }

    /// Ends the shell: runs the EXIT trap, raises a signal that is due, waits for readers, and returns the status.
    fn end(mut self) -> u8 {
        self.run_exit_trap();
        self.raise_fatal_signal();
        self.wait_for_readers();
        self.status
    }

    /// Executes the orders of a live session until one ends the shell.
    fn serve(&mut self) {
        self.live = true;
        self.origin = Origin::Argument;
        for signal in [INTERRUPT, TIME_OVER] {
            // Both signals can be caught.
            let _ = process::on_signal(signal, process::Disposition::Catch);
        }
        let prefix = format!("{}: -c", self.name);
        while let Some(text) = process::next_order(self.status) {
            self.line = 0;
            self.guards = 0;
            let text = text::from_bytes(text.into_bytes());
            if self.run_program(&mut Parser::new(text, 1), &prefix) {
                break;
            }
        }
    }

    /// Runs a start-up file if it exists. Returns true if it ended the shell.
    fn run_start_up_file(&mut self, path: &str) -> bool {
        match self.read_script(path) {
            Ok(text) => self.run_program(&mut Parser::new(text, 1), path),
            Err(_) => false,
        }
    }

    /// Reads a script. As in bash, a file that does not exist is looked for in PATH.
    fn load(&mut self, path: &str) -> Result<String, u8> {
        let found = match files::stat(path, true) {
            Err(Errno::NoEntry) if !path.contains('/') => self.find_program(path),
            _ => None,
        };
        let result = self.read_script(found.as_deref().unwrap_or(path));
        result.map_err(|errno| {
            let (why, status) = match errno {
                Errno::NoEntry => ("No such file or directory", 127),
                Errno::IsDirectory => ("Is a directory", 126),
                errno => (isopod_sys::text(errno), 126),
            };
            let message = format!("{}: {path}: {why}\n", self.name);
            self.write_error(&message);
            status
        })
    }

    /// Imports the environment as variables and functions.
    fn import_environment(&mut self, environment: impl Iterator<Item = (String, String)>) {
        let mut level = 0i64;
        let mut directory = None;
        for (name, value) in environment {
            if let Some(function) = name.strip_prefix("BASH_FUNC_").and_then(|n| n.strip_suffix("%%")) {
                self.import_function(function, &value);
                continue;
            }
            let value = text::from_bytes(value.into_bytes());
            match name.as_str() {
                "SHLVL" => level = value.parse().unwrap_or(0),
                "PWD" => directory = Some(value),
                "SHELLOPTS" | "BASHOPTS" | "_" => {}
                _ if is_name(&name) => {
                    let mut variable = Variable::scalar(value);
                    variable.attributes.insert(Attributes::EXPORT);
                    self.variables.insert(&name, variable);
                }
                // A name that cannot be a variable's is not passed on either.
                _ => {}
            }
        }
        // As in bash, a level out of range is reset.
        let level = match level.saturating_add(1) {
            level @ 0..1000 => level,
            ..0 => 0,
            _ => 1,
        };
        let mut shlvl = Variable::scalar(level.to_string());
        shlvl.attributes.insert(Attributes::EXPORT);
        self.variables.insert("SHLVL", shlvl);
        let mut pwd = Variable::scalar(working_directory(directory));
        pwd.attributes.insert(Attributes::EXPORT);
        self.variables.insert("PWD", pwd);
    }

    /// Imports a function that `export -f` put into the environment. Only a definition is accepted; no command of it
    /// runs.
    fn import_function(&mut self, name: &str, value: &str) {
        let mut parser = Parser::new(format!("{name} {value}"), 1);
        let Ok(Some(list)) = parser.next_command() else { return };
        if !parser.rest().trim().is_empty() {
            return;
        }
        let [item] = list.items.as_slice() else { return };
        let [stage] = item.chain.first.stages.as_slice() else { return };
        if let Kind::Function(function) = &stage.kind
            && item.chain.rest.is_empty()
            && function.name == name
        {
            let definition = Definition::new(function.clone(), "environment".into());
            definition.exported.set(true);
            Rc::make_mut(&mut self.functions).insert(name.into(), definition);
        }
    }
}

/// Returns the working directory, by its name in PWD if that is right.
pub(crate) fn working_directory(given: Option<String>) -> String {
    let real = process::cwd();
    match given {
        Some(given) if given == real => real,
        Some(given) if given.starts_with('/') => {
            let same = match (files::stat(&given, true), files::stat(&real, true)) {
                (Ok(a), Ok(b)) => (a.device, a.inode) == (b.device, b.inode),
                _ => false,
            };
            if same { given } else { real }
        }
        _ => real,
    }
}
