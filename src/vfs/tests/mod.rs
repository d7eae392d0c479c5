//! Tests of the VFS from the outside in: calls as lines of text, run on every file system and on the kernel of the host
//! as the oracle.

// Tests create and examine files of the host directly.
#![allow(clippy::disallowed_methods)]

mod atomic;
mod escape;
mod host_quota;
mod mounts;
mod oracle;
mod overlay;
mod posix;
mod protect;
mod quota;
mod random;
mod snapshot;

use std::hash::Hasher;
use std::sync::Arc;

use tempfile::TempDir;

use crate::error::{Errno, Result};
use crate::limits::Limits;
use crate::path::GuestPath;

use super::{
    AtomicWrite, Dev, DirEntry, File, FileSystem, HostDir, Kind, MemFs, OpenHow, Opened, Overlay, Programs, Quota,
    SetTime, Stat, Vfs,
};

/// A tree that runs a line such as `mkdir /a` and returns `ok`, a value, or the name of an errno.
trait Tree {
    fn call(&self, words: &[&str]) -> Result<String>;

    /// Opens a file and returns its handle.
    fn hold(&self, flags: &str, at: &str) -> Result<Box<dyn OpenHandle>>;

    fn run(&self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        self.call(&words).unwrap_or_else(|errno| format!("{errno:?}"))
    }

    /// Runs lines of the form `call => outcome`.
    fn check(&self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (call, want) = line.split_once(" => ").unwrap_or((line, "ok"));
            assert_eq!(self.run(call), want, "{call}");
        }
    }
}

/// An open file.
trait OpenHandle {
    /// Writes at the offset, or at the end if the file was opened for appending.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize>;
    fn read(&self, offset: u64) -> Result<Vec<u8>>;
    fn cut(&self, len: u64) -> Result<()>;
    fn stat(&self) -> Result<String>;

    /// Returns the length and a hash of the whole content.
    fn sum(&self) -> Result<String> {
        let mut all = Vec::new();
        loop {
            let bytes = self.read(all.len() as u64)?;
            if bytes.is_empty() {
                let mut sum = std::hash::DefaultHasher::new();
                sum.write(&all);
                return Ok(format!("{} bytes {:x}", all.len(), sum.finish()));
            }
            all.extend_from_slice(&bytes);
        }
    }
}

struct OpenFile {
    file: Arc<dyn File>,
    appends: bool,
}

impl OpenHandle for OpenFile {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        match self.appends {
            true => self.file.append(bytes).map(|_| bytes.len()),
            false => self.file.write_at(offset, bytes),
        }
    }

    fn read(&self, offset: u64) -> Result<Vec<u8>> {
        self.file.read_at(offset, usize::MAX).map(|bytes| bytes.to_vec())
    }

    fn cut(&self, len: u64) -> Result<()> {
        self.file.set_len(len)
    }

    fn stat(&self) -> Result<String> {
        self.file.stat().map(|stat| show(&stat))
    }
}

impl Tree for Vfs {
    fn hold(&self, flags: &str, at: &str) -> Result<Box<dyn OpenHandle>> {
        match self.open(&GuestPath::parse(&GuestPath::root(), at)?, &how(flags))? {
            Opened::File(file) => Ok(Box::new(OpenFile { file, appends: flags.contains('a') })),
            _ => Err(Errno::IsDirectory),
        }
    }

