//! Snapshots that are loaded as they were saved, and files that only look like snapshots.

// Tests create and examine files of the host directly.
#![allow(clippy::disallowed_methods)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::frames::FrameWriter;
use super::tar::{Entry, EntryKind, finish, pad};
use super::{ArchiveError, Digest};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{Dev, FileSystem, HostDir, Kind, MemFs, MemSnapshot, OpenHow, Opened, Overlay, Quota, SetTime, Vfs};

const DISK: u64 = 1 << 30;

fn path(text: &str) -> GuestPath {
    GuestPath::parse(&GuestPath::root(), text).unwrap()
}

fn quota() -> Arc<Quota> {
    Arc::new(Quota::new(&Limits::default()))
}

fn mount(fs: Arc<dyn FileSystem>) -> Vfs {
    Vfs::builder().mount(GuestPath::root(), fs, false).build().unwrap()
}

fn put(vfs: &Vfs, at: &str, bytes: &[u8]) {
    let how = OpenHow { write: true, create: true, mode: 0o640, ..OpenHow::default() };
    let Opened::File(file) = vfs.open(&path(at), &how).unwrap() else { panic!() };
    file.append(bytes).unwrap();
}

fn save(vfs: &Vfs) -> (Vec<u8>, Digest) {
    let mut file = Vec::new();
    let digest = vfs.snapshot().save(&mut file, DISK).unwrap();
    (file, digest)
}

fn load(file: &[u8]) -> Result<MemSnapshot, ArchiveError> {
    MemSnapshot::load(file, &Limits::default(), None).map(|(snapshot, _)| snapshot)
}

/// Returns everything that must be restored.
fn dump_tree(vfs: &Vfs) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending = vec![GuestPath::root()];
    while let Some(at) = pending.pop() {
        let stat = vfs.stat(&at, false).unwrap();
        let mut line = format!("{at} {:?} {:o} {} {} {}", stat.kind, stat.mode, stat.uid, stat.gid, stat.modified);
        match stat.kind {
            Kind::Directory => {
                pending.extend(vfs.read_dir(&at).unwrap().iter().map(|entry| at.join(&entry.name).unwrap()));
            }
            Kind::Symlink => line += &vfs.read_link(&at).unwrap(),
            _ => {
                let Opened::File(file) = vfs.open(&at, &OpenHow { read: true, ..OpenHow::default() }).unwrap() else {
                    panic!()
                };
                let bytes = file.read_at(0, 4096).unwrap();
                line += &format!(" {} {} {bytes:?}", stat.size, stat.links);
            }
        }
        lines.push(line);
    }
    lines.sort();
    lines
}

/// Creates a tree with a file of every kind.
fn sample_tree() -> Vfs {
    let vfs = mount(Arc::new(MemFs::new(quota())));
    vfs.mkdir(&path("/d"), 0o1750).unwrap();
    vfs.mkdir(&path("/empty"), 0o755).unwrap();
    put(&vfs, "/d/f", b"some text");
    put(&vfs, "/nothing", b"");
    put(&vfs, "/odd \"name\"\n\té", b"x");
    put(&vfs, &format!("/d/{}", "n".repeat(255)), &[9; 70_000]);
    vfs.link(&path("/d/f"), &path("/a-second-name"), false).unwrap();
    vfs.symlink("../d/f", &path("/d/link")).unwrap();
    vfs.symlink(&"t/".repeat(500), &path("/long-link")).unwrap();
    vfs.chmod(&path("/d/f"), 0o4711, true).unwrap();
    vfs.chown(&path("/d/f"), Some(0), Some(4_000_000_000), true).unwrap();
    put(&vfs, "/sparse", b"start");
    let how = OpenHow { write: true, ..OpenHow::default() };
    let Opened::File(file) = vfs.open(&path("/sparse"), &how).unwrap() else { panic!() };
    file.set_len(50 << 20).unwrap();
    file.write_at(30 << 20, b"middle").unwrap();
    let time = SetTime::At(1_600_000_000_123_456_789);
    vfs.set_times(&path("/d/f"), time, time, true).unwrap();
    vfs.set_times(&path("/d"), time, time, true).unwrap();
    vfs
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let vfs = sample_tree();
    let (file, digest) = save(&vfs);
    let (snapshot, found) = MemSnapshot::load(file.as_slice(), &Limits::default(), Some(&digest)).unwrap();
    assert_eq!(found, digest);
    let again = mount(Arc::new(snapshot.fork(quota()).unwrap()));
    assert_eq!(dump_tree(&again), dump_tree(&vfs));
    // Holes are restored as holes.
    assert!(snapshot.bytes() < 1 << 20, "{}", snapshot.bytes());
    assert!(file.len() < 1 << 20, "{}", file.len());
    // Equal trees are saved as equal files.
    assert_eq!(save(&again), (file, digest));
}

