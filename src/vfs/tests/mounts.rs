//! Several file systems in one tree.

use super::*;

/// `/` in memory, a directory of the host at `/work` with memory mounted in it at `/work/deep/cache`, programs,
/// devices, and the same directory of the host again, read-only, at `/ro`.
fn world() -> (TempDir, Vfs) {
    let temp = TempDir::new().unwrap();
    std::fs::create_dir(temp.path().join("dir")).unwrap();
    std::fs::write(temp.path().join("file"), "host").unwrap();
    std::fs::write(temp.path().join("dir/inner"), "inner").unwrap();
    let programs = Arc::new(Programs::new(["tr", "cat", "tr"].map(str::to_owned).into_iter()));
    let host = host_dir(temp.path());
    let vfs = Vfs::builder()
        .mount(path("/work/deep/cache"), mem_fs(), false)
        .mount(GuestPath::root(), mem_fs(), false)
        .mount(path("/work"), host.clone(), false)
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
        "ls / => [bin/ dev/ ro/ usr/ work/]
        ls /usr => [bin/]
        stat /usr => directory 755
        ls /work => [deep/ dir/ file]
        stat /work/deep => directory 755
        ls /work/deep => [cache/]
        open r /work/deep => directory /work/deep
        open w /work/deep => IsDirectory
        open wcx /work/deep => Exist
        realpath /work/deep/cache/.. => /work/deep
        mkdir /work/deep => Exist
        mkdir /work/deep/cache => Exist
        ln-s x /work/deep => Exist
        chmod 700 /work/deep => ReadOnly
        put wc /work/deep/x x => NoEntry
        put wc /usr/x ok
        put wc /work/deep/cache/x mem
        ls /work/deep/cache => [x]",
    );
    assert!(!temp.path().join("deep").exists());
    // What the host puts there later shows beside the mount.
    std::fs::create_dir(temp.path().join("deep")).unwrap();
    std::fs::write(temp.path().join("deep/beside"), "b").unwrap();
    vfs.check("ls /work/deep => [beside cache/]\ncat /work/deep/cache/x => mem\ncat /work/deep/beside => b");
    std::fs::remove_dir_all(temp.path().join("deep")).unwrap();
    std::fs::write(temp.path().join("deep"), "no directory").unwrap();
    vfs.check("ls /work/deep => [cache/]\ncat /work/deep/cache/x => mem\nls /work => [deep/ dir/ file]");
}

#[test]
fn links_reach_across_mounts() {
    let (temp, vfs) = world();
    vfs.check(
        "put wc /work/deep/cache/f nested
        ln-s deep/cache /work/to-nested
        cat /work/to-nested/f => nested
        cat /ro/to-nested/f => NoEntry
        ln-s /work/deep/cache/f /work/absolute
        cat /work/absolute => nested
        ln-s ../../dir/inner /work/deep/cache/up
        cat /work/deep/cache/up => inner
        cat /work/to-nested/../../file => host
        realpath /work/to-nested/.. => /work/deep
        ln-s /usr/../bin/tr /work/tool
        cat /work/tool => #!isopod-program tr
        ln-s work /w
        cat /w/to-nested/f => nested
        put wc /w/to-nested/new made
        cat /work/deep/cache/new => made
        ls /w => [absolute@ deep/ dir/ file to-nested@ tool@]
        realpath /w/dir => /work/dir",
    );
    // The read-only view leads to where the link says, and there writing is allowed.
    vfs.check("put wc /ro/absolute written\ncat /work/absolute => written");
    std::os::unix::fs::symlink("/bin", temp.path().join("bin")).unwrap();
    vfs.check("ls /work/bin => [cat tr]");
}

#[test]
fn nothing_moves_between_mounts() {
    let (_temp, vfs) = world();
    vfs.check(
        "put wc /f x
        mv /f /work/f => CrossDevice
        mv /work/file /f => CrossDevice
        mv /work/file /ro/x => CrossDevice
        mv /work/file /work/deep/cache/x => CrossDevice
        ln /f /work/f => CrossDevice
        ln /work/file /ro/x => CrossDevice
        ln /ro/file /work/x => CrossDevice
        ln /f /work/file => Exist
        ln-s /work /w
        mv /f /w/f => CrossDevice
        ls / => [bin/ dev/ f ro/ usr/ w@ work/]",
    );
}

#[test]
fn mount_points_stay_where_they_are() {
    let (_temp, vfs) = world();
    vfs.check(
        "rmdir / => Busy
        rmdir /work => Busy
        rmdir /work/deep => Busy
        rmdir /work/deep/cache => Busy
        rmdir /usr => Busy
        rm /work => Busy
        mv /work /x => Busy
        mv /usr /x => Busy
        mkdir /x
        mv /x /work => Busy
        mv / /x => Busy
        mv /x / => Busy
        mv /work/dir /work/deep => Busy
        mkdir /work => Exist
        mkdir / => Exist",
    );
}

#[test]
fn a_read_only_mount_refuses_every_change() {
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

#[test]
fn programs_are_files_that_say_who_they_are() {
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
