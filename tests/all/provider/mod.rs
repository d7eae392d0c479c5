//! Providers: leases, states, and files that last.

mod processes;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use isopod::backend::{Backend, BackendError, ReadRequest, SandboxBackend, WriteRequest};
use isopod::provider::{
    Clock, Config, HostAccess, HostMount, Lease, Metadata, Provider, ProviderError, SandboxId, SandboxInfo,
    SandboxState,
};

const MINUTE: Duration = Duration::from_secs(60);

/// The time at which a paused clock starts.
const START: Duration = Duration::from_secs(1_800_000_000);

/// Runs an async test.
fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

fn open(root: &Path) -> Provider {
    Provider::open(Config::new(root)).unwrap()
}

/// Opens a provider with a paused clock.
fn paused(root: &Path, change: impl FnOnce(&mut Config)) -> (Provider, Clock) {
    let (mut config, clock) = (Config::new(root), Clock::paused(START));
    change(&mut config);
    (Provider::builder(config).clock(clock.clone()).open().unwrap(), clock)
}

async fn says(lease: &Lease, command: &str) -> String {
    String::from_utf8(lease.execute(command.into()).await.unwrap().output).unwrap()
}

async fn state(provider: &Provider, id: SandboxId) -> SandboxState {
    provider.info(id).await.unwrap().state
}

async fn all(provider: &Provider) -> Vec<SandboxInfo> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = provider.list(cursor).await.unwrap();
        items.extend(page.items);
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return items,
        }
    }
}

/// Returns the names in a root, without that of its lock.
fn names(root: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".lock").collect()
}

/// Counts the open files of this process below a directory.
fn open_below(root: &Path) -> usize {
    let root = root.canonicalize().unwrap();
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|target| target.starts_with(&root))).count()
}

fn is_over(error: &BackendError, id: SandboxId) -> bool {
    error.to_string() == format!("refused by provider: the lease of sandbox {id} has ended")
}

#[test]
fn a_thread_finds_its_sandbox_again() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", Some("user")).await.unwrap();
        let lease = provider.get(id).unwrap();
        assert_eq!(lease.id(), id.to_string());
        says(&lease, "echo kept > file; echo warm > /tmp/file").await;
        provider.release(id).await.unwrap();
        assert_eq!(provider.count(), (0, 1));
        // A released sandbox stays warm and keeps its memory.
        assert_eq!(provider.acquire("thread", Some("user")).await.unwrap(), id);
        assert_eq!(says(&provider.get(id).unwrap(), "cat file /tmp/file").await, "kept\nwarm\n");
        // Another thread or user gets another sandbox.
        for (thread, user) in [("thread", None), ("thread", Some("other")), ("other", Some("user"))] {
            let other = provider.acquire(thread, user).await.unwrap();
            assert_ne!(other, id);
            assert_eq!(says(&provider.get(other).unwrap(), "ls; ls /tmp").await, "");
        }
    });
}

#[test]
fn files_and_records_survive_a_restart() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let words = Metadata::from([("project".to_owned(), "a \"b\" \u{1f600}\n".to_owned())]);
        let (provider, clock) = paused(root.path(), |_| {});
        let id = provider.acquire_with("thread", Some("user"), words.clone()).await.unwrap();
        says(&provider.get(id).unwrap(), "mkdir -p a/b && echo deep > a/b/c && chmod 640 a/b/c && ln -s c a/b/l").await;
        clock.advance(MINUTE);
        provider.release(id).await.unwrap();
        let mut before = provider.info(id).await.unwrap();
        drop(provider);

        let (provider, _) = paused(root.path(), |_| {});
        let after = provider.info(id).await.unwrap();
        before.state = SandboxState::Stored;
        assert_eq!(after, before);
        assert_eq!((after.thread.as_deref(), after.user.as_deref()), (Some("thread"), Some("user")));
        assert_eq!(after.metadata, words);
        assert_eq!(u128::from(after.created), START.as_nanos());
        assert_eq!(u128::from(after.last_used), (START + MINUTE).as_nanos());
        assert_eq!(provider.acquire("thread", Some("user")).await.unwrap(), id);
        let lease = provider.get(id).unwrap();
        assert_eq!(says(&lease, "cat a/b/l; stat -c %a a/b/c; ls /tmp").await, "deep\n640\n");
        let more = Metadata::from([("more".to_owned(), "x".to_owned())]);
        provider.set_metadata(id, more.clone()).await.unwrap();
        assert_eq!(provider.info(id).await.unwrap().metadata, more);
        assert_eq!(names(root.path()), BTreeSet::from([id.to_string()]));
    });
}

