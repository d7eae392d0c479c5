//! `isopod serve` under load: 200 clients on loopback, each with its own connection, execute a command again and again.
//! Every answer must have status 200; the latencies are printed.
//!
//! `cargo bench --bench http` takes 30 s for each kind of request; `-- --quick` takes three.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs, reason = "a benchmark")]
#![allow(clippy::disallowed_methods, reason = "it starts the server")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Concurrent clients.
const CLIENTS: usize = 200;
/// Sandboxes that the clients share.
const SANDBOXES: usize = 50;

fn main() {
    let is_quick = std::env::args().any(|word| word == "--quick");
    let time = Duration::from_secs(if is_quick { 3 } else { 30 });
    let root = tempfile::tempdir().unwrap();
    let (mut server, address) = start(root.path().to_str().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let errors = runtime.block_on(async {
        let mut ids = Vec::new();
        for _ in 0..SANDBOXES {
            let mut client = Client::connect(&address).await;
            let (status, body) = client.ask("POST", "/v1/sandboxes", "{}").await;
            assert_eq!(status, 201, "{body}");
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            ids.push(body["id"].as_str().unwrap().to_owned());
        }
        let works = [
            ("execute `echo hi`", "/execute", r#"{"command":"echo hi"}"#),
            ("execute `echo hi | cat`", "/execute", r#"{"command":"echo hi | cat"}"#),
            ("write a file", "/files/write", r#"{"path":"f","content":"hello"}"#),
        ];
        let mut errors = 0;
        for (name, path, body) in works {
            errors += load(&address, &ids, name, path, body, time).await;
        }
        errors
    });
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(errors, 0, "answers that were not 200");
}

/// Starts a server on a free port.
fn start(root: &str) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isopod"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--root", root]).env_remove("ISOPOD_API_KEY");
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    (server, address)
}

/// Runs all clients for a while. Returns the number of answers that were errors.
async fn load(address: &str, ids: &[String], name: &str, path: &str, body: &'static str, time: Duration) -> usize {
    let end = Instant::now() + time;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let (address, path) = (address.to_owned(), format!("/v1/sandboxes/{}{path}", ids[n % ids.len()]));
            tokio::spawn(async move {
                let mut client = Client::connect(&address).await;
                let (mut times, mut errors) = (Vec::new(), 0);
                while Instant::now() < end {
                    let began = Instant::now();
                    let (status, _) = client.ask("POST", &path, body).await;
                    times.push(began.elapsed());
                    errors += usize::from(status != 200);
                }
                (times, errors)
            })
        })
        .collect();
    let (mut times, mut errors) = (Vec::new(), 0);
    for client in clients {
        let (some, wrong) = client.await.unwrap();
        times.extend(some);
        errors += wrong;
    }
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let rate = times.len() as f64 / time.as_secs_f64();
    println!("{name}, {CLIENTS} clients, {} s: {} requests, {errors} errors", time.as_secs(), times.len());
    println!("  {rate:.0}/s, median {:.2} ms, p99 {:.2} ms, longest {:.2} ms", at(0.5), at(0.99), at(1.0));
    errors
}

/// A connection that is kept open.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    async fn connect(address: &str) -> Client {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, buffer: Vec::new() }
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(text.as_bytes()).await.unwrap();
        let at = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await;
        };
        let head = String::from_utf8(self.buffer[..at].to_vec()).unwrap();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse::<usize>().unwrap();
        while self.buffer.len() < at + length {
            self.more().await;
        }
        let body = String::from_utf8(self.buffer[at..at + length].to_vec()).unwrap();
        self.buffer.drain(..at + length);
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body)
    }

    async fn more(&mut self) {
        assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the server closed the connection");
    }
}
