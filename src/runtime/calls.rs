//! The calls of `wit/kernel.wit`, translated to calls of the kernel. No value of a guest is trusted.

use std::time::Duration;

use wasmtime::Result;

use super::bindings::isopod::kernel::files::{self, Attributes, Entry, Kind, OpenFlags, Whence};
use super::bindings::isopod::kernel::process::{self, Command};
use super::bindings::isopod::kernel::types::{self, Errno};
use super::guest::{Guest, ProcessExit};
use crate::kernel::{self, Request, Signal, Status};
use crate::vfs::{self, DirEntry, OpenHow, Stat};

/// The result of a call: the guest handles an errno, and an error ends the process.
type Answer<T> = Result<std::result::Result<T, Errno>>;

fn answer<T>(result: crate::error::Result<T>) -> Answer<T> {
    Ok(result.map_err(Errno::from))
}

impl Guest {
    /// The result of a call that may have ended its own process. If it has, the guest must not run on until the next
    /// tick.
    fn answer_if_alive<T>(&self, result: crate::error::Result<T>) -> Answer<T> {
        match self.process.signals().fatal() {
            Some(signal) => Err(ProcessExit(Status::Signalled(signal)).into()),
            None => answer(result),
        }
    }
}

impl types::Host for Guest {}

impl files::Host for Guest {
    fn open(&mut self, path: String, how: OpenFlags, mode: u32) -> Answer<u32> {
        let has = |flag| how.contains(flag);
        let how = OpenHow {
            read: has(OpenFlags::READ),
            write: has(OpenFlags::WRITE),
            append: has(OpenFlags::APPEND),
            create: has(OpenFlags::CREATE),
            exclusive: has(OpenFlags::EXCLUSIVE),
            truncate: has(OpenFlags::TRUNCATE),
            mode,
            ..OpenHow::default()
        };
        let opened = self.process.path(&path).and_then(|path| self.process.open(&path, how));
        answer(opened.inspect_err(|errno| self.process.note_refusal(*errno)))
    }

    async fn read(&mut self, fd: u32, len: u32, timeout: Option<u64>) -> Answer<Vec<u8>> {
        let timeout = timeout.map(Duration::from_nanos);
        answer(self.process.read(fd, len as usize, timeout).await.map(Vec::from))
    }

    async fn write(&mut self, fd: u32, bytes: Vec<u8>) -> Answer<()> {
        let wrote = self.process.write(fd, bytes.into()).await;
        self.answer_if_alive(wrote)
    }

    fn seek(&mut self, fd: u32, offset: i64, whence: Whence) -> Answer<u64> {
        let whence = match whence {
            Whence::Start => kernel::Whence::Start,
            Whence::Current => kernel::Whence::Current,
            Whence::End => kernel::Whence::End,
        };
        answer(self.process.file(fd).and_then(|file| file.seek(offset, whence)))
    }

    fn pipe(&mut self) -> Answer<(u32, u32)> {
        answer(self.process.pipe())
    }

    fn close(&mut self, fd: u32) -> Answer<()> {
        answer(self.process.close(fd))
    }

    fn stat(&mut self, path: String, follow: bool) -> Answer<Attributes> {
        let stat = self.process.path(&path).and_then(|path| self.process.stat(&path, follow));
        answer(stat.map(|stat| attributes(self.step.of_file(stat))))
    }

    fn stat_fd(&mut self, fd: u32) -> Answer<Attributes> {
        let stat = self.process.file(fd).and_then(|file| file.stat());
        answer(stat.map(|stat| attributes(self.step.of_file(stat))))
    }

    fn list_dir(&mut self, path: String, max: u32) -> Answer<(Vec<Entry>, Option<u32>)> {
        let listed = self.process.path(&path).and_then(|path| self.process.list_dir(&path, max as usize));
        answer(listed.map(|(entries, rest)| (entries.into_iter().map(entry).collect(), rest)))
    }

    fn list_more(&mut self, fd: u32, max: u32) -> Answer<Vec<Entry>> {
        let entries = self.process.file(fd).and_then(|file| file.list(max as usize));
        answer(entries.map(|entries| entries.into_iter().map(entry).collect()))
    }

    fn chmod(&mut self, path: String, mode: u32, follow: bool) -> Answer<()> {
        let path = self.process.path(&path);
        answer(path.and_then(|path| self.process.kernel().vfs().chmod(&path, mode & 0o7777, follow)))
    }

