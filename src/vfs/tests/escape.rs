//! Attempts to leave a directory of the host, and special files in it. The numbers are those of the list of attacks.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Every call with a path that could change or reveal something.
const CALLS: [&str; 19] = [
    "cat",
    "stat",
    "ls",
    "realpath",
    "readlink",
    "put w@ x",
    "put wct@ x",
    "put wa@ x",
    "truncate 0",
    "chmod 777",
    "touch 1",
    "rm",
    "rmdir",
    "mkdir",
    "ln-s x",
    "open rd",
    "lstat",
    "write-atomic@ x",
    "list",
];

/// Runs a test with `openat2` and without it.
fn on_hosts(test: impl Fn(&dyn Fn() -> Host)) {
    test(&Host::new);
    test(&Host::without_openat2);
}

fn line(call: &str, at: &str) -> String {
    match call.split_once('@') {
        Some((call, text)) => format!("{call} {at}{text}"),
        None => format!("{call} {at}"),
    }
}

/// Makes every call on every path. Nothing of the secret may show and nothing outside may change.
fn attack(host: &Host, paths: &[&str]) {
    let outside = host.temp.path().join("outside/canary");
    let before = std::fs::metadata(&outside).unwrap();
    for at in paths {
        for call in CALLS {
            let outcome = host.vfs.run(&line(call, at));
            assert!(!outcome.contains(SECRET) && outcome != "[canary]", "{call} {at}: {outcome}");
        }
        host.vfs.run(&format!("mv {at} /x"));
        host.vfs.run(&format!("ln {at} /y"));
        host.vfs.run(&format!("ln-L {at} /z"));
        host.vfs.run(&format!("mv {at}/ /x/"));
        for name in ["x", "y", "z"] {
            let outcome = host.vfs.run(&format!("cat /{name}"));
            assert!(!outcome.contains(SECRET), "{name} {at}: {outcome}");
        }
        host.check_outside();
    }
    let after = std::fs::metadata(&outside).unwrap();
    assert_eq!(
        (before.mode(), before.modified().unwrap(), before.nlink()),
        (after.mode(), after.modified().unwrap(), after.nlink())
    );
}

#[test]
fn attacks_50_to_53_dots_do_not_lead_out() {
    on_hosts(|host| {
        let host = host();
        host.vfs.check("mkdir /a\nmkdir /a/b");
        let up = "../".repeat(50);
        let (secret, outside) = (format!("/{up}secret"), format!("/a/{up}outside/canary"));
        let root = format!("{}/secret", host.temp.path().display());
        attack(
            &host,
            &[
                &secret,
                &outside,
                &root,
                "/etc/passwd",
                "/a/../../secret",
                "//../secret",
                "/./../secret",
                "/a//..//..//secret",
                "/a/b/../../../outside/canary",
            ],
        );
        assert_eq!(host.vfs.run("cat /etc/passwd"), "NoEntry");
    });
}

#[test]
fn attack_54_a_nul_is_no_part_of_a_path() {
    on_hosts(|host| {
        host().vfs.check("cat /a\0/../secret => Invalid\nmkdir /a\0 => Invalid\nln-s a\0b /l => Invalid");
    });
}

#[test]
fn attacks_55_56_and_59_to_61_links_do_not_lead_out() {
    on_hosts(|host| {
        // A fresh host each time, since an attack may remove or replace the link.
        for at in [
            "/up",
            "/up/",
            "/up/.",
            "/up/..",
            "/up/canary",
            "/up/../secret",
            "/up/../../outside/canary",
            "/deep/up/canary",
        ] {
            for absolute in [false, true] {
                let host = host();
                let target = if absolute { host.temp.path().join("outside") } else { "../outside".into() };
                symlink(&target, host.inside("up")).unwrap();
                std::fs::create_dir(host.inside("deep")).unwrap();
                let target = if absolute { host.temp.path().join("outside") } else { "../../outside".into() };
                symlink(target, host.inside("deep/up")).unwrap();
                attack(&host, &[at]);
            }
        }
        for target in
            ["../secret", "../outside/canary", "./../secret", "/proc/self/root", "/proc/self/fd/0", "/dev/stdin", "/"]
        {
            for at in ["/l", "/l/", "/l/.", "/l/..", "/l/etc/passwd", "/l/secret"] {
                let host = host();
                symlink(target, host.inside("l")).unwrap();
                attack(&host, &[at]);
            }
        }
        let host = host();
        symlink("/proc/self/root", host.inside("root")).unwrap();
        symlink("/dev/stdin", host.inside("stdin")).unwrap();
        host.vfs.check("open r /root => NoEntry\nopen r /stdin => NoEntry\nopen rd /root/ => NoEntry");
    });
}

