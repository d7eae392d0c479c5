//! `isopod fs` as a person uses it: on a sandbox and on a directory, with the same answers.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{CliAnswer, cli, directory, isopod};

/// A sandbox or a directory: the options that select it, and its files on the host.
struct Place {
    _holder: tempfile::TempDir,
    options: Vec<String>,
    files: PathBuf,
    /// The prefix of absolute paths in answers.
    prefix: &'static str,
}

/// Creates a sandbox and a directory with the same files.
fn places(files: &[(&str, &str)]) -> [Place; 2] {
    let holder = directory(files);
    let path = holder.path().to_owned();
    let dir = Place {
        options: vec!["--dir".into(), path.to_str().unwrap().into()],
        files: path,
        prefix: "",
        _holder: holder,
    };
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path().to_str().unwrap().to_owned();
    let id = cli(&["sandbox", "create", "--root", &root]).stdout.trim_end().to_owned();
    let path = holder.path().join(&id).join("files");
    for (name, text) in files {
        std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        std::fs::write(path.join(name), text).unwrap();
    }
    let options = vec!["--root".into(), root, "--sandbox".into(), id];
    [dir, Place { options, files: path, prefix: "/workspace", _holder: holder }]
}

impl Place {
    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let options = self.options.iter().map(String::as_str);
        ["fs"]
            .into_iter()
            .chain(args.iter().copied().take(1))
            .chain(options)
            .chain(args.iter().copied().skip(1))
            .collect()
    }

    fn ask(&self, args: &[&str]) -> CliAnswer {
        cli(&self.args(args))
    }

    /// Returns the standard output of a command that succeeds without a message.
    fn says(&self, args: &[&str]) -> String {
        let answer = self.ask(args);
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{args:?}");
        answer.stdout
    }

    fn json(&self, args: &[&str]) -> Value {
        let text = self.says(&[args, &["--json"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        let mut json = serde_json::from_str(&text).unwrap();
        forget_times(&mut json);
        json
    }

    /// Runs a command with this standard input. Returns its output as bytes.
    fn feed(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = isopod(&self.args(args));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The write fails if the command ends without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.files.join(name)).unwrap()
    }

    /// Asserts a refusal with this exit code and this one line.
    fn refuses(&self, args: &[&str], code: i32, line: &str) {
        let answer = self.ask(args);
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(code)), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.stderr, format!("isopod: {line}\n"), "{args:?}");
    }
}

/// Checks that times are plausible numbers, and removes them from the answer.
fn forget_times(json: &mut Value) {
    for list in ["entries", "matches"] {
        for entry in json[list].as_array_mut().into_iter().flatten() {
            if entry.get("modified_ms").is_some() {
                assert!(entry["modified_ms"].as_u64().unwrap() > 1_600_000_000_000);
                entry.as_object_mut().unwrap().remove("modified_ms");
            }
        }
    }
    if let Value::Object(map) = json {
        map.retain(|name, value| !(value.is_null() && (name == "entries" || name == "matches")));
    }
}

#[test]
fn a_directory_is_listed() {
    for place in places(&[("b.txt", "four"), ("d/inner", ""), (".hidden", "")]) {
        assert_eq!(place.says(&["ls"]), ".hidden\nb.txt\nd/\n");
        assert_eq!(place.says(&["ls", "d"]), "inner\n");
        let path = |name: &str| format!("{}/{name}", place.prefix);
        let json = place.json(&["ls", "d"]);
        let entry = json!({ "name": "inner", "path": path("d/inner"), "kind": "file", "size": 0 });
        assert_eq!(json, json!({ "entries": [entry], "cut": null }));
        assert_eq!(place.json(&["ls"])["entries"][2]["kind"], "directory");
        place.refuses(&["ls", "none"], 1, "none: No such file or directory");
        place.refuses(&["ls", "b.txt"], 1, "b.txt: Not a directory");
    }
}

