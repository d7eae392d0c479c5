//! The kernel of the host as the oracle: the same calls on a real directory, with `openat2(RESOLVE_IN_ROOT)`, so that
//! links and `..` have the same root as in a sandbox.

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::Errno as Host;
use tempfile::TempDir;

use super::{OpenHandle, Tree, how, list, octal};
use crate::error::{Errno, Result};
use crate::vfs::Kind;

pub(super) struct Oracle {
    root: OwnedFd,
    _temp: TempDir,
}

impl Oracle {
    /// Returns true if the link count of a directory includes its subdirectories, as on most file systems.
    pub(super) fn counts_links(&self) -> bool {
        let made = rustix::fs::mkdirat(&self.root, "probe", Mode::RWXU);
        let links = rustix::fs::statat(&self.root, ".", AtFlags::empty()).map(|stat| stat.st_nlink);
        rustix::fs::unlinkat(&self.root, "probe", AtFlags::REMOVEDIR).unwrap();
        made.is_ok() && links == Ok(3)
    }

    /// Creates the oracle; none without `openat2`, or if the umask prevents a mode of 755.
    pub(super) fn new() -> Option<Oracle> {
        let temp = super::temp_dir();
        rustix::fs::chmod(temp.path(), Mode::from_raw_mode(0o755)).unwrap();
        let root = rustix::fs::open(temp.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let oracle = Oracle { root, _temp: temp };
        rustix::fs::mkdirat(&oracle.root, "probe", Mode::from_raw_mode(0o755)).unwrap();
        let is_fit = oracle.open("/probe", OFlags::PATH).and_then(show).is_ok_and(|shown| shown == "directory 755");
        rustix::fs::unlinkat(&oracle.root, "probe", AtFlags::REMOVEDIR).unwrap();
        is_fit.then_some(oracle)
    }

    fn open(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
        loop {
            match rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, mode, ResolveFlags::IN_ROOT) {
                // A concurrent rename on this machine, which need not concern this path.
                Err(Host::AGAIN) => continue,
                result => return result,
            }
        }
    }

