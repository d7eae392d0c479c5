//! The outcomes of the attacks, as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// The outcome of one attack.
pub struct Row {
    pub name: &'static str,
    pub is_contained: bool,
    pub took: Duration,
    pub overshoots: Vec<Duration>,
    /// The growth of the process in bytes.
    pub memory: u64,
}

/// Splits a name into the attack's number and its sentence.
pub fn parse(name: &str) -> Option<(u32, String)> {
    let (number, sentence) = name.strip_prefix("attack_")?.split_once('_')?;
    Some((number.parse().ok()?, sentence.replace('_', " ")))
}

/// Returns the last lines of a run: the number of contained attacks, and the delays of commands that had to be stopped.
pub fn summary(rows: &[Row]) -> String {
    let mut numbers: BTreeMap<u32, bool> = BTreeMap::new();
    for row in rows {
        if let Some((number, _)) = parse(row.name) {
            *numbers.entry(number).or_insert(true) &= row.is_contained;
        }
    }
    let contained = numbers.values().filter(|is_contained| **is_contained).count();
    let mut text = format!("attacks contained {contained}/{}\n", numbers.len());
    let mut overshoots: Vec<f64> = rows.iter().flat_map(|row| &row.overshoots).map(millis).collect();
    overshoots.sort_by(f64::total_cmp);
    if let Some(max) = overshoots.last() {
        let at = |share: f64| overshoots[((overshoots.len() - 1) as f64 * share).round() as usize];
        writeln!(
            text,
            "timeout overshoot of {} commands: p50 {:.1} ms, p99 {:.1} ms, max {max:.1} ms",
            overshoots.len(),
            at(0.5),
            at(0.99)
        )
        .unwrap();
    }
    text
}

/// Writes the table to `ISOPOD_REPORT`, or below the target directory. Returns its path.
pub fn write(rows: &[Row]) -> std::io::Result<PathBuf> {
    let place = std::env::var_os("ISOPOD_REPORT").map(PathBuf::from);
    let place = place.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("attacks.md"));
    let mut text = format!("# Attacks\n\n{}\n", summary(rows).trim_end().replace('\n', "  \n"));
    text += "\n| | attack | contained | took | over its time | memory |\n|--:|---|---|--:|--:|--:|\n";
    for row in rows {
        let (number, sentence) = parse(row.name).unwrap_or((0, row.name.replace('_', " ")));
        let number = if number == 0 { "–".to_owned() } else { number.to_string() };
        let over = row.overshoots.iter().max().map_or("–".to_owned(), |over| format!("{:.1} ms", millis(over)));
        let contained = if row.is_contained { "yes" } else { "**no**" };
        let (took, memory) = (row.took.as_secs_f64(), row.memory >> 20);
        writeln!(text, "| {number} | {sentence} | {contained} | {took:.2} s | {over} | {memory} MiB |").unwrap();
    }
    std::fs::write(&place, text)?;
    Ok(place)
}

fn millis(duration: &Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