#[test]
fn attacks_57_and_58_long_chains_and_loops_end() {
    on_hosts(|host| {
        let host = host();
        for n in 1..=50 {
            symlink(format!("{}", n - 1), host.inside(&n.to_string())).unwrap();
        }
        symlink("loop", host.inside("loop")).unwrap();
        symlink("loop/../loop", host.inside("twice")).unwrap();
        host.vfs.check(
            "cat /50 => Loop
        cat /loop => Loop
        cat /loop/x => Loop
        stat /twice => Loop
        put wc /loop x => Loop",
        );
    });
}

#[test]
fn attack_59_trailing_slashes_on_both_sides_of_a_rename() {
    on_hosts(|host| {
        let host = host();
        symlink("../outside", host.inside("out")).unwrap();
        host.vfs.check(
            "mkdir /d
        put wc /f x
        mv /out/ /x => NotDirectory
        mv /d /out/ => NotDirectory
        mv /f /out/ => NotDirectory
        mv /out/ /d/ => NotDirectory
        mv /d /out/canary => NoEntry
        rmdir /out/ => NotDirectory
        open rd /out/ => NoEntry",
        );
        host.check_outside();
    });
}

#[test]
fn attack_62_what_is_made_through_a_dangling_link_stays_inside() {
    on_hosts(|host| {
        let host = host();
        symlink("../made", host.inside("relative")).unwrap();
        symlink(host.temp.path().join("made"), host.inside("absolute")).unwrap();
        host.vfs.check("put wc /relative inside\ncat /made => inside\nput wc /absolute x => NoEntry");
        assert!(host.inside("made").exists());
        host.check_outside();
    });
}

#[test]
fn attack_63_a_hard_link_that_the_host_planted_is_not_written_through() {
    on_hosts(|host| {
        let host = host();
        std::fs::hard_link(host.temp.path().join("secret"), host.inside("planted")).unwrap();
        let before = std::fs::metadata(host.inside("planted")).unwrap();
        host.vfs.check(
            "open r /planted => file
        open w /planted => NotPermitted
        open rt /planted => NotPermitted
        put wa /planted x => NotPermitted
        put wct /planted x => NotPermitted
        truncate 0 /planted => NotPermitted
        chmod 777 /planted => NotPermitted
        touch 1 /planted => NotPermitted
        ln /planted /again
        put w /again x => NotPermitted
        put w /planted x => NotPermitted
        rm /again
        put wc /own x
        ln /own /second
        put w /second y
        chmod 600 /own
        rm /second
        ln /own /third
        put w /own z
        mv /third /own
        put w /third z
        mv /own /planted
        put w /planted z",
        );
        let after = std::fs::metadata(host.temp.path().join("secret")).unwrap();
        assert_eq!(
            (before.len(), before.mode(), before.modified().unwrap()),
            (after.len(), after.mode(), after.modified().unwrap())
        );
        host.check_outside();
        // Another sandbox removes the name that this one created: no more names are accounted for than exist.
        std::fs::hard_link(host.temp.path().join("secret"), host.inside("shared")).unwrap();
        host.vfs.check("ln /shared /again");
        mount(host_dir(&host.inside(""))).check("rm /again");
        host.vfs.check("put w /shared x => NotPermitted\nchmod 600 /shared => NotPermitted");
        // A handle for reading does not change times either.
        std::fs::hard_link(host.temp.path().join("secret"), host.inside("more")).unwrap();
        let Opened::File(file) = host.vfs.open(&path("/more"), &how("r")).unwrap() else { panic!() };
        assert_eq!(file.set_times(SetTime::Now, SetTime::Now), Err(Errno::NotPermitted));
    });
}

