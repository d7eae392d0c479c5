//! POSIX semantics with the errors of Linux: the same lines on memory, on a directory of the host, and on the kernel of
//! the host.

use super::oracle::Oracle;
use super::*;

/// Runs a script in a fresh tree of every kind.
fn everywhere(script: &str) {
    mem().check(script);
    Host::new().vfs.check(script);
    Host::without_openat2().vfs.check(script);
    Host::overlaid().vfs.check(script);
    overlay_of_memory().check(script);
    if let Some(oracle) = Oracle::new() {
        oracle.check(script);
    }
}

/// Runs a test on memory, on a directory of the host and on overlays.
fn on_all(test: impl Fn(&Vfs)) {
    test(&mem());
    test(&Host::new().vfs);
    test(&Host::without_openat2().vfs);
    test(&Host::overlaid().vfs);
    test(&overlay_of_memory());
}

fn open(vfs: &Vfs, flags: &str, at: &str) -> Arc<dyn File> {
    match vfs.open(&path(at), &how(flags)).unwrap() {
        Opened::File(file) => file,
        _ => panic!("{at} is no file"),
    }
}

#[test]
fn names_are_made_and_removed() {
    everywhere(
        "mkdir /d
        mkdir /d => Exist
        mkdir /d/ => Exist
        mkdir /d/. => Exist
        mkdir /d/.. => Exist
        mkdir / => Exist
        mkdir /d/e/f => NoEntry
        mkdir /d/e/
        mkdir /new/. => NoEntry
        put wc /d/f text
        mkdir /d/f => Exist
        mkdir /d/f/g => NotDirectory
        ls /d => [e/ f]
        ls /d/f => NotDirectory
        ls /none => NoEntry
        rmdir /d => NotEmpty
        rmdir /d/f => NotDirectory
        rmdir /d/e/. => Invalid
        rmdir /d/e/.. => NotEmpty
        rmdir /none => NoEntry
        rm /d/e => IsDirectory
        rm /d/e/ => IsDirectory
        rm /d/f/ => NotDirectory
        rm /d/f/x => NotDirectory
        rm /d/f
        rm /d/f => NoEntry
        rmdir /d/e/
        rmdir /d
        ls / => []",
    );
}

#[test]
fn files_are_opened_and_made() {
    everywhere(
        "open r /f => NoEntry
        open w /f => NoEntry
        put wc /f hello
        cat /f => hello
        put w /f J
        cat /f => Jello
        put wa /f !
        cat /f => Jello!
        put wt /f new
        cat /f => new
        open wcx /f => Exist
        open rd /f => NotDirectory
        open r /f/ => NotDirectory
        open r /f/. => NotDirectory
        open wt /f/ => NotDirectory
        cat /f => new
        open wc /g/ => IsDirectory
        open wc /none/ => IsDirectory
        open wc /none/g => NoEntry
        mkdir /d
        open r /d => directory /d
        open rd /d/ => directory /d
        open rd /d/.. => directory /
        open w /d => IsDirectory
        open rc /d => IsDirectory
        open rcx /d => Exist
        open rcd /d => Invalid
        open rcx /n => file
        stat /n => file 644 0 1
        truncate 5 /n
        stat /n => file 644 5 1
        truncate 2 /f
        cat /f => ne",
    );
}

