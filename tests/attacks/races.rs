//! Races: the object that was checked is the object that is used.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

use isopod::backend::{Backend, BackendError, EditRequest, Isopod, SandboxBackend};
use isopod::provider::{Config, Provider, ProviderError};

use crate::Attack;
use crate::arena::{self, Arena, SECRET, count, text};
use crate::host::flipping;

pub const ATTACKS: &[Attack] = &[
    ("attack_72_a_directory_that_flips_to_a_link_leaks_nothing", |a| {
        race(a, "secret");
        let own = a.sandbox();
        let mut reached = 0;
        flipping(&a.host("d"), &a.host("evil"), count(200_000, 1_000_000), || {
            let output = a.run("for i in {1..20}; do cat d/secret; ls d; echo inside > d/secret; cat < d/secret; stat d/secret; done 2>&1");
            reached += text(&output).matches("inside").count();
            let read = own.fs().read("d/secret").unwrap_or_default();
            assert_ne!(read, SECRET.as_bytes());
            let _ = (own.fs().write("d/own", "x"), own.fs().set_mode("d/secret", 0o600));
        });
        assert!(reached > 0);
    }),
    ("attack_73_a_directory_that_becomes_a_link_once_it_was_made_is_confined", |a| {
        race(a, "unused");
        let made =
            "mkdir d/sub; echo inside > d/secret; echo x > d/new; ln -s x d/l; rm -f d/new d/l; rmdir d/sub; true";
        flipping(&a.host("d"), &a.host("evil"), count(5_000, 100_000), || drop(a.run(made)));
    }),
    ("attack_74_a_parent_that_is_exchanged_during_a_recursive_delete_leaves_what_is_outside", |a| {
        race(a, "secret");
        flipping(&a.host("d"), &a.host("evil"), count(5_000, 100_000), || {
            a.run("mkdir -p d/deep; echo x > d/deep/file; echo x > d/secret; rm -rf d/* 2>/dev/null; find d/ -mindepth 1 -delete 2>/dev/null; true");
            let _ = a.sandbox().fs().remove_dir_all("d/deep");
        });
    }),
    ("attack_75_of_parallel_edits_none_is_lost_unnoticed", parallel_edits),
    ("attack_76_a_release_ends_what_runs", release),
    ("attack_77_a_lease_is_exclusive_and_ends_for_good", leases),
];

/// Creates a directory with a file of this name, and a link to the directory outside.
fn race(a: &Arena, name: &str) {
    fs::create_dir(a.host("d")).unwrap();
    fs::write(a.host("d").join(name), "inside").unwrap();
    symlink("../outside", a.host("evil")).unwrap();
}

fn parallel_edits(a: &mut Arena) {
    let lines: String = (0..16).map(|n| format!("line {n:02}\n")).collect();
    let sandbox = a.sandbox();
    sandbox.fs().write("f", lines).unwrap();
    let backend = Arc::new(Isopod::new("i", sandbox.clone()).unwrap());
    let done = arena::tokio().block_on(async {
        let edit = |n: usize| {
            let backend = backend.clone();
            let request = EditRequest::new("f", format!("line {n:02}"), format!("done {n:02}"));
            tokio::spawn(async move { backend.edit(request).await })
        };
        let answers = futures::future::join_all((0..16).map(edit).collect::<Vec<_>>()).await;
        let is_done = |answer: Result<_, BackendError>| match answer {
            Ok(_) => true,
            Err(error) => panic!("{error}"),
        };
        answers
            .into_iter()
            .map(Result::unwrap)
            .filter(|a| !matches!(a, Err(BackendError::Conflict(_))))
            .map(is_done)
            .count()
    });
    let found = String::from_utf8(sandbox.fs().read("f").unwrap()).unwrap().matches("done").count();
    assert!(done >= 1 && found == done, "{done} answered, {found} there");
}

/// Runs `work` with two providers of a new root.
fn with_provider(work: impl AsyncFnOnce(Provider, Provider)) {
    let root = tempfile::tempdir().unwrap();
    let open = || Provider::open(Config::new(root.path())).unwrap();
    arena::tokio().block_on(work(open(), open()));
}

fn release(a: &mut Arena) {
    with_provider(async |provider, _| {
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let mut stream = lease.stream("echo ready; while :; do echo x >> f; done".into()).await.unwrap();
        stream.next().await.unwrap();
        let runs = lease.clone();
        let runner = tokio::spawn(async move { runs.execute("sleep 1000".into()).await });
        tokio::time::timeout(Duration::from_secs(5), provider.release(id)).await.unwrap().unwrap();
        let error = runner.await.unwrap().unwrap_err().to_string();
        a.note(&error);
        assert!(error.contains("has ended"), "{error}");
        assert!(lease.execute("echo used".into()).await.is_err());
        assert_eq!(stream.finish().await.exit_code, 137);
        provider.delete(id).await.unwrap();
    });
    // A sandbox that is dropped with its future also ends its processes.
    let sandbox = a.sandbox();
    arena::tokio().block_on(async {
        let task = tokio::spawn(async move { sandbox.execute("while :; do echo x > f; done").await.map(drop) });
        tokio::time::sleep(Duration::from_millis(20)).await;
        task.abort();
        assert!(task.await.is_err());
    });
}

fn leases(a: &mut Arena) {
    with_provider(async |provider, other| {
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        assert!(matches!(provider.acquire("thread", None).await, Err(ProviderError::InUse(_))));
        assert!(matches!(other.acquire("thread", None).await, Err(ProviderError::InUse(_))));
        assert!(matches!(other.release(id).await, Err(ProviderError::NotLeased(_))));
        assert!(matches!(other.get(id), Err(ProviderError::NotLeased(_))));
        provider.release(id).await.unwrap();
        assert!(matches!(provider.release(id).await, Err(ProviderError::NotLeased(_))));
        assert!(matches!(provider.get(id), Err(ProviderError::NotLeased(_))));
        let error = lease.execute("true".into()).await.unwrap_err().to_string();
        a.note(error);
        other.acquire("thread", None).await.unwrap();
        assert!(lease.execute("true".into()).await.is_err(), "an old lease came back to life");
        other.delete(id).await.unwrap();
        assert!(matches!(provider.get_or_create(Some(id)).await, Err(ProviderError::NotFound(_))));
    });
}
