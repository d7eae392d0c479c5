//! The host's side of attacks: the program itself, terminals, races, and a kernel without `openat2`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libtest_mimic::Failed;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Returns the tested program with these arguments.
pub fn isopod(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isopod"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Returns the output of a command that runs on a terminal.
pub fn on_a_terminal(mut command: Command) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let side = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    let mut child = command.stdout(side()).stderr(side()).spawn().unwrap();
    // The command has a copy of the other side; the terminal ends only when all copies are closed.
    drop(command);
    let mut shown = Vec::new();
    // Reading fails when the other side of the terminal is closed.
    let _ = File::from(controller).read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

/// Exchanges two names all the time and repeats `work` until they were exchanged `flips` times.
pub fn flipping(one: &Path, other: &Path, flips: usize, mut work: impl FnMut()) {
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let flips_on = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let stopped = Stop(&stop);
        loop {
            work();
            if count.load(Ordering::Relaxed) >= flips || flips_on.is_finished() {
                break;
            }
        }
        drop(stopped);
    });
    // Restores the first name.
    if count.into_inner() % 2 == 1 {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }
}

/// Ends the exchange, even if `work` panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns true in the process for which the kernel refuses `openat2`.
pub fn is_without_openat2() -> bool {
    std::env::var_os("WITHOUT_OPENAT2").is_some()
}

/// Runs the attacks on paths in a process for which the kernel refuses `openat2`.
pub fn without_openat2() -> Result<(), Failed> {
    let script = include_str!("../without_openat2.py");
    let output = Command::new("python3")
        .args(["-c", script, "38"])
        .arg(std::env::current_exe().unwrap())
        .env("WITHOUT_OPENAT2", "1")
        .output();
    let Ok(output) = output else {
        println!("left out: there is no python3");
        return Ok(());
    };
    if output.status.code() == Some(77) {
        println!("left out: no filter can be set here");
        return Ok(());
    }
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let contained = text.lines().find(|line| line.starts_with("attacks contained"));
    match contained {
        Some("attacks contained 34/34") if output.status.success() => Ok(()),
        _ => Err(Failed::from(format!("{text}\n{errors}"))),
    }
}
