//! The kernel's calls on this machine's own files and processes, for tests and benchmarks outside the sandbox.
//!
//! They suffice to compare programs with GNU's: a child gets the descriptors 0 to 2 and no payload, and signals are not
//! caught.

use std::io;

use rustix::io::Errno as HostErrno;

use crate::Errno;

/// Returns the kernel's name for an error of the host.
pub(crate) fn reason(error: &io::Error) -> Errno {
    HostErrno::from_io_error(error).map_or(Errno::Io, errno)
}

fn errno(errno: HostErrno) -> Errno {
    const NAMES: [(HostErrno, Errno); 29] = [
        (HostErrno::ACCESS, Errno::Access),
        (HostErrno::AGAIN, Errno::Again),
        (HostErrno::BADF, Errno::BadDescriptor),
        (HostErrno::BUSY, Errno::Busy),
        (HostErrno::CHILD, Errno::Child),
        (HostErrno::XDEV, Errno::CrossDevice),
        (HostErrno::EXIST, Errno::Exist),
        (HostErrno::FBIG, Errno::FileTooLarge),
        (HostErrno::ILSEQ, Errno::IllegalSequence),
        (HostErrno::INTR, Errno::Interrupted),
        (HostErrno::INVAL, Errno::Invalid),
        (HostErrno::ISDIR, Errno::IsDirectory),
        (HostErrno::LOOP, Errno::Loop),
        (HostErrno::MFILE, Errno::TooManyFiles),
        (HostErrno::NAMETOOLONG, Errno::NameTooLong),
        (HostErrno::NXIO, Errno::NoDevice),
        (HostErrno::NOENT, Errno::NoEntry),
        (HostErrno::NOEXEC, Errno::NoExec),
        (HostErrno::NOMEM, Errno::NoMemory),
        (HostErrno::NOSPC, Errno::NoSpace),
        (HostErrno::NOTDIR, Errno::NotDirectory),
        (HostErrno::NOTEMPTY, Errno::NotEmpty),
        (HostErrno::PERM, Errno::NotPermitted),
        (HostErrno::OPNOTSUPP, Errno::NotSupported),
        (HostErrno::SRCH, Errno::NoProcess),
        (HostErrno::PIPE, Errno::Pipe),
        (HostErrno::ROFS, Errno::ReadOnly),
        (HostErrno::SPIPE, Errno::Seek),
        (HostErrno::TOOBIG, Errno::TooBig),
    ];
    NAMES.iter().find(|(host, _)| *host == errno).map_or(Errno::Io, |(_, name)| *name)
}

