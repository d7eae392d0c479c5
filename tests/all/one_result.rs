//! The result of a command has the same fields in every interface.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{cli, cli_answer, isopod};

const COMMAND: &str = "echo out; echo err >&2";

/// Returns the names of all fields; those of `usage` have the prefix `usage.`.
fn fields(json: &Value) -> BTreeSet<String> {
    let object = json.as_object().unwrap_or_else(|| panic!("{json}"));
    let mut names: BTreeSet<String> = object.keys().cloned().collect();
    names.extend(object["usage"].as_object().unwrap().keys().map(|name| format!("usage.{name}")));
    names
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the fields that every interface has to have.
fn expected() -> BTreeSet<String> {
    let names = "exit_code stdout stderr output encoding truncated timed_out limits usage usage.wall_ms usage.cpu_ms \
                 usage.peak_memory usage.processes usage.bytes_read usage.bytes_written usage.fuel";
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_command_line_answers_with_the_same_fields() {
    let run = parse(&cli(&["run", "--json", "--", COMMAND]).stdout);
    assert_eq!(fields(&run), expected());
    let isolated = parse(&cli(&["run", "--isolate", "process", "--json", "--", COMMAND]).stdout);
    assert_eq!(fields(&isolated), expected());
    assert!(isolated["usage"]["processes"].as_u64() == Some(1), "usage crosses the worker's wire: {isolated}");

    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), COMMAND).unwrap();
    let mut shell = isopod(&["shell", "--json"]);
    shell.stdin(input.reopen().unwrap());
    assert_eq!(fields(&parse(&cli_answer(shell).stdout)), expected());

    let root = tempfile::tempdir().unwrap();
    let root = root.path().join("root");
    let sandbox = |args: &[&str]| cli(&[&["sandbox", "--root", root.to_str().unwrap()], args].concat()).stdout;
    let id = sandbox(&["create"]);
    assert_eq!(fields(&parse(&sandbox(&["exec", id.trim(), "--json", "--", COMMAND]))), expected());
}

#[test]
fn a_limit_has_the_same_fields_in_every_way_to_execute() {
    for way in [&["run"][..], &["run", "--isolate", "process"]] {
        let json = parse(&cli(&[way, &["--json", "--timeout", "200ms", "--", "sleep 9"]].concat()).stdout);
        let limit = serde_json::json!({
            "limit": "wall_clock", "value": 200, "message": "limit exceeded: wall clock (200 ms)",
        });
        assert_eq!(json["limits"], Value::Array(vec![limit]), "{way:?}");
    }
}

#[cfg(feature = "http")]
#[test]
fn http_answers_with_the_same_fields() {
    let server = crate::http::client::Server::start(&[]);
    let at = server.sandbox();
    let body = serde_json::json!({ "command": COMMAND });
    assert_eq!(fields(&server.post(&format!("{at}/execute"), &body).is(200).json()), expected());
    let session = server.post(&format!("{at}/sessions"), &serde_json::json!({})).is(201).json();
    let session = format!("{at}/sessions/{}/execute", session["id"].as_str().unwrap());
    assert_eq!(fields(&server.post(&session, &body).is(200).json()), expected());
}

#[cfg(feature = "mcp")]
#[test]
fn mcp_answers_with_the_same_fields_and_the_state_of_the_shell() {
    let mut server = crate::mcp::Server::ready(&[]);
    let answer = server.call("execute", &serde_json::json!({ "command": COMMAND }));
    let mut all = expected();
    all.extend(["cwd", "shell"].map(str::to_owned));
    assert_eq!(fields(&answer["structuredContent"]), all, "{answer}");
}

/// Returns the members of a type in a source text: the lines `NAME: …` between its head and its end.
fn members(file: &str, head: &str, end: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let from = text.find(head).unwrap_or_else(|| panic!("{file}: no {head}")) + head.len();
    let body = &text[from..from + text[from..].find(end).unwrap()];
    let name = |line: &str| {
        let (name, _) = line.trim().split_once(": ")?;
        name.chars().all(|c| c.is_ascii_lowercase() || c == '_').then(|| name.to_owned())
    };
    body.lines().filter_map(name).collect()
}

fn with_usage(mut names: BTreeSet<String>, usage: &BTreeSet<String>) -> BTreeSet<String> {
    names.extend(usage.iter().map(|name| format!("usage.{name}")));
    names
}

#[test]
fn the_types_of_python_and_typescript_have_the_same_fields() {
    let file = "typescript/src/client.ts";
    let usage = members(file, "export interface Usage {", "\n}");
    assert_eq!(with_usage(members(file, "export interface Output {", "\n}"), &usage), expected());
    assert_eq!(members(file, "export interface LimitHit {", "\n}"), limit_fields());

    let file = "python/package/isopod/_isopod.pyi";
    let usage = members(file, "class Usage:", "\n@final");
    let mut output = with_usage(members(file, "class Output:", "    def "), &usage);
    // Python adds the raw bytes beside the texts, and `ok`.
    for name in ["stdout_bytes", "stderr_bytes", "output_bytes", "ok"] {
        assert!(output.remove(name), "{name}");
    }
    output.insert("encoding".to_owned());
    assert_eq!(output, expected());
    assert_eq!(members(file, "class LimitHit:", "\n@final"), limit_fields());
}

fn limit_fields() -> BTreeSet<String> {
    ["limit", "value", "message"].map(str::to_owned).into()
}
