//! Output and input that are passed on as they arrive.

use std::time::{Duration, Instant};

use isopod::kernel::Channel;
use tokio::io::AsyncWriteExt;

use crate::support::{limited, run_in, sandbox};

#[tokio::test]
async fn pieces_come_while_the_command_runs() {
    let (mut to, from) = tokio::io::duplex(64);
    let mut execution = sandbox().stream_with_stdin("echo ready; cat >&2; exit 5", from).unwrap();
    let first = execution.next().await.unwrap();
    assert_eq!((first.channel, &first.bytes[..]), (Channel::Stdout, &b"ready\n"[..]));
    to.write_all(b"typed").await.unwrap();
    drop(to);
    let second = execution.next().await.unwrap();
    assert_eq!((second.channel, &second.bytes[..]), (Channel::Stderr, &b"typed"[..]));
    assert_eq!(execution.next().await, None);
    assert_eq!(execution.finish().await.exit_code, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_slows_the_command_down() {
    let sandbox = sandbox();
    let mut execution = sandbox.stream("yes").unwrap();
    let mut bytes = 0;
    while bytes < 10_000_000 {
        bytes += execution.next().await.unwrap().bytes.len();
    }
    // `yes` cannot run ahead of its reader: its unread output fits in the pipe, and it ends at once.
    drop(execution);
    let held = async {
        while sandbox.kernel().processes() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(1), held).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_stops_neither_the_clock_nor_the_shell() {
    let sandbox = limited(|limits| limits.wall = Duration::from_millis(300));
    let begin = Instant::now();
    let mut execution = sandbox.stream("yes & wait").unwrap();
    while execution.next().await.is_some() {}
    assert!(begin.elapsed() < Duration::from_millis(550), "{:?}", begin.elapsed());
    assert_eq!(execution.finish().await.exit_code, 124);
    // The shell gets its turn to kill the flood.
    let outcome = sandbox.stream("yes & sleep 0.05; kill $!; exit 3").unwrap().finish().await;
    assert_eq!(outcome.exit_code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_runs_when_nobody_asks_for_output() {
    let sandbox = limited(|limits| limits.wall = Duration::from_millis(200));
    let mut execution = sandbox.stream("echo begun; while :; do :; done & while :; do :; done & sleep 100").unwrap();
    assert_eq!(execution.next().await.unwrap().bytes, "begun\n");
    // The stream is polled until the shell has started its children, and not after that.
    while sandbox.kernel().processes() < 4 {
        assert!(futures::poll!(std::pin::pin!(execution.next())).is_pending());
        tokio::task::yield_now().await;
    }
    let only_the_first = async {
        while sandbox.kernel().processes() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(450), only_the_first).await.expect("its children compute on");
}

#[tokio::test]
async fn what_is_not_read_of_a_stream_is_not_kept() {
    let outcome = sandbox().stream("seq 1 300000; exit 9").unwrap().finish().await;
    assert_eq!(outcome.exit_code, 9);
}

#[tokio::test]
async fn the_refusal_of_a_limit_is_the_last_piece() {
    let sandbox = limited(|limits| limits.wall = Duration::from_millis(100));
    let mut execution = sandbox.stream("echo begin; sleep 10").unwrap();
    let mut text = String::new();
    while let Some(chunk) = execution.next().await {
        text += std::str::from_utf8(&chunk.bytes).unwrap();
    }
    assert_eq!(text, "begin\nisopod: limit exceeded: wall clock (100 ms)\n");
    let outcome = execution.finish().await;
    assert!(outcome.timed_out && outcome.exit_code == 124);
}

#[test]
fn much_goes_through_a_pipe_in_little_memory() {
    let sandbox = limited(|limits| limits.sandbox_memory = 32 << 20);
    run_in(&sandbox, "head -c 200000000 /dev/zero | cat | wc -c").prints("200000000\n");
}
