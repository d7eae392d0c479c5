//! `isopod run` as a person uses it.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::support::{cli, cli_answer, directory, isopod};

#[test]
fn a_pipeline_prints_its_answer() {
    let answer = cli(&["run", "--", "echo hello | tr a-z A-Z"]);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.code), ("HELLO\n", "", Some(0)));
}

#[test]
fn the_exit_code_is_the_command_s() {
    for (command, code) in [("exit 7", 7), ("exit 0", 0), ("exit 255", 255), ("false", 1), ("nonesuch", 127)] {
        assert_eq!(cli(&["run", "--", command]).code, Some(code), "{command}");
    }
}

#[test]
fn several_arguments_are_a_program_and_its_arguments() {
    let answer = cli(&["run", "--", "echo", "a  b", "$HOME", ";"]);
    assert_eq!(answer.stdout, "a  b $HOME ;\n");
    assert_eq!(cli(&["run", "--", "nonesuch", "x"]).code, Some(127));
    assert_eq!(cli(&["run", "--", "/etc/passwd", "x"]).code, Some(126));
    let isolated = |words: &[&str]| cli(&[&["run", "--isolate", "process", "--"], words].concat());
    assert_eq!(isolated(&["echo", "a  b", "$HOME", ";"]).stdout, "a  b $HOME ;\n");
    assert_eq!(isolated(&["nonesuch", "x"]).code, Some(127));
    assert_eq!(isolated(&["/etc/passwd", "x"]).code, Some(126));
}

#[test]
fn time_that_is_over_is_124_and_soon() {
    for command in ["sleep 100", "while :; do :; done", "yes > /dev/null", "cat /dev/zero > /dev/null"] {
        let answer = cli(&["run", "--timeout", "1", "--", command]);
        assert_eq!(answer.code, Some(124), "{command}");
        assert!(answer.time < Duration::from_millis(1250), "{command}: {:?}", answer.time);
        assert_eq!(answer.stderr, "isopod: limit exceeded: wall clock (1 s)\n", "{command}");
    }
}

#[test]
fn options_may_follow_the_command() {
    let answer = cli(&["run", "sleep 100", "--timeout", "300ms"]);
    assert_eq!(answer.code, Some(124));
}

#[test]
fn a_broken_pipe_ends_the_writer() {
    let answer = cli(&["run", "--", "yes | head -1"]);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.code), ("y\n", "", Some(0)));
}

#[test]
fn a_fork_bomb_ends_with_an_error() {
    let answer = cli(&["run", "--timeout", "3", "--", ":(){ :|:& };:; sleep 1"]);
    assert!(answer.stderr.contains("limit exceeded: processes (64)"), "{}", answer.stderr);
    assert!(answer.time < Duration::from_secs(4), "{:?}", answer.time);
}

#[test]
fn a_mounted_directory_is_read_and_written() {
    let host = directory(&[("in.txt", "b\na\n")]);
    let mount = format!("{}:/data", host.path().display());
    let answer = cli(&["run", "--dir", &mount, "--", "sort /data/in.txt > /data/out.txt && cat /data/out.txt"]);
    assert_eq!((answer.stdout.as_str(), answer.code), ("a\nb\n", Some(0)), "{}", answer.stderr);
    assert_eq!(std::fs::read_to_string(host.path().join("out.txt")).unwrap(), "a\nb\n");
}

#[test]
fn a_directory_without_a_place_is_the_workspace() {
    let host = directory(&[("file", "x")]);
    let answer = cli(&["run", "--dir", host.path().to_str().unwrap(), "--", "pwd; ls"]);
    assert_eq!(answer.stdout, "/workspace\nfile\n");
}

