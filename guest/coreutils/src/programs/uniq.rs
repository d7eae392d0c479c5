//! `uniq`: leaves out or counts repeated lines.

use isopod_gnu::input::Input;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::{Out, redirect};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{name, plain};
use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, text};

use crate::lines::{Lines, complain};

/// `uniq`.
pub(crate) const PROGRAM: Program = Program {
    name: "uniq",
    operands: &["[OPTION]... [INPUT [OUTPUT]]"],
    about: "Filter adjacent matching lines from INPUT (or standard input), writing to OUTPUT (or standard output).\n\
            With no options, matching lines are merged to the first occurrence.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('c', "count", "prefix lines by the number of occurrences"),
        Opt::flag('d', "repeated", "only print duplicate lines, one for each group"),
        Opt::letter('D', "all-repeated", "print all duplicate lines"),
        Opt::long("all-repeated", "like -D, but with an empty line between groups: none, prepend, separate")
            .may_take("METHOD"),
        Opt::flag('f', "skip-fields", "avoid comparing the first N fields").takes("N"),
        Opt::long("group", "show all items, with an empty line between groups: separate, prepend, append, both")
            .may_take("METHOD"),
        Opt::flag('i', "ignore-case", "ignore differences in case when comparing"),
        Opt::flag('s', "skip-chars", "avoid comparing the first N characters").takes("N"),
        Opt::flag('u', "unique", "only print unique lines"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
        Opt::flag('w', "check-chars", "compare no more than N characters in lines").takes("N"),
        Opt::number("skip-fields"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The position of empty lines between groups.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    Before,
    Between,
    After,
    Around,
}

fn run(call: &Call) -> Result<u8, u8> {
    // `+N` is an old way to skip characters.
    let old =
        |operand: &&String| operand.strip_prefix('+').is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    let (skips, operands): (Vec<&String>, Vec<&String>) = call.operands.iter().partition(|operand| old(operand));
    if let Some(extra) = operands.get(2) {
        return Err(call.misused(&format!("extra operand {}", plain(extra))));
    }
    let (mut all_repeated, mut group) = (None, None);
    let mut uniq = Uniq {
        skip_fields: 0,
        skip_chars: 0,
        check: usize::MAX,
        ignore_case: call.has("ignore-case"),
        count: call.has("count"),
        unique: true,
        repeated: true,
        end: if call.has("zero-terminated") { 0 } else { b'\n' },
    };
    for GivenOption { option, value } in &call.options {
        let value = value.as_deref();
        match *option {
            "skip-fields" => uniq.skip_fields = number(call, value, "fields to skip")?,
            "skip-chars" => uniq.skip_chars = number(call, value, "bytes to skip")?,
            "check-chars" => uniq.check = number(call, value, "bytes to compare")?,
            "all-repeated" => {
                let gaps = [("none", Gap::None), ("prepend", Gap::Before), ("separate", Gap::Between)];
                all_repeated = Some(method(call, "--all-repeated", value.unwrap_or("none"), &gaps)?);
            }
            "group" => {
                let gaps = [
                    ("prepend", Gap::Before),
                    ("append", Gap::After),
                    ("separate", Gap::Between),
                    ("both", Gap::Around),
                ];
                group = Some(method(call, "--group", value.unwrap_or("separate"), &gaps)?);
            }
            _ => {}
        }
    }
    if let Some(skip) = skips.last() {
        uniq.skip_chars = number(call, skip.strip_prefix('+'), "bytes to skip")?;
    }
    if call.has("repeated") || all_repeated.is_some() {
        uniq.unique = false;
    }
    if call.has("unique") {
        uniq.repeated = false;
    }
    let selects = uniq.count || !uniq.unique || !uniq.repeated;
    if group.is_some() && selects {
        return Err(call.misused("--group is mutually exclusive with -c/-d/-D/-u"));
    }
    if uniq.count && all_repeated.is_some() {
        return Err(call.misused("printing all duplicated lines and repeat counts is meaningless"));
    }

    let path = operands.first().map_or("-", |path| path.as_str());
    let input = Input::open(path).map_err(|errno| complain(call, path, errno))?;
    if let Some(path) = operands.get(1).filter(|path| **path != "-") {
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        redirect(path, flags).map_err(|errno| call.failed(&format!("{}: {}", name(path), text(errno))))?;
    }
    let mut out = Out::new();
    let lines = Lines::new(input, uniq.end);
    let result = match (group, all_repeated) {
        (Some(gap), _) => uniq.all(lines, gap, true, &mut out),
        (None, Some(gap)) => uniq.all(lines, gap, false, &mut out),
        (None, None) => uniq.merge(lines, &mut out),
    };
    let code = match result {
        Ok(()) => 0,
        Err(errno) => call.failed(&format!("error reading {}: {}", plain(path), text(errno))),
    };
    Ok(call.finish(out, code))
}

fn number(call: &Call, value: Option<&str>, what: &str) -> Result<usize, u8> {
    let text = value.unwrap_or_default();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(call.failed(&format!("{text}: invalid number of {what}")));
    }
    Ok(text.parse().unwrap_or(usize::MAX))
}

fn method(call: &Call, option: &str, value: &str, known: &[(&str, Gap)]) -> Result<Gap, u8> {
    let mut matching = known.iter().filter(|(name, _)| name.starts_with(value) && !value.is_empty());
    match (matching.next(), matching.next()) {
        (Some((_, gap)), None) => Ok(*gap),
        _ => {
            call.complain(&format!("invalid argument {} for '{option}'", plain(value)));
            let mut list = String::from("Valid arguments are:\n");
            known.iter().for_each(|(name, _)| list.push_str(&format!("  - '{name}'\n")));
            let _ = isopod_sys::write_all(2, list.as_bytes());
            Err(call.hint())
        }
    }
}

struct Uniq {
    skip_fields: usize,
    skip_chars: usize,
    check: usize,
    ignore_case: bool,
    count: bool,
    unique: bool,
    repeated: bool,
    end: u8,
}

impl Uniq {
    /// Returns the part of a line that is compared.
    fn key<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut rest = line;
        for _ in 0..self.skip_fields {
            if rest.is_empty() {
                break;
            }
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
            let start = rest.iter().position(|byte| !blank(byte)).unwrap_or(rest.len());
            let end = rest[start..].iter().position(blank).map_or(rest.len(), |length| start + length);
            rest = &rest[end..];
        }
        let rest = &rest[self.skip_chars.min(rest.len())..];
        &rest[..self.check.min(rest.len())]
    }

    fn same(&self, a: &[u8], b: &[u8]) -> bool {
        let (a, b) = (self.key(a), self.key(b));
        if self.ignore_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }

    fn merge(&self, mut lines: Lines, out: &mut Out) -> Result<(), Errno> {
        let mut group: Vec<u8> = Vec::new();
        let mut count: u64 = 0;
        while let Some(line) = lines.next()? {
            if count > 0 && self.same(&group, line) {
                count += 1;
                continue;
            }
            self.print(&group, count, out);
            group.clear();
            group.extend_from_slice(line);
            count = 1;
            if out.has_failed() {
                return Ok(());
            }
        }
        self.print(&group, count, out);
        Ok(())
    }

    fn print(&self, line: &[u8], count: u64, out: &mut Out) {
        if count == 0 || (if count == 1 { !self.unique } else { !self.repeated }) {
            return;
        }
        if self.count {
            out.push(format!("{count:7} ").as_bytes());
        }
        out.push(line);
        out.byte(self.end);
    }

    /// Prints every line, with gaps between groups; without `single`, only those of groups of two and more.
    fn all(&self, mut lines: Lines, gap: Gap, single: bool, out: &mut Out) -> Result<(), Errno> {
        let mut first: Vec<u8> = Vec::new();
        let (mut in_group, mut held, mut printed) = (false, false, false);
        while let Some(line) = lines.next()? {
            let same = in_group && self.same(&first, line);
            if !same {
                in_group = true;
                held = true;
                // Lines are compared with the first of their group, not with the one before.
                first.clear();
                first.extend_from_slice(line);
            }
            if single || same {
                if held {
                    let before = matches!(gap, Gap::Before | Gap::Around) || (printed && gap != Gap::None);
                    if before {
                        out.byte(self.end);
                    }
                }
                // `-D -u` leaves out the first of each group.
                if held && same && self.repeated {
                    out.push(&first);
                    out.byte(self.end);
                }
                held = false;
                printed = true;
                out.push(line);
                out.byte(self.end);
            }
        }
        if printed && matches!(gap, Gap::After | Gap::Around) {
            out.byte(self.end);
        }
        Ok(())
    }
}
