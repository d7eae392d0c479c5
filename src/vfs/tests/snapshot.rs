//! Snapshots and forks.

use std::time::{Duration, Instant};

use super::*;

fn quota_of(disk: u64, inodes: u64) -> Arc<Quota> {
    let mut limits = Limits::default();
    (limits.disk, limits.inodes) = (disk, inodes);
    Arc::new(Quota::new(&limits))
}

fn fork(vfs: &Vfs) -> Vfs {
    vfs.snapshot().fork(&quota_of(1 << 30, 1 << 20)).unwrap()
}

fn used(quota: &Quota) -> (u64, u64) {
    (quota.bytes_used(), quota.inodes_used())
}

#[test]
fn a_fork_starts_as_the_original_is_and_goes_its_own_way() {
    let vfs = mem();
    vfs.check("mkdir /d\nput wc /d/f one\nln /d/f /d/g\nln-s f /d/l\nchmod 700 /d\ntouch 7 /d/g");
    let snapshot = vfs.snapshot();
    vfs.check("put w /d/f ONE\nrm /d/g\nmkdir /e\nchmod 755 /d");
    let quota = quota_of(1 << 20, 100);
    let one = snapshot.fork(&quota).unwrap();
    one.check(
        "ls / => [d/]
        ls /d => [f g l@]
        stat /d => directory 700
        stat /d/f => file 644 3 2
        cat /d/l => one
        mtime /d/f => 7
        put w /d/g uno
        cat /d/f => uno
        mv /d /moved
        rm /moved/l
        put wc /new x",
    );
    vfs.check("ls / => [d/ e/]\nls /d => [f l@]\ncat /d/f => ONE\nstat /d/f => file 644 3 1");
    // The snapshot itself has not changed, and can be used again.
    let two = snapshot.fork(&quota_of(1 << 20, 100)).unwrap();
    two.check("ls / => [d/]\ncat /d/g => one");
    // A fork of a fork.
    let three = fork(&one);
    three.check("ls / => [moved/ new]\ncat /moved/g => uno\nrm /new\nls / => [moved/]");
    one.check("ls / => [moved/ new]");
}

#[test]
fn a_fork_is_charged_in_full_and_gives_back_in_full() {
    let (quota, fs) = {
        let quota = quota_of(1 << 20, 100);
        (quota.clone(), Arc::new(MemFs::new(quota)))
    };
    let vfs = Vfs::builder().mount(GuestPath::root(), fs, false).build().unwrap();
    vfs.check("mkdir /d\nput wc /d/f text\nln /d/f /g\nln-s f /l");
    let before = used(&quota);
    assert_eq!(before, (1024, 4));
    let snapshot = vfs.snapshot();
    let own = quota_of(2048, 5);
    let forked = snapshot.fork(&own).unwrap();
    assert_eq!((used(&own), used(&quota)), (before, before));
    forked.check("put wc /new x\nput wc /more x => NoSpace\nrm /new\nrm /g\nrm /d/f\nrm /l\nrmdir /d");
    assert_eq!((used(&own), used(&quota)), ((0, 0), before));
    drop(forked);
    for too_small in [quota_of(1023, 100), quota_of(1 << 20, 3)] {
        assert_eq!(snapshot.fork(&too_small).map(|_| ()), Err(Errno::NoSpace));
        assert_eq!(used(&too_small), (0, 0));
        assert!(too_small.take_exceeded().is_some());
    }
    drop(vfs);
    // A snapshot belongs to its owner and is not charged to the sandbox.
    assert_eq!(used(&quota), (0, 0));
    drop(snapshot.fork(&own).unwrap());
    assert_eq!(used(&own), (0, 0));
}

