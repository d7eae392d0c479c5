//! `xargs`: command lines from an input.
//!
//! # Layout
//! - `settings`: the options
//! - `items`: splits the input into arguments
//! - `line`: a command line that is filled
//! - `children`: the running commands

mod children;
mod items;
mod line;
mod settings;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

use children::Children;
use items::Items;
use line::{Full, Line};
use settings::{Settings, Split};

/// `xargs`.
pub(crate) const PROGRAM: Program = Program {
    name: "xargs",
    operands: &["[OPTION]... COMMAND [INITIAL-ARGS]..."],
    about: "Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('0', "null", "items are separated by a null, not whitespace"),
        Opt::flag('a', "arg-file", "read arguments from FILE, not standard input").takes("FILE"),
        Opt::flag('d', "delimiter", "items are separated by CHARACTER, not by whitespace").takes("CHARACTER"),
        Opt::letter('E', "eof", "set logical EOF string").takes("END"),
        Opt::flag('e', "eof", "equivalent to -E END if END is specified").may_take("END"),
        Opt::letter('I', "I", "replace R in INITIAL-ARGS with names read from input").takes("R"),
        Opt::flag('i', "replace", "same as -I R; R is {} if it is not specified").may_take("R"),
        Opt::letter('L', "L", "use at most MAX-LINES non-blank input lines per command line").takes("MAX-LINES"),
        Opt::flag('l', "max-lines", "same as -L, at most one line if MAX-LINES is not specified").may_take("MAX-LINES"),
        Opt::flag('n', "max-args", "use at most MAX-ARGS arguments per command line").takes("MAX-ARGS"),
        Opt::flag('o', "open-tty", "(refused: there is no terminal)"),
        Opt::flag('P', "max-procs", "run at most MAX-PROCS processes at a time").takes("MAX-PROCS"),
        Opt::flag('p', "interactive", "(refused: there is no terminal to ask at)"),
        Opt::long("process-slot-var", "set environment variable VAR in child processes").takes("VAR"),
        Opt::flag('r', "no-run-if-empty", "if there are no arguments, then do not run COMMAND"),
        Opt::flag('s', "max-chars", "limit length of command line to MAX-CHARS").takes("MAX-CHARS"),
        Opt::long("show-limits", "show limits on command-line length"),
        Opt::flag('t', "verbose", "print commands before executing them"),
        Opt::flag('x', "exit", "exit if the size (see -s) is exceeded"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    if settings.shows_limits {
        show_limits(&settings);
    }
    let items = Items::open(&settings).map_err(|message| {
        call.complain(&message);
        1
    })?;
    let children = Children::new(call, &settings);
    let mut run = Run { call, settings: &settings, children, code: 0, runs: 0 };
    let ended = match &settings.split {
        Split::Replace(mark) => run.replace(items, mark),
        _ => run.fill(items),
    };
    // Started commands are waited for even after an error.
    run.children.wait_for_all();
    if let Err(stop) = ended {
        run.code = stop;
    } else if let Some(code) = run.children.failure() {
        run.code = code;
    }
    Ok(run.code)
}

struct Run<'a> {
    call: &'a Call,
    settings: &'a Settings,
    children: Children<'a>,
    code: u8,
    runs: usize,
}

impl Run<'_> {
    /// Runs commands with as many arguments as the limits allow.
    fn fill(&mut self, mut items: Items) -> Result<(), u8> {
        let mut line = Line::new(self.settings);
        loop {
            let item = match items.next() {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(message) => {
                    self.call.complain(&message);
                    // GNU runs the command with the arguments so far before it gives up.
                    if !line.is_empty() {
                        self.start(&mut line)?;
                    }
                    return Err(1);
                }
            };
            match line.push(item.text) {
                Ok(()) => {}
                Err(Full::Line(text)) => {
                    self.start(&mut line)?;
                    if line.push(text).is_err() {
                        return self.fail("argument line too long");
                    }
                }
                Err(Full::Never) => return self.fail("argument line too long"),
                Err(Full::Refused) => return self.fail("argument list too long"),
            }
            if item.ends_line {
                line.lines += 1;
            }
            if line.is_full() {
                self.start(&mut line)?;
            }
        }
        if !line.is_empty() || self.runs == 0 && !self.settings.skips_empty {
            self.start(&mut line)?;
        }
        Ok(())
    }

    /// Runs a command for each line, with the line in place of a mark.
    fn replace(&mut self, mut items: Items, mark: &str) -> Result<(), u8> {
        loop {
            let item = match items.next() {
                Ok(Some(item)) => item.text,
                Ok(None) => return Ok(()),
                Err(message) => return self.fail(&message),
            };
            let mut argv = vec![self.settings.command[0].clone()];
            for arg in &self.settings.command[1..] {
                argv.push(if mark.is_empty() { arg.clone() } else { arg.replace(mark, &item) });
            }
            if argv.iter().map(|arg| arg.len() + 1).sum::<usize>() > self.settings.max_chars {
                return self.fail("argument list too long");
            }
            self.children.start(argv)?;
        }
    }

    fn start(&mut self, line: &mut Line) -> Result<(), u8> {
        self.runs += 1;
        self.children.start(line.take())
    }

    fn fail(&self, message: &str) -> Result<(), u8> {
        self.call.complain(message);
        Err(1)
    }
}

/// Prints the limits: this kernel's, in GNU's words.
fn show_limits(settings: &Settings) {
    let environment: usize = std::env::vars_os().map(|(name, value)| name.len() + value.len() + 2).sum();
    let text = format!(
        "Your environment variables take up {environment} bytes\n\
         POSIX upper limit on argument length (this system): {}\n\
         POSIX smallest allowable upper limit on argument length (all systems): 4096\n\
         Maximum length of command we could actually use: {}\n\
         Size of command buffer we are actually using: {}\n\
         Maximum parallelism (--max-procs must be no greater): {}\n",
        settings::MOST_CHARS,
        settings::MOST_CHARS.saturating_sub(environment),
        settings.max_chars,
        i32::MAX,
    );
    // There is no place left to report that standard error is gone.
    let _ = isopod_sys::write_all(2, text.as_bytes());
}
