//! `isopod sandbox` as a person uses it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{CliAnswer, cli, cli_answer, isopod};

/// A root directory, and the program's answers about it.
struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Root {
        Root(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn ask(&self, args: &[&str]) -> CliAnswer {
        let root = self.path().join("root");
        cli(&[&["sandbox", "--root", root.to_str().unwrap()], args].concat())
    }

    /// Returns the standard output of a command that succeeds without a message.
    fn says(&self, args: &[&str]) -> String {
        let answer = self.ask(args);
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{args:?}");
        answer.stdout
    }

    fn json(&self, args: &[&str]) -> Value {
        let text = self.says(&[&args[..1], &["--json"], &args[1..]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    fn create(&self) -> String {
        self.says(&["create"]).trim_end().to_owned()
    }

    /// Asserts a refusal with this exit code and this one line.
    fn refuses(&self, args: &[&str], code: i32, line: &str) {
        let answer = self.ask(args);
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(code)), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.stderr, format!("isopod: {line}\n"), "{args:?}");
    }
}

#[test]
fn files_in_the_workspace_last_from_command_to_command() {
    let root = Root::new();
    let id = root.create();
    assert_eq!(id.len(), 8);
    assert_eq!(root.says(&["exec", &id, "--", "echo hello > greeting; echo gone > /tmp/x; pwd"]), "/workspace\n");
    assert_eq!(root.says(&["exec", &id, "--", "cat greeting; ls /tmp"]), "hello\n");
    // Several arguments are a program and its arguments, and no shell expands them.
    assert_eq!(root.says(&["exec", &id, "--", "printf", "%s|", "a  b", "$HOME", "it's", ""]), "a  b|$HOME|it's||");
    let with = ["exec", &id, "--cwd", "/tmp", "--env", "A=b c", "--", "pwd; echo $A"];
    assert_eq!(root.says(&with), "/tmp\nb c\n");
}

#[test]
fn the_exit_code_is_the_command_s_and_125_is_ours() {
    let root = Root::new();
    let id = root.create();
    for (command, code) in [("exit 7", 7), ("false", 1), ("nonesuch", 127), ("kill -9 $$", 137)] {
        assert_eq!(root.ask(&["exec", &id, "--", command]).code, Some(code), "{command}");
    }
    assert_eq!(root.ask(&["exec", &id, "--timeout", "200ms", "--", "sleep 100"]).code, Some(124));
    root.refuses(&["exec", "00000000", "--", "true"], 125, "no such sandbox: 00000000");
    root.refuses(&["exec", &id, "--", ""], 2, "the command is empty");
    root.refuses(&["exec", &id, "--cwd", "/no", "--", "true"], 2, "cannot start in \"/no\": No such file or directory");
}

#[test]
fn json_has_the_whole_answer_of_a_command() {
    let root = Root::new();
    let id = root.create();
    let answer = root.ask(&["exec", &id, "--json", "--", "echo out; echo err >&2; exit 3"]);
    assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(3)));
    let mut json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert!(json["usage"]["wall_ms"].as_f64().unwrap() > 0.0);
    let usage = json["usage"].take();
    assert_eq!(usage["processes"], 1);
    let expected = json!({
        "exit_code": 3, "stdout": "out\n", "stderr": "err\n", "output": "out\nerr\n", "encoding": "utf-8",
        "truncated": false, "timed_out": false, "limits": [], "usage": null,
    });
    assert_eq!(json, expected);
    let cut = root.json(&["exec", &id, "--output", "20", "--", "seq 1 1000"]);
    assert_eq!(
        (&cut["truncated"], &cut["stdout"]),
        (&json!(true), &json!("1\n2\n3\n4\n5\n\n... [3873 bytes left out] ...\n\n999\n1000\n"))
    );
}

