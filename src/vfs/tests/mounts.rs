//! Several file systems in one tree.

use super::*;
use crate::vfs::{Listing, MountKind, Proc, ProcFacts};

/// Creates `/` in memory, a directory of the host at `/mount` with memory mounted in it at `/mount/deep/cache`,
/// programs, devices, and the same directory of the host again, read-only, at `/ro`.
fn world() -> (TempDir, Vfs) {
    let temp = TempDir::new().unwrap();
    std::fs::create_dir(temp.path().join("dir")).unwrap();
    std::fs::write(temp.path().join("file"), "host").unwrap();
    std::fs::write(temp.path().join("dir/inner"), "inner").unwrap();
    let programs = Arc::new(Programs::new(["tr", "cat", "tr"].map(str::to_owned).into_iter()));
    let host = host_dir(temp.path());
    let vfs = Vfs::builder()
        .mount(path("/mount/deep/cache"), mem_fs(), false)
        .mount(GuestPath::root(), mem_fs(), false)
        .mount(path("/mount"), host.clone(), false)
        .mount(path("/ro"), host, true)
        .mount(path("/bin"), programs.clone(), true)
        .mount(path("/usr/bin"), programs, true)
        .mount(path("/dev"), Arc::new(Dev::new()), true)
        .build()
        .unwrap();
    (temp, vfs)
}

#[test]
fn a_mount_point_shows_in_its_parent_and_is_not_written_to_the_host() {
    let (temp, vfs) = world();
    vfs.check(
        "ls / => [bin/ dev/ mount/ ro/ usr/]
        ls /usr => [bin/]
        stat /usr => directory 755
        ls /mount => [deep/ dir/ file]
        stat /mount/deep => directory 755
        ls /mount/deep => [cache/]
        open r /mount/deep => directory /mount/deep
        open w /mount/deep => IsDirectory
        open wcx /mount/deep => Exist
        realpath /mount/deep/cache/.. => /mount/deep
        mkdir /mount/deep => Exist
        mkdir /mount/deep/cache => Exist
        ln-s x /mount/deep => Exist
        chmod 700 /mount/deep => ReadOnly
        put wc /mount/deep/x x => NoEntry
        put wc /usr/x ok
        put wc /mount/deep/cache/x mem
        ls /mount/deep/cache => [x]",
    );
    assert!(!temp.path().join("deep").exists());
    // A directory that the host creates later shows beside the mount.
    std::fs::create_dir(temp.path().join("deep")).unwrap();
    std::fs::write(temp.path().join("deep/beside"), "b").unwrap();
    vfs.check("ls /mount/deep => [beside cache/]\ncat /mount/deep/cache/x => mem\ncat /mount/deep/beside => b");
    std::fs::remove_dir_all(temp.path().join("deep")).unwrap();
    std::fs::write(temp.path().join("deep"), "no directory").unwrap();
    vfs.check("ls /mount/deep => [cache/]\ncat /mount/deep/cache/x => mem\nls /mount => [deep/ dir/ file]");
}

#[test]
fn links_reach_across_mounts() {
    let (temp, vfs) = world();
    vfs.check(
        "put wc /mount/deep/cache/f nested
        ln-s deep/cache /mount/to-nested
        cat /mount/to-nested/f => nested
        cat /ro/to-nested/f => NoEntry
        ln-s /mount/deep/cache/f /mount/absolute
        cat /mount/absolute => nested
        ln-s ../../dir/inner /mount/deep/cache/up
        cat /mount/deep/cache/up => inner
        cat /mount/to-nested/../../file => host
        realpath /mount/to-nested/.. => /mount/deep
        ln-s /usr/../bin/tr /mount/tool
        cat /mount/tool => #!isopod-program tr
        ln-s mount /w
        cat /w/to-nested/f => nested
        put wc /w/to-nested/new made
        cat /mount/deep/cache/new => made
        ls /w => [absolute@ deep/ dir/ file to-nested@ tool@]
        realpath /w/dir => /mount/dir",
    );
    // The link in the read-only view leads to the writable mount, where writing is allowed.
    vfs.check("put wc /ro/absolute written\ncat /mount/absolute => written");
    std::os::unix::fs::symlink("/bin", temp.path().join("bin")).unwrap();
    vfs.check("ls /mount/bin => [cat tr]");
}

