//! Growth of cost: the same work at several sizes, by Isopod and natively, and the slope of each in log-log. Isopod's
//! slope uses its processor time, which other processes of the machine do not change.

use std::cell::Cell;
use std::time::Instant;

use isopod::Sandbox;

use crate::field::Field;
use crate::isopod_shells::{NEW, limits};
use crate::many;
use crate::measure::{self, Budget, Contender, Fault, Run};
use crate::options::Options;
use crate::progress::Progress;
use crate::results::{Curve, Line, Outcome};
use crate::shell::{Expected, Shell, contender};
use crate::workspace::{directories, text_bytes, trees};

/// Work of variable size.
pub struct Growth {
    pub name: &'static str,
    of: &'static str,
    sizes: Vec<usize>,
    note: Option<&'static str>,
    work: Work,
}

enum Work {
    /// A script for Isopod and the native shell, which gives the right answer.
    Both(fn(usize) -> String),
    /// A script that the native shell cannot run, and its answer.
    Alone(fn(usize) -> (String, String)),
    /// Concurrent sandboxes.
    Sandboxes,
    /// A fork of a sandbox with this many files.
    Fork,
    /// Files that the embedder writes into a sandbox's memory.
    Written,
}

pub fn all(options: &Options) -> Vec<Growth> {
    let bytes: Vec<usize> =
        [50, 10, 3].map(|part| text_bytes(options) / part).into_iter().chain([text_bytes(options)]).collect();
    let (trees, directories) = (trees(options).to_vec(), directories(options).to_vec());
    let sizes = |full: &[usize]| -> Vec<usize> {
        // A quick run leaves out the largest.
        options.size(full, &full[..full.len() - 1]).to_vec()
    };
    let growth = |name, of, sizes: Vec<usize>, work| Growth { name, of, sizes, note: None, work };
    let both = |name, of, sizes: Vec<usize>, script| growth(name, of, sizes, Work::Both(script));
    vec![
        both("grep -r", "files", trees.clone(), |n| format!("grep -rl needle tree{n} | wc -l")),
        both("find", "files", trees.clone(), |n| format!("find tree{n} -name '*7.txt' | wc -l")),
        both("ls -lR", "files", trees, |n| format!("ls -lR tree{n} | wc -l")),
        both("ls of one directory", "files", directories, |n| format!("ls flat{n} | tail -1")),
        both("make, list and remove files", "files", sizes(&[100, 1000, 4000, 16_000]), |n| {
            format!("d=$(mktemp -d) && cd $d && seq {n} | xargs touch && ls | wc -l && cd / && rm -r $d")
        }),
        Growth {
            note: Some("sorting is n log n"),
            ..both("sort", "bytes", bytes.clone(), |n| format!("head -c {n} text | sort | tail -1"))
        },
        both("sha256sum", "bytes", bytes.clone(), |n| format!("head -c {n} text | sha256sum")),
        both("cat", "bytes", bytes.clone(), |n| format!("head -c {n} text | cat | wc -c")),
        both("three pipes", "bytes", bytes, |n| format!("head -c {n} /dev/zero | cat | cat | wc -c")),
        growth("sandboxes at once", "sandboxes", sizes(&[10, 100, 1000, 10_000]), Work::Sandboxes),
        both("spawn programs", "programs", sizes(&[10, 100, 1000, 5000]), |n| {
            format!("i=0; while [ $i -lt {n} ]; do /bin/true; i=$((i+1)); done; echo $i")
        }),
        both("a shell loop", "steps", sizes(&[1000, 10_000, 100_000, 500_000]), |n| {
            format!("i=0; while [ $i -lt {n} ]; do i=$((i+1)); done; echo $i")
        }),
        growth("fork of a sandbox", "files", sizes(&[1000, 5000, 20_000, 50_000]), Work::Fork),
        Growth {
            note: Some("a walk through a tree for each name"),
            ..growth("write files through the backend", "files", sizes(&[100, 1000, 5000, 20_000]), Work::Written)
        },
        growth(
            "a command of many words",
            "bytes",
            sizes(&[1000, 10_000, 100_000, 900_000]),
            Work::Alone(|n| (format!("set -- {}; echo $#", "word ".repeat(n / 5)), format!("{}\n", n / 5))),
        ),
        growth(
            "a command of many statements",
            "bytes",
            sizes(&[1000, 10_000, 100_000, 900_000]),
            Work::Alone(|n| (format!("{}echo $x", "x=12;".repeat(n / 5)), "12\n".to_owned())),
        ),
        growth(
            "a command with a long here-document",
            "bytes",
            sizes(&[1000, 10_000, 100_000, 900_000]),
            Work::Alone(|n| {
                (format!("wc -c <<'E'\n{}E\n", "a line of\n".repeat(n / 10)), format!("{}\n", n / 10 * 10))
            }),
        ),
        both("append to a variable", "appends", sizes(&[1000, 10_000, 50_000, 200_000]), |n| {
            format!("s=; for ((i=0; i<{n}; i++)); do s+=x; done; echo ${{#s}}")
        }),
        both("fill and walk an array", "elements", sizes(&[1000, 10_000, 50_000, 200_000]), |n| {
            format!("for ((i=0; i<{n}; i++)); do a+=($i); done; for ((i=0; i<{n}; i++)); do ((s+=a[i])); done; echo $s")
        }),
        both("fill an associative array", "elements", sizes(&[1000, 10_000, 50_000, 100_000]), |n| {
            format!("declare -A m; for ((i=0; i<{n}; i++)); do m[k$i]=$i; done; echo ${{#m[@]}} ${{m[k7]}}")
        }),
        both("shift through arguments", "arguments", sizes(&[1000, 10_000, 50_000, 100_000]), |n| {
            format!("set -- $(seq {n}); while [ $# -gt 0 ]; do shift; done; echo $#")
        }),
        both("words of a substitution", "words", sizes(&[1000, 10_000, 50_000, 200_000]), |n| {
            format!("n=0; for w in $(seq {n}); do n=$((n+1)); done; echo $n")
        }),
        both("while read", "lines", sizes(&[1000, 10_000, 50_000, 100_000]), |n| {
            format!("n=0; seq {n} | {{ while read -r l; do n=$((n+1)); done; echo $n; }}")
        }),
    ]
}

