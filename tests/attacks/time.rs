//! CPU and time: no command stops its clock.

use std::time::{Duration, Instant};

use isopod::backend::{Backend, Cut, GlobRequest, GrepRequest, Isopod};
use isopod::{Command, ExecuteError};

use crate::Attack;
use crate::arena::{self, Arena, count};
use crate::host::isopod;

pub const ATTACKS: &[Attack] = &[
    ("attack_01_an_endless_loop_of_the_shell_is_stopped", |a| a.times_out("while :; do :; done")),
    ("attack_02_a_loop_without_a_single_call_is_stopped", |a| a.times_out("hostile spin")),
    ("attack_03_a_sleep_of_years_is_stopped", |a| {
        a.times_out("sleep 1e9");
        a.times_out("read -t 1000000000 x < <(sleep 1e9)");
    }),
    ("attack_04_who_reads_without_input_is_at_the_end_at_once", |a| a.prints("cat; read x; cat -; echo $?", "0\n")),
    ("attack_05_who_reads_where_nobody_writes_is_at_the_end_or_stopped", |a| {
        a.prints("exec 3< <(:); read x <&3; echo $?; true | cat", "1\n");
        a.times_out("read x < <(sleep 1e9)");
    }),
    ("attack_06_a_writer_and_one_who_does_not_read_are_stopped_and_reaped", |a| a.times_out("yes | sleep 9999")),
    ("attack_07_what_runs_in_the_background_ends_with_its_command", |a| {
        a.prints(
            "sleep 9999 & (sleep 9999 &) ; nohup sleep 9999 >/dev/null 2>&1 & setsid sleep 9999 & echo left",
            "left\n",
        );
        assert_eq!(a.sandbox().kernel().processes(), 0);
    }),
    ("attack_08_no_trap_holds_off_the_end", |a| {
        a.times_out("trap '' TERM INT XCPU HUP ALRM; trap 'while :; do :; done' EXIT; while :; do :; done");
        // Children inherit an ignored signal.
        a.times_out("trap '' TERM; timeout 0.01 sh -c 'while :; do :; done'");
    }),
    ("attack_09_a_thousand_short_sleeps_do_not_make_the_host_spin", short_sleeps),
    ("attack_10_instructions_that_take_long_delay_the_end_only_a_little", |a| a.times_out("hostile fill-memory")),
    ("attack_11_no_timeout_is_unlimited_by_accident", odd_timeouts),
    ("attack_12_a_computation_that_never_ends_is_stopped", |a| {
        for command in [
            "for ((i = 0; i < 4611686018427387904; i++)); do :; done",
            "awk 'BEGIN { while (1) i++ }'",
            "seq 1 99999999999999 > /dev/null",
            "jq -n 'last(range(1e18))'",
            "echo '2^2^40' | bc",
        ] {
            a.times_out(command);
        }
        #[cfg(feature = "python")]
        a.times_out("python3 -c 'while True: pass'");
    }),
    ("attack_13_a_search_of_the_host_s_keeps_its_time", search),
    ("attack_14_who_goes_away_takes_the_command_along", dropped),
];

fn short_sleeps(a: &mut Arena) {
    let cpu = || rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Waiting uses no processor time. This measures only this process, so other work of the machine does not count.
    let begin = cpu();
    a.prints("for i in {1..40}; do sleep 1 & done; wait", "");
    let (end, seconds) = (cpu(), |time: rustix::time::Timespec| time.tv_sec as f64 + time.tv_nsec as f64 / 1e9);
    assert!(seconds(end) - seconds(begin) < 0.5, "{} s computed", seconds(end) - seconds(begin));
    a.prints("for i in {1..20}; do (for j in {1..50}; do sleep .01; done) & done; wait; echo $?", "0\n");
}

fn odd_timeouts(a: &mut Arena) {
    let sandbox = a.sandbox();
    let refusal = |time| sandbox.execute_blocking(Command::shell("sleep 1e9").timeout(time)).unwrap_err();
    assert_eq!(refusal(Duration::ZERO), ExecuteError::ZeroTimeout);
    for time in [Duration::MAX, Duration::from_nanos(u64::MAX), Duration::from_secs(u64::MAX), Duration::from_secs(301)]
    {
        assert!(matches!(refusal(time), ExecuteError::Limit(_)), "{time:?}");
    }
    let output = a.run_for("sleep 1e9", Duration::from_nanos(1));
    assert_eq!(output.exit_code, 124);
    for time in ["0", "-1", "nan", "inf", "18446744073709551615", "1e400", ""] {
        let output = a.host_command(&mut isopod(&["run", &format!("--timeout={time}"), "--", "sleep 1e9"]));
        assert_eq!(output.status.code(), Some(2), "{time}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn search(a: &mut Arena) {
    a.limit(|limits| limits.inodes = 200_000);
    let sandbox = a.sandbox();
    for number in 0..count(5_000, 100_000) {
        let directory = format!("/tmp/d{}", number / 20);
        sandbox.fs().create_dir_all(&directory).unwrap();
        sandbox.fs().write(&format!("{directory}/f{number}"), "some text\nmore text\n").unwrap();
    }
    let backend = Isopod::new("i", sandbox).unwrap();
    // Too short for so many files on any machine.
    let time = Duration::from_nanos(1);
    arena::tokio().block_on(async {
        let begin = Instant::now();
        let grepped = backend.grep(GrepRequest { time, ..GrepRequest::literal("nothing", "/tmp") }).await.unwrap();
        a.note_time(begin.elapsed(), time);
        let begin = Instant::now();
        let globbed = backend.glob(GlobRequest { time, ..GlobRequest::new("**/nothing", "/tmp") }).await.unwrap();
        a.note_time(begin.elapsed(), time);
        assert_eq!((grepped.cut, globbed.cut), (Some(Cut::Budget), Some(Cut::Budget)));
        // A search whose future was dropped ends too: the arena counts threads.
        let long = GrepRequest { time: Duration::from_secs(60), ..GrepRequest::literal("nothing", "/tmp") };
        let _ = tokio::time::timeout(time, backend.grep(long)).await;
    });
}

fn dropped(a: &mut Arena) {
    for command in ["while :; do :; done", "sleep 1e9 | cat", "hostile spin", "yes > /dev/null & wait"] {
        let sandbox = a.sandbox();
        arena::tokio().block_on(async {
            let running = sandbox.execute(command);
            assert!(tokio::time::timeout(Duration::from_millis(50), running).await.is_err(), "{command} ended");
        });
        let begin = Instant::now();
        arena::settle("processes", || sandbox.kernel().processes() == 0);
        a.note_time(begin.elapsed(), Duration::from_millis(750));
    }
}
