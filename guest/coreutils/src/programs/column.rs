//! `column`: lines in columns, or a table.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_gnu::width;

use crate::lines::{Lines, each_input};

/// `column`.
pub(crate) const PROGRAM: Program = Program {
    name: "column",
    operands: &["[OPTION]... [FILE]..."],
    about: "Columnate lists: fill columns before rows, or with -t make a table.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('c', "output-width", "width of output in number of characters").takes("WIDTH"),
        Opt::flag('N', "table-columns", "comma separated columns names").takes("NAMES"),
        Opt::flag('o', "output-separator", "columns separator for table output (default is two spaces)")
            .takes("STRING"),
        Opt::flag('R', "table-right", "right align text in these columns").takes("COLUMNS"),
        Opt::flag('s', "separator", "possible table delimiters").takes("STRING"),
        Opt::flag('t', "table", "create a table"),
        Opt::flag('x', "fillrows", "fill rows before columns"),
        Opt::flag('L', "keep-empty-lines", "don't ignore empty lines"),
        Opt::letter('n', "n", "(accepted)"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let wide = match call.value("output-width") {
        None => std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(80),
        Some("unlimited") => usize::MAX,
        Some(text) => text.parse().map_err(|_| call.failed(&format!("invalid columns argument: {}", plain(text))))?,
    };
    let mut lines: Vec<String> = Vec::new();
    let code = each_input(call, |input| {
        let mut source = Lines::new(input, b'\n');
        while let Some(line) = source.next()? {
            let line = String::from_utf8_lossy(line).into_owned();
            if call.has("keep-empty-lines") || !line.trim_matches([' ', '\t']).is_empty() {
                lines.push(line);
            }
        }
        Ok(())
    });
    let mut out = Out::new();
    if call.has("table") || call.has("table-columns") {
        table(call, &lines, &mut out)?;
    } else {
        fill(&lines, wide, call.has("fillrows"), &mut out);
    }
    Ok(call.finish(out, code))
}

fn table(call: &Call, lines: &[String], out: &mut Out) -> Result<(), u8> {
    let separators = call.value("separator");
    let mut rows: Vec<Vec<String>> = Vec::new();
    let names: Vec<String> =
        call.value("table-columns").map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default();
    if !names.is_empty() && !lines.is_empty() {
        rows.push(names.clone());
    }
    for line in lines {
        rows.push(match separators {
            Some(set) => line.split(|c| set.contains(c)).map(str::to_owned).collect(),
            None => line.split([' ', '\t']).filter(|field| !field.is_empty()).map(str::to_owned).collect(),
        });
    }
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut right = vec![false; count];
    for column in call.value("table-right").into_iter().flat_map(|list| list.split(',')) {
        let index = match column.parse::<usize>() {
            Ok(number) => number.checked_sub(1),
            Err(_) => names.iter().position(|name| name == column),
        };
        match index.and_then(|index| right.get_mut(index)) {
            Some(flag) => *flag = true,
            None if column.parse::<usize>().is_ok() => {}
            None => {
                return Err(call.failed(&format!("undefined column name {}", plain(column))));
            }
        }
    }
    let between = call.value("output-separator").unwrap_or("  ");
    let widths: Vec<usize> = (0..count)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| width::of_text(cell)).max().unwrap_or(0))
        .collect();
    for row in &rows {
        let mut line = String::new();
        for column in 0..count {
            let cell = row.get(column).map_or("", String::as_str);
            let gap = " ".repeat(widths[column] - width::of_text(cell));
            let last = column + 1 == count;
            if right[column] {
                line.push_str(&gap);
            }
            line.push_str(cell);
            if !right[column] && !last {
                line.push_str(&gap);
            }
            if !last {
                line.push_str(between);
            }
        }
        out.push(line.as_bytes());
        out.byte(b'\n');
    }
    Ok(())
}

fn fill(lines: &[String], wide: usize, rows_first: bool, out: &mut Out) {
    let longest = lines.iter().map(|line| width::of_text(line)).max().unwrap_or(0);
    // Columns are whole tabs apart.
    let step = (longest / 8 + 1) * 8;
    let columns = (wide / step).max(1);
    let rows = lines.len().div_ceil(columns);
    if longest >= wide {
        for line in lines {
            out.push(line.as_bytes());
            out.byte(b'\n');
        }
        return;
    }
    for row in 0..rows {
        let mut at = 0;
        for column in 0..columns {
            let index = if rows_first { row * columns + column } else { column * rows + row };
            let Some(line) = lines.get(index) else { break };
            out.push(line.as_bytes());
            at += width::of_text(line);
            let more = if rows_first {
                column + 1 < columns && index + 1 < lines.len()
            } else {
                index + rows < lines.len() && column + 1 < columns
            };
            if more {
                let next = (column + 1) * step;
                while at < next {
                    out.byte(b'\t');
                    at = at / 8 * 8 + 8;
                }
            }
        }
        out.byte(b'\n');
    }
}