#[test]
fn attack_64_nothing_moves_between_mounts() {
    let (_temp, vfs) = world();
    vfs.check(
        "put wc /f x
        mv /f /mount/f => CrossDevice
        mv /mount/file /f => CrossDevice
        mv /mount/file /ro/x => CrossDevice
        mv /mount/file /mount/deep/cache/x => CrossDevice
        ln /f /mount/f => CrossDevice
        ln /mount/file /ro/x => CrossDevice
        ln /ro/file /mount/x => CrossDevice
        ln /f /mount/file => Exist
        ln-s /mount /w
        mv /f /w/f => CrossDevice
        ls / => [bin/ dev/ f mount/ ro/ usr/ w@]",
    );
}

#[test]
fn attack_66_mount_points_stay_where_they_are() {
    let (_temp, vfs) = world();
    vfs.check(
        "rmdir / => Busy
        rmdir /mount => Busy
        rmdir /mount/deep => Busy
        rmdir /mount/deep/cache => Busy
        rmdir /usr => Busy
        rm /mount => Busy
        mv /mount /x => Busy
        mv /usr /x => Busy
        mkdir /x
        mv /x /mount => Busy
        mv / /x => Busy
        mv /x / => Busy
        mv /mount/dir /mount/deep => Busy
        mkdir /mount => Exist
        mkdir / => Exist",
    );
}

#[test]
fn attack_65_a_read_only_mount_refuses_every_change() {
    let (temp, vfs) = world();
    let before = std::fs::metadata(temp.path().join("file")).unwrap().modified().unwrap();
    vfs.check(
        "cat /ro/file => host
        open rc /ro/file => file
        open w /ro/file => ReadOnly
        open wa /ro/file => ReadOnly
        open rt /ro/file => ReadOnly
        open rc /ro/new => ReadOnly
        open wct /ro/new => ReadOnly
        open wcx /ro/file => Exist
        open w /ro/dir => IsDirectory
        open wc /ro/none/x => NoEntry
        open wc /ro/file/x => NotDirectory
        mkdir /ro/new => ReadOnly
        mkdir /ro/dir => Exist
        mkdir /ro/none/new => NoEntry
        rmdir /ro/dir => ReadOnly
        rm /ro/file => ReadOnly
        rm /ro/none => ReadOnly
        mv /ro/file /ro/x => ReadOnly
        ln /ro/file /ro/x => ReadOnly
        ln-s x /ro/x => ReadOnly
        ln-s x /ro/file => Exist
        chmod 600 /ro/file => ReadOnly
        chmod 600 /ro => ReadOnly
        chmod 600 /ro/none => NoEntry
        chown 1000 /ro/file => ReadOnly
        touch 1 /ro/file => ReadOnly
        touch-h 1 /ro/file => ReadOnly
        truncate 0 /ro/file => ReadOnly
        rm /bin/tr => ReadOnly
        put wc /bin/x y => ReadOnly
        put w /bin/tr y => ReadOnly
        rm /dev/null => ReadOnly
        cat /ro/file => host",
    );
    let Opened::File(file) = vfs.open(&path("/ro/file"), &how("r")).unwrap() else { panic!() };
    assert_eq!(file.set_times(SetTime::Now, SetTime::Now), Err(Errno::ReadOnly));
    assert_eq!(std::fs::metadata(temp.path().join("file")).unwrap().modified().unwrap(), before);
}

/// Lists a directory in pages of this size.
fn paged(vfs: &Vfs, at: &str, page: usize) -> Vec<String> {
    let mut directory = vfs.open_dir(&path(at)).unwrap();
    let mut names = Vec::new();
    loop {
        let entries = directory.next(page).unwrap();
        assert!(entries.len() <= page);
        if entries.is_empty() {
            break;
        }
        names.extend(entries.into_iter().map(|entry| entry.name));
    }
    names.sort();
    names
}

