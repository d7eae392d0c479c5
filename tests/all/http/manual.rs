//! Runs the commands of docs/http.md.

use std::process::Command;

use super::client::Server;

#[test]
fn the_commands_of_the_manual_do_what_it_says() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("curl") || !has("jq") {
        println!("left out: there is no curl or no jq");
        return;
    }
    let server = Server::start(&[]);
    let manual = include_str!("../../../docs/http.md");
    let block = manual.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("isopod serve")).collect();
    assert_eq!(lines.len(), block.lines().count() - 1);
    let script = lines.join("\n").replace("127.0.0.1:7070", &server.address);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("README.md"), "# Title\ntext\n").unwrap();
    let output = Command::new("bash").args(["-euc", &script]).current_dir(directory.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let expected = "HELLO\n\n{\"bytes\":13}# Title\nevent: stdout\ndata: {\"text\":\"1\\n2\\n3\\n\"}\n\nevent: exit\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(std::fs::metadata(directory.path().join("files.tar.zst")).unwrap().len() > 100);
    assert_eq!(server.get("/v1/sandboxes").is(200).json()["sandboxes"], serde_json::json!([]));
}
