//! Files of a sandbox: its owner's operations, snapshots and forks, overlays, and limits.

use std::fs;
use std::time::Instant;

use isopod::error::Errno;
use isopod::vfs::{AtomicWrite, Expected, Kind, OpenHow, SetTime};
use isopod::{Limits, Sandbox, Snapshot};

use crate::support::{directory, limited, run_in, sandbox};

#[test]
fn what_the_owner_writes_a_command_reads_and_the_reverse() {
    let sandbox = sandbox();
    let fs = sandbox.fs();
    fs.write("note", "from outside\n").unwrap();
    run_in(&sandbox, "cat note; echo inside > /tmp/x; chmod 640 /tmp/x; ln -s x /tmp/l").prints("from outside\n");
    assert_eq!(fs.read("/tmp/l").unwrap(), b"inside\n");
    assert_eq!(fs.stat("/tmp/x").unwrap().mode, 0o640);
    assert_eq!(fs.read_link("/tmp/l").unwrap(), "x");
    assert_eq!(fs.stat_link("/tmp/l").unwrap().kind, Kind::Symlink);
    assert_eq!(fs.canonical("../tmp/l").unwrap(), "/tmp/x");
}

#[test]
fn every_operation_works_and_says_what_was_wrong() {
    let sandbox = sandbox();
    let fs = sandbox.fs();
    fs.create_dir_all("a/b/c").unwrap();
    fs.create_dir_all("a/b/c").unwrap();
    fs.append("a/log", "1\n").unwrap();
    fs.append("a/log", "2\n").unwrap();
    fs.hard_link("a/log", "a/second").unwrap();
    fs.symlink("log", "a/link").unwrap();
    fs.rename("a/second", "a/b/moved").unwrap();
    fs.set_mode("a/log", 0o600).unwrap();
    fs.set_len("a/log", 2).unwrap();
    fs.set_times("a/log", SetTime::Keep, SetTime::At(1_000_000_000)).unwrap();
    let stat = fs.stat("a/b/moved").unwrap();
    assert_eq!((stat.mode, stat.size, stat.modified, stat.links), (0o600, 2, 1_000_000_000, 2));
    let names: Vec<String> = fs.read_dir("a").unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["b", "link", "log"]);
    fs.remove_file("a/link").unwrap();
    assert!(fs.exists("a/log") && !fs.exists("a/link"));
    let wrong = |result: Result<(), isopod::FileError>| result.unwrap_err().to_string();
    assert_eq!(wrong(fs.create_dir("x/y")), "x/y: No such file or directory");
    assert_eq!(wrong(fs.remove_dir("a")), "a: Directory not empty");
    assert_eq!(wrong(fs.remove_dir_all("a/log")), "a/log: Not a directory");
    assert_eq!(wrong(fs.create_dir_all("a/log/x")), "a/log/x: Not a directory");
    assert_eq!(wrong(fs.write("/bin/x", "")), "/bin/x: Read-only file system");
    assert_eq!(wrong(fs.read("a").map(drop)), "a: Is a directory");
    assert_eq!(wrong(fs.read("/dev/zero").map(drop)), "/dev/zero: Invalid argument");
    assert_eq!(wrong(fs.read("/dev/stdin").map(drop)), "/dev/stdin: No such device or address");
    assert_eq!(wrong(fs.read("a\0").map(drop)), "a\0: Invalid argument");
    fs.remove_dir_all("a").unwrap();
    assert!(!fs.exists("a"));
}

#[test]
fn of_two_who_edit_a_file_one_learns_that_it_changed() {
    let sandbox = sandbox();
    let fs = sandbox.fs();
    let none = AtomicWrite { expected: Expected::Nothing, ..AtomicWrite::default() };
    let first = fs.write_with("f", "1", &none).unwrap();
    assert_eq!(fs.write_with("f", "1", &none).unwrap_err().errno, Errno::Exist);
    let how = AtomicWrite { expected: Expected::Version(first.version()), ..AtomicWrite::default() };
    run_in(&sandbox, "echo 22 > f").prints("");
    assert_eq!(fs.write_with("f", "3", &how).unwrap_err().errno, Errno::Again);
    assert_eq!(fs.read("f").unwrap(), b"22\n");
}

#[test]
fn a_fork_starts_as_the_snapshot_was_and_goes_its_own_way() {
    let host = directory(&[("shared", "host\n")]);
    let original =
        Sandbox::builder().mount_read_only(host.path(), "/host").env("COLOUR", "blue").cwd("/tmp").build().unwrap();
    run_in(&original, "echo one > a; mkdir d; echo two > d/b; ln a hard; chmod 600 a").prints("");
    let snapshot = original.snapshot();
    run_in(&original, "echo changed > a; rm -r d").prints("");
    let (left, right) = (snapshot.fork().unwrap(), snapshot.fork().unwrap());
    run_in(&left, "echo left >> d/b; cat hard d/b /host/shared; echo $COLOUR; pwd; stat -c %a a")
        .prints("one\ntwo\nleft\nhost\nblue\n/tmp\n600\n");
    run_in(&right, "cat a d/b").prints("one\ntwo\n");
    run_in(&original, "cat a hard; ls").prints("changed\nchanged\na\nhard\n");
}

