//! Overlays: visible lower files, separate changes, and commits.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::*;
use crate::vfs::{Change, ChangeKind};

/// A directory of the host with a few files, and an overlay over it.
fn sample_tree() -> (Host, Overlay) {
    let mut host = Host::new();
    host.vfs.check(
        "mkdir /d
        mkdir /d/e
        put wc /d/e/deep deep
        put wc /d/f one
        put wc /top top
        ln-s d/f /link
        mkdir /empty
        chmod 755 /top",
    );
    let overlay = host.overlay();
    (host, overlay)
}

/// Returns every file in a directory of the host: kind, mode, content and time.
pub(super) fn dump_tree(root: &Path) -> BTreeMap<String, String> {
    fn visit(root: &Path, at: &Path, into: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            // A directory in use has a lease in it.
            if path.file_name().unwrap() == ".isopod-tmp-leases" {
                continue;
            }
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.mode();
            let content = if metadata.is_dir() {
                visit(root, &path, into);
                String::new()
            } else if metadata.is_symlink() {
                path.read_link().unwrap().display().to_string()
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                format!("{text} {:?}", metadata.modified().unwrap())
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            into.insert(name, format!("{mode:o} {content}"));
        }
    }
    let mut all = BTreeMap::new();
    visit(root, root, &mut all);
    all
}

fn list_of(overlay: &Overlay) -> Vec<String> {
    let diff = overlay.diff().unwrap();
    diff.changes().iter().map(Change::to_string).collect()
}

#[test]
fn lower_files_show_through_and_stay_unchanged() {
    let (host, overlay) = sample_tree();
    let before = dump_tree(&host.inside(""));
    host.vfs.check(
        "ls / => [d/ empty/ link@ top]
        cat /link => one
        cat /d/e/deep => deep
        stat /top => file 755 3 1
        put w /d/f two
        cat /link => two
        put wa /top !
        cat /top => top!
        put wc /d/new new
        rm /d/e/deep
        ls /d/e => []
        rmdir /d/e
        ls /d => [f new]
        mkdir /d/e
        ls /d/e => []
        put wc /d/e/deep again
        cat /d/e/deep => again
        chmod 700 /d/f
        mv /empty /full
        ln-s x /full/l
        mv /link /moved
        cat /moved => two",
    );
    assert_eq!(dump_tree(&host.inside("")), before);
    assert_eq!(
        list_of(&overlay),
        [
            "M d/e/deep",
            "M d/f (mode 644 to 700)",
            "A d/new",
            "D empty/",
            "A full/",
            "A full/l",
            "D link",
            "A moved",
            "M top",
        ]
    );
    overlay.discard().unwrap();
    assert!(overlay.diff().unwrap().is_empty());
    host.vfs.check("ls / => [d/ empty/ link@ top]\ncat /d/f => one\nls /d/e => [deep]");
    assert_eq!(dump_tree(&host.inside("")), before);
}

