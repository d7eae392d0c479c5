//! `diff3`: compares three files and merges the changes of two of them.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;
use isopod_sys::text;

use crate::lines::{self, Change, Rules, Text};

/// `diff3`.
pub(crate) const PROGRAM: Program = Program {
    name: "diff3",
    operands: &["[OPTION]... MYFILE OLDFILE YOURFILE"],
    about: "Compare three files line by line. With -m, merge the changes from OLDFILE to YOURFILE into MYFILE.\n\
            If a FILE is '-', read standard input. Exit status is 0 if successful, 1 if conflicts, 2 if trouble.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('A', "show-all", "output all changes, bracketing conflicts"),
        Opt::flag('e', "ed", "with -m: merge the changes without marking conflicts"),
        Opt::flag('E', "show-overlap", "with -m: like -e, but bracket conflicts"),
        Opt::flag('3', "easy-only", "with -m: like -e, but incorporate only nonoverlapping changes"),
        Opt::flag('x', "overlap-only", "with -m: like -e, but incorporate only overlapping changes"),
        Opt::letter('X', "X", "with -m: like -x"),
        Opt::flag('m', "merge", "output actual merged file, according to -A if no other options are given"),
        Opt::flag('a', "text", "treat all files as text"),
        Opt::long("strip-trailing-cr", "strip trailing carriage return on input"),
        Opt::flag('T', "initial-tab", "make tabs line up by prepending a tab"),
        Opt::flag('L', "label", "use LABEL instead of file name (can be repeated up to three times)").takes("LABEL"),
    ],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A range of lines: the first, and the one after the last.
type Range = (usize, usize);

/// The file that differs from the two others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Odd {
    File(usize),
    All,
}

/// A range of lines in which the files are not all the same.
struct Block {
    ranges: [Range; 3],
    odd: Odd,
}

fn run(call: &Call) -> Result<u8, u8> {
    match call.operands.len() {
        3 => {}
        count if count < 3 => {
            let last = call.operands.last().unwrap_or(&call.name);
            return Err(call.misused(&format!("missing operand after {}", quote::plain(last))));
        }
        _ => call.at_most(3)?,
    }
    let merge = call.has("merge");
    let scripts = ["show-all", "ed", "show-overlap", "easy-only", "overlap-only", "X"];
    let chosen: Vec<&str> = scripts.into_iter().filter(|option| call.has(option)).collect();
    if chosen.len() > 1 {
        return Err(call.misused("incompatible options"));
    }
    if !merge && !chosen.is_empty() {
        call.complain("ed scripts are not supported; use -m");
        return Err(2);
    }
    let mut texts = Vec::new();
    for path in &call.operands {
        let read = Input::open(path).and_then(|input| input.read_all());
        let mut content = read.map_err(|errno| {
            call.complain(&format!("{path}: {}", text(errno)));
            2
        })?;
        if call.has("strip-trailing-cr") {
            content = lines::without_carriage_returns(&content);
        }
        if !call.has("text") && lines::is_binary(&content) {
            call.complain("diff failed: Binary files differ");
            return Err(2);
        }
        texts.push(Text::new(content));
    }
    let mut out = Out::new();
    let common = if merge { 1 } else { 2 };
    let blocks = blocks(&texts, common);
    if !merge {
        show(&texts, &blocks, call.has("initial-tab"), &mut out);
        return Ok(call.finish(out, 0));
    }
    let mut names = call.operands.clone();
    let labels = call.options.iter().filter(|found| found.option == "label").filter_map(|found| found.value.clone());
    for (name, label) in names.iter_mut().zip(labels) {
        *name = label;
    }
    let style = MergeStyle::new(chosen.first().copied().unwrap_or("show-all"));
    let conflicts = write_merged(&texts, &blocks, &names, &style, &mut out);
    Ok(call.finish(out, u8::from(conflicts)))
}

