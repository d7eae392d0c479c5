//! `yq`: jq's language on YAML, with the command line of mikefarah's yq.
//!
//! Operators that yq has and jq has not are defined here, or refused. Comments, anchors and styles are not part of
//! values and are lost.

mod dialect;

use std::collections::HashMap;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::files::{Kind, OpenFlags};
use isopod_sys::{Fd, text};

use crate::jq::machine::{Host, Machine, Stop};
use crate::jq::parser;
use crate::json::{self, Layout};
use crate::value::Value;
use crate::yaml;

/// `yq`.
pub(crate) const PROGRAM: Program = Program {
    name: "yq",
    operands: &["[eval|e] [options] [expression] [file]...", "eval-all|ea [options] [expression] [file]..."],
    about: "Read, change and write YAML (and JSON) with jq's expressions, like mikefarah's yq.\n\
            Comments, anchors, aliases and styles are not kept: they are lost in what is written, with -i too.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('e', "exit-status", "exit with 1 if there are no matches or the last is null or false"),
        Opt::flag('i', "inplace", "write the result back to the first file"),
        Opt::flag('I', "indent", "spaces of a level (2); 0 is one line of JSON").takes("N"),
        Opt::flag('n', "null-input", "don't read: the input is null"),
        Opt::flag('N', "no-doc", "no --- between documents"),
        Opt::flag('o', "output-format", "yaml, json or props").takes("FORMAT"),
        Opt::flag('p', "input-format", "yaml or json").takes("FORMAT"),
        Opt::flag('P', "prettyPrint", "block style (as always)"),
        Opt::flag('r', "unwrapScalar", "strings as they are; --unwrapScalar=false quotes them in JSON")
            .may_take("BOOL"),
        Opt::flag('j', "tojson", "output JSON"),
        Opt::flag('M', "no-colors", "no colours (there are none)"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The writer of results.
struct Writer {
    format: Format,
    indent: usize,
    unwraps: bool,
    separates: bool,
    /// True if the next result is the first one of its document.
    is_new: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Yaml,
    Json,
    Props,
}

/// An environment without further inputs.
struct NoInputs;

impl Host for NoInputs {
    fn next_input(&mut self) -> Result<Option<Value>, String> {
        Ok(None)
    }

    fn file_name(&self) -> Option<String> {
        None
    }

    fn line(&self) -> usize {
        0
    }

    fn complain(&mut self, text: &str) {
        // There is no place left to report that standard error is gone.
        let _ = isopod_sys::write_all(2, text.as_bytes());
    }
}

fn run(call: &Call) -> Result<u8, u8> {
    let fail = |message: String| {
        call.complain(&format!("Error: {message}"));
        1
    };
    let mut operands: Vec<&str> = call.operands.iter().map(String::as_str).collect();
    let is_all = matches!(operands.first(), Some(&("eval-all" | "ea")));
    if is_all || matches!(operands.first(), Some(&("eval" | "e"))) {
        operands.remove(0);
    }
    // A sole operand that names a file is one, and its whole contents are printed.
    let is_file = |path: &str| isopod_sys::files::stat(path, true).is_ok_and(|found| found.kind == Kind::File);
    let expression = match operands.as_slice() {
        [] => ".",
        [only] if !call.has("null-input") && is_file(only) => ".",
        [..] => operands.remove(0),
    };
    let mut writer = Writer::new(call, operands.first().copied()).map_err(fail)?;
    let reads_json = match value_of(call, "input-format") {
        Some("json" | "j") => true,
        None | Some("yaml" | "y" | "auto" | "a") => false,
        Some(other) => return Err(fail(format!("unsupported input format '{other}'"))),
    };
    let mut documents = Vec::new();
    let mut has_comments = false;
    if !call.has("null-input") {
        let standard_input = ["-"];
        for path in if operands.is_empty() { standard_input.as_slice() } else { &operands } {
            let bytes = Input::open(path)
                .and_then(|input| input.read_all())
                .map_err(|errno| fail(format!("open {path}: {}", text(errno).to_lowercase())))?;
            let source = String::from_utf8_lossy(&bytes);
            has_comments |= source.lines().any(|line| line.trim_start().starts_with('#') || line.contains(" #"));
            let parsed = if reads_json { json_values(&bytes) } else { yaml::parse(&source) };
            documents.extend(parsed.map_err(|message| fail(format!("bad file '{path}': {message}")))?);
        }
    } else {
        documents.push(Value::Null);
    }
    let mut variables = HashMap::new();
    let program = dialect::translate(expression, is_all).map_err(fail)?;
    if is_all {
        variables.insert("__documents".to_owned(), Value::array(documents));
        documents = vec![Value::Null];
    }
    let (program, main) = parser::parse(&program, &variables)
        .map_err(|(message, _)| fail(format!("bad expression '{expression}': {message}")))?;
    let mut out = Vec::new();
    let mut last = None;
    for document in documents {
        let mut machine = Machine::new(&program, main, document);
        writer.begin();
        loop {
            match machine.next(&mut NoInputs) {
                Ok(Some(value)) => {
                    last = Some(value.is_true());
                    writer.write(&value, &mut out);
                }
                Ok(None) => break,
                Err(Stop::Error(error)) => return Err(fail(crate::jq::formats::plain(&error))),
                Err(Stop::Halt(code, _)) => return Ok(code),
            }
        }
    }
    let code = u8::from(call.has("exit-status") && last != Some(true));
    if call.has("inplace") {
        let Some(path) = operands.first() else {
            return Err(fail(
                "write in place flag only applicable when giving an expression and at least one file".into(),
            ));
        };
        if has_comments {
            call.complain(&format!("warning: comments in {path} are not kept"));
        }
        let written = Fd::open(path, OpenFlags::WRITE | OpenFlags::TRUNCATE, 0)
            .and_then(|file| isopod_sys::write_all(file.raw(), &out));
        written.map_err(|errno| fail(format!("write {path}: {}", text(errno))))?;
        return Ok(code);
    }
    let mut stdout = Out::new();
    stdout.push(&out);
    Ok(call.finish(stdout, code))
}

/// Returns the value of an option; `-o=json` is `-o json`.
fn value_of<'c>(call: &'c Call, option: &str) -> Option<&'c str> {
    call.value(option).map(|value| value.strip_prefix('=').unwrap_or(value))
}

