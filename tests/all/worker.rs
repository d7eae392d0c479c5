//! Sandboxes in processes of their own: a crash takes down one of them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use isopod::Command;
use isopod::backend::{Backend, BackendError, ReadRequest, SandboxBackend, Upload, WriteRequest};
use isopod::provider::{Config, HostAccess, HostMount};
use isopod::wall;
use isopod::worker::{Walls, Worker};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::support::{cli, cli_answer, directory, isopod};

const PROGRAM: &str = env!("CARGO_BIN_EXE_isopod");

fn config() -> Config {
    Config::new("/none")
}

async fn start(config: &Config) -> Worker {
    Worker::start(PROGRAM, ["worker"], config).await.unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}

/// Sends a signal until the process has ended. One signal is not enough if a debugger or tracer of the process
/// suppresses it.
pub fn kill(pid: u32, signal: Signal) {
    while kill_process(Pid::from_raw(pid as i32).unwrap(), signal).is_ok() && !is_gone_within(pid, 1) {}
}

/// Waits until a process has ended. Returns false after 20 seconds.
pub fn is_gone(pid: u32) -> bool {
    is_gone_within(pid, 20)
}

fn is_gone_within(pid: u32, seconds: i64) -> bool {
    let Ok(handle) = pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()) else { return true };
    let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)).unwrap() == 1
}

async fn says(worker: &Worker, line: &str) -> String {
    String::from_utf8(worker.execute(line.into()).await.unwrap().output).unwrap()
}

#[test]
fn a_crash_takes_down_one_sandbox_and_what_ran_in_it_hears_how() {
    run(async {
        let neighbour = start(&config()).await;
        for (signal, number) in [(Signal::ABORT, 6), (Signal::SEGV, 11), (Signal::KILL, 9)] {
            let worker = start(&config()).await;
            says(&worker, "echo kept > file").await;
            let died = BackendError::WorkerDied(format!("signal {number}"));
            let mut stream = worker.stream("echo started; sleep 1000".into()).await.unwrap();
            assert_eq!(&stream.next().await.unwrap().bytes[..], b"started\n");
            let running = worker.execute("sleep 1000".into());
            let (answer, ()) = tokio::join!(running, async {
                // The worker answers in order: after this answer it has also received the command before.
                says(&worker, "true").await;
                kill(worker.pid(), signal);
            });
            assert_eq!(answer.unwrap_err(), died);
            assert_eq!(died.to_string(), format!("worker died: signal {number}"));
            let notice = stream.next().await.unwrap();
            assert_eq!(String::from_utf8_lossy(&notice.bytes), format!("isopod: {died}\n"));
            assert!(stream.next().await.is_none());
            assert_eq!(stream.finish().await.exit_code, 137);
            // Later calls get the same error.
            assert_eq!(worker.read(ReadRequest::bytes("file")).await.unwrap_err(), died);
            assert_eq!(worker.execute("echo".into()).await.unwrap_err(), died);
            assert_eq!(says(&neighbour, "echo alive").await, "alive\n");
        }
    });
}

#[test]
fn a_worker_lives_behind_a_wall_and_sees_its_mounts() {
    run(async {
        let (host, only) = (directory(&[("file", "text")]), directory(&[("file", "only")]));
        let mut config = config();
        for (dir, guest, access) in
            [(&host, "/workspace", HostAccess::ReadWrite), (&only, "/only", HostAccess::ReadOnly)]
        {
            config.mounts.push(HostMount { host: dir.path().to_owned(), guest: guest.to_owned(), access });
        }
        config.env.insert("NAME".to_owned(), "value".to_owned());
        let worker = start(&config).await;
        assert_eq!(worker.report(), &wall::support().unwrap());
        let script = "cat file /only/file; echo $NAME; env | grep -c CARGO; echo new > new; touch /only/x 2>/dev/null || echo no";
        assert_eq!(says(&worker, script).await, "textonlyvalue\n0\nno\n");
        assert_eq!(std::fs::read_to_string(host.path().join("new")).unwrap(), "new\n");
        let behind = Worker::start_behind(Walls::Strict, PROGRAM, ["worker"], &config).await;
        assert_eq!(behind.is_ok(), wall::support().unwrap().is_whole());
        config.mounts[0].host = host.path().join("missing");
        let error = Worker::start(PROGRAM, ["worker"], &config).await.err().unwrap();
        assert!(error.to_string().ends_with("missing: No such file or directory (os error 2)"), "{error}");
    });
}