#[test]
fn links_are_followed_where_posix_says() {
    everywhere(
        "mkdir /d
        put wc /d/f text
        ln-s d /l
        ln-s d/f /lf
        ln-s f /d/lf
        ln-s /d/f /abs
        ln-s none /dangling
        ln-s  /x => NoEntry
        ln-s y /d => Exist
        ln-s y /lf => Exist
        ln-s y /new/ => NoEntry
        cat /lf => text
        cat /l/f => text
        cat /l/lf => text
        cat /abs => text
        stat /lf => file 644 4 1
        lstat /lf => link 3
        lstat /l/ => directory 755
        lstat /lf/ => NotDirectory
        readlink /lf => d/f
        readlink /d => Invalid
        readlink /d/f => Invalid
        readlink /l/ => Invalid
        readlink /none => NoEntry
        stat /dangling => NoEntry
        lstat /dangling => link 4
        open rn /lf => Loop
        open rnd /l => NotDirectory
        open rnd /l/ => directory /d
        open wcx /dangling => Exist
        put wc /dangling made
        cat /none => made
        mkdir /dangling => Exist
        ls /l => [f lf@]
        ls /l/ => [f lf@]
        realpath /l/lf => /d/f
        realpath /l/.. => /
        rmdir /l => NotDirectory
        rmdir /l/ => NotDirectory
        rm /l/ => NotDirectory
        rm /l
        cat /d/f => text
        chmod 600 /lf
        stat /d/f => file 600 4 1
        touch 1700000000123456789 /lf
        mtime /d/f => 1700000000123456789",
    );
}

#[test]
fn dot_dot_is_the_parent_of_what_a_link_leads_to() {
    everywhere(
        "mkdir /a
        mkdir /a/b
        mkdir /c
        put wc /a/f deep
        put wc /f top
        ln-s a/b /l
        ln-s ../a/b /c/l
        cat /l/../f => deep
        cat /c/l/../f => deep
        cat /c/../f => top
        cat /../../f => top
        cat /none/../f => NoEntry
        cat /f/../f => NotDirectory
        realpath /c/l/.. => /a
        mkdir /c/l/../new
        ls /a => [b/ f new/]
        rmdir /l/.. => NotEmpty",
    );
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let mut script = String::from("put wc /0 end\n");
    for n in 1..=50 {
        script += &format!("ln-s {} /{n}\n", n - 1);
    }
    script += "cat /40 => end
        cat /41 => Loop
        cat /50 => Loop
        ln-s self /self
        stat /self => Loop
        ln-s pong /ping
        ln-s ping /pong
        put wc /ping x => Loop
        ls /ping/x => Loop
        lstat /self => link 4
        rm /self";
    everywhere(&script);
}

#[test]
fn rename_replaces_what_it_may() {
    everywhere(
        "mkdir /d
        mkdir /d/in
        mkdir /empty
        put wc /f file
        put wc /g other
        ln-s f /l
        mv /none /x => NoEntry
        mv /f /none/x => NoEntry
        mv /f /g/x => NotDirectory
        mv /f /empty => IsDirectory
        mv /empty /f => NotDirectory
        mv /empty /d => NotEmpty
        mv /d /d/in/x => Invalid
        mv /d/in /d => NotEmpty
        mv /d /d
        mv /f/ /x => NotDirectory
        mv /f /x/ => NotDirectory
        mv /d/. /x => Busy
        mv /d /empty/.. => Busy
        mv / /x => Busy
        mv /f /g
        cat /g => file
        mv /l /l2
        lstat /l2 => link 1
        mv /d/in/ /empty/
        mv /d /moved/
        ls / => [empty/ g l2@ moved/]
        ln /g /h
        mv /g /h
        ls / => [empty/ g h l2@ moved/]
        stat /g => file 644 4 2
        mv /l2 /h
        lstat /h => link 1
        stat /g => file 644 4 1",
    );
}

#[test]
fn attack_47_a_directory_does_not_go_into_itself() {
    everywhere(
        "mkdir /d
        mkdir /d/e
        ln-s d /l
        mv /d /d/x => Invalid
        mv /d /d/e/x => Invalid
        mv /d /l/e/x => Invalid
        mv /d/e /d/e/e => Invalid
        mv /d/../d /d/e/../e/x => Invalid
        ln /d /d/x => NotPermitted
        ls /d => [e/]
        ls /d/e => []",
    );
}

