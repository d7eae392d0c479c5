//! The report: a table for people, or one JSON object.

use std::time::Duration;

use serde_json::{Value, json};

use super::measure::Times;

/// The promise of the first contender.
pub enum Goal {
    /// Its median is at least `by` times shorter than that of contender `than`.
    Faster { by: f64, than: usize },
    /// Its median is at most `times` that of contender `of`.
    Within { times: f64, of: usize },
}

pub struct Report {
    json: bool,
    rows: Vec<Value>,
    missed: usize,
}

impl Report {
    pub fn new(json: bool) -> Report {
        Report { json, rows: Vec::new(), missed: 0 }
    }

    /// Adds a comparison. Ratios are of medians, to the first contender.
    pub fn add(&mut self, work: &str, times: &[Times], goal: Option<Goal>) {
        self.say(&format!("\n{work}"));
        let first = times[0].median.as_secs_f64();
        for times in times {
            let ratio = times.median.as_secs_f64() / first;
            let [min, median, p99] = [times.min, times.median, times.p99].map(micros);
            self.say(&format!("  {:<34} median {median:>10} min {min:>10} p99 {p99:>10}  {ratio:>8.2} x", times.name));
            self.rows.push(json!({
                "work": work, "contender": times.name, "median_us": us(times.median), "min_us": us(times.min),
                "p99_us": us(times.p99), "ratio": ratio,
            }));
        }
        match goal {
            None => {}
            Some(Goal::Faster { by, than }) => {
                let ratio = times[than].median.as_secs_f64() / first;
                self.goal(ratio >= by, &format!("at least {by} x faster than {}: {ratio:.1} x", times[than].name));
            }
            Some(Goal::Within { times: most, of }) => {
                let ratio = first / times[of].median.as_secs_f64();
                self.goal(ratio <= most, &format!("at most {most} x the time of {}: {ratio:.2} x", times[of].name));
            }
        }
    }

    /// Adds a measurement of memory.
    pub fn memory(&mut self, work: &str, bytes: u64, time: Duration, goal: u64) {
        self.say(&format!("\n{work}\n  {bytes} bytes and {} to make, each", micros(time)));
        self.rows.push(json!({ "work": work, "bytes_each": bytes, "make_us": us(time) }));
        self.goal(bytes < goal, &format!("under {goal} bytes each"));
    }

    pub fn left_out(&mut self, what: &str, why: &str) {
        self.say(&format!("\nleft out: {what}: {why}"));
        self.rows.push(json!({ "left_out": what, "why": why }));
    }

    pub fn finish(self) {
        if self.json {
            println!("{}", json!({ "rows": self.rows, "goals_missed": self.missed }));
        } else {
            println!(
                "\n{}",
                if self.missed == 0 { "all goals met".into() } else { format!("{} goals missed", self.missed) }
            );
        }
    }

    /// Adds a statement that has to hold.
    pub fn promise(&mut self, met: bool, what: &str) {
        self.goal(met, what);
    }

    fn goal(&mut self, met: bool, what: &str) {
        self.missed += usize::from(!met);
        self.say(&format!("  goal {}: {what}", if met { "met" } else { "MISSED" }));
    }

    fn say(&self, line: &str) {
        if !self.json {
            println!("{line}");
        }
    }
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn micros(time: Duration) -> String {
    match us(time) {
        us if us < 1e3 => format!("{us:.1} µs"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}