#[test]
fn a_commit_makes_the_directory_equal_to_the_overlay() {
    let (host, overlay) = sample_tree();
    host.vfs.check(
        "put w /d/f two
        chmod 750 /d/f
        touch 1700000000000000000 /d/f
        rm /d/e/deep
        rmdir /d/e
        put wc /d/e file-now
        mkdir /new
        mkdir /new/deeper
        put wc /new/deeper/x x
        chmod 500 /new
        mv /top /new/deeper/top
        ln-s nowhere /l
        rm /link
        mkdir /link
        ln /d/f /d/also
        chmod 711 /empty",
    );
    let want = dump_vfs(&host.vfs);
    overlay.commit().unwrap();
    assert!(overlay.diff().unwrap().is_empty());
    assert_eq!(dump_vfs(&host.vfs), want);
    let plain = mount(host_dir(&host.inside("")));
    assert_eq!(dump_vfs(&plain), want);
    plain.check("stat /d/f => file 750 3 2\nmtime /d/also => 1700000000000000000\nstat /new => directory 500");
    assert!(host.inside("link").is_dir());
    // No temporary file is left.
    drop((plain, overlay, host.vfs));
    let root = host.temp.path().join("root");
    let names: Vec<String> = dump_tree(&root).into_keys().collect();
    assert!(names.iter().all(|name| !name.contains("isopod")), "{names:?}");
    std::fs::set_permissions(root.join("new"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns every file in a tree, as its calls show it.
fn dump_vfs(vfs: &Vfs) -> BTreeMap<String, String> {
    fn visit(vfs: &Vfs, at: &GuestPath, into: &mut BTreeMap<String, String>) {
        for entry in vfs.read_dir(at).unwrap() {
            let inner = at.join(&entry.name).unwrap();
            let stat = vfs.stat(&inner, false).unwrap();
            let mut line = show(&stat);
            match entry.kind {
                Kind::Directory => visit(vfs, &inner, into),
                Kind::Symlink => line += &vfs.read_link(&inner).unwrap(),
                _ => {
                    let Opened::File(file) = vfs.open(&inner, &how("r")).unwrap() else { panic!() };
                    line += &String::from_utf8_lossy(&file.read_at(0, 4096).unwrap());
                    line += &format!(" {}", stat.modified);
                }
            }
            into.insert(inner.to_string(), line);
        }
    }
    let mut all = BTreeMap::new();
    visit(vfs, &GuestPath::root(), &mut all);
    all
}

#[test]
fn a_directory_is_renamed_with_all_that_is_below_it() {
    let (host, overlay) = sample_tree();
    host.vfs.check(
        "mv /d /moved
        ls / => [empty/ link@ moved/ top]
        cat /moved/e/deep => deep
        cat /d/f => NoEntry
        put wa /moved/e/deep er
        mkdir /d
        ls /d => []
        mv /moved/e /d/e
        cat /d/e/deep => deeper
        ls /moved => [f]
        mv /moved /d/e/inner
        ls /d/e => [deep inner/]
        cat /d/e/inner/f => one",
    );
    assert_eq!(list_of(&overlay), ["M d/e/deep", "A d/e/inner/", "A d/e/inner/f", "D d/f"]);
    let inode = host.inside("d/f").metadata().unwrap().ino();
    overlay.commit().unwrap();
    host.vfs.check("ls /d => [e/]\ncat /d/e/inner/f => one\ncat /d/e/deep => deeper");
    // A file that was only renamed is still the same file.
    assert_eq!(host.inside("d/e/inner/f").metadata().unwrap().ino(), inode);
}

#[test]
fn a_write_copies_one_chunk_and_attributes_copy_none() {
    let mut host = Host::new();
    std::fs::write(host.inside("large"), vec![7; 10 << 20]).unwrap();
    let quota = Arc::new(Quota::new(&Limits::default()));
    let dir = HostDir::open(&host.inside("")).unwrap();
    let overlay = Overlay::over_host(dir, quota.clone()).unwrap();
    host.vfs = mount(overlay.files());
    host.vfs.check("chmod 600 /large\nmv /large /moved\nln /moved /also\ntouch 5 /also");
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (0, 2));
    let Opened::File(file) = host.vfs.open(&path("/moved"), &how("rw")).unwrap() else { panic!() };
    assert_eq!(file.write_at(5 << 20, b"x"), Ok(1));
    assert_eq!(quota.bytes_used(), 64 << 10);
    assert_eq!(file.read_at((5 << 20) - 1, 3).unwrap().as_ref(), b"\x07x\x07");
    assert_eq!(file.read_at((5 << 20) + (64 << 10) - 1, 2).unwrap().as_ref(), b"\x07\x07");
    // Truncated bytes do not come back.
    file.set_len(100).unwrap();
    assert_eq!(quota.bytes_used(), 0);
    file.set_len(300).unwrap();
    assert_eq!(file.read_at(99, 3).unwrap().as_ref(), b"\x07\0\0");
    file.write_at(98, b"yyyy").unwrap();
    assert_eq!(file.read_at(97, 6).unwrap().as_ref(), b"\x07yyyy\0");
    assert_eq!(quota.bytes_used(), 512);
    drop(file);
    overlay.discard().unwrap();
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (0, 0));
}

#[test]
fn a_reader_sees_what_is_written_later_and_an_open_file_stays() {
    let (host, overlay) = sample_tree();
    let Opened::File(reader) = host.vfs.open(&path("/d/f"), &how("r")).unwrap() else { panic!() };
    let before = reader.stat().unwrap();
    host.vfs.check("put w /d/f two");
    assert_eq!(reader.read_at(0, 9).unwrap().as_ref(), b"two");
    let after = reader.stat().unwrap();
    assert_eq!((before.inode, before.links), (after.inode, after.links));
    assert_eq!(host.vfs.stat(&path("/d/f"), true).unwrap().inode, before.inode);
    host.vfs.check("rm /d/f\nput wc /d/f three");
    assert_eq!(reader.read_at(0, 9).unwrap().as_ref(), b"two");
    assert_eq!(reader.stat().unwrap().links, 0);

    // An unchanged file as well.
    let Opened::File(top) = host.vfs.open(&path("/top"), &how("r")).unwrap() else { panic!() };
    host.vfs.check("rm /top");
    assert_eq!((top.read_at(0, 9).unwrap().as_ref(), top.stat().unwrap().links), (&b"top"[..], 0));
    assert_eq!(overlay.commit().unwrap_err().errno, Errno::Busy);
    assert_eq!(overlay.discard(), Err(Errno::Busy));
    drop((reader, top));
    overlay.commit().unwrap();
    assert_eq!(std::fs::read(host.inside("d/f")).unwrap(), b"three");
}

#[test]
fn names_of_one_file_below_stay_names_of_one_file() {
    let mut host = Host::new();
    host.vfs.check("mkdir /d\nput wc /a text\nln /a /d/b\nln /a /c");
    let overlay = host.overlay();
    host.vfs.check(
        "stat /a => file 644 4 3
        put w /a TEXT
        cat /d/b => TEXT
        chmod 600 /d/b
        stat /c => file 600 4 3
        rm /c
        stat /a => file 600 4 2
        mv /a /d/b
        ls / => [a d/]
        ln /d/b /new
        stat /a => file 600 4 3",
    );
    assert_eq!(list_of(&overlay), ["M a (mode 644 to 600)", "D c", "M d/b (mode 644 to 600)", "A new"]);
    overlay.commit().unwrap();
    host.vfs.check("stat /a => file 600 4 3\nput w /d/b text\ncat /new => text");
    assert_eq!(host.inside("a").metadata().unwrap().nlink(), 3);
    // Setting times through a handle uses no name.
    let Opened::File(file) = host.vfs.open(&path("/a"), &how("r")).unwrap() else { panic!() };
    overlay.discard().unwrap_err();
    file.set_times(SetTime::Keep, SetTime::At(7)).unwrap();
    host.vfs.check("mtime /new => 7\nmtime /d/b => 7");
}

#[test]
fn changes_through_a_handle_only_are_found() {
    let (host, overlay) = sample_tree();
    let Opened::File(file) = host.vfs.open(&path("/d/e/deep"), &how("r")).unwrap() else { panic!() };
    file.set_times(SetTime::Keep, SetTime::At(7)).unwrap();
    drop(file);
    host.vfs.check("mtime /d/e/deep => 7");
    assert_eq!(list_of(&overlay), ["M d/e/deep (time)"]);
    let changes = overlay.diff().unwrap().changes().to_vec();
    let times = ChangeKind::Changed { content: false, mode: None, times: true };
    assert_eq!(changes[0].change, times);
    overlay.commit().unwrap();
    assert_eq!(mount(host_dir(&host.inside(""))).run("mtime /d/e/deep"), "7");
}

#[test]
fn the_patch_is_one_that_git_and_patch_take() {
    let mut host = Host::new();
    std::fs::create_dir(host.inside("d")).unwrap();
    let lines: String = (0..100).map(|n| format!("line {n}\n")).collect();
    for (name, text) in [
        ("d/lines", lines.as_str()),
        ("no end", "one\ntwo"),
        ("gone", "bye\n"),
        ("script", "#!/bin/sh\n"),
        ("same", "same\n"),
        ("\"odd\"\té", "odd\n"),
        ("empty", ""),
    ] {
        std::fs::write(host.inside(name), text).unwrap();
    }
    symlink("same", host.inside("link")).unwrap();
    let overlay = host.overlay();
    let put = |at: &str, text: &str| {
        let how = crate::vfs::AtomicWrite::default();
        let at = GuestPath::root().join(at).or_else(|_| GuestPath::parse(&GuestPath::root(), at));
        host.vfs.write_atomic(&at.unwrap(), text.as_bytes(), &how).unwrap();
    };
    put("d/lines", &lines.replace("line 3\n", "").replace("line 70\n", "LINE 70\nmore\n"));
    put("no end", "one\nthree");
    put("new", "1\n2\n");
    put("new empty", "");
    put("empty", "full\n");
    put("\"odd\"\té", "even\n");
    put("same", "same\n");
    host.vfs.check("rm /gone\nchmod 755 /script\nrm /link\nln-s new /link\nmkdir /dir");
    let diff = overlay.diff().unwrap();
    let patch = diff.patch().unwrap();
    assert!(patch.contains("\\ No newline at end of file"), "{patch}");
    for tool in [&["git", "apply"][..], &["patch", "-p1", "-s", "-f"]] {
        let copy = TempDir::new().unwrap();
        let status = std::process::Command::new("cp").args(["-a"]).arg(host.inside(".")).arg(copy.path()).status();
        assert!(status.unwrap().success());
        let mut child = match std::process::Command::new(tool[0])
            .args(&tool[1..])
            .current_dir(copy.path())
            .env("GIT_CEILING_DIRECTORIES", copy.path())
            .stdin(std::process::Stdio::piped())
            .spawn()
        {
            Ok(child) => child,
            // Not installed here.
            Err(_) => continue,
        };
        use std::io::Write;
        child.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{tool:?}: {patch}");
        let want = dump_vfs(&host.vfs);
        let got = dump_vfs(&mount(host_dir(copy.path())));
        let strip = |before_overlay: BTreeMap<String, String>| -> Vec<String> {
            // Times differ, and a patch holds no empty directories.
            let keep = |(name, line): (String, String)| {
                let line = line.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
                (name != "/dir").then(|| format!("{name} {line}"))
            };
            before_overlay.into_iter().filter_map(keep).collect()
        };
        assert_eq!(strip(got), strip(want), "{tool:?}: {patch}");
    }
}

#[test]
fn binary_and_too_large_files_are_only_named() {
    let host = Host::overlaid();
    let overlay = host.vfs.overlay_at("/");
    let put = |at: &str, bytes: &[u8]| {
        let how = crate::vfs::AtomicWrite::default();
        host.vfs.write_atomic(&path(at), bytes, &how).unwrap();
    };
    put("/binary", b"a\0b");
    put("/latin", b"caf\xe9\n");
    put("/large", &vec![b'x'; (crate::limits::DIFF_BYTES + 1) as usize]);
    let patch = overlay.diff().unwrap().patch().unwrap();
    assert!(patch.contains("Binary files a/binary and b/binary differ\n"), "{patch}");
    assert!(patch.contains("Binary files a/latin and b/latin differ\n"), "{patch}");
    assert!(patch.contains("Files a/large and b/large differ, and are too large to show\n"), "{patch}");
}

#[test]
fn a_comparison_that_would_take_for_ever_ends() {
    let mut host = Host::new();
    // No two lines alike, and hardly any in common: the worst case.
    let text =
        |step: u64| -> String { (0..30_000).map(|n: u64| format!("{:x}\n", n.wrapping_mul(step) % 65_521)).collect() };
    std::fs::write(host.inside("f"), text(7919)).unwrap();
    let overlay = host.overlay();
    let how = crate::vfs::AtomicWrite::default();
    host.vfs.write_atomic(&path("/f"), text(104_729).as_bytes(), &how).unwrap();
    let start = std::time::Instant::now();
    let patch = overlay.diff().unwrap().patch().unwrap();
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(patch.len() > 1000);
}

#[test]
fn a_commit_that_cannot_be_done_changes_nothing() {
    let (host, overlay) = sample_tree();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        host.inside("d/fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let before = dump_tree_without(&host, "d/fifo");
    host.vfs.check(
        "put w /top new
        rm /link
        mv /d/fifo /x => NotPermitted
        chmod 600 /d/fifo => NoDevice
        open r /d/fifo => NoDevice
        mv /d /moved",
    );
    let error = overlay.commit().unwrap_err();
    assert_eq!((error.path.as_str(), error.errno), ("moved/fifo", Errno::NotSupported));
    assert_eq!(error.to_string(), "cannot commit \"moved/fifo\": Operation not supported");
    assert_eq!(dump_tree_without(&host, "d/fifo"), before);
    // It can be removed, and then the rename works.
    host.vfs.check("rm /moved/fifo");
    host.vfs.check("chmod 4755 /top");
    assert_eq!(overlay.commit().unwrap_err().errno, Errno::NotPermitted);
    assert_eq!(dump_tree_without(&host, "d/fifo"), before);
    host.vfs.check("chmod 755 /top");
    overlay.commit().unwrap();
    assert!(host.inside("moved/f").exists() && !host.inside("d").exists());
}

fn dump_tree_without(host: &Host, name: &str) -> BTreeMap<String, String> {
    let fifo = host.inside(name);
    let aside = host.temp.path().join("aside");
    let moved = std::fs::rename(&fifo, &aside).is_ok();
    let before_overlay = dump_tree(&host.inside(""));
    if moved {
        std::fs::rename(&aside, &fifo).unwrap();
    }
    before_overlay
}

#[test]
fn a_commit_onto_a_quota_that_is_too_small_changes_nothing() {
    let (host, _) = sample_tree();
    let limits = Limits { disk: 5000, ..Limits::default() };
    let small = Arc::new(Quota::new(&limits));
    let dir = HostDir::open(&host.inside("")).unwrap();
    let dir = dir.charged_to(small.clone(), crate::vfs::ChargePolicy::Whole).unwrap();
    let overlay = Overlay::over_host(dir, Arc::new(Quota::new(&Limits::default()))).unwrap();
    let vfs = mount(overlay.files());
    let before = dump_tree(&host.inside(""));
    vfs.check("rm /top\nput wc /a x\nput wc /z x\ntruncate 100000 /z");
    assert_eq!(overlay.commit().unwrap_err().errno, Errno::NoSpace);
    assert_eq!(dump_tree(&host.inside("")), before);
    vfs.check("truncate 10 /z");
    overlay.commit().unwrap();
    vfs.check("ls / => [a d/ empty/ link@ z]");
}

#[test]
fn an_overlay_is_forked_with_its_changes() {
    let (host, overlay) = sample_tree();
    host.vfs.check("put w /top ONE\nrm /d/f");
    let quota = Arc::new(Quota::new(&Limits::default()));
    let fork = host.vfs.snapshot().fork(&quota).unwrap();
    fork.check("cat /top => ONE\nls /d => [e/]\nput w /top two\nmv /d /dd\ncat /dd/e/deep => deep");
    host.vfs.check("cat /top => ONE\ncat /d/e/deep => deep");
    assert_eq!(list_of(&overlay), ["D d/f", "M top"]);
    let forked = fork.overlay_at("/");
    assert_eq!(list_of(&forked), ["D d/", "D d/e/", "D d/e/deep", "D d/f", "A dd/", "A dd/e/", "A dd/e/deep", "M top"]);
    overlay.discard().unwrap();
    assert_eq!(list_of(&forked).len(), 8);
}

#[test]
fn an_overlay_stands_on_a_snapshot_but_not_on_an_overlay() {
    let fs = mem_fs();
    let below = mount(fs.clone());
    below.check("mkdir /d\nput wc /d/f below");
    let quota = Arc::new(Quota::new(&Limits::default()));
    let overlay = Overlay::over_snapshot(&fs.snapshot(), quota.clone()).unwrap();
    let vfs = mount(overlay.files());
    below.check("put w /d/f BELOW");
    vfs.check("cat /d/f => below\nput wa /d/f !\ncat /d/f => below!\nmkdir /e");
    assert_eq!(list_of(&overlay), ["M d/f", "A e/"]);
    assert_eq!(overlay.commit().unwrap_err().errno, Errno::NotSupported);
    overlay.discard().unwrap();
    vfs.check("cat /d/f => below\nls / => [d/]");
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (0, 0));
}

#[test]
fn removing_and_making_again_leaves_nothing_behind() {
    let (host, overlay) = sample_tree();
    for n in 0..500 {
        host.vfs.check(&format!("put wc /d/temp-{n} x\nrm /d/temp-{n}"));
    }
    host.vfs.check("rm /top\nput wc /top top\nchmod 755 /top");
    // The content is the same, the time is not.
    assert_eq!(list_of(&overlay), ["M top (time)"]);
    let mtime = mount(host_dir(&host.inside(""))).run("mtime /top");
    host.vfs.check(&format!("touch {mtime} /top"));
    assert!(overlay.diff().unwrap().is_empty());
}

#[test]
fn a_change_by_a_name_that_is_gone_shows_under_the_others() {
    let mut host = Host::new();
    host.vfs.check("mkdir /d\nput wc /a old\nln /a /d/b\nput wc /c x\nln /c /d/e");
    let overlay = host.overlay();
    host.vfs.check("put w /a NEW\nrm /a\ncat /d/b => NEW");
    let shown: Vec<String> = overlay.diff().unwrap().changes().iter().map(|change| change.to_string()).collect();
    assert_eq!(shown, ["D a", "M d/b"]);
    overlay.commit().unwrap();
    assert_eq!(std::fs::read_to_string(host.inside("d/b")).unwrap(), "NEW");
    host.vfs.check("cat /d/b => NEW\nls / => [c d/]");
}

/// Creates a chain of directories on the host, deeper than any path.
fn deep(at: &std::path::Path, depth: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let mut dir = rustix::fs::open(at, OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&dir, "deep", Mode::RWXU).unwrap();
        dir = openat(&dir, "deep", OFlags::PATH, Mode::empty()).unwrap();
    }
}