/// The link count of a file is compared while other threads create and remove its names.
#[test]
fn attack_63_no_race_of_names_opens_a_planted_file_for_writing() {
    on_hosts(|host| {
        let host = host();
        std::fs::hard_link(host.temp.path().join("secret"), host.inside("planted")).unwrap();
        host.vfs.check("put wc /own x");
        let quota = Arc::new(Quota::new(&Limits::default()));
        let charged =
            HostDir::open(&host.inside("")).unwrap().charged_to(quota, crate::vfs::ChargePolicy::Growth).unwrap();
        let charged = mount(Arc::new(charged));
        for vfs in [&host.vfs, &charged] {
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        vfs.run("ln /planted /x");
                        vfs.run("mv /x /y");
                        vfs.run("rm /y");
                    }
                });
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        vfs.run("ln /own /x");
                        vfs.run("rm /x");
                    }
                });
                for step in 0..20_000 {
                    let call =
                        ["open w /planted", "chmod 600 /planted", "touch 1 /planted", "open rt /planted"][step % 4];
                    let outcome = vfs.run(call);
                    stop.fetch_or(outcome != "NotPermitted" || step == 19_999, Ordering::Relaxed);
                    assert_eq!(outcome, "NotPermitted", "{call}");
                }
            });
        }
        host.check_outside();
    });
}

#[test]
fn attack_69_names_that_are_not_utf_8_are_an_error_and_not_left_out() {
    on_hosts(|host| {
        use std::os::unix::ffi::OsStrExt;
        let host = host();
        std::fs::create_dir(host.inside("d")).unwrap();
        for bytes in [&b"caf\xe9"[..], b"\xc0\xae\xc0\xae", b"\xed\xa0\x80"] {
            let name = host.inside("d").join(std::ffi::OsStr::from_bytes(bytes));
            std::fs::write(&name, "x").unwrap();
            host.vfs.check("ls /d => IllegalSequence\nrmdir /d => NotEmpty\nls / => [d/]");
            let overlay = Overlay::over_host(HostDir::open(&host.inside("")).unwrap(), Arc::new(Quota::unlimited()));
            mount(overlay.unwrap().files())
                .check("ls /d => IllegalSequence\nrmdir /d => NotEmpty\nmv /d /e\nrmdir /e => NotEmpty");
            std::fs::remove_file(name).unwrap();
        }
        symlink(std::ffi::OsStr::from_bytes(b"\xff"), host.inside("l")).unwrap();
        host.vfs.check("readlink /l => IllegalSequence\ncat /l => IllegalSequence\nlstat /l => link 1\nrm /l");
    });
}

