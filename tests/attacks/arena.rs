//! The set-up of an attack, and the invariants that are checked after it.
//!
//! An arena has a directory of the host, which is mounted in the sandbox under attack. Beside it, out of reach, are
//! canary files. The arena records everything that the sandbox answers. After each attack it checks that:
//!
//! - the host is alive, and a neighbour answers `echo ok` at once;
//! - the canaries are unchanged, byte for byte and to the nanosecond;
//! - the secret is in no byte of the answers, and neither is a path of the host;
//! - the numbers of open files, threads and temporary files are back at their values before the attack;
//! - the process grew by at most the memory and disk limits of the sandbox plus [`MEMORY_SLACK`];
//! - no command exceeded its timeout by more than [`OVERSHOOT`];
//! - the same sandbox runs its next command, and no process of the attack is left.
//!
//! The times hold on an idle machine. On a busy one even a thread that only sleeps wakes late ([`Metronome`] measures
//! that), and all times are extended accordingly.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use isopod::vfs::RESERVED;
use isopod::{Command, Limit, Limits, Output, Sandbox, SandboxBuilder};
use tokio::runtime::Runtime;

/// The text that must not be seen. It is in files outside the mount and in a file of the neighbour.
pub const SECRET: &str = "CANARY-5d1f9c";

/// Maximum time between the timeout of a command and its end.
const OVERSHOOT: Duration = Duration::from_millis(250);
/// Maximum time of the neighbour for `echo ok`.
const NEIGHBOUR: Duration = Duration::from_millis(100);
/// Memory that the host needs to serve a sandbox, beyond the sandbox's own limits.
const MEMORY_SLACK: u64 = 32 << 20;
/// Timeout of commands that are expected to exceed it.
const SHORT: Duration = Duration::from_millis(300);
/// Timeout of all other commands.
const LONG: Duration = Duration::from_secs(60);
/// Maximum time until processes, files and threads are gone after an attack.
const SETTLING: Duration = Duration::from_secs(5);

/// The environment of one attack.
pub struct Arena {
    temp: tempfile::TempDir,
    /// The limits of sandboxes that are built later.
    pub limits: Limits,
    sandbox: Option<Sandbox>,
    /// Every byte of the answers.
    said: Vec<u8>,
    /// The times by which commands exceeded their timeouts.
    pub overshoots: Vec<Duration>,
    canaries: Vec<(PathBuf, Vec<u8>, SystemTime)>,
    before: Footprint,
    /// The largest sum of memory and disk limits of a sandbox of this arena.
    cap: u64,
    /// True if the attack itself names the arena's directory, in its commands or in links that it plants.
    names_paths: bool,
}

impl Arena {
    /// Creates the directories and canaries of one attack.
    pub fn new() -> Arena {
        // In memory if possible, because attacks create and delete thousands of files.
        let temp = tempfile::Builder::new().prefix("arena").tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let temp = temp.unwrap();
        for directory in ["root", "outside/deep"] {
            fs::create_dir_all(temp.path().join(directory)).unwrap();
        }
        for file in ["outside/secret", "outside/deep/file", "secret"] {
            fs::write(temp.path().join(file), SECRET).unwrap();
        }
        fs::write(temp.path().join("outside/planted"), "planted").unwrap();
        let mut limits = Limits::default();
        (limits.wall, limits.wall_max) = (LONG, LONG * 5);
        (limits.process_memory, limits.sandbox_memory, limits.disk) = (64 << 20, 128 << 20, 32 << 20);
        ask_neighbour();
        Metronome::start().worst.store(0, Ordering::Relaxed);
        let canaries = fingerprint(temp.path());
        let before = Footprint::now();
        let _ = fs::write("/proc/self/clear_refs", "5");
        let (sandbox, said, overshoots) = (None, Vec::new(), Vec::new());
        Arena { temp, limits, sandbox, said, overshoots, canaries, before, cap: 0, names_paths: false }
    }

    /// Returns a path of the host below the mounted directory.
    pub fn host(&self, name: &str) -> PathBuf {
        self.temp.path().join("root").join(name)
    }

    /// Returns a path of the host that no sandbox may reach, for an attack that knows it. The sandbox may then repeat
    /// the path.
    pub fn known(&mut self, name: &str) -> String {
        self.names_paths = true;
        self.outside(name).display().to_string()
    }

    /// Returns a path of the host that no sandbox may reach.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The additional time on a busy machine: five times the worst delay, because a late process waits for several
    /// threads one after another.
    fn patience(&self) -> Duration {
        Duration::from_micros(Metronome::start().worst.load(Ordering::Relaxed)) * 5
    }

    /// Changes the limits of the sandbox under attack.
    pub fn limit(&mut self, change: impl FnOnce(&mut Limits)) -> &mut Arena {
        change(&mut self.limits);
        self.sandbox = None;
        self
    }

    /// Returns the sandbox under attack, with the directory of the host at /workspace.
    pub fn sandbox(&mut self) -> Sandbox {
        if self.sandbox.is_none() {
            let builder = Sandbox::builder().mount(self.host(""), "/workspace");
            self.build(builder);
        }
        self.sandbox.clone().unwrap()
    }

