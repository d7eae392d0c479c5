//! The REST routes, one by one.

use serde_json::{Value, json};

use super::client::Server;

#[test]
fn every_route_answers_as_it_is_described() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/health").is(200).json()["status"], "ok");
    let at = server.sandbox();
    let id = at.rsplit('/').next().unwrap();

    sandboxes(&server, &at, id);
    commands(&server, &at);
    sessions(&server, &at);
    files(&server, &at);
    snapshots(&server, &at);
    super::deerflow::every_route(&server);

    assert!(server.get("/metrics").is(200).text().contains("isopod_sandboxes{state=\"leased\"}"));
    server.delete(&at).is(204);
    server.delete(&at).refuses(404, "not_found");
    server.get(&at).refuses(404, "not_found");
    described_routes_were_called(&server);
}

/// Asserts that each operation of the description was called. A name in braces stands for any.
fn described_routes_were_called(server: &Server) {
    let api = server.get("/openapi.json").is(200).json();
    let called = server.called.lock().unwrap();
    let mut count = 0;
    for (path, item) in api["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let fits = |(by, at): &(String, String)| {
                let (known, given) = (path.split('/'), at.split('/'));
                by.eq_ignore_ascii_case(method)
                    && known.clone().count() == given.clone().count()
                    && known.zip(given).all(|(known, given)| known.starts_with('{') || known == given)
            };
            assert!(called.iter().any(fits), "{method} {path} was not called");
            count += 1;
        }
    }
    assert!(count > 35, "{count}");
}

fn sandboxes(server: &Server, at: &str, id: &str) {
    let known = server.get(at).is(200).json();
    assert_eq!((&known["id"], &known["state"], &known["damage"]), (&json!(id), &json!("leased"), &Value::Null));

    let thread = json!({ "thread": "t-1", "user": "ann", "metadata": { "project": "x" } });
    let first = server.post("/v1/sandboxes", &thread).is(201).json();
    let again = server.post("/v1/sandboxes", &thread).is(200).json();
    assert_eq!((&first["id"], &first["metadata"]["project"]), (&again["id"], &json!("x")));
    server.post("/v1/sandboxes", &json!({ "user": "ann" })).refuses(400, "bad_request");

    let listed = server.get("/v1/sandboxes").is(200).json();
    let ids: Vec<&str> = listed["sandboxes"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&id) && ids.contains(&first["id"].as_str().unwrap()) && listed["cursor"].is_null());
    assert_eq!(server.get("/v1/sandboxes?cursor=ffffffff").is(200).json()["sandboxes"], json!([]));
    server.get("/v1/sandboxes?cursor=x").refuses(400, "bad_request");
    for nonsense in ["xyz", "00000000", "..%2f..%2fetc", "%00"] {
        server.get(&format!("/v1/sandboxes/{nonsense}")).refuses(404, "not_found");
    }

    // Memory lasts over a release, unless another process leases the sandbox.
    server.post(&format!("{at}/execute"), &json!({ "command": "echo kept > /tmp/x" })).is(200);
    server.post(&format!("{at}/release"), &json!({})).is(204);
    assert_eq!(server.get(at).json()["state"], "warm");
    server.post(&format!("{at}/release"), &json!({})).is(204);
    let kept = server.post(&format!("{at}/execute"), &json!({ "command": "cat /tmp/x" })).is(200).json();
    assert_eq!(kept["stdout"], "kept\n");
}

fn commands(server: &Server, at: &str) {
    let execute = |body: Value| server.post(&format!("{at}/execute"), &body);
    let answer = execute(json!({ "command": "echo out; echo err >&2; exit 3" })).is(200).json();
    let expected = json!({
        "exit_code": 3, "stdout": "out\n", "stderr": "err\n", "output": "out\nerr\n", "encoding": "utf-8",
        "truncated": false, "timed_out": false, "limits": [], "usage": answer["usage"],
    });
    assert_eq!(answer, expected);

    let all = json!({
        "command": "pwd; echo $X; cat", "cwd": "/tmp", "env": { "X": "y" }, "stdin": "aGk=", "stdin_encoding": "base64",
    });
    assert_eq!(execute(all).is(200).json()["stdout"], "/tmp\ny\nhi");
    let bytes = execute(json!({ "command": "printf 'a\\377'" })).is(200).json();
    assert_eq!((&bytes["encoding"], &bytes["stdout"]), (&json!("base64"), &json!("Yf8=")));
    let words = json!({ "command": ["printf", "%s|", "a  b", "it's", "$HOME", "*", ""] });
    assert_eq!(execute(words).is(200).json()["stdout"], "a  b|it's|$HOME|*||");
    execute(json!({ "command": [] })).is(422);
    let late = execute(json!({ "command": "sleep 9", "timeout_ms": 100 })).is(200).json();
    assert_eq!(
        (&late["exit_code"], &late["timed_out"], &late["limits"][0]["limit"]),
        (&json!(124), &json!(true), &json!("wall_clock"))
    );
    let cut = execute(json!({ "command": "seq 1000", "output_bytes": 20 })).is(200).json();
    assert_eq!((&cut["truncated"], &cut["exit_code"]), (&json!(true), &json!(0)));
    assert!(
        cut["stdout"].as_str().unwrap().starts_with("1\n2\n3\n") && cut["stdout"].as_str().unwrap().ends_with("1000\n")
    );

    let events = server.post(&format!("{at}/stream"), &json!({ "command": "echo a" })).is(200).text();
    assert!(events.starts_with("event: stdout\ndata: {\"text\":\"a\\n\"}\n\nevent: exit\n"), "{events}");

    execute(json!({ "command": " " })).refuses(422, "invalid_command");
    execute(json!({ "command": "x", "cwd": "/none" })).refuses(422, "invalid_command");
    execute(json!({ "command": "x", "env": { "a=b": "" } })).refuses(422, "invalid_command");
    execute(json!({ "command": "x", "timeout_ms": 0 })).refuses(422, "invalid_command");
    execute(json!({ "command": "x", "timeout_ms": 999_999_999 })).refuses(422, "limit");
    execute(json!({ "command": "x", "output_bytes": 1_u64 << 40 })).refuses(422, "limit");
    execute(json!({ "command": "x", "stdin": "?", "stdin_encoding": "base64" })).refuses(400, "bad_request");
    execute(json!({ "command": "x", "shell": true })).refuses(400, "bad_request");
    execute(json!({})).refuses(400, "bad_request");
    execute(json!(["echo a"])).refuses(400, "bad_request");
    server.post("/v1/sandboxes/00000000/execute", &json!({ "command": "x" })).refuses(404, "not_found");
}

