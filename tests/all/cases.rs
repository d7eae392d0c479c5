//! Shell and tool cases as data: real bash and GNU tools gave the recorded answers, and Isopod has to give the same.
//!
//! The cases are in `tests/cases/*/*.toml`. With `ISOPOD_ORACLE=1` the recorded answers are also compared with the
//! local bash, so that a case cannot drift from bash.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command as HostCommand, Stdio};

use isopod::{Command, Sandbox};
use serde::Deserialize;

use crate::support::directory;

#[derive(Deserialize)]
struct CaseFile {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    script: String,
    #[serde(default)]
    stdin: String,
    /// Name and content of each file in the working directory.
    #[serde(default)]
    files: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    code: u8,
    /// The reason why real bash answers otherwise, if it does.
    #[serde(default)]
    differs: Option<String>,
}

/// Standard output and exit code of a script.
type Answer = (String, i32);

impl Case {
    fn expected(&self) -> Answer {
        (self.stdout.clone(), self.code.into())
    }

    fn directory(&self) -> tempfile::TempDir {
        let files: Vec<_> = self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        directory(&files)
    }

    fn in_sandbox(&self) -> Answer {
        let host = self.directory();
        let sandbox = Sandbox::builder()
            .mount(host.path(), "/workspace")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", "/tmp");
        let command = Command::shell(self.script.as_str()).stdin(self.stdin.as_str());
        match sandbox.build().unwrap().execute_blocking(command) {
            Ok(output) => (String::from_utf8_lossy(&output.stdout).into_owned(), output.exit_code.into()),
            Err(error) => (error.to_string(), -1),
        }
    }

    fn on_bash(&self) -> Answer {
        let host = self.directory();
        // Signals that the parent of the tests ignores (`nohup` ignores HUP) must not be inherited by the script.
        let mut bash = HostCommand::new("env");
        bash.args(["--default-signal", "bash", "-c", &self.script, "sh"]).current_dir(host.path());
        bash.stdin(Stdio::piped()).stdout(Stdio::piped());
        bash.stderr(Stdio::null()).env_clear().envs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/tmp"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
        ]);
        let mut child = bash.spawn().unwrap();
        // The write fails if the script ends without reading its input.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), self.stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
    }
}

fn case_files(topic: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(topic);
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// Runs every case of a topic and reports all differences at once.
pub(crate) fn run_topic(topic: &str) {
    let oracle = std::env::var_os("ISOPOD_ORACLE").is_some();
    let (mut count, mut report) = (0, String::new());
    for file in case_files(topic) {
        let text = std::fs::read_to_string(&file).unwrap();
        let CaseFile { case } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for case in case {
            count += 1;
            let place = format!("{}: {}", file.file_stem().unwrap().to_string_lossy(), case.name);
            let mut compare = |who: &str, answer: Answer| {
                if answer != case.expected() {
                    writeln!(
                        report,
                        "{place}\n  script   {:?}\n  recorded {:?}\n  {who:<8} {answer:?}",
                        case.script,
                        case.expected()
                    )
                    .unwrap();
                }
            };
            compare("isopod", case.in_sandbox());
            if oracle && case.differs.is_none() {
                compare("bash", case.on_bash());
            }
        }
    }
    println!("{topic}: {count} cases");
    assert!(count > 0, "no cases of {topic}");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn shell_cases_are_answered_as_bash_does() {
    run_topic("shell");
}

#[test]
fn program_cases_are_answered_as_gnu_does() {
    run_topic("programs");
}
