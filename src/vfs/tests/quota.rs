//! The quota of files in memory: exact, and released.

use super::*;
use crate::limits::{Exceeded, Limit};

const BLOCK: u64 = 512;

fn limited(disk: u64, inodes: u64, file: u64) -> (Arc<Quota>, Vfs) {
    let mut limits = Limits::default();
    (limits.disk, limits.inodes, limits.file) = (disk, inodes, file);
    let quota = Arc::new(Quota::new(&limits));
    let vfs = Vfs::builder().mount(GuestPath::root(), Arc::new(MemFs::new(quota.clone())), false).build().unwrap();
    (quota, vfs)
}

#[test]
fn attack_38_a_full_disk_takes_what_fits_and_keeps_what_it_has() {
    let (quota, vfs) = limited(10 * BLOCK, 10, 1 << 20);
    let file = open(&vfs, "rwc", "/f");
    assert_eq!(file.write_at(0, &[1; 3000]), Ok(3000));
    assert_eq!(file.write_at(3000, &[2; 64 << 10]), Ok(10 * 512 - 3000));
    assert_eq!(file.write_at(10 * BLOCK, b"x"), Err(Errno::NoSpace));
    assert_eq!(file.append(b"x"), Err(Errno::NoSpace));
    assert_eq!((quota.bytes_used(), file.stat().unwrap().size), (10 * BLOCK, 10 * BLOCK));
    assert_eq!(quota.take_exceeded(), Some(Exceeded { kind: Limit::Disk, value: 10 * BLOCK }));
    // Stored bytes can be overwritten.
    assert_eq!(file.write_at(0, &[3; 5120]), Ok(5120));
    assert_eq!(file.read_at(5119, 9).unwrap().as_ref(), [3]);
}

#[test]
fn attack_39_names_and_files_are_counted() {
    let (quota, vfs) = limited(1 << 20, 4, 1 << 20);
    vfs.check(
        "mkdir /d
        put wc /f x
        ln /f /g
        ln-s f /l
        ln /f /h => NoSpace
        mkdir /e => NoSpace
        put wc /e x => NoSpace
        ln-s f /e => NoSpace
        ls / => [d/ f g l@]
        rm /g
        ln /f /h
        rm /f
        cat /h => x
        rm /h
        rm /l
        rmdir /d",
    );
    assert_eq!((quota.inodes_used(), quota.bytes_used()), (0, 0));
    assert_eq!(quota.take_exceeded(), Some(Exceeded { kind: Limit::Inodes, value: 4 }));
}

#[test]
fn attacks_25_and_40_a_hole_is_free_and_a_file_has_a_limit() {
    let (quota, vfs) = limited(1 << 20, 10, 100 << 20);
    vfs.check(
        "put wc /f start
        truncate 94371840 /f
        truncate 1125899906842624 /f => FileTooLarge
        stat /f => file 644 94371840 1",
    );
    assert_eq!((quota.bytes_used(), quota.take_exceeded().map(|exceeded| exceeded.kind)), (BLOCK, Some(Limit::File)));
    let file = open(&vfs, "w", "/f");
    assert_eq!(file.write_at((100 << 20) - 2, b"abcd"), Ok(2));
    assert_eq!(file.write_at(100 << 20, b"abcd"), Err(Errno::FileTooLarge));
    assert_eq!(file.append(b"x"), Err(Errno::FileTooLarge));
    assert_eq!(file.write_at(100 << 20, b""), Ok(0));
}

#[test]
fn attack_41_an_append_loop_stops_at_the_block() {
    let (quota, vfs) = limited(10 * BLOCK, 10, 1 << 20);
    let file = open(&vfs, "wac", "/f");
    let mut appended = 0;
    while let Ok(end) = file.append(&[1; 7]) {
        appended += 7;
        assert_eq!(end, appended);
    }
    assert_eq!(appended, 10 * BLOCK / 7 * 7);
    assert_eq!((file.stat().unwrap().size, quota.bytes_used()), (appended, 10 * BLOCK));
}

#[test]
fn attacks_42_and_44_bytes_are_given_back_when_the_last_user_is_gone() {
    let (quota, vfs) = limited(1 << 20, 10, 1 << 20);
    let file = open(&vfs, "rwc", "/f");
    file.append(&[1; 5000]).unwrap();
    vfs.check("ln /f /g\nrm /f\nrm /g");
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (10 * BLOCK, 1));
    drop(file);
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (0, 0));

    open(&vfs, "wc", "/large").append(&[1; 5000]).unwrap();
    vfs.check("put wc /small x\nmv /small /large");
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (BLOCK, 1));
    vfs.check("put wt /large y");
    assert_eq!(quota.bytes_used(), BLOCK);
    vfs.check("truncate 0 /large");
    assert_eq!(quota.bytes_used(), 0);

    vfs.check("mkdir /d\nput wc /d/f x\nln-s x /d/l\nln /d/f /d/g");
    let file = open(&vfs, "w", "/d/f");
    drop(vfs);
    assert_eq!(quota.inodes_used(), 5);
    drop(file);
    assert_eq!((quota.bytes_used(), quota.inodes_used()), (0, 0));
}

