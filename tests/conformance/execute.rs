//! Execution: the order of output, its streams, and the end of all processes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use isopod::backend::{Backend, ExecFiles, Executor, GlobRequest, LocalShell, Result, SandboxBackend, WriteRequest};
use isopod::kernel::Channel;
use isopod::{Command, Output};

use crate::runtime;
use crate::subject;

#[test]
fn files_only_backends_say_that_they_execute_nothing() {
    runtime().block_on(async {
        for subject in [subject::memory().await, subject::directory().await, subject::store().await] {
            let subject = subject.unwrap();
            assert!(!subject.backend.executes(), "{}", subject.name);
        }
        for subject in [subject::isopod().await, subject::local_shell().await, subject::composite().await] {
            let subject = subject.unwrap();
            assert!(subject.backend.executes(), "{}", subject.name);
            assert!(!subject.executing().unwrap().id().is_empty());
        }
    });
}

#[test]
fn both_outputs_are_kept_apart_and_in_the_order_of_writing() {
    let subject = runtime().block_on(subject::isopod()).unwrap();
    runtime().block_on(async {
        let line = "for i in 1 2 3; do echo out$i; echo err$i >&2; done";
        let executed = subject.executing().unwrap().execute(line.into()).await.unwrap();
        assert_eq!(executed.output, b"out1\nerr1\nout2\nerr2\nout3\nerr3\n");
        assert_eq!(executed.stdout, b"out1\nout2\nout3\n");
        assert_eq!(executed.stderr, b"err1\nerr2\nerr3\n");
    });
}

#[test]
fn output_streams_while_the_command_runs() {
    for subject in [runtime().block_on(subject::isopod()), runtime().block_on(subject::local_shell())] {
        let subject = subject.unwrap();
        runtime().block_on(async {
            let request = Command::shell("echo first; read line; echo \"got $line\" >&2; exit 9").stdin("input\n");
            let mut stream = subject.executing().unwrap().stream(request).await.unwrap();
            let first = stream.next().await.unwrap();
            assert_eq!((first.channel, &first.bytes[..]), (Channel::Stdout, &b"first\n"[..]));
            let second = stream.next().await.unwrap();
            assert_eq!((second.channel, &second.bytes[..]), (Channel::Stderr, &b"got input\n"[..]));
            assert!(stream.next().await.is_none());
            assert_eq!(stream.finish().await.exit_code, 9, "{}", subject.name);
        });
    }
}

/// Waits until a process of the host has ended.
fn gone(pid: &str) -> bool {
    let begin = Instant::now();
    let status = Path::new("/proc").join(pid).join("stat");
    while begin.elapsed() < Duration::from_secs(3) {
        match std::fs::read_to_string(&status) {
            Ok(text) if !text.contains(") Z ") => std::thread::yield_now(),
            _ => return true,
        }
    }
    false
}

#[test]
fn the_local_shell_ends_its_process_group_when_time_is_over_and_when_dropped() {
    let subject = runtime().block_on(subject::local_shell()).unwrap();
    runtime().block_on(async {
        let shell = subject.executing().unwrap();
        let request = Command::shell("trap '' TERM; sleep 60 & echo $!; wait").timeout(Duration::from_millis(300));
        let begin = Instant::now();
        let executed = shell.execute(request).await.unwrap();
        assert!(begin.elapsed() < Duration::from_millis(300 + 1000), "{:?}", begin.elapsed());
        assert_eq!(executed.exit_code, 124);
        assert_eq!(executed.stderr, b"isopod: limit exceeded: wall clock (300 ms)\n");
        assert!(gone(String::from_utf8(executed.stdout).unwrap().trim()));

        let mut stream = shell.stream("sleep 60 & echo $!; wait".into()).await.unwrap();
        let pid = stream.next().await.unwrap();
        drop(stream);
        assert!(gone(String::from_utf8_lossy(&pid.bytes).trim()));
    });
}

#[test]
fn attack_84_much_output_is_bounded_and_the_rest_is_counted() {
    for subject in [runtime().block_on(subject::isopod()), runtime().block_on(subject::local_shell())] {
        let subject = subject.unwrap();
        runtime().block_on(async {
            let line = "head -c 20000000 /dev/zero; echo end";
            let executed = subject.executing().unwrap().execute(line.into()).await.unwrap();
            assert!(executed.truncated);
            assert_eq!(executed.written(), 20_000_004);
            assert!(executed.output.len() < 110_000);
            assert!(executed.output.ends_with(b"end\n"), "{}", subject.name);
        });
    }
}

/// A provider as an embedder could write one: it has `execute` and nothing more.
struct Provider(LocalShell);

#[async_trait::async_trait]
impl Executor for Provider {
    async fn execute(&self, command: Command) -> Result<Output> {
        SandboxBackend::execute(&self.0, command).await
    }
}

#[test]
fn a_provider_that_only_executes_has_files_and_streams_too() {
    let host = tempfile::tempdir().unwrap();
    let backend = ExecFiles::new(Arc::new(Provider(LocalShell::unconfined(host.path()).unwrap())));
    runtime().block_on(async {
        backend.write(WriteRequest::new("d/f.txt", "text")).await.unwrap();
        assert_eq!(std::fs::read(host.path().join("d/f.txt")).unwrap(), b"text");
        let found = backend.glob(GlobRequest::new("*.txt", ".")).await.unwrap();
        assert_eq!(found.matches[0].relative, "d/f.txt");
        let mut stream = SandboxBackend::stream(&backend, "echo out; echo err >&2; exit 2".into()).await.unwrap();
        assert_eq!(&stream.next().await.unwrap().bytes[..], b"out\n");
        assert_eq!(&stream.next().await.unwrap().bytes[..], b"err\n");
        assert_eq!(stream.finish().await.exit_code, 2);
    });
}