    fn chown(&mut self, path: String, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Answer<()> {
        let path = self.process.path(&path);
        answer(path.and_then(|path| self.process.kernel().vfs().chown(&path, uid, gid, follow)))
    }
}

impl process::Host for Guest {
    fn spawn(&mut self, command: Command) -> Answer<u32> {
        let Command { program, argv, env, files, payload, background } = command;
        let spawned = self.process.spawn(Request { program, argv, env, payload, background }, &files);
        self.answer_if_alive(spawned)
    }

    async fn wait(&mut self, child: Option<u32>, timeout: Option<u64>) -> Answer<(u32, process::Status)> {
        let ended = self.process.wait(child, timeout.map(Duration::from_nanos)).await;
        answer(ended.map(|(pid, status)| (pid, how_ended(status))))
    }

    fn kill(&mut self, pid: u32, signal: u8) -> Answer<()> {
        let signal = if signal == 0 { Ok(None) } else { Signal::new(signal).map(Some) };
        let sent = signal.and_then(|signal| self.process.kill(pid, signal));
        self.answer_if_alive(sent)
    }

    fn on_signal(&mut self, signal: u8, disposition: process::Disposition) -> Answer<process::Disposition> {
        let wanted = match disposition {
            process::Disposition::Default => kernel::Disposition::Default,
            process::Disposition::Ignore => kernel::Disposition::Ignore,
            process::Disposition::Catch => kernel::Disposition::Catch,
        };
        let before = Signal::new(signal).and_then(|signal| self.process.signals().set(signal, wanted));
        answer(before.map(|before| match before {
            kernel::Disposition::Default => process::Disposition::Default,
            kernel::Disposition::Ignore => process::Disposition::Ignore,
            kernel::Disposition::Catch => process::Disposition::Catch,
        }))
    }

    fn pending(&mut self) -> Result<Vec<u8>> {
        Ok(self.process.signals().take_pending().into_iter().map(Signal::number).collect())
    }

    async fn next_order(&mut self, status: u8) -> Result<Option<String>> {
        // A shell that waits for an order needs no ticks and has no deadline.
        self.ticking = None;
        let order = self.process.next_order(status).await;
        self.ticking = Some(self.ticker.start(&self.process));
        Ok(order)
    }

    fn exit(&mut self, code: u8) -> Result<()> {
        Err(ProcessExit(Status::Exited(code)).into())
    }

    fn program(&mut self) -> Result<String> {
        Ok(self.process.program().to_owned())
    }

    fn id(&mut self) -> Result<u32> {
        Ok(self.process.pid())
    }

    fn parent(&mut self) -> Result<u32> {
        Ok(self.process.parent_pid())
    }

    fn times(&mut self) -> Result<(u64, u64)> {
        let nanoseconds = |time: Duration| self.step.at(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let (own, children) = self.process.cpu_times();
        Ok((nanoseconds(own), nanoseconds(children)))
    }

    fn payload(&mut self) -> Result<Vec<u8>> {
        Ok(self.process.take_payload())
    }

    fn cwd(&mut self) -> Result<String> {
        Ok(self.process.cwd().to_string())
    }

    fn chdir(&mut self, path: String) -> Answer<String> {
        answer(self.process.chdir(&path).map(|path| path.to_string()))
    }

    fn umask(&mut self, mask: u32) -> Result<u32> {
        Ok(self.process.set_umask(mask))
    }
}

fn how_ended(status: Status) -> process::Status {
    match status {
        Status::Exited(code) => process::Status::Exited(code),
        Status::Signalled(signal) => process::Status::Signalled(signal.number()),
    }
}

fn kind_of(kind: vfs::Kind) -> Kind {
    match kind {
        vfs::Kind::File => Kind::File,
        vfs::Kind::Directory => Kind::Directory,
        vfs::Kind::Symlink => Kind::Symlink,
        vfs::Kind::Device => Kind::Device,
        vfs::Kind::Pipe => Kind::Pipe,
    }
}

fn entry(entry: DirEntry) -> Entry {
    Entry { name: entry.name, kind: kind_of(entry.kind), inode: entry.inode }
}

fn attributes(stat: Stat) -> Attributes {
    Attributes {
        kind: kind_of(stat.kind),
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        size: stat.size,
        links: stat.links,
        device: stat.device,
        inode: stat.inode,
        accessed: stat.accessed,
        modified: stat.modified,
        changed: stat.changed,
    }
}
