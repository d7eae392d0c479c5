//! The cases. Each ends in one of three ways: the kernel ends the process, every call is refused and the process prints
//! `refused`, or the process prints how far it came.

use std::hint::black_box;
use std::sync::atomic::Ordering;

use crate::allocator::REENTERS;
use crate::bindings::isopod::kernel::files::{self, Errno, OpenFlags, Whence};
use crate::bindings::isopod::kernel::process::{self, Command, Disposition};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::filesystem::{preopens, types as wasi_files};
use crate::bindings::wasi::io::{poll, streams};
use crate::bindings::wasi::random::random;
use crate::{storm, wild};

/// The name of a case, and the function that runs it with its arguments.
type Case = (&'static str, fn(&[&str]));

const CASES: &[Case] = &[
    ("bad-descriptors", |_| bad_descriptors()),
    ("bad-handle", |_| bad_handle()),
    ("calls", |_| print(&(wild::names().join("\n") + "\n"))),
    ("close-flood", |_| close_flood()),
    ("descriptor-flood", |_| descriptor_flood()),
    ("exhaust-stack", |_| print(&recurse(0).to_string())),
    ("fill-memory", |_| fill_memory()),
    ("grow-memory", |_| grow_memory()),
    ("handle-after-drop", |_| handle_after_drop()),
    ("handle-flood", |_| handle_flood()),
    ("hold-memory", |arguments| hold_memory(number(arguments, 0) as usize)),
    ("huge-lists", |_| huge_lists()),
    ("leftovers", |arguments| leftovers(arguments[0])),
    ("long-string", |arguments| long_string(number(arguments, 0) as usize)),
    ("many-pollables", |arguments| many_pollables(number(arguments, 0) as usize)),
    ("numbers", |_| numbers()),
    ("pipe-to-self", |_| pipe_to_self()),
    ("random-bytes", |arguments| drop(black_box(random::get_random_bytes(number(arguments, 0))))),
    ("reenter", |_| reenter()),
    ("spin", |_| spin()),
    ("storm", |arguments| print(&storm::storm(number(arguments, 0), number(arguments, 1)))),
    ("trap", |_| core::arch::wasm32::unreachable()),
    ("wasi-numbers", |_| wasi_numbers()),
    ("wild", |arguments| wild::call(arguments[0], number(arguments, 1), number(arguments, 2))),
];

/// Runs a case; without one, lists them.
pub(crate) fn run(words: &[&str]) -> u8 {
    let Some((name, arguments)) = words.split_first() else {
        print(&CASES.iter().map(|(name, _)| format!("{name}\n")).collect::<String>());
        return 0;
    };
    let Some((_, case)) = CASES.iter().find(|(known, _)| known == name) else { return 2 };
    case(arguments);
    0
}

fn print(text: &str) {
    for piece in text.as_bytes().chunks(4096) {
        files::write(1, piece).unwrap();
    }
}

fn number(arguments: &[&str], at: usize) -> u64 {
    arguments[at].parse().unwrap()
}

/// Prints that a call was refused, and panics if it was not.
#[track_caller]
fn refused<T>(answer: Result<T, Errno>, expected: Errno) {
    match answer {
        Err(errno) => assert_eq!(errno, expected),
        Ok(_) => panic!("not refused"),
    }
}

// Time and memory.

/// Loops without a call.
fn spin() {
    let mut count = 0u64;
    loop {
        count = black_box(count.wrapping_add(1));
    }
}

/// Runs instructions that take long one by one.
fn fill_memory() {
    let mut memory = vec![0u8; 32 << 20];
    for byte in (0..=255).cycle() {
        memory.fill(black_box(byte));
        black_box(&memory);
    }
}

/// Allocates all memory there is, and touches it page by page.
fn grow_memory() {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for size in [1 << 30, 64 << 20, 1 << 20, 64 << 10] {
        loop {
            let mut piece = Vec::new();
            if piece.try_reserve_exact(size).is_err() || pieces.len() > 100_000 {
                break;
            }
            piece.resize(size, 1);
            pieces.push(piece);
        }
    }
    print(&format!("{}\n", pieces.iter().map(Vec::len).sum::<usize>() >> 20));
}

/// Searches memory that is new to this process for the data of another. The text is given backwards, so that it is not
/// found in this process's own memory.
fn leftovers(backwards: &str) {
    let text: Vec<u8> = backwards.bytes().rev().collect();
    let mut found = 0;
    for _ in 0..8 {
        let pages = core::arch::wasm32::memory_grow::<0>(16);
        if pages == usize::MAX {
            break;
        }
        // SAFETY: sixteen pages that were added to the memory just now, with no other reference to them.
        #[allow(unsafe_code, reason = "memory that was never written is not to be had otherwise")]
        let memory = unsafe { std::slice::from_raw_parts((pages << 16) as *const u8, 16 << 16) };
        found += memory.windows(text.len()).filter(|window| *window == text).count();
        found += memory.iter().filter(|byte| **byte != 0).count();
    }
    print(&format!("{found}\n"));
}

/// Allocates a number of bytes, and waits for the end of the input.
fn hold_memory(bytes: usize) {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        print("refused\n");
        return;
    }
    memory.resize(bytes, 1u8);
    print("held\n");
    let _ = files::read(0, 1, None);
    black_box(&memory);
}

