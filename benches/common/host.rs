//! The host's own processes and memory.

use std::process::{Command, Stdio};

/// Runs a command by fork and exec, and checks its answer.
#[allow(clippy::disallowed_methods, reason = "the native side of the comparison")]
pub fn run(argv: &[&str], expected: &str) {
    let output = Command::new(argv[0]).args(&argv[1..]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{argv:?}");
    assert!(output.status.success(), "{argv:?}: {output:?}");
}

/// Returns true if a command exists and succeeds.
#[allow(clippy::disallowed_methods, reason = "the native side of the comparison")]
pub fn works(argv: &[&str]) -> bool {
    let output = Command::new(argv[0]).args(&argv[1..]).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns the path of the machine's Python itself, not of a wrapper script.
#[allow(clippy::disallowed_methods, reason = "the native side of the comparison")]
pub fn python() -> Option<String> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| path.trim().to_owned())
}

/// Returns the resident memory of this process.
#[allow(clippy::disallowed_methods, reason = "the kernel's own account of this process")]
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}
