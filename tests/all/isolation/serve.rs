//! `isopod serve --isolate process`.

use std::io::Write;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::workers;
use crate::http::client::{Reply, Server, read_reply};
use crate::http::stream::events;
use crate::support::{cli, directory, isopod};
use crate::worker::{children, is_gone, kill};

const ISOLATED: [&str; 2] = ["--isolate", "process"];

/// Starts a server whose sandboxes have processes of their own.
fn server(more: &[&str]) -> Server {
    Server::start(&[&ISOLATED, more].concat())
}

fn execute(server: &Server, at: &str, command: &str) -> Reply {
    server.post(&format!("{at}/execute"), &json!({ "command": command }))
}

fn says(server: &Server, at: &str, command: &str) -> String {
    execute(server, at, command).is(200).json()["stdout"].as_str().unwrap().to_owned()
}

/// Returns a command that waits until a file exists.
fn until(file: &str) -> String {
    format!("while [ ! -e {file} ]; do sleep 0.01; done")
}

#[test]
fn a_crash_takes_down_one_sandbox_and_its_neighbours_run_on() {
    let server = server(&[]);
    let crashing = server.sandbox();
    let neighbour = server.sandbox();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| execute(&server, &neighbour, &format!("echo up > up; {}; echo done", until("go"))));
        says(&server, &neighbour, &until("up"));
        for (signal, number) in [(Signal::ABORT, 6), (Signal::SEGV, 11), (Signal::KILL, 9)] {
            says(&server, &crashing, &format!("rm -f up read; echo {number} > kept"));
            server.post(&format!("{crashing}/sessions"), &json!({ "id": "live" })).is(201);
            let others = workers(server.pid());
            let waiting = scope.spawn(|| execute(&server, &crashing, "echo up > up; sleep 1000"));
            let reading = scope
                .spawn(|| server.post(&format!("{crashing}/stream"), &json!({ "command": "touch read; sleep 1000" })));
            says(&server, &crashing, &format!("{}; {}", until("up"), until("read")));
            // The neighbour has the other worker.
            let worker = others.iter().copied().find(|pid| *pid != of(&server, &neighbour)).unwrap();
            kill(worker, signal);
            let died = format!("worker died: signal {number}");
            let refused = waiting.join().unwrap().refuses(502, "worker_died");
            assert_eq!(refused.json()["error"]["message"], died);
            let all = events(&reading.join().unwrap().is(200).text());
            assert_eq!(all[0], ("stderr".to_owned(), json!({ "text": format!("isopod: {died}\n") })));
            assert_eq!((all[1].0.as_str(), &all[1].1["exit_code"], all.len()), ("exit", &json!(137), 2));
            // The next request finds the files unchanged in a new process, and no sessions.
            server
                .post(&format!("{crashing}/sessions/live/execute"), &json!({ "command": "echo" }))
                .refuses(404, "not_found");
            assert_eq!(says(&server, &crashing, "cat kept"), format!("{number}\n"));
        }
        says(&server, &neighbour, "touch go");
        assert_eq!(busy.join().unwrap().is(200).json()["stdout"], "done\n");
    });
}

/// Returns the worker that holds the lock of a sandbox.
fn of(server: &Server, at: &str) -> u32 {
    let lease = std::fs::canonicalize(server.file(at, "../lease")).unwrap();
    let has = |pid: &u32| {
        let handles = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        handles.filter_map(|handle| std::fs::read_link(handle.ok()?.path()).ok()).any(|file| file == lease)
    };
    workers(server.pid()).into_iter().find(has).unwrap()
}

