//! A server for one test, and a client that can also misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::isopod;

/// The key of servers that have one.
pub const KEY: &str = "0123456789abcdef-test";

/// A running server. Dropping it kills the process.
pub struct Server {
    pub address: String,
    process: Child,
    root: tempfile::TempDir,
    key: Option<&'static str>,
    /// The called routes: method and path.
    pub called: Mutex<Vec<(String, String)>>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Asserts the status.
    pub fn is(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{}{}", self.head, String::from_utf8_lossy(&self.body));
        self
    }

    /// Asserts a refusal of this status and kind, in the one shape.
    pub fn refuses(self, status: u16, kind: &str) -> Reply {
        let reply = self.is(status);
        assert_eq!(reply.json()["error"]["kind"], kind);
        assert!(reply.json()["error"]["message"].is_string() && reply.header("x-request-id").is_some());
        reply
    }
}

impl Server {
    /// Starts a server without a key.
    pub fn start(args: &[&str]) -> Server {
        Server::with(args, None)
    }

    /// Starts a server that requires `KEY`.
    pub fn locked(args: &[&str]) -> Server {
        Server::with(args, Some(KEY))
    }

    fn with(args: &[&str], key: Option<&'static str>) -> Server {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("root");
        let own = ["serve", "--listen", "127.0.0.1:0", "--log", "off", "--root", place.to_str().unwrap()];
        let mut command = isopod(&[&own[..], args].concat());
        command.env_remove("ISOPOD_API_KEY").stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(key) = key {
            command.env("ISOPOD_API_KEY", key);
        }
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| {
            let mut why = String::new();
            process.stderr.as_mut().unwrap().read_to_string(&mut why).unwrap();
            panic!("{why}")
        });
        Server { address: address.to_owned(), process, root, key, called: Mutex::default() }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Opens a connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends the head of a request, with the key if there is one, and these header lines.
    pub fn send(&self, stream: &mut TcpStream, method: &str, path: &str, lines: &[&str]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !lines.iter().any(|line| line.starts_with("Host:")) {
            head += "Host: localhost\r\n";
        }
        if let Some(key) = self.key.filter(|_| !lines.iter().any(|line| line.starts_with("Authorization:"))) {
            head += &format!("Authorization: Bearer {key}\r\n");
        }
        lines.iter().filter(|line| !line.ends_with(": ")).for_each(|line| head += &format!("{line}\r\n"));
        stream.write_all((head + "\r\n").as_bytes()).unwrap();
        self.called.lock().unwrap().push((method.to_owned(), path.split('?').next().unwrap().to_owned()));
    }

    /// Sends a request with these header lines and this body, and reads the answer.
    pub fn ask(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Reply {
        let mut stream = self.connect();
        let length = format!("Content-Length: {}", body.len());
        let length = if method == "GET" && body.is_empty() { Vec::new() } else { vec![length.as_str()] };
        self.send(&mut stream, method, path, &[lines, &length].concat());
        // The server may refuse and close before the whole body is sent.
        let _ = stream.write_all(body);
        read_reply(stream)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.ask("DELETE", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &["Content-Type: application/json"], body.to_string().as_bytes())
    }

    /// Creates a sandbox and returns the path of its routes.
    pub fn sandbox(&self) -> String {
        let made = self.post("/v1/sandboxes", &json!({})).is(201).json();
        format!("/v1/sandboxes/{}", made["id"].as_str().unwrap())
    }

    /// Returns the path of a sandbox's file on the host.
    pub fn file(&self, sandbox: &str, name: &str) -> PathBuf {
        let id = sandbox.rsplit('/').next().unwrap();
        self.root.path().join("root").join(id).join("files").join(name)
    }

    /// Sends the server a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits for the end of the server. Returns its exit code and its standard error.
    pub fn wait(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads a whole answer, with a length or in chunks.
pub fn read_reply(stream: TcpStream) -> Reply {
    let mut all = Vec::new();
    // A server that refused a body closes, and unread bytes may reset the connection. The bytes before that count.
    let _ = BufReader::new(stream).read_to_end(&mut all);
    let at = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no head in {all:?}"));
    let head = String::from_utf8(all[..at + 4].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut reply = Reply { status, head, body: all[at + 4..].to_vec() };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = unchunked(&reply.body);
    }
    reply
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let at = rest.windows(2).position(|two| two == b"\r\n").expect("a chunk that is cut off");
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[at + 2..at + 2 + size]);
        rest = &rest[at + 4 + size..];
    }
}
