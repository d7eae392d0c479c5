//! Memory: no attack makes the host hold more than the sandbox's limits.

use std::fs::File;

use isopod::backend::{Backend, BackendError, EditRequest, Isopod, ReadRequest, Upload};
use isopod::error::Errno;
use isopod::provider::Config;
use isopod::{Command, ExecuteError, Limit};

use crate::Attack;
use crate::arena::{self, Arena, text};
use crate::host::isopod;

pub const ATTACKS: &[Attack] = &[
    ("attack_15_a_string_that_doubles_stops_at_the_cap", |a| {
        let output = a.hits("x=x; while :; do x=$x$x; done", Limit::ProcessMemory);
        assert_ne!(output.exit_code, 0);
    }),
    ("attack_16_memory_is_refused_at_the_cap_and_not_beyond", |a| {
        let output = a.hits("hostile grow-memory", Limit::ProcessMemory);
        let megabytes: u64 = text(&output).lines().next().unwrap().parse().unwrap();
        assert!((16..=64).contains(&megabytes), "{megabytes} MiB");
    }),
    ("attack_17_many_processes_together_stop_at_the_sandbox_s_cap", |a| {
        a.limit(|limits| (limits.process_memory, limits.sandbox_memory) = (16 << 20, 64 << 20));
        let many = "for i in {1..60}; do hostile hold-memory 14000000 <&3 & done 3< <(sleep 1); wait";
        let output = a.hits(many, Limit::SandboxMemory);
        assert!(text(&output).contains("held\n"), "{}", text(&output));
    }),
    ("attack_18_an_array_with_a_huge_subscript_is_small", |a| {
        a.prints("a[999999999]=x; a[4611686018427387904]=y; echo ${#a[@]}", "2\n");
        a.limit(|limits| limits.process_memory = 16 << 20);
        a.prints("a[999999999]=x; echo ${#a[@]}", "1\n");
    }),
    ("attack_19_a_sort_of_more_than_its_memory_goes_through_files", |a| {
        a.limit(|limits| limits.process_memory = 24 << 20);
        let sort = "seq 1 2000000 | sort -r > /tmp/s; head -n 1 /tmp/s; wc -lc < /tmp/s; sort -c -r /tmp/s && ls /tmp";
        a.prints(sort, "999999\n 2000000 14888896\ns\n");
        // Without room for temporary files the program reports an error.
        a.limit(|limits| limits.disk = 4 << 20);
        a.refuses("seq 1 2000000 | sort -r > /dev/null", "limit exceeded");
    }),
    ("attack_20_a_string_too_long_for_a_call_ends_its_process", |a| {
        a.limit(|limits| limits.process_memory = 200 << 20).limit(|limits| limits.sandbox_memory = 256 << 20);
        a.prints("hostile long-string 1000000", "refused\n");
        let output = a.run("hostile long-string 100000000");
        assert!(output.exit_code > 128 && !text(&output).contains("refused\n"), "{}", text(&output));
    }),
    ("attack_21_gigabytes_of_random_bytes_are_refused", |a| {
        for bytes in ["4294967296", "18446744073709551615", "65537"] {
            let output = a.run(format!("hostile random-bytes {bytes}").as_str());
            assert!(output.exit_code > 128, "{bytes}: {}", text(&output));
        }
        a.times_out("head -c 1000000000000 /dev/urandom > /dev/null");
    }),
    ("attack_22_a_million_handles_fill_the_table_and_no_more", |a| {
        let output = a.run("hostile handle-flood");
        assert!(output.exit_code > 128 && !text(&output).contains("not refused"), "{}", text(&output));
    }),
    ("attack_23_arguments_and_environment_without_end_are_too_long", long_arguments),
    ("attack_24_an_upload_of_gigabytes_is_refused_before_it_is_read", upload),
    ("attack_25_a_sparse_file_of_gigabytes_is_refused_unread", sparse),
    ("attack_26_deep_nesting_and_bombs_of_text_are_errors", nesting),
];