#[test]
fn piped_input_reaches_the_command_unless_it_is_refused() {
    let root = Root::new();
    let id = root.create();
    let feed = |option: &[&str]| {
        let place = root.path().join("root");
        let args = [&["sandbox", "--root", place.to_str().unwrap(), "exec", &id], option, &["--", "cat; echo end"]];
        let mut child = isopod(&args.concat()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The write fails if the command ends without reading its input.
        let _ = child.stdin.take().unwrap().write_all(b"typed\n");
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert_eq!(feed(&[]), "typed\nend\n");
    assert_eq!(feed(&["--stdin"]), "typed\nend\n");
    assert_eq!(feed(&["--no-stdin"]), "end\n");
    let open = root.path().join("root");
    let args = ["sandbox", "--root", open.to_str().unwrap(), "exec", &id, "--", "true"];
    // An input that stays open does not keep the command from ending.
    assert_eq!(isopod(&args).stdin(Stdio::piped()).spawn().unwrap().wait().unwrap().code(), Some(0));
}

#[test]
fn several_arguments_are_a_program_and_its_arguments() {
    let root = Root::new();
    let id = root.create();
    assert_eq!(
        root.says(&["exec", &id, "--", "echo", "a  b", "it's", "$HOME", ";", "*", ""]),
        "a  b it's $HOME ; * \n"
    );
    assert_eq!(root.ask(&["exec", &id, "--", "nonesuch", "x"]).code, Some(127));
}

#[test]
fn one_at_a_time_has_a_sandbox_and_ctrl_c_gives_it_back() {
    let root = Root::new();
    let id = root.create();
    let place = root.path().join("root");
    let args = ["sandbox", "--root", place.to_str().unwrap(), "exec", &id, "--", "echo ready; sleep 100"];
    let mut child = isopod(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    root.refuses(&["exec", &id, "--", "true"], 125, &format!("sandbox {id} is in use"));
    root.refuses(&["fork", &id], 1, &format!("sandbox {id} is in use"));
    root.refuses(&["rm", &id], 1, &format!("sandbox {id} is in use"));
    assert_eq!(root.json(&["list"])["sandboxes"][0]["state"], "leased");
    assert!(root.says(&["list"]).starts_with(&format!("{id}  leased")));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(root.says(&["exec", &id, "--", "echo free"]), "free\n");
}

#[test]
fn sandboxes_are_listed_with_what_was_said_about_them() {
    let root = Root::new();
    assert_eq!(root.says(&["list"]), "");
    assert_eq!(root.json(&["list"]), json!({ "sandboxes": [] }));
    let id = root.says(&["create", "--thread", "t 1", "--user", "u", "--meta", "project=web site", "--meta", "b=="]);
    let id = id.trim_end();
    // The same thread gets the same sandbox, with its first metadata.
    let again = root.json(&["create", "--thread", "t 1", "--user", "u", "--meta", "project=other"]);
    assert_eq!((&again["id"], &again["metadata"]["project"]), (&json!(id), &json!("web site")));
    let listed = root.json(&["list"]);
    let mut only = listed["sandboxes"][0].clone();
    assert!(only["created_ms"].as_u64().unwrap() <= only["last_used_ms"].as_u64().unwrap());
    (only["created_ms"], only["last_used_ms"]) = (0.into(), 0.into());
    let expected = json!({
        "id": id, "state": "stored", "thread": "t 1", "user": "u", "created_ms": 0, "last_used_ms": 0,
        "metadata": { "b": "=", "project": "web site" }, "damage": null,
    });
    assert_eq!(only, expected);
    let line = root.says(&["list"]);
    assert!(line.ends_with("s  thread=\"t 1\"  user=\"u\"  b=\"=\"  project=\"web site\"\n"), "{line}");
    // A list longer than one page is printed whole.
    let provider = isopod::provider::Provider::open(isopod::provider::Config::new(root.path().join("root"))).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for n in 0..120 {
            let id = provider.acquire(&format!("{n}"), None).await.unwrap();
            provider.release(id).await.unwrap();
        }
    });
    assert_eq!(root.says(&["list"]).lines().count(), 121);
}

#[test]
fn a_fork_is_a_sandbox_of_its_own() {
    let root = Root::new();
    let id = root.create();
    root.says(&["exec", &id, "--", "mkdir d; echo one > d/f; ln -s d/f l"]);
    let fork = root.says(&["fork", &id, "--meta", "of=first"]);
    let fork = fork.trim_end();
    assert_ne!(fork, id);
    assert_eq!(root.says(&["exec", fork, "--", "cat l; echo two > d/f"]), "one\n");
    assert_eq!(root.says(&["exec", &id, "--", "cat l"]), "one\n");
    assert_eq!(root.json(&["fork", fork])["state"], "stored");
    root.refuses(&["fork", "00000000"], 1, "no such sandbox: 00000000");
}

#[test]
fn a_snapshot_is_one_file_and_the_way_back() {
    let root = Root::new();
    let id = root.create();
    root.says(&["exec", &id, "--", "mkdir d; echo one > d/f; chmod 600 d/f"]);
    let file = root.path().join("saved");
    let file = file.to_str().unwrap();
    let taken = root.json(&["snapshot", &id, file]);
    let bytes = std::fs::metadata(file).unwrap().len();
    let digest = taken["digest"].as_str().unwrap().to_owned();
    assert_eq!(taken, json!({ "id": id, "file": file, "digest": digest, "bytes": bytes }));
    assert_eq!(digest.len(), 64);
    // An existing file is not overwritten. A refused snapshot leaves no file.
    root.refuses(&["snapshot", &id, file], 1, &format!("{file}: File exists (os error 17)"));
    let other = root.path().join("other");
    root.refuses(&["snapshot", "00000000", other.to_str().unwrap()], 1, "no such sandbox: 00000000");
    assert!(!other.exists());
    assert_eq!(root.says(&["snapshot", &id, other.to_str().unwrap()]).trim_end().len(), 64);

    let back = root.says(&["create", "--snapshot", file, "--meta", "from=saved"]);
    assert_eq!(root.says(&["exec", back.trim_end(), "--", "cat d/f; stat -c %a d/f"]), "one\n600\n");
    std::fs::write(file, "nonsense").unwrap();
    let answer = root.ask(&["create", "--snapshot", file]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.starts_with(&format!("isopod: {file}: not a snapshot: ")), "{}", answer.stderr);
}

#[test]
fn removing_says_what_it_did() {
    let root = Root::new();
    let ids = [root.create(), root.create(), root.create()];
    root.says(&["rm", &ids[0]]);
    let answer = root.ask(&["rm", &ids[0], &ids[1], "--json"]);
    let error = format!("no such sandbox: {}", ids[0]);
    let expected = json!({ "removed": [ids[1]], "errors": [{ "id": ids[0], "error": error }] });
    assert_eq!(serde_json::from_str::<Value>(&answer.stdout).unwrap(), expected);
    assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(1)));
    root.refuses(&["rm", &ids[0]], 1, &error);
    assert_eq!(root.says(&["list"]).lines().count(), 1);
}