#[test]
fn attack_48_a_tree_deeper_than_any_path_cannot_be_compared_and_does_no_harm() {
    let mut host = Host::new();
    deep(&host.inside(""), 10_000);
    host.vfs.check("put wc /a old\nln /a /b");
    let overlay = host.overlay();
    assert!(overlay.diff().unwrap().is_empty());
    // Names of one file may be anywhere, so every directory must be searched.
    host.vfs.check("put w /a new");
    assert_eq!(overlay.diff().map(|_| ()), Err(Errno::NameTooLong));
    overlay.discard().unwrap();
    host.vfs.check("mv /deep /moved");
    assert_eq!(overlay.diff().map(|_| ()), Err(Errno::NameTooLong));
    assert_eq!(overlay.commit().map_err(|error| error.errno), Err(Errno::NameTooLong));
    host.vfs.check("mv /moved /deep");
    assert!(overlay.diff().unwrap().is_empty());
    assert!(std::process::Command::new("rm").arg("-r").arg(host.inside("deep")).status().unwrap().success());
}

#[test]
fn attack_48_the_deepest_tree_is_compared_on_a_small_stack() {
    let mut host = Host::new();
    let overlay = host.overlay();
    let mut at = String::new();
    while host.vfs.run(&format!("mkdir {at}/d")) == "ok" {
        at += "/d";
    }
    let count = || overlay.diff().unwrap().changes().len();
    let counted = std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, count).unwrap().join().unwrap()
    });
    assert_eq!(counted, crate::limits::PATH_DEPTH);
}

