//! The quota of a directory of the host: its whole content or its growth counts.

use super::random::Random;
use super::*;
use crate::limits::{Exceeded, Limit};
use crate::vfs::ChargePolicy;

const BLOCK: u64 = 512;

fn quota_of(disk: u64, inodes: u64, file: u64) -> Arc<Quota> {
    let mut limits = Limits::default();
    (limits.disk, limits.inodes, limits.file) = (disk, inodes, file);
    Arc::new(Quota::new(&limits))
}

fn used(quota: &Quota) -> (u64, u64) {
    (quota.bytes_used(), quota.inodes_used())
}

fn charged(host: &std::path::Path, quota: &Arc<Quota>, policy: ChargePolicy) -> Vfs {
    let dir = HostDir::open(host).unwrap();
    let dir = dir.charged_to(quota.clone(), policy).unwrap();
    Vfs::builder().mount(GuestPath::root(), Arc::new(dir), false).build().unwrap()
}

/// Runs a test on an empty directory under both policies, which differ only for existing files.
fn on_both(disk: u64, inodes: u64, file: u64, test: impl Fn(&Arc<Quota>, &Vfs)) {
    for count in [ChargePolicy::Whole, ChargePolicy::Growth] {
        let temp = TempDir::new().unwrap();
        let quota = quota_of(disk, inodes, file);
        let vfs = charged(temp.path(), &quota, count);
        test(&quota, &vfs);
        drop(vfs);
        assert_eq!(used(&quota), (0, 0), "{count:?}");
    }
}

/// Returns the result of a fresh count.
fn recount(host: &std::path::Path) -> (u64, u64) {
    let quota = quota_of(1 << 30, 1 << 20, 1 << 30);
    let vfs = charged(host, &quota, ChargePolicy::Whole);
    vfs.check("put wcx /recount x\nrm /recount");
    used(&quota)
}

#[test]
fn attack_38_a_host_directory_is_filled_to_the_quota_and_no_further() {
    on_both(10 * BLOCK, 10, 1 << 20, |quota, vfs| {
        let file = open(vfs, "rwc", "/f");
        assert_eq!(file.write_at(0, &[1; 3000]), Ok(3000));
        assert_eq!(file.write_at(3000, &[2; 64 << 10]), Ok(10 * 512 - 3000));
        assert_eq!(file.write_at(10 * BLOCK, b"x"), Err(Errno::NoSpace));
        assert_eq!(file.append(b"x"), Err(Errno::NoSpace));
        assert_eq!(file.set_len(10 * BLOCK + 1), Err(Errno::NoSpace));
        assert_eq!((quota.bytes_used(), file.stat().unwrap().size), (10 * BLOCK, 10 * BLOCK));
        let disk = Exceeded { kind: Limit::Disk, value: 10 * BLOCK };
        assert_eq!(quota.take_exceeded(), Some(disk));
        assert_eq!(file.write_at(0, &[3; 5120]), Ok(5120));
        assert_eq!(file.read_at(5119, 9).unwrap().as_ref(), [3]);
    });
}

#[test]
fn attack_39_names_in_a_host_directory_are_counted() {
    on_both(1 << 20, 4, 1 << 20, |quota, vfs| {
        vfs.check(
            "mkdir /d
            put wc /f x
            ln /f /g
            ln-s f /l
            ln /f /h => NoSpace
            mkdir /e => NoSpace
            put wc /e x => NoSpace
            open wcx /e => NoSpace
            ln-s f /e => NoSpace
            mkdir /d => Exist
            ln /f /g => Exist
            ln-s x /l => Exist
            open wcx /f => Exist
            open wc /f => file
            ls / => [d/ f g l@]
            rm /g
            ln /f /h
            rm /f
            cat /h => x
            rm /h
            rm /l
            rmdir /d",
        );
        assert_eq!(used(quota), (0, 0));
        let inodes = Exceeded { kind: Limit::Inodes, value: 4 };
        assert_eq!(quota.take_exceeded(), Some(inodes));
    });
}