#[test]
fn a_file_has_the_names_it_is_given() {
    everywhere(
        "put wc /a one
        mkdir /d
        ln /a /d/b
        stat /a => file 644 3 2
        put w /d/b two
        cat /a => two
        ln /a /d/b => Exist
        ln /a /d => Exist
        ln /a /d/.. => Exist
        ln /a /x/ => NoEntry
        ln /a /none/x => NoEntry
        ln /none /x => NoEntry
        ln /d /x => NotPermitted
        ln-s a /l
        ln /l /m
        lstat /m => link 1
        ln-L /l /n
        lstat /n => file 644 3 3
        rm /a
        cat /d/b => two
        stat /n => file 644 3 2",
    );
}

#[test]
fn attack_67_names_can_be_anything_but_a_slash_or_a_nul() {
    on_all(|vfs| {
        let long = "n".repeat(crate::limits::NAME_BYTES);
        let names = [
            "CON", "NUL", "COM¹", "a:b", "C:\\", "\\\\?\\x", "%2e%2e", "...", "-rf", "\u{202e}", "é", "e\u{301}", "\n",
            &long,
        ];
        for name in names {
            vfs.mkdir(&path("/").join(name).unwrap(), 0o755).unwrap();
        }
        let mut want = names.map(str::to_owned);
        want.sort();
        let found: Vec<String> = vfs.read_dir(&path("/")).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(found, want);
    });
}

#[test]
fn an_open_file_does_what_it_was_opened_for() {
    on_all(|vfs| {
        let file = open(vfs, "wc", "/f");
        assert_eq!((file.write_at(3, b"xyz"), file.append(b"end")), (Ok(3), Ok(9)));
        assert_eq!(file.append(b""), Ok(9));
        // After an append a write still goes to its offset.
        assert_eq!(file.write_at(0, b"abc"), Ok(3));
        assert_eq!(file.read_at(0, 1), Err(Errno::BadDescriptor));

        let file = open(vfs, "r", "/f");
        assert_eq!(file.read_at(0, 100).unwrap().as_ref(), b"abcxyzend");
        assert_eq!(file.read_at(6, 2).unwrap().as_ref(), b"en");
        for offset in [9, 1 << 40, u64::MAX] {
            assert_eq!(file.read_at(offset, 10).unwrap().len(), 0);
        }
        assert_eq!(file.write_at(0, b"x"), Err(Errno::BadDescriptor));
        assert_eq!(file.append(b"x"), Err(Errno::BadDescriptor));
        assert_eq!(file.set_len(0), Err(Errno::Invalid));
        assert_eq!(file.set_times(SetTime::Keep, SetTime::At(5)), Ok(()));
        assert_eq!(vfs.stat(&path("/f"), true).unwrap().modified, 5);
        assert_eq!(file.sync(), Ok(()));
        assert!(file.seekable());

        let file = open(vfs, "rw", "/f");
        assert_eq!(file.write_at(u64::MAX, b"x"), Err(Errno::FileTooLarge));
        assert_eq!(file.set_len(u64::MAX), Err(Errno::FileTooLarge));
        assert_eq!((file.set_len(5), file.read_at(0, 100).unwrap().as_ref()), (Ok(()), &b"abcxy"[..]));
        assert_eq!((file.set_len(7), file.read_at(3, 100).unwrap().as_ref()), (Ok(()), &b"xy\0\0"[..]));
    });
}

#[test]
fn one_read_moves_no_more_than_a_transfer() {
    on_all(|vfs| {
        let file = open(vfs, "rwc", "/f");
        file.set_len(1 << 20).unwrap();
        assert_eq!(file.read_at(0, usize::MAX).unwrap().len(), crate::limits::TRANSFER_BYTES);
    });
}

#[test]
fn an_unlinked_file_lives_while_it_is_open() {
    on_all(|vfs| {
        let file = open(vfs, "rwc", "/f");
        vfs.check("rm /f");
        file.append(b"alive").unwrap();
        assert_eq!((file.read_at(0, 9).unwrap().as_ref(), file.stat().unwrap().links), (&b"alive"[..], 0));
        vfs.check("ls / => []");
        vfs.check("put wcx /f new");
        assert_eq!(file.read_at(0, 9).unwrap().as_ref(), b"alive");
    });
}

