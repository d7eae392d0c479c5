//! Many concurrent sandboxes, many idle ones, and a fork of a large one.

#![allow(clippy::disallowed_methods, reason = "the host's side of the comparison")]

use std::process::{Command, Stdio};
use std::time::Instant;

use isopod::Sandbox;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::bashkit;
use crate::common::host;
use crate::containers::proportional_bytes;
use crate::field::Field;
use crate::isopod_shells::{NEW, limits};
use crate::measure::{self, Budget, Contender, Fault, Run};
use crate::options::Options;
use crate::programs::{DASH, Program};
use crate::progress::Progress;
use crate::results::{Entry, Outcome, Row, Sample, Unit};
use crate::rows::grouped;

/// The argument with which this program measures the memory of sandboxes and prints bytes. A new process has no freed
/// memory to reuse, so the figure contains everything that a sandbox takes.
pub const WEIGH: &str = "--weigh";

/// The name of a sandbox without a process.
pub const IDLE: &str = "isopod, idle sandbox";

pub fn at_once_name(count: usize) -> String {
    format!("{} sandboxes at once", grouped(count))
}

pub fn idle_name(count: usize) -> String {
    format!("memory of an idle sandbox, of {}", grouped(count))
}

pub fn fork_name(options: &Options) -> String {
    format!("a copy of a sandbox with {} files of 10 KB", grouped(fork_files(options)))
}

fn fork_files(options: &Options) -> usize {
    options.size(20_000, 2000)
}

/// Creates that many sandboxes side by side, each of which runs an echo.
pub fn sandboxes(runtime: &Runtime, count: usize) -> Run {
    let begin = Instant::now();
    let echo = || async {
        let sandbox = Sandbox::builder().build().ok()?;
        sandbox.execute("echo hi").await.ok().filter(|output| output.stdout == b"hi\n")
    };
    let right = runtime.block_on(async {
        let tasks: Vec<_> = (0..count).map(|_| tokio::spawn(echo())).collect();
        let mut right = 0;
        for task in tasks {
            right += usize::from(task.await.is_ok_and(|output| output.is_some()));
        }
        right
    });
    all(begin, right, count)
}

pub fn at_once(field: &Field<'_>, count: usize, budget: Budget, progress: &mut Progress) -> Row {
    let mut contenders = vec![Contender::new(NEW, || sandboxes(field.runtime, count))];
    // A container takes a good part of a second, so hundreds of them take too long.
    let bubblewrap = field.bubblewrap.iter().filter(|_| count <= 100);
    let docker = field.docker_run.iter().filter(|_| count <= 10);
    for program in field.dash.iter().chain(bubblewrap).chain(docker) {
        contenders.push(Contender::new(crate::shell::Shell::name(program), move || programs(program, count)));
    }
    if let Some(peer) = &field.bashkit {
        contenders.push(Contender::new(bashkit::NEW, move || {
            peer.time(&json!({ "at_once": count }), |answer| answer["right"].as_u64() == Some(count as u64))
        }));
    }
    measure::row(at_once_name(count), "many", budget, progress, contenders)
}

fn programs(program: &Program, count: usize) -> Run {
    let begin = Instant::now();
    let right = program.many(count).map_err(|error| Fault::Wrong(error.to_string()))?;
    all(begin, right, count)
}

fn all(begin: Instant, right: usize, count: usize) -> Run {
    let time = begin.elapsed();
    if right == count { Ok(time) } else { Err(Fault::Wrong(format!("{right} of {count} answered"))) }
}