#[allow(unconditional_recursion, reason = "that is the attack")]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    recurse(depth + 1) + frame[0]
}

/// Makes a call while the host is in the middle of one.
fn reenter() {
    REENTERS.store(true, Ordering::Relaxed);
    drop(process::cwd());
    print("not refused\n");
}

// Values that are too large.

fn long_string(bytes: usize) {
    let text = "x".repeat(bytes);
    refused(files::stat(&text, true), Errno::NameTooLong);
    print("refused\n");
}

fn huge_lists() {
    let command = |argv: Vec<String>, env: Vec<(String, String)>, files: Vec<(u32, u32)>, payload| Command {
        program: "/bin/true".to_owned(),
        argv,
        env,
        files,
        payload,
        background: false,
    };
    let word = || "x".repeat(100);
    let many = 100_000;
    refused(process::spawn(&command(vec![word(); many], vec![], vec![], vec![])), Errno::TooBig);
    refused(process::spawn(&command(vec![], vec![(word(), word()); many / 2], vec![], vec![])), Errno::TooBig);
    refused(
        process::spawn(&command(vec![], vec![], (0..many as u32).map(|n| (n, 0)).collect(), vec![])),
        Errno::TooManyFiles,
    );
    refused(process::spawn(&command(vec![], vec![], vec![], vec![1; 9 << 20])), Errno::TooBig);
    refused(process::spawn(&command(vec!["a\0b".to_owned()], vec![], vec![], vec![])), Errno::Invalid);
    print("refused\n");
}

fn many_pollables(count: usize) {
    let pollable = monotonic_clock::subscribe_duration(0);
    let list = vec![&pollable; count];
    black_box(poll::poll(&list));
}

/// Passes the ends of every range.
fn numbers() {
    let file = files::open("/tmp/numbers", OpenFlags::READ | OpenFlags::WRITE | OpenFlags::CREATE, u32::MAX).unwrap();
    for whence in [Whence::Start, Whence::Current, Whence::End] {
        refused(files::seek(file, i64::MIN, whence), Errno::Invalid);
    }
    let far = files::seek(file, i64::MAX, Whence::Start);
    if far.is_ok() {
        refused(files::seek(file, i64::MAX, Whence::Current), Errno::Invalid);
        refused(files::write(file, b"far"), Errno::FileTooLarge);
        assert_eq!(files::read(file, u32::MAX, Some(u64::MAX)), Ok(Vec::new()));
    }
    assert_eq!(files::read(file, 0, None), Ok(Vec::new()));
    assert!(files::read(file, u32::MAX, Some(u64::MAX)).unwrap().is_empty());
    for signal in [32, 64, 128, 255] {
        refused(process::kill(process::id(), signal), Errno::Invalid);
        refused(process::on_signal(signal, Disposition::Catch), Errno::Invalid);
    }
    refused(process::on_signal(0, Disposition::Catch), Errno::Invalid);
    for pid in [u32::MAX, i32::MAX as u32, 0, 100_000] {
        refused(process::kill(pid, 0), Errno::NoProcess);
        refused(process::kill(pid, 9), Errno::NoProcess);
        refused(process::wait(Some(pid), Some(u64::MAX)), Errno::Child);
    }
    refused(process::wait(None, Some(u64::MAX)), Errno::Child);
    process::umask(u32::MAX);
    assert!(process::umask(0o022) <= 0o777);
    assert_eq!(files::chmod("/tmp/numbers", u32::MAX, true), Ok(()));
    assert!(files::stat("/tmp/numbers", true).unwrap().mode <= 0o7777);
    assert!(files::list_dir("/bin", u32::MAX).unwrap().0.len() <= 4096);
    let (none, rest) = files::list_dir("/bin", 0).unwrap();
    assert!(none.is_empty());
    if let Some(rest) = rest {
        assert!(files::list_more(rest, 0).unwrap().is_empty());
        assert!(files::list_more(rest, u32::MAX).unwrap().len() <= 4096);
    }
    print("refused\n");
}

// Descriptors and handles.

