//! `isopod mcp` over standard input and output, tested with frames written by hand.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mutant::Mutant;
#[cfg(feature = "wall")]
use crate::support::filters;
use crate::support::isopod;

/// A server with its input and its output.
pub struct Server {
    pub child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    pub fn start(options: &[&str]) -> Server {
        let mut command = isopod(&["mcp"]);
        let mut child = command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Server { child, input, output }
    }

    /// Starts a server and completes the handshake.
    pub fn ready(options: &[&str]) -> Server {
        let mut server = Server::start(options);
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = server.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!(answer["result"]["serverInfo"]["name"], "isopod", "{answer}");
        server.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server
    }

    pub fn send(&mut self, line: &[u8]) {
        self.input.write_all(line).unwrap();
        self.input.write_all(b"\n").unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub fn ask(&mut self, message: &Value) -> Value {
        self.send(message.to_string().as_bytes());
        self.receive()
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }));
        assert_eq!(answer["id"], 7, "{answer}");
        answer["result"].clone()
    }

    fn is_well(&mut self) {
        assert_eq!(self.call("execute", &json!({ "command": "echo ok" }))["structuredContent"]["stdout"], "ok\n");
    }

    /// Returns the peak memory of the server in bytes.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn frames_that_make_no_sense_get_an_error_and_the_server_goes_on() {
    let mut server = Server::ready(&[]);
    let deep = "[".repeat(100_000);
    let deep_value =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    for (frame, code, id) in [
        (&b"nonsense"[..], -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",", -32700, Value::Null),
        (b"\xff\xfe", -32700, Value::Null),
        (deep.as_bytes(), -32700, Value::Null),
        (deep_value.as_bytes(), -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        (b"{\"id\":5}", -32600, json!(5)),
        (b"{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"no/such\"}", -32601, json!(6)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"nonesuch\"}}",
            -32602,
            json!(8),
        ),
    ] {
        server.send(frame);
        let answer = server.receive();
        let shown = String::from_utf8_lossy(&frame[..frame.len().min(80)]).into_owned();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}: {answer}");
        assert!(!answer["error"]["message"].as_str().unwrap().contains('\n'), "{answer}");
    }
    // A frame that is no request gets no answer: the next answer belongs to the next request.
    for frame in [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/none"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        server.send(frame.as_bytes());
    }
    server.is_well();
}

#[test]
fn attack_26_a_frame_of_100_mb_is_refused_and_never_in_memory() {
    let mut server = Server::ready(&[]);
    server.is_well();
    let before = server.peak();
    let piece = vec![b'x'; 1 << 20];
    for end in ["", "\"}"] {
        server.input.write_all(br#"{"jsonrpc":"2.0","id":1,"method":""#).unwrap();
        (0..100).for_each(|_| server.input.write_all(&piece).unwrap());
        server.send(end.as_bytes());
        let answer = server.receive();
        assert_eq!(answer["error"]["message"], "a message of more than 9437184 bytes", "{answer}");
        server.is_well();
    }
    let grown = server.peak().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more for a frame that was refused");
}

#[test]
fn attack_26_a_frame_that_is_all_structure_takes_a_bounded_amount_of_memory() {
    let mut server = Server::ready(&[]);
    let before = server.peak();
    let items = "0,".repeat((9 << 20) / 2 - 100);
    server.send(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"no/such","params":{{"x":[{items}0]}}}}"#).as_bytes());
    assert_eq!(server.receive()["error"]["code"], -32601);
    let grown = server.peak().saturating_sub(before);
    assert!(grown < 1 << 30, "{grown} bytes");
    server.is_well();
}

#[test]
fn the_largest_frames_that_are_allowed_are_answered() {
    let mut server = Server::ready(&[]);
    let bytes = "A".repeat(8 << 20);
    let uploaded = server.call("upload", &json!({ "path": "bytes", "base64": bytes }));
    assert_eq!(uploaded["structuredContent"]["bytes"], 6 << 20);
    assert_eq!(server.call("download", &json!({ "path": "bytes" }))["structuredContent"]["base64"], bytes);
    let text = "x".repeat((9 << 20) - 1000);
    assert_eq!(
        server.call("write", &json!({ "path": "large", "content": text }))["structuredContent"]["bytes"],
        text.len()
    );
    let page = server.call("read", &json!({ "path": "large" }));
    assert_eq!(page["structuredContent"]["is_cut"], true);
    assert_eq!(page["structuredContent"]["content"].as_str().unwrap().len(), 100_000);
    let refused = server.call("download", &json!({ "path": "large" }));
    assert_eq!(refused["content"][0]["text"], format!("large: {} bytes, 6291456 are allowed", text.len()));
}