/// A path may be longer than one call accepts: a process can reach it step by step.
#[test]
fn a_path_longer_than_any_text_comes_back() {
    let vfs = mount(Arc::new(MemFs::new(quota())));
    let mut at = GuestPath::root();
    for n in 0..100 {
        at = at.join(&format!("{n}-{}", "n".repeat(200))).unwrap();
        vfs.mkdir(&at, 0o755).unwrap();
    }
    let (first, second) = (at.join("f").unwrap(), at.join("g").unwrap());
    vfs.write_atomic(&first, b"x", &crate::vfs::AtomicWrite::default()).unwrap();
    vfs.link(&first, &second, false).unwrap();
    let loaded = load(&save(&vfs).0).unwrap();
    assert_eq!(dump_tree(&mount(Arc::new(loaded.fork(quota()).unwrap()))), dump_tree(&vfs));
}

#[test]
fn files_of_the_sandbox_are_saved_and_others_are_not() {
    let (host, below) = (tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap());
    std::fs::write(host.path().join("host-file"), "host").unwrap();
    std::fs::write(below.path().join("shown"), "below").unwrap();
    std::fs::write(below.path().join("gone"), "below").unwrap();
    let dir = HostDir::open(host.path()).unwrap().charged_to(quota(), crate::vfs::ChargePolicy::Whole).unwrap();
    let overlay = Overlay::over_host(HostDir::open(below.path()).unwrap(), quota()).unwrap();
    let vfs = Vfs::builder()
        .mount(GuestPath::root(), Arc::new(MemFs::new(quota())), false)
        .mount(path("/dev"), Arc::new(Dev::new()), false)
        .mount(path("/host"), Arc::new(dir), false)
        .mount(path("/mount"), overlay.files(), false)
        .mount(path("/mount/inner"), Arc::new(MemFs::new(quota())), false)
        .build()
        .unwrap();
    put(&vfs, "/own", b"own");
    put(&vfs, "/mount/new", b"new");
    put(&vfs, "/mount/inner/deep", b"deep");
    vfs.unlink(&path("/mount/gone")).unwrap();
    let loaded = load(&save(&vfs).0).unwrap();
    let loaded = mount(Arc::new(loaded.fork(quota()).unwrap()));
    let names =
        |at: &str| -> Vec<String> { loaded.read_dir(&path(at)).unwrap().into_iter().map(|entry| entry.name).collect() };
    assert_eq!(names("/"), ["dev", "host", "mount", "own"]);
    assert_eq!(names("/mount"), ["inner", "new", "shown"]);
    assert_eq!(names("/mount/inner"), ["deep"]);
    assert!(names("/host").is_empty() && names("/dev").is_empty());
}

#[test]
fn zstd_and_tar_can_read_it() {
    let (file, _) = save(&sample_tree());
    let run = |program: &str, arguments: &[&str], input: &[u8]| {
        let child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.ok()?;
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "{program}");
        Some(output.stdout)
    };
    // These programs may be missing.
    let Some(tar) = run("zstd", &["-dc"], &file) else { return };
    let Some(listing) = run("tar", &["-tvf", "-", "--numeric-owner"], &tar) else { return };
    let listing = String::from_utf8(listing).unwrap();
    assert!(listing.contains("drwxr-x--T 1000/1000 "), "{listing}");
    assert!(listing.contains(" d/f link to a-second-name") || listing.contains(" a-second-name"), "{listing}");
    assert_eq!(listing.lines().count(), 11, "{listing}");
}