fn bad_descriptors() {
    let closed = files::open("closed", OpenFlags::WRITE | OpenFlags::CREATE, 0o600).unwrap();
    files::close(closed).unwrap();
    for fd in [closed, 99, 65_535, 65_536, i32::MAX as u32, u32::MAX] {
        refused(files::read(fd, 1, None), Errno::BadDescriptor);
        refused(files::write(fd, b"x"), Errno::BadDescriptor);
        refused(files::seek(fd, 0, Whence::Start), Errno::BadDescriptor);
        refused(files::stat_fd(fd), Errno::BadDescriptor);
        refused(files::list_more(fd, 1), Errno::BadDescriptor);
        refused(files::close(fd), Errno::BadDescriptor);
        assert!(files::open(&format!("/dev/fd/{fd}"), OpenFlags::READ, 0).is_err());
        let command = Command {
            program: "/bin/true".to_owned(),
            argv: vec![],
            env: vec![],
            files: vec![(0, fd)],
            payload: vec![],
            background: false,
        };
        refused(process::spawn(&command), Errno::BadDescriptor);
    }
    // Descriptors that are open, but not for this operation.
    let (reading, writing) = files::pipe().unwrap();
    refused(files::write(reading, b"x"), Errno::BadDescriptor);
    refused(files::read(writing, 1, None), Errno::BadDescriptor);
    refused(files::seek(reading, 0, Whence::Start), Errno::Seek);
    refused(files::list_more(reading, 1), Errno::NotDirectory);
    print("refused\n");
}

/// Opens files until it is refused, and continues to ask.
fn descriptor_flood() {
    let mut open = 0u64;
    for _ in 0..100_000 {
        match files::pipe() {
            Ok(_) => open += 2,
            Err(errno) => assert!(matches!(errno, Errno::TooManyFiles | Errno::NoMemory), "{errno:?}"),
        }
        if files::open("/dev/null", OpenFlags::READ, 0).is_ok() {
            open += 1;
        }
    }
    print(&format!("{open}\n"));
}

fn close_flood() {
    for round in 0..200_000u32 {
        let fd = files::open("/dev/null", OpenFlags::READ, 0).unwrap();
        files::close(fd).unwrap();
        let _ = files::close(fd.wrapping_add(round));
    }
    print("closed\n");
}

/// Fills a pipe whose ends are both in this process.
fn pipe_to_self() {
    let (_reading, writing) = files::pipe().unwrap();
    loop {
        files::write(writing, &[0; 4096]).unwrap();
    }
}

/// Forges a WASI handle. Handles belong to the component model: an unknown number ends the process.
#[allow(unsafe_code, reason = "the bindings make no handles of numbers otherwise")]
fn bad_handle() {
    // SAFETY: the number is not a handle: that is the attack.
    let forged = unsafe { poll::Pollable::from_handle(12_345) };
    black_box(forged.ready());
    print("not refused\n");
}

#[allow(unsafe_code, reason = "the safe bindings prevent this")]
fn handle_after_drop() {
    let (root, _) = preopens::get_directories().remove(0);
    let number = root.handle();
    drop(root);
    // SAFETY: the handle is gone: that is the attack.
    let stale = unsafe { wasi_files::Descriptor::from_handle(number) };
    black_box(stale.stat().is_ok());
    print("not refused\n");
}

/// Creates handles and never drops them.
fn handle_flood() {
    let mut kept = Vec::new();
    for _ in 0..1_000_000 {
        kept.push(monotonic_clock::subscribe_duration(u64::MAX));
    }
    print("not refused\n");
}

/// Passes the ends of WASI's ranges.
fn wasi_numbers() {
    let (root, _) = preopens::get_directories().remove(0);
    let path = wasi_files::PathFlags::empty();
    let both = wasi_files::DescriptorFlags::READ | wasi_files::DescriptorFlags::WRITE;
    let file = root.open_at(path, "tmp/wasi", wasi_files::OpenFlags::CREATE, both).unwrap();
    assert!(file.set_size(u64::MAX).is_err());
    assert!(file.write(b"x", u64::MAX).is_err());
    assert!(file.read(u64::MAX, 0).is_ok_and(|(bytes, _)| bytes.is_empty()));
    assert!(file.read(u64::MAX, u64::MAX).map_or(true, |(bytes, _)| bytes.is_empty()));
    let _ = file.advise(u64::MAX, u64::MAX, wasi_files::Advice::WillNeed);
    let reader = file.read_via_stream(u64::MAX);
    assert!(
        reader.is_err()
            || reader.is_ok_and(|stream| matches!(stream.read(u64::MAX), Err(streams::StreamError::Closed)))
    );
    if let Ok(writer) = file.write_via_stream(u64::MAX) {
        assert!(writer.blocking_write_and_flush(b"x").is_err());
    }
    for name in ["../etc/passwd", "/etc/passwd", "..", "tmp/../../x", "a\0b", ""] {
        let _ = root.open_at(path, name, wasi_files::OpenFlags::empty(), wasi_files::DescriptorFlags::READ);
        let _ = root.symlink_at(name, name);
        let _ = root.rename_at(name, &root, name);
        let _ = root.link_at(path, name, &root, name);
    }
    // A file is passed in place of a directory, at both ends.
    assert!(file.stat_at(path, "x").is_err());
    assert!(file.open_at(path, "x", wasi_files::OpenFlags::CREATE, both).is_err());
    assert!(root.rename_at("tmp/wasi", &file, "x").is_err());
    assert!(file.read_directory().is_err());
    let _ = monotonic_clock::subscribe_instant(u64::MAX).ready();
    print("refused\n");
}
