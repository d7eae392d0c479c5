//! Every system call of a change fails once, or is the last call before a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::changes::{CHANGES, Change};

const ROLE: &str = "ISOPOD_CHAOS_ROLE";
const AT: &str = "ISOPOD_CHAOS_AT";
/// Exit code of a change that reported an error.
const REFUSED: i32 = 3;

/// Calls that change files or read their metadata. A `?` lets strace ignore calls that it does not know.
const CALLS: &str = "?openat,?openat2,?pwrite64,?renameat,?renameat2,?linkat,?symlinkat,?unlinkat,?mkdirat,?fchmod,\
                     ?fchmodat,?fchmodat2,?utimensat,?ftruncate,?fallocate,?fsync,?fdatasync,?flock,?statx,?newfstatat,\
                     ?getdents64,?pread64";
/// Trials of a change in the short form; a change with fewer calls is tried at every call.
const TRIALS: usize = 16;

/// The fault that is injected into a call.
#[derive(Clone, Copy)]
enum Fault {
    Error(&'static str),
    Kill,
}

/// Makes a change in a process of its own: prints its thread, waits for a line on standard input, and exits.
#[test]
fn in_the_second_process() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let at = std::env::var_os(AT).unwrap();
    let change = CHANGES.iter().find(|change| change.name == role).unwrap();
    let thread = std::fs::read_link("/proc/thread-self").unwrap();
    println!("\nthread {}", thread.file_name().unwrap().to_str().unwrap());
    // The start of the runtime is not part of the test.
    isopod::Runtime::shared().unwrap();
    // Another thread reads the line, or this read would be the first call to fail.
    let (go, goes) = std::sync::mpsc::channel();
    std::thread::spawn(move || go.send(std::io::stdin().read_line(&mut String::new())));
    goes.recv().unwrap().unwrap();
    let code = match (change.act)(at.as_ref()) {
        Ok(()) => 0,
        Err(why) => {
            let _ = std::io::stderr().write_all(why.as_bytes());
            REFUSED
        }
    };
    std::process::exit(code);
}

fn start(change: &Change, at: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["faults::in_the_second_process", "--exact", "--nocapture", "--test-threads=1"])
        .envs([(ROLE, change.name.as_ref()), (AT, at.as_os_str())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines().map(Result::unwrap);
    let thread = lines.find_map(|line| line.strip_prefix("thread ").map(str::to_owned)).unwrap();
    (child, thread)
}

/// The end of a change under a tracer.
struct End {
    status: ExitStatus,
    /// Standard error.
    said: String,
    /// The traced calls, one per line.
    log: String,
}

/// Makes a change under strace, with this fault if any. Returns `None` if strace is missing or may not trace.
fn traced(change: &Change, at: &Path, fault: Option<&str>) -> Option<End> {
    let (mut child, thread) = start(change, at);
    let log = at.join("strace");
    let calls = if change.has_threads { CALLS.to_owned() } else { format!("{CALLS},write,read") };
    let mut tracer = Command::new("strace")
        .args(["-p", &thread, "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={calls}")])
        .args(fault.iter().flat_map(|fault| ["-e", fault]))
        .args(change.has_threads.then_some("-f"))
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut said = String::new();
    BufReader::new(tracer.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let is_attached = said.contains("attached");
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    tracer.wait().unwrap();
    is_attached.then(|| End { status, said: text, log: std::fs::read_to_string(&log).unwrap_or_default() })
}

fn prepared(change: &Change) -> tempfile::TempDir {
    let temp = tempfile::Builder::new().prefix("chaos").tempdir().unwrap();
    (change.prepare)(temp.path());
    temp
}

/// Returns the calls of a change, each with its number among the calls of its kind on its thread.
pub fn calls(log: &str) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::new();
    let mut calls = BTreeSet::new();
    for line in log.lines().filter_map(|line| line.split_once('(').map(|(before, _)| before)) {
        // With several threads, a line begins with the thread's id.
        let (thread, call) = line.rsplit_once(' ').unwrap_or(("", line));
        if call.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !call.is_empty() {
            let count = counts.entry((thread.trim().to_owned(), call.to_owned())).or_insert(0);
            *count += 1;
            calls.insert((call.to_owned(), *count));
        }
    }
    calls.into_iter().collect()
}

