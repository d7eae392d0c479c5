//! Programs that may be started. The attempts to get round the list are attacks: see `tests/attacks`.

use isopod::Sandbox;

use crate::support::{cli, run_in};

#[test]
fn a_shell_with_nothing_to_start_is_still_a_shell() {
    let sandbox = Sandbox::builder().allow_programs(Vec::<String>::new()).build().unwrap();
    run_in(&sandbox, "x=$(echo a; (echo b)); echo $x | { read y; echo \"$y\"; }; [ -d / ] && echo yes")
        .prints("a b\nyes\n");
    run_in(&sandbox, "cat /etc/hostname").code(126).stderr_has("Permission denied");
}

#[test]
fn the_command_line_has_the_lists() {
    let answer = cli(&["run", "--deny-programs", "cat,rm", "--", "cat /etc/hostname"]);
    assert_eq!(answer.code, Some(126));
    let answer = cli(&["run", "--allow-programs", "cat", "--", "cat /etc/hostname"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), "isopod\n"));
}