#[test]
fn all_files_of_a_sandbox_count_also_earlier_ones() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let small = |config: &mut Config| config.limits.disk = 64 << 10;
        let (provider, _) = paused(root.path(), small);
        let id = provider.acquire("thread", None).await.unwrap();
        says(&provider.get(id).unwrap(), "head -c 40000 /dev/zero > a").await;
        drop(provider);
        let (provider, _) = paused(root.path(), small);
        let lease = provider.get_or_create(Some(id)).await.unwrap();
        let full = says(&lease, "head -c 40000 /dev/zero > b").await;
        assert!(full.contains("limit exceeded: disk (64 KiB)"), "{full}");
    });
}

#[test]
fn idle_sandboxes_leave_memory_and_expired_ones_the_disk() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, clock) = paused(root.path(), |config| {
            config.idle_timeout = Some(10 * MINUTE);
            config.ttl = Some(60 * MINUTE);
        });
        let id = provider.acquire("thread", None).await.unwrap();
        says(&provider.get(id).unwrap(), "echo kept > file; echo warm > /tmp/file").await;
        clock.advance(59 * MINUTE);
        provider.sweep().await.unwrap();
        // A lease is never idle.
        assert_eq!(state(&provider, id).await, SandboxState::Leased);
        provider.release(id).await.unwrap();

        clock.advance(10 * MINUTE - Duration::from_nanos(1));
        provider.sweep().await.unwrap();
        assert_eq!((provider.count(), state(&provider, id).await), ((0, 1), SandboxState::Warm));
        clock.advance(Duration::from_nanos(1));
        provider.sweep().await.unwrap();
        assert_eq!((provider.count(), state(&provider, id).await), ((0, 0), SandboxState::Stored));
        assert_eq!(open_below(&root.path().join(id.to_string())), 0);

        clock.advance(50 * MINUTE - Duration::from_nanos(1));
        provider.sweep().await.unwrap();
        assert_eq!(state(&provider, id).await, SandboxState::Stored);
        // A use restarts the time.
        provider.acquire("thread", None).await.unwrap();
        assert_eq!(says(&provider.get(id).unwrap(), "cat file; ls /tmp").await, "kept\n");
        provider.release(id).await.unwrap();
        clock.advance(59 * MINUTE);
        provider.sweep().await.unwrap();
        assert_eq!(state(&provider, id).await, SandboxState::Stored);
        clock.advance(MINUTE);
        provider.sweep().await.unwrap();
        assert!(matches!(provider.info(id).await, Err(ProviderError::NotFound(_))));
        assert_eq!(names(root.path()), BTreeSet::new());

        // An expired sandbox is not leased again, also before a sweep.
        provider.acquire("thread", None).await.unwrap();
        says(&provider.get(id).unwrap(), "echo old > file").await;
        provider.release(id).await.unwrap();
        clock.advance(60 * MINUTE);
        assert!(matches!(provider.get_or_create(Some(id)).await, Err(ProviderError::NotFound(_))));
        provider.acquire("thread", None).await.unwrap();
        assert_eq!(says(&provider.get(id).unwrap(), "ls").await, "");
    });
}