#[test]
fn what_nobody_waits_for_ends_in_the_worker() {
    run(async {
        let mut config = config();
        config.limits.processes = 4;
        let worker = start(&config).await;
        for n in 0..20 {
            let request = || Command::shell("echo up; sleep 1000 | cat");
            match n % 2 {
                0 => drop(worker.stream(request()).await.unwrap()),
                _ => drop(tokio::time::timeout(Duration::from_millis(n), worker.execute(request())).await),
            }
        }
        // Twenty commands would be sixty processes, more than the limit. The last ones may still be ending.
        while says(&worker, "echo a | cat | cat").await != "a\n" {}
    });
}

#[test]
fn a_slow_reader_slows_its_command_and_nobody_else() {
    run(async {
        let worker = start(&config()).await;
        let mut slow = worker.stream("yes | head -c 30000000".into()).await.unwrap();
        let mut bytes = slow.next().await.unwrap().bytes.len();
        for n in 0..20 {
            assert_eq!(says(&worker, &format!("echo {n}")).await, format!("{n}\n"));
        }
        while let Some(chunk) = slow.next().await {
            bytes += chunk.bytes.len();
        }
        assert_eq!((bytes, slow.finish().await.exit_code), (30_000_000, 0));
    });
}

#[test]
fn large_files_go_through_and_too_large_ones_are_refused_as_elsewhere() {
    run(async {
        let mut config = config();
        config.limits.file = 8 << 20;
        let worker = start(&config).await;
        let bytes: Vec<u8> = (0..(8 << 20)).map(|n: u32| (n % 251) as u8).collect();
        worker.write(WriteRequest::new("large", bytes.clone())).await.unwrap();
        assert!(worker.download(vec!["large".into()]).await.remove(0).unwrap() == bytes);
        let here = isopod::Sandbox::builder().limits(config.limits.clone()).build().unwrap();
        let here = isopod::backend::Isopod::new("here", here).unwrap();
        for size in [(8 << 20) + 1, 100 << 20] {
            let request = || vec![Upload::new("/tmp/larger", vec![0; size])];
            let (there, here) = (worker.upload(request()).await.remove(0), here.upload(request()).await.remove(0));
            assert_eq!(there.as_ref().unwrap_err().errno(), here.as_ref().unwrap_err().errno(), "{there:?} {here:?}");
        }
        let oversized = Command::shell("cat").stdin(vec![b'x'; 80 << 20]);
        let error = worker.execute(oversized).await.unwrap_err().to_string();
        assert!(error.starts_with("worker: a message of 83886"), "{error}");
        assert_eq!(says(&worker, "wc -c < large").await, "8388608\n");
    });
}

#[test]
fn a_program_that_is_no_worker_is_an_error_and_is_ended() {
    run(async {
        let start = |program: &'static str, script: &'static str| async move {
            let arguments = if script.is_empty() { vec![] } else { vec!["-c", script] };
            Worker::start(program, arguments, &config()).await.err().unwrap().to_string()
        };
        assert_eq!(
            start("/none/such", "").await,
            "worker: cannot start /none/such: No such file or directory (os error 2)"
        );
        assert_eq!(start("/bin/sh", "exit 3").await, "worker died: exit code 3");
        // A process that stays alive and sends invalid frames: too long, empty, incomplete.
        for script in [
            "printf '\\377\\377\\377\\377' >&0",
            "printf '\\000\\000\\000\\000' >&0",
            "printf '\\020\\000\\000\\000x' >&0; exec 0<&-",
        ] {
            let script: &'static str = Box::leak(format!("{script}; exec sleep 1000").into_boxed_str());
            let error = start("/bin/sh", script).await;
            assert!(error.starts_with("worker died: "), "{error}");
        }
    });
    let by_hand = cli(&["worker"]);
    assert_eq!(by_hand.code, Some(2));
    assert!(by_hand.stderr.starts_with("isopod: a worker is started by a host: "), "{}", by_hand.stderr);
}

