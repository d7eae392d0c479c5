//! The sandbox as a server of the Model Context Protocol: what `isopod mcp` runs.
//!
//! A client has a `Seat`: a sandbox of its own, a live shell in it, and snapshots. Over stdio there is one,
//! for the one client; over HTTP there is one for each session. All seats are forks of one sandbox, so directories of the
//! host are opened once, before anyone is served, and a new session costs microseconds.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use std::sync::Arc;
//! use isopod::mcp::{Origin, serve_stdio};
//! use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
//!
//! let sandbox = isopod::Sandbox::builder().build()?;
//! let (client, server) = duplex(1 << 16);
//! let (input, output) = split(server);
//! tokio::spawn(serve_stdio(Arc::new(Origin::new(&sandbox, false)), input, output));
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
//! - `tools` has the tools, a file for those that belong together; docs/mcp.md has the table of them.
//! - `server` answers the protocol's requests with them; `progress` tells a client how far a command is.
//! - `stdio` reads and writes frames, `http` takes connections, `sessions` says who has which seat.
//! - `isolate` is a seat in a process of its own: `workers` are those of the sessions over HTTP, `understudy` has one for the
//!   client over stdio, and the next when that has died.
//! - `bounds` has every bound.
//!
//! # What holds
//! - **Cancel is drop.** A call is a future: a client that cancels it, closes its input, deletes its session or drops the
//!   connection that waits for the answer drops that future, and with it what runs.
//! - A tool that cannot do what it was asked to answers with `isError` and one line, so that a model can do better. A
//!   command that fails is an answer like any other. A protocol error is for a client that got the protocol wrong.
//! - Nothing but frames goes to standard output.

mod bounds;
mod http;
mod isolate;
mod lines;
mod progress;
mod seat;
mod server;
mod sessions;
mod stdio;
mod tools;
mod understudy;
mod workers;

pub use http::{HttpSettings, serve_http, serve_http_isolated};
pub use isolate::{Isolated, work};
pub use seat::Origin;
pub use stdio::serve_stdio;
pub use understudy::serve_stdio_isolated;
