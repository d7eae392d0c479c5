//! Live sessions: a shell that keeps its state between calls.

use std::time::{Duration, Instant};

use isopod::{Command, ExecuteError, Session};

use crate::support::{Answer, limited, sandbox};

fn session() -> Session {
    sandbox().session().unwrap()
}

fn run(session: &Session, command: impl Into<Command>) -> Answer {
    Answer(session.execute_blocking(command).unwrap())
}

/// Waits, without sleeping, until a condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_session_keeps_directory_variables_functions_and_options() {
    let session = session();
    for (command, expected) in [
        ("cd /tmp; x=1; declare -A map=([k]=v); export y=2", ""),
        ("pwd; echo $x ${map[k]} $y", "/tmp\n1 v 2\n"),
        ("greet() { echo \"hello $1\"; }; alias ll='ls -l'; set -o pipefail", ""),
        ("greet you; set -o | grep pipefail", "hello you\npipefail       \ton\n"),
        ("false", ""),
        ("echo $?", "1\n"),
        ("f() { local x=9; return 7; }; f; echo $? $x", "7 1\n"),
        ("exec 3>/tmp/log; echo to the log >&3", ""),
        ("echo more >&3; exec 3>&-; cat /tmp/log", "to the log\nmore\n"),
        ("set -- a b c", ""),
        ("echo $# $2; umask 077; touch f; stat -c %a f", "3 b\n600\n"),
        ("trap 'echo bye' EXIT; (exit 3); echo $?", "3\n"),
    ] {
        let output = session.execute_blocking(command).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{command}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
    }
}

#[test]
fn a_thousand_commands_keep_their_state() {
    let session = session();
    run(&session, "count=0; list=()").prints("");
    for i in 1..=1000 {
        run(&session, "count=$((count + 1)); list+=($count); echo $count").prints(&format!("{i}\n"));
    }
    run(&session, "echo ${#list[@]} ${list[999]}").prints("1000 1000\n");
}

#[test]
fn errors_end_the_call_and_not_the_session() {
    let session = session();
    run(&session, "kept=1").prints("");
    for (command, code) in [
        ("if", 2),
        ("echo ${unset?no}; echo no", 1),
        ("set -u; echo $nothing; echo no", 1),
        ("set +u; readonly r=1; r=2; echo no", 1),
        ("nosuchprogram", 127),
        ("echo $((1/0)); echo no", 1),
        ("f() { echo ${unset?deep}; }; for i in 1; do { f; } > /tmp/out; done", 1),
    ] {
        let output = session.execute_blocking(command).unwrap();
        assert_eq!((output.exit_code, output.stdout.as_slice()), (code, b"".as_slice()), "{command}");
        assert!(!output.stderr.is_empty(), "{command}");
        // Redirections and functions that were interrupted are undone.
        run(&session, "echo $kept ${#FUNCNAME[@]}").prints("1 0\n");
    }
}

#[test]
fn background_jobs_go_on_between_calls() {
    let session = session();
    run(&session, "mkdir /tmp/q; { while [ ! -e /tmp/q/go ]; do sleep 0.01; done; echo done; } & echo started")
        .prints("started\n");
    run(&session, "jobs -r | wc -l").prints("1\n");
    run(&session, "touch /tmp/q/go; wait $!; echo $?").prints("done\n0\n");
    // Output between two calls is part of the next answer.
    let mut seen = session.execute_blocking("{ echo early; } &").unwrap().stdout;
    until("the job writes", || {
        seen.extend(session.execute_blocking("true").unwrap().stdout);
        !seen.is_empty()
    });
    assert_eq!(seen, b"early\n");
    run(&session, "coproc { while read line; do echo \"<$line>\"; done; }").code(0);
    run(&session, "echo hi >&${COPROC[1]}; read -r answer <&${COPROC[0]}; echo $answer").prints("<hi>\n");
}

