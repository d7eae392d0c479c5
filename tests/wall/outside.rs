//! The tests that start a walled process, and check its effects.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use isopod::wall::{self, Coverage};

pub const TESTS: &[(&str, fn())] = &[
    ("files_outside_are_out_of_reach_and_sandboxes_work", files),
    ("nothing_can_be_connected_to_and_no_program_started", network_and_programs),
    ("a_server_has_its_port_and_no_other", server),
    ("every_call_of_the_list_is_refused_also_to_programs_that_were_started", calls),
    ("other_threads_are_an_error", threads),
    ("a_strict_wall_is_whole_or_an_error", strict),
    ("a_directory_that_is_not_there_is_an_error_before_anything_is_up", missing),
    ("a_provider_lives_behind_the_wall", provider),
    ("run_and_exec_work_behind_the_wall", command_line),
    ("a_trial_of_the_machine_takes_nothing_away", trial),
];

fn start(role: &str, args: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(format!("inside:{role}")).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Runs a role in a new process and asserts that it succeeds. Returns its output.
fn play(role: &str, args: &[&str]) -> String {
    let mut child = start(role, args);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{role}: {text}");
    text
}

fn temp() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("wall").tempdir().unwrap()
}

fn files() {
    if wall::support().unwrap().landlock_abi < 3 {
        println!("left out: this kernel's Landlock does not hold files");
        return;
    }
    let root = temp();
    for name in ["inside", "read", "outside"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
        std::fs::write(root.path().join(name).join("file"), name).unwrap();
    }
    std::os::unix::fs::symlink(root.path().join("outside"), root.path().join("inside/out")).unwrap();
    play("files", &[root.path().to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(root.path().join("outside/file")).unwrap(), "outside");
    assert_eq!(std::fs::read_dir(root.path().join("outside")).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(root.path().join("inside/sorted")).unwrap(), "a\nb\n");
}

fn network_and_programs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    play("network", &[&listener.local_addr().unwrap().port().to_string(), &std::process::id().to_string()]);
}

fn server() {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (port, other) = (free(), free());
    let mut child = start("server", &[&port.to_string(), &other.to_string()]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "listening");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"echo over tcp\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "over tcp\n");
    assert!(child.wait().unwrap().success());
}

fn calls() {
    if !Command::new("python3").arg("-c").arg("import ctypes").status().is_ok_and(|status| status.success()) {
        println!("left out: there is no python3 to make the calls");
        return;
    }
    let counts = play("calls", &[]);
    println!("{}", counts.trim());
}

fn threads() {
    play("threads", &[]);
}

fn strict() {
    play("strict", &[]);
}

fn missing() {
    play("missing", &[]);
}

fn provider() {
    let root = temp();
    play("provider", &[root.path().to_str().unwrap()]);
}

fn command_line() {
    let root = temp();
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    for name in ["dir", "over", "read"] {
        std::fs::create_dir(path(name)).unwrap();
        std::fs::write(path(&format!("{name}/file")), name).unwrap();
    }
    let (dir, over, read) =
        (format!("{}:/dir", path("dir")), format!("{}:/over", path("over")), path("read") + ":/read:ro");
    let mounts = ["--dir", &dir, "--dir", &read, "--overlay", &over, "--commit"];
    let script = "cat /dir/file /over/file /read/file; echo new | tee /dir/new /over/new; touch /read/x 2>&1";
    let whole = wall::support().unwrap().is_whole();
    let wall = if whole { "--wall=strict" } else { "--wall" };
    let (text, code) = isopod(&[&["run", wall], &mounts[..], &["--", &format!("{script}; true")]].concat());
    assert_eq!((text.as_str(), code), ("diroverreadnew\ntouch: cannot touch '/read/x': Read-only file system\n", 0));
    assert_eq!(std::fs::read_to_string(path("over/new")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(path("dir/new")).unwrap(), "new\n");

    let at = ["--root", &path("sandboxes")];
    let (id, _) = isopod(&[&["sandbox", "create"], &at[..]].concat());
    let exec = |line: &str| isopod(&[&["sandbox", "exec", id.trim(), "--wall"], &at[..], &["--", line]].concat());
    assert_eq!(exec("echo kept > file; cat file"), ("kept\n".to_owned(), 0));
    assert_eq!(exec("cat file; exit 3"), ("kept\n".to_owned(), 3));

    let (_, code) = isopod(&["run", "--wall", "--dir", &path("nothing"), "--", "true"]);
    assert_eq!(code, 2);
    if cfg!(feature = "python") {
        assert_eq!(isopod(&["run", "--wall", "--", "python3 -c 'print(6*7)'"]), ("42\n".to_owned(), 0));
    }
}

fn isopod(args: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_isopod")).args(args).stdin(Stdio::null()).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

fn trial() {
    let report = wall::support().unwrap();
    println!("this machine: {report} (Landlock {})", report.landlock_abi);
    assert!(report.landlock_abi > 0 || matches!(report.landlock, Coverage::Nothing(_)));
    assert_eq!(wall::support().unwrap(), report);
    assert!(Command::new("true").status().unwrap().success());
}
