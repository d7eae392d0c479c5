//! Bad input: one clear line, the right exit code, nothing lost.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use isopod::{BuildError, Command, ExecuteError, Limits, Sandbox};

use crate::support::{cli, cli_answer, directory, isopod, sandbox};

/// Arguments, exit code, and a part of the one line on standard error.
fn refusals(file: &str) -> Vec<(Vec<String>, i32, String)> {
    // One argument of the host is at most 128 KiB; together they are more than a command may be.
    let long = "x".repeat(100_000);
    let long = [&["run", "--", "echo"][..], &[long.as_str(); 11]].concat();
    let row = |args: &[&str], code, line: &str| (args.iter().map(|a| (*a).to_owned()).collect(), code, line.to_owned());
    vec![
        row(
            &["run", "--dir", "/no/such/place", "--", "true"],
            2,
            "cannot mount /no/such/place: No such file or directory",
        ),
        row(&["run", "--dir", file, "--", "true"], 2, "Not a directory"),
        row(
            &["run", "--dir", "/tmp:/a", "--dir", "/tmp:/a", "--", "true"],
            2,
            "cannot mount at \"/a\": Device or resource busy",
        ),
        row(&["run", "--dir", "/tmp:/bin", "--", "true"], 2, "cannot mount at \"/bin\""),
        row(&["run", "--dir", "/tmp:/etc/passwd", "--", "true"], 2, "cannot mount at \"/etc/passwd\": Not a directory"),
        row(&["run", "--", ""], 2, "the command is empty"),
        row(&["run", "--", "  \n"], 2, "the command is empty"),
        row(&long, 2, "limit exceeded: command length (1 MiB)"),
        row(&["run", "--cwd", "/nowhere", "--", "true"], 2, "cannot start in \"/nowhere\": No such file or directory"),
        row(&["run", "--", "nonesuch", "x"], 127, "\"nonesuch\": No such file or directory"),
    ]
}

#[test]
fn a_refusal_is_one_line_and_a_code() {
    let directory = directory(&[("file", "x")]);
    for (args, code, line) in refusals(directory.path().join("file").to_str().unwrap()) {
        let shown: Vec<_> = args.iter().map(|arg| arg.chars().take(40).collect::<String>()).collect();
        let answer = cli(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(answer.code, Some(code), "{shown:?}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{shown:?}: {}", answer.stderr);
        assert!(answer.stderr.starts_with("isopod: "), "{shown:?}: {}", answer.stderr);
        assert!(answer.stderr.contains(&line), "{shown:?}: {}", answer.stderr);
        assert_eq!(answer.stdout, "", "{shown:?}");
    }
}

#[test]
fn what_the_command_line_does_not_know_is_2() {
    let cases: [&[&str]; 9] = [
        &["run", "--nonesuch", "--", "true"],
        &["run"],
        &["nonesuch"],
        &["run", "--timeout", "0", "--", "true"],
        &["run", "--timeout=-1", "--", "true"],
        &["run", "--memory", "lots", "--", "true"],
        &["run", "--fuel", "0", "--", "true"],
        &["run", "--env", "novalue", "--", "true"],
        &["run", "ls", "-la"],
    ];
    for args in cases {
        let answer = cli(args);
        assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.starts_with("error: "), "{args:?}: {}", answer.stderr);
    }
}

#[test]
fn a_command_that_is_not_utf8_is_refused() {
    let mut command = isopod(&["run", "--"]);
    command.arg(OsStr::from_bytes(b"echo \xff"));
    let answer = cli_answer(command);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(2), "isopod: the command is not UTF-8\n"));
}

#[test]
fn a_library_caller_gets_a_typed_error() {
    let sandbox = sandbox();
    let refused = |command: Command| sandbox.execute_blocking(command).unwrap_err();
    assert_eq!(refused("".into()), ExecuteError::Empty);
    assert_eq!(refused(Command::program(Vec::<String>::new())), ExecuteError::Empty);
    assert_eq!(refused("echo \0".into()), ExecuteError::Nul);
    assert_eq!(refused(Command::shell("true").timeout(std::time::Duration::ZERO)), ExecuteError::ZeroTimeout);
    let endless = refused(Command::shell("true").timeout(std::time::Duration::MAX));
    assert_eq!(endless.to_string(), "limit exceeded: wall clock (300 s)");
    assert!(matches!(refused(Command::shell("true").cwd("/nowhere")), ExecuteError::Cwd(..)));
    assert!(matches!(refused(Command::shell("true").env("A=B", "")), ExecuteError::Variable(_)));
    assert!(matches!(refused(Command::program(["nonesuch"])), ExecuteError::Program(..)));
    let build = Sandbox::builder().mount("/no/such/place", "/data").build();
    assert!(matches!(build, Err(BuildError::Host { .. })));
    let build = Sandbox::builder().cwd("/etc/passwd").build();
    assert!(matches!(build, Err(BuildError::Cwd(..))));
    let build = Sandbox::builder().mount("/", "relative").build();
    assert!(matches!(build, Err(BuildError::Guest(..))));
}

#[tokio::test]
async fn a_blocking_call_within_a_runtime_is_refused_not_a_panic() {
    assert_eq!(sandbox().execute_blocking("true").unwrap_err(), ExecuteError::WithinRuntime);
}

#[test]
fn damaged_code_is_found() {
    assert_eq!(cli(&["programs", "--verify"]).code, Some(0));
    let directory = directory(&[]);
    let path = directory.path().join("isopod");
    std::fs::copy(env!("CARGO_BIN_EXE_isopod"), &path).unwrap();
    let mut binary = std::fs::read(&path).unwrap();
    // An image is an ELF of wasmtime's own kind, page-aligned in the binary; the binary itself is one at 0.
    let image =
        (1..binary.len() / 4096).map(|page| page * 4096).find(|at| binary[*at..].starts_with(b"\x7fELF")).unwrap();
    binary[image + 5000] ^= 1;
    std::fs::write(&path, binary).unwrap();
    let answer = cli_answer({
        let mut command = std::process::Command::new(&path);
        command.args(["programs", "--verify"]);
        command
    });
    assert_eq!(answer.code, Some(125));
    assert!(answer.stderr.starts_with("isopod: the precompiled code of "), "{}", answer.stderr);
    assert_eq!(answer.stderr.lines().count(), 1);
}

#[test]
fn a_refused_command_leaves_the_sandbox_as_it_was() {
    let sandbox = Sandbox::builder().limits(Limits::hardened()).build().unwrap();
    assert!(sandbox.execute_blocking("").is_err());
    assert_eq!(sandbox.execute_blocking("echo ok").unwrap().stdout, b"ok\n");
    assert_eq!(sandbox.kernel().processes(), 0);
}
