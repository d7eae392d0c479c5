//! Ways out of a directory of the host: refused, or confined to the sandbox's root. This file only makes up paths; the
//! arena checks that nothing outside was read or changed. The attacks run a second time without `openat2`.

use std::fs;
use std::os::unix::fs::symlink;

use isopod::error::Errno;
use isopod::vfs::{OpenHow, SetTime};
use isopod::{Sandbox, SandboxBuilder};

use crate::Attack;
use crate::arena::{Arena, text};

pub const ATTACKS: &[Attack] = &[
    ("attack_50_dots_do_not_lead_out", |a| {
        let outside = a.known("outside/secret")[1..].to_owned();
        try_all(a, &[&format!("{}{outside}", "../".repeat(50)), &format!("/{}{outside}", "../".repeat(50))]);
    }),
    ("attack_51_an_absolute_path_is_the_sandbox_s", |a| {
        let outside = a.known("outside/secret");
        try_all(a, &[&outside, "/etc/shadow", "/root/.ssh/id_rsa", "/proc/1/environ"]);
        a.prints("grep -c : /etc/passwd", "2\n");
    }),
    ("attack_52_down_and_up_again_is_not_out", |a| {
        fs::create_dir(a.host("a")).unwrap();
        try_all(a, &["a/../../secret", "a/../../outside/secret", "a/../a/../../secret"]);
    }),
    ("attack_53_empty_components_change_nothing", |a| {
        fs::create_dir(a.host("a")).unwrap();
        let outside = a.known("secret");
        try_all(
            a,
            &[&format!("//{outside}"), "/./../secret", "a//..//..//secret", ".//..//./secret", "a/.//..//../secret"],
        );
    }),
    ("attack_54_a_nul_ends_no_path", |a| {
        let fs = a.sandbox().fs();
        for path in ["a\0b", "\0", "../secret\0.txt", "a\0/../../secret"] {
            assert_eq!(fs.read(path).unwrap_err().errno, Errno::Invalid, "{path:?}");
            assert_eq!(fs.write(path, "x").unwrap_err().errno, Errno::Invalid, "{path:?}");
            assert_eq!(fs.symlink(path, "l").unwrap_err().errno, Errno::Invalid, "{path:?}");
        }
        a.run("cat $'a\\0b'; true");
    }),
    ("attack_55_a_relative_link_does_not_lead_out", |a| {
        link(a, "../outside", "to-outside");
        link(a, "../secret", "to-secret");
        try_all(a, &["to-outside/secret", "to-outside", "to-secret", "to-outside/new"]);
    }),
    ("attack_56_an_absolute_link_does_not_lead_out", |a| {
        let (outside, secret) = (a.known("outside"), a.known("secret"));
        link(a, &outside, "to-outside");
        link(a, &secret, "to-secret");
        link(a, "/", "to-root");
        // A link to the root is the sandbox's own root.
        a.prints("cat to-root/etc/hostname", "isopod\n");
        try_all(a, &["to-outside/secret", "to-outside", "to-secret", &format!("to-root{secret}")]);
    }),
    ("attack_57_a_chain_of_fifty_links_is_too_long", |a| {
        for number in 0..50 {
            link(a, &format!("link{}", number + 1), &format!("link{number}"));
        }
        link(a, "../secret", "link50");
        a.refuses("cat link0", "Too many levels of symbolic links");
        try_all(a, &["link0", "link0/x", "link45"]);
    }),
    ("attack_58_a_loop_of_links_ends", |a| {
        link(a, "two", "one");
        link(a, "one", "two");
        link(a, ".", "self");
        a.refuses("cat one", "Too many levels of symbolic links");
        a.run("find -L . | head; grep -R x . ; rg -L x .; cp -rL . /tmp/copy; du -L .; true");
        try_all(a, &["one", "one/x", &"self/".repeat(100)]);
    }),
    ("attack_59_a_trailing_slash_does_not_lead_out", |a| {
        link(a, "../outside", "to-outside");
        link(a, "../outside/", "to-outside-slash");
        link(a, "../secret/", "to-secret");
        try_all(
            a,
            &["to-outside/", "to-outside//", "to-outside-slash", "to-outside-slash/", "to-secret/", "to-secret"],
        );
        a.run("mkdir d; mv d/ to-outside/; mv to-outside/ d/; rmdir to-outside/; mv to-outside-slash/ x; true");
    }),
    ("attack_60_dots_behind_a_link_do_not_lead_out", |a| {
        link(a, "../outside/deep", "l");
        try_all(a, &["l/.", "l/..", "l/../secret", "l/./file", "l/../../secret"]);
    }),
    ("attack_61_links_to_the_host_s_own_descriptors_lead_nowhere", |a| {
        let secret = a.known("secret");
        // An open file of this process, which the sandbox must not find among its descriptors.
        let open = fs::File::open(a.outside("secret")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        link(a, &format!("/proc/self/root{secret}"), "root");
        link(a, &format!("/proc/self/fd/{number}"), "fd");
        link(a, &format!("/dev/fd/{number}"), "dev-fd");
        link(a, "/dev/stdin", "stdin");
        link(a, "/proc/self/cwd/../secret", "cwd");
        try_all(a, &["root", "fd", "dev-fd", "stdin", "cwd", &format!("/proc/self/fd/{number}"), "/proc/self/exe"]);
    }),
    ("attack_62_what_is_made_through_a_dangling_link_stays_inside", |a| {
        let made = a.known("outside/made");
        link(a, &made, "absolute");
        link(a, "../outside/made", "relative");
        try_all(a, &["absolute", "relative"]);
        a.run(
            "echo x > absolute; mkdir relative; cp /etc/passwd relative; tee relative absolute < /etc/hostname; true",
        );
    }),
    ("attack_63_a_hard_link_that_the_host_planted_is_not_written_through", |a| {
        let planted = a.host("planted");
        fs::hard_link(a.outside("outside/planted"), planted).unwrap();
        for write in
            ["echo x > planted", "echo x >> planted", "truncate -s 0 planted", "chmod 777 planted", "touch planted"]
        {
            a.run(format!("{write}; true").as_str());
        }
        let fs = a.sandbox().fs();
        let _ = (fs.append("planted", "x"), fs.set_len("planted", 0), fs.set_mode("planted", 0o777));
        let _ = fs.set_times("planted", SetTime::At(1), SetTime::At(1));
    }),
    ("attack_64_nothing_moves_between_mounts_of_different_rights", |a| {
        fs::create_dir(a.host("ro")).unwrap();
        fs::write(a.host("ro/f"), "read only").unwrap();
        let sandbox = a.build(read_only(a).mount(a.host(""), "/workspace"));
        for (from, to) in
            [("/ro/f", "/workspace/f"), ("/ro/f", "/tmp/f"), ("/workspace/x", "/ro/x"), ("/tmp/x", "/workspace/y")]
        {
            let _ = sandbox.fs().write("/workspace/x", "x").and(sandbox.fs().write("/tmp/x", "x"));
            assert_eq!(sandbox.fs().hard_link(from, to).unwrap_err().errno, Errno::CrossDevice, "{from} {to}");
            assert_eq!(sandbox.fs().rename(from, to).unwrap_err().errno, Errno::CrossDevice, "{from} {to}");
        }
        a.refuses("ln /ro/f /workspace/f", "Invalid cross-device link");
    }),
    ("attack_65_a_read_only_mount_refuses_every_change", |a| {
        fs::create_dir(a.host("ro")).unwrap();
        fs::write(a.host("ro/f"), "read only").unwrap();
        a.build(read_only(a).cwd("/ro"));
        for change in [
            "echo x > f",
            "echo x >> f",
            "echo x > new",
            "truncate -s 0 f",
            "touch f",
            "touch -d @1 f",
            "chmod 777 f",
            "rm f",
            "mkdir d",
            "mv f g",
            "ln f g",
            "ln -s f g",
            "cp /etc/passwd f",
            "rm -rf /ro",
            "sed -i s/r/x/ f",
            "install f g",
        ] {
            a.refuses(change, "Read-only file system");
        }
        assert_eq!(fs::read_to_string(a.host("ro/f")).unwrap(), "read only");
    }),
    ("attack_66_the_root_and_mount_points_stay_where_they_are", |a| {
        let fs = a.sandbox().fs();
        for place in ["/", "/workspace", "/workspace/", "/dev", "/proc"] {
            let errnos =
                [fs.remove_dir(place), fs.rename(place, "/x"), fs.remove_dir_all(place)].map(|a| a.unwrap_err().errno);
            let is_refusal =
                |e: &Errno| matches!(e, Errno::Busy | Errno::ReadOnly | Errno::Invalid | Errno::NotPermitted);
            assert!(errnos.iter().all(is_refusal), "{place}: {errnos:?}");
        }
        a.refuses("rmdir /workspace", "");
        a.refuses("mv /workspace /elsewhere", "");
        a.refuses("rm -rf /", "");
        a.prints("cd /; ls -d /workspace /dev /proc", "/dev\n/proc\n/workspace\n");
    }),
    ("attack_67_names_that_mean_something_elsewhere_are_only_names", |a| {
        let names = ["CON", "NUL", "COM¹", "a:b", "C:\\", "\\\\?\\C:\\x", "..\\secret", "aux.txt", "x ", "x."];
        for name in names {
            a.sandbox().fs().write(name, name).unwrap();
            assert_eq!(fs::read_to_string(a.host(name)).unwrap(), name);
        }
        a.prints("ls -A | wc -l", &format!("{}\n", names.len()));
    }),
    ("attack_68_twins_of_a_protected_name_are_protected", |a| {
        fs::create_dir_all(a.host(".git/hooks")).unwrap();
        for twin in
            [".git/hooks/x", ".GIT/hooks/x", ".git/HOOKS/x", ".gi\u{200c}t/config", ".Git/config", "git~1/config"]
        {
            let written = a.sandbox().fs().write(twin, "evil");
            let is_there = fs::exists(a.host(".git/hooks/x")).unwrap() || fs::exists(a.host(".git/config")).unwrap();
            assert!(written.is_err() && !is_there, "{twin}");
        }
    }),
    ("attack_69_nothing_in_a_name_is_decoded", |a| {
        let overlong = "$'\\xc0\\xae\\xc0\\xae/secret'";
        try_all(
            a,
            &["%2e%2e/secret", "..%2fsecret", "\u{ff0e}\u{ff0e}/secret", "..\u{2215}secret", "\\x2e\\x2e/secret"],
        );
        for name in [overlong, "$'\\xed\\xa0\\x80'", "$'\\xff\\xfe'", "$'..\\xaf'"] {
            let output = a.run(format!("cat {name}; echo x > {name}; mkdir {name}; ls").as_str());
            assert!(!text(&output).contains("secret\n"), "{name}");
        }
    }),
    ("attack_70_no_operation_of_the_owner_leads_out", |a| {
        for (target, name) in [("..", "up"), ("../secret", "secret"), ("../outside/made", "dangling"), ("loop", "loop")]
        {
            link(a, target, name);
        }
        let absolute = a.known("outside/secret");
        let paths = ["../secret", "up/secret", "secret", "up/../../secret", "dangling", "loop", "", "/", &absolute];
        for path in paths {
            everything(a, path);
        }
    }),
    ("attack_71_what_searches_a_directory_does_not_leave_it", |a| {
        fs::write(a.host("file.txt"), "plain").unwrap();
        let outside = a.known("outside");
        for (target, name) in [("..", "up"), ("../secret", "file"), (outside.as_str(), "absolute")] {
            link(a, target, name);
        }
        for search in [
            "grep -r CANARY . ..",
            "grep -R CANARY .",
            "rg -L CANARY .",
            "find -L . -name 'secre*' -exec cat {} +",
            "cat up/* */secret ../secret",
            "shopt -s globstar; cat **/*",
            "tar -chf - file absolute up/secret | grep -a CANARY",
            "cp -rL . /tmp/copy; cat /tmp/copy/*",
            "echo up/* absolute/*; ls -R; ls -L up absolute",
        ] {
            let output = a.run(format!("{search}; true").as_str());
            assert!(!text(&output).contains("deep"), "{search}: what is outside is listed");
        }
    }),
];

/// Every use of a path by a guest, in one line each.
const COMMANDS: [&str; 22] = [
    "cat P",
    "ls -la P",
    "stat P",
    "head -c 10 < P",
    "echo x > P",
    "echo x >> P",
    "cp P copy",
    "cp /etc/hostname P",
    "mv P moved",
    "mv /etc/hostname P",
    "ln P hard",
    "ln -s x P",
    "rm -f P",
    "rmdir P",
    "mkdir P",
    "touch P",
    "chmod 777 P",
    "truncate -s 0 P",
    "readlink -f P",
    "cd P; ls",
    "source P",
    "tar -cf - P | tar -tf -",
];

/// Runs every command and operation with these paths. The arena checks the effects.
fn try_all(a: &mut Arena, paths: &[&str]) {
    for path in paths {
        let quoted = format!("'{path}'");
        let lines: Vec<String> =
            COMMANDS.iter().map(|command| format!("({})", command.replace('P', &quoted))).collect();
        a.run(format!("{}; cat copy moved hard; true", lines.join("; ")).as_str());
        everything(a, path);
    }
    #[cfg(feature = "python")]
    for path in paths {
        let quoted = format!("{path:?}");
        let calls =
            ["open(p).read()", "os.listdir(p)", "open(p, 'w')", "os.rename(p, 'q')", "os.link(p, 'q')", "os.remove(p)"];
        let tries: String =
            calls.iter().map(|call| format!("try: print({call})\nexcept Exception as e: print(e)\n")).collect();
        a.run(isopod::Command::program(["python3", "-c", &format!("import os\np = {quoted}\n{tries}")]));
    }
}

/// Runs every operation of the embedder on a path.
fn everything(a: &mut Arena, path: &str) {
    let fs = a.sandbox().fs();
    if let Ok(bytes) = fs.read(path) {
        a.note(bytes);
    }
    let how = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    a.note(format!("{:?}", fs.read_dir(path)));
    a.note(format!("{:?}", fs.stat(path)));
    a.note(format!("{:?}", fs.read_link(path)));
    let _ = (fs.open(path, &how).map(drop), fs.set_mode(path, 0o777), fs.set_len(path, 0));
    let _ = (fs.set_times(path, SetTime::Now, SetTime::Now), fs.write(path, "owned"), fs.append(path, "owned"));
    let _ = (fs.write("own", "x"), fs.rename("own", path), fs.hard_link("own", path), fs.symlink("x", path));
    let _ = (fs.create_dir(path), fs.create_dir_all(path), fs.hard_link(path, "second"), fs.rename(path, "third"));
    for name in ["second", "third"] {
        a.note(fs.read(name).unwrap_or_default());
    }
    let _ = (fs.remove_file(path), fs.remove_dir(path), fs.remove_dir_all(path));
}

fn link(a: &Arena, target: &str, name: &str) {
    symlink(target, a.host(name)).unwrap();
}

fn read_only(a: &Arena) -> SandboxBuilder {
    Sandbox::builder().mount_read_only(a.host("ro"), "/ro")
}
