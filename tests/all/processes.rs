//! Processes, pipes, signals and the files they share.

use std::time::Duration;

use isopod::Runtime;

use crate::support::{run, run_in, sandbox};

#[test]
fn a_broken_pipe_ends_the_writer_quietly() {
    run("yes | head -1").prints("y\n").within(Duration::from_secs(1));
    run("yes | head -1; echo ${PIPESTATUS[0]}").prints("y\n141\n");
    run("seq 1 10000000 | head -2").prints("1\n2\n").within(Duration::from_secs(2));
}

#[test]
fn a_pipe_without_a_writer_is_at_its_end() {
    run("true | cat; echo end").prints("end\n");
    run("cat; echo end").prints("end\n");
    run("cat /dev/stdin; echo end").prints("end\n");
}

#[test]
fn one_offset_is_shared() {
    run("{ echo a; echo b; } > /tmp/f; cat /tmp/f").prints("a\nb\n");
    run("{ echo out; echo err >&2; echo out; } > /tmp/f 2>&1; cat /tmp/f").prints("out\nerr\nout\n");
    run("(echo a; /bin/echo b; sh -c 'echo c') > /tmp/f; cat /tmp/f").prints("a\nb\nc\n");
    run("printf '1\\n2\\n3\\n' > /tmp/f; { read x; cat; } < /tmp/f").prints("2\n3\n");
    run("echo 1 > /tmp/f; echo 2 >> /tmp/f; echo 3 >> /tmp/f; cat /tmp/f").prints("1\n2\n3\n");
}

#[test]
fn descriptors_have_names() {
    run("echo hi | cat /dev/stdin").prints("hi\n");
    run("echo hi > /dev/stdout").prints("hi\n");
    run("echo hi > /dev/stderr").stdout("").stderr("hi\n").code(0);
    run("exec 3> /tmp/f; echo three >&3; exec 3>&-; cat /tmp/f").prints("three\n");
    run("echo text > /tmp/f; exec 5< /tmp/f; cat /dev/fd/5").prints("text\n");
    run("cat <(echo one) <(echo two)").prints("one\ntwo\n");
}

#[test]
fn a_killed_process_is_128_and_its_signal() {
    run("sleep 100 & kill $!; wait $!").code(143);
    run("sleep 100 & kill -9 $!; wait $!").code(137);
    run("sh -c 'kill -INT $$'; echo $?").stdout("130\n");
    run("kill 99999").code(1).stderr_has("No such process");
}

#[test]
fn what_a_command_left_behind_ends_with_it() {
    let sandbox = sandbox();
    run_in(&sandbox, "sleep 1000 & sleep 1000 | cat & (sleep 1000; echo no) &").code(0).within(Duration::from_secs(1));
    assert_eq!(sandbox.kernel().processes(), 0);
    assert_eq!(sandbox.kernel().memory().held(), 0);
}

#[test]
fn a_child_outlives_its_parent_within_the_command() {
    run(
        "(sleep 0.2; echo late > /tmp/f) & wait; (( sleep 0.1; echo orphan > /tmp/g ) &); sleep 0.5; cat /tmp/f /tmp/g",
    )
    .prints("late\norphan\n");
}

#[test]
fn a_child_does_not_wait_for_a_parent_that_computes() {
    run("shopt -s lastpipe; touch /tmp/f | until [ -e /tmp/f ]; do :; done; echo seen")
        .prints("seen\n")
        .within(Duration::from_secs(2));
}

#[test]
fn a_tower_of_shells_stands() {
    let step = "if [ $1 -gt 0 ]; then bash /tmp/step $(($1 - 1)); else echo top; fi";
    run(format!("echo '{step}' > /tmp/step; bash /tmp/step 50")).prints("top\n");
}

#[test]
fn a_file_runs_by_its_mode_and_its_first_line() {
    run("printf '#!/bin/sh\\necho \"$0 $1\"\\n' > /tmp/s; /tmp/s; echo $?")
        .stdout("126\n")
        .stderr_has("Permission denied");
    run("printf '#!/bin/sh\\necho \"$0 $1\"\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s arg").prints("/tmp/s arg\n");
    run("printf '#!/usr/bin/env sh\\necho env $1\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s arg").prints("env arg\n");
    run("printf '#!/no/such\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s").code(127);
    run("cp /bin/tr /tmp/mytr; echo abc | /tmp/mytr a-c A-C").prints("ABC\n");
    run("cp /bin/cat /tmp/other; echo hi | /tmp/other").prints("hi\n");
    run("ln -s /bin/cat /tmp/c; echo hi | /tmp/c").prints("hi\n");
    run("/tmp").code(126).stderr_has("Is a directory");
    run("nonesuch").code(127).stderr("sh: line 1: nonesuch: command not found\n");
    run("./nonesuch").code(127).stderr_has("No such file or directory");
}

#[test]
fn programs_are_found_through_path() {
    run("mkdir /tmp/bin; printf '#!/bin/sh\\necho mine\\n' > /tmp/bin/tool; chmod +x /tmp/bin/tool; PATH=/tmp/bin:$PATH; tool")
        .prints("mine\n");
    run("PATH=/nowhere; cat").code(127);
}

