//! `sed`: the stream editor.
//!
//! # Layout
//! - `source`, `parse`, `parse_change`: the text of a script, and its parser
//! - `script`: commands and addresses
//! - `pattern`, `replacement`: the two halves of `s`, and escapes
//! - `input`, `output`: input lines and output files
//! - `run`, `effects`, `substitute`, `list`: the execution of a script

mod effects;
mod input;
mod list;
mod output;
mod parse;
mod parse_change;
mod pattern;
mod replacement;
mod run;
mod script;
mod source;
mod substitute;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

use source::Source;

/// `sed`.
pub(crate) const PROGRAM: Program = Program {
    name: "sed",
    operands: &["[OPTION]... {script-only-if-no-other-script} [input-file]..."],
    about: "If no -e, --expression, -f, or --file option is given, then the first non-option argument is taken as\n\
            the sed script to interpret. All remaining arguments are names of input files; if no input files are\n\
            specified, then the standard input is read.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('n', "quiet", "suppress automatic printing of pattern space"),
        Opt::long("silent", "the same as --quiet"),
        Opt::long("debug", ""),
        Opt::flag('e', "expression", "add the script to the commands to be executed").takes("script"),
        Opt::flag('f', "file", "add the contents of script-file to the commands to be executed").takes("script-file"),
        Opt::long("follow-symlinks", "follow symlinks when processing in place"),
        Opt::flag('i', "in-place", "edit files in place (makes backup if SUFFIX supplied)").may_take("SUFFIX"),
        Opt::flag('l', "line-length", "specify the desired line-wrap length for the `l' command").takes("N"),
        Opt::long("posix", "disable all GNU extensions"),
        Opt::flag('E', "regexp-extended", "use extended regular expressions in the script"),
        Opt::letter('r', "regexp-extended", "the same as -E"),
        Opt::flag('s', "separate", "consider files as separate rather than as a single, continuous long stream"),
        Opt::long("sandbox", "operate in sandbox mode (disable e/r/w commands)"),
        Opt::flag('u', "unbuffered", "load minimal amounts of data and flush the output buffers more often"),
        Opt::flag('z', "null-data", "separate lines by NUL characters"),
        Opt::long("zero-terminated", ""),
        Opt::letter('b', "binary", ""),
        Opt::long("binary", ""),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The values of the options.
struct Options {
    quiet: bool,
    extended: bool,
    /// Edits files in place. The value is the suffix of backup files, or empty.
    in_place: Option<String>,
    separate: bool,
    follow_links: bool,
    line_length: usize,
    posix: bool,
    sandbox: bool,
    unbuffered: bool,
    /// The line terminator.
    end: u8,
}

/// A fatal error: the message and the exit code.
struct Failure(String, u8);

fn run(call: &Call) -> Result<u8, u8> {
    let mut options = Options {
        quiet: false,
        extended: false,
        in_place: None,
        separate: false,
        follow_links: false,
        line_length: 70,
        posix: false,
        sandbox: false,
        unbuffered: false,
        end: b'\n',
    };
    let mut source = Source::default();
    let complain = |Failure(message, code): Failure| {
        call.complain(&message);
        code
    };
    for found in &call.options {
        let value = found.value.clone().unwrap_or_default();
        match found.option {
            "quiet" | "silent" => options.quiet = true,
            "debug" => {
                call.complain("the option --debug is not supported");
                return Err(1);
            }
            "expression" => source.add_expression(value.as_bytes()),
            "file" => source.add_file(&value).map_err(complain)?,
            "follow-symlinks" => options.follow_links = true,
            "in-place" => (options.in_place, options.separate) = (Some(value), true),
            "line-length" => {
                let Ok(length) = value.parse() else {
                    call.complain(&format!("invalid line length: {value}"));
                    return Err(1);
                };
                options.line_length = length;
            }
            "posix" => options.posix = true,
            "regexp-extended" => options.extended = true,
            "separate" => options.separate = true,
            "sandbox" => options.sandbox = true,
            "unbuffered" => options.unbuffered = true,
            "null-data" | "zero-terminated" => options.end = 0,
            // `--binary` has no effect, since bytes are never converted.
            _ => {}
        }
    }
    let mut files = call.operands.as_slice();
    if source.is_empty() {
        let [script, rest @ ..] = files else {
            call.complain("no script specified");
            return Err(call.hint());
        };
        source.add_expression(script.as_bytes());
        files = rest;
    }
    let script = parse::parse(source, &mut options).map_err(complain)?;
    run::Editor::new(call, &options, script, files).map_err(complain)?.run()
}
