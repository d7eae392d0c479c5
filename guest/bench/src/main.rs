//! `filebench CALL COUNT`: makes a call on files COUNT times in the working directory, and prints the nanoseconds that
//! it took. In the sandbox the calls are the kernel's; compiled for the host, they are the host's.
//!
//! It is built for the benchmarks only, and is not part of a sandbox otherwise.

use std::time::Instant;

use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text, write_all};

const PIECE: usize = 4096;
const PIECES: usize = 256;

fn main() {
    isopod_sys::exit(match run() {
        Ok(()) => 0,
        Err(message) => {
            // There is no place left to report that standard error is gone.
            let _ = write_all(2, format!("filebench: {message}\n").as_bytes());
            1
        }
    })
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, call, count] = arguments.as_slice() else { return Err("expected CALL COUNT".to_owned()) };
    let count: u32 = count.parse().map_err(|_| format!("{count:?} is no number"))?;
    let call: fn() -> Result<(), Errno> = match call.as_str() {
        "prepare" => prepare,
        "stat" => || files::stat("file", true).map(drop),
        "stat-deep" => || files::stat("a/b/file", true).map(drop),
        "read" => read,
        "list" => list,
        "write" => write,
        "create" => create,
        _ => return Err(format!("no such call: {call}")),
    };
    let begin = Instant::now();
    for _ in 0..count {
        call().map_err(|errno| text(errno).to_owned())?;
    }
    let nanos = begin.elapsed().as_nanos();
    write_all(1, format!("{nanos}\n").as_bytes()).map_err(|errno| text(errno).to_owned())
}

/// Creates the files that the calls use.
fn prepare() -> Result<(), Errno> {
    for directory in ["a", "a/b", "many"] {
        fs::create_dir(directory)?;
    }
    for file in ["file", "a/b/file"] {
        files::write(new(file)?.raw(), &[7; PIECE])?;
    }
    (0..1000).try_for_each(|number| new(&format!("many/name-{number}")).map(drop))
}

fn read() -> Result<(), Errno> {
    let file = Fd::open("a/b/file", OpenFlags::READ, 0)?;
    if file.read(PIECE as u32)?.len() == PIECE { Ok(()) } else { Err(Errno::Io) }
}

fn list() -> Result<(), Errno> {
    if fs::entries("many")?.len() == 1000 { Ok(()) } else { Err(Errno::Io) }
}

fn write() -> Result<(), Errno> {
    let file = new("written")?;
    (0..PIECES).try_for_each(|_| files::write(file.raw(), &[1; PIECE]))
}

fn create() -> Result<(), Errno> {
    new("a/b/new")?;
    fs::remove_file("a/b/new")
}

fn new(path: &str) -> Result<Fd, Errno> {
    Fd::open(path, OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE, 0o644)
}
