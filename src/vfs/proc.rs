//! `/proc`, as far as common programs need it: the machine that the sandbox simulates, and the descriptors of the
//! caller.
//!
//! No file shows anything of the host. Files about one process, such as `/proc/self/status`, are missing: a file system
//! does not know the calling process. `/proc/self/fd/N` returns the number, like `/dev/fd/N`.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::text_file::TextFile;
use super::{
    Attempt, DirEntry, FileSystem, Kind, MountInfo, MountKind, Node, OpenHow, Stat, Stop, clock, descriptor_number,
    reserved,
};

/// The kernel release that a sandbox shows, also in `uname -r`.
const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), "-isopod");

/// The file system of `/proc`.
pub struct Proc {
    facts: ProcFacts,
    started: Instant,
    /// Creation time in nanoseconds since 1970. All files show it, and it is the boot time of the machine.
    made: u64,
    /// The mount table of the tree that this is mounted in, once it is complete.
    mounts: OnceLock<Vec<MountInfo>>,
}

/// Facts about the simulated machine.
#[derive(Debug, Clone, Default)]
pub struct ProcFacts {
    /// Bytes of memory.
    pub memory: u64,
    /// Number of processors that a process can use.
    pub processors: u32,
    /// Host name.
    pub hostname: String,
    /// Limits of a process, as in `/proc/self/limits`: name, value and unit.
    pub limits: Vec<(&'static str, u64, &'static str)>,
}

impl Proc {
    /// Creates the file system of a machine that boots now.
    pub fn new(facts: ProcFacts) -> Proc {
        Proc { facts, started: Instant::now(), made: clock::now(), mounts: OnceLock::new() }
    }
}

/// An entry below `/proc`.
#[derive(Clone, Copy)]
enum Entry {
    Directory,
    Text(fn(&Proc) -> Result<String>),
    Link(&'static str),
    Descriptors,
    Descriptor(u32),
}

/// Every path except the root and the descriptors. A directory comes before its entries.
const ENTRIES: [(&str, Entry); 22] = [
    ("cpuinfo", Entry::Text(cpuinfo)),
    ("filesystems", Entry::Text(|_| Ok("nodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\n".to_owned()))),
    ("loadavg", Entry::Text(|_| Ok("0.00 0.00 0.00 1/1 1\n".to_owned()))),
    ("meminfo", Entry::Text(meminfo)),
    ("mounts", Entry::Link("self/mounts")),
    ("self", Entry::Directory),
    ("self/fd", Entry::Descriptors),
    ("self/limits", Entry::Text(limits)),
    ("self/mounts", Entry::Text(mounts)),
    ("stat", Entry::Text(stat_text)),
    ("sys", Entry::Directory),
    ("sys/kernel", Entry::Directory),
    ("sys/kernel/hostname", Entry::Text(|proc| Ok(format!("{}\n", proc.facts.hostname)))),
    ("sys/kernel/osrelease", Entry::Text(|_| Ok(format!("{RELEASE}\n")))),
    ("sys/kernel/ostype", Entry::Text(|_| Ok("Linux\n".to_owned()))),
    ("sys/kernel/pid_max", Entry::Text(|_| Ok("32768\n".to_owned()))),
    ("sys/kernel/random", Entry::Directory),
    ("sys/kernel/random/uuid", Entry::Text(|_| uuid())),
    ("sys/kernel/version", Entry::Text(|_| Ok(format!("Isopod {}\n", env!("CARGO_PKG_VERSION"))))),
    ("thread-self", Entry::Link("self")),
    ("uptime", Entry::Text(uptime)),
    ("version", Entry::Text(version)),
];

impl Entry {
    /// Returns the entry of a path and its inode number. A link on the way is [`Stop::Link`].
    fn find(path: Subpath<'_>, follow: bool) -> Attempt<(Entry, u64)> {
        let mut at = (Entry::Directory, 1);
        let mut text = String::new();
        let count = path.names().count();
        for (index, name) in path.names().enumerate() {
            at = match at.0 {
                Entry::Directory => {
                    if index > 0 {
                        text.push('/');
                    }
                    text.push_str(name);
                    let found = ENTRIES.iter().position(|(known, _)| *known == text).ok_or(Errno::NoEntry)?;
                    (ENTRIES[found].1, found as u64 + 2)
                }
                Entry::Descriptors => {
                    let number = descriptor_number(name).ok_or(Errno::NoEntry)?;
                    (Entry::Descriptor(number), 100 + u64::from(number))
                }
                _ => return Err(Errno::NotDirectory.into()),
            };
            if let Entry::Link(target) = at.0
                && (follow || index + 1 < count)
            {
                return Err(Stop::Link { names: index + 1, target: target.to_owned() });
            }
        }
        Ok(at)
    }

    fn kind(self) -> Kind {
        match self {
            Entry::Directory | Entry::Descriptors => Kind::Directory,
            Entry::Text(_) => Kind::File,
            Entry::Link(_) => Kind::Symlink,
            Entry::Descriptor(_) => Kind::Device,
        }
    }
}

impl Proc {
    fn stat_of(&self, entry: Entry, inode: u64) -> Stat {
        let mode = match entry.kind() {
            Kind::Directory => 0o555,
            Kind::Symlink => 0o777,
            Kind::Device => 0o666,
            _ => 0o444,
        };
        Stat {
            kind: entry.kind(),
            mode,
            uid: 0,
            gid: 0,
            // As on Linux: the length is known only when the file is read.
            size: 0,
            links: if entry.kind() == Kind::Directory { 2 } else { 1 },
            device: 0,
            inode,
            accessed: self.made,
            modified: self.made,
            changed: self.made,
        }
    }
}

impl FileSystem for Proc {
    fn mount_kind(&self) -> MountKind {
        MountKind::Proc
    }

