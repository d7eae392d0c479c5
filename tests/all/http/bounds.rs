//! Bounds of size, number and time, and the shutdown of the server.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::mutant::Mutant;

use super::client::{Server, read_reply};

const TEN_GIGABYTES: u64 = 10_000_000_000;

#[test]
fn a_body_that_is_too_large_is_413_before_it_is_there() {
    let server = Server::start(&["--max-body", "64K"]);
    let at = server.sandbox();
    let json = "Content-Type: application/json";
    let length = format!("Content-Length: {TEN_GIGABYTES}");
    let routes = [
        ("POST", format!("{at}/execute")),
        ("POST", format!("{at}/files/write")),
        ("PUT", format!("{at}/files/content?path=x")),
        ("POST", "/v1/sandboxes/load".to_owned()),
    ];
    for (method, path) in &routes {
        let mut stream = server.connect();
        server.send(&mut stream, method, path, &[json, &length]);
        stream.write_all(b"{").unwrap();
        read_reply(stream).refuses(413, "too_large");
    }
    // A chunked body declares no length: the server stops reading at the limit.
    let mut stream = server.connect();
    server.send(&mut stream, "POST", &routes[0].1, &[json, "Transfer-Encoding: chunked"]);
    let (chunk, mut sent) = (format!("1000\r\n{}\r\n", "x".repeat(0x1000)), 0_u64);
    while sent < TEN_GIGABYTES && stream.write_all(chunk.as_bytes()).is_ok() {
        sent += 0x1000;
    }
    assert!(sent < 16 << 20, "{sent} bytes were taken");
    // A server that closes while the client still sends may reset the connection, and the answer is lost. A client that
    // stops in time gets it.
    let mut stream = server.connect();
    server.send(&mut stream, "POST", &routes[0].1, &[json, "Transfer-Encoding: chunked"]);
    for _ in 0..17 {
        stream.write_all(chunk.as_bytes()).unwrap();
    }
    read_reply(stream).refuses(413, "too_large");
    // A body at the limit is accepted.
    let body = json!({ "path": "f", "content": "x".repeat(60_000) });
    server.post(&format!("{at}/files/write"), &body).is(200);
}

#[test]
fn one_request_more_than_there_may_be_is_503_and_told_when_to_come_back() {
    let server = Server::start(&["--max-requests", "1"]);
    let at = server.sandbox();
    let mut busy = server.connect();
    let body = json!({ "command": "echo > started; while [ ! -e go ]; do sleep 0.01; done; echo went" }).to_string();
    let length = format!("Content-Length: {}", body.len());
    server.send(&mut busy, "POST", &format!("{at}/execute"), &["Content-Type: application/json", &length]);
    busy.write_all(body.as_bytes()).unwrap();
    until(|| server.file(&at, "started").exists());
    let refused = server.get("/v1/sandboxes").refuses(503, "overloaded");
    assert_eq!(refused.header("retry-after"), Some("1"));
    server.get("/health").is(200);
    server.get("/metrics").is(200);
    std::fs::write(server.file(&at, "go"), "").unwrap();
    assert_eq!(read_reply(busy).is(200).json()["stdout"], "went\n");
    server.get("/v1/sandboxes").is(200);
}

#[test]
fn a_request_that_takes_too_long_is_504_and_its_command_has_gone() {
    let server = Server::start(&["--request-timeout", "3s"]);
    let at = server.sandbox();
    let began = Instant::now();
    server.post(&format!("{at}/execute"), &json!({ "command": BEAT })).refuses(504, "timed_out");
    assert!(began.elapsed() < Duration::from_secs(10));
    stops(&server, &at, Instant::now());
    // A stream has answered already: it ends without its last event.
    let events = server.post(&format!("{at}/stream"), &json!({ "command": "echo a; sleep 20" })).is(200).text();
    assert_eq!(events, "event: stdout\ndata: {\"text\":\"a\\n\"}\n\n");
}

/// Writes to a file of the host for as long as it runs.
const BEAT: &str = "while :; do echo >> beat; sleep 0.01; done";

