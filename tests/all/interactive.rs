//! `isopod shell`: a session with a person or a pipe.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{cli_answer, directory, isopod};

fn piped(args: &[&str], input: &str) -> crate::support::CliAnswer {
    let file = directory(&[("input", input)]);
    let mut command = isopod(args);
    command.stdin(File::open(file.path().join("input")).unwrap());
    cli_answer(command)
}

#[test]
fn commands_from_a_pipe_share_a_session() {
    for (input, stdout, code) in [
        ("x=1\ncd /tmp\necho $x $PWD\n", "1 /tmp\n", 0),
        ("for i in 1 2\ndo\n  echo $i\ndone\ncat <<E\nhere\nE\n", "1\n2\nhere\n", 0),
        ("echo a \\\nb\n\n\n# nothing\nfalse\n", "a b\n", 1),
        ("echo one\nexit 7\necho no\n", "one\n", 7),
        ("echo 'unfinished\n", "", 2),
        ("fi\necho on\n", "on\n", 0),
        ("sleep 100 & jobs -r | wc -l", "1\n", 0),
        ("", "", 0),
    ] {
        let answer = piped(&["shell"], input);
        assert_eq!((answer.stdout.as_str(), answer.code), (stdout, Some(code)), "{input}: {}", answer.stderr);
    }
}

#[test]
fn the_options_are_those_of_run() {
    let tree = directory(&[("a", "old\n")]);
    let host = tree.path().to_str().unwrap();
    let answer = piped(&["shell", "--overlay", host, "--commit", "--env", "X=new"], "echo $X > a\ncat a\n");
    assert_eq!((answer.stdout.as_str(), answer.code), ("new\n", Some(0)), "{}", answer.stderr);
    assert_eq!(std::fs::read_to_string(tree.path().join("a")).unwrap(), "new\n");
    let answer = piped(&["shell", "--timeout", "100ms"], "sleep 100\necho still here\n");
    assert_eq!((answer.stdout.as_str(), answer.code), ("still here\n", Some(0)));
    assert_eq!(piped(&["shell", "--dir", "/nowhere/at/all"], "echo\n").code, Some(2));
    assert_eq!(piped(&["shell", "echo hi"], "").code, Some(2));
}

#[test]
fn each_command_is_answered_with_a_line_of_json() {
    let answer = piped(&["shell", "--json"], "x=1\nfor i in a\ndo echo $x $i; echo e >&2; done\n(exit 3)\n");
    let answers: Vec<serde_json::Value> =
        answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts: Vec<_> =
        answers.iter().map(|a| (a["exit_code"].as_i64().unwrap(), a["stdout"].as_str().unwrap())).collect();
    assert_eq!(facts, [(0, ""), (0, "1 a\n"), (3, "")], "{}", answer.stderr);
    assert_eq!((answers[1]["stderr"].as_str(), answer.code), (Some("e\n"), Some(3)));
}

/// A terminal with `isopod shell` on the other side.
struct Terminal {
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
    _state: tempfile::TempDir,
}

impl Terminal {
    fn new() -> Terminal {
        let state = directory(&[]);
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let side = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        let mut command = isopod(&["shell"]);
        command.stdin(side()).stdout(side()).stderr(side());
        command.env("XDG_STATE_HOME", state.path()).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        drop(command);
        let keys = File::from(controller);
        let mut output = keys.try_clone().unwrap();
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the other side of the terminal is closed.
            while let Ok(len @ 1..) = output.read(&mut bytes) {
                if send.send(bytes[..len].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { keys, screen, seen: String::new(), child, _state: state }
    }

    fn type_in(&mut self, text: &str) -> &mut Terminal {
        self.keys.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Waits until this text appears after the text seen last.
    fn shows(&mut self, text: &str) -> &mut Terminal {
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return self;
            }
            match self.screen.recv_timeout(Duration::from_secs(20)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {text:?} in {:?}", self.seen),
            }
        }
    }

    fn ends_with(mut self, code: i32) {
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.seen);
    }
}

#[test]
fn a_person_has_a_prompt_history_completion_and_interrupts() {
    let mut terminal = Terminal::new();
    terminal.shows("isopod:/workspace$ ");
    terminal.type_in("cd /tmp; n=$((40+2))\r").shows("isopod:/tmp$ ");
    terminal.type_in("echo got:$n\r").shows("\r\n").shows("got:42").shows("isopod:/tmp$ ");
    // A command may take several lines.
    terminal.type_in("if true\r").type_in("then echo y''es\r").type_in("fi\r").shows("yes").shows("isopod:/tmp$ ");
    // Arrow up repeats the line before.
    terminal.type_in("echo o''nce\r").shows("once").shows("isopod:/tmp$ ");
    terminal.type_in("\x1b[A\r").shows("\r\n").shows("once").shows("isopod:/tmp$ ");
    // Tab completes a program.
    terminal.type_in("basena\t").shows("basename ").type_in("/x/y''z\r").shows("yz").shows("isopod:/tmp$ ");
    // A running command reads the typed text.
    terminal.type_in("read word; echo \"<$word>\"\r").shows("\r\n");
    terminal.type_in("typed\n").shows("<typed>").shows("isopod:/tmp$ ");
    terminal.type_in("(exit 9)\r").shows("isopod:/tmp$ ").type_in("echo is:$?\r").shows("is:9").shows("isopod:/tmp$ ");
    // SIGINT, the signal of Ctrl-C, ends the command and not the shell.
    terminal.type_in("echo r''eady; sleep 1000; echo n''ever\r").shows("ready");
    let pid = rustix::process::Pid::from_raw(terminal.child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    terminal.shows("isopod:/tmp$ ").type_in("echo after:$?\r").shows("after:130").shows("isopod:/tmp$ ");
    assert!(!terminal.seen.contains("never"));
    terminal.type_in("exit 5\r");
    terminal.ends_with(5);
}

#[test]
fn the_end_of_input_ends_the_shell() {
    let mut terminal = Terminal::new();
    terminal.shows("isopod:/workspace$ ").type_in("false\r").shows("isopod:/workspace$ ").type_in("\x04");
    terminal.ends_with(1);
}