fn json_values(bytes: &[u8]) -> Result<Vec<Value>, String> {
    let mut reader = json::Reader::new(false);
    reader.feed(bytes.to_vec());
    reader.end();
    let mut values = Vec::new();
    while let Some(value) = reader.next()? {
        values.push(value);
    }
    Ok(values)
}

impl Writer {
    fn new(call: &Call, first: Option<&str>) -> Result<Writer, String> {
        let is_plain = !call.has("input-format") && !call.has("prettyPrint");
        let is_json = is_plain && first.is_some_and(|path| path.ends_with(".json"));
        let from_name = if is_json { Format::Json } else { Format::Yaml };
        let format = match value_of(call, "output-format") {
            Some("json" | "j") => Format::Json,
            Some("yaml" | "y") => Format::Yaml,
            Some("props" | "p") => Format::Props,
            None | Some("auto" | "a") if call.has("tojson") => Format::Json,
            None | Some("auto" | "a") => from_name,
            Some(other) => return Err(format!("unsupported output format '{other}'")),
        };
        let indent = match value_of(call, "indent").map(str::parse::<usize>) {
            None => 2,
            Some(Ok(indent @ 0..=16)) => indent,
            Some(_) => return Err("invalid indent".into()),
        };
        let given = call.options.iter().rev().find(|found| found.option == "unwrapScalar");
        // By default, strings have no quotes in YAML, and have them in JSON.
        let unwraps = match given {
            Some(found) => found.value.as_deref() != Some("false"),
            None => format != Format::Json,
        };
        Ok(Writer { format, indent, unwraps, separates: !call.has("no-doc"), is_new: false })
    }

    /// Starts the results of another document.
    fn begin(&mut self) {
        self.is_new = true;
    }

    fn write(&mut self, value: &Value, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_new) && self.format == Format::Yaml && self.separates && !out.is_empty() {
            out.extend_from_slice(b"---\n");
        }
        match (self.format, value) {
            (Format::Yaml | Format::Json, Value::Text(text)) if self.unwraps => {
                out.extend_from_slice(text.as_bytes());
                out.push(b'\n');
            }
            (Format::Yaml, value) => yaml::dump(value, self.indent.max(2), out),
            (Format::Json, value) => {
                let indent = (self.indent > 0).then(|| vec![b' '; self.indent]);
                json::dump(value, &Layout { indent, ..Layout::default() }, out);
                out.push(b'\n');
            }
            (Format::Props, value) => properties(value, out),
        }
    }
}

/// Writes leaves with their paths, a line each.
fn properties(value: &Value, out: &mut Vec<u8>) {
    json::events(value, &mut |event| {
        let Value::Array(event) = &event else { return };
        if let [Value::Array(path), leaf] = event.as_slice() {
            let names: Vec<String> = path.iter().map(crate::jq::formats::plain).collect();
            out.extend_from_slice(format!("{} = {}\n", names.join("."), crate::jq::formats::plain(leaf)).as_bytes());
        }
    });
}