    /// Returns the directory and the last component, with its trailing slashes.
    fn split<'a>(&self, path: &'a str) -> rustix::io::Result<(OwnedFd, &'a str)> {
        let name_end = path.trim_end_matches('/').len();
        let name_start = path[..name_end].rfind('/').map_or(0, |at| at + 1);
        let name = if name_end == 0 { "/" } else { &path[name_start..] };
        let parent = if name_start <= 1 { "/" } else { &path[..name_start] };
        Ok((self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    fn call_host(&self, words: &[&str]) -> rustix::io::Result<String> {
        match words[0] {
            "mkdir" | "rmdir" | "rm" | "mv" | "ln" | "ln-L" | "ln-s" => self.change_names(words),
            "chmod" | "touch" | "touch-h" => self.change_attributes(words),
            "open" | "put" | "cat" | "truncate" => self.open_and_use(words),
            _ => self.look_up(words),
        }
    }

    /// Runs the calls that create, remove or move a name.
    fn change_names(&self, words: &[&str]) -> rustix::io::Result<String> {
        let done = |()| "ok".to_owned();
        match *words {
            ["mkdir", at] => {
                let (dir, name) = self.split(at)?;
                rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o755)).map(done)
            }
            ["rmdir", at] => {
                let (dir, name) = self.split(at)?;
                rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).map(done)
            }
            ["rm", at] => {
                let (dir, name) = self.split(at)?;
                rustix::fs::unlinkat(dir, name, AtFlags::empty()).map(done)
            }
            ["mv", from, to] => {
                let ((from_dir, from), (to_dir, to)) = (self.split(from)?, self.split(to)?);
                // The root of the host would be on another device.
                let inside = |name| if name == "/" { "." } else { name };
                rustix::fs::renameat(from_dir, inside(from), to_dir, inside(to)).map(done)
            }
            ["ln", from, to] => {
                if from.ends_with('/') || from.ends_with("/..") || from.ends_with("/.") {
                    return self.call_host(&["ln-L", from, to]);
                }
                let (from_dir, from) = self.split(from)?;
                rustix::fs::statat(&from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
                let (to_dir, to) = self.split(to)?;
                rustix::fs::linkat(from_dir, from, to_dir, to, AtFlags::empty()).map(done)
            }
            ["ln-L", from, to] => {
                let from = self.open(from, OFlags::PATH)?;
                let (to_dir, to) = self.split(to)?;
                rustix::fs::linkat(rustix::fs::CWD, handle_path(&from), to_dir, to, AtFlags::SYMLINK_FOLLOW).map(done)
            }
            ["ln-s", target, at] => {
                let (dir, name) = self.split(at)?;
                rustix::fs::symlinkat(target, dir, name).map(done)
            }
            _ => panic!("no such call: {words:?}"),
        }
    }

    /// Runs the calls that set attributes.
    fn change_attributes(&self, words: &[&str]) -> rustix::io::Result<String> {
        let done = |()| "ok".to_owned();
        match *words {
            ["chmod", mode, at] => {
                let handle = self.open(at, OFlags::PATH)?;
                rustix::fs::chmod(handle_path(&handle), Mode::from_raw_mode(octal(mode))).map(done)
            }
            ["touch", time, at] => {
                let handle = self.open(at, OFlags::PATH)?;
                let times = timestamps(time);
                rustix::fs::utimensat(rustix::fs::CWD, handle_path(&handle), &times, AtFlags::empty()).map(done)
            }
            ["touch-h", time, at] => {
                let handle = self.open(at, OFlags::PATH | OFlags::NOFOLLOW)?;
                let times = timestamps(time);
                rustix::fs::utimensat(handle, "", &times, AtFlags::EMPTY_PATH).map(done)
            }
            _ => panic!("no such call: {words:?}"),
        }
    }

    /// Runs the calls that open a file.
    fn open_and_use(&self, words: &[&str]) -> rustix::io::Result<String> {
        let done = |()| "ok".to_owned();
        match *words {
            ["open", flags, at] => {
                let handle = self.open(at, oflags(flags))?;
                match kind(FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode)) {
                    Kind::Directory => self.call_host(&["realpath", at]).map(|path| format!("directory {path}")),
                    _ => Ok("file".to_owned()),
                }
            }
            ["put", flags, at, text] => {
                let handle = self.open(at, oflags(flags))?;
                rustix::io::write(handle, text.as_bytes()).map(|_| "ok".to_owned())
            }
            ["cat", at] => {
                let mut bytes = [0; 4096];
                let read = rustix::io::read(self.open(at, OFlags::RDONLY)?, &mut bytes)?;
                Ok(String::from_utf8_lossy(&bytes[..read]).trim_end().to_owned())
            }
            ["truncate", len, at] => {
                rustix::fs::ftruncate(self.open(at, OFlags::WRONLY)?, len.parse().unwrap()).map(done)
            }
            _ => panic!("no such call: {words:?}"),
        }
    }

    /// Runs the calls that only look something up.
    fn look_up(&self, words: &[&str]) -> rustix::io::Result<String> {
        match *words {
            ["readlink", at] => {
                let handle = self.open(at, OFlags::PATH | OFlags::NOFOLLOW)?;
                match rustix::fs::readlinkat(&handle, "", Vec::new()) {
                    Ok(target) => Ok(target.into_string().unwrap()),
                    // `readlink` of a handle has its own error for a file that is no link.
                    Err(Host::NOENT) => Err(Host::INVAL),
                    Err(error) => Err(error),
                }
            }
            ["stat", at] => self.open(at, OFlags::PATH).and_then(show),
            ["lstat", at] => self.open(at, OFlags::PATH | OFlags::NOFOLLOW).and_then(show),
            ["ls", at] => {
                let mut entries = Vec::new();
                for entry in rustix::fs::Dir::new(self.open(at, OFlags::DIRECTORY)?)? {
                    let entry = entry?;
                    let name = entry.file_name().to_str().unwrap().to_owned();
                    if name != "." && name != ".." {
                        entries.push((name, kind(entry.file_type())));
                    }
                }
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                Ok(list(entries.iter().map(|(name, kind)| (name.as_str(), *kind))))
            }
            ["links", at] => {
                let stat = rustix::fs::fstat(self.open(at, OFlags::PATH | OFlags::NOFOLLOW)?)?;
                Ok(stat.st_nlink.to_string())
            }
            ["mtime", at] => {
                let stat = rustix::fs::fstat(self.open(at, OFlags::PATH | OFlags::NOFOLLOW)?)?;
                Ok((stat.st_mtime as u64 * 1_000_000_000 + stat.st_mtime_nsec as u64).to_string())
            }
            ["times", at] => {
                let stat = rustix::fs::fstat(self.open(at, OFlags::PATH | OFlags::NOFOLLOW)?)?;
                let time = |seconds: i64, nanos: u64| seconds as u64 * 1_000_000_000 + nanos;
                Ok(super::times(
                    stat.st_ino,
                    time(stat.st_mtime, stat.st_mtime_nsec as u64),
                    time(stat.st_ctime, stat.st_ctime_nsec as u64),
                ))
            }
            ["realpath", at] => {
                let handle = self.open(at, OFlags::PATH)?;
                let root = rustix::fs::readlink(handle_path(&self.root), Vec::new())?.into_string().unwrap();
                let path = rustix::fs::readlink(handle_path(&handle), Vec::new())?.into_string().unwrap();
                let path = path.strip_prefix(&root).unwrap();
                Ok(if path.is_empty() { "/" } else { path }.to_owned())
            }
            _ => panic!("no such call: {words:?}"),
        }
    }
}

