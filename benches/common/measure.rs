//! Measurement in turns: noise affects all contenders alike, and the ratio of medians survives it. A turn is several
//! runs, so that each contender is as warm as in use and does not pay for caches that the one before it filled.

use std::time::{Duration, Instant};

/// Runs of a contender in a turn.
const TURN: usize = 20;

/// The amount to measure.
pub struct Plan {
    /// Measures a tenth of everything.
    pub quick: bool,
}

/// Something to measure.
pub struct Contender<'a> {
    name: String,
    /// Does the work and returns its time.
    work: Box<dyn FnMut() -> Duration + 'a>,
}

impl<'a> Contender<'a> {
    pub fn new(name: &str, mut work: impl FnMut() + 'a) -> Contender<'a> {
        Contender::timed(name, move || {
            let begin = Instant::now();
            work();
            begin.elapsed()
        })
    }

    /// Creates a contender that measures its own time.
    pub fn timed(name: &str, work: impl FnMut() -> Duration + 'a) -> Contender<'a> {
        Contender { name: name.to_owned(), work: Box::new(work) }
    }
}

/// The times of a contender.
pub struct Times {
    pub name: String,
    pub min: Duration,
    pub median: Duration,
    pub p99: Duration,
}

/// Runs all contenders in turns, `rounds` times each.
pub fn compare<'a>(plan: &Plan, rounds: usize, contenders: impl IntoIterator<Item = Contender<'a>>) -> Vec<Times> {
    let rounds = if plan.quick { (rounds / 10).max(3) } else { rounds };
    let mut contenders: Vec<_> = contenders.into_iter().map(|c| (c, Vec::with_capacity(rounds))).collect();
    // The first run pays for page faults and caches.
    contenders.iter_mut().for_each(|(contender, _)| {
        (contender.work)();
    });
    for _ in 0..rounds.div_ceil(TURN) {
        for (contender, samples) in &mut contenders {
            // The first run of a turn warms the caches up.
            (0..=TURN.min(rounds)).for_each(|run| {
                let time = (contender.work)();
                if run > 0 {
                    samples.push(time);
                }
            });
        }
    }
    contenders.into_iter().map(|(contender, samples)| Times::of(contender.name, samples)).collect()
}

impl Times {
    fn of(name: String, mut samples: Vec<Duration>) -> Times {
        samples.sort_unstable();
        let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
        Times { name, min: at(0.0), median: at(0.5), p99: at(0.99) }
    }
}
