//! `--isolate process` of the servers: a failure in one sandbox concerns no other.
//!
//! `ISOPOD_ISOLATE=process cargo test --test all http` runs all tests of the HTTP server in this mode, and so does
//! `mcp`.

mod mcp;
mod serve;

use crate::worker::children;

/// Returns the workers of a server. The server has one child, the spawner, and its children are the workers.
fn workers(server: u32) -> Vec<u32> {
    let spawners = children(server);
    assert_eq!(spawners.len(), 1);
    children(spawners[0])
}
