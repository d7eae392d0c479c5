//! Information and configuration: the facts that a sandbox reveals, and the settings that it obeys.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use isopod::Sandbox;
use isopod::backend::layer::{Audit, AuditSink, DryRun};
use isopod::backend::{Backend, BackendError, EditRequest, Isopod, WriteRequest};
use isopod::vfs::Rules;

use crate::Attack;
use crate::arena::{self, Arena, SECRET, text};

pub const ATTACKS: &[Attack] = &[
    ("attack_93_only_declared_variables_are_in_the_environment", |a| {
        let allowed = ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "USER", "_"];
        for look in
            ["env", "printenv", "export -p | sed 's/declare -x //'", "awk 'BEGIN { for (n in ENVIRON) print n }'"]
        {
            let output = a.run(look);
            for line in text(&output).lines() {
                let name = line.split('=').next().unwrap();
                assert!(allowed.contains(&name) || name.starts_with("AWK"), "{look}: {line}");
            }
        }
        a.refuses("cat /proc/self/environ /proc/1/environ", "");
    }),
    ("attack_94_no_error_tells_of_the_host", errors),
    ("attack_95_what_the_system_says_of_itself_is_the_sandbox_s", |a| {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        a.prints("hostname; uname -n; id -un; whoami; echo $$", "isopod\nisopod\nuser\nuser\n1\n");
        let output = a.run("uname -a; cat /proc/version /proc/cpuinfo /proc/mounts /proc/meminfo /proc/uptime; df; ps -ef; nproc; true");
        for word in [host.trim(), kernel.trim(), "/dev/vd", "/dev/sd", "overlay on", "systemd"] {
            assert!(word.is_empty() || word == "isopod" || !text(&output).contains(word), "{word}: {}", text(&output));
        }
    }),
    ("attack_96_a_coarse_clock_tells_only_its_steps", |a| {
        a.limit(|limits| limits.clock_step = Duration::from_millis(100));
        // Fourteen readings of every clock; all are multiples of the step.
        let looks = "for i in {1..14}; do date +%N; touch f$i; stat -c %y f$i | cut -c 21-29; echo ${EPOCHREALTIME#*.}000; done";
        let output = a.run(looks);
        assert!(
            text(&output).lines().count() == 42 && text(&output).lines().all(|n| n.ends_with("00000000")),
            "{}",
            text(&output)
        );
        #[cfg(feature = "python")]
        a.prints(
            "python3 -c 'import os, time\nos.stat(\"f1\").st_mtime_ns % 10**8 or print(0)\nprint(time.time_ns() % 10**8, time.monotonic_ns() % 10**8)'",
            "0\n0 0\n",
        );
    }),
    ("attack_97_nothing_of_the_last_user_is_left", |a| {
        // Memory of the pool and files that another sandbox used.
        for _ in 0..40 {
            arena::neighbour()
                .execute_blocking("x=$SECRET; for i in {1..16}; do x=$x$x; done; echo $x > /tmp/s; rm /tmp/s")
                .unwrap();
        }
        let backwards: String = SECRET.chars().rev().collect();
        for _ in 0..20 {
            a.prints(format!("hostile leftovers {backwards}").as_str(), "0\n");
        }
        a.prints("ls /tmp /home/user; env | grep -c SECRET || true", "/home/user:\n\n/tmp:\n0\n");
    }),
    ("attack_98_files_that_the_host_obeys_are_protected", protected),
    ("attack_99_no_way_of_starting_a_program_gets_round_a_list", lists),
    ("attack_100_a_dry_run_changes_nothing_and_nothing_runs_unrecorded", dry_run),
    ("attack_101_there_is_no_network", |a| {
        a.refuses("exec 3<>/dev/tcp/127.0.0.1/80", "");
        a.refuses("exec 3<>/dev/udp/127.0.0.1/53", "");
        a.refuses("curl http://127.0.0.1/", "network");
        a.refuses("wget http://127.0.0.1/", "");
        #[cfg(feature = "python")]
        for call in [
            "create_connection((\"127.0.0.1\", 80))",
            "gethostbyname(\"localhost\")",
            "socket().connect((\"127.0.0.1\", 80))",
        ] {
            a.refuses(&format!("python3 -c 'import socket; socket.{call}'"), "");
        }
    }),
];

/// Provokes errors over every kind of mount. The arena searches their texts.
fn errors(a: &mut Arena) {
    for directory in ["ro", "rw", "over"] {
        fs::create_dir(a.host(directory)).unwrap();
        fs::write(a.host(directory).join("file"), "x").unwrap();
        fs::create_dir(a.host(directory).join("sub")).unwrap();
    }
    let builder = Sandbox::builder()
        .mount_read_only(a.host("ro"), "/ro")
        .mount(a.host("rw"), "/rw")
        .mount_overlay(a.host("over"), "/over");
    let sandbox = a.build(builder);
    let fail = "cat none; cat sub; echo x > sub; echo x > file/x; rm none; rmdir file; mkdir file; ls file/x; cd none; mv none x; \
                mv sub file; ln -s loop loop; cat loop; chmod 777 none; touch none/x; cp -r none x; find none; grep x none; source none; \
                ./none; ./file; ./sub; tar -xf file; unzip file; gunzip file; jq . file; awk -f none; sed -f none file; diff none file; \
                patch < file; sort none; head -c x file; truncate -s 1P file; split -b 0 file; df none; du none; stat none; \
                readlink none; realpath none/x; tee sub < file; xargs -a none; bc none; date -r none; mktemp -p none; split none";
    for place in ["/ro", "/rw", "/over", "/tmp", "/proc", "/dev", "/bin"] {
        a.run(format!("cd {place}; {fail}; true").as_str());
        for path in ["none", "sub", "file/x", "", "a\0b", "../../../x"] {
            let fs = sandbox.fs();
            let at = format!("{place}/{path}");
            for error in
                [fs.read(&at).err(), fs.write(&at, "x").err(), fs.rename(&at, "/ro/x").err(), fs.read_link(&at).err()]
            {
                a.note(error.map(|error| error.to_string()).unwrap_or_default());
            }
        }
    }
    #[cfg(feature = "python")]
    a.run("python3 -c 'import os; os.open(\"/ro/none\", 0)'; python3 -c 'raise Exception'; python3 /rw/none; python3 -c 'import none'; true");
    for case in
        ["trap", "exhaust-stack", "bad-handle", "handle-after-drop", "handle-flood", "reenter", "long-string 40000000"]
    {
        a.run(format!("hostile {case}; true").as_str());
    }
}

