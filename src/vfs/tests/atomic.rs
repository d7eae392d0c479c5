//! Replacing files in one step, and the reserved names under which that is done.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::limits::Limit;
use crate::vfs::{AtomicWrite, ChargePolicy, Expected, RESERVED};

const PLAIN: AtomicWrite = AtomicWrite { mode: 0o640, durable: false, expected: Expected::Anything };

fn everywhere(test: impl Fn(&Vfs)) {
    test(&mem());
    test(&overlay_of_memory());
    for host in [Host::new(), Host::without_openat2(), Host::overlaid()] {
        test(&host.vfs);
        host.check_outside();
    }
}

fn put(vfs: &Vfs, at: &str, text: &str) -> Result<Stat> {
    vfs.write_atomic(&path(at), text.as_bytes(), &PLAIN)
}

#[test]
fn a_file_is_made_or_replaced_and_keeps_its_mode() {
    everywhere(|vfs| {
        vfs.check("mkdir /d");
        let stat = put(vfs, "/d/f", "one").unwrap();
        assert_eq!((stat.mode, stat.size, stat.links), (0o640, 3, 1));
        assert_eq!(vfs.stat(&path("/d/f"), true), Ok(stat));
        vfs.check("chmod 751 /d/f\nln-s d/f /l\nln-s d/new /dangling\nln-s /none/x /nowhere");
        let Opened::File(old) = vfs.open(&path("/d/f"), &how("r")).unwrap() else { panic!() };
        put(vfs, "/l", "longer").unwrap();
        vfs.check("cat /d/f => longer\nstat /d/f => file 751 6 1\nlstat /l => link 3");
        // An open handle keeps the old file.
        assert_eq!(old.read_at(0, 9).unwrap().as_ref(), b"one");
        assert_eq!(old.stat().unwrap().links, 0);
        put(vfs, "/dangling", "made").unwrap();
        vfs.check("cat /d/new => made\nlstat /dangling => link 5");
        put(vfs, "/empty", "").unwrap();
        vfs.check("stat /empty => file 640 0 1\nln /d/f /d/other");
        put(vfs, "/d/f", "third").unwrap();
        vfs.check("cat /d/other => longer\nstat /d/f => file 751 5 1\nls /d => [f new other]");
        for (at, errno) in [
            ("/d", Errno::IsDirectory),
            ("/d/", Errno::IsDirectory),
            ("/", Errno::IsDirectory),
            ("/d/f/", Errno::NotDirectory),
            ("/d/f/x", Errno::NotDirectory),
            ("/none/x", Errno::NoEntry),
            ("/nowhere", Errno::NoEntry),
            ("/d/..", Errno::IsDirectory),
        ] {
            assert_eq!(put(vfs, at, "x"), Err(errno), "{at}");
        }
        let durable = AtomicWrite { durable: true, ..PLAIN };
        vfs.write_atomic(&path("/d/f"), b"kept", &durable).unwrap();
        vfs.check("cat /d/f => kept\nls / => [d/ dangling@ empty l@ nowhere@]");
    });
}

