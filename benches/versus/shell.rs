//! Somewhere that runs a script of the shell's language, and whether it answered rightly.

use std::time::Duration;

use crate::measure::{Contender, Fault, Run};

/// What a script wrote, how it ended and how long it took.
pub struct Answer {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit_code: i32,
    pub time: Duration,
}

/// Somewhere to run scripts in, with the work's files in its working directory.
pub trait Shell {
    fn name(&self) -> &str;
    fn run(&self, script: &str) -> Result<Answer, Fault>;
}

/// The right answer.
#[derive(Clone)]
pub struct Expected {
    pub stdout: Vec<u8>,
    /// A tree is walked in no order.
    pub sorted: bool,
}

impl Expected {
    pub fn text(text: &str) -> Expected {
        Expected { stdout: text.as_bytes().to_vec(), sorted: false }
    }

    /// The time of a right answer.
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

    /// The first line that differs.
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

/// A shell that does a row's work.
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