#[test]
fn attack_40_a_file_of_the_host_has_a_limit_however_it_grows() {
    on_both(1 << 30, 10, 1 << 20, |quota, vfs| {
        vfs.check(
            "put wc /f start
            truncate 1125899906842624 /f => FileTooLarge
            truncate 1048577 /f => FileTooLarge
            truncate 1048576 /f
            truncate 5 /f",
        );
        let file = open(vfs, "rw", "/f");
        assert_eq!(file.write_at((1 << 20) - 2, b"abcd"), Ok(2));
        assert_eq!(file.write_at(1 << 20, b"abcd"), Err(Errno::FileTooLarge));
        assert_eq!(file.write_at(1 << 40, b"abcd"), Err(Errno::FileTooLarge));
        assert_eq!(file.append(b"x"), Err(Errno::FileTooLarge));
        assert_eq!(file.write_at(1 << 20, b""), Ok(0));
        // A hole is charged like data.
        assert_eq!(quota.bytes_used(), 1 << 20);
        assert_eq!(quota.take_exceeded().map(|exceeded| exceeded.kind), Some(Limit::File));
        file.set_len(0).unwrap();
        assert_eq!(quota.bytes_used(), 0);
    });
}

#[test]
fn attack_41_an_append_loop_stops_at_the_block() {
    on_both(10 * BLOCK, 10, 1 << 20, |quota, vfs| {
        let file = open(vfs, "wac", "/f");
        let mut appended = 0;
        while let Ok(end) = file.append(&[1; 7]) {
            appended += 7;
            assert_eq!(end, appended);
        }
        assert_eq!(appended, 10 * BLOCK / 7 * 7);
        assert_eq!(file.stat().unwrap().size, appended);
        assert_eq!(quota.bytes_used(), 10 * BLOCK);
    });
}

#[test]
fn attacks_42_and_44_what_the_host_gives_back_the_quota_gives_back() {
    on_both(1 << 20, 10, 1 << 20, |quota, vfs| {
        let file = open(vfs, "rwc", "/f");
        let reader = open(vfs, "r", "/f");
        file.append(&[1; 5000]).unwrap();
        vfs.check("ln /f /g\nrm /f\nrm /g");
        assert_eq!(used(quota), (10 * BLOCK, 1));
        file.append(&[1; 5000]).unwrap();
        assert_eq!(used(quota), (20 * BLOCK, 1));
        drop(file);
        assert_eq!(used(quota), (20 * BLOCK, 1));
        drop(reader);
        assert_eq!(used(quota), (0, 0));

        open(vfs, "wc", "/large").append(&[1; 5000]).unwrap();
        vfs.check("put wc /small x\nmv /small /large");
        assert_eq!(used(quota), (BLOCK, 1));
        vfs.check("ln /large /also\nmv /large /also");
        assert_eq!(used(quota), (BLOCK, 2));
        vfs.check("rm /also\nput wt /large y");
        assert_eq!(used(quota), (BLOCK, 1));
        vfs.check("truncate 0 /large\nmkdir /a\nmkdir /b\nmv /a /b");
        assert_eq!(used(quota), (0, 2));
        vfs.check("rmdir /b\nrm /large");
        assert_eq!(used(quota), (0, 0));
    });
}

#[test]
fn attack_43_parallel_writers_never_exceed_the_quota_of_a_host_directory() {
    on_both(100 * BLOCK, 100, 1 << 20, |quota, vfs| {
        std::thread::scope(|scope| {
            for writer in 0..16 {
                scope.spawn(move || {
                    // Half of them share one file.
                    let at = format!("/{}", writer % 9);
                    let file = open(vfs, "wc", &at);
                    while file.append(&[1; 700]).is_ok() {
                        assert!(quota.bytes_used() <= 100 * BLOCK);
                    }
                });
            }
        });
        let sizes: u64 = (0..9)
            .map(|n| vfs.stat(&path(&format!("/{n}")), true).unwrap().size)
            .map(|size| size.div_ceil(BLOCK))
            .sum();
        assert_eq!(used(quota), (sizes * BLOCK, 9));
        assert!(sizes <= 100);
    });
}

#[test]
fn attack_49_a_write_to_the_host_that_is_refused_leaves_the_old_content() {
    on_both(4 * BLOCK, 10, 1 << 20, |quota, vfs| {
        vfs.check("put wc /f old");
        let file = open(vfs, "rw", "/f");
        assert_eq!(file.append(&[1; 4096]), Err(Errno::NoSpace));
        assert_eq!(file.write_at(1 << 18, b"x"), Err(Errno::NoSpace));
        assert_eq!(file.read_at(0, 9).unwrap().as_ref(), b"old");
        assert_eq!(quota.bytes_used(), BLOCK);
    });
}