#[test]
fn attacks_78_to_80_special_files_are_refused_at_once() {
    on_hosts(|host| {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let host = host();
        let make = |name: &str, kind, device| mknodat(CWD, host.inside(name), kind, Mode::from_raw_mode(0o666), device);
        make("fifo", FileType::Fifo, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(host.inside("socket")).unwrap();
        let mut names = vec!["fifo", "socket"];
        // Only root can create these: /dev/null and /dev/mem.
        for (name, minor) in [("null", 3), ("mem", 1)] {
            if make(name, FileType::CharacterDevice, rustix::fs::makedev(1, minor)).is_ok() {
                names.push(name);
            }
        }
        symlink("fifo", host.inside("link")).unwrap();
        names.push("link");
        for name in names {
            let start = Instant::now();
            for flags in ["r", "w", "rw", "wa", "wct", "rn", "wc"] {
                if name == "link" && flags == "rn" {
                    continue;
                }
                host.vfs.check(&format!("open {flags} /{name} => NoDevice"));
            }
            host.vfs.check(&format!("open rd /{name} => NotDirectory\nopen r /{name}/ => NotDirectory"));
            host.vfs
                .check(&format!("chmod 600 /{name} => NoDevice\nstat /{name} => device\nls /{name} => NotDirectory"));
            assert!(start.elapsed() < Duration::from_secs(5), "{name}");
        }
        assert!(std::fs::metadata(host.inside("fifo")).unwrap().file_type().is_fifo());
        host.vfs.check("mv /fifo /moved\nrm /moved\nrm /socket");
    });
}

#[test]
fn set_id_bits_are_refused_unless_they_are_there() {
    on_hosts(|host| {
        let host = host();
        host.vfs.check(
            "put wc /f x
        mkdir /d
        chmod 4755 /f => NotPermitted
        chmod 2755 /f => NotPermitted
        chmod 2755 /d => NotPermitted
        stat /f => file 644 1 1
        chmod 1755 /d",
        );
        std::fs::set_permissions(host.inside("d"), std::fs::Permissions::from_mode(0o2755)).unwrap();
        host.vfs.check("chmod 2700 /d\nstat /d => directory 2700\nmkdir /d/e\nchmod 700 /d");
        assert_eq!(host.vfs.mkdir(&path("/s"), 0o2755), Err(Errno::NotPermitted));
        assert!(matches!(host.vfs.open(&path("/s"), &OpenHow { mode: 0o4755, ..how("wc") }), Err(Errno::NotPermitted)));
    });
}

/// Exchanges two names of the host repeatedly while `test` runs, at least `flips` times.
fn flipping(a: &std::path::Path, b: &std::path::Path, flips: u64, mut test: impl FnMut(usize)) {
    /// Ends the other thread even when the test fails.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut step = 0;
        while step < 4000 || count.load(Ordering::Relaxed) < flips {
            test(step);
            step += 1;
        }
    });
}

#[test]
fn attack_72_a_link_that_flips_a_million_times_leaks_nothing() {
    on_hosts(|host| {
        let host = host();
        std::fs::create_dir(host.inside("d")).unwrap();
        std::fs::write(host.inside("d/canary"), "inside").unwrap();
        symlink("../outside", host.inside("evil")).unwrap();
        let mut reached = 0;
        flipping(&host.inside("d"), &host.inside("evil"), 1_000_000, |step| {
            let calls =
                ["cat /d/canary", "put w /d/canary inside", "ls /d", "chmod 600 /d/canary", "write-atomic /d/own x"];
            let outcome = host.vfs.run(calls[step % calls.len()]);
            assert!(!outcome.contains(SECRET), "{outcome}");
            reached += u32::from(outcome == "inside");
            for call in ["stat /d/canary", "lstat /d/canary"] {
                let outcome = host.vfs.run(call);
                assert!(!outcome.contains(&format!(" {} ", SECRET.len())), "{call}: {outcome}");
            }
            host.vfs.run("mkdir /d/new");
            host.vfs.run("rmdir /d/new");
        });
        assert!(reached > 0);
        host.check_outside();
    });
}

#[test]
fn attack_73_a_directory_that_becomes_a_link_after_it_was_made_is_confined() {
    on_hosts(|host| {
        let host = host();
        host.vfs.check("mkdir /made");
        symlink("../outside", host.inside("evil")).unwrap();
        let mut made = 0;
        flipping(&host.inside("made"), &host.inside("evil"), 0, |step| {
            let calls = ["put wct /made/canary inside", "put wcx /made/new x", "ln-s x /made/l", "mkdir /made/sub"];
            made += u32::from(host.vfs.run(calls[step % calls.len()]) == "ok");
            host.vfs.run("rm /made/new");
            host.vfs.run("rm /made/l");
            host.vfs.run("rmdir /made/sub");
        });
        assert!(made > 0);
        host.check_outside();
    });
}

