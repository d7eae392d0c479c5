//! Messages to the MCP server, as a client sends them over standard input: every response is a message, and the next
//! request is answered.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use isopod::mcp::{SessionTemplate, serve_stdio};
use isopod::{Limits, Sandbox};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::runtime::Runtime;

use super::almost;

/// Valid messages.
pub const MESSAGES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"command":"echo hi","timeout_ms":1000}}}"#,
    br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"edit","arguments":{"path":"f","old":"a","new":"b"}}}"#,
    br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write","arguments":{"path":"f","content":"a\n"}}}"#,
    br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"a","path":"/"}}}"#,
    br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"snapshot","arguments":{"name":"one"}}}"#,
    br#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"fork","arguments":{"snapshot":"start"}}}"#,
    br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":null}}"#,
    br#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"none"}}"#,
];

const HANDSHAKE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const LAST: &[u8] = b"\n{\"jsonrpc\":\"2.0\",\"id\":\"the-last-one\",\"method\":\"ping\"}\n";

/// One server for all inputs. The session of a client is a fork.
static SERVER: LazyLock<(Runtime, Arc<SessionTemplate>)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut limits = Limits::default();
    (limits.wall, limits.wall_max) = (Duration::from_secs(1), Duration::from_secs(1));
    let sandbox = runtime.block_on(async { Sandbox::builder().limits(limits).build() }).expect("a sandbox");
    (runtime, Arc::new(SessionTemplate::new(&sandbox, false)))
});

/// Sends a message after the handshake, and a ping after it.
pub fn mcp(data: &[u8]) {
    let message = almost(MESSAGES, data);
    let (runtime, origin) = &*SERVER;
    runtime.block_on(async {
        let (client, server) = duplex(64 << 10);
        let (input, output) = split(server);
        let served = tokio::spawn(serve_stdio(Arc::clone(origin), input, output));
        let (from, mut to) = split(client);
        let talk = async {
            for part in [HANDSHAKE, &message, LAST] {
                to.write_all(part).await.expect("the server reads");
            }
            let mut lines = BufReader::new(from.take(64 << 20)).lines();
            loop {
                let line = lines.next_line().await.expect("text").expect("the server goes on");
                let rest = line.strip_prefix("{\"jsonrpc\":\"2.0\"").unwrap_or_else(|| panic!("{line:?}"));
                assert!(rest.ends_with('}'), "{line:?}");
                if line.contains("\"the-last-one\"") {
                    return;
                }
            }
        };
        let answered = tokio::time::timeout(Duration::from_secs(15), talk).await;
        assert!(answered.is_ok(), "no answer after {:?}", String::from_utf8_lossy(&message));
        drop(to);
        served.abort();
        let _ = served.await;
    });
}