    fn call(&self, words: &[&str]) -> Result<String> {
        let path = |text: &str| GuestPath::parse(&GuestPath::root(), text);
        let done = |()| "ok".to_owned();
        match *words {
            ["mkdir", at] => self.mkdir(&path(at)?, 0o755).map(done),
            ["rmdir", at] => self.rmdir(&path(at)?).map(done),
            ["rm", at] => self.unlink(&path(at)?).map(done),
            ["mv", from, to] => self.rename(&path(from)?, &path(to)?).map(done),
            ["ln", from, to] => self.link(&path(from)?, &path(to)?, false).map(done),
            ["ln-L", from, to] => self.link(&path(from)?, &path(to)?, true).map(done),
            ["ln-s", target, at] => self.symlink(target, &path(at)?).map(done),
            ["readlink", at] => self.read_link(&path(at)?),
            ["stat", at] => self.stat(&path(at)?, true).map(|stat| show(&stat)),
            ["lstat", at] => self.stat(&path(at)?, false).map(|stat| show(&stat)),
            ["ls", at] => {
                let entries = self.read_dir(&path(at)?)?;
                Ok(list(entries.iter().map(|entry| (entry.name.as_str(), entry.kind))))
            }
            ["list", at] => {
                let mut directory = self.open_dir(&path(at)?)?;
                let mut names: Vec<DirEntry> = Vec::new();
                loop {
                    match directory.next(3)? {
                        entries if entries.is_empty() => break,
                        entries => names.extend(entries),
                    }
                }
                names.sort_by(|a, b| a.name.cmp(&b.name));
                Ok(list(names.iter().map(|entry| (entry.name.as_str(), entry.kind))))
            }
            ["write-atomic", at, text] => {
                self.write_atomic(&path(at)?, text.as_bytes(), &AtomicWrite::default()).map(|_| "ok".to_owned())
            }
            ["chmod", mode, at] => self.chmod(&path(at)?, octal(mode), true).map(done),
            ["chmod-h", mode, at] => self.chmod(&path(at)?, octal(mode), false).map(done),
            ["touch", time, at] => set_time(|time| self.set_times(&path(at)?, time, time, true), time).map(done),
            ["touch-h", time, at] => set_time(|time| self.set_times(&path(at)?, time, time, false), time).map(done),
            ["mtime", at] => self.stat(&path(at)?, false).map(|stat| stat.modified.to_string()),
            ["times", at] => self.stat(&path(at)?, false).map(|stat| times(stat.inode, stat.modified, stat.changed)),
            ["chown", id, at] => {
                let id = id.parse().ok();
                self.chown(&path(at)?, id, id, true).map(done)
            }
            ["realpath", at] => self.canonical(&path(at)?).map(|path| path.to_string()),
            ["open", flags, at] => match self.open(&path(at)?, &how(flags))? {
                Opened::File(_) => Ok("file".to_owned()),
                Opened::Directory(path) => Ok(format!("directory {path}")),
                Opened::Descriptor(number) => Ok(format!("descriptor {number}")),
            },
            ["put", flags, at, text] => match self.open(&path(at)?, &how(flags))? {
                Opened::File(file) if flags.contains('a') => file.append(text.as_bytes()).map(|_| "ok".to_owned()),
                Opened::File(file) => file.write_at(0, text.as_bytes()).map(|_| "ok".to_owned()),
                _ => Err(Errno::IsDirectory),
            },
            ["cat", at] => match self.open(&path(at)?, &how("r"))? {
                Opened::File(file) => Ok(String::from_utf8_lossy(&file.read_at(0, 4096)?).trim_end().to_owned()),
                _ => Err(Errno::IsDirectory),
            },
            ["sum", at] => self.hold("r", at)?.sum(),
            ["links", at] => self.stat(&path(at)?, false).map(|stat| stat.links.to_string()),
            ["put-at", offset, at, text] => {
                self.hold("wc", at)?.write(offset.parse().unwrap(), text.as_bytes()).map(|wrote| wrote.to_string())
            }
            ["truncate", len, at] => match self.open(&path(at)?, &how("w"))? {
                Opened::File(file) => file.set_len(len.parse().unwrap()).map(done),
                _ => Err(Errno::IsDirectory),
            },
            _ => panic!("no such call: {words:?}"),
        }
    }
}

fn set_time(call: impl Fn(SetTime) -> Result<()>, time: &str) -> Result<()> {
    call(SetTime::At(time.parse().unwrap()))
}

/// Returns an inode and its times as text, for comparison with a later call.
fn times(inode: u64, modified: u64, changed: u64) -> String {
    format!("{inode} {modified} {changed}")
}

/// Creates a directory for a test, in memory if the host has a file system for that.
fn temp_dir() -> TempDir {
    TempDir::new_in("/dev/shm").unwrap_or_else(|_| TempDir::new().unwrap())
}

/// Parses the flags of an open, a letter each.
fn how(flags: &str) -> OpenHow {
    let has = |letter| flags.contains(letter);
    OpenHow {
        read: has('r'),
        write: has('w'),
        append: has('a'),
        create: has('c'),
        exclusive: has('x'),
        truncate: has('t'),
        nofollow: has('n'),
        directory: has('d'),
        mode: 0o644,
    }
}

fn octal(mode: &str) -> u32 {
    u32::from_str_radix(mode, 8).unwrap()
}