    /// Keeps the first table. A fork of the sandbox shares this file system and has the same mounts.
    fn set_mounts(&self, mounts: &[MountInfo]) {
        let _ = self.mounts.set(mounts.to_vec());
    }

    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        let is_exclusive = how.create && how.exclusive;
        let (entry, inode) = match Entry::find(path, !how.nofollow && !is_exclusive) {
            Ok(_) if is_exclusive => return Err(Errno::Exist.into()),
            Err(Stop::Errno(Errno::NoEntry)) if how.create => return Err(Errno::ReadOnly.into()),
            found => found?,
        };
        let writes = how.writes() || how.truncate;
        match entry {
            Entry::Directory | Entry::Descriptors if writes || how.create => Err(Errno::IsDirectory.into()),
            Entry::Directory | Entry::Descriptors => Ok(Node::Directory),
            _ if how.directory => Err(Errno::NotDirectory.into()),
            Entry::Link(_) => Err(Errno::Loop.into()),
            Entry::Descriptor(number) => Ok(Node::Descriptor(number)),
            Entry::Text(_) if writes => Err(Errno::ReadOnly.into()),
            Entry::Text(text) => {
                let text = Bytes::from(text(self)?);
                Ok(Node::File(Arc::new(TextFile { text, stat: self.stat_of(entry, inode) })))
            }
        }
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        let (entry, inode) = Entry::find(path, follow)?;
        Ok(self.stat_of(entry, inode))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        match Entry::find(path, true)?.0 {
            Entry::Directory => {}
            Entry::Descriptors => return Ok(Vec::new()),
            _ => return Err(Errno::NotDirectory.into()),
        }
        let entries = (2..).zip(ENTRIES).filter_map(|(inode, (known, entry))| {
            let known = Subpath::trusted(known);
            let (parent, name) = known.split()?;
            (parent == path).then(|| DirEntry { name: name.to_owned(), kind: entry.kind(), inode })
        });
        Ok(entries.collect())
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        match Entry::find(path, false)?.0 {
            Entry::Link(target) => Ok(target.to_owned()),
            _ => Err(Errno::Invalid.into()),
        }
    }

    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        matches!(Entry::find(path, true), Ok((Entry::Descriptors, _)))
    }
}

fn cpuinfo(proc: &Proc) -> Result<String> {
    let processor = |n: u32| {
        format!(
            "processor\t: {n}\nvendor_id\t: Isopod\nmodel name\t: WebAssembly\ncpu cores\t: 1\nflags\t\t: simd128\n\n"
        )
    };
    Ok((0..proc.facts.processors).map(processor).collect())
}

/// All memory shows as free: the memory of processes is not reported here.
fn meminfo(proc: &Proc) -> Result<String> {
    let total = proc.facts.memory >> 10;
    let lines = [
        ("MemTotal:", total),
        ("MemFree:", total),
        ("MemAvailable:", total),
        ("Buffers:", 0),
        ("Cached:", 0),
        ("SwapTotal:", 0),
        ("SwapFree:", 0),
    ];
    Ok(lines.map(|(name, value)| format!("{name:<15} {value:>8} kB\n")).concat())
}

fn limits(proc: &Proc) -> Result<String> {
    let mut text = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (name, limit, unit) in &proc.facts.limits {
        writeln!(text, "{name:<25} {limit:<20} {limit:<20} {unit:<10}").map_err(|_| Errno::Io)?;
    }
    Ok(text)
}

fn mounts(proc: &Proc) -> Result<String> {
    let mut text = String::new();
    for mount in proc.mounts.get().into_iter().flatten() {
        let (kind, rights) = (mount.kind.name(), if mount.is_read_only { "ro" } else { "rw" });
        // Linux escapes these as well: a blank would end the field.
        let at = mount.path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012");
        writeln!(text, "{kind} {at} {kind} {rights} 0 0").map_err(|_| Errno::Io)?;
    }
    Ok(text)
}

fn stat_text(proc: &Proc) -> Result<String> {
    let mut text = String::from("cpu  0 0 0 0 0 0 0 0 0 0\n");
    for n in 0..proc.facts.processors {
        writeln!(text, "cpu{n} 0 0 0 0 0 0 0 0 0 0").map_err(|_| Errno::Io)?;
    }
    let booted = proc.made / 1_000_000_000;
    writeln!(text, "btime {booted}\nprocesses 1\nprocs_running 1\nprocs_blocked 0").map_err(|_| Errno::Io)?;
    Ok(text)
}

fn uptime(proc: &Proc) -> Result<String> {
    let seconds = proc.started.elapsed().as_secs_f64();
    Ok(format!("{seconds:.2} {seconds:.2}\n"))
}

fn version(_proc: &Proc) -> Result<String> {
    Ok(format!("Linux version {RELEASE} (isopod) #1 Isopod {}\n", env!("CARGO_PKG_VERSION")))
}

/// Returns a random UUID, version 4.
fn uuid() -> Result<String> {
    let hex = reserved::token()? + &reserved::token()?;
    Ok(format!("{}-{}-4{}-8{}-{}\n", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32]))
}
