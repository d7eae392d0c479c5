//! The short formats: one a line, columns, commas.

use isopod_sys::files::Kind;

use super::entry::Entry;
use super::options::{Format, Indicator, Settings};
use isopod_gnu::output::Out;
use isopod_gnu::width::of_text;

/// No column is narrower than a letter and the two blanks between columns.
const NARROWEST: usize = 3;

/// Prints entries in any format but the long one.
pub(super) fn print(entries: &[Entry], settings: &Settings, out: &mut Out) {
    let cells = cells(entries, settings);
    match settings.format {
        Format::Commas => commas(&cells, settings, out),
        Format::Vertical | Format::Across if settings.width > 0 => grid(&cells, settings, out),
        Format::Vertical | Format::Across => {
            // Without a limit there is one line.
            let line = cells.join("  ");
            if !line.is_empty() {
                out.push(line.as_bytes());
                out.byte(settings.end);
            }
        }
        _ => {
            for cell in cells {
                out.push(cell.as_bytes());
                out.byte(settings.end);
            }
        }
    }
}

/// Returns the character behind a name that shows its type.
pub(super) fn indicator(kind: Kind, mode: u32, settings: &Settings) -> &'static str {
    match kind {
        Kind::Directory if settings.indicator >= Indicator::Slash => "/",
        Kind::Symlink if settings.indicator >= Indicator::FileType => "@",
        Kind::Pipe if settings.indicator >= Indicator::FileType => "|",
        Kind::File if settings.indicator == Indicator::Classify && mode & 0o111 != 0 => "*",
        _ => "",
    }
}

fn cells(entries: &[Entry], settings: &Settings) -> Vec<String> {
    let inodes: Vec<String> = entries.iter().map(|entry| entry.attributes.inode.to_string()).collect();
    let blocks: Vec<String> = entries.iter().map(|entry| settings.block_text(entry.blocks())).collect();
    let widest = |texts: &[String]| {
        if settings.format == Format::Commas { 0 } else { texts.iter().map(String::len).max().unwrap_or(0) }
    };
    let (inode_width, block_width) = (widest(&inodes), widest(&blocks));
    let cell = |(index, entry): (usize, &Entry)| {
        let mut cell = String::new();
        if settings.inode {
            cell.push_str(&format!("{:>inode_width$} ", inodes[index]));
        }
        if settings.blocks {
            cell.push_str(&format!("{:>block_width$} ", blocks[index]));
        }
        cell.push_str(&settings.quoted(&entry.name));
        cell.push_str(indicator(entry.attributes.kind, entry.attributes.mode, settings));
        cell
    };
    entries.iter().enumerate().map(cell).collect()
}

fn commas(cells: &[String], settings: &Settings, out: &mut Out) {
    let mut column = 0;
    for (index, cell) in cells.iter().enumerate() {
        let cell_width = of_text(cell);
        if index > 0 {
            // The comma after this cell needs room, too.
            let fits = settings.width == 0 || column + 2 + cell_width < settings.width;
            out.push(if fits { b", " } else { b",\n" });
            column = if fits { column + 2 } else { 0 };
        }
        out.push(cell.as_bytes());
        column += cell_width;
    }
    if !cells.is_empty() {
        out.byte(settings.end);
    }
}

fn grid(cells: &[String], settings: &Settings, out: &mut Out) {
    let widths: Vec<usize> = cells.iter().map(|cell| of_text(cell)).collect();
    let down = settings.format == Format::Vertical;
    let most = (settings.width / NARROWEST).clamp(1, cells.len().max(1));
    let columns = (1..=most).rev().map(|count| column_widths(&widths, count, down));
    let fitting = columns.clone().find(|columns| columns.iter().sum::<usize>() < settings.width);
    let Some(columns) = fitting.or_else(|| columns.into_iter().next_back()) else { return };
    let rows = cells.len().div_ceil(columns.len());
    for row in 0..rows {
        let (mut at, mut next) = (0, 0);
        for (column, column_width) in columns.iter().enumerate() {
            let index = if down { column * rows + row } else { row * columns.len() + column };
            let Some(cell) = cells.get(index) else { break };
            indent(at, next, settings.tab, out);
            out.push(cell.as_bytes());
            at = next + widths[index];
            next += column_width;
        }
        out.byte(settings.end);
    }
}

/// Returns the widths of so many columns, with the blanks between them.
fn column_widths(widths: &[usize], count: usize, down: bool) -> Vec<usize> {
    let rows = widths.len().div_ceil(count);
    let mut columns = vec![NARROWEST; count];
    for (index, cell) in widths.iter().enumerate() {
        let column = if down { index / rows } else { index % count };
        let needed = cell + if column + 1 == count { 0 } else { 2 };
        columns[column] = columns[column].max(needed);
    }
    columns
}

/// Moves from one column to another, with tabs where they reach.
fn indent(mut from: usize, to: usize, tab: usize, out: &mut Out) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.byte(b'\t');
            from += tab - from % tab;
        } else {
            out.byte(b' ');
            from += 1;
        }
    }
}