#[test]
fn a_program_in_front_hands_its_descriptors_on() {
    run("env A=b sh -c 'echo $A; cat' < /etc/hostname").prints("b\nisopod\n");
    run("timeout 5 echo hi").prints("hi\n");
    run("timeout 0.1 sleep 100").code(124);
}

#[test]
fn a_path_without_end_is_refused_at_once() {
    run("x=:; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do x=$x$x; done; PATH=$x; nonesuch")
        .code(126)
        .stderr_has("Argument list too long")
        .within(Duration::from_secs(1));
}

#[test]
fn a_loop_of_interpreters_ends() {
    run("printf '#!/tmp/b\\n' > /tmp/a; printf '#!/tmp/a\\n' > /tmp/b; chmod +x /tmp/a /tmp/b; /tmp/a").code(126);
}

#[test]
fn a_pool_of_nothing_still_runs() {
    let sandbox = isopod::Sandbox::builder().runtime(Runtime::pooling(0).unwrap()).build().unwrap();
    run_in(&sandbox, "echo hi | cat").prints("hi\n");
}

#[test]
fn a_pool_that_is_full_makes_commands_wait_and_never_hang() {
    let runtime = Runtime::pooling(2).unwrap();
    let sandbox = isopod::Sandbox::builder().runtime(runtime).build().unwrap();
    let tokio = tokio::runtime::Runtime::new().unwrap();
    // Each command needs three processes; together they need far more than the pool has.
    let answers = tokio.block_on(async {
        let tasks = (0..10).map(|n| {
            let sandbox = sandbox.clone();
            tokio::spawn(
                async move { sandbox.execute(format!("sleep 0.05 | cat; echo {n} | cat")).await.unwrap().stdout },
            )
        });
        futures::future::join_all(tasks.collect::<Vec<_>>()).await
    });
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), format!("{n}\n").into_bytes());
    }
}

#[test]
fn a_deep_recursion_ends_the_process_and_not_the_host() {
    let sandbox = sandbox();
    let output = run_in(&sandbox, "f() { f; }; f").0;
    assert_ne!(output.exit_code, 0);
    run_in(&sandbox, "echo ok").prints("ok\n");
}

/// A regression test: each level that returned tried again, so the recursion did not end.
#[test]
fn an_eval_or_a_source_that_calls_itself_ends_with_one_error() {
    let sandbox = sandbox();
    for recursion in [
        "x='eval \"$x\"'; eval \"$x\"",
        "x='eval \"$x\"; eval \"$x\"'; eval \"$x\"",
        "echo 'source s' > s; source s",
        "echo '. ./t; . ./t' > t; . ./t",
        "echo 'eval \"source u\"; source u' > u; source u",
    ] {
        let output = run_in(&sandbox, recursion).within(Duration::from_secs(20)).0;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.exit_code != 0 && !output.timed_out, "{recursion}: {said}");
        assert_eq!(said.matches("nested too deep").count(), 1, "{recursion}: {said}");
        run_in(&sandbox, "echo ok").prints("ok\n");
    }
}

/// A regression test: such a file ran as a script of one comment and ended with 0.
#[test]
fn a_file_that_names_a_program_that_is_not_there_is_127() {
    let sandbox = sandbox();
    run_in(&sandbox, "sed s/tr/nonesuch/ /bin/tr > f; chmod +x f; cat f").prints("#!isopod-program nonesuch\n");
    run_in(&sandbox, "./f").code(127).stdout("").stderr_has("required file not found");
    run_in(&sandbox, "sh -c ./f; echo $?; (./f); echo $?; ./f | cat; echo ${PIPESTATUS[0]}").stdout("127\n127\n127\n");
    run_in(&sandbox, "env ./f; echo $?; find f -exec ./f \\;; exec ./f").stdout("127\n").code(127);
    for missing in ["nonesuch", "/bin/nonesuch", "env nonesuch", "exec nonesuch"] {
        run_in(&sandbox, missing).code(127).stdout("");
    }
    // A missing program that the embedder names is an error of the embedder, not an exit code.
    let started = sandbox.execute_blocking(isopod::Command::program(["nonesuch"]));
    assert!(matches!(started, Err(isopod::ExecuteError::Program(..))));
}

#[test]
fn processor_time_is_told_to_the_shell_and_its_children() {
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    // Real time and processor time in milliseconds, of the shell itself, of a subshell and of a program.
    let command = format!(
        "TIMEFORMAT='%3R %3U %3S'
        time {{ {work}; }}; time ( {work} ); time sh -c '{work}'; time sleep 0.3; times
        env time -f '%e %U %S' sh -c '{work}'"
    );
    let output = run(command.as_str()).code(0).0;
    let stderr = String::from_utf8(output.stderr).unwrap();
    let times: Vec<Vec<f64>> =
        stderr.lines().map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    assert_eq!(times.len(), 5, "{stderr}");
    for (which, time) in times.iter().enumerate() {
        let (real, user) = (time[0], time[1]);
        assert!(user <= real + 0.02, "{which}: {stderr}");
        // A sleeping process uses no processor time.
        let is_right = if which == 3 { real >= 0.3 && user < 0.1 } else { user > 0.0 };
        assert!(is_right, "{which}: {stderr}");
    }
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.lines().count() == 2 && !stdout.contains("0m0.000s 0m0.000s"), "{stdout}");
}
