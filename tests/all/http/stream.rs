//! Output as events, and their framing.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::client::Server;

/// Returns the events of an answer: name and data.
pub fn events(text: &str) -> Vec<(String, Value)> {
    assert!(text.ends_with("\n\n"), "{text:?}");
    let event = |block: &str| {
        let (name, data) = block.split_once('\n').unwrap();
        let name = name.strip_prefix("event: ").unwrap().to_owned();
        (name, serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap())
    };
    text.trim_end_matches('\n').split("\n\n").map(event).collect()
}

#[test]
fn events_have_names_data_in_one_line_and_an_end() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    let command =
        "printf 'a\\nevent: exit\\ndata: {}\\n\\n'; sleep 0.2; echo err >&2; sleep 0.2; printf '\\377'; exit 7";
    let reply = server.post(&format!("{at}/stream"), &json!({ "command": command })).is(200);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let all = events(&reply.text());
    let expected = [
        ("stdout", json!({ "text": "a\nevent: exit\ndata: {}\n\n" })),
        ("stderr", json!({ "text": "err\n" })),
        ("stdout", json!({ "base64": "/w==" })),
        ("exit", json!({ "exit_code": 7, "timed_out": false, "limits": [], "usage": all.last().unwrap().1["usage"] })),
    ];
    assert_eq!(all, expected.map(|(name, data)| (name.to_owned(), data)));

    let late = server.post(&format!("{at}/stream"), &json!({ "command": "sleep 9", "timeout_ms": 100 })).is(200).text();
    let late = events(&late);
    assert_eq!(late[0], ("stderr".to_owned(), json!({ "text": "isopod: limit exceeded: wall clock (100 ms)\n" })));
    assert_eq!((&late[1].1["exit_code"], &late[1].1["timed_out"]), (&json!(124), &json!(true)));
    // A command that cannot start is refused, without a stream.
    server.post(&format!("{at}/stream"), &json!({ "command": "" })).refuses(422, "invalid_command");
}

#[test]
fn no_character_is_cut_in_two_and_nothing_is_lost() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    // Characters of three bytes, in pieces of 65,536 bytes.
    let command = "i=0; while [ $i -lt 200 ]; do printf '✓%.0s' {1..1000}; i=$((i+1)); done";
    let text = server.post(&format!("{at}/stream"), &json!({ "command": command })).is(200).text();
    let all = events(&text);
    let whole: String = all[..all.len() - 1].iter().map(|(_, data)| data["text"].as_str().unwrap()).collect();
    assert_eq!(whole, "✓".repeat(200_000));
}

#[test]
fn an_event_comes_when_it_is_written() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    let body = json!({ "command": "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second" }).to_string();
    let mut stream = server.connect();
    let length = format!("Content-Length: {}", body.len());
    server.send(&mut stream, "POST", &format!("{at}/stream"), &["Content-Type: application/json", &length]);
    stream.write_all(body.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "data: {\"text\":\"first\\n\"}"));
    // The command waits for this file, so the first event came before its end.
    std::fs::write(server.file(&at, "go"), "").unwrap();
    assert!(lines.any(|line| line == "data: {\"text\":\"second\\n\"}"));
}
