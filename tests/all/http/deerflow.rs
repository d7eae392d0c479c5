//! The routes of DeerFlow: the provisioner, and the AIO sandbox behind its address.

use serde_json::{Value, json};

use super::client::Server;

/// Calls each route as DeerFlow does.
pub fn every_route(server: &Server) {
    let wanted = json!({
        "sandbox_id": "ab12cd34", "thread_id": "t", "user_id": "default", "required_mount_contract_version": 0,
        "include_legacy_skills": true, "provision_lark_cli_runtime": false, "extra_mounts": [{ "host_path": "/x" }],
    });
    let made = server.post("/api/sandboxes", &wanted).is(200).json();
    let url = made["sandbox_url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://localhost/s/"), "{url}");
    assert_eq!((&made["sandbox_id"], &made["status"]), (&json!("ab12cd34"), &json!("Running")));
    assert_eq!(server.post("/api/sandboxes", &wanted).is(200).json(), made);
    assert_eq!(server.get("/api/sandboxes").is(200).json(), json!({ "sandboxes": [made], "count": 1 }));
    assert_eq!(server.get("/api/sandboxes/ab12cd34").is(200).json(), made);
    server.get("/api/sandboxes/none").refuses(404, "not_found");
    // The 404 tells DeerFlow that this provisioner has no mounts of its own.
    server.get("/api/capabilities").refuses(404, "not_found");
    let newer = json!({ "sandbox_id": "x", "required_mount_contract_version": 2 });
    server.post("/api/sandboxes", &newer).refuses(409, "conflict");
    let lark = json!({ "sandbox_id": "x", "provision_lark_cli_broker": true });
    server.post("/api/sandboxes", &lark).refuses(422, "unsupported");

    let base = url.strip_prefix("http://localhost").unwrap();
    context(server, base);
    shells(server, base);
    files(server, base);

    assert_eq!(
        server.delete("/api/sandboxes/ab12cd34").is(200).json(),
        json!({ "ok": true, "sandbox_id": "ab12cd34" })
    );
    server.delete("/api/sandboxes/ab12cd34").is(200);
    server.get("/api/sandboxes/ab12cd34").refuses(404, "not_found");
    let gone = server.get(&format!("{base}/v1/sandbox")).is(404).json();
    assert_eq!((&gone["success"], &gone["data"]), (&json!(false), &Value::Null));
}

fn context(server: &Server, base: &str) {
    let context = server.get(&format!("{base}/v1/sandbox")).is(200).json();
    assert_eq!((&context["home_dir"], &context["success"]), (&json!("/home/user"), &json!(true)));
    assert!(context["version"].is_string() && context["detail"]["system"]["os"].is_string());
}

fn shells(server: &Server, base: &str) {
    let exec = |body: Value| server.post(&format!("{base}/v1/shell/exec"), &body).is(200).json();
    let answer =
        exec(json!({ "command": "cd /mnt/user-data/workspace; x=1; echo hi; false", "no_change_timeout": 600 }));
    let data = json!({
        "session_id": "default", "command": "cd /mnt/user-data/workspace; x=1; echo hi; false", "status": "completed",
        "output": "hi\n", "exit_code": 1,
    });
    assert_eq!(answer, json!({ "success": true, "message": "ok", "data": data }));
    assert_eq!(exec(json!({ "command": "pwd; echo $x" }))["data"]["output"], "/mnt/user-data/workspace\n1\n");
    let silent = exec(json!({ "command": "echo a; sleep 60", "no_change_timeout": 1 }));
    assert_eq!((&silent["data"]["status"], &silent["data"]["output"]), (&json!("no_change_timeout"), &json!("a\n")));
    let late = exec(json!({ "command": "sleep 60", "hard_timeout": 0.1 }));
    assert_eq!((&late["data"]["status"], &late["data"]["exit_code"]), (&json!("hard_timeout"), &json!(124)));
    assert_eq!(exec(json!({ "command": "echo $x", "async_mode": false }))["data"]["output"], "1\n");
    let refused = server.post(&format!("{base}/v1/shell/exec"), &json!({ "command": "x", "async_mode": true })).is(422);
    assert_eq!(refused.json(), json!({ "success": false, "message": "\"async_mode\" is not supported", "data": null }));

    let id = "3f0c7b6e-0000-4000-8000-000000000000";
    let made = server.post(&format!("{base}/v1/shell/sessions/create"), &json!({ "id": id })).is(200).json();
    assert_eq!(made["data"], json!({ "session_id": id, "working_dir": "/workspace" }));
    assert_eq!(exec(json!({ "command": "echo \"<$x>\"", "id": id }))["data"]["output"], "<>\n");
    assert_eq!(server.delete(&format!("{base}/v1/shell/sessions/{id}")).is(200).json()["success"], true);
    server.delete(&format!("{base}/v1/shell/sessions/{id}")).is(404);

    let body = json!({ "command": "echo $K; echo e >&2; exit 2", "env": { "K": "v" }, "hard_timeout": 600.0 });
    let answer = server.post(&format!("{base}/v1/bash/exec"), &body).is(200).json()["data"].clone();
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("v\n"), &json!("e\n")));
    assert_eq!((&answer["exit_code"], &answer["status"]), (&json!(2), &json!("completed")));
}