#[test]
fn a_read_only_directory_cannot_be_changed() {
    let host = directory(&[("file", "x")]);
    let mount = format!("{}:ro", host.path().display());
    let answer = cli(&["run", "--dir", &mount, "--", "cat file; echo new > file; rm -f file; mkdir d"]);
    assert!(answer.stderr.contains("Read-only file system"), "{}", answer.stderr);
    assert_eq!(answer.stdout, "x");
    assert_eq!(std::fs::read_to_string(host.path().join("file")).unwrap(), "x");
    assert_eq!(std::fs::read_dir(host.path()).unwrap().count(), 1);
}

/// The ways to run a command, each with a sandbox of its own.
const WAYS: [&[&str]; 2] = [&["run"], &["run", "--isolate", "process"]];

/// Runs a command with these bytes on its standard input.
fn feed(way: &[&str], rest: &[&str], bytes: &[u8]) -> String {
    let mut child = isopod(&[way, rest].concat()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    // The write fails if the command ends without reading its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn piped_input_reaches_the_command_unless_it_is_refused() {
    for way in WAYS {
        assert_eq!(feed(way, &["--", "cat"], b"typed\n"), "typed\n", "{way:?}");
        assert_eq!(feed(way, &["--", "sort", "-n"], b"10\n9\n"), "9\n10\n", "{way:?}");
        assert_eq!(feed(way, &["--stdin", "--", "cat"], b"typed\n"), "typed\n", "{way:?}");
        assert_eq!(feed(way, &["--no-stdin", "--", "cat; echo end"], b"typed\n"), "end\n", "{way:?}");
        let json = feed(way, &["--json", "--", "cat"], b"typed\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["stdout"], "typed\n", "{way:?}");
    }
    assert_eq!(cli(&["run", "--stdin", "--no-stdin", "--", "cat"]).code, Some(2));
}

#[test]
fn much_input_reaches_the_command_as_it_is() {
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    for way in WAYS {
        let sum = feed(way, &["--", "wc -c; true"], &bytes);
        assert_eq!(sum.trim(), "12000000", "{way:?}");
    }
}

#[test]
fn a_closed_input_and_the_null_device_are_at_their_end() {
    for way in ["", "--isolate process"] {
        let program = env!("CARGO_BIN_EXE_isopod");
        for input in ["<&-", "</dev/null"] {
            let line = format!("{program} run {way} -- 'cat; echo end' {input}");
            let answer = cli_answer(shell(&line));
            assert_eq!((answer.stdout.as_str(), answer.code), ("end\n", Some(0)), "{way} {input}");
        }
    }
    // An empty standard input is a device and not a pipe.
    assert_eq!(cli(&["run", "--", "[ -p /dev/stdin ] && echo pipe || echo no pipe"]).stdout, "no pipe\n");
}

#[test]
fn an_input_that_stays_open_does_not_keep_the_program_from_ending() {
    let host = directory(&[]);
    let host = host.path().to_str().unwrap();
    // `wait` would close an input that the child still has.
    let code = |args: &[&str]| {
        let mut child = isopod(args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let code = child.wait().unwrap().code();
        drop(input);
        code
    };
    for args in [&["run", "--", "true"][..], &["run", "--dir", host, "--", "true"], &["run", "--json", "--", "true"]] {
        let begin = std::time::Instant::now();
        assert_eq!(code(args), Some(0), "{args:?}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{args:?}: {:?}", begin.elapsed());
    }
    // The timeout also ends a command that waits for its input.
    assert_eq!(code(&["run", "--timeout", "1", "--", "cat"]), Some(124));
    assert_eq!(code(&["run", "--isolate", "process", "--", "true"]), Some(0));
}

#[test]
fn a_command_that_reads_nothing_takes_nothing_from_the_script_around_it() {
    let program = env!("CARGO_BIN_EXE_isopod");
    for command in [format!("{program} run --no-stdin -- cat"), format!("{program} run -- echo x >/dev/null")] {
        let line = format!("printf '1\\n2\\n3\\n' | while read line; do echo \"line $line\"; {command}; done");
        assert_eq!(cli_answer(shell(&line)).stdout, "line 1\nline 2\nline 3\n", "{command}");
    }
}

/// Returns a command that runs a line in the host's shell.
fn shell(line: &str) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]);
    command
}