#[test]
fn opening_a_root_deletes_what_has_expired() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, _) = paused(root.path(), |_| {});
        let ids = [provider.acquire("a", None).await.unwrap(), provider.acquire("b", None).await.unwrap()];
        provider.release(ids[0]).await.unwrap();
        let clock = Clock::paused(START + 2 * MINUTE);
        let mut config = Config::new(root.path());
        config.ttl = Some(MINUTE);
        Provider::builder(config).clock(clock).open().unwrap();
        // The other one is leased.
        assert_eq!(names(root.path()), BTreeSet::from([ids[1].to_string()]));
    });
}

#[test]
fn the_least_recently_used_makes_room_and_leased_ones_stay() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, clock) = paused(root.path(), |config| config.max_count = 3);
        let mut ids = Vec::new();
        for thread in ["a", "b", "c"] {
            ids.push(provider.acquire(thread, None).await.unwrap());
        }
        let error = provider.acquire("d", None).await.unwrap_err();
        assert_eq!(error.to_string(), "all 3 sandboxes are leased: release one, or raise max_count");
        assert_eq!(names(root.path()).len(), 3);

        // Released in the order b, a, c, and then a is used again: b is the least recently used, then c.
        for id in [ids[1], ids[0], ids[2]] {
            clock.advance(MINUTE);
            provider.release(id).await.unwrap();
        }
        clock.advance(MINUTE);
        provider.acquire("a", None).await.unwrap();
        provider.release(ids[0]).await.unwrap();
        provider.acquire("d", None).await.unwrap();
        let mut states = Vec::new();
        for id in &ids {
            states.push(state(&provider, *id).await);
        }
        assert_eq!(states, [SandboxState::Warm, SandboxState::Stored, SandboxState::Warm]);
        provider.acquire("e", None).await.unwrap();
        assert_eq!(state(&provider, ids[2]).await, SandboxState::Stored);
        assert_eq!(provider.count(), (2, 1));
        // An evicted sandbox comes back with its files, when there is room.
        provider.acquire("b", None).await.unwrap();
        assert!(matches!(provider.acquire("c", None).await, Err(ProviderError::AllLeased(3))));
    });
}

#[test]
fn an_unused_lease_ends_after_its_timeout() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, clock) = paused(root.path(), |config| config.lease_timeout = Some(10 * MINUTE));
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        clock.advance(9 * MINUTE);
        says(&lease, "true").await;
        clock.advance(9 * MINUTE);
        // An output that is not read to its end is a use.
        let mut stream = lease.stream("echo ready; sleep 100".into()).await.unwrap();
        stream.next().await.unwrap();
        clock.advance(11 * MINUTE);
        provider.sweep().await.unwrap();
        assert_eq!(provider.count(), (1, 0));
        drop(stream);
        clock.advance(10 * MINUTE);
        provider.sweep().await.unwrap();
        assert_eq!(provider.count(), (0, 1));
        assert!(is_over(&lease.ls(".").await.unwrap_err(), id));
    });
}

#[test]
fn attack_76_releasing_ends_what_runs() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let mut unread = lease.stream("yes | cat".into()).await.unwrap();
        unread.next().await.unwrap();
        let mut read = lease.stream("echo ready; sleep 1000".into()).await.unwrap();
        assert_eq!(read.next().await.unwrap().bytes, b"ready\n"[..]);
        let reader = tokio::spawn(async move { (read.next().await, read.finish().await) });
        let runs = lease.clone();
        let (started, starts) = std::sync::mpsc::channel();
        let runner = tokio::spawn(async move {
            started.send(()).unwrap();
            runs.execute("echo x > begun; sleep 1000; echo x > never".into()).await
        });
        starts.recv().unwrap();
        while lease.read(ReadRequest::bytes("begun")).await.is_err() {
            tokio::task::yield_now().await;
        }
        provider.release(id).await.unwrap();
        assert!(is_over(&runner.await.unwrap().unwrap_err(), id));
        let (said, ending) = reader.await.unwrap();
        let said = String::from_utf8(said.unwrap().bytes.to_vec()).unwrap();
        assert_eq!(said, format!("isopod: refused by provider: the lease of sandbox {id} has ended\n"));
        assert_eq!(ending.exit_code, 137);
        assert_eq!(unread.finish().await.exit_code, 137);
        // It is warm: all processes were gone when the release was done.
        assert_eq!(provider.count(), (0, 1));
        provider.acquire("thread", None).await.unwrap();
        assert_eq!(says(&provider.get(id).unwrap(), "ls; ps -e | grep -c -e sleep -e yes").await, "begun\n0\n");
    });
}