#[test]
fn a_read_only_mount_and_a_special_file_refuse_an_atomic_write() {
    let host = Host::new();
    host.vfs.check("put wc /f old");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        host.inside("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    assert_eq!(put(&host.vfs, "/fifo", "x"), Err(Errno::NoDevice));
    let vfs = Vfs::builder()
        .mount(GuestPath::root(), mem_fs(), false)
        .mount(path("/ro"), host_dir(&host.inside("")), true)
        .mount(path("/dev"), Arc::new(Dev::new()), false)
        .build()
        .unwrap();
    assert_eq!(put(&vfs, "/ro/f", "x"), Err(Errno::ReadOnly));
    assert_eq!(put(&vfs, "/ro/new", "x"), Err(Errno::ReadOnly));
    assert_eq!(put(&vfs, "/ro", "x"), Err(Errno::IsDirectory));
    assert_eq!(put(&vfs, "/dev/null", "x"), Err(Errno::ReadOnly));
    let never = mount(Arc::new(HostDir::open_read_only(&host.inside("")).unwrap()));
    assert_eq!(put(&never, "/f", "x"), Err(Errno::ReadOnly));
    never.check(
        "put w /f x => ReadOnly
        put wc /n x => ReadOnly
        open rt /f => ReadOnly
        mkdir /n => ReadOnly
        rm /f => ReadOnly
        rmdir /f => ReadOnly
        mv /f /g => ReadOnly
        ln /f /g => ReadOnly
        ln-s f /g => ReadOnly
        chmod 600 /f => ReadOnly
        touch 1 /f => ReadOnly
        cat /f => old",
    );
    let Opened::File(file) = never.open(&path("/f"), &how("r")).unwrap() else { panic!() };
    assert_eq!(file.set_times(SetTime::Now, SetTime::Now), Err(Errno::ReadOnly));
}

#[test]
fn a_set_user_id_bit_does_not_pass_on_to_new_content() {
    let host = Host::new();
    std::fs::write(host.inside("f"), "old").unwrap();
    std::fs::set_permissions(host.inside("f"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    put(&host.vfs, "/f", "new").unwrap();
    host.vfs.check("stat /f => file 755 3 1");
    let set_id = AtomicWrite { mode: 0o4755, ..PLAIN };
    assert_eq!(host.vfs.write_atomic(&path("/g"), b"", &set_id), Err(Errno::NotPermitted));
}

#[test]
fn attack_75_of_two_who_edit_one_file_one_wins_and_the_other_learns_of_it() {
    everywhere(|vfs| {
        let expecting = |expected| AtomicWrite { expected, ..PLAIN };
        let at = path("/f");
        let new = expecting(Expected::Nothing);
        let first = vfs.write_atomic(&at, b"0", &new).unwrap();
        assert_eq!(vfs.write_atomic(&at, b"x", &new), Err(Errno::Exist));
        let second = vfs.write_atomic(&at, b"1", &expecting(Expected::Version(first.version()))).unwrap();
        let stale = expecting(Expected::Version(first.version()));
        assert_eq!(vfs.write_atomic(&at, b"x", &stale), Err(Errno::Again));
        let of_none = expecting(Expected::Version(second.version()));
        assert_eq!(vfs.write_atomic(&path("/g"), b"x", &of_none), Err(Errno::Again));
        vfs.check("cat /f => 1\nls / => [f]");

        // Each of eight threads adds one 25 times.
        vfs.write_atomic(&at, b"0", &PLAIN).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut added = 0;
                    while added < 25 {
                        let version = vfs.stat(&at, true).unwrap().version();
                        let number: u64 = vfs.run("cat /f").parse().unwrap();
                        let text = (number + 1).to_string();
                        let how = expecting(Expected::Version(version));
                        match vfs.write_atomic(&at, text.as_bytes(), &how) {
                            Ok(_) => added += 1,
                            Err(errno) => assert_eq!(errno, Errno::Again),
                        }
                    }
                });
            }
        });
        vfs.check("cat /f => 200\nls / => [f]");
    });
}

#[test]
fn attacks_45_and_49_an_atomic_write_over_the_quota_leaves_the_old_file_and_nothing_else() {
    let limits = Limits { disk: 3 * 512, inodes: 3, file: 2000, ..Limits::default() };
    let temp = temp_dir();
    let quotas = [(); 2].map(|()| Arc::new(Quota::new(&limits)));
    let dir = HostDir::open(temp.path()).unwrap();
    let dir = dir.charged_to(quotas[1].clone(), ChargePolicy::Whole).unwrap();
    let trees = [mount(Arc::new(MemFs::new(quotas[0].clone()))), mount(Arc::new(dir))];
    for (quota, vfs) in quotas.iter().zip(trees) {
        let used = || (quota.bytes_used(), quota.inodes_used());
        put(&vfs, "/f", "old").unwrap();
        assert_eq!(used(), (512, 1));
        // The old file and the new one exist at the same time.
        assert_eq!(put(&vfs, "/f", &"x".repeat(1025)), Err(Errno::NoSpace));
        assert_eq!(put(&vfs, "/f", &"x".repeat(2001)), Err(Errno::FileTooLarge));
        vfs.check("cat /f => old\nls / => [f]");
        assert_eq!(used(), (512, 1));
        assert_eq!(quota.take_exceeded().map(|exceeded| exceeded.kind), Some(Limit::Disk));
        put(&vfs, "/f", &"x".repeat(1024)).unwrap();
        assert_eq!(used(), (1024, 1));
        put(&vfs, "/f", "").unwrap();
        vfs.check("mkdir /d\nmkdir /e");
        assert_eq!(put(&vfs, "/f", "x"), Err(Errno::NoSpace));
        assert_eq!(used(), (0, 3));
        vfs.check("rmdir /e");
        put(&vfs, "/f", "y").unwrap();
        vfs.check("cat /f => y\nrm /f\nrmdir /d");
        assert_eq!(used(), (0, 0));
    }
}

#[test]
fn reserved_names_are_out_of_reach() {
    everywhere(|vfs| {
        vfs.check("put wc /f x\nmkdir /d");
        for name in [RESERVED.to_owned() + "x", ".ISOPOD-TMP-y".to_owned(), ".iſopod-tmp-z".to_owned()] {
            for call in [
                "mkdir @",
                "put wc @ x",
                "open r @",
                "open wcx @",
                "stat @",
                "lstat @",
                "ls @",
                "rm @",
                "rmdir @",
                "mv /f @",
                "mv @ /f",
                "ln /f @",
                "ln @ /g",
                "ln-s x @",
                "readlink @",
                "chmod 700 @",
                "touch 1 @",
                "realpath @",
                "stat @/x",
                "stat @/..",
                "mkdir /d/../@",
            ] {
                let call = call.replace('@', &format!("/{name}")).replace("//", "/");
                vfs.check(&format!("{call} => NotPermitted"));
            }
            assert_eq!(put(vfs, &format!("/{name}"), "x"), Err(Errno::NotPermitted));
            vfs.check(&format!("ln-s {name} /l\ncat /l => NotPermitted\nput w /l x => NotPermitted\nrm /l"));
        }
        vfs.check("ls / => [d/ f]");
    });
}