/// Files.
#[allow(missing_docs)]
pub mod files {
    use std::fs::File;
    use std::mem::ManuallyDrop;
    use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
    use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};

    use rustix::event::{PollFd, PollFlags, Timespec};
    use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, SeekFrom, Uid};

    pub use crate::bindings::isopod::kernel::files::{Attributes, Entry, Kind, OpenFlags, Whence};
    use crate::{Errno, native};

    pub fn open(path: &str, how: OpenFlags, mode: u32) -> Result<u32, Errno> {
        let mut flags = OFlags::CLOEXEC;
        let has = |flag: OpenFlags| how & flag == flag;
        flags |= match (has(OpenFlags::READ), has(OpenFlags::WRITE) || has(OpenFlags::APPEND)) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        for (ours, theirs) in [
            (OpenFlags::APPEND, OFlags::APPEND),
            (OpenFlags::CREATE, OFlags::CREATE),
            (OpenFlags::EXCLUSIVE, OFlags::EXCL),
            (OpenFlags::TRUNCATE, OFlags::TRUNC),
        ] {
            flags.set(theirs, has(ours));
        }
        let fd = rustix::fs::open(path, flags, Mode::from_raw_mode(mode)).map_err(native::errno)?;
        // The sandbox's kernel opens no directory as a file.
        match rustix::fs::fstat(&fd) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() => Err(Errno::IsDirectory),
            _ => Ok(fd.into_raw_fd() as u32),
        }
    }

    pub fn read(fd: u32, len: u32, timeout: Option<u64>) -> Result<Vec<u8>, Errno> {
        let file = borrow(fd);
        if let Some(nanos) = timeout {
            let limit = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
            let mut wanted = [PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)];
            if rustix::event::poll(&mut wanted, Some(&limit)).map_err(native::errno)? == 0 {
                return Err(Errno::TimedOut);
            }
        }
        let mut bytes = vec![0; len as usize];
        let got = rustix::io::read(file.as_fd(), bytes.as_mut_slice()).map_err(native::errno)?;
        bytes.truncate(got);
        Ok(bytes)
    }

    pub fn write(fd: u32, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match rustix::io::write(borrow(fd).as_fd(), bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(native::errno(error)),
            }
        }
        Ok(())
    }

    pub fn seek(fd: u32, offset: i64, whence: Whence) -> Result<u64, Errno> {
        let to = match whence {
            Whence::Start => SeekFrom::Start(u64::try_from(offset).map_err(|_| Errno::Invalid)?),
            Whence::Current => SeekFrom::Current(offset),
            Whence::End => SeekFrom::End(offset),
        };
        rustix::fs::seek(borrow(fd).as_fd(), to).map_err(native::errno)
    }

    pub fn pipe() -> Result<(u32, u32), Errno> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (reader, writer) = rustix::pipe::pipe_with(flags).map_err(native::errno)?;
        Ok((reader.into_raw_fd() as u32, writer.into_raw_fd() as u32))
    }

    #[allow(unsafe_code)]
    pub fn close(fd: u32) -> Result<(), Errno> {
        // SAFETY: descriptors are plain numbers to a program, as in the sandbox; the caller of `close` owns its one.
        drop(unsafe { OwnedFd::from_raw_fd(fd as i32) });
        Ok(())
    }

    pub fn stat(path: &str, follow: bool) -> Result<Attributes, Errno> {
        let metadata = if follow { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
        metadata.map(|found| attributes(&found)).map_err(|error| native::reason(&error))
    }

    pub fn stat_fd(fd: u32) -> Result<Attributes, Errno> {
        borrow(fd).metadata().map(|found| attributes(&found)).map_err(|error| native::reason(&error))
    }

    pub fn read_dir(path: &str) -> Result<Vec<String>, Errno> {
        let entries = std::fs::read_dir(path).map_err(|error| native::reason(&error))?;
        let name = |entry: std::io::Result<std::fs::DirEntry>| match entry {
            Ok(entry) => entry.file_name().into_string().map_err(|_| Errno::IllegalSequence),
            Err(error) => Err(native::reason(&error)),
        };
        let mut names: Vec<String> = entries.map(name).collect::<Result<_, _>>()?;
        names.sort_unstable();
        Ok(names)
    }

    pub fn entries(path: &str) -> Result<Vec<Entry>, Errno> {
        let entry = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.map_err(|error| native::reason(&error))?;
            let kind = entry.file_type().map_err(|error| native::reason(&error))?;
            let name = entry.file_name().into_string().map_err(|_| Errno::IllegalSequence)?;
            Ok(Entry { name, kind: kind_of(kind), inode: entry.ino() })
        };
        std::fs::read_dir(path).map_err(|error| native::reason(&error))?.map(entry).collect()
    }

    pub fn chmod(path: &str, mode: u32, follow: bool) -> Result<(), Errno> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(mode), flags).map_err(native::errno)
    }

    pub fn chown(path: &str, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Result<(), Errno> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        rustix::fs::chownat(CWD, path, uid.map(Uid::from_raw), gid.map(Gid::from_raw), flags).map_err(native::errno)
    }

    /// Borrows a descriptor as a file that is not closed.
    #[allow(unsafe_code)]
    fn borrow(fd: u32) -> ManuallyDrop<File> {
        // SAFETY: as for `close`; the file is never dropped, so that nothing is closed twice.
        ManuallyDrop::new(unsafe { File::from_raw_fd(fd as i32) })
    }

    fn kind_of(kind: std::fs::FileType) -> Kind {
        match kind {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_symlink() => Kind::Symlink,
            kind if kind.is_fifo() => Kind::Pipe,
            _ => Kind::Device,
        }
    }

    fn attributes(found: &std::fs::Metadata) -> Attributes {
        let kind = kind_of(found.file_type());
        let time = |seconds: i64, nanos: i64| (seconds.max(0) as u64) * 1_000_000_000 + nanos.max(0) as u64;
        Attributes {
            kind,
            mode: found.mode() & 0o7777,
            uid: found.uid(),
            gid: found.gid(),
            size: found.size(),
            links: found.nlink(),
            device: found.dev(),
            inode: found.ino(),
            accessed: time(found.atime(), found.atime_nsec()),
            modified: time(found.mtime(), found.mtime_nsec()),
            changed: time(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Duplicates a descriptor, for a child.
    pub(super) fn duplicate(fd: u32) -> Result<OwnedFd, Errno> {
        let file = borrow(fd);
        let borrowed: BorrowedFd<'_> = file.as_fd();
        borrowed.try_clone_to_owned().map_err(|error| native::reason(&error))
    }
}

/// Processes.
#[allow(missing_docs)]
pub mod process {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

    pub use crate::bindings::isopod::kernel::process::{Command, Disposition, Status};
    use crate::{Errno, native};

    pub fn spawn(command: &Command) -> Result<u32, Errno> {
        let mut child = std::process::Command::new(&command.program);
        if let Some((name, rest)) = command.argv.split_first() {
            child.arg0(name).args(rest);
        }
        child.env_clear().envs(command.env.iter().map(|(name, value)| (name, value)));
        for number in 0..3 {
            let file = match command.files.iter().find(|(theirs, _)| *theirs == number) {
                Some((_, ours)) => Stdio::from(super::files::duplicate(*ours)?),
                None => Stdio::null(),
            };
            match number {
                0 => child.stdin(file),
                1 => child.stdout(file),
                _ => child.stderr(file),
            };
        }
        child.spawn().map(|child| child.id()).map_err(|error| native::reason(&error))
    }

    pub fn wait(child: Option<u32>, timeout: Option<u64>) -> Result<(u32, Status), Errno> {
        let child = child.and_then(|child| Pid::from_raw(child as i32));
        let deadline = timeout.map(|nanos| Instant::now() + Duration::from_nanos(nanos));
        let options = if deadline.is_some() { WaitOptions::NOHANG } else { WaitOptions::empty() };
        loop {
            match rustix::process::waitpid(child, options).map_err(native::errno)? {
                Some((pid, status)) => return Ok((pid.as_raw_nonzero().get() as u32, end_of(status))),
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => return Err(Errno::TimedOut),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn end_of(status: WaitStatus) -> Status {
        match status.terminating_signal() {
            Some(signal) => Status::Signalled(signal as u8),
            None => Status::Exited(status.exit_status().unwrap_or(0) as u8),
        }
    }

    pub fn kill(pid: u32, signal: u8) -> Result<(), Errno> {
        let pid = Pid::from_raw(pid as i32).ok_or(Errno::NoProcess)?;
        match signal {
            0 => rustix::process::test_kill_process(pid).map_err(native::errno),
            number => {
                let signal = Signal::from_named_raw(number.into()).ok_or(Errno::Invalid)?;
                rustix::process::kill_process(pid, signal).map_err(native::errno)
            }
        }
    }

    pub fn on_signal(_: u8, _: Disposition) -> Result<Disposition, Errno> {
        Ok(Disposition::Default)
    }

    pub fn pending() -> Vec<u8> {
        Vec::new()
    }

    pub fn exit(code: u8) {
        std::process::exit(code.into())
    }

    /// Returns the name of the link to the executable: a test calls a component by the name of each of its programs.
    pub fn program() -> String {
        let name = std::env::args().next().unwrap_or_default();
        name.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Returns no order: there are no live sessions outside the sandbox.
    pub fn next_order(_status: u8) -> Option<String> {
        None
    }

    pub fn id() -> u32 {
        std::process::id()
    }

    pub fn parent() -> u32 {
        std::os::unix::process::parent_id()
    }

    pub fn times() -> (u64, u64) {
        let clock = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        ((clock.tv_sec as u64) * 1_000_000_000 + clock.tv_nsec as u64, 0)
    }

    pub fn payload() -> Vec<u8> {
        Vec::new()
    }

    pub fn cwd() -> String {
        std::env::current_dir().map_or_else(|_| "/".to_owned(), |path| path.to_string_lossy().into_owned())
    }

    pub fn chdir(path: &str) -> Result<String, Errno> {
        std::env::set_current_dir(path).map_err(|error| native::reason(&error))?;
        Ok(cwd())
    }

    pub fn umask(mask: u32) -> u32 {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask)).bits()
    }
}
