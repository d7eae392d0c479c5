//! `/proc`, as far as common programs need it: the machine that a sandbox pretends to be, and the caller's descriptors.
//!
//! Nothing in it is the host's. What a single process would show of itself (`/proc/self/status` and the like) is not
//! here, because a file system does not know who asks; `/proc/self/fd/N` answers with the number, as `/dev/fd/N` does.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::{GuestPath, Subpath};

use super::text::TextFile;
use super::{Attempt, DirEntry, FileSystem, Kind, Node, OpenHow, Stat, Stop, clock, descriptor_number, reserved};

/// The release of the kernel that a sandbox shows: `uname -r` says the same.
const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), "-isopod");

/// The file system of facts about the machine.
pub struct Proc {
    facts: ProcFacts,
    started: Instant,
    /// When it was made, in nanoseconds since 1970: the time of all files, and of the start of the machine.
    made: u64,
}

/// What the machine is.
#[derive(Debug, Clone, Default)]
pub struct ProcFacts {
    /// Bytes of memory.
    pub memory: u64,
    /// Processors that a process can use.
    pub processors: u32,
    /// Its name.
    pub hostname: String,
    /// What a process may have, as `/proc/self/limits` calls it: a name, a number and its unit.
    pub limits: Vec<(&'static str, u64, &'static str)>,
    /// What is mounted: where, of which type, and whether it is read-only.
    pub mounts: Vec<(GuestPath, &'static str, bool)>,
}

impl Proc {
    /// A machine that starts now.
    pub fn new(facts: ProcFacts) -> Proc {
        Proc { facts, started: Instant::now(), made: clock::now() }
    }
}

/// What a path below `/proc` names.
#[derive(Clone, Copy)]
enum Entry {
    Directory,
    Text(fn(&Proc) -> Result<String>),
    Link(&'static str),
    Descriptors,
    Descriptor(u32),
}

/// Every path but the root and the descriptors; a directory before what is in it.
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
    /// What a path names, and its inode number. A link on the way is the answer, as everywhere.
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
            // Linux says so, too: how long it is shows when it is read.
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

/// All memory shows as free: what a process has of it is its own business.
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
    for (at, kind, is_read_only) in &proc.facts.mounts {
        let rights = if *is_read_only { "ro" } else { "rw" };
        // As in the kernel, a blank would end the field.
        let at = at.as_str().replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012");
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

/// A random UUID, of version 4.
fn uuid() -> Result<String> {
    let hex = reserved::token()? + &reserved::token()?;
    Ok(format!("{}-{}-4{}-8{}-{}\n", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32]))
}
