//! `--isolate process` of the servers: what goes wrong in one sandbox is the affair of one.
//!
//! `ISOPOD_ISOLATE=process cargo test --test all http` runs all tests of the HTTP server with it, too, and so does `mcp`.

mod mcp;
mod serve;

use crate::worker::children;

/// The workers of a server: it has started one process, which has started these.
fn workers(server: u32) -> Vec<u32> {
    let spawners = children(server);
    assert_eq!(spawners.len(), 1);
    children(spawners[0])
}
