//! The results as text: Markdown, which reads well at a terminal too.

use std::fmt::Write as _;

use crate::results::{Goal, Outcome, Results, Row, Unit};

pub fn markdown(results: &Results) -> String {
    let mut text = String::from("# Isopod and others, one run\n\n");
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, results);
    text
}

fn write_all(text: &mut String, results: &Results) -> std::fmt::Result {
    for (name, value) in &results.machine {
        writeln!(text, "- {name}: {value}")?;
    }
    writeln!(text, "\nTimes are medians; ratios are to the first line of each row, which is Isopod's.")?;
    let mut group = "";
    for row in &results.rows {
        if row.group != group {
            group = row.group;
            writeln!(text, "\n## {group}\n")?;
            writeln!(text, "| work | contender | median | min | p99 | ratio |\n|---|---|--:|--:|--:|--:|")?;
        }
        for (contender, cells) in row.entries.iter().map(|entry| &entry.contender).zip(cells(row)) {
            writeln!(text, "| {} | {contender} | {} |", escaped(&row.name), cells.join(" | "))?;
        }
    }
    if !results.curves.is_empty() {
        writeln!(text, "\n## How cost grows\n")?;
        writeln!(
            text,
            "The slope in log-log over the larger sizes: 1 is linear, 0 is constant. Isopod's is of its CPU time, which load\n\
             does not change; the native one is of the clock.\n"
        )?;
        writeln!(text, "| work | of | contender | from | to | slope | |\n|---|---|---|--:|--:|--:|---|")?;
        for curve in &results.curves {
            for line in &curve.lines {
                let end = |point: Option<&(f64, f64)>| {
                    point.map_or("–".to_owned(), |(size, time)| format!("{size}: {}", seconds(*time)))
                };
                let slope = line.slope();
                let remark = match (slope, &line.ended, curve.note) {
                    (_, Some(why), _) => format!("WRONG {}", escaped(why)),
                    (Some(slope), _, _) if slope > curve.most() => "steeper than it should be".to_owned(),
                    (_, _, note) => note.unwrap_or_default().to_owned(),
                };
                let slope = slope.map_or("–".to_owned(), |slope| format!("{slope:.2}"));
                let (from, to) = (end(line.points.first()), end(line.points.last()));
                writeln!(
                    text,
                    "| {} | {} | {} | {from} | {to} | {slope} | {remark} |",
                    curve.name, curve.of, line.contender
                )?;
            }
        }
    }
    writeln!(text, "\n## Goals\n\n| | goal | found |\n|---|---|--:|")?;
    for goal in &results.goals {
        let (verdict, found) = verdict(goal);
        writeln!(text, "| {verdict} | {} | {found} |", escaped(&goal.what))?;
    }
    if !results.left_out.is_empty() {
        writeln!(text, "\n## Left out\n")?;
        for (what, why) in &results.left_out {
            writeln!(text, "- {what}: {}", escaped(why))?;
        }
    }
    Ok(())
}

/// Returns median, minimum, 99th percentile and ratio, or the fault.
pub fn cells(row: &Row) -> Vec<[String; 4]> {
    let first = row.entries.iter().find_map(|entry| match &entry.outcome {
        Outcome::Right(sample) => Some(sample.median),
        _ => None,
    });
    let value = |number: f64| if row.unit == Unit::Seconds { seconds(number) } else { bytes(number) };
    let cells = |outcome: &Outcome| match outcome {
        Outcome::Right(sample) => {
            let ratio = first.map_or("–".to_owned(), |first| times(sample.median / first));
            [value(sample.median), value(sample.min), value(sample.p99), ratio]
        }
        Outcome::Wrong(line) => [format!("WRONG: {}", escaped(line)), String::new(), String::new(), "–".to_owned()],
        Outcome::Unsupported(line) => {
            [format!("not supported: {}", escaped(line)), String::new(), String::new(), "–".to_owned()]
        }
    };
    row.entries.iter().map(|entry| cells(&entry.outcome)).collect()
}

/// Returns the verdict on a goal and the figure behind it.
pub fn verdict(goal: &Goal) -> (&'static str, String) {
    let verdict = match goal.met {
        Some(true) => "met",
        Some(false) => "MISSED",
        None => "not measured",
    };
    let unit = if goal.what.contains("KiB") {
        " KiB"
    } else if goal.what.starts_with("growth") {
        ""
    } else {
        " ×"
    };
    let found = match &goal.found {
        Ok(number) => format!("{}{unit}", digits(*number)),
        Err(why) => escaped(why),
    };
    (verdict, found)
}

pub fn seconds(time: f64) -> String {
    match time * 1e6 {
        us if us < 1e3 => format!("{us:.1} µs"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

pub fn bytes(number: f64) -> String {
    match number / 1024.0 {
        kib if kib < 1024.0 => format!("{kib:.1} KiB"),
        kib => format!("{:.1} MiB", kib / 1024.0),
    }
}

fn times(ratio: f64) -> String {
    format!("{} ×", digits(ratio))
}

/// Formats a number with three significant digits.
pub fn digits(number: f64) -> String {
    match number {
        number if number >= 100.0 => format!("{number:.0}"),
        number if number >= 10.0 => format!("{number:.1}"),
        number => format!("{number:.2}"),
    }
}

/// Escapes text of other programs for a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
