//! Gives each conversation a sandbox of its own, found again by the name of the conversation.
//!
//! ```sh
//! cargo run --example provider
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example stands for a program of the host")]

use isopod::backend::{Backend, SandboxBackend, WriteRequest};
use isopod::provider::{Config, Provider};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("isopod-provider-{}", std::process::id()));
    let provider = Provider::open(Config::new(&root))?;

    // A lease is exclusive: a second `acquire` of the same conversation fails until this one is released.
    let id = provider.acquire("conversation-1", Some("ann")).await?;
    let sandbox = provider.get(id)?;
    sandbox.write(WriteRequest::new("plan.md", "# Plan\n")).await?;
    provider.release(id).await?;

    // The files stay. Another process that opens the same root would find them, too.
    let again = provider.acquire("conversation-1", Some("ann")).await?;
    assert_eq!(again, id);
    let output = provider.get(again)?.execute("cat plan.md".into()).await?;
    print!("{}", String::from_utf8_lossy(&output.stdout));

    provider.delete(id).await?;
    std::fs::remove_dir_all(&root)?;
    Ok(())
}
