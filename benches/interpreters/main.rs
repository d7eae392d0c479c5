//! The promises of the interpreters as ratios: the same programs on Isopod and on the machine's python3 and node,
//! measured in turns in one run.
//!
//! `cargo bench --bench interpreters` runs everything; `-- --quick` takes seconds; `-- --json` prints one object; a
//! word selects the programs whose name contains it, and `python3` or `node` all of one interpreter. The machine's
//! Python starts with -S: without its site directories, as Isopod's does. Programs that compute are also compared with
//! node's interpreter (--jitless): node has a compiler to machine code, which a sandbox without one cannot match.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark"
)]
#![allow(clippy::disallowed_methods, reason = "it compares with the machine")]

#[path = "../common/mod.rs"]
mod common;
mod node;
mod python;

use std::time::Duration;

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Command, Limits, Sandbox};

/// Starting is at least three times faster: the process starts from a memory image, or has little to initialise.
const STARTING: f64 = 3.0;
/// Computing may take three times as long as on a native interpreter.
const COMPUTING: f64 = 1.0 / 3.0;

/// A program and its output.
pub struct Program {
    pub name: &'static str,
    pub text: &'static str,
    pub answer: &'static str,
    /// True if the program spends its time on computing rather than on starting.
    pub computes: bool,
}

const fn starts(name: &'static str, text: &'static str, answer: &'static str) -> Program {
    Program { name, text, answer, computes: false }
}

const fn computes(name: &'static str, text: &'static str, answer: &'static str) -> Program {
    Program { name, text, answer, computes: true }
}

/// An interpreter of Isopod and its counterpart on the machine.
struct Interpreter {
    name: &'static str,
    /// The option before a program's text.
    option: &'static str,
    /// A program that prints the path of the machine's interpreter itself, which may be started by a wrapper script.
    path: &'static str,
    /// Options of the machine's interpreter, one contender each. Programs that compute are compared with the last one.
    native: &'static [&'static str],
    programs: &'static [Program],
}

const INTERPRETERS: [Interpreter; 2] = [
    Interpreter {
        name: "python3",
        option: "-c",
        path: "import sys; print(sys.executable)",
        native: &["-S"],
        programs: python::PROGRAMS,
    },
    Interpreter {
        name: "node",
        option: "-e",
        path: "console.log(process.execPath)",
        native: &["--no-warnings", "--jitless"],
        programs: node::PROGRAMS,
    },
];

fn main() {
    let (plan, mut report, chosen) = common::asked();
    for interpreter in INTERPRETERS {
        let native = interpreter.of_machine();
        if native.is_none() {
            report.left_out(interpreter.name, "it is not installed");
        }
        for program in interpreter.programs {
            let name = format!("{}: {}", interpreter.name, program.name);
            if chosen.is(&name) {
                interpreter.measure(&name, program, native.as_deref(), &plan, &mut report);
            }
        }
    }
    report.finish();
}

impl Interpreter {
    fn of_machine(&self) -> Option<String> {
        let output = std::process::Command::new(self.name).args([self.option, self.path]).output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| path.trim().to_owned())
    }

    fn measure(&self, name: &str, program: &Program, native: Option<&str>, plan: &Plan, report: &mut Report) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let mut limits = Limits::default();
        limits.wall = Duration::from_secs(300);
        let sandbox = Sandbox::builder().limits(limits).build().unwrap();
        let mut contenders = vec![Contender::new("isopod", || {
            // A wrong answer never counts as a fast one.
            let command = Command::program([self.name, self.option, program.text]);
            let output = runtime.block_on(sandbox.execute(command)).unwrap();
            assert_eq!(String::from_utf8_lossy(&output.output), program.answer);
            assert_eq!(output.exit_code, 0);
        })];
        let ways = if program.computes { self.native } else { &self.native[..1] };
        for way in
            native.iter().flat_map(|native| ways.iter().map(move |way| [*native, way, self.option, program.text]))
        {
            let name = format!("{} {}", self.name, way[1]);
            contenders.push(Contender::new(&name, move || host::run(&way, program.answer)));
        }
        let by = if program.computes { COMPUTING } else { STARTING };
        let than = contenders.len() - 1;
        report.add(name, &compare(plan, 20, contenders), native.map(|_| Goal::Faster { by, than }));
    }
}
