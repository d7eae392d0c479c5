//! `join`: joins lines of two sorted files on a common field.

mod options;
mod record;

use std::cmp::Ordering;

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::{Errno, text};

use crate::lines::{Lines, complain};
use options::{Check, Field, Settings};
use record::Record;

/// `join`.
pub(crate) const PROGRAM: Program = Program {
    name: "join",
    operands: &["[OPTION]... FILE1 FILE2"],
    about: "For each pair of input lines with identical join fields, write a line to standard output.\n\
            The default join field is the first, delimited by blanks.  When FILE1 or FILE2 is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('a', "a", "also print unpairable lines from file FILENUM").takes("FILENUM"),
        Opt::letter('e', "e", "replace missing input fields with EMPTY").takes("EMPTY"),
        Opt::flag('i', "ignore-case", "ignore differences in case when comparing fields"),
        Opt::letter('j', "j", "equivalent to '-1 FIELD -2 FIELD'").takes("FIELD"),
        Opt::letter('o', "o", "obey FORMAT while constructing output line").takes("FORMAT"),
        Opt::letter('t', "t", "use CHAR as input and output field separator").takes("CHAR"),
        Opt::letter('v', "v", "like -a FILENUM, but suppress joined output lines").takes("FILENUM"),
        Opt::letter('1', "1", "join on this FIELD of file 1").takes("FIELD"),
        Opt::letter('2', "2", "join on this FIELD of file 2").takes("FIELD"),
        Opt::long("check-order", "check that the input is correctly sorted"),
        Opt::long("nocheck-order", "do not check that the input is correctly sorted"),
        Opt::long("header", "treat the first line in each file as field headers"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let [first, second] = call.operands.as_slice() else {
        return Err(match call.operands.as_slice() {
            [] => call.misused("missing operand"),
            [only] => call.misused(&format!("missing operand after {}", isopod_gnu::quote::plain(only))),
            [_, _, extra, ..] => call.misused(&format!("extra operand {}", isopod_gnu::quote::plain(extra))),
            [_, _] => 1,
        });
    };
    if first == "-" && second == "-" {
        return Err(call.failed("both files cannot be standard input"));
    }
    let open = |path: &str| Lines::open(path, settings.end).map_err(|errno| complain(call, path, errno));
    let sides = [Side::new(first, open(first)?), Side::new(second, open(second)?)];
    let mut join = Join { call, settings, sides, seen_unpairable: false, format: None, out: Out::new() };
    let code = match join.run() {
        Ok(()) if join.sides.iter().any(|side| side.disordered) => call.failed("input is not in sorted order"),
        Ok(()) => 0,
        Err(Stop::Disorder) => 1,
        Err(Stop::Unread(side, errno)) => call.failed(&format!("{}: {}", join.sides[side].path, text(errno))),
    };
    Ok(call.finish(join.out, code))
}

enum Stop {
    Disorder,
    Unread(usize, Errno),
}

/// One of the two files: the lines with the current key, and the next line.
struct Side<'a> {
    path: &'a str,
    lines: Lines,
    group: Vec<Record>,
    previous: Option<Record>,
    line: u64,
    disordered: bool,
}