#[test]
fn attack_74_a_parent_that_is_exchanged_during_a_recursive_delete_leaves_what_is_outside() {
    on_hosts(|host| {
        let host = host();
        let outside = host.temp.path().join("outside");
        std::fs::create_dir(host.inside("tree")).unwrap();
        symlink("../outside", host.inside("evil")).unwrap();
        let mut removed = 0;
        flipping(&host.inside("tree"), &host.inside("evil"), 0, |_| {
            // The same names as outside, deleted as `rm -r` does.
            host.vfs.run("put wc /tree/canary inside");
            for name in host.vfs.run("ls /tree").trim_matches(['[', ']']).split(' ') {
                removed += u32::from(host.vfs.run(&format!("rm /tree/{name}")) == "ok");
            }
        });
        assert!(removed > 0);
        assert!(outside.join("canary").exists());
        host.check_outside();
    });
}

#[test]
fn attack_83_a_file_that_becomes_a_fifo_after_it_was_looked_at_is_refused() {
    on_hosts(|host| {
        let host = host();
        std::fs::write(host.inside("f"), "inside").unwrap();
        let fifo = (host.inside("fifo"), rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo.0, fifo.1, rustix::fs::Mode::from_raw_mode(0o666), 0).unwrap();
        let (mut files, mut refused) = (0, 0);
        flipping(&host.inside("f"), &host.inside("fifo"), 0, |step| {
            let start = Instant::now();
            let calls = ["open r /f", "open w /f", "open rw /f", "cat /f", "open wct /f"];
            match host.vfs.run(calls[step % calls.len()]).as_str() {
                "file" | "inside" | "" => files += 1,
                "NoDevice" => refused += 1,
                outcome => panic!("{outcome}"),
            }
            assert!(start.elapsed() < Duration::from_secs(5));
        });
        assert!(files > 0 && refused > 0);
    });
}

#[test]
fn attack_48_a_tree_too_deep_is_refused_and_what_the_host_made_deeper_can_be_moved() {
    on_hosts(|host| {
        let host = host();
        let mut at = String::new();
        while host.vfs.run(&format!("mkdir {at}/d")) == "ok" {
            at += "/d";
        }
        assert_eq!(host.vfs.run(&format!("mkdir {at}/d")), "NameTooLong");
        assert_eq!(at.len() / 2, crate::limits::PATH_DEPTH);
        // Ten thousand deep, by handles.
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        let mut dir = rustix::fs::open(host.inside(""), OFlags::PATH, Mode::empty()).unwrap();
        for _ in 0..10_000 {
            mkdirat(&dir, "deep", Mode::RWXU).unwrap();
            dir = openat(&dir, "deep", OFlags::PATH, Mode::empty()).unwrap();
        }
        host.vfs.check("mv /deep /moved\nls /moved => [deep/]\nrmdir /moved => NotEmpty");
        let quota = Arc::new(Quota::new(&Limits::default()));
        let counted = HostDir::open(&host.inside("")).unwrap();
        let counted = mount(Arc::new(counted.charged_to(quota.clone(), crate::vfs::ChargePolicy::Whole).unwrap()));
        // Deeper files cannot be counted, so there is no room.
        counted.check("put wc /new x => NoSpace\nls /moved => [deep/]");
        assert!(quota.inodes_used() > 500);
        while let Some((parent, _)) = at.rsplit_once('/') {
            host.vfs.check(&format!("rmdir {at}"));
            at = parent.to_owned();
        }
        // `rm -r` of the host can remove files that are deeper than any path.
        let status = std::process::Command::new("rm").arg("-r").arg(host.inside("moved")).status();
        assert!(status.unwrap().success());
    });
}

#[test]
fn attack_70_snapshots_and_overlays_lead_nowhere_else_either() {
    let mut host = Host::new();
    symlink("../secret", host.inside("relative")).unwrap();
    symlink(host.temp.path().join("secret"), host.inside("absolute")).unwrap();
    symlink("../outside", host.inside("dir")).unwrap();
    std::fs::hard_link(host.temp.path().join("secret"), host.inside("planted")).unwrap();
    let overlay = host.overlay();
    attack(&host, &["/relative", "/absolute", "/dir/canary", "/dir/", "/dir/..", "/../secret"]);
    // In an overlay the planted file can be written to: the change is in a copy.
    host.vfs.check("put w /planted x");
    let patch = overlay.diff().unwrap().patch().unwrap();
    assert!(!patch.contains("canary"), "{patch}");
    overlay.commit().unwrap();
    host.check_outside();
}