#[test]
fn host_files_with_reserved_names_are_hidden_and_block_nothing() {
    let host = Host::new();
    std::fs::create_dir(host.inside("d")).unwrap();
    std::fs::write(host.inside("d").join(format!("{RESERVED}left-1")), "left").unwrap();
    host.vfs.check("ls /d => []\nrmdir /d");
    assert!(!host.inside("d").exists());
    // A directory with such a name is not a temporary file, and stays.
    std::fs::create_dir_all(host.inside("e").join(format!("{RESERVED}dir"))).unwrap();
    host.vfs.check("ls /e => []\nrmdir /e => NotEmpty");
}

#[test]
fn a_temporary_file_is_made_where_no_link_leads_elsewhere() {
    for host in [Host::new(), Host::without_openat2()] {
        symlink("../outside", host.inside("out")).unwrap();
        symlink("../secret", host.inside("link")).unwrap();
        std::fs::hard_link(host.temp.path().join("outside/canary"), host.inside("planted")).unwrap();
        assert_eq!(put(&host.vfs, "/out/canary", "x"), Err(Errno::NoEntry));
        // The link is resolved as one of the sandbox.
        put(&host.vfs, "/link", "inside").unwrap();
        host.vfs.check("cat /secret => inside\nlstat /link => link 9");
        put(&host.vfs, "/planted", "own").unwrap();
        host.vfs.check("cat /planted => own\nput w /planted OWN");
        assert_eq!(host.inside("planted").metadata().unwrap().nlink(), 1);
        host.check_outside();
    }
}

const THIS: &str = "vfs::tests::atomic::a_kill_in_the_middle_of_120_rewrites_tears_nothing_and_leaves_nothing";

/// Rewrites a file until the process is killed.
fn rewrite(at: &std::path::Path) {
    let vfs = mount(host_dir(at));
    for n in 0_u64.. {
        let letter = char::from(b'a' + (n % 26) as u8);
        put(&vfs, "/deep/file", &letter.to_string().repeat(1 << 20)).unwrap();
    }
}

#[test]
fn a_kill_in_the_middle_of_120_rewrites_tears_nothing_and_leaves_nothing() {
    // The child process that is killed is this test itself.
    if let Some(at) = std::env::var_os("REWRITE_IN") {
        return rewrite(at.as_ref());
    }
    let temp = TempDir::new().unwrap();
    let deep = temp.path().join("deep");
    std::fs::create_dir(&deep).unwrap();
    std::fs::write(deep.join("file"), "a".repeat(1 << 20)).unwrap();
    let names = |at: &std::path::Path| -> Vec<String> {
        let names = std::fs::read_dir(at).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let mut left = 0;
    for trial in 0..120_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", THIS])
            .env("REWRITE_IN", temp.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The child is at work once its lease exists. Then a short delay, a different one each time.
        let leases = temp.path().join(format!("{RESERVED}leases"));
        while !leases.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(trial * 97 % 5000));
        child.kill().unwrap();
        child.wait().unwrap();

        let content = std::fs::read(deep.join("file")).unwrap();
        assert_eq!(content.len(), 1 << 20, "trial {trial}");
        assert!(content.iter().all(|byte| *byte == content[0]), "trial {trial}");
        left += names(&deep).len() - 1;
        let vfs = mount(host_dir(temp.path()));
        assert_eq!(names(&deep), ["file"], "trial {trial}");
        assert_eq!(names(temp.path()), ["deep"], "trial {trial}");
        vfs.check("ls /deep => [file]\nls / => [deep/]");
    }
    // Otherwise all kills came at the wrong moments, and the test has shown nothing.
    assert!(left > 10, "{left} of 120");
}

#[test]
fn a_sweep_leaves_the_temporary_files_of_the_living_alone() {
    let temp = temp_dir();
    let one = HostDir::open(temp.path()).unwrap();
    let mut file = one.temp_file(crate::path::Subpath::trusted("")).unwrap();
    file.write(b"half").unwrap();
    let vfs = mount(host_dir(temp.path()));
    vfs.check("ls / => []");
    put(&vfs, "/f", "x").unwrap();
    drop(vfs);
    file.write(b" and half").unwrap();
    file.place_at(crate::path::Subpath::trusted("g")).unwrap();
    drop(one);
    let names = std::fs::read_dir(temp.path()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["f", "g"]);
    assert_eq!(std::fs::read(temp.path().join("g")).unwrap(), b"half and half");
}