#[test]
fn an_output_that_is_held_and_not_read_keeps_the_lock_and_not_the_release() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        let mut stream = provider.get(id).unwrap().stream("yes > file".into()).await.unwrap();
        // Polled once so that it runs, and then held without a poll: the release cannot take it away.
        let mut next = Box::pin(stream.next());
        assert!(futures::poll!(&mut next).is_pending());
        provider.release(id).await.unwrap();
        assert!(matches!(provider.acquire("thread", None).await, Err(ProviderError::InUse(_))));
        assert!(next.await.unwrap().bytes.ends_with(b"has ended\n"));
        while provider.acquire("thread", None).await.is_err() {
            tokio::task::yield_now().await;
        }
        says(&provider.get(id).unwrap(), "true").await;
    });
}

#[test]
fn an_output_whose_reader_gave_up_does_not_delay_a_release() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let session = lease.session().unwrap();
        let mut streams =
            [lease.stream("sleep 1000".into()).await.unwrap(), session.stream("sleep 1000".into()).await.unwrap()];
        for stream in &mut streams {
            // The future is dropped while it holds the output, and the output is not read again.
            assert!(tokio::time::timeout(Duration::from_millis(20), stream.next()).await.is_err());
        }
        let began = Instant::now();
        provider.release(id).await.unwrap();
        // A release that waits for its timeout takes two seconds and keeps nothing warm.
        assert!(began.elapsed() < Duration::from_secs(1));
        assert_eq!(provider.count(), (0, 1));
    });
}

#[test]
fn a_lease_can_be_waited_for_with_a_timeout() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let (provider, other) = (open(root.path()), open(root.path()));
        let id = provider.acquire("thread", None).await.unwrap();
        assert_eq!(provider.lease_within(id, MINUTE).await.unwrap().sandbox_id(), id);
        // A release under way here.
        let _stream = provider.get(id).unwrap().stream("sleep 1000".into()).await.unwrap();
        let (released, leased) = tokio::join!(provider.release(id), provider.lease_within(id, MINUTE));
        assert!(released.is_ok() && leased.is_ok());
        // A lease of another process, which ends too late or in time.
        let waited = other.lease_within(id, Duration::from_millis(50)).await;
        assert!(matches!(waited, Err(ProviderError::InUse(_))));
        let release = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            provider.release(id).await
        };
        let (released, leased) = tokio::join!(release, other.lease_within(id, MINUTE));
        assert!(released.is_ok() && leased.is_ok());
        let missing = "00000000".parse().unwrap();
        assert!(matches!(other.lease_within(missing, MINUTE).await, Err(ProviderError::NotFound(_))));
    });
}

#[test]
fn a_lease_of_many_days_does_not_expire_with_its_process() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let short = |config: &mut Config| config.ttl = Some(60 * MINUTE);
        let (provider, clock) = paused(root.path(), short);
        let id = provider.acquire("thread", None).await.unwrap();
        for _ in 0..10 {
            clock.advance(50 * MINUTE);
            says(&provider.get(id).unwrap(), "true").await;
            provider.sweep().await.unwrap();
        }
        // As if the process had been killed: nothing is released.
        let mut config = Config::new(root.path());
        short(&mut config);
        drop(provider);
        let later = Provider::builder(config).clock(clock).open().unwrap();
        assert_eq!(state(&later, id).await, SandboxState::Stored);
    });
}

