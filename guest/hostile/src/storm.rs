//! Random calls with values that the bindings accept: names that exist and names that cannot, open and closed
//! descriptors, sizes from zero to the largest.

use crate::bindings::isopod::kernel::files::{self, OpenFlags, Whence};
use crate::bindings::isopod::kernel::process::{self, Command, Disposition};
use crate::random::Random;
use crate::wild;

const PATHS: [&str; 30] = [
    "/workspace",
    "a",
    "b",
    "a/b",
    "d",
    "d/e",
    "../a",
    "/..",
    "/tmp/x",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/fd/1",
    "/dev/fd/99",
    "/dev/stdin",
    "/proc/self/fd",
    "/proc/meminfo",
    "/proc/mounts",
    "/bin/hostile",
    "/bin",
    "/etc/passwd",
    "",
    "/",
    ".",
    "a/",
    "nul\0byte",
    "\u{202e}turned",
    "a\nb",
    "/workspace/a/../../../../../etc/shadow",
    "//../..//",
];

/// Makes `count` calls. Returns a line for each call, with its name and the number of times it was made.
pub(crate) fn storm(seed: u64, count: u64) -> String {
    let mut storm = Storm { random: Random::new(seed) };
    // Signals of other storms do not end this one, except those that cannot be ignored.
    for signal in 1..=31 {
        let _ = process::on_signal(signal, Disposition::Ignore);
    }
    let names = wild::names();
    let mut counts = vec![0u64; names.len()];
    for _ in 0..count {
        let which = storm.random.below(names.len() as u64) as usize;
        if storm.call(names[which]) {
            counts[which] += 1;
        }
    }
    names.iter().zip(counts).map(|(name, count)| format!("{name} {count}\n")).collect()
}

struct Storm {
    random: Random,
}

impl Storm {
    /// Makes a call. `exit` is never made.
    fn call(&mut self, name: &str) -> bool {
        match name {
            "files.open" => drop(files::open(&self.path(), self.flags(), self.small())),
            "files.read" => drop(files::read(self.fd(), self.size(), self.time())),
            "files.write" => self.write(),
            "files.seek" => drop(files::seek(self.fd(), self.random.number() as i64, self.whence())),
            "files.pipe" => drop(files::pipe()),
            "files.close" => self.close(),
            "files.stat" => drop(files::stat(&self.path(), self.flip())),
            "files.stat-fd" => drop(files::stat_fd(self.fd())),
            "files.list-dir" => drop(files::list_dir(&self.path(), self.small())),
            "files.list-more" => drop(files::list_more(self.fd(), self.small())),
            "files.chmod" => drop(files::chmod(&self.path(), self.small(), self.flip())),
            "files.chown" => drop(files::chown(&self.path(), self.maybe(), self.maybe(), self.flip())),
            "process.spawn" => self.spawn(),
            "process.wait" => drop(process::wait(self.maybe(), self.time())),
            "process.kill" => self.kill(),
            "process.on-signal" => self.on_signal(),
            "process.pending" => drop(process::pending()),
            "process.next-order" => drop(process::next_order(self.random.next() as u8)),
            "process.program" => drop(process::program()),
            "process.times" => drop(process::times()),
            "process.id" => drop(process::id()),
            "process.parent" => drop(process::parent()),
            "process.payload" => drop(process::payload()),
            "process.cwd" => drop(process::cwd()),
            "process.chdir" => drop(process::chdir(&self.path())),
            "process.umask" => drop(process::umask(self.small())),
            _ => return false,
        }
        true
    }

    fn path(&mut self) -> String {
        match self.random.below(20) {
            0 => "x".repeat(self.random.below(10_000) as usize),
            1 => "d/".repeat(self.random.below(600) as usize),
            _ => self.random.pick(&PATHS).to_owned(),
        }
    }

    fn small(&mut self) -> u32 {
        self.random.number() as u32
    }

    /// Returns a descriptor. Most are open, and the rest never were.
    fn fd(&mut self) -> u32 {
        if self.random.below(4) == 0 { self.small() } else { self.random.below(40) as u32 }
    }

    fn size(&mut self) -> u32 {
        if self.random.below(8) == 0 { u32::MAX } else { self.random.below(10_000) as u32 }
    }

    /// Returns a short time: a storm must not wait long.
    fn time(&mut self) -> Option<u64> {
        Some(self.random.below(2) * self.random.below(10_000))
    }

    fn flip(&mut self) -> bool {
        self.random.below(2) == 0
    }

    fn maybe(&mut self) -> Option<u32> {
        self.flip().then(|| self.random.number() as u32)
    }

    fn flags(&mut self) -> OpenFlags {
        OpenFlags::from_bits_retain(self.random.next() as u8)
    }

    fn whence(&mut self) -> Whence {
        [Whence::Start, Whence::Current, Whence::End][self.random.below(3) as usize]
    }

    /// Writes, but not to the standard streams, which the test reads, and not into pipes, where it would wait for
    /// itself.
    fn write(&mut self) {
        let fd = 3 + self.random.below(40) as u32;
        let is_pipe = files::stat_fd(fd).is_ok_and(|stat| matches!(stat.kind, files::Kind::Pipe));
        if !is_pipe {
            let bytes = vec![7; self.random.below(70_000) as usize];
            let _ = files::write(fd, &bytes);
        }
    }

    fn close(&mut self) {
        // The standard streams stay open, because the result is printed there.
        let _ = files::close(3 + self.small() % 60);
    }

    fn spawn(&mut self) {
        let text = |storm: &mut Storm| storm.random.pick(&["x", "", "PATH", "/bin", "=", "a\0b", "é"]).to_owned();
        let count = self.random.below(6);
        let argv = (0..count).map(|_| text(self)).collect();
        let mut env: Vec<(String, String)> = (0..count).map(|_| (text(self), text(self))).collect();
        env.push(("PATH".to_owned(), "/bin".to_owned()));
        let files = (0..self.random.below(5)).map(|_| (self.fd(), self.fd())).collect();
        let command = Command {
            program: self.random.pick(&["true", "false", "cat", "/bin/sh", "nonesuch", "", "/etc/passwd"]).to_owned(),
            argv,
            env,
            files,
            payload: vec![1; self.random.below(10_000) as usize],
            background: self.flip(),
        };
        let _ = process::spawn(&command);
    }

    /// Signals any process but itself.
    fn kill(&mut self) {
        let pid = self.small();
        if pid != process::id() {
            let _ = process::kill(pid, self.random.next() as u8);
        }
    }

    fn on_signal(&mut self) {
        let signal = self.random.next() as u8;
        // The default for PIPE would end the storm at the first write to a closed pipe.
        let what = [Disposition::Ignore, Disposition::Catch][self.random.below(2) as usize];
        let _ = process::on_signal(signal, what);
    }
}
