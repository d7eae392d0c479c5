//! A server of the Model Context Protocol: `isopod mcp`.
//!
//! Each client has a session: a sandbox, a live shell in it, and named snapshots. Over stdio there is one client; over
//! HTTP there are many. Every session is a fork of one sandbox, so directories of the host are opened once, before the
//! first client is served, and a new session costs microseconds.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use std::sync::Arc;
//! use isopod::mcp::{SessionTemplate, serve_stdio};
//! use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
//!
//! let sandbox = isopod::Sandbox::builder().build()?;
//! let (client, server) = duplex(1 << 16);
//! let (input, output) = split(server);
//! tokio::spawn(serve_stdio(Arc::new(SessionTemplate::new(&sandbox, false)), input, output));
//!
//! let mut client = BufReader::new(client);
//! client.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await?;
//! let mut answer = String::new();
//! client.read_line(&mut answer).await?;
//! assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Layout
//! - `tools` has the tools, a file for each group; docs/mcp.md lists them. `server` answers the protocol's requests
//!   with them, and `progress` notifies a client of a running command.
//! - `session` is a client's session and the template of all sessions.
//! - `stdio` serves one client by lines (`lines`). `endpoint` serves many over HTTP, whose sessions are in
//!   `session_table`.
//! - With `--isolate process` each session is in a worker process (`worker`). `stdio_relay` connects the client over
//!   stdio to its worker; `session_workers` has the workers of the sessions over HTTP.
//!
//! ```text
//!           one process                                    --isolate process
//!   stdio   stdio ───────► server ─► tools ─► session      stdio_relay ──────► worker: stdio ─► server ─► …
//!   HTTP    endpoint ─┬──► server ─► tools ─► session      endpoint ─► session_workers ─┬─► worker: endpoint ─► …
//!                     └──► (session_table)                                              └─► one worker a session
//! ```
//!
//! # Failures
//! | case | answer |
//! |---|---|
//! | a client cancels a call, closes its input or disconnects | the call's future is dropped, and its command ends |
//! | a tool cannot fulfil a call | a result with `isError` and one line, so that a model can correct its call |
//! | a command fails | a normal answer with its exit code |
//! | a message is too long, or no JSON, or no message of the protocol | a JSON-RPC error |
//! | a session was idle for too long | it ends; the next request with its id is refused with status 404 |
//! | a worker dies | pending calls get a JSON-RPC error; over stdio the next message starts a new worker |
//!
//! # Invariants
//! - **Cancel is drop.** A call is a future, and so is everything that it runs.
//! - Standard output carries frames only.
//! - The mutexes of this module are held for a look-up, never across an await, and no other lock is taken under them.
//!   `Workspace::shell` starts a shell under its lock, so that two calls start one.

mod endpoint;
mod lines;
mod progress;
mod server;
mod session;
mod session_table;
mod session_workers;
mod stdio;
mod stdio_relay;
mod tools;
mod worker;

pub use endpoint::{HttpSettings, serve_http, serve_http_isolated};
pub use session::SessionTemplate;
pub use stdio::serve_stdio;
pub use stdio_relay::serve_stdio_isolated;
pub use worker::{WorkerSettings, work};
