//! Keys, host names, and the options of a server.

use super::client::{KEY, Server};
use crate::support::{cli, directory};

#[test]
fn a_wrong_key_is_401_whatever_is_asked() {
    let server = Server::locked(&[]);
    let wrong = ["Authorization: Bearer wrong", "Authorization: ", "Authorization: Basic x", "Authorization: Bearer "];
    for path in ["/v1/sandboxes", "/metrics", "/none", "/api/sandboxes", "/s/00000000/v1/sandbox"] {
        for line in wrong {
            let reply = server.ask("GET", path, &[line], b"").refuses(401, "unauthorized");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
        let half = format!("Authorization: Bearer {}", &KEY[..KEY.len() - 1]);
        server.ask("GET", path, &[&half], b"").refuses(401, "unauthorized");
    }
    for path in ["/health", "/openapi.json"] {
        server.ask("GET", path, &["Authorization: "], b"").is(200);
    }
    server.get("/v1/sandboxes").is(200);
    let own = format!("X-API-Key: {KEY}");
    server.ask("GET", "/v1/sandboxes", &["Authorization: ", &own], b"").is(200);
    // With a key, every host name is accepted.
    server.ask("GET", "/v1/sandboxes", &["Host: sandbox.example.com"], b"").is(200);
}

#[test]
fn without_a_key_only_this_machine_is_answered() {
    let answer = cli(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(answer.code, Some(2));
    let line =
        "isopod: 0.0.0.0:0 is not loopback, and there is no key: name one with --api-key-file or ISOPOD_API_KEY\n";
    assert_eq!(answer.stderr, line);

    let server = Server::start(&["--public-url", "https://sandbox.example.com"]);
    for host in ["evil.example.com", "127.0.0.1.example.com", "169.254.169.254", "localhost.example.com:80"] {
        server.ask("GET", "/v1/sandboxes", &[&format!("Host: {host}")], b"").refuses(403, "forbidden");
    }
    for origin in ["http://evil.example.com", "null"] {
        server.ask("GET", "/v1/sandboxes", &[&format!("Origin: {origin}")], b"").refuses(403, "forbidden");
    }
    for line in ["Host: 127.0.0.1:1", "Host: [::1]:7070", "Host: sandbox.example.com", "Origin: http://localhost:3000"]
    {
        server.ask("GET", "/v1/sandboxes", &[line], b"").is(200);
    }
    // A web page can send a form without a preflight request.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let line = format!("Content-Type: {kind}");
        server.ask("POST", "/v1/sandboxes", &[&line], b"{}").refuses(415, "unsupported_media_type");
    }
}

#[test]
fn a_key_comes_from_a_file_and_a_fault_is_one_line() {
    let files = directory(&[("short", "abc"), ("bad", "0123456789abcdef ghi"), ("good", "0123456789abcdef\n")]);
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    for (name, why) in [
        ("short", "a key has at least 16 characters"),
        ("bad", "a key is made of visible ASCII characters"),
        ("none", "No such file or directory (os error 2)"),
    ] {
        let answer = cli(&["serve", "--api-key-file", &path(name)]);
        assert_eq!((answer.stderr, answer.code), (format!("isopod: {}: {why}\n", path(name)), Some(2)));
    }
    let server = Server::start(&["--api-key-file", &path("good")]);
    server.get("/v1/sandboxes").refuses(401, "unauthorized");
    server.ask("GET", "/v1/sandboxes", &["X-API-Key: 0123456789abcdef"], b"").is(200);
}

#[test]
fn invalid_options_are_refused_at_the_start() {
    for (args, why) in [
        (&["--dir", "."][..], "isopod: .: /workspace is a sandbox's own, say where: HOST:/GUEST\n"),
        (&["--cwd", "/tmp"], "isopod: --cwd is for one command, not for sandboxes that last\n"),
    ] {
        let answer = cli(&[&["serve"], args].concat());
        assert_eq!((answer.stderr.as_str(), answer.code), (why, Some(2)));
    }
    for args in [["--public-url", "example.com"], ["--max-requests", "0"], ["--listen", "nowhere"], ["--grace", "x"]] {
        assert_eq!(cli(&["serve", args[0], args[1]]).code, Some(2), "{args:?}");
    }
}

#[test]
fn mounts_and_limits_are_those_of_every_sandbox() {
    let skills = directory(&[("s.md", "skill\n")]);
    let mount = format!("{}:/mnt/skills:ro", skills.path().display());
    let server = Server::start(&["--dir", &mount, "--env", "X=1", "--timeout", "300ms", "--deny-programs", "seq"]);
    let at = server.sandbox();
    let run = |command: &str| {
        server.post(&format!("{at}/execute"), &serde_json::json!({ "command": command })).is(200).json()
    };
    assert_eq!(run("cat /mnt/skills/s.md; echo $X")["stdout"], "skill\n1\n");
    assert_ne!(run("echo > /mnt/skills/x")["exit_code"], 0);
    assert_eq!(run("sleep 9")["exit_code"], 124);
    assert_eq!(run("seq 1")["exit_code"], 126);
}

#[cfg(feature = "wall")]
#[test]
fn the_server_stands_behind_a_wall_unless_it_is_told_otherwise() {
    use crate::support::filters;
    let own = filters(std::process::id());
    for (options, is_walled) in [(&[][..], true), (&["--wall", "off"], false)] {
        let server = Server::start(options);
        assert_eq!(filters(server.pid()) > own, is_walled, "{options:?}");
        let command = serde_json::json!({ "command": "echo ok > f; cat f" });
        let answer = server.post(&format!("{}/execute", server.sandbox()), &command);
        assert_eq!(answer.is(200).json()["stdout"], "ok\n");
    }
}
