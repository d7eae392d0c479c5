//! The documents: every command that they show is run, and every test that they cite exists.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::directory;

/// A command in a document, and the lines that are shown below it.
#[derive(Debug, Default)]
struct Shown {
    command: String,
    output: String,
}

#[test]
fn every_command_of_the_readme_prints_what_it_shows() {
    run_blocks("README.md", 5);
}

#[test]
fn every_command_of_the_manual_prints_what_it_shows() {
    run_blocks("docs/command-line.md", 10);
}

#[test]
fn the_readme_s_configuration_for_mcp_starts_a_server() {
    let text = read("README.md");
    let block = blocks(&text, "json").next().unwrap();
    let json: serde_json::Value = serde_json::from_str(&block).unwrap();
    let server = &json["mcpServers"]["isopod"];
    assert_eq!(server["command"], "isopod");
    let arguments = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let host = directory(&[("notes.txt", "one\n")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_isopod"))
        .args(arguments)
        .current_dir(host.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, format!("{hello}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut answer).unwrap();
    drop(stdin);
    assert!(answer.contains("serverInfo"), "{answer}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn every_link_of_the_documents_leads_to_a_file() {
    let documents = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "THREATS.md",
        "SECURITY.md",
        "docs/promises.md",
        "docs/command-line.md",
    ];
    for document in documents {
        let text = read(document);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let local = targets.filter(|target| !target.contains("://") && !target.starts_with(['#', '`']));
        for target in local.map(|target| target.split('#').next().unwrap()).filter(|target| !target.is_empty()) {
            let path = root().join(document).parent().unwrap().join(target);
            assert!(path.exists(), "{document} links to {target}, which is not there");
        }
    }
}

/// Runs the console blocks of a document in one directory, each block in a shell of its own.
fn run_blocks(document: &str, least: usize) {
    let host = directory(&[("notes.txt", "one\ntwo\n")]);
    let data = directory(&[]);
    let text = read(document);
    let mut count = 0;
    for block in blocks(&text, "console") {
        let shown = commands(&block);
        count += shown.len();
        // The output of each command is followed by a line that no command prints.
        let script: String = shown.iter().map(|shown| format!("{}\necho '=='\n", shown.command)).collect();
        let bin = Path::new(env!("CARGO_BIN_EXE_isopod")).parent().unwrap();
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1 </dev/null\n{script}")])
            .current_dir(host.path())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", data.path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let expected: String = shown.iter().map(|shown| format!("{}==\n", shown.output)).collect();
        assert_eq!(printed, expected, "{document}:\n{block}");
    }
    assert!(count >= least, "{document} has {count} commands");
}

/// Splits a console block: a line that begins with `$ ` is a command, the lines below it are its output.
fn commands(block: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(Shown { command: command.to_owned(), output: String::new() }),
            (None, Some(last)) => last.output += &format!("{line}\n"),
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    commands
}

/// The fenced blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> impl Iterator<Item = String> + use<'a> {
    let fence = format!("```{language}");
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        lines.find(|line| *line == fence)?;
        Some(lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
    })
}

fn read(document: &str) -> String {
    std::fs::read_to_string(root().join(document)).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
