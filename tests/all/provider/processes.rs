//! Providers in two processes, and in one that is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command as HostCommand, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use isopod::backend::{Backend, SandboxBackend, WriteMode, WriteRequest};
use isopod::provider::{Metadata, Provider, ProviderError, SandboxState};

use super::{all, names, open, open_below, paused, run, says};

/// Environment variable of the second process: its task and its root.
const ROLE: &str = "ISOPOD_TEST_ROLE";
const ROOT: &str = "ISOPOD_TEST_ROOT";

/// Starts this test program again, for a task in another process.
fn second_process(role: &str, root: &Path) -> Child {
    HostCommand::new(std::env::current_exe().unwrap())
        .args(["provider::processes::in_the_second_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(ROOT, root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Does nothing, except in a second process.
#[test]
fn in_the_second_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let root = std::env::var(ROOT).unwrap();
    let provider = open(Path::new(&root));
    match role.as_str() {
        "hammer" => println!("\nleases {}", hammer(&provider)),
        "work" => run(work(&provider)),
        "children" => among_children(Path::new(&root)),
        other => panic!("{other}"),
    }
}

const THREADS: usize = 16;
const ROUNDS: usize = 40;
const SANDBOXES: usize = 24;

/// Acquires and releases from many threads, and checks that each lease is exclusive. Returns the number of leases.
fn hammer(provider: &Provider) -> usize {
    let leases = AtomicUsize::new(0);
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (leases, handle) = (&leases, tokio.handle());
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = format!("thread {}", (thread * 7 + round * 5) % SANDBOXES);
                    handle.block_on(alone(provider, &name));
                    leases.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    leases.into_inner()
}

/// Leases a sandbox as soon as it is free, and checks that the lease is exclusive.
async fn alone(provider: &Provider, name: &str) {
    let id = loop {
        match provider.acquire(name, None).await {
            Ok(id) => break id,
            Err(ProviderError::InUse(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    let lease = provider.get(id).unwrap();
    let holder = WriteRequest::new("holder", "me").mode(WriteMode::Create);
    lease.write(holder).await.expect("nobody else has the lease");
    lease.execute("echo x >> leases".into()).await.unwrap();
    lease.delete("holder").await.unwrap();
    provider.release(id).await.unwrap();
}

#[test]
fn a_thousand_leases_from_sixteen_threads_and_two_processes() {
    let root = tempfile::tempdir().unwrap();
    let provider = open(root.path());
    let second = second_process("hammer", root.path());
    let here = hammer(&provider);
    let there = second.wait_with_output().unwrap();
    let text = String::from_utf8(there.stdout).unwrap();
    assert!(there.status.success(), "{text}");
    let there: usize = text.lines().find_map(|line| line.strip_prefix("leases ")?.parse().ok()).unwrap();
    assert_eq!(here + there, 2 * THREADS * ROUNDS);
    run(async {
        // Only complete sandboxes are left.
        assert_eq!(provider.count().0, 0);
        assert!(provider.count().1 <= SANDBOXES);
        let infos = all(&provider).await;
        assert_eq!(infos.len(), SANDBOXES);
        assert!(infos.iter().all(|info| info.state != SandboxState::Leased && info.damage.is_none()));
        assert_eq!(names(root.path()).len(), SANDBOXES);
        // No lease was lost: each has left a line.
        let mut lines = 0;
        for info in infos {
            let lease = provider.get_or_create(Some(info.id)).await.unwrap();
            let content = lease.download(vec!["leases".into()]).await.remove(0).unwrap();
            lines += content.iter().filter(|byte| **byte == b'\n').count();
        }
        assert_eq!(lines, here + there);
        provider.shutdown().await;
    });
    assert_eq!(provider.count(), (0, 0));
    drop(provider);
    assert_eq!(open_below(root.path()), 0);
}

#[test]
fn a_root_can_be_opened_and_listed_while_others_make_and_remove() {
    let root = tempfile::tempdir().unwrap();
    let (busy, other) = (open(root.path()), open(root.path()));
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            run(async {
                for n in 0..60 {
                    let id = busy.acquire(&format!("thread {}", n % 3), None).await.unwrap();
                    let fork = if n % 6 == 0 { Some(busy.fork(id, Metadata::new()).await.unwrap()) } else { None };
                    busy.release(id).await.unwrap();
                    // A listing never disturbs a lease.
                    busy.acquire(&format!("thread {}", n % 3), None).await.unwrap();
                    assert!(busy.delete(id).await.unwrap());
                    if let Some(fork) = fork {
                        assert!(busy.delete(fork).await.unwrap());
                    }
                }
            });
            is_done.store(true, Ordering::Release);
        });
        run(async {
            while !is_done.load(Ordering::Acquire) {
                open(root.path());
                assert!(all(&other).await.iter().all(|info| info.damage.is_none()));
            }
        });
    });
    assert_eq!(names(root.path()), BTreeSet::new());
}

#[test]
fn attack_97_nobody_finds_what_another_left() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, _) = paused(root.path(), |config| config.max_count = 1);
        let leave = "echo secret | tee file /tmp/file ~/file > /dev/null; export SECRET=secret";
        let look = "cat file /tmp/file ~/file 2>/dev/null; grep -rs secret /tmp /home /workspace /etc; env | grep SECRET; true";
        let id = provider.acquire("thread", Some("one")).await.unwrap();
        says(&provider.get(id).unwrap(), leave).await;
        provider.release(id).await.unwrap();
        let other = provider.acquire("thread", Some("two")).await.unwrap();
        assert_eq!(says(&provider.get(other).unwrap(), look).await, "");
        provider.release(other).await.unwrap();
        // The same thread does not find them either, after its sandbox was deleted.
        provider.delete(id).await.unwrap();
        provider.acquire("thread", Some("one")).await.unwrap();
        assert_eq!(says(&provider.get(id).unwrap(), look).await, "");
    });
}