/// Combines the changes of the two files against the common one.
fn blocks(texts: &[Text], common: usize) -> Vec<Block> {
    let others: Vec<usize> = (0..3).filter(|file| *file != common).collect();
    let rules = Rules { horizon: 100, tab_size: 8, ..Rules::default() };
    let changes: Vec<Vec<Change>> =
        others.iter().map(|file| lines::changes(&texts[*file], &texts[common], &rules)).collect();
    let mut next = [0, 0];
    // The number of lines by which each file is ahead of the common one.
    let mut ahead = [0isize, 0];
    let mut blocks = Vec::new();
    loop {
        let starts = [0, 1].map(|side| changes[side].get(next[side]).map(|change| change.to));
        let start = match starts {
            [None, None] => return blocks,
            [first, second] => first.unwrap_or(usize::MAX).min(second.unwrap_or(usize::MAX)),
        };
        let mut end = start;
        let mut used = [Vec::new(), Vec::new()];
        // Adjacent changes belong to one block.
        loop {
            let mut grew = false;
            for side in 0..2 {
                while let Some(change) = changes[side].get(next[side]).filter(|change| change.to <= end) {
                    let is_first = used[0].is_empty() && used[1].is_empty();
                    let touches_own_only = !used[side].is_empty() && change.to == end && used[1 - side].is_empty();
                    if !is_first && touches_own_only {
                        break;
                    }
                    end = end.max(change.to + change.inserted);
                    used[side].push(*change);
                    next[side] += 1;
                    grew = true;
                }
            }
            if !grew {
                break;
            }
        }
        let mut ranges = [(0, 0); 3];
        ranges[common] = (start, end);
        for side in 0..2 {
            let first = (start as isize + ahead[side]) as usize;
            for change in &used[side] {
                ahead[side] += change.deleted as isize - change.inserted as isize;
            }
            ranges[others[side]] = (first, (end as isize + ahead[side]) as usize);
        }
        let odd = match (used[0].is_empty(), used[1].is_empty()) {
            (false, true) => Odd::File(others[0]),
            (true, false) => Odd::File(others[1]),
            _ => {
                let lines = |file: usize| (ranges[file].0..ranges[file].1).map(move |line| texts[file].line(line));
                if lines(others[0]).eq(lines(others[1])) { Odd::File(common) } else { Odd::All }
            }
        };
        blocks.push(Block { ranges, odd });
    }
}

fn show(texts: &[Text], blocks: &[Block], initial_tab: bool, out: &mut Out) {
    let lead: &[u8] = if initial_tab { b"\t" } else { b"  " };
    for block in blocks {
        let (name, hidden) = match block.odd {
            Odd::All => (String::new(), 3),
            // The text of two files that are the same is shown once, at the second of them.
            Odd::File(0) => ("1".into(), 1),
            Odd::File(odd) => ((odd + 1).to_string(), 0),
        };
        out.push(format!("===={name}\n").as_bytes());
        let order = if block.odd == Odd::File(1) { [0, 2, 1] } else { [0, 1, 2] };
        for file in order {
            let (first, end) = block.ranges[file];
            let location = match end - first {
                0 => format!("{}:{first}a\n", file + 1),
                1 => format!("{}:{end}c\n", file + 1),
                _ => format!("{}:{},{end}c\n", file + 1, first + 1),
            };
            out.push(location.as_bytes());
            if file == hidden {
                continue;
            }
            for line in first..end {
                out.push(lead);
                out.push(texts[file].line(line));
                if !texts[file].line(line).ends_with(b"\n") {
                    out.push(b"\n\\ No newline at end of file\n");
                }
            }
        }
    }
}

/// The changes to merge, and the presentation of conflicts.
struct MergeStyle {
    mark: bool,
    show_old: bool,
    easy_only: bool,
    overlap_only: bool,
}

impl MergeStyle {
    fn new(option: &str) -> MergeStyle {
        MergeStyle {
            mark: matches!(option, "show-all" | "show-overlap"),
            show_old: option == "show-all",
            easy_only: option == "easy-only",
            overlap_only: matches!(option, "overlap-only" | "X"),
        }
    }
}

/// Writes the first file with the changes of the third. Returns true if there are conflicts.
fn write_merged(texts: &[Text], blocks: &[Block], names: &[String], style: &MergeStyle, out: &mut Out) -> bool {
    let mut copied = 0;
    let mut conflicts = false;
    let copy = |out: &mut Out, file: usize, range: Range| {
        for line in range.0..range.1 {
            out.push(texts[file].line(line));
        }
    };
    for block in blocks {
        let [mine, old, yours] = block.ranges;
        match block.odd {
            Odd::File(0) => continue,
            Odd::File(1) if !style.show_old => continue,
            Odd::File(1) => conflicts = true,
            Odd::File(_) if style.overlap_only => continue,
            Odd::File(_) => {}
            Odd::All if style.easy_only => continue,
            Odd::All => conflicts |= style.mark,
        }
        copy(out, 0, (copied, mine.0));
        if block.odd == Odd::All && style.mark {
            out.push(format!("<<<<<<< {}\n", names[0]).as_bytes());
            copy(out, 0, mine);
            if style.show_old {
                out.push(format!("||||||| {}\n", names[1]).as_bytes());
                copy(out, 1, old);
            }
            out.push(b"=======\n");
        } else if block.odd == Odd::File(1) {
            out.push(format!("<<<<<<< {}\n", names[1]).as_bytes());
            copy(out, 1, old);
            out.push(b"=======\n");
        }
        copy(out, 2, yours);
        if block.odd == Odd::File(1) || (block.odd == Odd::All && style.mark) {
            out.push(format!(">>>>>>> {}\n", names[2]).as_bytes());
        }
        copied = mine.1;
    }
    copy(out, 0, (copied, texts[0].count()));
    conflicts
}