fn sessions(server: &Server, at: &str) {
    let all = format!("{at}/sessions");
    let made = server.post(&all, &json!({ "id": "main" })).is(201).json();
    assert_eq!(made, json!({ "id": "main", "cwd": "/workspace", "open": true }));
    server.post(&all, &json!({ "id": "main" })).refuses(409, "exists");
    server.post(&all, &json!({ "id": "a/b" })).refuses(400, "bad_request");
    let one = format!("{all}/main");
    let run = |command: &str| server.post(&format!("{one}/execute"), &json!({ "command": command })).is(200).json();
    run("cd /tmp; x=1; f() { echo $x$1; }");
    assert_eq!(run("pwd; f 2")["stdout"], "/tmp\n12\n");
    assert_eq!(server.get(&one).is(200).json()["cwd"], "/tmp");
    assert_eq!(server.get(&all).is(200).json()["sessions"].as_array().unwrap().len(), 1);
    server.post(&format!("{one}/execute"), &json!({ "command": "x", "cwd": "/" })).refuses(422, "invalid_command");
    server.post(&format!("{one}/interrupt"), &json!({})).is(204);
    let events = server.post(&format!("{one}/stream"), &json!({ "command": "f 3" })).is(200).text();
    assert!(events.starts_with("event: stdout\ndata: {\"text\":\"13\\n\"}\n\nevent: exit\n"), "{events}");

    run("exit 4");
    assert_eq!(server.get(&one).is(200).json()["open"], false);
    server.post(&format!("{one}/execute"), &json!({ "command": "x" })).refuses(409, "session_ended");
    // A session that has ended makes room for another of the same name.
    server.post(&all, &json!({ "id": "main" })).is(201);
    server.delete(&one).is(204);
    server.delete(&one).refuses(404, "not_found");

    for _ in 0..16 {
        server.post(&all, &json!({})).is(201);
    }
    server.post(&all, &json!({})).refuses(429, "too_many");
    // A release ends all sessions.
    server.post(&format!("{at}/release"), &json!({})).is(204);
    assert_eq!(server.get(&all).is(200).json()["sessions"], json!([]));
}