#[test]
fn attack_82_a_directory_is_listed_page_by_page() {
    let (_temp, vfs) = world();
    for at in ["/", "/mount", "/mount/deep", "/bin", "/dev", "/dev/fd", "/usr", "/mount/deep/cache"] {
        let names: Vec<String> = vfs.read_dir(&path(at)).unwrap().into_iter().map(|entry| entry.name).collect();
        for page in [1, 2, 100] {
            assert_eq!(paged(&vfs, at, page), names, "{at}");
        }
    }
    assert_eq!(vfs.open_dir(&path("/mount/file")).map(|_| ()), Err(Errno::NotDirectory));
    assert_eq!(vfs.open_dir(&path("/none")).map(|_| ()), Err(Errno::NoEntry));

    let names: Vec<String> = (0..20_000).map(|n| format!("name-{n}")).collect();
    let mut sorted = names.clone();
    sorted.sort();
    let mut host = Host::new();
    for name in &names {
        std::fs::write(host.inside(name), "").unwrap();
    }
    assert_eq!(paged(&host.vfs, "/", 1000), sorted);
    host.overlay();
    let mem = mem();
    for name in &names {
        mem.open(&path("/").join(name).unwrap(), &how("wc")).unwrap();
    }
    for vfs in [&mem, &host.vfs] {
        let mut directory = vfs.open_dir(&path("/")).unwrap();
        let first = directory.next(1000).unwrap();
        assert_eq!(first.len(), 1000);
        // Every unchanged name shows once, whatever is created or removed meanwhile.
        vfs.check("rm /name-7\nput wc /new x\nmv /name-8 /renamed");
        let mut listed: Vec<String> = first.into_iter().map(|entry| entry.name).collect();
        loop {
            let entries = directory.next(1000).unwrap();
            if entries.is_empty() {
                break;
            }
            listed.extend(entries.into_iter().map(|entry| entry.name));
        }
        let fleeting = ["name-7", "name-8", "new", "renamed"];
        listed.retain(|name| !fleeting.contains(&name.as_str()));
        listed.sort();
        let want: Vec<&String> = sorted.iter().filter(|name| !fleeting.contains(&name.as_str())).collect();
        assert!(listed.iter().eq(want));
    }
}

#[test]
fn program_files_name_their_program() {
    let (_temp, vfs) = world();
    vfs.check(
        "ls /bin => [cat tr]
        stat /bin/tr => file 755 20 1
        cat /usr/bin/tr => #!isopod-program tr
        open r /bin/none => NoEntry
        open r /bin/tr/x => NotDirectory
        open r /bin/ => directory /bin
        readlink /bin/tr => Invalid",
    );
    let stat = |at: &str| vfs.stat(&path(at), true).unwrap();
    assert_eq!(stat("/bin/tr"), stat("/usr/bin/tr"));
    assert_ne!(stat("/bin/tr").inode, stat("/bin/cat").inode);
}

#[test]
fn devices_can_be_used_and_descriptors_are_named() {
    let (_temp, vfs) = world();
    vfs.check(
        "ls /dev => [fd/ full| null| random| stderr| stdin| stdout| tty| urandom| zero|]
        put wct /dev/null gone
        put w /dev/full x => NoSpace
        open r /dev/stdin => descriptor 0
        open w /dev/stdout => descriptor 1
        open wct /dev/stderr => descriptor 2
        open r /dev/fd/63 => descriptor 63
        open r /dev/fd/03 => NoEntry
        open r /dev/fd/x => NoEntry
        open r /dev/fd/4294967296 => NoEntry
        open r /dev/fd => directory /dev/fd
        open rw /dev/tty => NoDevice
        open r /dev/sda => NoEntry
        open rd /dev/null => NotDirectory
        open r /dev/null/x => NotDirectory
        stat /dev/null => device",
    );
    let open = |at: &str| match vfs.open(&path(at), &how("rw")).unwrap() {
        Opened::File(file) => file,
        _ => panic!("{at}"),
    };
    assert_eq!(open("/dev/null").read_at(0, 10).unwrap().len(), 0);
    assert_eq!(open("/dev/zero").read_at(7, 10).unwrap().as_ref(), [0; 10]);
    assert_eq!(open("/dev/full").read_at(0, 3).unwrap().as_ref(), [0; 3]);
    assert_ne!(open("/dev/urandom").read_at(0, 32).unwrap(), open("/dev/random").read_at(0, 32).unwrap());
    assert!(!open("/dev/null").seekable());
}