fn files(server: &Server, base: &str) {
    let ask =
        |verb: &str, body: Value| server.post(&format!("{base}/v1/file/{verb}"), &body).is(200).json()["data"].clone();
    let path = "/mnt/user-data/outputs/a.txt";
    assert_eq!(
        ask("write", json!({ "file": path, "content": "one\nTwo\n" })),
        json!({ "file": path, "bytes_written": 8 })
    );
    ask("write", json!({ "file": path, "content": "dGhyZWUK", "encoding": "base64", "append": true }));
    assert_eq!(ask("read", json!({ "file": path })), json!({ "content": "one\nTwo\nthree\n", "file": path }));
    assert_eq!(ask("read", json!({ "file": path, "start_line": 1, "end_line": 2 }))["content"], "Two");
    let missing = server.post(&format!("{base}/v1/file/read"), &json!({ "file": "/none" })).is(404).json();
    assert_eq!(missing, json!({ "success": false, "message": "/none: No such file or directory", "data": null }));
    let root = "/mnt/user-data";
    assert_eq!(ask("find", json!({ "path": root, "glob": "**/*.txt" })), json!({ "path": root, "files": [path] }));
    let listed = ask("list", json!({ "path": root, "recursive": true, "show_hidden": false }));
    let entry = |name: &str, path: &str, is_directory: bool| json!({ "name": name, "path": path, "is_directory": is_directory });
    let expected = json!([
        entry("outputs", "/mnt/user-data/outputs", true),
        entry("a.txt", path, false),
        entry("uploads", "/mnt/user-data/uploads", true),
        entry("workspace", "/mnt/user-data/workspace", true),
    ]);
    assert_eq!(listed["files"], expected);
    let search = json!({
        "path": root, "pattern": "two", "case_insensitive": true, "fixed_strings": true, "max_results": 150,
        "max_file_size": "1M", "recursive": true,
    });
    let matches = json!([{ "file": path, "line_number": 2, "line_content": "Two" }]);
    assert_eq!(
        ask("grep", search.clone()),
        json!({ "path": root, "pattern": "two", "matches": matches, "truncated": false })
    );
    let mut small = search;
    small["max_file_size"] = json!("5");
    assert_eq!(ask("grep", small)["matches"], json!([]));
    let bytes = server.get(&format!("{base}/v1/file/download?path={path}")).is(200);
    assert_eq!(bytes.body, b"one\nTwo\nthree\n");
    server.get(&format!("{base}/v1/file/download?path=/none")).is(404);
}

#[test]
fn with_a_key_the_address_of_a_sandbox_stands_for_it() {
    let server = Server::locked(&["--public-url", "http://sandbox.example.com:8080/"]);
    let wanted = json!({ "sandbox_id": "s", "thread_id": "t", "user_id": "u" });
    let url = server.post("/api/sandboxes", &wanted).is(200).json()["sandbox_url"].as_str().unwrap().to_owned();
    let base = url.strip_prefix("http://sandbox.example.com:8080").unwrap();
    let keyless = |path: &str| server.ask("GET", path, &["Authorization: "], b"");
    keyless(&format!("{base}/v1/sandbox")).is(200);
    // The token is valid for this sandbox and for nothing else.
    let (id, token) = base.strip_prefix("/s/").unwrap().split_once('-').unwrap();
    let other = server.sandbox();
    let other = other.rsplit('/').next().unwrap();
    keyless(&format!("/s/{other}-{token}/v1/sandbox")).refuses(401, "unauthorized");
    keyless(&format!("/s/{id}-{}/v1/sandbox", &token[1..])).refuses(401, "unauthorized");
    keyless(&format!("/s/{id}/v1/sandbox")).refuses(401, "unauthorized");
    keyless(&format!("/v1/sandboxes/{id}-{token}")).refuses(401, "unauthorized");
    server.get(&format!("/s/{id}/v1/sandbox")).is(200);
}

#[test]
fn the_files_of_a_thread_are_there_after_its_sandbox_was_released() {
    let server = Server::start(&[]);
    let made = server.post("/api/sandboxes", &json!({ "sandbox_id": "s" })).is(200).json();
    let base = made["sandbox_url"].as_str().unwrap().strip_prefix("http://localhost").unwrap().to_owned();
    let write = json!({ "file": "/mnt/user-data/workspace/f", "content": "x" });
    server.post(&format!("{base}/v1/file/write"), &write).is(200);
    let id = base.strip_prefix("/s/").unwrap();
    let file = server.file(id, "workspace/f");
    assert_eq!(std::fs::read(file).unwrap(), b"x");
    // Another program leases it in between, so the server's memory is outdated and the link has to be made again.
    server.post(&format!("/v1/sandboxes/{id}/release"), &json!({})).is(204);
    let root = server.file(id, "").ancestors().nth(2).unwrap().to_owned();
    let other =
        crate::support::cli(&["sandbox", "--root", root.to_str().unwrap(), "exec", id, "--", "echo y >> workspace/f"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let read = server.post(&format!("{base}/v1/file/read"), &json!({ "file": "/mnt/user-data/workspace/f" })).is(200);
    assert_eq!(read.json()["data"]["content"], "xy\n");
}
