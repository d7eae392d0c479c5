//! The work that is a script: its text, and the source of the right answer.

use crate::field::Field;
use crate::measure::{self, Budget};
use crate::options::Options;
use crate::programs::BASH;
use crate::progress::Progress;
use crate::results::Row;
use crate::shell::{Expected, Shell, contender};
use crate::workspace::{text_bytes, trees};

pub const LIVE_ECHO: &str = "echo hi, in something live";
pub const NEW_ECHO: &str = "create and echo hi";
pub const SPAWN: &str = "spawn 1,000 programs in a loop";
pub const STEPS: &str = "a shell loop of 100,000 steps";
pub const PIPES: &str = "100 MB through three pipes";
pub const TOOLS: &str = "tools";

/// A script for all contenders with something warm.
pub struct Script {
    pub name: String,
    pub group: &'static str,
    pub text: String,
    /// A script that is compared once, if the output of the measured one does not show its result.
    pub check: Option<String>,
    /// The output, if it is known in advance.
    answer: Option<&'static str>,
    sorted: bool,
}

fn script(group: &'static str, name: impl Into<String>, text: impl Into<String>) -> Script {
    Script { name: name.into(), group, text: text.into(), check: None, answer: None, sorted: false }
}

impl Script {
    fn answers(mut self, answer: &'static str) -> Script {
        self.answer = Some(answer);
        self
    }

    fn check(mut self, check: &str) -> Script {
        self.check = Some(check.to_owned());
        self
    }

    fn sorted(mut self) -> Script {
        self.sorted = true;
        self
    }
}

/// Returns the name of the row that searches a tree.
pub fn grep_name(files: usize) -> String {
    format!("grep -rn over {} files", grouped(files))
}

/// Formats a number with separators.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let mut groups: Vec<&str> = if head > 0 { vec![&digits[..head]] } else { Vec::new() };
    groups.extend((head..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

/// Returns the sizes of the two trees that are rows: the second one and the largest.
pub fn row_trees(options: &Options) -> [usize; 2] {
    let trees = trees(options);
    [trees[1], trees[trees.len() - 1]]
}

pub fn scripts(options: &Options) -> Vec<Script> {
    let mega = text_bytes(options) / 1_000_000;
    let mut scripts = vec![
        script("shell", SPAWN, "i=0; while [ $i -lt 1000 ]; do /bin/true || exit 3; i=$((i+1)); done; echo $i")
            .answers("1000\n"),
        script("shell", STEPS, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i").answers("100000\n"),
        script("shell", "seq 1 200000 | sort -n | tail -1", "seq 1 200000 | sort -n | tail -1").answers("200000\n"),
    ];
    for files in row_trees(options) {
        scripts.push(script("files", grep_name(files), format!("grep -rn needle tree{files}")).sorted());
    }
    let files = row_trees(options)[0];
    let count = format!("find tree{files} -type f | xargs wc | tail -1 | {COLUMNS}");
    scripts.push(script("files", format!("find | xargs wc, {} files", grouped(files)), count));
    scripts.push(script("pipes", PIPES, "head -c 100000000 /dev/zero | cat | cat | wc -c").answers("100000000\n"));
    scripts.extend([
        script(TOOLS, format!("sha256sum, {mega} MB"), "sha256sum text"),
        // The compressed bytes of two programs may differ.
        script(TOOLS, format!("gzip, {mega} MB"), "gzip -c text > /dev/null && echo done")
            .answers("done\n")
            .check("gzip -c text | gzip -dc | sha256sum"),
        script(TOOLS, format!("sort, {mega} MB"), "sort text | tail -1").check("sort text | sha256sum"),
        script(TOOLS, format!("awk sum, {mega} MB"), "awk '{ s += $2 } END { printf \"%.0f\\n\", s }' text"),
        script(TOOLS, format!("sed s///g, {mega} MB"), "sed 's/needle/thread/g' text | tail -1")
            .check("sed 's/needle/thread/g' text | sha256sum"),
        script(TOOLS, format!("grep -c, {mega} MB"), "grep -c 'needle[0-9]* the' text"),
        script(TOOLS, format!("cut, {mega} MB"), "cut -d' ' -f2,3 text | tail -1")
            .check("cut -d' ' -f2,3 text | sha256sum"),
        script(TOOLS, format!("wc, {mega} MB"), format!("wc text | {COLUMNS}")),
        script("python", "python3 starts", "python3 -S -c 'print(1+1)'").answers("2\n"),
        script("python", "python3 computes", PYTHON).answers("1999998\n"),
    ]);
    scripts
}

/// Normalises the width of wc's columns.
const COLUMNS: &str = "awk '{ print $1, $2, $3 }'";

const PYTHON: &str = "python3 -S -c '
t = 0
for i in range(1000000):
    t += i * i % 7
print(t)'";

/// Measures `echo hi`, by contenders with something live or by those that start anew.
pub fn echoes(field: &Field<'_>, budget: Budget, progress: &mut Progress, is_live: bool) -> Row {
    let expected = Expected::text("hi\n");
    let mut shells: Vec<&dyn Shell> = if is_live { field.workers() } else { field.starters() };
    if is_live {
        shells.insert(0, &field.live);
        // The peer of a warm execute is also in this row.
        shells.extend(field.bashkit_new.iter().map(|interpreter| interpreter as &dyn Shell));
    }
    let contenders = shells.into_iter().map(|shell| contender(shell, "echo hi", &expected)).collect();
    measure::row(if is_live { LIVE_ECHO } else { NEW_ECHO }, "start", budget, progress, contenders)
}

/// Measures a script by all contenders with something warm.
pub fn run(script: &Script, field: &Field<'_>, budget: Budget, progress: &mut Progress) -> Result<Row, String> {
    let right = |text: &str| -> Result<Expected, String> {
        let reference = field.reference().ok_or("no native shell to compare with")?;
        match reference.run(text) {
            Ok(answer) if answer.exit_code == 0 => Ok(Expected { stdout: answer.stdout, sorted: script.sorted }),
            Ok(answer) => Err(format!("the native answer is an error: {}", String::from_utf8_lossy(&answer.stderr))),
            Err(fault) => Err(format!("{fault:?}")),
        }
    };
    let expected = script.answer.map_or_else(|| right(&script.text), |answer| Ok(Expected::text(answer)))?;
    let check = script.check.as_ref().map(|text| right(text).map(|expected| (text.as_str(), expected))).transpose()?;
    // bash is compared only where the shell itself does the work.
    let shells =
        field.workers_for(&script.text).into_iter().filter(|shell| script.group == "shell" || shell.name() != BASH);
    let contenders = shells.map(|shell| {
        let measured = contender(shell, &script.text, &expected);
        match &check {
            Some((text, expected)) => measured.checked(move || expected.check(&shell.run(text)?)),
            None => measured,
        }
    });
    Ok(measure::row(&script.name, script.group, budget, progress, contenders.collect()))
}
