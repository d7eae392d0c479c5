//! Measurement in turns, so that noise affects all alike. The number of samples depends on the contender's time: a
//! microsecond is measured a thousand times, a second a few times. A contender with a wrong answer is not measured.

use std::time::{Duration, Instant};

use crate::progress::Progress;
use crate::results::{Entry, Outcome, Row, Sample, Unit};

/// Turns in which the samples of a contender are taken.
const TURNS: usize = 5;
/// A longer run needs no other run to warm up.
const SHORT: Duration = Duration::from_millis(20);

/// The time to spend on measurements.
#[derive(Clone, Copy)]
pub struct Budget {
    /// Time for one contender in one row.
    pub time: Duration,
    pub fewest: usize,
    pub most: usize,
}

/// One run: its time, or the reason why it does not count.
pub type Run = Result<Duration, Fault>;

/// The reason why a run does not count.
#[derive(Debug, Clone)]
pub enum Fault {
    Wrong(String),
    Unsupported(String),
}

/// A program or library that does the work of a row.
pub struct Contender<'a> {
    pub name: String,
    pub run: Box<dyn FnMut() -> Run + 'a>,
    /// A check before the measurement.
    check: Option<Box<dyn FnOnce() -> Run + 'a>>,
}

impl<'a> Contender<'a> {
    pub fn new(name: impl Into<String>, run: impl FnMut() -> Run + 'a) -> Contender<'a> {
        Contender { name: name.into(), run: Box::new(run), check: None }
    }

    /// Sets another name.
    pub fn called(mut self, name: &str) -> Contender<'a> {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a check that is not measured, for work whose output does not show its result.
    pub fn checked(mut self, check: impl FnOnce() -> Run + 'a) -> Contender<'a> {
        self.check = Some(Box::new(check));
        self
    }
}

struct State<'a> {
    contender: Contender<'a>,
    /// Samples to take in all turns.
    count: usize,
    is_short: bool,
    samples: Vec<f64>,
    fault: Option<Fault>,
}

/// Runs all contenders in turns, as a row.
pub fn row(
    name: impl Into<String>,
    group: &'static str,
    budget: Budget,
    progress: &mut Progress,
    contenders: Vec<Contender<'_>>,
) -> Row {
    let name = name.into();
    progress.row(&name);
    Row { name, group, unit: Unit::Seconds, entries: quietly(budget, progress, contenders) }
}

/// Runs all contenders in turns, as a part of a named row.
pub fn quietly(budget: Budget, progress: &Progress, contenders: Vec<Contender<'_>>) -> Vec<Entry> {
    let mut states: Vec<State<'_>> =
        contenders.into_iter().map(|contender| first(contender, budget, progress)).collect();
    for turn in 0..TURNS {
        for state in &mut states {
            progress.contender(&format!("{} {}/{TURNS}", state.contender.name, turn + 1));
            state.turn(turn);
        }
    }
    states.into_iter().map(State::entry).collect()
}

/// The first run is checked and pays for caches and page faults; the second determines the number of samples.
fn first<'a>(mut contender: Contender<'a>, budget: Budget, progress: &Progress) -> State<'a> {
    progress.contender(&contender.name);
    let checked = contender.check.take().map_or(Ok(Duration::ZERO), |check| check());
    let begin = Instant::now();
    let mut run = checked.and_then(|_| (contender.run)());
    if begin.elapsed() < SHORT && run.is_ok() {
        run = (contender.run)();
    }
    // Measured from outside, because a contender that reports its own time may take longer than that.
    let whole = begin.elapsed();
    match run {
        Ok(time) => {
            let each = if whole < 2 * SHORT { (whole / 2).max(time) } else { whole };
            let fits = (budget.time.as_secs_f64() / each.as_secs_f64().max(1e-9)) as usize;
            // A contender that takes longer than the time for its row is measured once, with its first run.
            let is_long = each > budget.time.max(Duration::from_secs(2));
            let count = if is_long { 0 } else { fits.clamp(budget.fewest, budget.most) };
            let samples = if is_long { vec![time.as_secs_f64()] } else { Vec::new() };
            State { contender, count, is_short: each < SHORT, samples, fault: None }
        }
        Err(fault) => State { contender, count: 0, is_short: false, samples: Vec::new(), fault: Some(fault) },
    }
}

impl State<'_> {
    fn turn(&mut self, turn: usize) {
        let count = self.count * (turn + 1) / TURNS - self.count * turn / TURNS;
        if self.is_short && count > 0 && self.fault.is_none() {
            // This run is not measured: the contender before has filled the caches with its own data.
            self.fault = (self.contender.run)().err();
        }
        for _ in 0..count {
            if self.fault.is_some() {
                return;
            }
            match (self.contender.run)() {
                Ok(time) => self.samples.push(time.as_secs_f64()),
                Err(fault) => self.fault = Some(fault),
            }
        }
    }

    fn entry(self) -> Entry {
        let outcome = match self.fault {
            Some(Fault::Wrong(line)) => Outcome::Wrong(line),
            Some(Fault::Unsupported(line)) => Outcome::Unsupported(line),
            None => Outcome::Right(Sample::of(self.samples)),
        };
        Entry { contender: self.contender.name, outcome }
    }
}