#[test]
fn a_file_is_read_as_it_is_or_by_lines() {
    for place in places(&[("f", "one\ntwo\nthree\n"), ("empty", ""), ("no-end", "a\nb")]) {
        assert_eq!(place.says(&["read", "f"]), "one\ntwo\nthree\n");
        assert_eq!(place.says(&["read", "no-end"]), "a\nb");
        assert_eq!(place.says(&["read", "f", "--offset", "1", "--limit", "1"]), "two\n");
        assert_eq!(place.says(&["read", "f", "--limit", "2"]), "one\ntwo\n");
        assert_eq!(place.says(&["read", "f", "--limit", "0"]), "");
        assert_eq!(place.says(&["read", "empty", "--limit", "5"]), "");
        place.refuses(&["read", "f", "--offset", "9"], 1, "f: line offset 9 exceeds file length (3 lines)");
        let whole = json!({ "path": "f", "encoding": "utf-8", "content": "one\ntwo\nthree\n", "bytes": 14 });
        assert_eq!(place.json(&["read", "f"]), whole);
        let page = json!({
            "path": "f", "encoding": "utf-8", "content": "one\ntwo", "offset": 0, "lines": 2, "total_lines": 3,
            "next_offset": 2, "is_cut": false,
        });
        assert_eq!(place.json(&["read", "f", "--limit", "2"]), page);
        place.refuses(&["read", "none"], 1, "none: No such file or directory");
        place.refuses(&["read", "."], 1, ".: Is a directory");

        let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
        std::fs::write(place.files.join("bin"), &bytes).unwrap();
        assert_eq!(place.feed(&["read", "bin"], b"").stdout, bytes);
        std::fs::write(place.files.join("bin"), [0, 255, 128]).unwrap();
        let binary = json!({ "path": "bin", "encoding": "base64", "content": "AP+A", "bytes": 3 });
        assert_eq!(place.json(&["read", "bin"]), binary);
        place.refuses(&["read", "bin", "--limit", "1"], 1, "bin: not a text file");
    }
}

#[test]
fn a_file_is_written_from_standard_input_or_from_an_option() {
    for place in places(&[]) {
        let written = place.feed(&["write", "new/deep/f"], b"from input\n");
        assert_eq!((written.status.code(), written.stdout.len(), written.stderr.len()), (Some(0), 0, 0));
        assert_eq!(place.content("new/deep/f"), "from input\n");
        place.says(&["write", "f", "--content", "one"]);
        place.says(&["write", "f", "--content", "+two", "--append"]);
        assert_eq!(place.content("f"), "one+two");
        assert_eq!(place.json(&["write", "f", "--content", "über"]), json!({ "path": "f", "bytes": 5 }));
        place.says(&["write", "f", "--content", ""]);
        assert_eq!(place.content("f"), "");
        place.refuses(&["write", "f", "--create", "--content", "x"], 1, "f: File exists");
        place.refuses(&["write", "new", "--content", "x"], 1, "new: Is a directory");
        assert_eq!(place.feed(&["write", "bin"], &[0, 255, 10]).status.code(), Some(0));
        assert_eq!(std::fs::read(place.files.join("bin")).unwrap(), [0, 255, 10]);
        // No path leads out of the files.
        let out = place.ask(&["write", "../../../../escaped", "--content", "x"]);
        assert!(!place.files.parent().unwrap().join("escaped").exists(), "{}", out.stderr);
    }
}

#[test]
fn an_edit_replaces_what_is_there_once_or_everywhere() {
    for place in places(&[("f", "a-b-a")]) {
        place.refuses(&["edit", "f", "--old", "a", "--new", "x"], 1, "f: the text to replace is there 2 times");
        place.refuses(&["edit", "f", "--old", "z", "--new", "x"], 1, "f: the text to replace is not in the file");
        place.refuses(&["edit", "f", "--old", "", "--new", "x"], 2, "f: the text to replace is empty");
        place.refuses(&["edit", "none", "--old", "a", "--new", "x"], 1, "none: No such file or directory");
        assert_eq!(place.content("f"), "a-b-a");
        assert_eq!(place.says(&["edit", "f", "--old", "-b-", "--new", "--new"]), "");
        assert_eq!(place.content("f"), "a--newa");
        let edited = place.json(&["edit", "f", "--old", "a", "--new", "", "--all"]);
        assert_eq!(edited, json!({ "path": "f", "occurrences": 2, "bytes": 5 }));
        assert_eq!(place.content("f"), "--new");
    }
}

#[test]
fn files_and_trees_are_removed() {
    for place in places(&[("a", ""), ("d/e/f", ""), ("keep", "")]) {
        let answer = place.ask(&["rm", "a", "none", "d", "--json"]);
        let files = json!([
            { "path": "a", "error": null },
            { "path": "none", "error": "none: No such file or directory" },
            { "path": "d", "error": null },
        ]);
        assert_eq!(serde_json::from_str::<Value>(&answer.stdout).unwrap(), json!({ "files": files }));
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(1)));
        place.refuses(&["rm", "a"], 1, "a: No such file or directory");
        assert_eq!(place.says(&["rm", "keep"]), "");
        assert_eq!(std::fs::read_dir(&place.files).unwrap().count(), 0);
    }
}

