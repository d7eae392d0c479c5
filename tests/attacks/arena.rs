//! Where an attack takes place, and what has to hold after each.
//!
//! An arena has a directory of the host that is mounted in the sandbox under attack. Beside it, out of reach, stand canaries.
//! Everything that the sandbox answers is kept. After the attack, whatever it was:
//!
//! - the host is alive, and a neighbour answers `echo ok` at once;
//! - the canaries are as they were, byte for byte and to the nanosecond;
//! - the secret is in no byte that came back, and no path of the host either;
//! - open files, threads and temporary files are back to what they were;
//! - the process never had more memory than before, and what the sandbox may use, and [`MEMORY_SLACK`];
//! - no command took longer than its time and [`OVERSHOOT`];
//! - the same sandbox runs its next command, and nothing of it runs on.
//!
//! The times are those of a machine that has nothing else to do. On one that has, a thread that does nothing but sleep wakes
//! late too ([`Metronome`]), and everybody gets so much more time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use isopod::vfs::RESERVED;
use isopod::{Command, Limit, Limits, Output, Sandbox, SandboxBuilder};
use tokio::runtime::Runtime;

/// What must not be seen: in a file outside, and in a file of the neighbour.
pub const SECRET: &str = "CANARY-5d1f9c";

/// How long a command may run on when its time is over.
const OVERSHOOT: Duration = Duration::from_millis(250);
/// How long the neighbour may take for `echo ok`.
const NEIGHBOUR: Duration = Duration::from_millis(100);
/// Memory beyond what the sandbox may use: what the host needs to serve it.
const MEMORY_SLACK: u64 = 32 << 20;
/// The time of commands that are expected to need more than there is.
const SHORT: Duration = Duration::from_millis(300);
/// The time of all others.
const LONG: Duration = Duration::from_secs(60);
/// How long things may take to settle when an attack is over.
const SETTLING: Duration = Duration::from_secs(5);

/// What an attack is given.
pub struct Arena {
    temp: tempfile::TempDir,
    /// The limits of sandboxes that are made from now on.
    pub limits: Limits,
    sandbox: Option<Sandbox>,
    /// Every byte that came back.
    said: Vec<u8>,
    /// By how much commands exceeded their time.
    pub overshoots: Vec<Duration>,
    canaries: Vec<(PathBuf, Vec<u8>, SystemTime)>,
    before: Footprint,
    /// The most that a sandbox of this arena may use.
    cap: u64,
    /// Whether the attack itself names the arena's directory, in its commands or in links that it planted.
    names_paths: bool,
}

impl Arena {
    /// A place for one attack.
    pub fn new() -> Arena {
        // In memory if the host has a place for that: files come and go by the thousand.
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

    /// A path of the host below the mounted directory.
    pub fn host(&self, name: &str) -> PathBuf {
        self.temp.path().join("root").join(name)
    }

    /// A path of the host that no sandbox may reach, for an attack that knows it: that the sandbox repeats it tells nothing.
    pub fn known(&mut self, name: &str) -> String {
        self.names_paths = true;
        self.outside(name).display().to_string()
    }

    /// A path of the host that no sandbox may reach.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// How much more time everybody gets: a process that is late waits for several threads, one after another.
    fn patience(&self) -> Duration {
        Duration::from_micros(Metronome::start().worst.load(Ordering::Relaxed)) * 5
    }

    /// Other limits for the sandbox under attack.
    pub fn limit(&mut self, change: impl FnOnce(&mut Limits)) -> &mut Arena {
        change(&mut self.limits);
        self.sandbox = None;
        self
    }

    /// The sandbox under attack: the directory of the host at /workspace.
    pub fn sandbox(&mut self) -> Sandbox {
        if self.sandbox.is_none() {
            let builder = Sandbox::builder().mount(self.host(""), "/workspace");
            self.build(builder);
        }
        self.sandbox.clone().unwrap()
    }

    /// Another sandbox in its place, with the arena's limits.
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

    /// Executes a command with so much time.
    pub fn run_for(&mut self, command: impl Into<Command>, time: Duration) -> Output {
        let sandbox = self.sandbox();
        let begin = Instant::now();
        let output = sandbox.execute_blocking(command.into().timeout(time)).unwrap();
        self.note_time(begin.elapsed(), time);
        self.note(&output.output);
        output
    }

    /// Says how long something took that had so much time.
    pub fn note_time(&mut self, took: Duration, time: Duration) {
        if took > time {
            self.overshoots.push(took - time);
            assert!(took <= time + OVERSHOOT + self.patience(), "took {took:?} of {time:?}");
        }
    }

    /// Keeps something that came back, to look for secrets in it.
    pub fn note(&mut self, bytes: impl AsRef<[u8]>) {
        self.said.extend_from_slice(bytes.as_ref());
        self.said.push(b'\n');
    }

    /// The command is stopped when its time is over, as 124.
    pub fn times_out(&mut self, command: impl Into<Command>) {
        let output = self.run_for(command, SHORT);
        assert!(output.timed_out && output.exit_code == 124, "{}", shown(&output));
    }

    /// The command succeeds and prints this.
    pub fn prints(&mut self, command: impl Into<Command>, expected: &str) {
        let output = self.run(command);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", shown(&output));
        assert_eq!(output.exit_code, 0, "{}", shown(&output));
    }

    /// The command ends, in whatever way, and says this.
    pub fn says(&mut self, command: &str, expected: &str) -> Output {
        let output = self.run(command);
        assert!(text(&output).contains(expected), "{command}: no {expected:?} in {}", shown(&output));
        output
    }

    /// The command fails and says this.
    pub fn refuses(&mut self, command: &str, expected: &str) {
        let output = self.says(command, expected);
        assert_ne!(output.exit_code, 0, "{command}: {}", shown(&output));
    }

    /// The command runs into this limit.
    pub fn hits(&mut self, command: &str, limit: Limit) -> Output {
        let output = self.run(command);
        assert!(output.limits.iter().any(|hit| hit.kind == limit), "{command}: {}", shown(&output));
        output
    }

    /// The command of the host, and all that it answered.
    pub fn host_command(&mut self, command: &mut std::process::Command) -> std::process::Output {
        let output = command.output().unwrap();
        self.note(&output.stdout);
        self.note(&output.stderr);
        output
    }

    /// Everything that has to hold, whatever the attack was.
    pub fn check(mut self) -> Peak {
        // The same sandbox goes on, and nothing of it is left behind.
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
        // A sandbox that makes temporary files has one more that says so, as long as it lives.
        settle("temporary files", || temporaries(&self.host("")) == 0);
        let before = &self.before;
        settle("open files", || Footprint::now().files <= before.files);
        settle("threads", || Footprint::now().threads <= before.threads);
        let peak = peak().saturating_sub(before.resident);
        assert!(peak <= self.cap + MEMORY_SLACK, "{} MiB more, {} MiB allowed", peak >> 20, self.cap >> 20);
        Peak(peak)
    }
}

/// By how many bytes the process grew during an attack.
pub struct Peak(pub u64);

/// A runtime for attacks that await something.
pub fn tokio() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // Threads for blocking calls end soon, so that they can be counted.
    builder.worker_threads(2).enable_all().thread_keep_alive(Duration::from_millis(10));
    RUNTIME.get_or_init(|| builder.build().unwrap())
}

