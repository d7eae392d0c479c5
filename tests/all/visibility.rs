//! Nothing of the host is visible unless it was mounted.

use isopod::Sandbox;

use crate::support::{directory, run, run_in};

#[test]
fn the_root_is_the_sandbox_s_own() {
    run("ls /").prints("bin\ndev\netc\nhome\nproc\ntmp\nusr\nworkspace\n");
    run("cat /etc/shadow").code(1).stdout("");
    run("cat /etc/passwd").prints("root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/bash\n");
    run("cat /proc/self/environ /proc/1/cmdline").code(1).stdout("");
    run("hostname; whoami").prints("isopod\nuser\n");
}

#[test]
fn only_declared_variables_are_in_the_environment() {
    let names = run("env | cut -d= -f1 | sort").code(0).0.stdout;
    let names = String::from_utf8(names).unwrap();
    let allowed = ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "USER", "_"];
    assert!(names.lines().all(|name| allowed.contains(&name)), "{names}");
}

#[test]
fn a_mounted_directory_has_no_way_out() {
    let outside = directory(&[("secret", "canary")]);
    let inside = directory(&[("file", "inside")]);
    let secret = outside.path().join("secret");
    std::os::unix::fs::symlink(&secret, inside.path().join("absolute")).unwrap();
    let up = format!("../{}/secret", outside.path().file_name().unwrap().to_str().unwrap());
    std::os::unix::fs::symlink(&up, inside.path().join("relative")).unwrap();
    std::os::unix::fs::symlink("/", inside.path().join("root")).unwrap();
    let sandbox = Sandbox::builder().mount(inside.path(), "/workspace").build().unwrap();
    let secret = secret.display();
    for command in [
        "cat absolute".to_owned(),
        "cat relative".to_owned(),
        format!("cat root{secret}"),
        format!("cat {secret}"),
        format!("cat ../../../../../../..{secret}"),
        format!("cd ..; cat {}", &up[3..]),
        "cat relative/; cat absolute/.; ls -l relative/..".to_owned(),
        "echo x > relative; echo x > absolute".to_owned(),
    ] {
        let output = run_in(&sandbox, command.as_str()).0;
        assert!(!String::from_utf8_lossy(&output.output).contains("canary"), "{command}");
    }
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "canary");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    // A link to the root is the sandbox's own root.
    run_in(&sandbox, "cat root/etc/hostname").prints("isopod\n");
}

#[test]
fn errors_show_no_path_of_the_host() {
    let inside = directory(&[("file", "x")]);
    let sandbox = Sandbox::builder().mount_read_only(inside.path(), "/workspace").build().unwrap();
    let host = inside.path().to_str().unwrap();
    for command in ["cat nothing", "echo x > file", "rm file", "mkdir d", "ls file/x", "cd nothing", "mv file other"] {
        let output = run_in(&sandbox, command).0;
        assert_ne!(output.exit_code, 0, "{command}");
        assert!(!String::from_utf8_lossy(&output.output).contains(host), "{command}");
    }
}

#[test]
fn two_sandboxes_see_nothing_of_each_other() {
    let (one, two) = (crate::support::sandbox(), crate::support::sandbox());
    run_in(&one, "echo secret > /tmp/file").code(0);
    run_in(&two, "cat /tmp/file").code(1).stdout("");
}