#[test]
fn names_are_found() {
    for place in places(&[("a.rs", "x"), ("d/b.rs", ""), ("d/c.txt", ""), (".h/x.rs", "")]) {
        let shown = |names: &[&str]| names.iter().map(|name| format!("{}/{name}\n", place.prefix)).collect::<String>();
        assert_eq!(place.says(&["glob", "*.rs"]), shown(&[".h/x.rs", "a.rs", "d/b.rs"]));
        assert_eq!(place.says(&["glob", "d/*.{rs,txt}"]), shown(&["d/b.rs", "d/c.txt"]));
        assert_eq!(place.says(&["glob", "c*", "d"]), shown(&["d/c.txt"]));
        assert_eq!(place.says(&["glob", "d", "--directories"]), shown(&["d"]));
        assert_eq!(place.says(&["glob", "none"]), "");
        let found = json!({ "path": format!("{}/a.rs", place.prefix), "kind": "file", "size": 1 });
        assert_eq!(place.json(&["glob", "a*"]), json!({ "matches": [found], "cut": null }));
        let cut = place.ask(&["glob", "*.rs", "--max", "1"]);
        assert_eq!((cut.stdout.lines().count(), cut.code), (1, Some(0)));
        assert_eq!(cut.stderr, "isopod: there is more than this: count\n");
        assert_eq!(place.json(&["glob", "*.rs", "--max", "1"])["cut"], "count");
        place.refuses(&["glob", "../*"], 2, "pattern \"../*\": `..` is not allowed");
        place.refuses(&["glob", "*", "none"], 1, "none: No such file or directory");
    }
}

#[test]
fn lines_are_found() {
    for place in places(&[("a.rs", "zero\nfn one()\nlast\n"), ("d/b.txt", "FN two\nfn.\n")]) {
        let path = |name: &str| format!("{}/{name}", place.prefix);
        assert_eq!(place.says(&["grep", "fn."]), format!("{}:2:fn.\n", path("d/b.txt")));
        let all = format!("{}:2:fn one()\n{}:1:FN two\n", path("a.rs"), path("d/b.txt"));
        assert_eq!(place.says(&["grep", "fn \\w+", "--regex", "--ignore-case"]), all);
        assert_eq!(place.says(&["grep", "fn", "--include", "*.rs"]), format!("{}:2:fn one()\n", path("a.rs")));
        let context = format!("{0}-1-zero\n{0}:2:fn one()\n{0}-3-last\n--\n", path("a.rs"));
        assert_eq!(place.says(&["grep", "one", "a.rs", "--context", "1"]), context);
        let found = json!({
            "path": path("a.rs"), "line": 2, "text": "fn one()", "before": ["zero"], "after": ["last"],
        });
        assert_eq!(place.json(&["grep", "one", "--context", "1"]), json!({ "matches": [found], "cut": null }));
        place.says(&["write", "dashes", "--content", "--x\n"]);
        assert_eq!(place.says(&["grep", "--", "--x"]), format!("{}:1:--x\n", path("dashes")));
        let none = place.ask(&["grep", "nowhere"]);
        assert_eq!((none.stdout.as_str(), none.stderr.as_str(), none.code), ("", "", Some(1)));
        let none = place.ask(&["grep", "nowhere", "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&none.stdout).unwrap(), json!({ "matches": [], "cut": null }));
        assert_eq!(none.code, Some(1));
        place.refuses(&["grep", "(", "--regex"], 2, "pattern \"(\": unclosed group");
    }
}

#[test]
fn files_go_up_and_down_byte_for_byte() {
    for place in places(&[]) {
        let here = tempfile::tempdir().unwrap();
        let at = |name: &str| here.path().join(name).to_str().unwrap().to_owned();
        let bytes: Vec<u8> = (0..=255).rev().cycle().take(3 << 20).collect();
        std::fs::write(at("one.bin"), &bytes).unwrap();
        std::fs::write(at("two.txt"), "two").unwrap();
        assert_eq!(place.says(&["upload", &at("one.bin"), "deep/copy.bin"]), "");
        assert_eq!(std::fs::read(place.files.join("deep/copy.bin")).unwrap(), bytes);
        assert_eq!(place.says(&["download", "deep/copy.bin", &at("back.bin")]), "");
        assert_eq!(std::fs::read(at("back.bin")).unwrap(), bytes);
        // Several files, into a directory.
        place.says(&["upload", &at("one.bin"), &at("two.txt"), "in"]);
        assert_eq!(place.content("in/two.txt"), "two");
        place.says(&["upload", &at("two.txt"), "alone/"]);
        assert_eq!(place.content("alone/two.txt"), "two");
        place.says(&["download", "in/one.bin", "in/two.txt", &at("out")]);
        assert_eq!(std::fs::read(at("out/one.bin")).unwrap(), bytes);
        place.says(&["download", "in/two.txt", here.path().to_str().unwrap()]);
        // One of two files is missing: the other one is uploaded.
        let answer = place.ask(&["upload", &at("none"), &at("two.txt"), "x/", "--json"]);
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(1)));
        let files = json!([
            { "from": at("none"), "to": "x/none", "bytes": null,
              "error": format!("{}: No such file or directory (os error 2)", at("none")) },
            { "from": at("two.txt"), "to": "x/two.txt", "bytes": 3, "error": null },
        ]);
        assert_eq!(serde_json::from_str::<Value>(&answer.stdout).unwrap(), json!({ "files": files }));
        assert_eq!(place.content("x/two.txt"), "two");
        let answer = place.ask(&["download", "in/none", "in/two.txt", &at("some/")]);
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(1)));
        assert_eq!(answer.stderr, "isopod: in/none: No such file or directory\n");
        assert_eq!(std::fs::read_to_string(at("some/two.txt")).unwrap(), "two");
        // A path that ends in `..` gives no name to the copy.
        place.refuses(&["download", "in/..", &at("some/")], 2, "in/..: has no name to give to the copy");
        place.refuses(&["download", "/", &at("some/")], 2, "/: has no name to give to the copy");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let place = &places(&[])[1];
    let config = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(config.path(), "[limits]\nfile = '1K'\n").unwrap();
    let config = config.path().to_str().unwrap();
    let here = tempfile::tempdir().unwrap();
    let large = here.path().join("large");
    std::fs::write(&large, vec![b'x'; 1025]).unwrap();
    let large = large.to_str().unwrap();
    place.refuses(&["upload", "--config", config, large, "f"], 1, &format!("{large}: more than 1024 bytes"));
    let fed = place.feed(&["write", "--config", config, "f"], &[b'x'; 1025]);
    assert_eq!(String::from_utf8_lossy(&fed.stderr), "isopod: standard input: more than 1024 bytes\n");
    assert_eq!(fed.status.code(), Some(1));
    let fed = place.feed(&["write", "--config", config, "f"], &[b'x'; 1024]);
    assert_eq!(fed.status.code(), Some(0));
}