#[test]
fn a_call_that_times_out_does_not_poison_the_session() {
    let sandbox = sandbox();
    let session = sandbox.session().unwrap();
    run(&session, "kept=1; sleep 1000 & job=$!").prints("");
    for command in [
        "sleep 100",
        "while :; do :; done",
        "for ((;;)); do x=$(echo y); done",
        "f() { local kept=2; cd /; while true; do true; done; }; f > /tmp/out",
        "( sleep 100; echo no ) | cat; echo no",
        "sh -c 'sh -c \"sleep 100; echo no\"; echo no'",
        "read line < <(sleep 100); echo no",
        "x=$(sleep 100); echo no",
        "wait; echo no",
        "trap '' INT XCPU; trap 'echo caught' TERM; sleep 100; echo no",
        "eval 'eval \"sleep 100\"; echo no'; echo no",
        "yes > /dev/null",
    ] {
        let answer = run(&session, Command::shell(command).timeout(Duration::from_millis(50))).code(124).stdout("");
        assert!(answer.0.timed_out, "{command}");
        let stderr = String::from_utf8_lossy(&answer.0.stderr).into_owned();
        assert_eq!(stderr, "isopod: limit exceeded: wall clock (50 ms)\n", "{command}");
        answer.within(Duration::from_secs(1));
        run(&session, "echo $kept; cd /tmp; kill -0 $job && echo lives").prints("1\nlives\n");
    }
    // All processes of the calls have ended: the shell and the one background job are left.
    until("the rest is gone", || sandbox.kernel().processes() == 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_command_and_runs_its_traps() {
    let session = session();
    for (command, expected, code) in [
        ("echo on; sleep 100; echo no", "on\n", 130),
        ("echo on; while :; do :; done", "on\n", 130),
        ("trap 'echo trapped' INT; echo on; sleep 100; echo after", "on\ntrapped\nafter\n", 0),
        ("trap - INT; echo on; sleep 100; echo no", "on\n", 130),
    ] {
        let mut running = session.stream(command).await.unwrap();
        let mut written = running.next().await.unwrap().bytes.to_vec();
        assert_eq!(written, b"on\n", "{command}");
        session.interrupt();
        while let Some(chunk) = running.next().await {
            written.extend_from_slice(&chunk.bytes);
        }
        assert_eq!((String::from_utf8_lossy(&written).as_ref(), running.finish().await.exit_code), (expected, code));
    }
    // An interrupt without a running command does nothing.
    session.interrupt();
    assert_eq!(session.execute("echo fine").await.unwrap().stdout, b"fine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_is_given_up_and_the_session_goes_on() {
    let session = session();
    session.execute("kept=1").await.unwrap();
    for command in ["while :; do :; done", "sleep 1000", "yes", "cat"] {
        let (reader, _open) = tokio::io::duplex(16);
        let call = session.execute_with_stdin(command, reader);
        assert!(tokio::time::timeout(Duration::from_millis(30), call).await.is_err(), "{command}");
        let output = session.execute("echo $kept").await.unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (b"1\n".as_slice(), b"".as_slice()));
    }
    // A stream that is dropped before it is polled does not run its command.
    drop(session.stream("kept=2; touch /tmp/never").await.unwrap());
    assert_eq!(session.execute("echo $kept; ls /tmp").await.unwrap().stdout, b"1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_streams_and_input_is_fed() {
    let session = session();
    let mut running = session.stream(Command::shell("read x; echo got $x; cat").stdin("one\ntwo\n")).await.unwrap();
    let mut written = Vec::new();
    while let Some(chunk) = running.next().await {
        written.extend_from_slice(&chunk.bytes);
    }
    assert_eq!(written, b"got one\ntwo\n");
    assert_eq!(session.execute("echo $x; cat").await.unwrap().stdout, b"one\n");
    let program = Command::program(["printf", "%s|", "it's", "$HOME", "*"]);
    assert_eq!(session.execute(program).await.unwrap().stdout, b"it's|$HOME|*|");
    let flood = session.execute("yes | head -c 10000000 | wc -c").await.unwrap();
    assert_eq!(flood.stdout, b"10000000\n");
}

#[test]
fn several_sessions_share_files_and_nothing_else() {
    let sandbox = sandbox();
    let (one, two) = (sandbox.session().unwrap(), sandbox.session().unwrap());
    run(&one, "x=1; cd /tmp; echo text > shared").prints("");
    run(&two, "echo \"${x-unset}\" $PWD; cat /tmp/shared").prints("unset /workspace\ntext\n");
    std::thread::scope(|scope| {
        for session in [&one, &two] {
            scope.spawn(move || {
                for i in 0..50 {
                    run(session, format!("y={i}; echo $y | cat")).prints(&format!("{i}\n"));
                }
            });
        }
    });
}

#[test]
fn the_end_of_a_session_is_told() {
    let sandbox = sandbox();
    let session = sandbox.session().unwrap();
    run(&session, "trap 'echo bye' EXIT; sleep 1000 &").prints("");
    assert!(session.is_open());
    run(&session, "echo on; exit 3; echo no").stdout("on\nbye\n").code(3);
    assert!(!session.is_open());
    assert_eq!(session.execute_blocking("echo").unwrap_err(), ExecuteError::Ended);
    assert_eq!((sandbox.kernel().processes(), sandbox.kernel().memory().held()), (0, 0));

    let dropped = sandbox.session().unwrap();
    run(&dropped, "sleep 1000 & sleep 1000 & x=1").prints("");
    drop(dropped);
    until("all of it goes", || sandbox.kernel().processes() == 0 && sandbox.kernel().memory().held() == 0);

    for (command, code) in [("set -e; false; echo no", 1), ("exec sh -c 'exit 5'", 5), ("kill -9 $$", 137)] {
        let session = sandbox.session().unwrap();
        run(&session, command).stdout("").code(code);
        assert!(!session.is_open(), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_ends_what_runs() {
    let sandbox = sandbox();
    let session = sandbox.session().unwrap();
    let mut running = session.stream("sleep 1000 & echo on; sleep 1000").await.unwrap();
    assert_eq!(running.next().await.unwrap().bytes, "on\n");
    let ending = tokio::spawn(running.finish());
    session.close().await;
    assert_eq!(ending.await.unwrap().exit_code, 137);
    assert_eq!((sandbox.kernel().processes(), sandbox.kernel().memory().held()), (0, 0));
    assert_eq!(session.execute("echo").await.unwrap_err(), ExecuteError::Ended);
    session.close().await;
}

#[test]
fn what_belongs_to_the_session_is_no_part_of_a_call() {
    let session = session();
    let refused = |command: Command| session.execute_blocking(command).unwrap_err().to_string();
    assert_eq!(refused(Command::shell("pwd").cwd("/tmp")), "a live session has its own working directory: use cd");
    assert_eq!(refused(Command::shell("env").env("A", "1")), "a live session has its own variables: use export");
    assert_eq!(refused(Command::shell(" \n")), "the command is empty");
    assert_eq!(refused(Command::program(Vec::<String>::new())), "the command is empty");
    assert_eq!(refused(Command::shell("a\0b")), "the command holds a NUL byte");
    assert_eq!(refused(Command::shell("echo").timeout(Duration::ZERO)), "the timeout is zero");
}

#[test]
fn the_limits_hold_in_a_session() {
    let sandbox = limited(|limits| {
        limits.output = 1000;
        limits.processes = 4;
    });
    let session = sandbox.session().unwrap();
    let output = session.execute_blocking("seq 1 10000").unwrap();
    assert!(output.truncated && output.output.len() < 1200);
    run(&session, "echo next").prints("next\n");
    run(&session, "sleep 100 & sleep 100 & sleep 100 & sleep 100 & echo no").stderr_has("Resource temporarily");
    assert!(session.is_open() || sandbox.kernel().processes() == 0);

    // A flood between two calls is bounded, too.
    let session = sandbox.session().unwrap();
    run(&session, "yes > /dev/stdout & job=$!").code(0);
    until("it has written too much", || session.execute_blocking("true").unwrap().truncated);
    run(&session, "kill $job").code(0);
}

#[test]
fn a_shell_without_an_owner_has_no_orders() {
    crate::support::run("sh --live; echo $?").prints("0\n");
    crate::support::run("bash --live -c 'echo no'; echo $?").prints("0\n");
}

#[test]
fn a_stream_begins_with_what_was_written_between_the_calls() {
    let (session, files) = {
        let sandbox = limited(|limits| limits.output = 20);
        (sandbox.session().unwrap(), sandbox.fs())
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stream = |command: &'static str| {
        runtime.block_on(async {
            let (mut execution, mut text) = (session.stream(command).await.unwrap(), Vec::new());
            while let Some(chunk) = execution.next().await {
                text.extend_from_slice(&chunk.bytes);
            }
            String::from_utf8(text).unwrap()
        })
    };
    stream("(until [ -e go ]; do sleep .01; done; echo late; touch done) &");
    files.write("go", "").unwrap();
    until("the job writes", || files.exists("done"));
    assert_eq!(stream("echo now"), "late\nnow\n");
    assert_eq!(stream("echo again"), "again\n");
    stream("rm go done; (until [ -e go ]; do sleep .01; done; seq 100; touch done) &");
    files.write("go", "").unwrap();
    until("the job writes", || files.exists("done"));
    assert_eq!(stream("echo now"), "1\n2\n3\n4\n5\n\n... [272 bytes left out] ...\n98\n99\n100\nnow\n");
}