#[test]
fn attack_77_double_acquire_and_release_and_use_after_the_end_are_typed_errors() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let other = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let stay = |provider: Provider| async move { says(&provider.get(id).unwrap(), "cat file").await };
        says(&lease, "echo kept > file").await;
        // Acquired twice: here, and by another provider.
        assert!(matches!(provider.acquire("thread", None).await, Err(ProviderError::InUse(of)) if of == id));
        assert!(matches!(other.acquire("thread", None).await, Err(ProviderError::InUse(of)) if of == id));
        assert!(matches!(other.get_or_create(Some(id)).await, Err(ProviderError::InUse(of)) if of == id));
        // Released, got, deleted and changed by a provider that has no lease.
        assert!(matches!(other.release(id).await, Err(ProviderError::NotLeased(of)) if of == id));
        assert!(matches!(other.get(id), Err(ProviderError::NotLeased(of)) if of == id));
        assert!(matches!(other.delete(id).await, Err(ProviderError::InUse(of)) if of == id));
        assert!(matches!(other.set_metadata(id, Metadata::new()).await, Err(ProviderError::NotLeased(_))));
        assert_eq!(stay(provider.clone()).await, "kept\n");

        // Released twice, and used after that.
        provider.release(id).await.unwrap();
        assert!(matches!(provider.release(id).await, Err(ProviderError::NotLeased(of)) if of == id));
        assert!(matches!(provider.get(id), Err(ProviderError::NotLeased(of)) if of == id));
        assert!(is_over(&lease.execute("echo bad > file".into()).await.unwrap_err(), id));
        assert!(is_over(&lease.write(WriteRequest::new("file", "bad")).await.unwrap_err(), id));
        assert!(is_over(&lease.stream("true".into()).await.err().unwrap(), id));
        assert!(is_over(lease.download(vec!["file".into()]).await[0].as_ref().unwrap_err(), id));

        // The next lease is a new one: the old handle stays ended.
        other.acquire("thread", None).await.unwrap();
        assert!(is_over(&lease.ls(".").await.unwrap_err(), id));
        assert_eq!(stay(other.clone()).await, "kept\n");
        says(&other.get(id).unwrap(), "echo changed > file").await;
        other.release(id).await.unwrap();
        // The memory of the first provider is outdated, and it notices.
        provider.acquire("thread", None).await.unwrap();
        assert_eq!(stay(provider.clone()).await, "changed\n");

        // Deleted while leased here: the lease ends. Another deletion is no error.
        let lease = provider.get(id).unwrap();
        assert!(provider.delete(id).await.unwrap());
        assert!(!provider.delete(id).await.unwrap());
        assert!(!other.delete(id).await.unwrap());
        assert!(is_over(&lease.ls(".").await.unwrap_err(), id));
        assert!(matches!(provider.release(id).await, Err(ProviderError::NotLeased(_))));
        assert!(matches!(provider.get_or_create(Some(id)).await, Err(ProviderError::NotFound(of)) if of == id));
        assert_eq!(names(root.path()), BTreeSet::new());

        // After the shutdown everything is refused, and the leased sandboxes are free.
        provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        provider.shutdown().await;
        assert!(is_over(&lease.ls(".").await.unwrap_err(), id));
        assert!(matches!(provider.acquire("thread", None).await, Err(ProviderError::ShutDown)));
        assert!(matches!(provider.release(id).await, Err(ProviderError::ShutDown)));
        assert!(matches!(provider.get(id), Err(ProviderError::ShutDown)));
        other.acquire("thread", None).await.unwrap();
    });
}