/// Whether attacks are to be made in their long form: `ISOPOD_LONG=1`.
pub fn is_long() -> bool {
    std::env::var_os("ISOPOD_LONG").is_some()
}

/// How many, in the short form and in the long one.
pub fn count(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

/// Output and errors as text.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.output).into_owned()
}

fn shown(output: &Output) -> String {
    let text: String = text(output).chars().take(2000).collect();
    format!("exit code {}, {:?}, {text:?}", output.exit_code, output.limits)
}

/// Runs everything once that is made when it is first needed: images, engines, threads.
pub fn warm_up() {
    Metronome::start();
    let run = |sandbox: &Sandbox, line: &str| drop(sandbox.execute_blocking(line).unwrap());
    let line = "echo a | grep a | sed s/a/b/ | awk 1 | sort | jq -R . | tr a b; find . | xargs ls; diff f f; tar -c f; hostile";
    run(neighbour(), line);
    run(neighbour(), "python3 -c 1");
    let mut limits = Limits::default();
    limits.fuel = Some(1 << 40);
    run(&Sandbox::builder().limits(limits).build().unwrap(), line);
    // More children than the pool has slots for children: the second engine.
    run(neighbour(), "for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait");
    tokio().block_on(async { tokio::task::spawn_blocking(|| ()).await.unwrap() });
}

/// A sandbox that has nothing to do with it, and a secret of its own.
pub fn neighbour() -> &'static Sandbox {
    static NEIGHBOUR: OnceLock<Sandbox> = OnceLock::new();
    NEIGHBOUR.get_or_init(|| {
        let sandbox = Sandbox::builder().env("SECRET", SECRET).build().unwrap();
        sandbox.fs().write("/tmp/secret", SECRET).unwrap();
        sandbox
    })
}

/// A thread that sleeps and looks how late it wakes: that is the machine's doing, and nobody's here.
struct Metronome {
    /// In microseconds, since an arena was made.
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

/// How long the neighbour takes for `echo ok`, at best.
fn ask_neighbour() -> Duration {
    let ask = || {
        let begin = Instant::now();
        assert_eq!(neighbour().execute_blocking("echo ok").unwrap().stdout, b"ok\n");
        begin.elapsed()
    };
    (0..3).map(|_| ask()).min().unwrap_or_default()
}

/// What the process holds.
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

/// The most memory that the process had since the peak was reset.
fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Waits until something holds that holds when everything has come to rest.
pub fn settle(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < SETTLING, "{what}: not back to what there was");
        std::thread::yield_now();
    }
}

/// Every file outside of the mounted directory: its path, its bytes, its time.
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

/// Temporary files of ours in a directory, at any depth.
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

/// What would tell where this process lives: its directories, its source, those of its libraries.
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
