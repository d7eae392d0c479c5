//! Layers: the effect of each one, and of several together.

use std::sync::{Arc, Mutex};

use isopod::Command;
use isopod::backend::layer::{
    AllowList, Approval, Audit, AuditSink, Call, ChangeKind, Decision, DenyList, DryRun, Operation, PathMap, Redact,
    WriteQuota,
};
use isopod::backend::{
    Backend, BackendError, Composite, Content, Directory, EditRequest, GlobRequest, GrepRequest, Isopod, Memory,
    Offload, ReadRequest, SandboxBackend, Store, Upload, WriteRequest,
};
use isopod::error::Errno;
use isopod::vfs::Rules;
use isopod::{Limits, Sandbox};
use serde_json::Value;
use tracing_subscriber::util::SubscriberInitExt;

use crate::runtime;

fn isopod() -> Arc<Isopod> {
    Arc::new(Isopod::new("i", Sandbox::builder().build().unwrap()).unwrap())
}

fn memory() -> Arc<Memory> {
    Arc::new(Memory::new(&Limits::default()).unwrap())
}

async fn text(backend: &dyn Backend, path: &str) -> Result<String, BackendError> {
    backend.download(vec![path.to_owned()]).await.remove(0).map(|bytes| String::from_utf8(bytes).unwrap())
}

async fn put(backend: &dyn Backend, path: &str, text: &str) -> Result<(), BackendError> {
    backend.write(WriteRequest::new(path, text.to_owned())).await.map(drop)
}

/// Keeps each audit record.
#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<Vec<u8>>>>);

impl AuditSink for Records {
    fn record(&self, line: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().push(line.to_vec());
        Ok(())
    }
}

