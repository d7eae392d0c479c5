//! A short form of the results as Markdown for documents: the ratios of the others, and the slopes.

use std::fmt::Write as _;

use crate::results::{Outcome, Results, Row, Unit};
use crate::table::{bytes, digits, seconds};

/// The columns: the first contender of a row whose name begins with the prefix, and the title.
const OTHERS: [(&str, &str); 5] = [
    ("native", "native"),
    ("native bash", "bash"),
    ("bubblewrap", "bubblewrap"),
    ("docker", "docker"),
    ("bashkit", "bashkit"),
];

pub fn markdown(results: &Results) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, results);
    text
}

fn write_all(text: &mut String, results: &Results) -> std::fmt::Result {
    let titles: Vec<&str> = OTHERS.iter().map(|(_, title)| *title).collect();
    writeln!(text, "| work | Isopod | {} |\n|---|--:|{}", titles.join(" | "), "--:|".repeat(titles.len()))?;
    for row in &results.rows {
        let cells: Vec<String> = OTHERS.iter().map(|(prefix, _)| cell(row, prefix)).collect();
        writeln!(text, "| {} | {} | {} |", row.name.replace('|', "\\|"), ours(row), cells.join(" | "))?;
    }
    if !results.curves.is_empty() {
        writeln!(text, "\n| growth of | over | slope | native |\n|---|---|--:|--:|")?;
    }
    for curve in &results.curves {
        let slope = |at: usize| {
            let slope = curve.lines.get(at).and_then(crate::results::Line::slope);
            slope.map_or("–".to_owned(), |slope| format!("{slope:.2}"))
        };
        let sizes = curve.lines.first().and_then(|line| Some((line.points.first()?.0, line.points.last()?.0)));
        let over = sizes.map_or(String::new(), |(from, to)| format!("{from} to {to} {}", curve.of));
        writeln!(text, "| {} | {over} | {} | {} |", curve.name, slope(0), slope(1))?;
    }
    Ok(())
}

fn ours(row: &Row) -> String {
    match row.entries.first().map(|entry| &entry.outcome) {
        Some(Outcome::Right(sample)) if row.unit == Unit::Seconds => seconds(sample.median),
        Some(Outcome::Right(sample)) => bytes(sample.median),
        _ => "WRONG".to_owned(),
    }
}

/// Returns the ratio to Isopod's median.
fn cell(row: &Row, prefix: &str) -> String {
    let Some(Outcome::Right(first)) = row.entries.first().map(|entry| &entry.outcome) else { return String::new() };
    let entry = row.entries.iter().find(|entry| entry.contender.starts_with(prefix));
    match entry.map(|entry| &entry.outcome) {
        Some(Outcome::Right(sample)) => format!("{} ×", digits(sample.median / first.median)),
        Some(Outcome::Wrong(_)) => "wrong".to_owned(),
        Some(Outcome::Unsupported(_)) => "not there".to_owned(),
        None => String::new(),
    }
}