fn long_arguments(a: &mut Arena) {
    let grow = "x=x; for i in {1..21}; do x=$x$x; done;";
    a.refuses(&format!("{grow} /bin/true $x $x"), "Argument list too long");
    a.refuses(&format!("{grow} export x y=$x; /bin/true"), "Argument list too long");
    let sandbox = a.sandbox();
    let long = "x".repeat(50 << 20);
    let refusal = sandbox.execute_blocking(Command::program(["true", &long])).unwrap_err();
    assert!(matches!(refusal, ExecuteError::Limit(_)), "{refusal}");
    let refusal = sandbox.execute_blocking(Command::shell("true").env("X", &long)).unwrap_err();
    assert!(matches!(refusal, ExecuteError::Limit(_)), "{refusal}");
    let refusal = sandbox.execute_blocking(long.as_str()).unwrap_err();
    assert!(matches!(refusal, ExecuteError::Limit(_)), "{refusal}");
}

/// Uploads with the command line, from a file and from an endless pipe. Bodies of HTTP requests have tests of their
/// own.
fn upload(a: &mut Arena) {
    let large = tempfile::NamedTempFile::new().unwrap();
    large.as_file().set_len(10 << 30).unwrap();
    let (large, root) = (large.path().to_str().unwrap().to_owned(), a.host("").display().to_string());
    let output = isopod(&["fs", "upload", "--dir", &root, &large, "f"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than"), "{output:?}");
    let mut write = isopod(&["fs", "write", "--dir", &root, "f"]);
    let output = write.stdin(File::open("/dev/zero").unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input: more than"), "{output:?}");
    assert!(!a.host("f").exists());
    a.limit(|limits| limits.file = 1 << 20);
    let backend = Isopod::new("i", a.sandbox()).unwrap();
    let answer = arena::tokio().block_on(backend.upload(vec![Upload::new("f", vec![0; (1 << 20) + 1])])).remove(0);
    assert!(matches!(answer, Err(BackendError::TooLarge { .. })), "{answer:?}");
}

fn sparse(a: &mut Arena) {
    File::create(a.host("sparse")).unwrap().set_len(10 << 30).unwrap();
    let sandbox = a.sandbox();
    assert_eq!(sandbox.fs().read("sparse").unwrap_err().errno, Errno::FileTooLarge);
    let backend = Isopod::new("i", sandbox).unwrap();
    arena::tokio().block_on(async {
        let errno = |error: BackendError| error.errno();
        let edit = backend.edit(EditRequest::new("sparse", "a", "b")).await.map_err(errno);
        assert_eq!(edit.unwrap_err(), Some(Errno::FileTooLarge));
        let read = backend.read(ReadRequest::bytes("sparse")).await.map_err(errno);
        assert_eq!(read.unwrap_err(), Some(Errno::FileTooLarge));
        assert!(backend.download(vec!["sparse".into()]).await[0].is_err());
    });
    for command in
        ["sort sparse", "tac sparse", "sed -i s/a/b/ sparse", "x=$(< sparse)", "jq . sparse", "mapfile a < sparse"]
    {
        let output = a.run_for(command, std::time::Duration::from_secs(1));
        assert_ne!(output.exit_code, 0, "{command}");
    }
}

/// Deep nesting in input of the command line and of programs. Bodies of HTTP requests have tests of their own.
fn nesting(a: &mut Arena) {
    let deep = "[".repeat(100_000);
    assert!(Config::parse(&format!("root = {deep}"), "f", []).is_err());
    assert!(Config::parse(&"a.".repeat(100_000), "f", []).is_err());
    let deep = "printf '%0.s[' {1..100000}";
    a.refuses(&format!("{deep} | jq . "), "");
    a.refuses(&format!("{deep} | yq . "), "");
    let laughs = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                  d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
                  g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
    a.run_for(Command::program(["yq", "."]).stdin(laughs), std::time::Duration::from_secs(5));
    #[cfg(feature = "python")]
    a.refuses(&format!("{deep} | python3 -c 'import json, sys; json.load(sys.stdin)'"), "RecursionError");
    // A command from a pipe is a line, even if it looks like JSON.
    let mut shell = isopod(&["shell", "--json"]);
    let line = format!("{}\n", "{\"a\":".repeat(50_000));
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), line).unwrap();
    let output = a.host_command(shell.stdin(input.reopen().unwrap()));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(answer["exit_code"], 0);
}