    /// Replaces the sandbox under attack by another one with the arena's limits.
    pub fn build(&mut self, builder: SandboxBuilder) -> Sandbox {
        self.cap = self.cap.max(self.limits.sandbox_memory + self.limits.disk);
        let sandbox = builder.limits(self.limits.clone()).build().unwrap();
        self.sandbox = Some(sandbox.clone());
        sandbox
    }

    /// Executes a command in the sandbox under attack.
    pub fn run(&mut self, command: impl Into<Command>) -> Output {
        self.run_for(command, LONG)
    }

    /// Executes a command with this timeout.
    pub fn run_for(&mut self, command: impl Into<Command>, time: Duration) -> Output {
        let sandbox = self.sandbox();
        let begin = Instant::now();
        let output = sandbox.execute_blocking(command.into().timeout(time)).unwrap();
        self.note_time(begin.elapsed(), time);
        self.note(&output.output);
        output
    }

    /// Records the time of something that had this timeout.
    pub fn note_time(&mut self, took: Duration, time: Duration) {
        if took > time {
            self.overshoots.push(took - time);
            assert!(took <= time + OVERSHOOT + self.patience(), "took {took:?} of {time:?}");
        }
    }

    /// Records bytes of an answer, to search them for secrets.
    pub fn note(&mut self, bytes: impl AsRef<[u8]>) {
        self.said.extend_from_slice(bytes.as_ref());
        self.said.push(b'\n');
    }

    /// Asserts that the command exceeds its timeout and ends with 124.
    pub fn times_out(&mut self, command: impl Into<Command>) {
        let output = self.run_for(command, SHORT);
        assert!(output.timed_out && output.exit_code == 124, "{}", shown(&output));
    }

    /// Asserts that the command succeeds and prints this.
    pub fn prints(&mut self, command: impl Into<Command>, expected: &str) {
        let output = self.run(command);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", shown(&output));
        assert_eq!(output.exit_code, 0, "{}", shown(&output));
    }

    /// Asserts that the command ends, in whatever way, with this text in its output.
    pub fn says(&mut self, command: &str, expected: &str) -> Output {
        let output = self.run(command);
        assert!(text(&output).contains(expected), "{command}: no {expected:?} in {}", shown(&output));
        output
    }

    /// Asserts that the command fails with this text in its output.
    pub fn refuses(&mut self, command: &str, expected: &str) {
        let output = self.says(command, expected);
        assert_ne!(output.exit_code, 0, "{command}: {}", shown(&output));
    }

    /// Asserts that the command hits this limit.
    pub fn hits(&mut self, command: &str, limit: Limit) -> Output {
        let output = self.run(command);
        assert!(output.limits.iter().any(|hit| hit.kind == limit), "{command}: {}", shown(&output));
        output
    }

    /// Runs a command of the host and records its output.
    pub fn host_command(&mut self, command: &mut std::process::Command) -> std::process::Output {
        let output = command.output().unwrap();
        self.note(&output.stdout);
        self.note(&output.stderr);
        output
    }

    /// Checks all invariants of the arena.
    pub fn check(mut self) -> Peak {
        // The same sandbox still works, and nothing of the attack is left.
        let sandbox = self.sandbox();
        settle("processes", || sandbox.kernel().processes() == 0);
        assert_eq!(sandbox.kernel().memory().held(), 0, "memory is still charged");
        self.prints("echo ok", "ok\n");
        let slow = ask_neighbour();
        assert!(slow <= NEIGHBOUR + self.patience(), "the neighbour took {slow:?}");

        assert_eq!(fingerprint(self.temp.path()), self.canaries, "what is outside has changed");
        let said = String::from_utf8_lossy(&self.said);
        assert!(!said.contains(SECRET), "the secret was told: {}", around(&said, SECRET));
        for path in host_paths(self.temp.path()).iter().skip(usize::from(self.names_paths)) {
            assert!(!said.contains(path), "a path of the host was told: {}", around(&said, path));
        }
        self.sandbox = None;
        drop(sandbox);
        // A living sandbox that makes temporary files has one more file as a mark, so it is dropped first.
        settle("temporary files", || temporaries(&self.host("")) == 0);
        let before = &self.before;
        settle("open files", || Footprint::now().files <= before.files);
        settle("threads", || Footprint::now().threads <= before.threads);
        let peak = peak().saturating_sub(before.resident);
        assert!(peak <= self.cap + MEMORY_SLACK, "{} MiB more, {} MiB allowed", peak >> 20, self.cap >> 20);
        Peak(peak)
    }
}

/// The growth of the process during an attack, in bytes.
pub struct Peak(pub u64);

/// Returns the runtime for attacks that await something.
pub fn tokio() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // Threads for blocking calls end soon, so that they can be counted.
    builder.worker_threads(2).enable_all().thread_keep_alive(Duration::from_millis(10));
    RUNTIME.get_or_init(|| builder.build().unwrap())
}