#[test]
fn a_caller_that_goes_away_while_acquiring_has_no_lease() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        for n in 0..200 {
            let acquiring = provider.acquire("thread", None);
            match tokio::time::timeout(Duration::from_micros(n * 5), acquiring).await {
                Ok(Ok(id)) => provider.release(id).await.unwrap(),
                // The last attempt may still be under way, without a caller.
                Ok(Err(ProviderError::InUse(_))) | Err(_) => {}
                Ok(Err(error)) => panic!("{error}"),
            }
        }
        // Pending acquires come to an end, and leave no lease behind.
        while provider.count().0 > 0 {
            tokio::task::yield_now().await;
        }
        provider.acquire("thread", None).await.unwrap();
    });
}

#[test]
fn two_threads_with_the_same_digits_are_told_apart() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", Some("victim")).await.unwrap();
        provider.release(id).await.unwrap();
        drop(provider);
        // A real collision takes four billion hashes, which an attacker can compute. The test renames a directory
        // instead.
        let other = open(root.path());
        let second = other.acquire("thread", Some("attacker")).await.unwrap();
        other.delete(second).await.unwrap();
        std::fs::rename(root.path().join(id.to_string()), root.path().join(second.to_string())).unwrap();
        let error = other.acquire("thread", Some("attacker")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("sandbox {second} belongs to another thread"));
    });
}

#[test]
fn sandboxes_are_listed_page_by_page() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        assert_eq!(all(&provider).await, []);
        let mut ids = BTreeSet::new();
        for n in 0..101 {
            let id = provider.acquire(&format!("thread {n}"), None).await.unwrap();
            provider.release(id).await.unwrap();
            ids.insert(id);
        }
        let first = provider.list(None).await.unwrap();
        assert_eq!((first.items.len(), first.cursor), (100, Some(first.items[99].id)));
        let listed: Vec<SandboxId> = all(&provider).await.iter().map(|info| info.id).collect();
        assert_eq!(listed, ids.iter().copied().collect::<Vec<_>>());
        // The cursor may be the id of a sandbox that was deleted.
        provider.delete(first.items[99].id).await.unwrap();
        assert_eq!(provider.list(first.cursor).await.unwrap().items.len(), 1);
        // A listing in another provider shows the leases and disturbs none.
        let other = open(root.path());
        provider.acquire("thread 0", None).await.unwrap();
        let leased = all(&other).await.iter().filter(|info| info.state == SandboxState::Leased).count();
        assert_eq!(leased, 1);
    });
}

#[test]
fn a_damaged_sandbox_is_reported_and_can_be_deleted() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        type Damage = fn(&Path);
        let damages: [(&str, Damage); 4] = [
            ("record: expected ident", |home| std::fs::write(home.join("record"), "nonsense").unwrap()),
            ("record: No such file", |home| std::fs::remove_file(home.join("record")).unwrap()),
            ("lease: No such file", |home| std::fs::remove_file(home.join("lease")).unwrap()),
            ("files: No such file", |home| std::fs::remove_dir(home.join("files")).unwrap()),
        ];
        for (reason, damage) in damages {
            let id = provider.acquire("thread", None).await.unwrap();
            provider.release(id).await.unwrap();
            let provider = open(root.path());
            damage(&root.path().join(id.to_string()));
            let error = provider.acquire("thread", None).await.unwrap_err().to_string();
            assert!(error.starts_with(&format!("sandbox {id} is damaged: {reason}")), "{error}");
            let info = provider.info(id).await.unwrap();
            assert_eq!(info.damage.is_some(), !reason.starts_with("files"), "{reason}");
            assert!(provider.delete(id).await.unwrap());
            assert_eq!(names(root.path()), BTreeSet::new());
        }
        // A symbolic link in the place of a sandbox is not followed.
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("lease"), "").unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        provider.delete(id).await.unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join(id.to_string())).unwrap();
        assert!(matches!(provider.acquire("thread", None).await, Err(ProviderError::Damaged { .. })));
        assert!(all(&provider).await[0].damage.as_ref().unwrap().starts_with("directory: "));
        provider.sweep().await.unwrap();
        assert!(provider.delete(id).await.unwrap());
        assert!(outside.path().join("lease").exists());
    });
}