#[test]
fn what_comes_before_the_handshake_does_no_harm() {
    let mut server = Server::start(&[]);
    for frame in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    ] {
        server.send(frame.as_bytes());
    }
    assert_eq!(server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))["id"], 1);
    let answer = server.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(server.child.try_wait().unwrap().is_none());
}

#[test]
fn calls_at_a_time_are_bounded() {
    let mut server = Server::ready(&[]);
    for id in 100..200 {
        let params = json!({ "name": "execute", "arguments": { "command": "sleep 1000" } });
        server.send(
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string().as_bytes(),
        );
    }
    for _ in 0..36 {
        let answer = server.receive();
        assert_eq!(answer["result"]["content"][0]["text"], "64 calls are running: wait for one of them", "{answer}");
    }
}

#[test]
fn a_client_that_reads_nothing_cannot_keep_the_server_alive() {
    let mut server = Server::ready(&[]);
    for id in 0..200 {
        let params = json!({ "name": "execute", "arguments": { "command": "head -c 90000 /dev/zero | tr '\\0' x" } });
        server.send(
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string().as_bytes(),
        );
    }
    let Server { child, input, output } = &mut server;
    drop(std::mem::replace(input, dead_input()));
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(10), "it waits for a client that does not read");
        std::thread::yield_now();
    }
    let _ = output;
}

/// Returns an input that nothing reads.
fn dead_input() -> ChildStdin {
    isopod(&["programs"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap().stdin.unwrap()
}

#[test]
fn a_client_that_goes_takes_its_commands_along() {
    for command in ["sleep 1000", "while :; do :; done", "sleep 1000 & wait", "yes | cat > /dev/null"] {
        let mut server = Server::ready(&[]);
        let params = json!({ "name": "execute", "arguments": { "command": format!("touch began; {command}") } });
        server.send(
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string().as_bytes(),
        );
        while server.call("read", &json!({ "path": "began" }))["isError"] == true {
            std::thread::yield_now();
        }
        drop(std::mem::replace(&mut server.input, dead_input()));
        let began = Instant::now();
        let status = server.child.wait().unwrap();
        // The promise is one second; a busy machine gets more.
        assert!(began.elapsed() < Duration::from_secs(3), "{command}: {:?}", began.elapsed());
        assert!(status.success(), "{command}: {status}");
    }
}

#[cfg(feature = "wall")]
#[test]
fn the_server_stands_behind_a_wall_unless_it_is_told_otherwise() {
    let own = filters(std::process::id());
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("here"), "is a file").unwrap();
    let dir = directory.path().to_str().unwrap();
    for (options, is_walled) in [(&["--dir", dir][..], true), (&["--dir", dir, "--wall", "off"], false)] {
        let mut server = Server::ready(options);
        assert_eq!(filters(server.child.id()) > own, is_walled, "{options:?}");
        let answer = server.call("execute", &json!({ "command": "cat here; echo; echo more > there; cat there" }));
        assert_eq!(answer["structuredContent"]["stdout"], "is a file\nmore\n", "{answer}");
    }
}

#[test]
fn frames_that_are_almost_right_do_no_harm() {
    let messages: [&[u8]; 5] = [
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"command":"echo hi"}}}"#,
        br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"edit","arguments":{"path":"f","old":"a","new":"b"}}}"#,
        br#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":null}}"#,
        br#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"none"}}"#,
    ];
    let mut server = Server::ready(&["--timeout", "2s"]);
    let mut mutant = Mutant::new(26);
    let count = if std::env::var_os("ISOPOD_LONG").is_some() { 200_000 } else { 3000 };
    std::thread::scope(|scope| {
        let (input, output) = (&mut server.input, &mut server.output);
        // The answers have to be read, or the server stops reading requests.
        let reader = scope.spawn(move || {
            let mut line = String::new();
            while !line.contains("the-last-one") {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0, "the server has ended");
                assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line:?}");
            }
        });
        for _ in 0..count {
            let mut frame = mutant.disturb(&messages);
            frame.retain(|byte| *byte != b'\n');
            frame.push(b'\n');
            input.write_all(&frame).unwrap();
        }
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"the-last-one\",\"method\":\"ping\"}\n").unwrap();
        reader.join().unwrap();
    });
    println!("mcp frames: {count} executions, 0 findings");
}
