//! `isopod mcp --isolate process`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::workers;
use crate::mcp::Server;
use crate::support::{directory, isopod};
use crate::worker::{children, is_gone, kill};

/// Makes a call of a tool.
fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Waits until a file exists.
fn appears(file: &Path) {
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "{file:?} does not come");
        std::thread::yield_now();
    }
}

fn stdout(answer: &Value) -> &str {
    answer["structuredContent"]["stdout"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_crash_is_an_answer_and_the_next_call_gets_a_new_session() {
    let host = directory(&[]);
    let mut server = Server::ready(&["--isolate", "process", "--dir", host.path().to_str().unwrap()]);
    for (signal, number) in [(Signal::ABORT, 6), (Signal::KILL, 9)] {
        let answer = server.call("execute", &json!({ "command": "echo kept > file; x=1; echo $x; touch /tmp/lost" }));
        assert_eq!(stdout(&answer), "1\n");
        server.send(call(20, "execute", &json!({ "command": "touch up; sleep 1000" })).to_string().as_bytes());
        appears(&host.path().join("up"));
        let worker = workers(server.child.id())[0];
        kill(worker, signal);
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(20), &json!(-32603)), "{answer}");
        assert_eq!(answer["error"]["message"], format!("worker died: signal {number}"));
        // The client does not repeat its handshake, and sees no second answer to `initialize`.
        let answer = server.call("execute", &json!({ "command": "cat file; echo \"x=$x\"; ls /tmp; rm up" }));
        assert_eq!(stdout(&answer), "kept\nx=\n");
        assert_ne!(workers(server.child.id())[0], worker);
    }
}

#[test]
fn snapshots_forks_differences_and_commits_work_behind_the_wall() {
    let host = directory(&[("file", "old\n")]);
    let mut server = Server::ready(&[
        "--isolate",
        "process",
        "--overlay",
        host.path().to_str().unwrap(),
        "--commit",
        "--wall",
        "best-effort",
    ]);
    server.call("execute", &json!({ "command": "echo new > file" }));
    server.call("snapshot", &json!({ "name": "one" }));
    server.call("execute", &json!({ "command": "echo newer > file" }));
    server.call("fork", &json!({ "snapshot": "one" }));
    assert_eq!(stdout(&server.call("execute", &json!({ "command": "cat file" }))), "new\n");
    let difference = server.call("diff", &json!({}));
    assert!(difference.to_string().contains("+new"), "{difference}");
    assert_eq!(std::fs::read_to_string(host.path().join("file")).unwrap(), "old\n");
    let committed = server.call("commit", &json!({}));
    assert_ne!(committed["isError"], json!(true), "{committed}");
    assert_eq!(std::fs::read_to_string(host.path().join("file")).unwrap(), "new\n");
}

#[test]
fn a_worker_ends_with_its_client_and_with_its_server() {
    let mut server = Server::ready(&["--isolate", "process"]);
    let (spawner, worker) = (children(server.child.id())[0], workers(server.child.id())[0]);
    server.send(call(20, "execute", &json!({ "command": "while :; do :; done" })).to_string().as_bytes());
    drop(server);
    assert!(is_gone(worker) && is_gone(spawner));

    // A client that closes its input gets the answers to its earlier calls.
    let mut server = isopod(&["mcp", "--isolate", "process"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    drop(input);
    let mut said = String::new();
    server.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(
        (said.as_str(), server.wait().unwrap().code()),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", Some(0))
    );
}

/// A server over HTTP and its address.
struct Web {
    child: Child,
    address: String,
}

impl Web {
    fn start(more: &[&str]) -> Web {
        let mut command = isopod(&[&["mcp", "--http", "127.0.0.1:0", "--isolate", "process"], more].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("isopod: serving http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Web { child, address }
    }

    /// Sends a message. Returns the status, the session id, and the answer.
    fn post(&self, session: Option<&str>, message: &Value) -> (u16, Option<String>, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = message.to_string();
        let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{session}\r\n",
            self.address,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        let status = all.split(' ').nth(1).unwrap().parse().unwrap();
        let session = all.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
        let mut messages = all.lines().filter_map(|line| {
            serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap_or(line)).ok().filter(Value::is_object)
        });
        (status, session, messages.next_back().unwrap_or_default())
    }

    fn initialize(&self) -> String {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let (status, session, answer) =
            self.post(None, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!((status, &answer["result"]["serverInfo"]["name"]), (200, &json!("isopod")), "{answer}");
        let session = session.unwrap();
        self.post(Some(&session), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn execute(&self, session: &str, command: &str) -> Value {
        self.post(Some(session), &call(7, "execute", &json!({ "command": command }))).2
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_session_over_http_is_a_process_and_its_crash_is_no_one_else_s() {
    let host = directory(&[]);
    let server = Web::start(&["--dir", host.path().to_str().unwrap(), "--sessions", "2"]);
    let first = server.initialize();
    let worker = workers(server.child.id())[0];
    let second = server.initialize();
    assert_eq!(workers(server.child.id()).len(), 2);
    assert_eq!(server.post(None, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize" })).0, 503);
    server.execute(&first, "cd /tmp; x=1");
    assert_eq!(stdout(&server.execute(&first, "echo $PWD $x")["result"]), "/tmp 1\n");
    assert_eq!(stdout(&server.execute(&second, "echo $x")["result"]), "\n");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.execute(&first, "touch /workspace/up; sleep 1000"));
        let neighbour = scope.spawn(|| server.execute(&second, "while [ ! -e go ]; do sleep 0.01; done; echo done"));
        appears(&host.path().join("up"));
        kill(worker, Signal::ABORT);
        let answer = waiting.join().unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["message"]),
            (&json!(7), &json!("worker died: signal 6")),
            "{answer}"
        );
        std::fs::write(host.path().join("go"), "").unwrap();
        assert_eq!(stdout(&neighbour.join().unwrap()["result"]), "done\n");
    });
    // The client has to start a new session, as the protocol says, and there is room for it.
    assert_eq!(server.post(Some(&first), &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).0, 404);
    let third = server.initialize();
    assert_eq!(stdout(&server.execute(&third, "ls")["result"]), "go\nup\n");
}

#[test]
fn a_message_without_a_session_leaves_no_process() {
    let server = Web::start(&[]);
    let (status, session, _) = server.post(None, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert!(session.is_none() && status >= 400, "{status}");
    workers(server.child.id()).into_iter().for_each(|worker| assert!(is_gone(worker)));
    let session = server.initialize();
    let worker = workers(server.child.id())[0];
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert!(is_gone(worker));
}
