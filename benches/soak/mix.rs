//! The work on the sandboxes: commands that end in all possible ways, and operations on files.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use isopod::backend::{Backend, EditRequest, GlobRequest, GrepRequest, Isopod, SandboxBackend, WriteRequest};
use isopod::{Command, Limits, Sandbox};

/// A generator of numbers that are the same in each run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A sandbox that is replaced now and then.
pub(crate) struct Place {
    /// A directory of the host, for every fifth sandbox.
    dir: Option<PathBuf>,
    is_overlay: bool,
    now: Mutex<Isopod>,
}

impl Place {
    pub(crate) fn new(number: usize, host: &Path) -> Place {
        let dir = number.is_multiple_of(5).then(|| host.join(number.to_string()));
        if let Some(dir) = &dir {
            std::fs::create_dir(dir).unwrap();
        }
        let is_overlay = number.is_multiple_of(10);
        let now = Mutex::new(sandbox(dir.as_deref(), is_overlay));
        Place { dir, is_overlay, now }
    }

    fn get(&self) -> Isopod {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn renew(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = sandbox(self.dir.as_deref(), self.is_overlay);
    }

    /// Waits until no process runs.
    pub(crate) async fn quiet(&self) {
        let now = self.get();
        while now.handle().kernel().processes() > 0 {
            tokio::task::yield_now().await;
        }
    }
}

fn sandbox(dir: Option<&Path>, is_overlay: bool) -> Isopod {
    let mut limits = Limits::default();
    (limits.processes, limits.wall) = (32, Duration::from_secs(60));
    let builder = Sandbox::builder().limits(limits);
    let builder = match dir {
        Some(dir) if is_overlay => builder.mount_overlay(dir, "/workspace"),
        Some(dir) => builder.mount(dir, "/workspace"),
        None => builder,
    };
    Isopod::new("soak", builder.build().unwrap()).unwrap()
}

/// Command lines with their output and exit code.
const LINES: [(&str, &str, u8); 16] = [
    ("echo hi", "hi\n", 0),
    ("exit 7", "", 7),
    ("nonesuch 2>/dev/null", "", 127),
    ("yes | head -1", "y\n", 0),
    ("sleep 1000 &", "", 0),
    ("seq 1 100 | sort -rn | tail -1", "1\n", 0),
    ("{ sh -c 'kill -9 $$'; } 2>/dev/null; echo $?", "137\n", 0),
    ("(exit 3) || echo $(echo nested)", "nested\n", 0),
    ("f=/tmp/$RANDOM; mkdir -p $f/a/b; echo x > $f/a/b/c; cat $f/a/b/c; rm -r $f", "x\n", 0),
    ("printf 'a b\\nc d\\n' | while read x y; do echo $y$x; done", "ba\ndc\n", 0),
    ("for i in 1 2 3 4 5 6 7 8 9 10; do x=$((x+i)); done; echo $x", "55\n", 0),
    ("echo '{\"a\":[1,2]}' | jq -c .a", "[1,2]\n", 0),
    ("printf 'one\\ntwo\\n' | sed 's/o/0/g' | grep -c 0", "2\n", 0),
    ("diff <(echo a) <(echo a) && echo same", "same\n", 0),
    ("exec 3< /etc/passwd; head -c 4 <&3", "root", 0),
    ("x=$(printf 'y%.0s' {1..500}); echo ${#x}", "500\n", 0),
];

/// Does one randomly chosen piece of work. The error says how the answer was wrong.
pub(crate) async fn one(places: &[Place], random: &mut Random) -> Result<(), String> {
    let place = &places[random.below(places.len())];
    let it = place.get();
    let wrong = |what: &str, answer: &dyn std::fmt::Debug| Err(format!("{what}: {answer:?}"));
    match random.below(1000) {
        0 => place.renew(),
        1 => {
            let fork = it.handle().snapshot().fork().map_err(|error| error.to_string())?;
            let answer = fork.execute("echo fork").await.map_err(|error| error.to_string())?;
            if answer.stdout != b"fork\n" {
                return wrong("fork", &answer);
            }
        }
        2..=4 => {
            // A command that exceeds its timeout.
            let command = Command::shell("while :; do :; done").timeout(Duration::from_millis(5));
            let answer = it.handle().execute(command).await.map_err(|error| error.to_string())?;
            if answer.exit_code != 124 {
                return wrong("timeout", &answer);
            }
        }
        5..=24 => {
            // A command whose future is dropped.
            let micros = random.below(2000) as u64;
            let work = it.execute(Command::shell("seq 1 100000 | sort | md5sum"));
            let _ = tokio::time::timeout(Duration::from_micros(micros), work).await;
        }
        25..=124 => return files(&it, random).await.map_err(|error| error.to_string()),
        125..=134 => {
            let session = it.handle().session().map_err(|error| error.to_string())?;
            for (line, expected) in [("cd /tmp; x=1", ""), ("echo $PWD$x", "/tmp1\n")] {
                let answer = session.execute(line).await.map_err(|error| error.to_string())?;
                if answer.stdout != expected.as_bytes() {
                    return wrong(line, &answer);
                }
            }
        }
        _ => {
            let (line, expected, code) = LINES[random.below(LINES.len())];
            let answer = it.execute(line.into()).await.map_err(|error| error.to_string())?;
            if (answer.output.as_slice(), answer.exit_code) != (expected.as_bytes(), code) {
                return wrong(line, &(String::from_utf8_lossy(&answer.output), answer.exit_code));
            }
        }
    }
    Ok(())
}

/// Operates on files with a unique name, because other callers use the same sandbox.
async fn files(it: &Isopod, random: &mut Random) -> isopod::backend::Result<()> {
    let dir = format!("/workspace/{}", random.below(usize::MAX));
    let file = format!("{dir}/file.txt");
    it.write(WriteRequest::new(&*file, "one\ntwo\n".repeat(random.below(500) + 1))).await?;
    it.edit(EditRequest::new(&*file, "one", "three").everywhere()).await?;
    it.grep(GrepRequest::literal("three", &*dir)).await?;
    it.glob(GlobRequest::new("*.txt", &*dir)).await?;
    it.ls(&dir).await?;
    it.delete(&dir).await
}