/// Shows the attributes that can be compared between file systems: not times, and not sizes of directories.
fn show(stat: &Stat) -> String {
    match stat.kind {
        Kind::File => format!("file {:o} {} {}", stat.mode, stat.size, stat.links),
        Kind::Symlink => format!("link {}", stat.size),
        Kind::Directory => format!("directory {:o}", stat.mode),
        Kind::Device => "device".to_owned(),
        Kind::Pipe => "pipe".to_owned(),
    }
}

fn list<'a>(entries: impl Iterator<Item = (&'a str, Kind)>) -> String {
    let mark = |kind| match kind {
        Kind::Directory => "/",
        Kind::Symlink => "@",
        Kind::File => "",
        Kind::Device | Kind::Pipe => "|",
    };
    let names: Vec<String> = entries.map(|(name, kind)| format!("{name}{}", mark(kind))).collect();
    format!("[{}]", names.join(" "))
}

fn path(text: &str) -> GuestPath {
    GuestPath::parse(&GuestPath::root(), text).unwrap()
}

fn open(vfs: &Vfs, flags: &str, at: &str) -> Arc<dyn File> {
    match vfs.open(&path(at), &how(flags)).unwrap() {
        Opened::File(file) => file,
        _ => panic!("{at} is no file"),
    }
}

fn mem_fs() -> Arc<MemFs> {
    Arc::new(MemFs::new(Arc::new(Quota::new(&Limits::default()))))
}

fn mem() -> Vfs {
    Vfs::builder().mount(GuestPath::root(), mem_fs(), false).build().unwrap()
}

/// Creates an overlay over an empty tree in memory.
fn overlay_of_memory() -> Vfs {
    let quota = Arc::new(Quota::new(&Limits::default()));
    mount(Overlay::over_snapshot(&mem_fs().snapshot(), quota).unwrap().files())
}

impl Vfs {
    fn overlay_at(&self, at: &str) -> Overlay {
        let (_, overlay) = self.overlays().find(|(point, _)| point.as_str() == at).unwrap();
        overlay
    }
}

fn mount(fs: Arc<dyn FileSystem>) -> Vfs {
    Vfs::builder().mount(GuestPath::root(), fs, false).build().unwrap()
}

/// Content that must not be seen.
const SECRET: &str = "hush, hush";

/// A directory of the host at `/`. Beside it, out of reach, are a file `secret` and a directory `outside`.
struct Host {
    temp: TempDir,
    vfs: Vfs,
}

impl Host {
    fn new() -> Host {
        Host::with(|dir| dir)
    }

    /// Creates a host as on a kernel without `openat2`.
    fn without_openat2() -> Host {
        Host::with(HostDir::without_openat2)
    }

    /// Creates a host with an overlay in place of the directory.
    fn overlaid() -> Host {
        let mut host = Host::new();
        host.overlay();
        host
    }

    /// Puts an overlay over the current directory.
    fn overlay(&mut self) -> Overlay {
        let dir = HostDir::open(&self.inside("")).unwrap();
        let quota = Arc::new(Quota::new(&Limits::default()));
        let overlay = Overlay::over_host(dir, quota).unwrap();
        self.vfs = mount(overlay.files());
        overlay
    }

    fn with(change: impl Fn(HostDir) -> HostDir) -> Host {
        let temp = temp_dir();
        for name in ["root", "outside"] {
            std::fs::create_dir(temp.path().join(name)).unwrap();
        }
        for name in ["secret", "outside/canary"] {
            std::fs::write(temp.path().join(name), SECRET).unwrap();
        }
        let dir = change(HostDir::open(&temp.path().join("root")).unwrap());
        let vfs = mount(Arc::new(dir));
        vfs.chmod(&path("/"), 0o755, true).unwrap();
        Host { temp, vfs }
    }

    /// Returns a path of the host below the mounted directory.
    fn inside(&self, name: &str) -> std::path::PathBuf {
        self.temp.path().join("root").join(name)
    }

    /// Fails if anything outside was changed.
    fn check_outside(&self) {
        let names = |path: &std::path::Path| {
            let mut names: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(self.temp.path()), ["outside", "root", "secret"]);
        assert_eq!(names(&self.temp.path().join("outside")), ["canary"]);
        for name in ["secret", "outside/canary"] {
            assert_eq!(std::fs::read_to_string(self.temp.path().join(name)).unwrap(), SECRET);
        }
    }
}

fn host_dir(path: &std::path::Path) -> Arc<HostDir> {
    Arc::new(HostDir::open(path).unwrap())
}