/// Measures the bytes of each of that many idle sandboxes.
pub fn idle(field: &Field<'_>, count: usize, progress: &mut Progress) -> Row {
    let name = idle_name(count);
    progress.row(&name);
    let weighed = |what: &str| {
        let program = std::env::current_exe().ok()?;
        let output = Command::new(program).args([WEIGH, what, &count.to_string()]).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    let mut entries = vec![entry(IDLE, weighed("sandbox"))];
    if count <= 1000 {
        entries.push(entry("isopod, live session", weighed("session")));
        entries.push(entry(DASH, native_bytes()));
        if let Some(container) = &field.container {
            entries.push(entry("docker container", container.bytes()));
        }
    }
    if let Some(peer) = &field.bashkit {
        let answer = peer.ask(&json!({ "idle": count }));
        entries.push(entry(bashkit::LIVE, answer.ok().and_then(|answer| answer["bytes"].as_u64())));
    }
    Row { name, group: "many", unit: Unit::Bytes, entries }
}

fn entry(contender: &str, bytes: Option<u64>) -> Entry {
    let outcome = match bytes {
        Some(bytes) => Outcome::Right(Sample::of(vec![bytes as f64])),
        None => Outcome::Unsupported("it could not be weighed".to_owned()),
    };
    Entry { contender: contender.to_owned(), outcome }
}

/// Measures a shell that waits for input.
fn native_bytes() -> Option<u64> {
    let mut child = Command::new("dash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let bytes = (|| {
        use std::io::{BufRead, BufReader, Write};
        // Its answer shows that it has started.
        writeln!(child.stdin.as_mut()?, "echo hi").ok()?;
        BufReader::new(child.stdout.as_mut()?).read_line(&mut String::new()).ok()?;
        proportional_bytes(&child.id().to_string())
    })();
    let _ = child.kill();
    let _ = child.wait();
    bytes
}

/// Runs the measurement of [`WEIGH`].
pub fn weigh(runtime: &Runtime, what: &str, count: usize) -> Result<u64, Box<dyn std::error::Error>> {
    // One sandbox before, so that shared memory is not counted.
    let first = Sandbox::builder().build()?;
    runtime.block_on(first.execute("echo hi"))?;
    let (mut idle, mut live) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let before = host::resident_bytes();
    for _ in 0..count {
        let sandbox = Sandbox::builder().build()?;
        if what == "session" {
            let session = sandbox.session()?;
            runtime.block_on(session.execute("x=1"))?;
            live.push(session);
        }
        idle.push(sandbox);
    }
    Ok(host::resident_bytes().saturating_sub(before) / count as u64)
}

/// Creates a sandbox with this many files of 10 KB in its memory.
pub fn large(files: usize) -> Result<Sandbox, Box<dyn std::error::Error>> {
    let (sandbox, content) = (Sandbox::builder().limits(limits()).build()?, vec![7; 10_000]);
    for number in 0..files {
        if number.is_multiple_of(1000) {
            sandbox.fs().create_dir(&format!("{}", number / 1000))?;
        }
        sandbox.fs().write(&format!("{}/{number}", number / 1000), &content)?;
    }
    Ok(sandbox)
}

/// Measures a snapshot and a fork of it.
pub fn fork(sandbox: &Sandbox) -> Run {
    let begin = Instant::now();
    let fork = sandbox.snapshot().fork().map_err(|error| Fault::Wrong(error.to_string()))?;
    let time = begin.elapsed();
    match fork.fs().stat("0/7") {
        Ok(stat) if stat.size == 10_000 => Ok(time),
        _ => Err(Fault::Wrong("a file is missing in the fork".to_owned())),
    }
}

pub fn copies(options: &Options, budget: Budget, progress: &mut Progress) -> Result<Row, Box<dyn std::error::Error>> {
    let files = fork_files(options);
    let (place, original) = (tempfile::tempdir()?, large(files)?);
    let content = vec![7; 10_000];
    for number in 0..files {
        let directory = place.path().join(format!("from/{}", number / 1000));
        if number.is_multiple_of(1000) {
            std::fs::create_dir_all(&directory)?;
        }
        std::fs::write(directory.join(number.to_string()), &content)?;
    }
    let copy = || {
        let begin = Instant::now();
        let copied = Command::new("cp").args(["-a", "from", "to"]).current_dir(place.path()).status();
        let time = begin.elapsed();
        let is_right = copied.is_ok_and(|status| status.success()) && place.path().join("to/0/7").exists();
        let _ = std::fs::remove_dir_all(place.path().join("to"));
        if is_right { Ok(time) } else { Err(Fault::Wrong("cp failed".to_owned())) }
    };
    let contenders =
        vec![Contender::new("isopod, snapshot and fork", || fork(&original)), Contender::new("native cp -a", copy)];
    Ok(measure::row(fork_name(options), "many", budget, progress, contenders))
}
