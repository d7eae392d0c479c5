//! Each limit, and its refusal with name and value.

use std::time::Duration;

use isopod::{Limit, Limits};

use crate::support::{Answer, limited, run_in};

fn hit(change: impl FnOnce(&mut Limits), command: &str, kind: Limit, refusal: &str) -> Answer {
    let sandbox = limited(change);
    let answer = run_in(&sandbox, command);
    assert!(answer.0.limits.iter().any(|limit| limit.kind == kind), "{:?}", answer.0.limits);
    let answer = answer.stderr_has(&format!("isopod: limit exceeded: {refusal}\n"));
    // The same sandbox runs its next command.
    run_in(&sandbox, "echo ok").prints("ok\n");
    answer
}

#[test]
fn wall_clock() {
    let change = |limits: &mut Limits| limits.wall = Duration::from_millis(200);
    for command in
        ["sleep 1000", "while :; do :; done", "read x < <(sleep 1000)", "sleep 1000 & wait", "yes | sleep 1000"]
    {
        let answer = hit(change, command, Limit::WallClock, "wall clock (200 ms)");
        assert!(answer.0.timed_out);
        answer.code(124).within(Duration::from_millis(450));
    }
}

#[test]
fn fuel() {
    hit(|l| l.fuel = Some(5_000_000), "while :; do :; done", Limit::Fuel, "fuel (5000000 instructions)").code(152);
}

#[test]
fn fuel_is_one_budget_for_all_processes() {
    let sandbox = limited(|limits| limits.fuel = Some(30_000_000));
    let output = run_in(&sandbox, "while sh -c 'i=0; while [ $i -lt 100 ]; do i=$((i+1)); done'; do :; done").0;
    assert_eq!(output.exit_code, 152);
    assert_eq!(output.usage.fuel, Some(30_000_000));
    assert!(output.usage.processes > 2, "{:?}", output.usage);
}

#[test]
fn a_process_that_is_killed_has_used_what_it_used() {
    let sandbox = limited(|limits| limits.fuel = Some(1_000_000_000_000));
    let line = "for i in 1 2 3 4 5; do (while :; do :; done) & sleep 0.02; kill -9 $!; wait $!; done 2> /dev/null";
    let (idle, busy) = (run_in(&sandbox, "sleep 0.1").0, run_in(&sandbox, line).0);
    let fuel = |output: isopod::Output| output.usage.fuel.unwrap();
    let (idle, busy) = (fuel(idle), fuel(busy));
    assert!(busy > idle + 5_000_000, "{idle} for nothing, {busy} for 0.1 s of loops");
}

#[test]
fn memory_of_a_process() {
    let change = |limits: &mut Limits| limits.process_memory = 16 << 20;
    let answer = hit(change, "x=x; while :; do x=$x$x; done", Limit::ProcessMemory, "memory of a process (16 MiB)");
    assert_ne!(answer.0.exit_code, 0);
}

#[test]
fn memory_of_the_sandbox() {
    let change = |limits: &mut Limits| {
        limits.process_memory = 64 << 20;
        limits.sandbox_memory = 64 << 20;
    };
    let grow = "x=x; i=0; while [ $i -lt 24 ]; do x=$x$x; i=$((i+1)); done; sleep 2";
    let command = format!("({grow}) & ({grow}) & ({grow}) & ({grow}) & wait");
    hit(change, &command, Limit::SandboxMemory, "memory of the sandbox (64 MiB)");
}

#[test]
fn processes() {
    let command = "i=0; while [ $i -lt 20 ]; do sleep 5 & i=$((i+1)); done; echo end";
    let answer = hit(|limits| limits.processes = 8, command, Limit::Processes, "processes (8)");
    assert_eq!(answer.0.usage.processes, 8);
}

#[test]
fn open_files() {
    let command = "i=10; while [ $i -lt 40 ]; do eval \"exec $i> /tmp/f$i\" || break; i=$((i+1)); done; echo stopped";
    hit(|limits| limits.open_files = 16, command, Limit::OpenFiles, "open files (16)");
}

#[test]
fn output_is_cut_and_the_command_runs_on() {
    let sandbox = limited(|limits| limits.output = 1000);
    let output = run_in(&sandbox, "yes | head -c 1000000; echo after > /tmp/after").code(0).0;
    assert!(output.truncated);
    let marker = "\n... [999000 bytes left out] ...\n";
    assert_eq!(output.stdout.len(), 1000 + marker.len());
    assert!(output.stdout[500..].starts_with(marker.as_bytes()));
    assert_eq!((output.stderr.as_slice(), output.written()), (&b""[..], 1_000_000));
    assert!(output.limits.iter().any(|limit| limit.to_string() == "limit exceeded: output (1000 bytes)"));
    run_in(&sandbox, "cat /tmp/after").prints("after\n");
}

#[test]
fn arguments_and_environment() {
    let command = "x=x; i=0; while [ $i -lt 12 ]; do x=$x$x; i=$((i+1)); done; /bin/true $x $x $x $x";
    let answer = hit(|l| l.arguments = 10_000, command, Limit::Arguments, "arguments and environment (10000 bytes)");
    answer.stderr_has("Argument list too long");
}

#[test]
fn disk() {
    let change = |limits: &mut Limits| limits.disk = 1 << 20;
    let answer = hit(change, "head -c 2000000 /dev/zero > /tmp/f", Limit::Disk, "disk (1 MiB)");
    answer.stderr_has("No space left on device");
}

#[test]
fn a_file() {
    let change = |limits: &mut Limits| limits.file = 1 << 20;
    let answer = hit(change, "head -c 2000000 /dev/zero > /tmp/f", Limit::File, "file size (1 MiB)");
    answer.stderr_has("File too large");
}

#[test]
fn files_and_directories() {
    let command = "i=0; while [ $i -lt 200 ]; do : > /tmp/f$i || break; i=$((i+1)); done";
    hit(|limits| limits.inodes = 100, command, Limit::Inodes, "files (100)");
}

#[test]
fn the_hardened_profile_is_about_a_quarter() {
    let (normal, hardened) = (Limits::default(), Limits::hardened());
    assert_eq!(hardened.process_memory * 4, normal.process_memory);
    assert_eq!(hardened.processes * 4, normal.processes);
    assert_eq!(hardened.open_files * 4, normal.open_files);
}

#[test]
fn cut_standard_output_puts_nothing_into_standard_error() {
    let sandbox = limited(|limits| limits.output = 100);
    let backend = isopod::backend::Isopod::new("i", sandbox.clone()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let command = "echo e >&2; seq 1 1000";
    let outputs = [
        sandbox.execute_blocking(command).unwrap(),
        sandbox.session().unwrap().execute_blocking(command).unwrap(),
        runtime.block_on(isopod::backend::SandboxBackend::execute(&backend, command.into())).unwrap(),
    ];
    for output in outputs {
        assert_eq!((output.truncated, output.stderr.as_slice()), (true, &b"e\n"[..]));
        assert!(String::from_utf8(output.stdout).unwrap().contains(" bytes left out] ..."));
        assert_eq!(output.limits.len(), 1);
    }
}