#[test]
fn whose_files_has_to_be_said_and_to_be_there() {
    let here = directory(&[("file", "x")]);
    let (root, file) = (here.path().to_str().unwrap(), here.path().join("file"));
    let file = file.to_str().unwrap();
    let cases: [(&[&str], i32, String); 4] = [
        (&["ls"], 2, "whose files? --sandbox ID or --dir DIR says".to_owned()),
        (&["ls", "--root", root, "--sandbox", "00000000"], 1, "no such sandbox: 00000000".to_owned()),
        (
            &["ls", "--dir", "/no/such"],
            2,
            "/no/such: directory: cannot be opened: No such file or directory".to_owned(),
        ),
        (&["ls", "--dir", file], 2, format!("{file}: directory: cannot be opened: Not a directory")),
    ];
    for (args, code, line) in cases {
        let answer = cli(&[&["fs"], args].concat());
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(code)), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.starts_with(&format!("isopod: {line}")), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{args:?}: {}", answer.stderr);
    }
    for args in [&["ls", "--dir", root, "--sandbox", "00000000"][..], &["ls", "--sandbox", "../x"], &["nonesuch"]] {
        assert_eq!(cli(&[&["fs"], args].concat()).code, Some(2), "{args:?}");
    }
}

#[test]
fn what_the_host_obeys_is_protected_in_a_directory() {
    let place = &places(&[("README", "x")])[0];
    let answer = place.ask(&["write", ".git/hooks/post-commit", "--content", "evil"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    assert!(answer.stderr.contains("Operation not permitted"), "{}", answer.stderr);
}

#[test]
fn an_answer_that_nobody_reads_is_no_panic() {
    let place = &places(&[("f", "x")])[0];
    for args in [&["read", "f"][..], &["ls"], &["ls", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = isopod(&place.args(args)).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(141), 0), "{args:?}");
    }
}

#[test]
fn help_has_examples_and_fits() {
    for verb in ["", "ls", "read", "write", "edit", "rm", "glob", "grep", "upload", "download"] {
        let verb: Vec<&str> = verb.split_whitespace().collect();
        let answer = cli(&[&["fs"], verb.as_slice(), &["--help"]].concat());
        assert_eq!((answer.stderr.as_str(), answer.code), ("", Some(0)), "{verb:?}");
        assert!(answer.stdout.contains("Example"), "{verb:?}");
        assert!(answer.stdout.contains("isopod fs"), "{verb:?}");
        assert!(answer.stdout.lines().all(|line| line.chars().count() <= 100), "{}", answer.stdout);
    }
}