/// Runs the tests of this directory in a process in which the kernel refuses `openat2`, as an old kernel or the seccomp
/// filter of a container does. Both cap-std and this module have a fallback.
#[test]
fn every_attack_is_repelled_where_openat2_is_refused() {
    if std::env::var_os("WITHOUT_OPENAT2").is_some() {
        return;
    }
    let script = include_str!("../../../tests/without_openat2.py");
    for errno in ["38", "1"] {
        let output = std::process::Command::new("python3")
            .args(["-c", script, errno])
            .arg(std::env::current_exe().unwrap())
            // Without the million flips, and without the kernel as oracle, which needs `openat2`.
            .args(["vfs::tests::escape", "vfs::tests::atomic", "vfs::tests::protect", "vfs::tests::posix"])
            .args(["vfs::tests::overlay", "vfs::tests::host_quota", "vfs::tests::mounts", "vfs::tests::quota"])
            .args(["vfs::tests::snapshot", "--skip", "attack_72", "--skip", "a_kill_in"])
            .env("WITHOUT_OPENAT2", "1")
            .output();
        // Python may be missing, or the right to set a filter.
        let Ok(output) = output else { return };
        if output.status.code() == Some(77) {
            return;
        }
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "errno {errno}: {text}");
        assert!(text.contains("attacks_55_56_and_59_to_61_links_do_not_lead_out ... ok"), "{text}");
    }
}

#[test]
fn attack_81_files_of_the_host_s_kernel_are_refused() {
    use std::path::Path;
    let device = |at: &str| std::fs::metadata(at).map(|metadata| metadata.dev());
    let vfs = Vfs::builder().mount(GuestPath::root(), host_dir(Path::new("/")), true).build().unwrap();
    for (at, file) in [("/proc", "self/environ"), ("/sys", "kernel/mm")] {
        // The root of this machine has them mounted below, unless it is a bare container.
        if device(at).is_ok_and(|below| device("/").is_ok_and(|root| below != root)) {
            vfs.check(&format!("ls {at} => NotPermitted\ncat {at}/{file} => NotPermitted"));
            vfs.check(&format!("stat {at}/{file} => NotPermitted\nreadlink {at}/self => NotPermitted"));
            // Mounting one directly is refused as well.
            assert!(HostDir::open(Path::new(at)).is_err() && HostDir::open_read_only(Path::new(at)).is_err());
            // Changing one by its name is refused too. (If it were not, this call would change nothing.)
            let mode = std::fs::metadata(at).unwrap().mode() & 0o7777;
            let writable = mount(host_dir(Path::new("/")));
            writable.check(&format!("chmod {mode:o} {at} => NotPermitted"));
        }
    }
}

/// No error text names a path of the host.
#[test]
fn attack_94_no_error_tells_where_a_directory_is() {
    let mut host = Host::new();
    let at = host.temp.path().to_string_lossy().into_owned();
    let mut texts = Vec::new();
    for name in ["none", "none/deeper"] {
        texts.push(HostDir::open(&host.inside(name)).map(|_| ()).unwrap_err().to_string());
    }
    std::fs::write(host.inside("file"), "x").unwrap();
    texts.push(HostDir::open_read_only(&host.inside("file")).map(|_| ()).unwrap_err().to_string());
    let overlay = host.overlay();
    host.vfs.check("chmod 4755 /file");
    texts.push(overlay.commit().unwrap_err().to_string());
    let saved = host.vfs.snapshot().save(std::io::sink(), 0);
    texts.push(saved.unwrap_err().to_string());
    for text in texts {
        assert!(!text.contains(&at) && !text.contains("/src/") && !text.is_empty(), "{text}");
    }
}