#[test]
fn output_is_streamed_as_it_comes() {
    let mut child = isopod(&["run", "--stdin", "--", "echo first; cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 6];
    // The command waits for input that is not yet sent: its earlier output arrives without it.
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"first\n");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn ctrl_c_stops_the_guest() {
    let mut child = isopod(&["run", "--", "echo ready; sleep 100"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn output_that_nobody_reads_ends_the_command() {
    let mut child = isopod(&["run", "--", "yes"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[test]
fn a_reader_who_does_not_read_does_not_stop_the_clock() {
    let begin = std::time::Instant::now();
    let mut child = isopod(&["run", "--timeout", "1", "--", "yes"]).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(124));
    assert!(begin.elapsed() < Duration::from_millis(1500), "{:?}", begin.elapsed());
}

#[test]
fn an_answer_that_nobody_reads_is_no_panic() {
    for args in [&["run", "--json", "--", "echo x"][..], &["programs"], &["programs", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = isopod(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn json_has_the_whole_answer() {
    let answer = cli(&["run", "--json", "--", "echo out; echo err >&2; exit 3"]);
    assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(3)));
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["exit_code"], 3);
    assert_eq!(json["stdout"], "out\n");
    assert_eq!(json["stderr"], "err\n");
    assert_eq!(json["output"], "out\nerr\n");
    assert_eq!(json["truncated"], false);
    assert!(json["usage"]["wall_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(json["usage"]["processes"], 1);
}

#[test]
fn json_says_what_was_cut_off() {
    let answer = cli(&["run", "--json", "--output", "10", "--", "seq 1 1000"]);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["truncated"], true);
    assert_eq!(json["stdout"], "1\n2\n3\n... [3883 bytes left out] ...\n1000\n");
    assert_eq!(json["stderr"], "");
    assert_eq!(json["limits"][0]["message"], "limit exceeded: output (10 bytes)");
}

#[test]
fn variables_are_set_and_the_host_s_are_not_seen() {
    let mut command = isopod(&["run", "--env", "GREETING=hello world", "--", "echo $GREETING; env"]);
    command.env("SECRET_OF_THE_HOST", "canary");
    let answer = cli_answer(command);
    assert!(answer.stdout.starts_with("hello world\n"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("canary"));
}

#[test]
fn fuel_stops_at_the_same_place_each_time() {
    let loops =
        |fuel: &str| cli(&["run", "--fuel", fuel, "--json", "--", "i=0; while :; do i=$((i+1)); echo $i; done"]);
    let report = |fuel: &str| serde_json::from_str::<serde_json::Value>(&loops(fuel).stdout).unwrap();
    let (one, two) = (report("20000000"), report("20000000"));
    assert_eq!(one["exit_code"], 152);
    assert_eq!(one["stdout"], two["stdout"]);
    assert_eq!(one["limits"][0]["limit"], "fuel");
    assert_eq!(one["usage"]["fuel"], 20_000_000);
}

#[test]
fn programs_are_listed() {
    let answer = cli(&["programs"]);
    for name in ["sh", "bash", "cat", "sort", "tr"] {
        assert!(answer.stdout.lines().any(|line| line == name), "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&cli(&["programs", "--json"]).stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), answer.stdout.lines().count());
    assert_eq!(json[0]["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn help_reads_well() {
    for args in
        [&["--help"][..], &["run", "--help"], &["programs", "--help"], &["shell", "--help"], &["serve", "--help"]]
    {
        let answer = cli(args);
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{args:?}");
        assert!(answer.stdout.lines().all(|line| line.chars().count() <= 100), "{}", answer.stdout);
    }
    assert!(cli(&["run", "--help"]).stdout.contains("--dir <HOST[:GUEST][:ro]>"));
}