/// Returns true if attacks run in their long form: `ISOPOD_LONG=1`.
pub fn is_long() -> bool {
    std::env::var_os("ISOPOD_LONG").is_some()
}

/// Returns the repetitions for the short or the long form.
pub fn count(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

/// Returns output and errors as text.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.output).into_owned()
}

fn shown(output: &Output) -> String {
    let text: String = text(output).chars().take(2000).collect();
    format!("exit code {}, {:?}, {text:?}", output.exit_code, output.limits)
}

/// Runs everything once that is created on first use: images, engines, threads.
pub fn warm_up() {
    Metronome::start();
    let run = |sandbox: &Sandbox, line: &str| drop(sandbox.execute_blocking(line).unwrap());
    let line = "echo a | grep a | sed s/a/b/ | awk 1 | sort | jq -R . | tr a b; find . | xargs ls; diff f f; tar -c f; hostile";
    run(neighbour(), line);
    run(neighbour(), "python3 -c 1");
    let mut limits = Limits::default();
    limits.fuel = Some(1 << 40);
    run(&Sandbox::builder().limits(limits).build().unwrap(), line);
    // More children than the pool has slots for, so that the second engine is created too.
    run(neighbour(), "for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait");
    tokio().block_on(async { tokio::task::spawn_blocking(|| ()).await.unwrap() });
}

/// An uninvolved sandbox, with a secret of its own.
pub fn neighbour() -> &'static Sandbox {
    static NEIGHBOUR: OnceLock<Sandbox> = OnceLock::new();
    NEIGHBOUR.get_or_init(|| {
        let sandbox = Sandbox::builder().env("SECRET", SECRET).build().unwrap();
        sandbox.fs().write("/tmp/secret", SECRET).unwrap();
        sandbox
    })
}

/// A thread that sleeps and measures how late it wakes: the delay is the machine's and not Isopod's.
struct Metronome {
    /// The longest delay in microseconds since the arena was made.
    worst: AtomicU64,
}

impl Metronome {
    const BEAT: Duration = Duration::from_millis(2);

    fn start() -> &'static Metronome {
        static METRONOME: Metronome = Metronome { worst: AtomicU64::new(0) };
        static STARTED: OnceLock<()> = OnceLock::new();
        STARTED.get_or_init(|| {
            std::thread::spawn(|| {
                loop {
                    let begin = Instant::now();
                    std::thread::sleep(Metronome::BEAT);
                    let late = begin.elapsed().saturating_sub(Metronome::BEAT);
                    METRONOME.worst.fetch_max(late.as_micros() as u64, Ordering::Relaxed);
                }
            });
        });
        &METRONOME
    }
}

/// Returns the shortest of three times of the neighbour for `echo ok`.
fn ask_neighbour() -> Duration {
    let ask = || {
        let begin = Instant::now();
        assert_eq!(neighbour().execute_blocking("echo ok").unwrap().stdout, b"ok\n");
        begin.elapsed()
    };
    (0..3).map(|_| ask()).min().unwrap_or_default()
}

/// The resources of the process.
struct Footprint {
    files: usize,
    threads: usize,
    resident: u64,
}

impl Footprint {
    fn now() -> Footprint {
        let count = |path| fs::read_dir(path).unwrap().count();
        Footprint { files: count("/proc/self/fd"), threads: count("/proc/self/task"), resident: status("VmRSS:") }
    }
}

/// Returns the peak memory of the process since the peak was reset.
fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Waits until a condition holds, at most [`SETTLING`].
pub fn settle(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < SETTLING, "{what}: not back to what there was");
        std::thread::yield_now();
    }
}

/// Returns every file outside the mounted directory: its path, its bytes, its time.
fn fingerprint(temp: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    let mut directories = vec![temp.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if path == temp.join("root") {
                continue;
            }
            if metadata.is_dir() {
                directories.push(path.clone());
            }
            let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path, bytes, metadata.modified().unwrap()));
        }
    }
    found.sort();
    found
}

/// Counts Isopod's temporary files below a directory.
fn temporaries(directory: &Path) -> usize {
    let (mut count, mut directories) = (0, vec![directory.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            count += usize::from(entry.file_name().to_string_lossy().starts_with(RESERVED));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    count
}

/// Paths that would reveal the location of this process: its directories, its source, and those of its libraries.
fn host_paths(temp: &Path) -> Vec<String> {
    let exe = std::env::current_exe().unwrap();
    [temp, Path::new(env!("CARGO_MANIFEST_DIR")), exe.parent().unwrap()]
        .iter()
        .map(|path| path.display().to_string())
        .chain(["/.cargo/".to_owned(), "/rustc/".to_owned()])
        .collect()
}

fn around<'a>(text: &'a str, what: &str) -> std::borrow::Cow<'a, str> {
    let bytes = text.as_bytes();
    let at = text.find(what).unwrap_or(0);
    String::from_utf8_lossy(&bytes[at.saturating_sub(200)..(at + what.len() + 200).min(bytes.len())])
}
