//! Options and operands, and the start and end of a run.

use isopod_gnu::input::Input;
use isopod_gnu::locale;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::text;

use crate::array::Key;
use crate::code::global;
use crate::machine::{Machine, assignment};
use crate::syntax::{self, Source};
use crate::value::Value;
use crate::{compile, syntax::lexer::unescape_all};

/// The programs, sorted by name.
pub(crate) const PROGRAMS: &[&Program] = &[&named("awk"), &named("gawk"), &named("mawk"), &named("nawk")];

const OPTIONS: &[Opt] = &[
    Opt::flag('f', "file", "read the program from PROGRAM-FILE").takes("PROGRAM-FILE"),
    Opt::flag('F', "field-separator", "use FS for the field separator").takes("FS"),
    Opt::flag('v', "assign", "assign VALUE to VAR before the program starts").takes("VAR=VALUE"),
    Opt::flag('e', "source", "use PROGRAM-TEXT as a part of the program").takes("PROGRAM-TEXT"),
    Opt::flag('E', "exec", "as -f, but the last option, and no assignments among the operands").takes("FILE"),
    Opt::flag('i', "include", "only -i inplace: replace each FILE by what is printed for it").takes("inplace"),
    Opt::flag('b', "characters-as-bytes", "every byte is a character"),
    Opt::flag('c', "traditional", ""),
    Opt::flag('n', "non-decimal-data", ""),
    Opt::flag('P', "posix", ""),
    Opt::flag('r', "re-interval", "(ignored: intervals are always known)"),
    Opt::flag('s', "no-optimize", "(ignored)"),
    Opt::flag('O', "optimize", "(ignored)"),
    Opt::flag('S', "sandbox", "refuse system(), redirections and pipes"),
    Opt::flag('t', "lint-old", "(ignored)"),
    Opt::flag('L', "lint", "(ignored)").may_take("fatal"),
    Opt::flag('N', "use-lc-numeric", "(ignored: the decimal point is a point)"),
];

const fn named(name: &'static str) -> Program {
    Program {
        name,
        operands: &["[OPTION]... 'PROGRAM' [FILE]...", "[OPTION]... -f PROGRAM-FILE [FILE]..."],
        about: "Scan and process text with patterns: POSIX awk with the functions of GNU awk.\n\
                With no FILE, or when FILE is -, read standard input. A FILE of the form VAR=VALUE is an assignment.",
        syntax: Syntax::OptionsFirst,
        options: OPTIONS,
        failure: 1,
        run,
    }
}

fn run(call: &Call) -> u8 {
    match start(call) {
        Ok(code) => code,
        Err(code) => code,
    }
}

/// Reads the program and runs it. An error has been reported, and its value is the exit code.
fn start(call: &Call) -> Result<u8, u8> {
    for refused in ["traditional", "non-decimal-data", "posix", "sandbox"] {
        if call.has(refused) {
            call.complain(&format!("unsupported option -- --{refused}"));
            return Err(2);
        }
    }
    if let Some(name) = call.value("include").filter(|name| *name != "inplace") {
        call.complain(&format!("fatal: cannot open source file `{name}' for reading: only inplace can be included"));
        return Err(2);
    }
    if let Some(found) = call.options.iter().find(|found| found.option == "assign") {
        let value = found.value.as_deref().unwrap_or_default();
        if !value.contains('=') {
            return Err(call.misused(&format!("`{value}' argument to `-v' not in `var=value' form")));
        }
    }
    let mut operands = call.operands.as_slice();
    let mut sources = sources(call)?;
    if sources.is_empty() {
        let Some((program, rest)) = operands.split_first() else {
            call.misused("no program text");
            return Err(1);
        };
        sources.push(Source { name: "cmd. line".into(), text: program.as_bytes().to_vec() });
        operands = rest;
    }
    let fail = |lines: Vec<String>, code: u8| {
        for line in lines {
            call.complain(&line);
        }
        code
    };
    let program = syntax::parse(&sources).map_err(|error| fail(error.report(&sources), 1))?;
    for warning in &program.warnings {
        call.complain(warning);
    }
    let code = compile::compile(&program).map_err(|message| match message.strip_prefix("error: ") {
        Some(_) => fail(vec![format!("cmd. line:1: {message}")], 1),
        None => fail(vec![format!("cmd. line:1: fatal: {message}")], 2),
    })?;
    // The end of the process frees the tree faster than dropping it would.
    std::mem::forget(program);
    let mut machine = Machine::new(code, &call.name, call.has("characters-as-bytes") || locale::is_bytes());
    machine.in_place = call.has("include");
    let result = prepare(call, operands, &mut machine).and_then(|()| machine.execute());
    let finished = machine.finish();
    let ending = match (result, finished) {
        (Ok(code), Ok(())) => Ok(code),
        (Ok(_), Err(isopod_sys::Errno::Pipe)) => Err(2),
        (Ok(_), Err(errno)) => {
            call.complain(&format!("fatal: write failed: {}", text(errno)));
            Err(2)
        }
        (Err(message), _) => {
            if !message.is_empty() {
                call.complain(&format!("fatal: {message}"));
            }
            Err(2)
        }
    };
    // As for the tree: dropping large arrays takes longer than the end of the process.
    std::mem::forget(machine);
    ending
}