fn files(server: &Server, at: &str) {
    let ask = |verb: &str, body: Value| server.post(&format!("{at}/files/{verb}"), &body);
    assert_eq!(ask("write", json!({ "path": "src/a.txt", "content": "one\ntwo\n" })).is(200).json()["bytes"], 8);
    ask("write", json!({ "path": "src/a.txt", "content": "x", "mode": "create" })).refuses(409, "exists");
    ask("write", json!({ "path": "src/a.txt", "content": "dGhyZWUK", "encoding": "base64", "mode": "append" })).is(200);
    ask("write", json!({ "path": "src", "content": "" })).refuses(422, "is_directory");
    ask("write", json!({ "path": "/bin/x", "content": "" })).refuses(403, "permission_denied");

    let page = ask("read", json!({ "path": "src/a.txt", "offset": 1, "limit": 1 })).is(200).json();
    let expected = json!({
        "content": "two", "encoding": "utf-8", "offset": 1, "lines": 1, "total_lines": 3, "next_offset": 2, "is_cut": false,
    });
    assert_eq!(page, expected);
    ask("read", json!({ "path": "none" })).refuses(404, "file_not_found");
    ask("read", json!({ "path": "src" })).refuses(422, "is_directory");
    ask("read", json!({ "path": "src/a.txt", "offset": 9 })).refuses(422, "past_end");

    let edit = |old: &str, all: bool| json!({ "path": "src/a.txt", "old": old, "new": "T", "replace_all": all });
    ask("edit", edit("t", false)).refuses(422, "text_ambiguous");
    ask("edit", edit("zzz", false)).refuses(422, "text_not_found");
    ask("edit", edit("", false)).refuses(422, "text_empty");
    assert_eq!(ask("edit", edit("t", true)).is(200).json(), json!({ "occurrences": 2, "bytes": 14 }));

    let entries = ask("list", json!({ "path": "src" })).is(200).json();
    assert_eq!(
        (&entries["entries"][0]["path"], &entries["entries"][0]["kind"]),
        (&json!("/workspace/src/a.txt"), &json!("file"))
    );
    ask("list", json!({ "path": "src/a.txt" })).refuses(422, "not_a_directory");
    let found = ask("glob", json!({ "pattern": "*.txt" })).is(200).json();
    assert_eq!((&found["matches"][0]["relative"], &found["cut"]), (&json!("src/a.txt"), &Value::Null));
    assert_eq!(ask("glob", json!({ "pattern": "*", "limit": 0 })).is(200).json()["cut"], "count");
    ask("glob", json!({ "pattern": "../*" })).refuses(422, "invalid_pattern");
    let lines = ask("grep", json!({ "pattern": "^T.o", "after": 1 })).is(200).json();
    assert_eq!(
        lines["matches"],
        json!([{ "path": "/workspace/src/a.txt", "line": 2, "text": "Two", "before": [], "after": ["Three"] }])
    );
    ask("grep", json!({ "pattern": "(" })).refuses(422, "invalid_pattern");
    assert_eq!(ask("grep", json!({ "pattern": "(", "literal": true })).is(200).json()["matches"], json!([]));

    // All byte values, under names that a query has to quote.
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let path = format!("{at}/files/content?path=bin%20%26%20%C3%A9%2Fx");
    assert_eq!(server.ask("PUT", &path, &[], &bytes).is(200).json()["bytes"], 100_000);
    let back = server.get(&path).is(200);
    assert_eq!(
        (back.body.as_slice(), back.header("content-type")),
        (bytes.as_slice(), Some("application/octet-stream"))
    );
    assert_eq!(std::fs::read(server.file(at, "bin & é/x")).unwrap(), bytes);
    let read = ask("read", json!({ "path": "bin & é/x" })).is(200).json();
    assert_eq!((&read["encoding"], &read["lines"]), (&json!("base64"), &Value::Null));
    server.get(&format!("{at}/files/content?path=none")).refuses(404, "file_not_found");
    server.get(&format!("{at}/files/content")).refuses(400, "bad_request");

    ask("delete", json!({ "path": "src" })).is(204);
    ask("delete", json!({ "path": "src" })).refuses(404, "file_not_found");
}

fn snapshots(server: &Server, at: &str) {
    let ask = |at: &str, path: &str| server.get(&format!("{at}/files/content?path={path}"));
    server.ask("PUT", &format!("{at}/files/content?path=f"), &[], b"before").is(200);
    let saved = server.get(&format!("{at}/snapshot")).is(200);
    assert_eq!(saved.header("content-type"), Some("application/zstd"));
    let fork = server.post(&format!("{at}/fork"), &json!({ "metadata": { "of": "f" } })).is(201).json();
    let fork = format!("/v1/sandboxes/{}", fork["id"].as_str().unwrap());
    server.ask("PUT", &format!("{at}/files/content?path=f"), &[], b"after").is(200);
    assert_eq!(ask(&fork, "f").is(200).body, b"before");
    let loaded = server.ask("POST", "/v1/sandboxes/load", &[], &saved.body).is(201).json();
    assert_eq!(ask(&format!("/v1/sandboxes/{}", loaded["id"].as_str().unwrap()), "f").is(200).body, b"before");
    assert_eq!(ask(at, "f").is(200).body, b"after");
    server.ask("POST", "/v1/sandboxes/load", &[], b"no snapshot").refuses(422, "invalid_snapshot");
    server.ask("POST", "/v1/sandboxes/load", &[], &saved.body[..saved.body.len() / 2]).refuses(422, "invalid_snapshot");
}

#[test]
fn sandboxes_are_there_after_a_restart_and_for_other_programs() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    server.ask("PUT", &format!("{at}/files/content?path=f"), &[], b"x").is(200);
    // While the server has leased it, no other program can.
    let id = at.rsplit('/').next().unwrap();
    let root = server.file(&at, "").ancestors().nth(2).unwrap().to_owned();
    let answer = crate::support::cli(&["sandbox", "--root", root.to_str().unwrap(), "exec", id, "--", "cat f"]);
    assert_eq!(answer.stderr, format!("isopod: sandbox {id} is in use\n"));
    server.post(&format!("{at}/release"), &json!({})).is(204);
    let answer = crate::support::cli(&["sandbox", "--root", root.to_str().unwrap(), "exec", id, "--", "cat f"]);
    assert_eq!((answer.stdout.as_str(), answer.code), ("x", Some(0)), "{}", answer.stderr);
}