#[test]
fn existing_files_count_or_not_depending_on_the_policy() {
    let temp = TempDir::new().unwrap();
    std::fs::create_dir(temp.path().join("d")).unwrap();
    std::fs::write(temp.path().join("d/f"), [1; 1000]).unwrap();
    std::fs::hard_link(temp.path().join("d/f"), temp.path().join("g")).unwrap();
    std::os::unix::fs::symlink("d", temp.path().join("l")).unwrap();
    let there = (3 * BLOCK, 4);

    let quota = quota_of(1 << 20, 100, 1 << 20);
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    vfs.check("ls / => [d/ g l@]\nstat /d/f => file 644 1000 2");
    // A reader does not pay for a count.
    assert_eq!(used(&quota), (0, 0));
    vfs.check("put wc /new x");
    assert_eq!(used(&quota), (there.0 + BLOCK, there.1 + 1));
    vfs.check("rm /new\nrm /g\nrm /d/f\nrm /l\nrmdir /d");
    assert_eq!(used(&quota), (0, 0));
    vfs.check("mkdir /d");
    drop(vfs);

    let quota = quota_of(1 << 20, 100, 1 << 20);
    std::fs::write(temp.path().join("d/f"), [1; 1000]).unwrap();
    let vfs = charged(temp.path(), &quota, ChargePolicy::Growth);
    vfs.check("put wc /new x\nmkdir /e");
    assert_eq!(used(&quota), (BLOCK, 2));
    // The removal of an existing file offsets added files, but never goes below zero.
    vfs.check("rm /d/f");
    assert_eq!(used(&quota), (0, 1));
    vfs.check("rmdir /e\nrm /new\nrmdir /d");
    assert_eq!(used(&quota), (0, 0));
}

#[test]
fn a_directory_with_more_files_than_allowed_is_full_but_can_be_read_and_cut() {
    let temp = TempDir::new().unwrap();
    for n in 0..20 {
        std::fs::write(temp.path().join(n.to_string()), "text").unwrap();
    }
    let quota = quota_of(1 << 20, 10, 1 << 20);
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    vfs.check(
        "cat /1 => text
        put w /1 TEXT
        put wt /2 more => NoSpace
        truncate 2 /3
        cat /3 => te
        put wc /new x => NoSpace
        truncate 600 /1 => NoSpace
        mkdir /d => NoSpace
        mv /1 /one
        rm /2",
    );
    for n in 3..20 {
        vfs.check(&format!("rm /{n}"));
    }
    vfs.check("put wc /new x => NoSpace\nls / => [0 one]");
    let inodes = Exceeded { kind: Limit::Inodes, value: 10 };
    assert_eq!(quota.take_exceeded(), Some(inodes));
    drop(vfs);
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    vfs.check("put wc /new x");
    assert_eq!(used(&quota), (3 * BLOCK, 3));
}

#[test]
fn memory_and_host_directories_share_one_quota() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let quota = quota_of(4 * BLOCK, 100, 1 << 20);
    let dir = |temp: &TempDir| {
        let dir = HostDir::open(temp.path()).unwrap();
        Arc::new(dir.charged_to(quota.clone(), ChargePolicy::Whole).unwrap())
    };
    let vfs = Vfs::builder()
        .mount(GuestPath::root(), Arc::new(MemFs::new(quota.clone())), false)
        .mount(path("/one"), dir(&one), false)
        .mount(path("/other"), dir(&other), false)
        .build()
        .unwrap();
    vfs.check(
        "put wc /f x
        put wc /one/f x
        put wc /other/f x
        put wc /g x
        put wc /one/g x => NoSpace
        rm /other/f
        put w /one/g x",
    );
    assert_eq!(used(&quota), (4 * BLOCK, 6));
    // A fork has its own account for the same directories.
    let own = quota_of(1 << 20, 100, 1 << 20);
    let forked = vfs.snapshot().fork(&own).unwrap();
    assert_eq!(used(&own), (2 * BLOCK, 4));
    forked.check("cat /one/f => x\nput wc /one/h x");
    assert_eq!(used(&own), (5 * BLOCK, 7));
    assert_eq!(used(&quota), (4 * BLOCK, 6));
    drop((vfs, forked));
    assert_eq!((used(&quota), used(&own)), ((0, 0), (0, 0)));
}

