//! The command line.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::text;

use crate::engine::{self, Task};

/// The programs, sorted by name.
pub(crate) const PROGRAMS: &[&Program] = &[&named("js"), &named("node")];

/// The release of Node whose behaviour the library follows: scripts compare it.
pub(crate) const NODE_VERSION: &str = "v20.20.2";

const OPTIONS: &[Opt] = &[
    Opt::flag('e', "eval", "run SCRIPT").takes("SCRIPT"),
    Opt::flag('p', "print", "run SCRIPT and print its value").takes("SCRIPT"),
    Opt::flag('c', "check", "check the syntax of the file without running it"),
    Opt::flag('r', "require", "load MODULE before the program; can be given several times").takes("MODULE"),
    Opt::flag('v', "", "the version of Node whose behaviour this follows"),
    Opt::flag('h', "", "this text"),
    Opt::flag('i', "interactive", "(refused)"),
    Opt::long("input-type", "what SCRIPT is: commonjs or module").takes("TYPE"),
    Opt::long("no-warnings", "print no warnings"),
];

const fn named(name: &'static str) -> Program {
    Program {
        name,
        operands: &["[OPTION]... [FILE [ARGUMENT]...]", "-e SCRIPT [ARGUMENT]..."],
        about: "Run JavaScript: ES modules and CommonJS, with Node's modules for files, processes and text.\n\
                With no FILE, or when FILE is -, read the script from standard input. The engine is QuickJS-NG.",
        syntax: Syntax::Own,
        options: OPTIONS,
        failure: 9,
        run,
    }
}

fn run(call: &Call) -> u8 {
    match read(call) {
        Ok(task) => engine::run(task),
        Err(code) => code,
    }
}

/// The settings of the options.
#[derive(Default)]
struct Options {
    /// A script, and a flag for printing its value.
    script: Option<(String, bool)>,
    is_check: bool,
    is_module: bool,
    /// Modules to load first.
    required: Vec<String>,
    /// The options that scripts see in `process.execArgv`.
    seen: Vec<String>,
}

/// Reads the arguments. An error is the exit code, after its message has been printed.
fn read(call: &Call) -> Result<Task, u8> {
    let mut arguments = call.operands.as_slice();
    let options = read_options(call, &mut arguments)?;
    let mut arguments = arguments.to_vec();
    let mut task = Task { arguments: Vec::new(), required: options.required, options: options.seen, ..Task::default() };
    if let Some((source, is_printed)) = options.script {
        if options.is_check {
            return Err(call.failed("either --check or --eval can be used, not both"));
        }
        task.kind = if options.is_module {
            "module"
        } else if is_printed {
            "print"
        } else {
            "eval"
        };
        (task.name, task.source, task.arguments) = ("[eval]".to_owned(), source, arguments);
        return Ok(task);
    }
    if arguments.first().is_some_and(|first| first != "-") {
        task.kind = if options.is_check { "checkFile" } else { "file" };
        task.name = arguments.remove(0);
        task.arguments = arguments;
        return Ok(task);
    }
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        return Err(call.failed("there is no interactive mode here: use -e, a file or standard input"));
    }
    let bytes = Input::open("-").and_then(|input| input.read_all()).map_err(|errno| {
        call.complain(&format!("standard input: {}", text(errno)));
        1
    })?;
    task.kind = if options.is_check {
        "check"
    } else if options.is_module {
        "module"
    } else {
        "eval"
    };
    task.source = String::from_utf8_lossy(&bytes).into_owned();
    (task.name, task.arguments) = ("[stdin]".to_owned(), arguments);
    Ok(task)
}

fn read_options(call: &Call, arguments: &mut &[String]) -> Result<Options, u8> {
    let mut options = Options::default();
    while let Some((argument, rest)) = arguments.split_first() {
        if !argument.starts_with('-') || argument == "-" {
            break;
        }
        *arguments = rest;
        let (name, mut value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        let takes_value =
            matches!(name, "-e" | "--eval" | "-p" | "--print" | "-pe" | "-r" | "--require" | "--input-type");
        if takes_value && value.is_none() {
            let Some((next, rest)) = arguments.split_first() else {
                return Err(call.failed(&format!("{name} requires an argument")));
            };
            (value, *arguments) = (Some(next.clone()), rest);
        }
        options.seen.push(argument.clone());
        if takes_value && !argument.contains('=') {
            options.seen.extend(value.clone());
        }
        if !takes_value && value.is_some() {
            return Err(call.failed(&format!("bad option: {argument}")));
        }
        let value = value.unwrap_or_default();
        match name {
            "--" => {
                options.seen.pop();
                break;
            }
            "-v" | "--version" => return Err(call.print(&format!("{NODE_VERSION}\n"))),
            "-h" | "--help" => return Err(call.help()),
            "-c" | "--check" => options.is_check = true,
            "-e" | "--eval" => options.script = Some((value, false)),
            "-p" | "--print" | "-pe" => options.script = Some((value, true)),
            "-r" | "--require" => options.required.push(value),
            "--input-type" if value == "module" || value == "commonjs" => options.is_module = value == "module",
            "--input-type" => return Err(call.failed("--input-type must be \"module\" or \"commonjs\"")),
            // The library reads it from `process.execArgv`.
            "--no-warnings" => {}
            "-i" | "--interactive" => {
                return Err(call.failed("there is no interactive mode here: use -e, a file or standard input"));
            }
            _ => return Err(call.failed(&format!("bad option: {argument}"))),
        }
    }
    Ok(options)
}