impl Records {
    fn parsed(&self) -> Vec<Value> {
        self.0.lock().unwrap().iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

#[test]
fn an_audit_records_intent_and_outcome_of_everything() {
    let records = Records::default();
    let audit = Audit::around(isopod(), records.clone(), "agent 7");
    runtime().block_on(async {
        put(&audit, "/tmp/f", "12345").await.unwrap();
        audit.edit(EditRequest::new("/tmp/f", "1", "22")).await.unwrap();
        audit.read(ReadRequest::lines("/tmp/none", 0, 1)).await.unwrap_err();
        audit.sandbox().unwrap().execute("echo hi; exit 3".into()).await.unwrap();
        let stream = audit.sandbox().unwrap().stream("sleep 9".into()).await.unwrap();
        drop(stream);
        audit.upload(vec![Upload::new("/tmp/a", "x"), Upload::new("/", "y")]).await;
    });
    let found = records.parsed();
    let row = |value: &Value| {
        let word = |name: &str| value[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", word("event"), word("operation"), word("outcome"), value["bytes"])
    };
    assert_eq!(
        found.iter().map(row).collect::<Vec<_>>(),
        [
            "intent write - 5",
            "outcome write ok 5",
            "intent edit - null",
            "outcome edit ok 6",
            "intent read - null",
            "outcome read error null",
            "intent execute - null",
            "outcome execute ok 3",
            "intent execute - null",
            "outcome execute cancelled null",
            "intent upload - 1",
            "outcome upload ok 1",
            "intent upload - 1",
            "outcome upload error null",
        ]
    );
    assert_eq!(found[7]["exit_code"], 3);
    assert_eq!(found[7]["number"], found[6]["number"]);
    assert_eq!(found[5]["error"], "/tmp/none: No such file or directory");
    assert!(found.iter().all(|record| record["actor"] == "agent 7" && record["time_us"].is_u64()));
    assert!(found.iter().filter(|record| record["event"] == "outcome").all(|record| record["duration_us"].is_u64()));
}

/// Keeps the output of a tracing subscriber.
impl std::io::Write for Records {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.record(line).map(|()| line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_records_of_an_audit_are_tracing_events_too() {
    let (records, events) = (Records::default(), Records::default());
    let writer = events.clone();
    let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
    let inner = isopod();
    let (written, traced) = (Audit::around(inner.clone(), records.clone(), "a\n7"), Audit::traced(inner, "t"));
    let _subscribed = subscriber.set_default();
    runtime().block_on(async {
        put(&written, "/tmp/f", "12345").await.unwrap();
        written.read(ReadRequest::lines("/tmp/none", 0, 1)).await.unwrap_err();
        written.sandbox().unwrap().execute("echo hi\nexit 3".into()).await.unwrap();
        traced.glob(GlobRequest::new("*", "/tmp")).await.unwrap();
    });
    let mut expected = records.parsed();
    for record in &mut expected {
        record.as_object_mut().unwrap().remove("time_us");
    }
    let found = events.parsed();
    assert!(found.iter().all(|event| event["target"] == "isopod::audit" && event["level"] == "INFO"));
    let fields: Vec<Value> = found.iter().map(|event| event["fields"].clone()).collect();
    assert_eq!(fields[..6], expected);
    assert_eq!(fields[5]["command"], "echo hi\nexit 3");
    assert_eq!((fields[5]["exit_code"].as_u64(), fields[5]["bytes"].as_u64()), (Some(3), Some(3)));
    assert_eq!((&fields[6]["event"], &fields[6]["pattern"]), (&"intent".into(), &"*".into()));
    assert_eq!((&fields[7]["outcome"], &fields[7]["actor"]), (&"ok".into(), &"t".into()));
}

#[test]
fn attack_88_what_would_forge_a_record_stays_in_its_own() {
    let records = Records::default();
    let audit = Audit::around(isopod(), records.clone(), "a\r\nb");
    runtime().block_on(async {
        let line = "echo x\r\n{\"event\":\"outcome\"}\n\u{2028}";
        audit.sandbox().unwrap().execute(line.into()).await.unwrap();
        let _ = audit.ls("/a\nb").await;
    });
    for record in records.0.lock().unwrap().iter() {
        assert_eq!(record.iter().filter(|byte| **byte == b'\n' || **byte == b'\r').count(), 1);
        assert!(record.ends_with(b"\n"));
    }
    assert_eq!(records.parsed().len(), 4);
}

#[test]
fn attack_100_what_cannot_be_recorded_is_not_done() {
    struct Full;
    impl AuditSink for Full {
        fn record(&self, _line: &[u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
    }
    let inner = memory();
    let audit = Audit::around(inner.clone(), Full, "x");
    runtime().block_on(async {
        assert!(matches!(put(&audit, "/f", "x").await, Err(BackendError::Refused { layer: "audit", .. })));
        assert!(inner.ls("/").await.unwrap().entries.is_empty());
    });
}

#[test]
fn a_write_quota_holds_for_the_sum_and_gives_back_what_failed() {
    let quota = Arc::new(WriteQuota::around(memory(), 100));
    runtime().block_on(async {
        put(&*quota, "/a", &"x".repeat(60)).await.unwrap();
        let refused = put(&*quota, "/b", &"x".repeat(41)).await.unwrap_err();
        assert_eq!(refused.to_string(), "refused by write quota: 60 of 100 bytes are written, 41 more are too many");
        assert!(put(&*quota, "/", &"x".repeat(40)).await.is_err());
        assert_eq!(quota.gate().used(), 60);
        put(&*quota, "/b", &"x".repeat(30)).await.unwrap();
        let bomb = EditRequest::new("/b", "x", "y".repeat(9)).everywhere();
        assert!(matches!(quota.edit(bomb).await, Err(BackendError::TooLarge { .. })));
        assert_eq!(quota.gate().used(), 90);
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                let quota = quota.clone();
                tokio::spawn(async move { put(&*quota, &format!("/p{n}"), "1234").await.is_ok() })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.unwrap());
        }
        assert_eq!((done, quota.gate().used()), (2, 98));
    });
}

#[test]
fn an_approval_is_asked_before_commands_and_changes_only() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let inner = isopod();
    let seen = asked.clone();
    let approval = Approval::around(inner, move |call: &Call| {
        seen.lock().unwrap().push(call.operation);
        match &call.command {
            Some(command) if command.to_shell().contains("rm") => Decision::Deny("no removing".to_owned()),
            _ => Decision::Approve,
        }
    });
    runtime().block_on(async {
        put(&approval, "/tmp/f", "x").await.unwrap();
        approval.ls("/tmp").await.unwrap();
        let sandbox = approval.sandbox().unwrap();
        let denied = sandbox.execute("rm /tmp/f".into()).await.unwrap_err();
        assert_eq!(denied.to_string(), "refused by approval: no removing");
        assert!(sandbox.stream("rm /tmp/f".into()).await.is_err());
        assert!(sandbox.execute_with_offload("rm /tmp/f".into(), Offload::new("/tmp/o", 1)).await.is_err());
        assert_eq!(sandbox.execute("cat /tmp/f".into()).await.unwrap().output, b"x");
    });
    use Operation::{Execute, Write};
    assert_eq!(*asked.lock().unwrap(), [Write, Execute, Execute, Execute, Execute]);
}

#[test]
fn an_approval_can_ask_what_a_command_would_run() {
    let approval = Approval::around(isopod(), |call: &Call| {
        let Some(plan) = call.plan() else { return Decision::Approve };
        let names =
            |program: &str| plan.steps.iter().any(|step| step.program.as_ref().is_some_and(|p| p.text == program));
        match (names("rm"), plan.is_whole()) {
            (true, _) => Decision::Deny("no removing".to_owned()),
            (false, false) => Decision::Deny("it does not say what it runs".to_owned()),
            _ => Decision::Approve,
        }
    });
    runtime().block_on(async {
        put(&approval, "/tmp/f", "x").await.unwrap();
        let sandbox = approval.sandbox().unwrap();
        for (command, answer) in [
            ("echo rm", None),
            ("echo $(env r''m /tmp/f)", Some("no removing")),
            ("x=rm; $x /tmp/f", Some("it does not say what it runs")),
            ("cat <<E | sh\nrm /tmp/f\nE", Some("it does not say what it runs")),
        ] {
            let found = sandbox.execute(command.into()).await.err().map(|error| error.to_string());
            assert_eq!(found, answer.map(|reason| format!("refused by approval: {reason}")), "{command}");
        }
        assert_eq!(text(&approval, "/tmp/f").await.unwrap(), "x");
    });
}

#[test]
fn secrets_are_taken_out_of_everything_that_comes_back() {
    let inner = isopod();
    let redact = Redact::around(inner.clone(), &["sk-[a-z0-9]+", "(?i)password=\\S+"], "[redacted]").unwrap();
    runtime().block_on(async {
        put(&redact, "/tmp/f", "key sk-abc123 end\nPassword=hunter2 x\n").await.unwrap();
        let Content::Text(page) = redact.read(ReadRequest::lines("/tmp/f", 0, 9)).await.unwrap() else { panic!() };
        assert_eq!(page.text, "key [redacted] end\n[redacted] x");
        let grepped = redact.grep(GrepRequest { after: 1, ..GrepRequest::literal("key", "/tmp") }).await.unwrap();
        assert_eq!(grepped.matches[0].text, "key [redacted] end");
        assert_eq!(grepped.matches[0].after, ["[redacted] x"]);
        assert_eq!(text(&redact, "/tmp/f").await.unwrap(), "key [redacted] end\n[redacted] x\n");
        let sandbox = redact.sandbox().unwrap();
        // Secrets in pieces, on both outputs, and in an output whose middle is left out.
        let line = "printf 'a sk-'; printf 'abc123 b\\n'; echo password=x >&2; cat /tmp/f";
        let executed = sandbox.execute(line.into()).await.unwrap();
        let expected = "a [redacted] b\n[redacted]\nkey [redacted] end\n[redacted] x\n";
        assert_eq!(String::from_utf8(executed.output).unwrap(), expected);
        let cut = sandbox.execute(Command::shell("echo sk-abcdefghijklmnop").output_limit(10)).await.unwrap();
        assert!(!String::from_utf8(cut.output).unwrap().contains("sk-"));
        let offload = Offload::new("/tmp/out", 4);
        sandbox.execute_with_offload("echo sk-abc123".into(), offload).await.unwrap();
        assert_eq!(text(&*inner, "/tmp/out").await.unwrap(), "[redacted]\n");
    });
    assert!(Redact::around(memory(), &["("], "").is_err());
}

#[test]
fn a_path_map_shows_other_names_and_nothing_else() {
    let inner = isopod();
    let names = [("/mnt/user-data/workspace", "/workspace"), ("/mnt/skills", "/home/user")];
    let map = PathMap::around(inner.clone(), &names).unwrap();
    runtime().block_on(async {
        put(&map, "/mnt/user-data/workspace/d/f", "text\n").await.unwrap();
        assert_eq!(text(&*inner, "/workspace/d/f").await.unwrap(), "text\n");
        let paths: Vec<String> = map
            .glob(GlobRequest::new("*", "/mnt/user-data/workspace"))
            .await
            .unwrap()
            .matches
            .into_iter()
            .map(|found| found.path)
            .collect();
        assert_eq!(paths, ["/mnt/user-data/workspace/d/f"]);
        let grepped = map.grep(GrepRequest::literal("text", "/mnt/user-data/workspace/d")).await.unwrap();
        assert_eq!(grepped.matches[0].path, "/mnt/user-data/workspace/d/f");
        for path in
            ["/workspace/d/f", "/etc/passwd", "/mnt", "relative", "/mnt/user-data/workspace/../../../etc/passwd"]
        {
            assert_eq!(text(&map, path).await.unwrap_err(), BackendError::file(path, Errno::NoEntry), "{path}");
        }
        let error = map.read(ReadRequest::lines("/mnt/skills/none", 0, 1)).await.unwrap_err();
        assert_eq!(error.to_string(), "/mnt/skills/none: No such file or directory");
        assert_eq!(map.delete("/mnt/user-data/workspace").await.unwrap_err().errno(), Some(Errno::Busy));
        let request = Command::shell("pwd").cwd("/mnt/user-data/workspace/d");
        assert_eq!(map.sandbox().unwrap().execute(request).await.unwrap().output, b"/workspace/d\n");
        let outside = map.sandbox().unwrap().execute(Command::shell("pwd").cwd("/etc")).await.unwrap_err();
        assert_eq!(outside.to_string(), "cannot start in \"/etc\": No such file or directory");
    });
}

#[test]
fn a_deny_list_holds_through_links_and_for_trees() {
    let sandbox = Sandbox::builder().build().unwrap();
    sandbox.fs().create_dir_all("/workspace/secrets/deep").unwrap();
    sandbox.fs().write("/workspace/secrets/deep/key", "SECRET").unwrap();
    sandbox.fs().write("/workspace/.env", "SECRET").unwrap();
    sandbox.fs().write("/workspace/ok", "fine").unwrap();
    sandbox.fs().symlink("secrets/deep/key", "/workspace/link").unwrap();
    let inner: Arc<dyn Backend> = Arc::new(Isopod::new("i", sandbox).unwrap());
    let deny = DenyList::new(&["/workspace/secrets", ".env"]).unwrap().around(inner.clone());
    runtime().block_on(async {
        let is_refused = |answer: Result<String, BackendError>| matches!(answer, Err(BackendError::Refused { .. }));
        for path in [
            "/workspace/secrets/deep/key",
            "/workspace/SECRETS/deep/key",
            "/workspace/link",
            "/workspace/x/../secrets/deep/key",
            "/workspace/.ENV",
            "secrets/deep/key",
        ] {
            let answer = text(&deny, path).await;
            assert!(
                is_refused(answer.clone()) || answer.as_ref().is_err_and(|e| e.errno() == Some(Errno::NoEntry)),
                "{path}: {answer:?}"
            );
        }
        assert!(put(&deny, "/workspace/link", "x").await.is_err());
        assert!(put(&deny, "/workspace/new/.env", "x").await.is_err());
        assert!(deny.delete("/workspace").await.is_err());
        assert_eq!(text(&deny, "/workspace/ok").await.unwrap(), "fine");
        let names: Vec<String> = deny.ls("/workspace").await.unwrap().entries.into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["link", "ok"]);
        assert!(deny.grep(GrepRequest::literal("SECRET", "/workspace")).await.unwrap().matches.is_empty());
        let refused = deny.sandbox().unwrap().execute("cat .env".into()).await.unwrap_err();
        assert_eq!(refused.to_string(), "refused by deny list: commands do not go through lists of paths");
        assert_eq!(text(&*inner, "/workspace/secrets/deep/key").await.unwrap(), "SECRET");

        let allow = AllowList::new(&["/workspace/ok", "/tmp"]).unwrap().with_commands().around(inner.clone());
        assert_eq!(text(&allow, "/workspace/ok").await.unwrap(), "fine");
        put(&allow, "/tmp/a/b", "x").await.unwrap();
        assert!(is_refused(text(&allow, "/workspace/.env").await));
        assert!(is_refused(text(&allow, "/workspace/link").await));
        assert!(allow.sandbox().unwrap().execute("true".into()).await.is_ok());
        let reads = AllowList::new(&["/tmp"]).unwrap().only_writes().around(inner);
        assert_eq!(text(&reads, "/workspace/ok").await.unwrap(), "fine");
        assert!(put(&reads, "/workspace/ok", "x").await.is_err());
    });
}

#[test]
fn attack_100_a_dry_run_changes_nothing_and_tells_what_it_would() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("kept"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(host.path().join("gone"), "bye\n").unwrap();
    std::fs::write(host.path().join("same"), "same\n").unwrap();
    let directory = Directory::open_with(host.path(), &Limits::default(), Rules::none()).unwrap();
    let overlaid = Sandbox::builder().mount_overlay(host.path(), "/workspace").build().unwrap();
    let isopod = Isopod::new("i", overlaid).unwrap();
    let before = crate::subject::fingerprint(host.path());
    runtime().block_on(async {
        for (backend, root) in [(Arc::new(directory) as Arc<dyn Backend>, ""), (Arc::new(isopod), "/workspace")] {
            let dry = DryRun::around(backend.clone()).unwrap();
            let at = |name: &str| format!("{root}/{name}");
            dry.edit(EditRequest::new(at("kept"), "two", "2")).await.unwrap();
            dry.delete(&at("gone")).await.unwrap();
            put(&dry, &at("d/new"), "new\n").await.unwrap();
            put(&dry, &at("same"), "same\n").await.unwrap();
            assert_eq!(text(&dry, &at("kept")).await.unwrap(), "one\n2\nthree\n");
            if let Some(sandbox) = dry.sandbox() {
                let output = sandbox.execute("cat kept; echo 4 >> kept; ls".into()).await.unwrap().output;
                assert_eq!(String::from_utf8(output).unwrap(), "one\n2\nthree\nd\nkept\nsame\n");
            }
            let diff = dry.diff(if root.is_empty() { "/" } else { root }).await.unwrap();
            let rows: Vec<(String, ChangeKind)> =
                diff.changes.iter().map(|change| (change.path.clone(), change.kind)).collect();
            assert_eq!(
                rows,
                [
                    (at("d/new"), ChangeKind::Added),
                    (at("gone"), ChangeKind::Removed),
                    (at("kept"), ChangeKind::Changed)
                ]
            );
            assert!(diff.patch().contains("-two\n+2\n"), "{}", diff.patch());
            assert!(diff.patch().contains("--- /dev/null\n"));
            assert_eq!(text(&*backend, &at("kept")).await.unwrap(), "one\ntwo\nthree\n");
        }
        let mounted = Sandbox::builder().mount(host.path(), "/workspace").build().unwrap();
        let refused = DryRun::around(Arc::new(Isopod::new("i", mounted).unwrap())).err().unwrap();
        assert!(refused.to_string().contains("mount an overlay"), "{refused}");
    });
    assert_eq!(crate::subject::fingerprint(host.path()), before);
}

#[test]
fn a_composite_routes_by_the_longest_prefix_and_shows_one_tree() {
    let (store, notes, rest) = (memory(), memory(), isopod());
    let composite = Composite::new(rest.clone());
    let composite =
        composite.route("/memories", store.clone()).unwrap().route("/memories/notes/", notes.clone()).unwrap();
    runtime().block_on(async {
        put(&composite, "/memories/a.txt", "one\n").await.unwrap();
        put(&composite, "/memories/notes/b.txt", "one\n").await.unwrap();
        put(&composite, "/workspace/c.txt", "one\n").await.unwrap();
        put(&composite, "/memoriesX", "x").await.unwrap();
        assert_eq!(text(&*store, "/a.txt").await.unwrap(), "one\n");
        assert_eq!(text(&*notes, "/b.txt").await.unwrap(), "one\n");
        assert_eq!(text(&*rest, "/memoriesX").await.unwrap(), "x");
        assert_eq!(text(&composite, "/workspace/../memories/a.txt").await.unwrap(), "one\n");
        assert!(text(&composite, "/memories/../../a.txt").await.is_err());
        let names = |listed: isopod::backend::Listed| listed.entries.into_iter().map(|e| e.path).collect::<Vec<_>>();
        assert!(names(composite.ls("/").await.unwrap()).contains(&"/memories".to_owned()));
        assert_eq!(names(composite.ls("/memories").await.unwrap()), ["/memories/a.txt", "/memories/notes"]);
        let found = composite.glob(GlobRequest::new("*.txt", "/")).await.unwrap();
        let paths: Vec<&str> = found.matches.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(paths, ["/memories/a.txt", "/memories/notes/b.txt", "/workspace/c.txt"]);
        let found = composite.grep(GrepRequest::literal("one", "/memories")).await.unwrap();
        assert_eq!(found.matches.len(), 2);
        let error = composite.read(ReadRequest::lines("/memories/none", 0, 1)).await.unwrap_err();
        assert_eq!(error.to_string(), "/memories/none: No such file or directory");
        assert_eq!(composite.delete("/memories").await.unwrap_err().errno(), Some(Errno::Busy));
        let offload = Offload::new("/memories/out", 1);
        composite.execute_with_offload("echo long output".into(), offload).await.unwrap();
        assert_eq!(text(&*store, "/out").await.unwrap(), "long output\n");
    });
    assert!(Composite::new(memory()).route("relative", memory()).is_err());
}

#[test]
fn a_store_keeps_its_files_between_runs_and_is_shared_between_threads() {
    let host = tempfile::tempdir().unwrap();
    let path = host.path().join("memory.redb");
    let mut limits = Limits::default();
    limits.disk = 1000;
    {
        let store = Arc::new(Store::open(&path, &limits).unwrap());
        let tasks: Vec<_> = (0..8)
            .map(|n| {
                let store = store.clone();
                std::thread::spawn(move || {
                    runtime().block_on(async { put(&*store, &format!("/d/f{n}"), "0123456789").await.unwrap() });
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert!(Store::open(&path, &limits).is_err(), "two at once would not know of each other");
    }
    let store = Store::open(&path, &limits).unwrap();
    runtime().block_on(async {
        assert_eq!(store.ls("/d").await.unwrap().entries.len(), 8);
        assert_eq!(text(&store, "/d/f3").await.unwrap(), "0123456789");
        let full = put(&store, "/large", &"x".repeat(921)).await.unwrap_err();
        assert_eq!(full.errno(), Some(Errno::NoSpace));
        put(&store, "/large", &"x".repeat(920)).await.unwrap();
        store.delete("/d").await.unwrap();
        put(&store, "/more", &"x".repeat(80)).await.unwrap();
        assert!(!store.executes());
    });
}
