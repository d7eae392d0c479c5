//! `comm`: two sorted files, compared line by line.

use std::cmp::Ordering;

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::Errno;

use crate::lines::{Lines, complain};

/// `comm`.
pub(crate) const PROGRAM: Program = Program {
    name: "comm",
    operands: &["[OPTION]... FILE1 FILE2"],
    about: "Compare sorted files FILE1 and FILE2 line by line.  When FILE1 or FILE2 is -, read standard input.\n\
            With no options, produce three-column output: lines unique to FILE1, to FILE2, and common to both.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('1', "1", "suppress column 1 (lines unique to FILE1)"),
        Opt::letter('2', "2", "suppress column 2 (lines unique to FILE2)"),
        Opt::letter('3', "3", "suppress column 3 (lines that appear in both files)"),
        Opt::long("check-order", "check that the input is correctly sorted, even if all input lines are pairable"),
        Opt::long("nocheck-order", "do not check that the input is correctly sorted"),
        Opt::long("output-delimiter", "separate columns with STR").takes("STR"),
        Opt::long("total", "output a summary"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The check of the inputs' order.
#[derive(Clone, Copy, PartialEq)]
enum Check {
    /// An error only if a line had no partner.
    Unpairable,
    Always,
    Never,
}

/// One of the two files: its current line and the one before it.
struct Side<'a> {
    path: &'a str,
    lines: Lines,
    line: Option<Vec<u8>>,
    complained: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    let [first, second, ..] = call.operands.as_slice() else {
        return Err(match call.operands.first() {
            None => call.misused("missing operand"),
            Some(only) => call.misused(&format!("missing operand after {}", isopod_gnu::quote::plain(only))),
        });
    };
    call.at_most(2)?;
    let end = if call.has("zero-terminated") { 0 } else { b'\n' };
    let check = match call.options.iter().rev().find(|found| found.option.ends_with("check-order")) {
        Some(found) if found.option == "check-order" => Check::Always,
        Some(_) => Check::Never,
        None => Check::Unpairable,
    };
    let delimiter = match call.value("output-delimiter") {
        None => b"\t".to_vec(),
        Some("") => vec![0],
        Some(text) => text.as_bytes().to_vec(),
    };
    let open = |path: &'_ str| Lines::open(path, end).map_err(|errno| complain(call, path, errno));
    let mut sides = [
        Side { path: first, lines: open(first)?, line: None, complained: false },
        Side { path: second, lines: open(second)?, line: None, complained: false },
    ];
    let mut job = Comm { call, end, check, delimiter, counts: [0; 3], unpairable: false, code: 0, out: Out::new() };
    let result = job.compare(&mut sides);
    job.total();
    let Comm { out, mut code, .. } = job;
    match result {
        Ok(()) => {
            if sides.iter().any(|side| side.complained) {
                if check != Check::Always {
                    call.complain("input is not in sorted order");
                }
                code = 1;
            }
        }
        Err(Stop::Disorder) => code = 1,
        Err(Stop::Unread(side, errno)) => {
            code = complain(call, sides[side].path, errno);
        }
    }
    Ok(call.finish(out, code))
}

/// The reason why a comparison ends early.
enum Stop {
    Disorder,
    Unread(usize, Errno),
}

struct Comm<'a> {
    call: &'a Call,
    end: u8,
    check: Check,
    delimiter: Vec<u8>,
    counts: [u64; 3],
    /// A line was seen that only one file has.
    unpairable: bool,
    code: u8,
    out: Out,
}

impl Comm<'_> {
    fn compare(&mut self, sides: &mut [Side; 2]) -> Result<(), Stop> {
        for side in 0..2 {
            self.advance(sides, side)?;
        }
        loop {
            let order = match (&sides[0].line, &sides[1].line) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.cmp(b),
            };
            let column = match order {
                Ordering::Less => 0,
                Ordering::Greater => 1,
                Ordering::Equal => 2,
            };
            self.unpairable |= column < 2;
            self.counts[column] += 1;
            self.print(column, sides[usize::from(column == 1)].line.as_deref().unwrap_or_default());
            if order != Ordering::Greater {
                self.advance(sides, 0)?;
            }
            if order != Ordering::Less {
                self.advance(sides, 1)?;
            }
            if self.out.has_failed() {
                return Ok(());
            }
        }
    }

    fn advance(&mut self, sides: &mut [Side; 2], index: usize) -> Result<(), Stop> {
        let side = &mut sides[index];
        let next = side.lines.next().map_err(|errno| Stop::Unread(index, errno))?;
        let Some(next) = next else {
            side.line = None;
            return Ok(());
        };
        let checked = self.check == Check::Always || (self.check == Check::Unpairable && self.unpairable);
        if checked && !side.complained && side.line.as_deref().is_some_and(|line| line > next) {
            side.complained = true;
            self.call.complain(&format!("file {} is not in sorted order", index + 1));
            if self.check == Check::Always {
                return Err(Stop::Disorder);
            }
        }
        match &mut side.line {
            Some(line) => {
                line.clear();
                line.extend_from_slice(next);
            }
            None => side.line = Some(next.to_vec()),
        }
        Ok(())
    }

    fn print(&mut self, column: usize, line: &[u8]) {
        let hidden = ["1", "2", "3"].map(|option| self.call.has(option));
        if hidden[column] {
            return;
        }
        for _ in hidden[..column].iter().filter(|hidden| !**hidden) {
            self.out.push(&self.delimiter);
        }
        self.out.push(line);
        self.out.byte(self.end);
    }

    fn total(&mut self) {
        if self.call.has("total") {
            for count in self.counts {
                self.out.push(count.to_string().as_bytes());
                self.out.push(&self.delimiter);
            }
            self.out.push(b"total");
            self.out.byte(self.end);
        }
    }
}