/// Measures one curve; each size is a row.
pub fn run(
    growth: &Growth,
    field: &Field<'_>,
    budget: Budget,
    progress: &mut Progress,
) -> Result<Curve, Box<dyn std::error::Error>> {
    progress.row(&format!("growth: {}", growth.name));
    let mut lines: Vec<Line> = Vec::new();
    for size in growth.sizes.iter().copied() {
        let least = Cell::new(f64::MAX);
        let run = |ours: Contender<'_>, theirs: Option<Contender<'_>>| {
            let contenders = std::iter::once(counted(ours, &least)).chain(theirs).collect();
            measure::quietly(budget, progress, contenders)
        };
        let entries = match growth.work {
            Work::Both(script) => {
                let reference = field.reference().ok_or("no native shell to compare with")?;
                let script = script(size);
                let answer = reference.run(&script).map_err(|fault| format!("{fault:?}"))?;
                let expected = Expected { stdout: answer.stdout, sorted: false };
                let theirs = contender(reference, &script, &expected);
                run(contender(&field.warm, &script, &expected), Some(theirs))
            }
            Work::Alone(script) => {
                let (script, answer) = script(size);
                run(contender(&field.warm, &script, &Expected::text(&answer)), None)
            }
            Work::Sandboxes => run(Contender::new(NEW, || many::sandboxes(field.runtime, size)), None),
            Work::Fork => {
                let sandbox = many::large(size)?;
                run(Contender::new("isopod, snapshot and fork", || many::fork(&sandbox)), None)
            }
            Work::Written => run(Contender::new("isopod, the owner's files", || written(size)), None),
        };
        for (number, entry) in entries.into_iter().enumerate() {
            if lines.len() <= number {
                let contender = entry.contender.clone();
                lines.push(Line { contender, points: Vec::new(), cpu: Vec::new(), ended: None });
            }
            let line = &mut lines[number];
            match entry.outcome {
                // The minimum, because noise only adds time, and a slope of medians shows the noise.
                Outcome::Right(sample) => line.points.push((size as f64, sample.min)),
                Outcome::Wrong(why) | Outcome::Unsupported(why) => line.ended = Some(format!("at {size}: {why}")),
            }
        }
        lines[0].cpu.push((size as f64, least.get()));
    }
    Ok(Curve { name: growth.name.to_owned(), of: growth.of, note: growth.note, lines })
}

/// Returns Isopod's contender, which also records the least processor time of this process.
fn counted<'a>(contender: Contender<'a>, least: &'a Cell<f64>) -> Contender<'a> {
    let Contender { name, mut run, .. } = contender;
    Contender::new(name, move || {
        let begin = computed();
        let time = run()?;
        least.set(least.get().min(computed() - begin));
        Ok(time)
    })
}

/// Returns the processor time of this process in seconds, on all its threads.
fn computed() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Writes files into one directory as the embedder.
fn written(files: usize) -> Run {
    let wrong = |error: &dyn std::fmt::Display| Fault::Wrong(error.to_string());
    let sandbox = Sandbox::builder().limits(limits()).build().map_err(|error| wrong(&error))?;
    let (fs, begin) = (sandbox.fs(), Instant::now());
    for number in 0..files {
        fs.write(&format!("f{number}"), "some bytes\n").map_err(|error| wrong(&error))?;
    }
    let time = begin.elapsed();
    match fs.read_dir(".").map_err(|error| wrong(&error))?.len() {
        count if count == files => Ok(time),
        count => Err(Fault::Wrong(format!("{count} of {files} files"))),
    }
}