#[test]
fn appends_of_many_threads_do_not_overwrite_each_other() {
    on_all(|vfs| {
        let one = open(vfs, "wac", "/f");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (one, own) = (Arc::clone(&one), open(vfs, "wa", "/f"));
                scope.spawn(move || {
                    for _ in 0..250 {
                        one.append(b"12345").unwrap();
                        own.append(b"12345").unwrap();
                    }
                });
            }
        });
        let file = open(vfs, "r", "/f");
        assert_eq!(file.stat().unwrap().size, 10_000);
        assert_eq!(file.read_at(0, 10_000).unwrap().as_ref(), b"12345".repeat(2000));
    });
}

#[test]
fn stat_identifies_a_file_and_tells_its_times() {
    on_all(|vfs| {
        let before = clock_now();
        vfs.check("put wc /a x\nln /a /b\nput wc /c x\nmkdir /d\nmkdir /d/e\nmkdir /d/f");
        let stat = |at: &str| vfs.stat(&path(at), true).unwrap();
        let (a, b, c) = (stat("/a"), stat("/b"), stat("/c"));
        assert_eq!((a.device, a.inode), (b.device, b.inode));
        assert_ne!(a.inode, c.inode);
        assert_eq!(open(vfs, "r", "/b").stat(), Ok(a));
        assert_eq!((a.uid, a.gid, a.kind), (1000, 1000, Kind::File));
        assert_eq!(stat("/d").links, 4);
        let entries = vfs.read_dir(&path("/")).unwrap();
        assert_eq!((entries[0].inode, entries[1].inode), (a.inode, a.inode));
        // The clock of the host for file times may lag by a tick.
        assert!(c.modified + 100_000_000 >= before && c.changed >= a.modified);
        vfs.set_times(&path("/a"), SetTime::At(1), SetTime::Keep, true).unwrap();
        assert_eq!((stat("/a").accessed, stat("/a").modified), (1, a.modified));
        vfs.set_times(&path("/a"), SetTime::Keep, SetTime::Now, true).unwrap();
        assert!(stat("/a").accessed == 1 && stat("/a").modified >= a.modified);
        vfs.check("ln-s a /l\ntouch-h 7 /l\nmtime /l => 7");
        assert_ne!(stat("/a").modified, 7);
    });
}

fn clock_now() -> u64 {
    super::super::clock::now()
}

#[test]
fn modes_are_what_was_asked_for_whatever_the_umask_of_the_host() {
    on_all(|vfs| {
        vfs.mkdir(&path("/d"), 0o1777).unwrap();
        vfs.open(&path("/f"), &OpenHow { mode: 0o666, ..how("wc") }).unwrap();
        // An existing file keeps its mode.
        vfs.open(&path("/f"), &OpenHow { mode: 0o777, ..how("wc") }).unwrap();
        vfs.check("stat /d => directory 1777\nstat /f => file 666 0 1");
        vfs.check("chmod 000 /f\nstat /f => file 0 0 1\nchmod 755 /f\nstat /f => file 755 0 1");
        vfs.check("chmod 700 /\nstat / => directory 700\nchmod 755 /");
        vfs.check("ln-s f /l\nchmod-h 700 /l => NotSupported");
        vfs.check("chmod 700 /none => NoEntry\nchmod 700 /f/ => NotDirectory");
    });
}

#[test]
fn owners_can_be_changed_in_memory_only() {
    mem().check("put wc /f x\nchown 0 /f\nchown 0 /none => NoEntry");
    Host::new().vfs.check("put wc /f x\nchown 1000 /f\nchown 0 /f => NotPermitted\nchown 1000 /none => NoEntry");
}