#[test]
fn dropping_the_last_handle_ends_the_process() {
    run(async {
        let worker = start(&config()).await;
        let (pid, other) = (worker.pid(), worker.clone());
        drop(worker);
        assert_eq!(says(&other, "echo still").await, "still\n");
        let busy = other.stream("while :; do :; done".into()).await.unwrap();
        drop((busy, other));
        assert!(tokio::task::spawn_blocking(move || is_gone(pid)).await.unwrap());
    });
}

/// Starts `isopod run --isolate process` and waits until its command runs. Returns the process and its worker.
fn isolated(script: &str, more: &[&str]) -> (Child, u32) {
    let line = format!("echo up; {script}");
    let mut host = isopod(&[&["run", "--isolate", "process"], more, &["--", &line]].concat());
    let mut host = host.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(host.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "up\n");
    let worker = children(host.id())[0];
    (host, worker)
}

/// Returns the child processes of a process.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    // A thread may end meanwhile; its file is then missing.
    let of = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.unwrap().path().join("children"));
    let all: String = tasks.filter_map(|task| of(task).ok()).collect();
    all.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn kill_9_of_the_host_leaves_no_worker() {
    for script in ["sleep 1000", "while :; do :; done", "yes > /dev/null", "yes"] {
        let (mut host, worker) = isolated(script, &[]);
        host.kill().unwrap();
        host.wait().unwrap();
        assert!(is_gone(worker), "{script}");
    }
}

#[test]
fn kill_9_of_the_worker_is_an_answer_of_the_command_line() {
    let (mut host, worker) = isolated("sleep 1000", &[]);
    kill(worker, Signal::KILL);
    let mut stderr = String::new();
    host.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let status = host.wait().unwrap();
    assert_eq!((status.code(), status.signal(), stderr.as_str()), (Some(137), None, "isopod: worker died: signal 9\n"));
}

#[test]
fn the_command_line_isolates() {
    let host = directory(&[("file", "text\n")]);
    let dir = host.path().to_str().unwrap();
    let isolated = |more: &[&str]| cli(&[&["run", "--isolate", "process"], more].concat());
    let answer = isolated(&["--dir", dir, "--", "cat file; echo err >&2; exit 7"]);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.code), ("text\n", "err\n", Some(7)));
    assert_eq!(isolated(&["--", "printf", "%s|", "a b", "'c'"]).stdout, "a b|'c'|");
    assert_eq!(isolated(&["--cwd", "/tmp", "--env", "A=1", "--", "echo $PWD $A"]).stdout, "/tmp 1\n");
    let late = isolated(&["--timeout", "300ms", "--", "sleep 100"]);
    assert_eq!((late.code, late.stderr.as_str()), (Some(124), "isopod: limit exceeded: wall clock (300 ms)\n"));
    let mut relative = isopod(&["run", "--isolate", "process", "--dir", ".", "--", "cat file"]);
    assert_eq!(
        cli_answer({
            relative.current_dir(dir);
            relative
        })
        .stdout,
        "text\n"
    );
    let report: serde_json::Value = serde_json::from_str(&isolated(&["--json", "--", "echo a"]).stdout).unwrap();
    assert_eq!((&report["exit_code"], &report["stdout"]), (&0.into(), &"a\n".into()));
    assert_eq!(isolated(&["--overlay", dir, "--", "true"]).code, Some(2));
    assert_eq!(isolated(&["--cwd", "/none", "--", "true"]).code, Some(2));
    assert_eq!(cli(&["run", "--isolate", "thread", "--", "true"]).code, Some(2));
    if cfg!(feature = "python") {
        assert_eq!(isolated(&["--", "python3", "-c", "print(2**64)"]).stdout, "18446744073709551616\n");
    }
}