#[test]
fn a_fork_is_charged_for_what_it_holds() {
    let original = limited(|limits| limits.disk = 1 << 20);
    run_in(&original, "head -c 700000 /dev/zero > a").prints("");
    let fork = original.snapshot().fork().unwrap();
    run_in(&fork, "head -c 700000 /dev/zero > b").code(1).stderr_has("limit exceeded: disk");
    run_in(&fork, "rm a; head -c 700000 /dev/zero > b; wc -c < b").prints("700000\n");
}

#[test]
fn a_snapshot_survives_in_one_file() {
    let original = sandbox();
    run_in(&original, "mkdir -p d/e; echo text > d/f; ln d/f d/g; ln -s f d/l; chmod 4711 d/f; touch -d @5 d/g")
        .prints("");
    let mut file = Vec::new();
    let digest = original.snapshot().save(&mut file).unwrap();
    let limits = Limits::default();
    let (loaded, found) = Snapshot::load(file.as_slice(), &limits, Some(&digest)).unwrap();
    assert_eq!(found, digest);
    let look = "ls -R; stat -c '%a %h %s %Y' d/f; readlink d/l; cat d/l; cat /etc/hostname; echo x | tr x y";
    let expected = ".:\nd\n\n./d:\ne\nf\ng\nl\n\n./d/e:\n4711 2 5 5\nf\ntext\nisopod\ny\n";
    run_in(&loaded.fork().unwrap(), look).prints(expected);
    // The loaded snapshot saves to the same digest, and takes another environment.
    let mut again = Vec::new();
    assert_eq!(loaded.save(&mut again).unwrap(), digest);
    let other = Sandbox::builder().snapshot(&loaded).env("A", "b").build().unwrap();
    run_in(&other, "echo $A; cat d/f").prints("b\ntext\n");
    // One changed byte at any offset is found.
    for at in (0..file.len()).step_by(file.len() / 40 + 1) {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(Snapshot::load(damaged.as_slice(), &limits, Some(&digest)).is_err(), "byte {at}");
    }
    let mut small = limits;
    small.disk = 1000;
    assert!(Snapshot::load(file.as_slice(), &small, None).is_err());
}

#[test]
fn a_fork_of_many_files_costs_nothing_for_them() {
    let sandbox = limited(|limits| (limits.inodes, limits.disk) = (200_000, 4 << 30));
    let fs = sandbox.fs();
    for directory in 0..100 {
        fs.create_dir(&format!("{directory}")).unwrap();
        for file in 0..100 {
            fs.write(&format!("{directory}/{file}"), [7; 4096]).unwrap();
        }
    }
    let snapshot = sandbox.snapshot();
    let used = snapshot.fork().unwrap().kernel().quota().bytes_used();
    assert!(used >= 10_000 * 4096);
    let began = Instant::now();
    let forks: Vec<Sandbox> = (0..100).map(|_| snapshot.fork().unwrap()).collect();
    // A copy of the tree would take some milliseconds each; the benchmark has the true figure.
    assert!(began.elapsed().as_millis() < 200, "{:?}", began.elapsed());
    run_in(&forks[99], "ls 99 | wc -l").prints("100\n");
}

#[test]
fn an_overlay_shows_what_changed_and_writes_it_when_told_to() {
    let host = directory(&[("keep", "k\n"), ("edit", "one\ntwo\n"), ("gone", "g\n")]);
    let sandbox = Sandbox::builder().mount_overlay(host.path(), "/workspace").build().unwrap();
    run_in(
        &sandbox,
        "echo new > made; sed s/two/2/ edit > t 2>/dev/null || printf 'one\\n2\\n' > t; mv t edit; rm gone",
    )
    .code(0);
    assert_eq!(fs::read_to_string(host.path().join("edit")).unwrap(), "one\ntwo\n");
    let [(at, overlay)] = &sandbox.overlays()[..] else { panic!("one overlay") };
    assert_eq!(at, "/workspace");
    let diff = overlay.diff().unwrap();
    let changes: Vec<String> = diff.changes().iter().map(ToString::to_string).collect();
    assert_eq!(changes, ["M edit", "D gone", "A made"]);
    assert!(diff.patch().unwrap().contains("-two\n+2\n"));
    overlay.commit().unwrap();
    assert_eq!(fs::read_to_string(host.path().join("edit")).unwrap(), "one\n2\n");
    assert!(!host.path().join("gone").exists() && host.path().join("made").exists());
    assert!(overlay.diff().unwrap().is_empty());
    run_in(&sandbox, "rm *").prints("");
    overlay.discard().unwrap();
    run_in(&sandbox, "ls").prints("edit\nkeep\nmade\n");
}