impl OpenHandle for OwnedFd {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        rustix::io::pwrite(self, bytes, offset).map_err(errno)
    }

    fn read(&self, offset: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; 64 << 10];
        let read = rustix::io::pread(self, &mut bytes, offset).map_err(errno)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn cut(&self, len: u64) -> Result<()> {
        rustix::fs::ftruncate(self, len).map_err(errno)
    }

    fn stat(&self) -> Result<String> {
        show(self).map_err(errno)
    }
}

impl Tree for Oracle {
    fn hold(&self, flags: &str, at: &str) -> Result<Box<dyn OpenHandle>> {
        let file = self.open(at, oflags(flags)).map_err(errno)?;
        match kind(FileType::from_raw_mode(rustix::fs::fstat(&file).map_err(errno)?.st_mode)) {
            Kind::Directory => Err(Errno::IsDirectory),
            _ => Ok(Box::new(file)),
        }
    }

    fn call(&self, words: &[&str]) -> Result<String> {
        match *words {
            ["sum", at] => self.hold("r", at)?.sum(),
            ["put-at", offset, at, text] => {
                self.hold("wc", at)?.write(offset.parse().unwrap(), text.as_bytes()).map(|wrote| wrote.to_string())
            }
            ["list", at] => self.call(&["ls", at]),
            _ => self.call_host(words).map_err(errno),
        }
    }
}

/// Returns a path that names an open handle.
fn handle_path(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

fn timestamps(time: &str) -> Timestamps {
    let time: u64 = time.parse().unwrap();
    let time = Timespec { tv_sec: (time / 1_000_000_000) as i64, tv_nsec: (time % 1_000_000_000) as _ };
    Timestamps { last_access: time, last_modification: time }
}

fn errno(error: Host) -> Errno {
    match error {
        Host::BADF => Errno::BadDescriptor,
        Host::BUSY => Errno::Busy,
        Host::EXIST => Errno::Exist,
        Host::INVAL => Errno::Invalid,
        Host::ISDIR => Errno::IsDirectory,
        Host::LOOP => Errno::Loop,
        Host::NAMETOOLONG => Errno::NameTooLong,
        Host::NOENT => Errno::NoEntry,
        Host::NOTDIR => Errno::NotDirectory,
        Host::NOTEMPTY => Errno::NotEmpty,
        Host::NOTSUP => Errno::NotSupported,
        Host::PERM => Errno::NotPermitted,
        other => panic!("{other}"),
    }
}

fn oflags(flags: &str) -> OFlags {
    let how = how(flags);
    let mut oflags = match (how.read, how.writes()) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    oflags.set(OFlags::APPEND, how.append);
    oflags.set(OFlags::CREATE, how.create);
    oflags.set(OFlags::EXCL, how.exclusive);
    oflags.set(OFlags::TRUNC, how.truncate);
    oflags.set(OFlags::NOFOLLOW, how.nofollow);
    oflags.set(OFlags::DIRECTORY, how.directory);
    oflags
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Device,
    }
}

fn show(handle: impl AsFd) -> rustix::io::Result<String> {
    let stat = rustix::fs::fstat(handle)?;
    let mode = stat.st_mode & 0o7777;
    Ok(match kind(FileType::from_raw_mode(stat.st_mode)) {
        Kind::File => format!("file {mode:o} {} {}", stat.st_size, stat.st_nlink),
        Kind::Symlink => format!("link {}", stat.st_size),
        Kind::Directory => format!("directory {mode:o}"),
        _ => "device".to_owned(),
    })
}
