//! The interface to run a shell script, and the check of its answer.

use std::time::Duration;

use crate::measure::{Contender, Fault, Run};

/// The output, exit code and time of a script.
pub struct Answer {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit_code: i32,
    pub time: Duration,
}

/// A place to run scripts in, with the files in its working directory.
pub trait Shell {
    fn name(&self) -> &str;
    fn run(&self, script: &str) -> Result<Answer, Fault>;
}

/// The right answer.
#[derive(Clone)]
pub struct Expected {
    pub stdout: Vec<u8>,
    /// True if the order of lines is arbitrary, as in a walk of a tree.
    pub sorted: bool,
}

impl Expected {
    pub fn text(text: &str) -> Expected {
        Expected { stdout: text.as_bytes().to_vec(), sorted: false }
    }

    /// Returns the time of an answer if it is right.
    pub fn check(&self, answer: &Answer) -> Run {
        if answer.exit_code == 0 && self.is(&answer.stdout) {
            return Ok(answer.time);
        }
        let complaint = first_line(&answer.stderr);
        if matches!(answer.exit_code, 126 | 127) {
            return Err(Fault::Unsupported(complaint.unwrap_or_else(|| format!("exit code {}", answer.exit_code))));
        }
        if answer.exit_code != 0 {
            let complaint = complaint.map(|line| format!(": {line}")).unwrap_or_default();
            return Err(Fault::Wrong(format!("exit code {}{complaint}", answer.exit_code)));
        }
        Err(Fault::Wrong(self.difference(&answer.stdout)))
    }

    fn is(&self, stdout: &[u8]) -> bool {
        stdout == self.stdout || (self.sorted && lines(stdout, true) == lines(&self.stdout, true))
    }

    /// Describes the first line that differs.
    fn difference(&self, stdout: &[u8]) -> String {
        let (is, should) = (lines(stdout, self.sorted), lines(&self.stdout, self.sorted));
        let at = is.iter().zip(&should).take_while(|(is, should)| is == should).count();
        let show = |lines: &[&[u8]]| {
            lines.get(at).map_or("nothing".to_owned(), |line| {
                format!("{:?}", String::from_utf8_lossy(line).chars().take(60).collect::<String>())
            })
        };
        format!("line {}: {} instead of {}", at + 1, show(&is), show(&should))
    }
}

/// Returns a contender that runs a script in a shell.
pub fn contender<'a>(shell: &'a dyn Shell, script: &'a str, expected: &'a Expected) -> Contender<'a> {
    Contender::new(shell.name(), move || expected.check(&shell.run(script)?))
}

fn lines(text: &[u8], sorted: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if sorted {
        lines.sort_unstable();
    }
    lines
}

fn first_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().next()?;
    Some(line.chars().filter(|character| !character.is_control()).take(100).collect())
}