#[test]
fn a_table_that_makes_no_sense_is_refused() {
    let build = |points: &[&str]| {
        let mut builder = Vfs::builder();
        for at in points {
            builder = builder.mount(path(at), mem_fs(), false);
        }
        builder.build().map(|_| ())
    };
    assert_eq!(build(&[]), Err(Errno::Invalid));
    assert_eq!(build(&["/a"]), Err(Errno::Invalid));
    assert_eq!(build(&["/", "/a", "/a"]), Err(Errno::Busy));
    assert_eq!(build(&["/", "/"]), Err(Errno::Busy));
    assert_eq!(build(&["/", "/a/../b"]), Err(Errno::Invalid));
    assert_eq!(build(&["/", "/a", "/a/b/c"]), Ok(()));

    let host = Host::new();
    std::fs::write(host.inside("file"), "").unwrap();
    std::os::unix::fs::symlink("..", host.inside("link")).unwrap();
    for at in ["/file", "/file/x", "/link", "/link/x"] {
        let builder = Vfs::builder().mount(GuestPath::root(), host_dir(&host.inside("")), false);
        let built = builder.mount(path(at), mem_fs(), false).build();
        assert_eq!(built.map(|_| ()), Err(Errno::NotDirectory), "{at}");
    }
}

/// Creates a tree with the `/proc` and `/dev` of a sandbox.
fn machine() -> Vfs {
    let facts = ProcFacts {
        memory: 512 << 20,
        processors: 2,
        hostname: "isopod".to_owned(),
        limits: vec![("Max open files", 256, "files")],
    };
    let directory = temp_dir();
    Vfs::builder()
        .mount(GuestPath::root(), mem_fs(), false)
        .mount(path("/dev/shm/a b"), host_dir(directory.path()), true)
        .mount(path("/proc"), Arc::new(Proc::new(facts)), true)
        .mount(path("/dev"), Arc::new(Dev::new()), false)
        .mount(path("/dev/shm"), mem_fs(), false)
        .build()
        .unwrap()
}

#[test]
fn proc_tells_of_a_machine_that_is_not_the_host() {
    let vfs = machine();
    vfs.check(
        "ls /proc => [cpuinfo filesystems loadavg meminfo mounts@ self/ stat sys/ thread-self@ uptime version]
        ls /proc/sys/kernel => [hostname osrelease ostype pid_max random/ version]
        ls /proc/self => [fd/ limits mounts]
        cat /proc/loadavg => 0.00 0.00 0.00 1/1 1
        cat /proc/sys/kernel/hostname => isopod
        cat /proc/sys/kernel/ostype => Linux
        readlink /proc/mounts => self/mounts
        realpath /proc/mounts => /proc/self/mounts
        stat /proc/meminfo => file 444 0 1
        stat /proc/self => directory 555
        open r /proc/thread-self/fd/5 => descriptor 5
        open r /proc/self/fd/05 => NoEntry
        open w /proc/meminfo => ReadOnly
        open wc /proc/new => ReadOnly
        open rt /proc/uptime => ReadOnly
        open rd /proc/uptime => NotDirectory
        open rn /proc/mounts => Loop
        open r /proc/self/root => NoEntry
        open r /proc/self/environ => NoEntry
        open r /proc/1/environ => NoEntry
        cat /proc/uptime/x => NotDirectory
        rm /proc/uptime => ReadOnly
        mkdir /proc/x => ReadOnly
        chmod 600 /proc/uptime => ReadOnly
        touch 1 /proc/uptime => ReadOnly
        readlink /proc/uptime => Invalid",
    );
    let mounts = [
        "tmpfs / tmpfs rw 0 0",
        "host /dev/shm/a\\040b host ro 0 0",
        "proc /proc proc ro 0 0",
        "devtmpfs /dev devtmpfs rw 0 0",
        "tmpfs /dev/shm tmpfs rw 0 0",
    ];
    assert_eq!(vfs.run("cat /proc/mounts"), mounts.join("\n"));
    assert!(vfs.run("cat /proc/meminfo").starts_with("MemTotal:         524288 kB\nMemFree:"));
    assert_eq!(vfs.run("cat /proc/cpuinfo").matches("processor\t:").count(), 2);
    let uptime: Vec<f64> = vfs.run("cat /proc/uptime").split(' ').map(|number| number.parse().unwrap()).collect();
    assert!(uptime.len() == 2 && uptime[0] < 60.0);
    let uuid = vfs.run("cat /proc/sys/kernel/random/uuid");
    assert_eq!((uuid.len(), uuid == vfs.run("cat /proc/sys/kernel/random/uuid")), (36, false));
    let host = std::fs::read_to_string("/proc/version").unwrap();
    assert_ne!(vfs.run("cat /proc/version"), host.trim());
}

