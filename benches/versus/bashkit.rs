//! bashkit, through the program of `benches/peers`, which measures its own calls.

#![allow(clippy::disallowed_methods, reason = "the host's side of the comparison")]

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::measure::{Fault, Run};
use crate::shell::{Answer, Shell};

pub const LIVE: &str = "bashkit, live";
pub const NEW: &str = "bashkit, new";
/// The peer gives up after 20 seconds; if it does not, it is killed.
const PATIENCE: Duration = Duration::from_secs(25);

/// The peer's process, which is restarted after a kill.
pub struct Peer {
    program: PathBuf,
    directory: PathBuf,
    process: RefCell<Option<Process>>,
}

struct Process {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Peer {
    pub fn start(program: &Path, directory: &Path) -> Result<Rc<Peer>, String> {
        let peer = Peer { program: program.to_owned(), directory: directory.to_owned(), process: RefCell::new(None) };
        match peer.ask(&json!({ "command": "echo hi" })) {
            Ok(answer) if answer["stdout"] == "hi\n" => Ok(Rc::new(peer)),
            Ok(answer) => Err(format!("it answers {answer}")),
            Err(Fault::Wrong(why) | Fault::Unsupported(why)) => Err(why),
        }
    }

    pub fn ask(&self, request: &Value) -> Result<Value, Fault> {
        let mut process = self.process.borrow_mut();
        let running = match process.as_mut() {
            Some(running) => running,
            None => process.insert(
                Process::start(&self.program, &self.directory)
                    .map_err(|why| Fault::Unsupported(format!("{why}; `benches/versus/all` builds it")))?,
            ),
        };
        let sent = writeln!(running.stdin, "{request}");
        let answer = sent.ok().and_then(|()| running.answers.recv_timeout(PATIENCE).ok());
        match answer.and_then(|line| serde_json::from_str(&line).ok()) {
            Some(answer) => Ok(answer),
            None => {
                *process = None;
                Err(Fault::Wrong(format!("no answer within {} s", PATIENCE.as_secs())))
            }
        }
    }

    /// Returns the time of a request as the peer measured it.
    pub fn time(&self, request: &Value, is_right: impl Fn(&Value) -> bool) -> Run {
        let answer = self.ask(request)?;
        match answer["nanos"].as_u64() {
            Some(nanos) if is_right(&answer) => Ok(Duration::from_nanos(nanos)),
            _ => Err(Fault::Wrong(answer.to_string().chars().take(100).collect())),
        }
    }
}

impl Process {
    fn start(program: &Path, directory: &Path) -> std::io::Result<Process> {
        let mut command = Command::new(program);
        command.arg(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("no pipe");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Process { child, stdin, answers })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The peer as a shell: one interpreter for all scripts, or one per script.
pub struct Interpreter {
    pub peer: Rc<Peer>,
    pub is_new: bool,
}

impl Shell for Interpreter {
    fn name(&self) -> &str {
        if self.is_new { NEW } else { LIVE }
    }

    fn run(&self, script: &str) -> Result<Answer, Fault> {
        let answer = self.peer.ask(&json!({ "command": script, "new": self.is_new }))?;
        let text = |name: &str| answer[name].as_str().unwrap_or_default().as_bytes().to_vec();
        match (&answer["error"], answer["nanos"].as_u64()) {
            (Value::Null, Some(nanos)) => Ok(Answer {
                stdout: text("stdout"),
                stderr: text("stderr"),
                exit_code: answer["exit_code"].as_i64().unwrap_or(-1) as i32,
                time: Duration::from_nanos(nanos),
            }),
            (error, _) => Err(Fault::Wrong(error.as_str().unwrap_or("no answer").to_owned())),
        }
    }
}