#[test]
fn sessions_streams_forks_and_snapshots_work_in_processes_of_their_own() {
    let shared = directory(&[("file", "shared\n")]);
    let server = server(&["--dir", &format!("{}:/shared:ro", shared.path().to_str().unwrap())]);
    let at = server.sandbox();
    assert_eq!(says(&server, &at, "cat /shared/file; echo first > file"), "shared\n");
    server.post(&format!("{at}/sessions"), &json!({ "id": "live" })).is(201);
    let run =
        |line: &str| server.post(&format!("{at}/sessions/live/execute"), &json!({ "command": line })).is(200).json();
    run("cd /tmp; x=1");
    assert_eq!(run("echo $PWD $x")["stdout"], "/tmp 1\n");
    assert_eq!(server.get(&format!("{at}/sessions")).is(200).json()["sessions"][0]["cwd"], "/tmp");
    let metrics = server.get("/metrics").is(200).text();
    for line in ["isopod_sandboxes{state=\"leased\"} 1", "isopod_sessions 1", "isopod_workers 1"] {
        assert!(metrics.lines().any(|l| l == line), "{line} is not in\n{metrics}");
    }

    let copy = server.post(&format!("{at}/fork"), &json!({})).is(201).json();
    let copy = format!("/v1/sandboxes/{}", copy["id"].as_str().unwrap());
    assert_eq!(says(&server, &copy, "cat file; echo second > file"), "first\n");
    let snapshot = server.get(&format!("{copy}/snapshot")).is(200).body;
    let loaded = server.ask("POST", "/v1/sandboxes/load", &[], &snapshot).is(201).json();
    let loaded = format!("/v1/sandboxes/{}", loaded["id"].as_str().unwrap());
    assert_eq!(says(&server, &loaded, "cat file"), "second\n");
    assert_eq!(says(&server, &at, "cat file"), "first\n");
    // The temporary worker has ended: one process is left for each of the three sandboxes.
    assert_eq!(workers(server.pid()).len(), 3);

    // A file of the largest size, whole; and a larger one, refused early.
    let large = vec![7; 8 << 20];
    server.ask("PUT", &format!("{at}/files/content?path=large"), &[], &large).is(200);
    assert!(server.get(&format!("{at}/files/content?path=large")).is(200).body == large);
    let more = format!("Content-Length: {}", 1_u64 << 40);
    let mut stream = server.connect();
    server.send(&mut stream, "PUT", &format!("{at}/files/content?path=larger"), &[&more]);
    read_reply(stream).refuses(413, "too_large");

    server.delete(&copy).is(204);
    server.get(&copy).refuses(404, "not_found");
    execute(&server, &copy, "true").refuses(404, "not_found");
    assert_eq!(workers(server.pid()).len(), 2);
}

#[test]
fn an_address_that_is_written_otherwise_leads_to_the_same_worker() {
    let server = server(&[]);
    let at = server.sandbox();
    let (front, id) = at.rsplit_once('/').unwrap();
    let written = format!("{front}/%{:02x}{}", id.as_bytes()[0], &id[1..]);
    assert_eq!(says(&server, &written, "echo here > file; cat file"), "here\n");
    assert_eq!(says(&server, &at, "cat file"), "here\n");
    assert_eq!(workers(server.pid()).len(), 1);
}

#[test]
fn no_more_processes_than_sandboxes_may_be_in_memory() {
    let mut server =
        Server::start(&["--isolate", "process", "--config", config("max_count = 2\n").path().to_str().unwrap()]);
    let (first, second) = (server.sandbox(), server.sandbox());
    says(&server, &first, "echo kept > file");
    // Both are leased, because they were just used.
    server.post("/v1/sandboxes", &json!({})).refuses(503, "overloaded");
    assert_eq!(server.get("/v1/sandboxes").is(200).json()["sandboxes"].as_array().unwrap().len(), 2);
    server.post(&format!("{first}/release"), &json!({})).is(204);
    assert_eq!(server.get(&first).is(200).json()["state"], "warm");
    let third = server.sandbox();
    assert_eq!((says(&server, &third, "echo third"), workers(server.pid()).len()), ("third\n".to_owned(), 2));
    assert_eq!(server.get(&first).is(200).json()["state"], "stored");
    server.post(&format!("{second}/release"), &json!({})).is(204);
    assert_eq!((says(&server, &first, "cat file"), workers(server.pid()).len()), ("kept\n".to_owned(), 2));
    server.called.get_mut().unwrap().clear();
}