impl<'a> Side<'a> {
    fn new(path: &'a str, lines: Lines) -> Side<'a> {
        Side { path, lines, group: Vec::new(), previous: None, line: 0, disordered: false }
    }
}

struct Join<'a> {
    call: &'a Call,
    settings: Settings,
    sides: [Side<'a>; 2],
    seen_unpairable: bool,
    /// The format of `-o`; that of `-o auto` is made from the first lines.
    format: Option<Vec<Field>>,
    out: Out,
}

impl Join<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        for side in 0..2 {
            if let Some(record) = self.read(side)? {
                self.sides[side].group.push(record);
            }
        }
        self.format = self.settings.format.clone();
        if self.settings.auto {
            let count = |side: &Side| side.group.first().map_or(0, Record::len);
            self.format = Some(self.settings.auto_format(count(&self.sides[0]), count(&self.sides[1])));
        }
        if self.settings.header {
            self.header()?;
        }
        while let (Some(first), Some(second)) = (self.sides[0].group.first(), self.sides[1].group.first()) {
            match self.settings.compare(first.field(self.settings.keys[0]), second.field(self.settings.keys[1])) {
                Ordering::Less => self.unpaired(0)?,
                Ordering::Greater => self.unpaired(1)?,
                Ordering::Equal => self.paired()?,
            }
            if self.out.has_failed() {
                return Ok(());
            }
        }
        for side in 0..2 {
            self.tail(side)?;
        }
        Ok(())
    }

    /// Joins the first lines, whatever their keys.
    fn header(&mut self) -> Result<(), Stop> {
        let [first, second] = &self.sides;
        let (first, second) = (first.group.first().cloned(), second.group.first().cloned());
        if first.is_some() || second.is_some() {
            self.print(first.as_ref(), second.as_ref());
        }
        for side in 0..2 {
            self.sides[side].previous = None;
            if self.sides[side].group.pop().is_some()
                && let Some(record) = self.read_unchecked(side)?
            {
                self.sides[side].group.push(record);
            }
        }
        Ok(())
    }

    fn unpaired(&mut self, side: usize) -> Result<(), Stop> {
        self.print_alone(side, 0);
        self.sides[side].group.clear();
        if let Some(record) = self.read(side)? {
            self.sides[side].group.push(record);
        }
        self.seen_unpairable = true;
        Ok(())
    }

    fn print_alone(&mut self, side: usize, index: usize) {
        if self.settings.unpaired[side]
            && let Some(record) = self.sides[side].group.get(index).cloned()
        {
            if side == 0 { self.print(Some(&record), None) } else { self.print(None, Some(&record)) }
        }
    }

    fn paired(&mut self) -> Result<(), Stop> {
        let mut next = [None, None];
        for (side, next) in next.iter_mut().enumerate() {
            while let Some(record) = self.read(side)? {
                let other = &self.sides[1 - side].group[0];
                let key = record.field(self.settings.keys[side]);
                if self.settings.compare(key, other.field(self.settings.keys[1 - side])) != Ordering::Equal {
                    *next = Some(record);
                    break;
                }
                self.sides[side].group.push(record);
            }
        }
        let groups = [std::mem::take(&mut self.sides[0].group), std::mem::take(&mut self.sides[1].group)];
        if self.settings.paired {
            for first in &groups[0] {
                for second in &groups[1] {
                    self.print(Some(first), Some(second));
                }
            }
        }
        for (side, record) in next.into_iter().enumerate() {
            self.sides[side].group.extend(record);
        }
        Ok(())
    }

    /// Handles the rest of a file when the other has ended: it is printed on demand, and checked in any case.
    fn tail(&mut self, side: usize) -> Result<(), Stop> {
        let disordered = self.sides[0].disordered && self.sides[1].disordered;
        let checks = self.settings.check != Check::Never && !disordered;
        if self.sides[side].group.is_empty() || !(self.settings.unpaired[side] || checks) {
            return Ok(());
        }
        self.print_alone(side, 0);
        self.seen_unpairable |= side == 0 && !self.sides[1].group.is_empty();
        while let Some(record) = self.read(side)? {
            self.sides[side].group[0] = record;
            self.print_alone(side, 0);
            if self.sides[side].disordered && !self.settings.unpaired[side] || self.out.has_failed() {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self, side: usize) -> Result<Option<Record>, Stop> {
        let record = self.read_unchecked(side)?;
        let state = &mut self.sides[side];
        if let (Some(record), Some(previous)) = (&record, &state.previous)
            && !state.disordered
            && (self.settings.check == Check::Always
                || self.settings.check == Check::Unpairable && self.seen_unpairable)
        {
            let key = self.settings.keys[side];
            if self.settings.compare(previous.field(key), record.field(key)) == Ordering::Greater {
                let shown = String::from_utf8_lossy(record.text()).into_owned();
                self.call.complain(&format!("{}:{}: is not sorted: {shown}", state.path, state.line));
                if self.settings.check == Check::Always {
                    return Err(Stop::Disorder);
                }
                state.disordered = true;
            }
        }
        if self.settings.check != Check::Never {
            state.previous.clone_from(&record);
        }
        Ok(record)
    }

    fn read_unchecked(&mut self, side: usize) -> Result<Option<Record>, Stop> {
        let state = &mut self.sides[side];
        state.line += 1;
        let line = state.lines.next().map_err(|errno| Stop::Unread(side, errno))?;
        let record = line.map(|line| Record::new(line, self.settings.separator));
        if self.settings.check != Check::Never && state.previous.is_none() {
            state.previous.clone_from(&record);
        }
        Ok(record)
    }

    fn print(&mut self, first: Option<&Record>, second: Option<&Record>) {
        let separator = self.settings.separator.output();
        let filler = self.settings.filler.as_bytes();
        let filled = |field: Option<&[u8]>| match field {
            Some(field) if !field.is_empty() => field.to_vec(),
            _ => filler.to_vec(),
        };
        let mut fields: Vec<Vec<u8>> = Vec::new();
        let key = || match (first, second) {
            (Some(first), _) => first.get(self.settings.keys[0]),
            (None, Some(second)) => second.get(self.settings.keys[1]),
            (None, None) => None,
        };
        if let Some(format) = &self.format {
            for field in format {
                fields.push(filled(match *field {
                    Field::Key => key(),
                    Field::First(number) => first.and_then(|record| record.get(number)),
                    Field::Second(number) => second.and_then(|record| record.get(number)),
                }));
            }
        } else {
            fields.push(filled(key()));
            for (record, key) in [(first, self.settings.keys[0]), (second, self.settings.keys[1])] {
                let Some(record) = record else { continue };
                for number in (0..record.len()).filter(|number| *number != key) {
                    fields.push(filled(record.get(number)));
                }
            }
        }
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.out.byte(separator);
            }
            self.out.push(field);
        }
        self.out.byte(self.settings.end);
    }
}
