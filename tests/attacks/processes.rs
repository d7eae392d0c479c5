//! Processes, files, pipes: each has a bound, and exceeding it is an errno.

use std::time::Duration;

use isopod::Limit;

use crate::Attack;
use crate::arena::{self, Arena, count, neighbour, text};

pub const ATTACKS: &[Attack] = &[
    ("attack_27_a_fork_bomb_meets_the_process_limit", |a| {
        let output = a.run_for(":(){ :|:& };:; sleep 1", Duration::from_secs(2));
        assert!(text(&output).contains("limit exceeded: processes (64)"), "{}", text(&output));
        #[cfg(feature = "python")]
        a.run_for("python3 -c 'import subprocess as s\nwhile 1: s.Popen([\"sleep\", \"9\"])'", Duration::from_secs(2));
    }),
    ("attack_28_thousands_of_spawns_in_a_row_leave_nothing", |a| {
        a.prints(format!("for ((i = 0; i < {}; i++)); do /bin/true; done", count(1_000, 10_000)).as_str(), "");
    }),
    ("attack_29_a_pipeline_of_500_stages_is_an_error", |a| {
        a.refuses("c=cat; for i in {1..499}; do c=\"$c | cat\"; done; eval \"$c\"", "limit exceeded: processes (64)");
    }),
    ("attack_30_a_flood_of_open_files_is_an_error", |a| {
        let output = a.hits("i=10; while eval \"exec $i>f$i\"; do i=$((i+1)); done; echo stopped", Limit::OpenFiles);
        assert!(text(&output).contains("Too many open files") && text(&output).contains("stopped"));
        a.hits("hostile descriptor-flood", Limit::OpenFiles);
        a.prints("hostile close-flood", "closed\n");
    }),
    ("attack_31_recursion_of_functions_subshells_and_files_ends_with_one_error", |a| {
        a.refuses("f() { f; }; f", "maximum function nesting level exceeded");
        a.refuses("f() { (f); }; f", "limit exceeded: processes (64)");
        a.refuses("f() { echo $(f); }; f; exit 1", "");
        for recursion in
            ["echo 'source s' > s; source s", "x='eval \"$x\"'; eval \"$x\"", "echo '. ./t; . ./t' > t; . ./t"]
        {
            let output = a.says(recursion, "nested too deep");
            assert_eq!(text(&output).matches("nested too deep").count(), 1, "{recursion}");
        }
        a.refuses("printf '#!./s\\n' > s; chmod +x s; ./s", "");
        a.refuses("echo './s' > s; chmod +x s; ./s", "limit exceeded: processes (64)");
        a.refuses("awk 'function f(n) { return f(n + 1) } BEGIN { f(0) }'", "");
        a.refuses("jq -n 'def f: 1 + f; f'", "");
        #[cfg(feature = "python")]
        a.refuses("python3 -c 'def f(): f()\nf()'", "RecursionError");
    }),
    ("attack_32_an_overflow_of_the_stack_ends_its_process_only", |a| {
        a.prints("hostile exhaust-stack 2>/dev/null; echo $?", "139\n");
        a.prints("hostile trap 2>/dev/null; echo $?", "134\n");
    }),
    ("attack_33_nesting_of_any_kind_is_a_limit_error", |a| {
        let many = |text: &str| format!("x=$(printf '%0.s{text}' {{1..20000}}); eval \"$x\"; exit $?");
        for text in ["(", "((", "{ ", "$(", "[[ ( ", "echo $((", "if ", "case x in x) ", "! ", "echo ${x:-", "f() ("] {
            let output = a.run(many(text).as_str());
            assert_ne!(output.exit_code, 0, "{text}");
        }
        a.run("x=$(printf 'cat <<E%s; ' {1..20000}); eval \"$x\"; true");
        a.run("x=$(printf '<<E%s ' {1..20000}); eval \"cat $x\"; true");
        a.refuses("echo $((  $(printf '%0.s(' {1..100000}) 1 ))", "");
        a.refuses("x=$(printf '%0.s(' {1..100000}); [[ a =~ $x ]] || exit 1", "");
        a.refuses("printf '%0.s(' {1..100000} | grep -E -f - /dev/null", "");
        a.refuses("awk \"BEGIN { print $(printf '%0.s(' {1..20000}) 1 }\"", "");
        a.refuses("find . $(printf '%0.s( ' {1..20000}) -true", "");
        a.refuses("expr $(printf '%0.s( ' {1..20000}) 1", "");
        a.refuses("sed \"$(printf '%0.s{' {1..100000})\" /dev/null", "");
        a.says("printf '%0.s(' {1..100000} | bc", "nested too deep");
    }),
    ("attack_34_a_writer_without_a_reader_gets_a_broken_pipe", |a| {
        a.prints("yes | true; echo ${PIPESTATUS[0]}; yes | head -n 1", "141\ny\n");
    }),
    ("attack_35_a_cycle_of_pipes_is_stopped", |a| {
        a.times_out("coproc cat; cat <&${COPROC[0]} >&${COPROC[1]}");
        a.times_out("hostile pipe-to-self");
    }),
    ("attack_36_children_whose_parent_is_gone_are_reaped", |a| {
        a.prints("(sleep 9999 &); (exec sleep 9999 &); sh -c 'sleep 9999 & kill -9 $$'; echo gone", "gone\n");
        a.prints("for i in {1..200}; do (true &); done; echo ok", "ok\n");
    }),
    ("attack_37_no_signal_reaches_another_sandbox", foreign_pids),
];

fn foreign_pids(a: &mut Arena) {
    a.refuses("kill -9 -1", "No such process");
    a.refuses("kill -9 99999", "No such process");
    a.prints("hostile numbers", "refused\n");
    arena::tokio().block_on(async {
        let mut sleeping = neighbour().stream("echo ready; sleep 1000").unwrap();
        assert_eq!(sleeping.next().await.unwrap().bytes, "ready\n");
        let attacker = a.sandbox();
        let shots = "for i in {0..300}; do [ $i != $$ ] && kill -9 $i; done 2>/dev/null; killall sleep; pkill sleep; ps -e | grep -c sleep";
        let output = attacker.execute(shots).await.unwrap();
        a.note(&output.output);
        assert_eq!(output.stdout.last_chunk(), Some(b"0\n"), "{}", text(&output));
        assert!(neighbour().kernel().processes() >= 1, "the neighbour's process is gone");
    });
    arena::settle("the neighbour's processes", || neighbour().kernel().processes() == 0);
}