fn config(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn unused_workers_end() {
    let settings = config("idle_timeout = \"10ms\"\nlease_timeout = \"10ms\"\n");
    let server = server(&["--config", settings.path().to_str().unwrap()]);
    let at = server.sandbox();
    let worker = workers(server.pid())[0];
    assert!(is_gone(worker));
    assert_eq!(says(&server, &at, "echo again"), "again\n");
}

#[test]
fn kill_9_of_the_server_leaves_no_worker() {
    for script in ["sleep 1000", "while :; do :; done", "yes"] {
        let server = server(&[]);
        let at = server.sandbox();
        let mut stream = server.connect();
        let body = json!({ "command": format!("touch up; {script}") }).to_string();
        let length = format!("Content-Length: {}", body.len());
        server.send(&mut stream, "POST", &format!("{at}/stream"), &["Content-Type: application/json", &length]);
        stream.write_all(body.as_bytes()).unwrap();
        says(&server, &at, &until("up"));
        let (spawner, worker) = (children(server.pid())[0], workers(server.pid())[0]);
        drop(server);
        assert!(is_gone(worker) && is_gone(spawner), "{script}");
    }
}

#[test]
fn a_disconnect_ends_the_command_in_its_worker() {
    let server = server(&["--processes", "2"]);
    let at = server.sandbox();
    for route in ["execute", "stream"] {
        let mut stream = server.connect();
        // The sandbox may have two processes, and both exist when the file does.
        let body = json!({ "command": "sleep 1000 & echo > up; wait" }).to_string();
        let length = format!("Content-Length: {}", body.len());
        server.send(&mut stream, "POST", &format!("{at}/{route}"), &["Content-Type: application/json", &length]);
        stream.write_all(body.as_bytes()).unwrap();
        let began = Instant::now();
        while !server.file(&at, "up").exists() {
            assert!(began.elapsed() < Duration::from_secs(20), "{route}: the command does not start");
            std::thread::yield_now();
        }
        execute(&server, &at, "true").refuses(422, "limit");
        let left = Instant::now();
        drop(stream);
        // A command of two processes can run when both are gone.
        while execute(&server, &at, "sleep 0").json()["exit_code"] != 0 {
            assert!(left.elapsed() < Duration::from_secs(1), "{route}: {:?}", left.elapsed());
        }
        std::fs::remove_file(server.file(&at, "up")).unwrap();
    }
}

#[test]
fn requests_in_work_finish_before_the_server_ends() {
    let server = server(&[]);
    let at = server.sandbox();
    let (worker, go) = (workers(server.pid())[0], server.file(&at, "go"));
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| execute(&server, &at, &format!("touch up; {}; echo done", until("go"))));
        says(&server, &at, &until("up"));
        // As a service manager stops a whole process group.
        for pid in [worker, children(server.pid())[0], server.pid()] {
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid as i32).unwrap(), Signal::TERM).unwrap();
        }
        while std::net::TcpStream::connect(&server.address).is_ok() {}
        std::fs::write(&go, "").unwrap();
        assert_eq!(busy.join().unwrap().is(200).json()["stdout"], "done\n");
    });
    assert_eq!(server.wait(), (Some(0), "isopod: there is no key: only this machine is answered\n".to_owned()));
    assert!(is_gone(worker));
}

#[test]
fn deerflow_s_routes_lead_to_the_worker_too() {
    let server = server(&[]);
    let made = server.post("/api/sandboxes", &json!({ "sandbox_id": "one" })).is(200).json();
    let url = made["sandbox_url"].as_str().unwrap();
    let at = &url[url.find("/s/").unwrap()..];
    let run = |line: &str| server.post(&format!("{at}/v1/shell/exec"), &json!({ "command": line }));
    assert_eq!(run("echo kept > /mnt/user-data/workspace/file; x=5; echo $x").is(200).json()["data"]["output"], "5\n");
    assert_eq!(run("echo $x").is(200).json()["data"]["output"], "5\n");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run("touch /workspace/up; sleep 1000"));
        let id = at.strip_prefix("/s/").unwrap();
        let sandbox = format!("/v1/sandboxes/{id}");
        says(&server, &sandbox, &until("up"));
        kill(workers(server.pid())[0], Signal::ABORT);
        let refused = waiting.join().unwrap().is(502).json();
        // A refusal in the shape of the AIO interface.
        assert_eq!((&refused["success"], &refused["message"]), (&json!(false), &json!("worker died: signal 6")));
    });
    assert_eq!(run("cat /mnt/user-data/workspace/file").is(200).json()["data"]["output"], "kept\n");
    server.delete("/api/sandboxes/one").is(200);
    assert_eq!(server.get("/api/sandboxes").is(200).json()["count"], 0);
    assert!(workers(server.pid()).is_empty());
}

#[cfg(feature = "wall")]
#[test]
fn the_server_and_its_workers_are_walled() {
    let own = crate::support::filters(std::process::id());
    for (wall, is_walled) in [("best-effort", true), ("off", false)] {
        let server = server(&["--wall", wall]);
        server.sandbox();
        for pid in [server.pid(), workers(server.pid())[0]] {
            assert_eq!(crate::support::filters(pid) > own, is_walled, "{wall}");
        }
    }
}

#[test]
fn isolation_is_an_option_a_variable_or_a_setting() {
    let count = |server: &Server| {
        server.sandbox();
        children(server.pid()).len()
    };
    let (yes, no) = (config("isolate = \"process\"\n"), config("isolate = \"none\"\n"));
    assert_eq!(count(&Server::start(&["--config", yes.path().to_str().unwrap()])), 1);
    if std::env::var_os("ISOPOD_ISOLATE").is_none() {
        assert_eq!(count(&Server::start(&["--config", no.path().to_str().unwrap()])), 0);
    }
    let mut wrong = isopod(&["serve"]);
    wrong.env("ISOPOD_ISOLATE", "thread");
    let answer = crate::support::cli_answer(wrong);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.starts_with("isopod: ISOPOD_ISOLATE: "), "{}", answer.stderr);
    assert_eq!(cli(&["serve", "--isolate", "thread"]).code, Some(2));
    let by_hand = cli(&["worker", "spawner"]);
    assert_eq!(by_hand.code, Some(2));
    assert!(by_hand.stderr.starts_with("isopod: a spawner is started by a server: "), "{}", by_hand.stderr);
}
