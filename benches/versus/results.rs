//! The results of a run: rows of contenders, curves, goals, and the contenders that were left out.

use serde_json::{Value, json};

/// The unit of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Seconds,
    Bytes,
}

/// Samples of a contender whose answers were all right.
#[derive(Clone, Debug)]
pub struct Sample {
    pub median: f64,
    pub min: f64,
    pub p99: f64,
    pub count: usize,
}

/// The outcome of a contender.
#[derive(Clone, Debug)]
pub enum Outcome {
    Right(Sample),
    /// A wrong answer, which is never shown as a time.
    Wrong(String),
    /// The contender cannot do this.
    Unsupported(String),
}

/// A contender in a row.
pub struct Entry {
    pub contender: String,
    pub outcome: Outcome,
}

/// The same work by all contenders; the first is Isopod's.
pub struct Row {
    pub name: String,
    pub group: &'static str,
    pub unit: Unit,
    pub entries: Vec<Entry>,
}

/// The growth of a contender's time.
pub struct Line {
    pub contender: String,
    /// Size and seconds.
    pub points: Vec<(f64, f64)>,
    /// Size and seconds of processor time, where it is known.
    pub cpu: Vec<(f64, f64)>,
    /// The reason why there are no more points.
    pub ended: Option<String>,
}

/// The growth of time with size.
pub struct Curve {
    pub name: String,
    pub of: &'static str,
    /// The reason why the growth may be more than linear.
    pub note: Option<&'static str>,
    pub lines: Vec<Line>,
}

/// A promise.
pub struct Goal {
    pub what: String,
    /// The ratio, or the reason why there is none.
    pub found: Result<f64, String>,
    pub met: Option<bool>,
}

#[derive(Default)]
pub struct Results {
    pub machine: Vec<(String, String)>,
    pub rows: Vec<Row>,
    pub curves: Vec<Curve>,
    pub goals: Vec<Goal>,
    pub left_out: Vec<(String, String)>,
}

impl Sample {
    /// Computes the figures of at least one value.
    pub fn of(mut values: Vec<f64>) -> Sample {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        Sample { median: at(0.5), min: at(0.0), p99: at(0.99), count: values.len() }
    }
}

impl Row {
    pub fn median(&self, contender: &str) -> Result<f64, String> {
        let entry = self.entries.iter().find(|entry| entry.contender == contender);
        match entry.map(|entry| &entry.outcome) {
            Some(Outcome::Right(sample)) => Ok(sample.median),
            Some(Outcome::Wrong(_)) => Err(format!("{contender} answers wrongly")),
            Some(Outcome::Unsupported(_)) => Err(format!("{contender} does not support it")),
            None => Err(format!("{contender} was left out")),
        }
    }
}

impl Curve {
    /// Returns the maximum slope: linear with a margin for noise, and more where the work itself grows faster.
    pub fn most(&self) -> f64 {
        if self.note.is_some() { 1.25 } else { 1.1 }
    }
}

impl Line {
    /// Returns the slope in log-log, by least squares over the upper half of the sizes (at least three), because
    /// constant cost dominates the small sizes.
    pub fn slope(&self) -> Option<f64> {
        let points = if self.cpu.is_empty() { &self.points } else { &self.cpu };
        let from = (points.len() / 2).min(points.len().saturating_sub(3));
        let points: Vec<(f64, f64)> = points[from..].iter().map(|(x, y)| (x.ln(), y.ln())).collect();
        let count = points.len() as f64;
        if points.len() < 2 {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let along: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let across: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        Some(along / across)
    }
}

impl Results {
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let entries: Vec<Value> = row.entries.iter().map(|entry| entry_json(row.unit, entry)).collect();
            json!({ "work": row.name, "group": row.group, "entries": entries })
        });
        let curves = self.curves.iter().map(|curve| {
            let lines = curve.lines.iter().map(|line| {
                json!({
                    "contender": line.contender, "points": line.points, "cpu": line.cpu, "slope": line.slope(), "ended": line.ended,
                })
            });
            json!({ "work": curve.name, "of": curve.of, "note": curve.note, "lines": lines.collect::<Vec<_>>() })
        });
        let goals = self.goals.iter().map(|goal| {
            let (found, why) = (goal.found.as_ref().ok(), goal.found.as_ref().err());
            json!({ "goal": goal.what, "found": found, "not_measured": why, "met": goal.met })
        });
        let left_out = self.left_out.iter().map(|(what, why)| json!({ "what": what, "why": why }));
        let machine: serde_json::Map<_, _> =
            self.machine.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        json!({
            "machine": machine, "rows": rows.collect::<Vec<_>>(), "curves": curves.collect::<Vec<_>>(),
            "goals": goals.collect::<Vec<_>>(), "left_out": left_out.collect::<Vec<_>>(),
        })
    }
}

fn entry_json(unit: Unit, entry: &Entry) -> Value {
    let name = &entry.contender;
    match &entry.outcome {
        Outcome::Right(sample) => json!({
            "contender": name, "unit": if unit == Unit::Seconds { "seconds" } else { "bytes" },
            "median": sample.median, "min": sample.min, "p99": sample.p99, "samples": sample.count,
        }),
        Outcome::Wrong(line) => json!({ "contender": name, "wrong": line }),
        Outcome::Unsupported(line) => json!({ "contender": name, "not_supported": line }),
    }
}