/// Leases while children are started all the time. Between its fork and its exec a child has all files of its parent
/// open.
fn among_children(root: &Path) {
    let providers = [open(root), open(root)];
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let leases = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // With a user id to set, even the same one, the child is started by fork instead of vfork, which takes
                // longer.
                let user = rustix::process::geteuid().as_raw();
                while !is_done.load(Ordering::Acquire) {
                    HostCommand::new("true").uid(user).status().unwrap();
                }
            });
        }
        let leases = run(async {
            for provider in providers.iter().cycle().take(300) {
                let id = provider.acquire("thread", None).await?;
                provider.release(id).await?;
            }
            Ok::<_, ProviderError>(())
        });
        is_done.store(true, Ordering::Release);
        leases
    });
    leases.unwrap();
}

#[test]
fn a_child_of_the_process_keeps_no_lease() {
    let root = tempfile::tempdir().unwrap();
    let done = second_process("children", root.path()).wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

/// Creates, changes, forks and deletes until the process is killed.
async fn work(provider: &Provider) {
    for n in 0.. {
        let words = Metadata::from([("round".to_owned(), "x".repeat(n % 5000))]);
        let id = provider.acquire_with(&format!("thread {}", n % 5), None, words.clone()).await.unwrap();
        let lease = provider.get(id).unwrap();
        says(&lease, "mkdir -p a/b/c; echo x | tee a/1 a/b/2 a/b/c/3 > /dev/null").await;
        provider.set_metadata(id, words).await.unwrap();
        println!("step");
        let fork = provider.fork(id, Metadata::new()).await.unwrap();
        provider.release(id).await.unwrap();
        println!("step");
        provider.delete(if n % 2 == 0 { id } else { fork }).await.unwrap();
        println!("step");
    }
}

#[test]
fn kill_9_at_any_moment_leaves_whole_sandboxes_and_no_lease() {
    let root = tempfile::tempdir().unwrap();
    for trial in 0..30 {
        let mut child = second_process("work", root.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..=trial % 7 {
            while lines.next().unwrap().unwrap() != "step" {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let provider = open(root.path());
        run(async {
            let infos = all(&provider).await;
            // Everything in the root is a complete and free sandbox.
            assert_eq!(names(root.path()), infos.iter().map(|info| info.id.to_string()).collect());
            for info in infos {
                assert_eq!((info.state, info.damage), (SandboxState::Stored, None));
                let lease = provider.get_or_create(Some(info.id)).await.unwrap();
                let words = info.metadata.get("round").map_or("", String::as_str);
                assert!(words.bytes().all(|byte| byte == b'x'));
                if info.thread.is_none() {
                    // A fork is a complete copy or does not exist.
                    assert_eq!(says(&lease, "cat a/1 a/b/2 a/b/c/3").await, "x\nx\nx\n");
                }
                provider.delete(info.id).await.unwrap();
            }
        });
        assert_eq!(names(root.path()), BTreeSet::new());
    }
}