/// Injects the fault into one call after another.
fn survives(change: &Change, fault: Fault) {
    let temp = prepared(change);
    let Some(whole) = traced(change, temp.path(), None) else {
        println!("{}: left out: strace is not installed, or may not trace", change.name);
        return;
    };
    assert!(whole.status.success(), "{}: {}", change.name, whole.said);
    (change.check)(temp.path(), Some(&Ok(())));
    let all = calls(&whole.log);
    assert!(all.len() > 8, "{:?}", all);
    let stride = if std::env::var_os("ISOPOD_LONG").is_some() { 1 } else { all.len().div_ceil(TRIALS) };
    let how = match fault {
        Fault::Error(name) => format!("error={name}"),
        Fault::Kill => "signal=KILL".to_owned(),
    };
    let (mut trials, mut refused) = (0, 0);
    for (call, n) in all.iter().step_by(stride) {
        let temp = prepared(change);
        let inject = format!("inject={call}:{how}:when={n}");
        let End { status, said, log } = traced(change, temp.path(), Some(&inject)).unwrap();
        let outcome = match (status.code(), status.signal()) {
            (Some(0), _) => Some(Ok(())),
            (Some(REFUSED), _) => Some(Err(said.clone())),
            (None, Some(9)) if matches!(fault, Fault::Kill) => None,
            _ => panic!("{}: {inject}: {status}: {said}\n{log}", change.name),
        };
        if let Some(Err(why)) = &outcome {
            refused += 1;
            assert!(!why.is_empty() && !why.contains('\n'), "{}: {inject}: {why:?}", change.name);
        }
        let checked = std::panic::catch_unwind(|| (change.check)(temp.path(), outcome.as_ref()));
        assert!(checked.is_ok(), "{}: {inject}: {outcome:?}\n{log}", change.name);
        trials += 1;
    }
    println!("{}: {how}: {trials} of {} calls, {refused} refused, 0 torn, 0 lost", change.name, all.len());
}

macro_rules! survive {
    ($($test:ident: $change:literal, $fault:expr;)*) => { $(
        #[test]
        fn $test() {
            survives(CHANGES.iter().find(|change| change.name == $change).unwrap(), $fault);
        }
    )* };
}

survive! {
    a_kill_at_any_call_of_a_write_tears_nothing: "write", Fault::Kill;
    a_kill_at_any_call_of_a_commit_tears_nothing: "commit", Fault::Kill;
    a_kill_at_any_call_of_a_backend_tears_nothing: "backend", Fault::Kill;
    a_kill_at_any_call_of_a_store_tears_nothing: "store", Fault::Kill;
    a_kill_at_any_call_of_a_provider_tears_nothing: "provider", Fault::Kill;
    an_input_output_error_at_any_call_of_a_write_is_said: "write", Fault::Error("EIO");
    an_input_output_error_at_any_call_of_a_commit_is_said: "commit", Fault::Error("EIO");
    an_input_output_error_at_any_call_of_a_backend_is_said: "backend", Fault::Error("EIO");
    an_input_output_error_at_any_call_of_a_store_is_said: "store", Fault::Error("EIO");
    an_input_output_error_at_any_call_of_a_provider_is_said: "provider", Fault::Error("EIO");
    a_disk_that_is_full_at_any_call_of_a_write_is_said: "write", Fault::Error("ENOSPC");
    a_disk_that_is_full_at_any_call_of_a_commit_is_said: "commit", Fault::Error("ENOSPC");
    a_disk_that_is_full_at_any_call_of_a_store_is_said: "store", Fault::Error("ENOSPC");
    a_disk_that_is_full_at_any_call_of_a_provider_is_said: "provider", Fault::Error("ENOSPC");
    an_interruption_of_any_call_of_a_write_tears_nothing: "write", Fault::Error("EINTR");
    an_interruption_of_any_call_of_a_commit_tears_nothing: "commit", Fault::Error("EINTR");
    an_interruption_of_any_call_of_a_backend_tears_nothing: "backend", Fault::Error("EINTR");
    an_interruption_of_any_call_of_a_provider_tears_nothing: "provider", Fault::Error("EINTR");
}