fn protected(a: &mut Arena) {
    for (name, text) in [(".git/config", "[core]\n"), (".git/hooks/pre-commit", "#!/bin/sh\n"), ("src/main.rs", "")] {
        fs::create_dir_all(a.host(name).parent().unwrap()).unwrap();
        fs::write(a.host(name), text).unwrap();
    }
    let attempts = [
        "echo x > .git/config",
        "echo x >> .git/hooks/pre-commit",
        "echo x > .git/hooks/post-commit",
        "chmod +x .git/hooks/pre-commit",
        "mv .git d",
        "mkdir -p e/hooks; mv e .git/modules && mv .git/modules .git/hooks",
        "echo x > f; mv f .bashrc",
        "echo x > g; ln g .mcp.json",
        "ln -s g .gitmodules",
        "mkdir .vscode",
        "rm .git/config",
        "cp src/main.rs .envrc",
        "echo x > .GIT/CONFIG",
        "truncate -s 0 .git/config",
        "touch -d @1 .git/config",
        "ln .git/config c && echo x > c",
        "ln -s .git h; echo x > h/config",
        "cd .git; echo x > config",
        "cd /tmp; mkdir -p .git/hooks; echo x > .git/hooks/post-commit; tar -cf t.tar .git; cd /workspace; tar -xf /tmp/t.tar",
        "cd /tmp; zip -qr t.zip .git; cd /workspace; unzip -qo /tmp/t.zip",
        "cp -r /tmp/.git/hooks .git/",
    ];
    for attempt in attempts {
        let output = a.run(attempt);
        assert_ne!(output.exit_code, 0, "{attempt}: {}", text(&output));
        assert_eq!(fs::read_to_string(a.host(".git/config")).unwrap(), "[core]\n", "{attempt}");
        assert_eq!(fs::read_to_string(a.host(".git/hooks/pre-commit")).unwrap(), "#!/bin/sh\n", "{attempt}");
        assert_eq!(fs::read_dir(a.host(".git/hooks")).unwrap().count(), 1, "{attempt}");
    }
    a.prints("cat .git/config; echo ok > src/new; cat src/new", "[core]\nok\n");
    let rules = Rules::standard().allow(".vscode");
    a.build(Sandbox::builder().mount(a.host(""), "/workspace").protect(rules));
    a.refuses("mkdir .vscode; echo {} > .vscode/settings.json; echo x > .bashrc", "");
    assert!(fs::exists(a.host(".vscode/settings.json")).unwrap() && !fs::exists(a.host(".bashrc")).unwrap());
}

const WAYS: [&str; 14] = [
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
    "echo f | xargs rm",
    "find f -exec rm {} ';'; false",
    "awk 'BEGIN { exit system(\"rm f\") }'",
];

fn lists(a: &mut Arena) {
    for list in [
        Sandbox::builder().deny_programs(["rm"]),
        Sandbox::builder().allow_programs(["cp", "ln", "chmod", "env", "timeout", "cat", "find", "xargs", "awk"]),
    ] {
        let sandbox = a.build(list);
        for way in WAYS {
            sandbox.fs().write("f", "still here\n").unwrap();
            a.refuses(way, "isopod: program not allowed: rm\n");
            a.prints("cat f", "still here\n");
        }
        // A fork has the same list of permitted programs.
        let fork = sandbox.snapshot().fork().unwrap();
        assert_eq!(fork.execute_blocking("rm f").unwrap().exit_code, 126);
    }
}

fn dry_run(a: &mut Arena) {
    struct Full;
    impl AuditSink for Full {
        fn record(&self, _line: &[u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
    }
    fs::write(a.host("kept"), "one\ntwo\n").unwrap();
    let overlaid = a.build(Sandbox::builder().mount_overlay(a.host(""), "/workspace"));
    let inner: Arc<dyn Backend> = Arc::new(Isopod::new("i", overlaid).unwrap());
    arena::tokio().block_on(async {
        let dry = DryRun::around(inner.clone()).unwrap();
        dry.edit(EditRequest::new("/workspace/kept", "two", "2")).await.unwrap();
        dry.write(WriteRequest::new("/workspace/new", "x")).await.unwrap();
        dry.sandbox().unwrap().execute("rm -rf /workspace/*; echo x > made".into()).await.unwrap();
        assert_eq!(dry.diff("/workspace").await.unwrap().changes.len(), 2);
        let audit = Audit::around(inner, Full, "x");
        let refused = audit.sandbox().unwrap().execute("echo x > ran".into()).await.unwrap_err();
        assert!(matches!(refused, BackendError::Refused { layer: "audit", .. }), "{refused}");
        assert!(audit.write(WriteRequest::new("/workspace/ran", "x")).await.is_err());
    });
    assert_eq!(fs::read_to_string(a.host("kept")).unwrap(), "one\ntwo\n");
    a.prints("cat kept; ls", "one\ntwo\nkept\n");
}