/// Waits until the file stops growing, which must be soon after `since`.
fn stops(server: &Server, at: &str, since: Instant) {
    let size = || std::fs::metadata(server.file(at, "beat")).map_or(0, |stat| stat.len());
    let (mut last, mut changed) = (size(), since);
    // A running command writes a hundred times a second; the machine may be busy.
    while changed.elapsed() < Duration::from_millis(500) {
        std::thread::sleep(Duration::from_millis(5));
        if size() != last {
            (last, changed) = (size(), Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(20), "it does not stop");
    }
    let took = changed - since;
    println!("stopped after {took:?}");
    assert!(took < Duration::from_secs(1), "it took {took:?}");
}

fn until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_disconnect_stops_the_command_within_a_second() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    server.post(&format!("{at}/sessions"), &json!({ "id": "s" })).is(201);
    for route in ["execute", "stream", "sessions/s/execute", "sessions/s/stream"] {
        let _ = std::fs::remove_file(server.file(&at, "beat"));
        let body = json!({ "command": BEAT }).to_string();
        let length = format!("Content-Length: {}", body.len());
        let mut stream = server.connect();
        server.send(&mut stream, "POST", &format!("{at}/{route}"), &["Content-Type: application/json", &length]);
        stream.write_all(body.as_bytes()).unwrap();
        until(|| server.file(&at, "beat").exists());
        drop(stream);
        stops(&server, &at, Instant::now());
    }
    // The session has lost its command and goes on.
    let answer = server.post(&format!("{at}/sessions/s/execute"), &json!({ "command": "echo alive" })).is(200);
    assert_eq!(answer.json()["stdout"], "alive\n");
}

#[test]
fn a_client_that_does_not_read_does_not_stop_the_clock() {
    let server = Server::start(&["--timeout", "1s"]);
    let at = server.sandbox();
    let body = json!({ "command": "yes >&2 & while :; do echo >> beat; sleep 0.01; done" }).to_string();
    let length = format!("Content-Length: {}", body.len());
    let mut stream = server.connect();
    server.send(&mut stream, "POST", &format!("{at}/stream"), &["Content-Type: application/json", &length]);
    stream.write_all(body.as_bytes()).unwrap();
    until(|| server.file(&at, "beat").exists());
    // The command's one second begins here. The client does not read.
    std::thread::sleep(Duration::from_secs(1));
    stops(&server, &at, Instant::now());
    let mut some = [0; 100];
    stream.read_exact(&mut some).unwrap();
}

#[test]
fn at_the_end_requests_in_work_are_finished_and_no_new_ones_taken() {
    let server = Server::start(&[]);
    let at = server.sandbox();
    let body = json!({ "command": "echo > started; while [ ! -e go ]; do sleep 0.01; done; echo went" }).to_string();
    let length = format!("Content-Length: {}", body.len());
    let mut busy = server.connect();
    server.send(&mut busy, "POST", &format!("{at}/execute"), &["Content-Type: application/json", &length]);
    busy.write_all(body.as_bytes()).unwrap();
    until(|| server.file(&at, "started").exists());
    server.signal(Signal::TERM);
    until(|| std::net::TcpStream::connect(&server.address).is_err());
    std::fs::write(server.file(&at, "go"), "").unwrap();
    assert_eq!(read_reply(busy).is(200).json()["stdout"], "went\n");
    let (code, said) = server.wait();
    assert_eq!((code, said.as_str()), (Some(0), "isopod: there is no key: only this machine is answered\n"));
}

#[test]
fn after_the_grace_or_a_second_signal_requests_are_cut_off() {
    for (grace, signals) in [("200ms", 1), ("1h", 2)] {
        let server = Server::start(&["--grace", grace]);
        let at = server.sandbox();
        let body = json!({ "command": "echo > started; sleep 200" }).to_string();
        let length = format!("Content-Length: {}", body.len());
        let mut busy = server.connect();
        server.send(&mut busy, "POST", &format!("{at}/execute"), &["Content-Type: application/json", &length]);
        busy.write_all(body.as_bytes()).unwrap();
        until(|| server.file(&at, "started").exists());
        let began = Instant::now();
        for _ in 0..signals {
            server.signal(Signal::INT);
            until(|| std::net::TcpStream::connect(&server.address).is_err());
        }
        let (code, said) = server.wait();
        assert_eq!(code, Some(0));
        assert!(said.ends_with("isopod: 1 connections were cut off\n"), "{said}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn requests_that_are_almost_right_do_no_harm() {
    let server = Server::start(&["--timeout", "2s"]);
    let at = server.sandbox();
    let execute = r#"{"command": "echo hi", "timeout_ms": 1000}"#;
    let head = format!("POST {at}/execute HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    let whole = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{execute}", execute.len());
    let chunked = format!(
        "{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{execute}\r\n0\r\n\r\n",
        execute.len()
    );
    let get = format!("GET {at}/files/content?path=a%20b HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\n\r\n");
    let messages = [whole.as_bytes(), chunked.as_bytes(), get.as_bytes()];
    let count = if std::env::var_os("ISOPOD_LONG").is_some() { 50_000 } else { 1000 };
    let mut mutant = Mutant::new(26);
    for _ in 0..count {
        let message = mutant.disturb(&messages);
        let mut stream = server.connect();
        // The server may refuse and close before the whole message is sent.
        let _ = stream.write_all(&message);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(&message));
    }
    server.get("/health").is(200);
    println!("http requests: {count} executions, 0 findings");
}