#[test]
fn mounts_are_reported_in_the_order_in_which_they_were_mounted() {
    let vfs = machine();
    let mounts = vfs.mounts();
    let paths: Vec<&str> = mounts.iter().map(|mount| mount.path.as_str()).collect();
    assert_eq!(paths, ["/", "/dev/shm/a b", "/proc", "/dev", "/dev/shm"]);
    let kinds: Vec<MountKind> = mounts.iter().map(|mount| mount.kind).collect();
    let expected = [MountKind::Memory, MountKind::Host, MountKind::Proc, MountKind::Devices, MountKind::Memory];
    assert_eq!(kinds, expected);
    let builtin: Vec<bool> = kinds.iter().map(|kind| kind.is_builtin()).collect();
    assert_eq!(builtin, [false, false, true, true, false]);
    let read_only: Vec<bool> = mounts.iter().map(|mount| mount.is_read_only).collect();
    assert_eq!(read_only, [false, true, true, false, false]);

    let fork = vfs.snapshot().fork(&Arc::new(Quota::new(&Limits::default()))).unwrap();
    assert_eq!(fork.mounts(), mounts);
    assert_eq!(fork.run("cat /proc/mounts"), vfs.run("cat /proc/mounts"));
    let host = Host::overlaid();
    assert_eq!(host.vfs.mounts()[0].kind, MountKind::Overlay);
    assert_eq!(overlay_of_memory().mounts()[0].kind, MountKind::Memory);
}

#[test]
fn the_kernel_is_told_where_its_descriptors_are_listed() {
    let vfs = machine();
    vfs.check("ln-s /dev/fd /fd\nmkdir /empty\nls /dev/fd => []\nls /proc/self/fd => []");
    for at in ["/dev/fd", "/dev/fd/", "/fd", "/proc/self/fd", "/proc/thread-self/fd/."] {
        assert_eq!(vfs.list(&path(at)), Ok(Listing::Descriptors), "{at}");
        assert!(vfs.open_dir(&path(at)).unwrap().lists_descriptors(), "{at}");
    }
    for at in ["/empty", "/dev", "/proc/self", "/dev/shm"] {
        let names = vfs.read_dir(&path(at)).unwrap();
        assert_eq!(vfs.list(&path(at)), Ok(Listing::Names(names)), "{at}");
        assert!(!vfs.open_dir(&path(at)).unwrap().lists_descriptors(), "{at}");
    }
    assert_eq!(vfs.list(&path("/dev/fd/0")), Err(Errno::NotDirectory));
    vfs.check("put wc /dev/shm/f x\ncat /dev/shm/f => x\nput wc /dev/f x => ReadOnly");
}
