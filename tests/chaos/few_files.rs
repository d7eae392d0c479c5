//! A process that may have 64 open files.

use std::process::Command;

use isopod::Sandbox;
use isopod::backend::SandboxBackend;
use isopod::provider::{Config, Provider, ProviderError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const ROLE: &str = "ISOPOD_CHAOS_FEW";
const FEW: u64 = 64;

/// Runs a test in a process of its own, because the limit on open files is one of the process.
fn with_few_files(role: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["few_files::in_the_second_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[test]
fn in_the_second_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(FEW), maximum }).unwrap();
    match role.as_str() {
        "sandbox" => sandbox(),
        "provider" => provider(),
        role => panic!("{role}"),
    }
}

fn sandbox() {
    let host = tempfile::tempdir().unwrap();
    (0..100).for_each(|n| std::fs::write(host.path().join(n.to_string()), "x").unwrap());
    let sandbox = Sandbox::builder().mount(host.path(), "/workspace").build().unwrap();
    for _ in 0..3 {
        let line = "for i in {3..99}; do eval \"exec $i< $i\" || break; done 2>&1 | tail -1; echo end";
        let answer = sandbox.execute_blocking(line).unwrap();
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        assert!(text.contains("Too many open files") && text.ends_with("end\n"), "{text:?}");
        // The descriptors of the last command are free again.
        let answer = sandbox.execute_blocking("cat * | wc -c; echo new > new; rm new").unwrap();
        assert_eq!((answer.stdout.as_slice(), answer.stderr.as_slice()), (&b"100\n"[..], &b""[..]));
    }
}

fn provider() {
    let root = tempfile::tempdir().unwrap();
    crate::run(async {
        let provider = Provider::open(Config::new(root.path())).unwrap();
        for _ in 0..2 {
            let mut ids = Vec::new();
            let error = loop {
                match provider.acquire(&format!("thread {}", ids.len()), None).await {
                    Ok(id) => ids.push(id),
                    Err(error) => break error,
                }
                assert!(ids.len() < 64, "there are as many as files");
            };
            assert!(matches!(error, ProviderError::Host { .. } | ProviderError::Build(_)), "{error:?}");
            assert!(error.to_string().contains("Too many open files"), "{error}");
            // Existing sandboxes still work, and their release frees descriptors.
            let some = provider.get(ids[0]).unwrap();
            assert!(ids.len() > 5, "{} sandboxes", ids.len());
            drop(some);
            for id in ids.drain(..) {
                assert!(provider.delete(id).await.unwrap());
            }
            let id = provider.acquire("again", None).await.unwrap();
            let lease = provider.get(id).unwrap();
            assert_eq!(lease.execute("echo x > f; cat f".into()).await.unwrap().stdout, b"x\n");
            drop(lease);
            assert!(provider.delete(id).await.unwrap());
        }
    });
}

#[test]
fn a_sandbox_without_open_files_left_says_so_and_recovers() {
    with_few_files("sandbox");
}

#[test]
fn a_provider_without_open_files_left_says_so_and_recovers() {
    with_few_files("provider");
}

#[test]
fn the_command_line_with_few_open_files_works_or_says_why_not() {
    for count in [3, 5, 8, 12, 16, 24, 32, 64] {
        let line = format!("ulimit -n {count}; exec \"$0\" run --timeout 20 -- 'echo ok | cat'");
        let output = Command::new("bash").args(["-c", &line, env!("CARGO_BIN_EXE_isopod")]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => assert_eq!(output.stdout, b"ok\n"),
            // The dynamic loader of the host fails with 127.
            Some(125 | 127) => {
                assert!(said.contains("Too many open files") || said.contains("cannot"), "{count}: {said}")
            }
            code => panic!("{count}: {code:?}: {said}"),
        }
        assert!(count < 32 || output.status.success(), "{count}: {said}");
    }
}