fn sources(call: &Call) -> Result<Vec<Source>, u8> {
    let mut sources = Vec::new();
    for found in &call.options {
        let value = found.value.as_deref().unwrap_or_default();
        match found.option {
            "source" => sources.push(Source { name: "cmd. line".into(), text: value.as_bytes().to_vec() }),
            "file" | "exec" => {
                let read = Input::open(value).and_then(|input| input.read_all());
                let mut text = read.map_err(|errno| {
                    call.complain(&format!("fatal: cannot open source file `{value}' for reading: {}", text(errno)));
                    2
                })?;
                // A first line `#!…` needs no treatment, since it is a comment.
                if text.last() != Some(&b'\n') {
                    text.push(b'\n');
                }
                sources.push(Source { name: value.to_owned(), text });
            }
            _ => {}
        }
    }
    Ok(sources)
}

/// Sets the variables that come from the options, the operands and the environment.
fn prepare(call: &Call, operands: &[String], machine: &mut Machine) -> Result<(), String> {
    if let Value::Array(environ) = &machine.globals[global::ENVIRON] {
        let mut environ = environ.borrow_mut();
        for (name, value) in std::env::vars_os() {
            *environ.element(Key::of_text(name.as_encoded_bytes())) = Value::input(value.as_encoded_bytes());
        }
    }
    if let Value::Array(argv) = &machine.globals[global::ARGV] {
        let mut argv = argv.borrow_mut();
        *argv.element(Key::Integer(0)) = Value::string(call.name.as_bytes());
        for (index, operand) in operands.iter().enumerate() {
            *argv.element(Key::Integer(index as i64 + 1)) = Value::input(operand.as_bytes());
        }
    }
    machine.globals[global::ARGC] = Value::Number(operands.len() as f64 + 1.0);
    if let Value::Array(info) = &machine.globals[global::PROCINFO] {
        let mut info = info.borrow_mut();
        for (key, text) in [("version", "5.2.1"), ("strftime", "%a %b %e %H:%M:%S %Z %Y"), ("FS", "FS")] {
            *info.element(Key::of_text(key.as_bytes())) = Value::string(text.as_bytes());
        }
        for (key, number) in [("pid", isopod_sys::process::id()), ("ppid", isopod_sys::process::parent())] {
            *info.element(Key::of_text(key.as_bytes())) = Value::Number(f64::from(number));
        }
    }
    for found in &call.options {
        let value = found.value.as_deref().unwrap_or_default();
        match found.option {
            "field-separator" => machine.set_global(global::FS, Value::string(&unescape_all(value.as_bytes())))?,
            "assign" => match assignment(value.as_bytes()) {
                Some((name, text)) => machine.assign_text(&name, &text)?,
                None => return Err(format!("`{value}' argument to `-v' not in `var=value' form")),
            },
            _ => {}
        }
    }
    Ok(())
}
