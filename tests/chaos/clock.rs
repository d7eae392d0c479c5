//! Clocks that jump. Timeouts use the monotonic clock; idle times and ages of stored sandboxes use the wall clock.
//! `tests/sources` lists the files that may read the wall clock.

use std::time::Duration;

use isopod::backend::{Backend, SandboxBackend, WriteRequest};
use isopod::provider::{Clock, Config, Provider};

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
const NOW: Duration = Duration::from_secs(1_800_000_000);

fn open(root: &std::path::Path, at: Duration) -> Provider {
    let mut config = Config::new(root);
    config.ttl = Some(3 * YEAR);
    Provider::builder(config).clock(Clock::paused(at)).open().unwrap()
}

#[test]
fn a_clock_that_is_set_back_or_on_loses_no_sandbox_before_its_time() {
    let root = tempfile::tempdir().unwrap();
    crate::run(async {
        let provider = open(root.path(), NOW);
        let id = provider.acquire("thread", None).await.unwrap();
        provider.get(id).unwrap().write(WriteRequest::new("file", "kept")).await.unwrap();
        provider.release(id).await.unwrap();
        drop(provider);
        // The clock starts at zero, jumps back, jumps ahead, and is right again.
        for at in [Duration::ZERO, NOW - YEAR, NOW + YEAR, NOW] {
            let provider = open(root.path(), at);
            provider.sweep().await.unwrap();
            assert_eq!(provider.acquire("thread", None).await.unwrap(), id);
            let lease = provider.get(id).unwrap();
            assert_eq!(lease.execute("cat file".into()).await.unwrap().stdout, b"kept");
            drop(lease);
            assert!(provider.list(None).await.unwrap().items.iter().all(|info| info.damage.is_none()));
            provider.release(id).await.unwrap();
            drop(provider);
        }
    });
}