#[test]
fn after_any_calls_the_account_equals_a_fresh_count() {
    for seed in 1..=4 {
        let temp = TempDir::new().unwrap();
        let quota = quota_of(1 << 30, 1 << 20, 1 << 20);
        let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
        let mut random = Random(seed);
        for step in 0..2000 {
            vfs.run(&random.call());
            if step % 200 == 199 {
                assert_eq!(used(&quota), recount(temp.path()), "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn attack_42_a_file_without_a_name_before_the_count_is_charged_while_it_is_open() {
    let temp = TempDir::new().unwrap();
    std::fs::write(temp.path().join("f"), [1; 5000]).unwrap();
    std::fs::write(temp.path().join("g"), [1; 5000]).unwrap();
    let quota = quota_of(1 << 20, 100, 1 << 20);
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    let (file, other) = (open(&vfs, "rw", "/f"), open(&vfs, "r", "/g"));
    vfs.check("rm /f\nrm /g");
    // Nothing has grown, so nothing was counted.
    drop(other);
    assert_eq!(used(&quota), (0, 0));
    file.append(&[1; 5000]).unwrap();
    assert_eq!(used(&quota), (20 * BLOCK, 1));
    file.set_len(100).unwrap();
    assert_eq!(used(&quota), (BLOCK, 1));
    drop(file);
    assert_eq!(used(&quota), (0, 0));
}

#[test]
fn attack_38_a_directory_that_cannot_be_counted_has_no_room() {
    let temp = TempDir::new().unwrap();
    let mut at = temp.path().to_owned();
    for _ in 0..=crate::limits::PATH_DEPTH {
        at.push("d");
        std::fs::create_dir(&at).unwrap();
    }
    let quota = quota_of(1 << 20, 1000, 1 << 20);
    // At the maximum depth of a path, everything is counted.
    std::fs::remove_dir(&at).unwrap();
    charged(temp.path(), &quota, ChargePolicy::Whole).check("put wc /f x\nrm /f");
    // Deeper, where a sandbox could hide files by moving a directory.
    std::fs::create_dir(&at).unwrap();
    charged(temp.path(), &quota, ChargePolicy::Whole).check("put wc /f x => NoSpace\nls / => [d/]");
    assert_eq!(quota.take_exceeded().map(|exceeded| exceeded.kind), Some(Limit::Inodes));

    // More bytes than can be added up: sparse files of the host.
    let temp = temp_dir();
    for n in 0..3 {
        let file = std::fs::File::create(temp.path().join(n.to_string())).unwrap();
        if file.set_len(i64::MAX as u64).is_err() {
            return;
        }
    }
    let quota = quota_of(1 << 20, 1000, 1 << 20);
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    let memory = mount(Arc::new(MemFs::new(quota.clone())));
    vfs.check("put wc /f x => NoSpace");
    memory.check("put wc /f x => NoSpace");
    vfs.check("rm /0\nrm /1\nrm /2\nput wc /f x => NoSpace");
    drop(vfs);
    memory.check("put wc /f x");
    charged(temp.path(), &quota, ChargePolicy::Whole).check("put wc /f x");
}

/// A user other than root cannot open a directory without rights, and may be the one who removed them.
#[test]
fn attack_38_a_directory_that_cannot_be_looked_into_leaves_no_room() {
    if rustix::process::geteuid().is_root() {
        let script = "import os, sys\nos.setgid(65534)\nos.setuid(65534)\nos.execv(sys.argv[1], sys.argv[1:])";
        let name = "vfs::tests::host_quota::attack_38_a_directory_that_cannot_be_looked_into_leaves_no_room";
        let output = std::process::Command::new("python3")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .output();
        let Ok(output) = output else { return };
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        // That user may have no access to the binary.
        assert!(output.status.success() || text.contains("PermissionError"), "{text}");
        return;
    }
    let temp = TempDir::new().unwrap();
    let quota = quota_of(1 << 20, 1000, 1 << 20);
    charged(temp.path(), &quota, ChargePolicy::Whole).check("mkdir /d\nput wc /d/f x\nchmod 000 /d");
    let vfs = charged(temp.path(), &quota, ChargePolicy::Whole);
    vfs.check("put wc /f x => NoSpace\nchmod 700 /d\nput wc /f x => NoSpace");
    drop(vfs);
    charged(temp.path(), &quota, ChargePolicy::Whole).check("put wc /f x\nrm /f");
}

#[test]
fn attack_38_a_large_write_to_a_full_disk_ends_at_once() {
    let quota = quota_of(3 * BLOCK, 10, 1 << 30);
    let temp = temp_dir();
    let bytes = vec![1; 64 << 20];
    for vfs in [mount(Arc::new(MemFs::new(quota.clone()))), charged(temp.path(), &quota, ChargePolicy::Whole)] {
        let file = open(&vfs, "rwc", "/f");
        let start = std::time::Instant::now();
        assert_eq!(file.write_at(100, &bytes), Ok(3 * 512 - 100));
        assert_eq!(file.write_at(3 * BLOCK, &bytes), Err(Errno::NoSpace));
        assert_eq!(file.write_at(0, &bytes), Ok(3 * 512));
        assert!(start.elapsed() < std::time::Duration::from_secs(5));
        assert_eq!(quota.bytes_used(), 3 * BLOCK);
    }
}