/// Creates a file with these entries and a correct digest.
fn forged(entries: &[(Entry, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (entry, content) in entries {
        entry.write(&mut tar).unwrap();
        tar.extend_from_slice(content);
        pad(&mut tar, content.len() as u64).unwrap();
    }
    finish(&mut tar).unwrap();
    wrapped(&tar)
}

fn wrapped(tar: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = FrameWriter::new(&mut file);
    writer.write_all(tar).unwrap();
    writer.finish().unwrap();
    file
}

fn entry(path: &str, kind: EntryKind) -> Entry {
    Entry { path: path.to_owned(), kind, mode: 0o755, uid: 0, gid: 0, modified: 0 }
}

fn directory(path: &str) -> (Entry, &'static [u8]) {
    (entry(path, EntryKind::Directory), b"")
}

fn link(path: &str, target: &str) -> (Entry, &'static [u8]) {
    (entry(path, EntryKind::Symlink(target.to_owned())), b"")
}

fn file(path: &str) -> (Entry, &'static [u8]) {
    (entry(path, EntryKind::File(1)), b"x")
}

fn name(path: &str, of: &str) -> (Entry, &'static [u8]) {
    (entry(path, EntryKind::Name(of.to_owned())), b"")
}

#[test]
fn attack_46_entries_that_lead_elsewhere_are_refused() {
    let root = || directory("");
    assert!(load(&forged(&[root(), directory("d"), file("d/f"), name("g", "d/f")])).is_ok());
    let hostile: &[&[(Entry, &[u8])]] = &[
        &[],
        &[directory("d")],
        &[root(), root()],
        &[root(), file("../f")],
        &[root(), file("/f")],
        &[root(), file("./f")],
        &[root(), file("a//f")],
        &[root(), file("d/")],
        &[root(), file("..")],
        &[root(), directory("d"), file("d/../../f")],
        &[root(), file("a\0b")],
        &[root(), file("none/f")],
        &[root(), file("f"), file("f")],
        &[root(), directory("d"), directory("d")],
        &[root(), file("f"), file("f/g")],
        // Back to a directory that was left: the reader would have to remember it, and a million others.
        &[root(), directory("d"), directory("e"), file("d/f")],
        &[root(), directory("d"), file("f"), file("d/f")],
        &[root(), file(".isopod-tmp-x")],
        &[root(), directory("d"), file("d/.ISOPOD-tmp-x")],
        // A link, and then a path through it.
        &[root(), link("l", "/"), file("l/f")],
        &[root(), link("l", "."), directory("l/d")],
        &[root(), link("l", "f"), file("f"), name("l/x", "f")],
        &[root(), link("l", "f"), file("l")],
        &[root(), link("l", "")],
        &[root(), link("l", "a\0b")],
        &[root(), name("f", "../../etc/passwd")],
        &[root(), name("f", "/etc/passwd")],
        &[root(), name("f", "none")],
        &[root(), name("f", "f")],
        &[root(), directory("d"), name("f", "d")],
        &[root(), directory("d"), link("d/l", ".."), file("f"), name("x", "d/l/f")],
        &[file("")],
        &[link("", "x")],
    ];
    for entries in hostile {
        let error = load(&forged(entries)).map(|_| ()).unwrap_err();
        assert!(matches!(error, ArchiveError::Malformed(_)), "{entries:?}: {error}");
    }
    let deep = "d/".repeat(300) + "f";
    let long = "n".repeat(256);
    for path in [deep.as_str(), long.as_str()] {
        assert!(matches!(load(&forged(&[root(), file(path)])), Err(ArchiveError::Malformed(_))));
    }
}

#[test]
fn attack_45_a_bomb_is_stopped_by_the_limits() {
    let limits = Limits { disk: 1 << 20, file: 1 << 20, inodes: 10, ..Limits::default() };
    let load = |file: &[u8]| MemSnapshot::load(file, &limits, None).map(|_| ()).unwrap_err();
    let full = vec![7; 600_000];
    let fat = |path| (entry(path, EntryKind::File(600_000)), full.as_slice());
    let error = load(&forged(&[directory(""), fat("a"), fat("b")]));
    assert!(matches!(error, ArchiveError::Files { errno: crate::error::Errno::NoSpace, .. }), "{error}");
    assert_eq!(error.to_string(), "\"b\": No space left on device");
    // A file with a declared size above the limit, refused before a byte of it is read.
    let error = load(&forged(&[directory(""), (entry("huge", EntryKind::File(1 << 50)), b"x")]));
    assert!(matches!(error, ArchiveError::Files { errno: crate::error::Errno::FileTooLarge, .. }), "{error}");
    let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let mut many = vec![directory("")];
    many.extend(names.iter().map(|name| file(name)));
    let error = load(&forged(&many));
    assert!(matches!(error, ArchiveError::Files { errno: crate::error::Errno::NoSpace, .. }), "{error}");
    // Holes cost no disk, but time.
    let zeros = vec![0; 1 << 20];
    let hole = |path| (entry(path, EntryKind::File(1 << 20)), zeros.as_slice());
    let mut holes = vec![directory("")];
    holes.extend(names[..8].iter().map(|name| hole(name)));
    let error = load(&forged(&holes));
    assert!(matches!(error, ArchiveError::TooLarge(_)), "{error}");
    // A snapshot that could not be loaded is not saved either.
    let vfs = sample_tree();
    assert!(matches!(vfs.snapshot().save(std::io::sink(), 1 << 20), Err(ArchiveError::TooLarge(_))));
}

#[test]
fn a_file_that_is_damaged_cut_or_another_is_refused() {
    let vfs = mount(Arc::new(MemFs::new(quota())));
    put(&vfs, "/f", b"some text that is long enough to be compressed, long enough to be compressed");
    let (whole, digest) = save(&vfs);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(load(&damaged).is_err(), "byte {at}");
        assert!(load(&whole[..at]).is_err(), "cut at {at}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(load(&longer).is_err());
    assert!(load(&[whole.as_slice(), &whole].concat()).is_err());
    assert!(load(b"").is_err() && load(b"hello").is_err());
    put(&vfs, "/f", b"!");
    let (_, other) = save(&vfs);
    let error = MemSnapshot::load(whole.as_slice(), &Limits::default(), Some(&other)).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), format!("digest mismatch: the snapshot is {digest}"));
    assert!("12".parse::<Digest>().is_err() && "é".repeat(32).parse::<Digest>().is_err());
}

#[test]
fn no_sequence_of_bytes_upsets_the_reader() {
    let vfs = mount(Arc::new(MemFs::new(quota())));
    vfs.mkdir(&path("/d"), 0o755).unwrap();
    put(&vfs, "/d/f", b"text");
    vfs.symlink("d/f", &path("/l")).unwrap();
    let mut tar = Vec::new();
    {
        let (file, _) = save(&vfs);
        let mut reader = super::frames::FrameReader::new(file.as_slice(), 1 << 30);
        std::io::Read::read_to_end(&mut reader, &mut tar).unwrap();
    }
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..2000 {
        let mut bytes = tar.clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = next(256) as u8,
                1 => bytes[at] = b"0157x/.\0=\n"[next(10)],
                2 => bytes.truncate(at),
                _ => drop(bytes.splice(at..at, [0; 512])),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        // With correct checksums, so that later checks are reached.
        for block in bytes.chunks_exact_mut(512) {
            if &block[257..262] == b"ustar" {
                let sum: u64 =
                    (0..512).map(|at| if (148..156).contains(&at) { 32 } else { u64::from(block[at]) }).sum();
                block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            }
        }
        match load(&wrapped(&bytes)) {
            Ok(snapshot) => {
                taken += 1;
                // Any accepted input is a valid tree.
                dump_tree(&mount(Arc::new(snapshot.fork(quota()).unwrap())));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 30 && refused > 500, "{taken} {refused}");
    // The same with the content of a frame.
    let (file, _) = save(&vfs);
    for _ in 0..5000 {
        let mut bytes = file.clone();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        let _ = load(&bytes);
    }
}