#[test]
fn an_id_that_is_none_is_2_and_touches_nothing() {
    let root = Root::new();
    let long = "a".repeat(100_000);
    for id in ["../../x", "", "ABCDEF01", "1234567", "١٢٣٤", ".", &long] {
        for args in [&["exec", id, "--", "true"][..], &["rm", id], &["fork", id], &["snapshot", id, "file"]] {
            let answer = root.ask(args);
            assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(2)), "{args:?}");
            assert!(answer.stderr.contains("not the id of a sandbox"), "{args:?}: {}", answer.stderr);
        }
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn where_sandboxes_are_is_said_by_option_variable_file_or_the_user() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("isopod.toml"), format!("root = {:?}\n[limits]\ndisk = '8K'\n", at("in-file"))).unwrap();
    std::fs::write(at("wrong.toml"), "root = '/r'\nlimit = 3\n").unwrap();
    // Arguments, variables, and the directory that is made or the line of the refusal.
    type Case<'a, T> = (&'a [&'a str], &'a [(&'a str, &'a str)], T);
    let (file, home, data) = (at("isopod.toml"), at("home"), at("data"));
    let (option, variable) = (at("option"), at("variable"));
    let cases: [Case<'_, &str>; 6] = [
        (&[], &[("HOME", &home)], "home/.local/share/isopod"),
        (&[], &[("HOME", &home), ("XDG_DATA_HOME", &data)], "data/isopod"),
        (&["--config", &file], &[("HOME", &home)], "in-file"),
        (&[], &[("ISOPOD_CONFIG", &file)], "in-file"),
        (&["--config", &file], &[("ISOPOD_ROOT", &variable)], "variable"),
        (&["--config", &file, "--root", &option], &[("ISOPOD_ROOT", &variable)], "option"),
    ];
    for (args, variables, made) in cases {
        let mut command = isopod(&[&["sandbox", "create"], args].concat());
        let answer = cli_answer({
            command.env_clear().envs(variables.iter().copied());
            command
        });
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{args:?}");
        let id = answer.stdout.trim_end();
        assert!(place.path().join(made).join(id).join("files").is_dir(), "{args:?} {variables:?}");
        std::fs::remove_dir_all(place.path().join(made)).unwrap();
    }
    let refusals: [Case<'_, String>; 4] = [
        (&[], &[], "no root directory: set ISOPOD_ROOT, or root in the configuration file".to_owned()),
        (
            &["--config", &at("wrong.toml")],
            &[],
            format!("{}:2: unknown field `limit`, expected one of", at("wrong.toml")),
        ),
        (&["--config", &at("none.toml")], &[], format!("{}: No such file or directory", at("none.toml"))),
        (&["--root", &at("r")], &[("ISOPOD_TTL", "soon")], "ISOPOD_TTL: expected seconds".to_owned()),
    ];
    for (args, variables, line) in refusals {
        let mut command = isopod(&[&["sandbox", "list"], args].concat());
        let answer = cli_answer({
            command.env_clear().envs(variables.iter().copied());
            command
        });
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(2)), "{args:?}");
        assert!(answer.stderr.starts_with(&format!("isopod: {line}")), "{}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
    // The limits of the configuration file are applied.
    let root = Root::new();
    let id = root.create();
    let answer = root.ask(&["exec", &id, "--config", &file, "--", "head -c 20000 /dev/zero > f"]);
    assert!(answer.stderr.contains("limit exceeded: disk (8 KiB)"), "{}", answer.stderr);
}

#[test]
fn a_root_that_cannot_be_is_125() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let answer = cli(&["sandbox", "list", "--root", file.to_str().unwrap()]);
    assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(125)));
    assert!(answer.stderr.starts_with("isopod: cannot open the root directory: "), "{}", answer.stderr);
    assert_eq!(answer.stderr.lines().count(), 1);
}

#[test]
fn help_has_examples_and_fits() {
    for verb in [&[][..], &["create"], &["list"], &["exec"], &["snapshot"], &["fork"], &["rm"]] {
        let answer = cli(&[&["sandbox"], verb, &["--help"]].concat());
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{verb:?}");
        assert!(answer.stdout.contains("Example"), "{verb:?}");
        assert!(answer.stdout.contains("isopod sandbox"), "{verb:?}");
        assert!(answer.stdout.lines().all(|line| line.chars().count() <= 100), "{}", answer.stdout);
    }
}