#[test]
fn attributes_of_a_file_with_several_names_are_committed() {
    let mut host = Host::new();
    host.vfs.check("put wc /a old\nln /a /b");
    let overlay = host.overlay();
    host.vfs.check("chmod 600 /a\ntouch 7 /b");
    overlay.commit().unwrap();
    host.vfs.check("stat /a => file 600 3 2\nstat /b => file 600 3 2\nmtime /a => 7");
    // Under a new name, and under one that is outside the sandbox.
    std::fs::hard_link(host.inside("a"), host.temp.path().join("outside/name")).unwrap();
    host.vfs.check("mv /a /0\nchmod 640 /b\nln /b /c");
    overlay.commit().unwrap();
    host.vfs.check("stat /0 => file 640 3 3\nstat /b => file 640 3 3\nstat /c => file 640 3 3");
    assert_eq!(std::fs::metadata(host.temp.path().join("outside/name")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn two_new_names_of_a_file_that_also_got_a_mode_are_names_of_one_file() {
    let mut host = Host::new();
    host.vfs.check("put wc /a text");
    let overlay = host.overlay();
    host.vfs.check("chmod 600 /a\nln /a /x\nmv /a /y");
    overlay.commit().unwrap();
    host.vfs.check("ls / => [x y]\nstat /x => file 600 4 2\nstat /y => file 600 4 2");
}

/// Files that look the same need not be the same file.
#[test]
fn files_that_are_alike_stay_files_of_their_own_when_they_are_committed() {
    let mut host = Host::new();
    host.vfs.check("put wc /a text\nput wc /b text\nput wc /c text\ntouch 7 /a\ntouch 7 /b\ntouch 7 /c");
    let overlay = host.overlay();
    // One replaces another, which remains under another name.
    host.vfs.check("mv /a /moved\nput wc /a text\ntouch 7 /a");
    // And one gets the name of another.
    host.vfs.check("rm /c\nln /b /c");
    let shown: Vec<String> = overlay.diff().unwrap().changes().iter().map(|change| change.to_string()).collect();
    assert_eq!(shown, ["A moved"]);
    overlay.commit().unwrap();
    host.vfs.check(
        "stat /a => file 644 4 1\nstat /moved => file 644 4 1\nstat /b => file 644 4 2\nstat /c => file 644 4 2",
    );
    assert!(overlay.diff().unwrap().is_empty());
    host.vfs.check("put w /a TEXT\ncat /moved => text");
    overlay.commit().unwrap();
    // Written with the same content, and under two names.
    host.vfs.check("touch 8 /moved\nput w /moved text\ntouch 7 /moved\nln /moved /d");
    overlay.commit().unwrap();
    host.vfs.check("stat /moved => file 644 4 2\nstat /d => file 644 4 2");
}