#[test]
fn a_fork_has_the_files_and_a_snapshot_all_of_them() {
    run(async {
        let root = tempfile::tempdir().unwrap();
        let provider = open(root.path());
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let make = "mkdir -p d/e; echo one > d/e/f; ln -s f d/e/l; chmod 700 d/e/f; echo m > /tmp/m";
        says(&lease, make).await;
        let show = "cat d/e/l; stat -c %a d/e/f; readlink d/e/l";
        let words = Metadata::from([("from".to_owned(), id.to_string())]);
        // Forked while it is leased, and while it is not.
        let fork = provider.fork(id, words.clone()).await.unwrap();
        assert_eq!(
            (state(&provider, fork).await, provider.info(fork).await.unwrap().metadata),
            (SandboxState::Stored, words)
        );
        let second = provider.get_or_create(Some(fork)).await.unwrap();
        assert_eq!(says(&second, show).await, "one\n700\nf\n");
        says(&second, "echo two > d/e/f").await;
        assert_eq!(says(&lease, "cat d/e/f").await, "one\n");
        let saved = Arc::new(std::sync::Mutex::new(Vec::new()));
        let digest = provider.snapshot(id, Saved(saved.clone())).await.unwrap();
        provider.release(id).await.unwrap();
        let third = provider.fork(id, Metadata::new()).await.unwrap();
        assert_eq!(says(&provider.get_or_create(Some(third)).await.unwrap(), show).await, "one\n700\nf\n");
        assert_eq!(state(&provider, id).await, SandboxState::Stored);

        let bytes = saved.lock().unwrap().clone();
        let limits = isopod::Limits::default();
        let (snapshot, _) = isopod::Snapshot::load(bytes.as_slice(), &limits, Some(&digest)).unwrap();
        let whole = snapshot.fork().unwrap();
        assert_eq!(whole.execute(format!("{show}; cat /tmp/m")).await.unwrap().stdout, b"one\n700\nf\nm\n");
        let fourth = provider.create_from(&snapshot, Metadata::new()).await.unwrap();
        assert_eq!(says(&provider.get_or_create(Some(fourth)).await.unwrap(), show).await, "one\n700\nf\n");
        // A fork that does not fit leaves nothing behind.
        let before = names(root.path());
        let (small, _) = paused(root.path(), |config| config.limits.inodes = 3);
        let error = small.create_from(&snapshot, Metadata::new()).await.unwrap_err();
        assert!(error.to_string().contains("more than the sandbox may hold"), "{error}");
        assert_eq!(names(root.path()), before);
    });
}

/// Keeps the bytes that are written to it.
struct Saved(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Saved {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_dry_run_in_a_leased_sandbox_lands_nowhere() {
    run(async {
        let (root, host) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (provider, _) = paused(root.path(), |config| {
            let (host, guest) = (host.path().to_owned(), "/data".to_owned());
            config.mounts = vec![HostMount { host, guest, access: HostAccess::ReadWrite }];
        });
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        says(&lease, "echo kept > file; echo kept > /data/file; echo kept > /tmp/file").await;
        let dry = lease.fork().unwrap();
        let request =
            "cat file /data/file /tmp/file; rm file /data/file; echo new > /tmp/file; ls . /data; cat /tmp/file";
        let said = dry.sandbox().unwrap().execute(request.into()).await.unwrap().output;
        assert_eq!(String::from_utf8_lossy(&said), "kept\nkept\nkept\n.:\n\n/data:\nnew\n");
        assert_eq!(says(&lease, "cat file /data/file /tmp/file").await, "kept\nkept\nkept\n");
        provider.release(id).await.unwrap();
        assert!(is_over(&lease.fork().err().unwrap(), id));
    });
}