#[test]
fn attack_43_parallel_writers_never_exceed_the_quota_together() {
    let (quota, vfs) = limited(100 * BLOCK, 100, 1 << 20);
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let (vfs, quota) = (&vfs, &quota);
            scope.spawn(move || {
                let file = open(vfs, "wc", &format!("/{writer}"));
                while file.append(&[1; 700]).is_ok() {
                    assert!(quota.bytes_used() <= 100 * BLOCK);
                }
            });
        }
    });
    let sizes: u64 = (0..16).map(|n| vfs.stat(&path(&format!("/{n}")), true).unwrap().size.div_ceil(BLOCK)).sum();
    assert_eq!(quota.bytes_used(), sizes * BLOCK);
    assert!(sizes <= 100);
}

#[test]
fn attack_49_a_write_that_is_refused_leaves_the_old_content() {
    let (quota, vfs) = limited(4 * BLOCK, 10, 1 << 20);
    vfs.check("put wc /f old");
    let file = open(&vfs, "rw", "/f");
    assert_eq!(file.append(&[1; 4096]), Err(Errno::NoSpace));
    assert_eq!(file.write_at(1 << 18, b"x"), Ok(1));
    assert_eq!(file.read_at(0, 3).unwrap().as_ref(), b"old");
    assert_eq!(quota.bytes_used(), 2 * BLOCK);
}

#[test]
fn attack_48_a_tree_too_deep_is_refused_and_can_be_removed() {
    let (quota, vfs) = limited(1 << 20, 100_000, 1 << 20);
    let mut at = String::new();
    let refused = loop {
        at += "/d";
        match vfs.run(&format!("mkdir {at}")).as_str() {
            "ok" => {}
            errno => break errno.to_owned(),
        }
    };
    assert_eq!(refused, "NameTooLong");
    while let Some((parent, _)) = at.rsplit_once('/') {
        let parent = parent.to_owned();
        if !parent.is_empty() {
            vfs.check(&format!("rmdir {parent}"));
        }
        at = parent;
    }
    assert_eq!(quota.inodes_used(), 0);
}

#[test]
fn attack_48_a_tree_does_not_become_too_deep_by_being_moved() {
    let (_, vfs) = limited(1 << 20, 100_000, 1 << 20);
    let chain = |name: &str, depth: usize| {
        let mut at = format!("/{name}");
        vfs.check(&format!("mkdir {at}"));
        for _ in 1..depth {
            at += "/d";
            vfs.check(&format!("mkdir {at}"));
        }
        at
    };
    let (bottom, _) = (chain("a", 200), chain("b", 100));
    chain("c", 56);
    vfs.check(&format!(
        "put wc /b/f x\nmv /b {bottom}/b => NameTooLong\nmv /c {bottom}/c\nmv /b/d {bottom}/b => NameTooLong"
    ));
    // Neither a move upwards nor a file needs a check of the depth.
    vfs.check(&format!("mv {bottom}/c /c\nmv /b/f {bottom}/f\nls /c => [d/]"));
}

/// The largest numbers that a guest can pass.
#[test]
fn attack_40_no_offset_and_no_length_is_too_large_for_an_answer() {
    let (quota, vfs) = limited(u64::MAX, 10, u64::MAX);
    let temp = temp_dir();
    let host = HostDir::open(temp.path()).unwrap().charged_to(quota.clone(), crate::vfs::ChargePolicy::Whole).unwrap();
    for vfs in [vfs, mount(Arc::new(host)), mount(host_dir(temp.path()))] {
        let file = open(&vfs, "rwc", "/f");
        for offset in [u64::MAX, u64::MAX - 1, u64::MAX - 70_000, 1 << 63, (1 << 63) - 1] {
            assert_eq!(file.write_at(offset, &[1; 1000]), Err(Errno::FileTooLarge), "{offset}");
            assert_eq!(file.read_at(offset, usize::MAX).map(|bytes| bytes.len()), Ok(0), "{offset}");
        }
        for len in [u64::MAX, u64::MAX - 1, 1 << 63] {
            assert_eq!(file.set_len(len), Err(Errno::FileTooLarge), "{len}");
        }
        assert_eq!((file.append(b"x"), file.stat().unwrap().size), (Ok(1), 1));
        vfs.check("rm /f");
    }
    assert_eq!(quota.bytes_used(), 0);
}
