//! Which programs may be started: no way of naming one gets round it.

use isopod::Sandbox;

use crate::support::{cli, run_in};

const WAYS: [&str; 11] = [
    "rm f",
    "/bin/rm f",
    "eval 'r''m f'",
    "sh -c 'rm f'",
    "$(echo rm) f",
    "cp /bin/rm x; ./x f",
    "ln -s /bin/rm y; ./y f",
    "printf '#!/bin/rm\\n' > z; chmod +x z; ./z",
    "env rm f",
    "timeout 5 rm f",
    "exec rm f",
];

#[test]
fn attack_99_no_way_of_starting_a_program_gets_round_the_list() {
    let lists = [
        Sandbox::builder().deny_programs(["rm"]),
        Sandbox::builder().allow_programs(["cp", "ln", "chmod", "env", "timeout", "cat"]),
    ];
    for list in lists {
        let sandbox = list.build().unwrap();
        for way in WAYS {
            sandbox.fs().write("f", "still here\n").unwrap();
            let answer = run_in(&sandbox, way).stderr_has("isopod: program not allowed: rm\n");
            assert_ne!(answer.0.exit_code, 0, "{way}");
            run_in(&sandbox, "cat f").prints("still here\n");
        }
        // A fork has the same list.
        run_in(&sandbox.snapshot().fork().unwrap(), "rm f").code(126);
    }
}

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