#[test]
fn a_file_that_is_open_without_a_name_is_no_part_of_a_snapshot() {
    let vfs = mem();
    vfs.check("put wc /named x\nput wc /gone y");
    let open = |at: &str| vfs.open(&path(at), &how("rw")).unwrap();
    let (_named, gone) = (open("/named"), open("/gone"));
    vfs.check("rm /gone");
    let quota = quota_of(1 << 20, 100);
    let forked = vfs.snapshot().fork(&quota).unwrap();
    assert_eq!(used(&quota), (512, 1));
    forked.check("ls / => [named]\nput wc /gone z\nrm /named\nrm /gone");
    assert_eq!(used(&quota), (0, 0));
    let Opened::File(gone) = gone else { panic!() };
    assert_eq!(gone.read_at(0, 9).unwrap().as_ref(), b"y");
}

#[test]
fn mounts_are_the_same_in_a_fork_and_what_is_not_the_sandbox_s_is_shared() {
    let temp = TempDir::new().unwrap();
    let (twice, host) = (mem_fs(), host_dir(temp.path()));
    let vfs = Vfs::builder()
        .mount(GuestPath::root(), mem_fs(), false)
        .mount(path("/one"), twice.clone(), false)
        .mount(path("/other"), twice, true)
        .mount(path("/host"), host, false)
        .mount(path("/dev"), Arc::new(Dev::new()), false)
        .build()
        .unwrap();
    vfs.check("put wc /one/f x");
    let forked = fork(&vfs);
    forked.check(
        "ls / => [dev/ host/ one/ other/]
        cat /other/f => x
        put w /one/f y
        cat /other/f => y
        put w /other/f z => ReadOnly
        put wc /host/f host
        put w /dev/null x",
    );
    vfs.check("cat /one/f => x\ncat /host/f => host");
}

#[test]
fn a_fork_of_many_files_takes_no_time_and_its_first_change_copies_little() {
    let limits = Limits { inodes: 1 << 20, ..Limits::default() };
    let fs = Arc::new(MemFs::new(Arc::new(Quota::new(&limits))));
    let vfs = Vfs::builder().mount(GuestPath::root(), fs.clone(), false).build().unwrap();
    vfs.check("mkdir /d");
    for n in 0..100_000 {
        vfs.open(&path(&format!("/d/name-{n}")), &how("wc")).unwrap();
    }
    let quota = Arc::new(Quota::new(&limits));
    // The best of several: a busy machine may delay any of them.
    let (fork, change) = (0..20)
        .map(|_| {
            let start = Instant::now();
            let forked = fs.fork(quota.clone()).unwrap();
            let fork = start.elapsed();
            let forked = Vfs::builder().mount(GuestPath::root(), Arc::new(forked), false).build().unwrap();
            let start = Instant::now();
            forked.check("put wc /d/name-x x\nrm /d/name-500\nput w /d/name-70000 y");
            (fork, start.elapsed())
        })
        .reduce(|(fork, change), (f, c)| (fork.min(f), change.min(c)))
        .unwrap();
    assert!(fork < Duration::from_millis(1), "{fork:?}");
    // Copying a directory of this size takes tens of milliseconds.
    assert!(change < Duration::from_millis(5), "{change:?}");
    vfs.check("stat /d/name-x => NoEntry\nstat /d/name-500 => file 644 0 1\nstat /d/name-70000 => file 644 0 1");
}

#[test]
fn forks_and_snapshots_are_taken_while_others_write() {
    let vfs = mem();
    vfs.check("mkdir /a\nput wc /a/f x");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2000 {
                vfs.check("mv /a /b\nput wc /b/g y\nrm /b/g\nmv /b /a");
            }
        });
        for _ in 0..2000 {
            let forked = fork(&vfs);
            let names = forked.run("ls /");
            assert!(names == "[a/]" || names == "[b/]", "{names}");
            let at = &names[1..2];
            assert_eq!(forked.run(&format!("cat /{at}/f")), "x");
            forked.check(&format!("put wc /{at}/own z\nrm /{at}/f"));
        }
    });
    vfs.check("ls /a => [f]\ncat /a/f => x");
}