#[test]
fn an_overlay_protects_what_a_commit_would_write() {
    let host = directory(&[(".git/config", "[core]\n")]);
    let sandbox = Sandbox::builder().mount_overlay(host.path(), "/workspace").build().unwrap();
    run_in(&sandbox, "echo evil > .git/config").code(1).stderr_has("Operation not permitted");
    assert!(sandbox.overlays()[0].1.diff().unwrap().is_empty());
}

#[test]
fn attack_38_a_directory_of_the_host_counts_against_the_disk_limit() {
    let host = directory(&[("before", "12345")]);
    let mut limits = Limits::default();
    (limits.disk, limits.inodes) = (1 << 20, 40);
    let sandbox = Sandbox::builder().limits(limits.clone()).mount(host.path(), "/workspace").build().unwrap();
    run_in(&sandbox, "yes > full")
        .code(1)
        .stderr_has("No space left on device")
        .stderr_has("limit exceeded: disk (1 MiB)");
    let size = fs::metadata(host.path().join("full")).unwrap().len();
    assert!(size <= 1 << 20 && size > 1 << 19, "{size}");
    run_in(&sandbox, "rm full; i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null; [ $i -gt 10 ] && [ $i -lt 40 ]")
        .code(0);
    // A directory mounted with `mount_own` counts as a whole, each time it is opened.
    fs::write(host.path().join("large"), vec![1; 1 << 20]).unwrap();
    let own = Sandbox::builder().limits(limits).mount_own(host.path(), "/workspace").build().unwrap();
    run_in(&own, "echo more > x").code(1).stderr_has("No space left on device");
}

#[test]
fn proc_tells_of_the_sandbox_and_nothing_else() {
    let sandbox = sandbox();
    run_in(&sandbox, "head -1 /proc/meminfo; cat /proc/sys/kernel/hostname; ls /proc/self/fd; exec 5</etc/passwd; ls /proc/self/fd; head -c 4 /proc/self/fd/5; echo")
        .prints("MemTotal:         524288 kB\nisopod\n0\n1\n2\n0\n1\n2\n5\nroot\n");
    run_in(&sandbox, "cut -d' ' -f1-3 /proc/mounts | head -1; echo x > /proc/meminfo")
        .code(1)
        .stdout("tmpfs / tmpfs\n");
    run_in(&sandbox, "ls /proc/1 /proc/self/environ /proc/self/root /proc/self/cwd /proc/self/exe").code(2).stdout("");
}

#[test]
fn a_directory_is_listed_whole_while_it_changes() {
    let sandbox = sandbox();
    let fs = sandbox.fs();
    for number in 0..5000 {
        fs.write(&format!("stay{number}"), "").unwrap();
    }
    std::thread::scope(|scope| {
        let changes = scope.spawn(|| {
            for number in 0..20_000 {
                fs.write(&format!("come{number}"), "").unwrap();
                fs.remove_file(&format!("come{number}")).unwrap();
            }
        });
        while !changes.is_finished() {
            run_in(&sandbox, "set -- stay*; echo $#").prints("5000\n");
        }
    });
}

#[test]
fn attack_76_a_sandbox_that_is_dropped_while_it_works_leaves_the_others_alone() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let host = directory(&[]);
    runtime.block_on(async {
        let sandbox = Sandbox::builder().mount(host.path(), "/workspace").build().unwrap();
        let snapshot = sandbox.snapshot();
        let task = tokio::spawn(async move { sandbox.execute("while :; do echo x >> f; done").await.map(drop) });
        while !host.path().join("f").exists() {
            tokio::task::yield_now().await;
        }
        task.abort();
        assert!(task.await.is_err());
        let fork = snapshot.fork().unwrap();
        assert_eq!(fork.execute("echo ok").await.unwrap().stdout, b"ok\n");
    });
}

#[test]
fn an_open_file_is_read_and_written_in_place() {
    let sandbox = sandbox();
    let how = OpenHow { read: true, write: true, create: true, mode: 0o600, ..OpenHow::default() };
    let file = sandbox.fs().open("f", &how).unwrap();
    assert_eq!(file.write_at(5, b"end").unwrap(), 3);
    assert_eq!(&file.read_at(0, 100).unwrap()[..], b"\0\0\0\0\0end");
    run_in(&sandbox, "stat -c '%a %s' f").prints("600 8\n");
}
