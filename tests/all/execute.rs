//! The library: execute, output, usage, concurrency.

use std::time::{Duration, Instant};

use isopod::Command;

use crate::support::{run, run_in, sandbox};

#[test]
fn outputs_are_kept_apart_and_in_order() {
    let output = run("echo one; echo two >&2; echo three").code(0).0;
    assert_eq!(output.output, b"one\ntwo\nthree\n");
    assert_eq!(output.stdout, b"one\nthree\n");
    assert_eq!(output.stderr, b"two\n");
    assert!(!output.truncated);
}

#[test]
fn exit_codes_are_what_they_are() {
    for code in [0, 1, 2, 7, 42, 126, 127, 128, 200, 255] {
        run(format!("exit {code}").as_str()).code(code);
        run(format!("sh -c 'exit {code}'").as_str()).code(code);
    }
    run("exit 256").code(0);
    run("exit -1").code(255);
}

#[test]
fn files_last_from_one_command_to_the_next_and_variables_do_not() {
    let sandbox = sandbox();
    run_in(&sandbox, "echo kept > /tmp/file; X=gone; cd /tmp").code(0);
    run_in(&sandbox, "cat /tmp/file; echo \"[$X]\"; pwd").prints("kept\n[]\n/workspace\n");
}

#[test]
fn a_command_has_its_own_directory_environment_and_input() {
    let command = Command::shell("pwd; echo $A; cat").cwd("/tmp").env("A", "b c").stdin("typed\n");
    run(command).prints("/tmp\nb c\ntyped\n");
}

#[test]
fn a_path_of_the_caller_s_own_does_not_hide_the_shell() {
    run(Command::shell("echo $PATH; cat").env("PATH", "/nowhere")).stdout("/nowhere\n").code(127);
}

#[test]
fn numbers_come_sorted_through_three_processes() {
    run("seq 1 200000 | sort -n | tail -1").prints("200000\n");
}

#[test]
fn a_pipeline_runs_side_by_side() {
    let output = run("sleep 1 | sleep 1 | sleep 1").code(0).within(Duration::from_millis(1500)).0;
    assert!(output.usage.wall >= Duration::from_secs(1), "{:?}", output.usage.wall);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_one_sandbox_run_side_by_side() {
    let sandbox = sandbox();
    let begin = Instant::now();
    let sleepers = (0..20).map(|n| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move { sandbox.execute(format!("sleep 0.5; echo {n}")).await.unwrap().stdout })
    });
    for (n, sleeper) in sleepers.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(sleeper.await.unwrap(), format!("{n}\n").into_bytes());
    }
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn one_thread_is_enough() {
    let output = sandbox().execute("seq 1 1000 | sort -rn | head -2").await.unwrap();
    assert_eq!(output.stdout, b"1000\n999\n");
}

#[test]
fn usage_is_reported() {
    let usage = run("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; seq 1 10 | cat > /tmp/f").code(0).0.usage;
    assert!(usage.cpu > Duration::ZERO);
    assert!(usage.peak_memory >= 1 << 16, "{usage:?}");
    assert_eq!(usage.processes, 3);
    assert!(usage.bytes_read >= 21 && usage.bytes_written >= 42, "{usage:?}");
    assert_eq!(usage.fuel, None);
}

#[test]
fn dropping_the_future_ends_the_command() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sandbox = sandbox();
    for command in ["sleep 1000 | cat", "while :; do :; done", "yes | cat > /dev/null & wait", "cat <(sleep 1000)"] {
        runtime.block_on(async {
            let execution = sandbox.execute(command);
            assert!(tokio::time::timeout(Duration::from_millis(50), execution).await.is_err(), "{command}");
            let gone = async {
                while sandbox.kernel().processes() > 0 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(1), gone).await.unwrap_or_else(|_| panic!("{command} lives on"));
            assert_eq!(sandbox.kernel().memory().held(), 0, "{command}");
        });
    }
}
