//! A million mixed commands over a hundred sandboxes in one process: memory, open files and threads must not grow after
//! the warm-up.
//!
//! `cargo bench --bench soak` runs a million, `-- --quick` twenty thousand, `-- --commands N` that many. It prints
//! fifty lines, and fails if anything grows after the first fifth.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs, reason = "a benchmark")]
#![allow(clippy::disallowed_methods, reason = "looks at its own process from outside")]

mod mix;
mod sample;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mix::{Place, Random};
use sample::Sample;

const SANDBOXES: usize = 100;
/// Concurrent callers.
const CALLERS: usize = 8;
const SAMPLES: usize = 50;
/// Samples of the warm-up: pools fill, threads start, files are read for the first time.
const WARM_UP: usize = SAMPLES / 5;
/// Maximum growth in bytes over a whole run, by the trend of the samples: room for the allocator, and about sixteen
/// bytes per command.
const GROWTH: f64 = (16 << 20) as f64;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = words.iter().position(|word| word == "--commands").map(|at| words[at + 1].parse().unwrap());
    let quick = words.iter().any(|word| word == "--quick");
    let commands: usize = number.unwrap_or(if quick { 20_000 } else { 1_000_000 });

    let host = tempfile::tempdir().unwrap();
    // The bound is needed: on a busy machine an unbounded pool keeps starting threads, because the last one is not yet
    // idle.
    let mut tokio = tokio::runtime::Builder::new_multi_thread();
    let tokio = tokio.worker_threads(2).max_blocking_threads(CALLERS).enable_all().build().unwrap();
    let places: Arc<Vec<Place>> = Arc::new((0..SANDBOXES).map(|n| Place::new(n, host.path())).collect());
    let (begin, mut samples, wrong) = (Instant::now(), Vec::new(), Arc::new(AtomicUsize::new(0)));
    println!("{:>9} {:>8} {:>9} {:>9} {:>6} {:>8}", "commands", "seconds", "a second", "RSS KiB", "files", "threads");
    for round in 1..=SAMPLES {
        let each = commands / SAMPLES / CALLERS;
        let round_begin = Instant::now();
        tokio.block_on(async {
            let callers = (0..CALLERS).map(|caller| {
                let (places, wrong) = (places.clone(), wrong.clone());
                tokio::spawn(async move {
                    let mut random = Random::new((round * CALLERS + caller) as u64);
                    for _ in 0..each {
                        if let Err(text) = mix::one(&places, &mut random).await {
                            wrong.fetch_add(1, Ordering::Relaxed);
                            println!("wrong: {text}");
                        }
                    }
                })
            });
            for caller in callers.collect::<Vec<_>>() {
                caller.await.unwrap();
            }
            // Killed processes may still be ending.
            for place in places.iter() {
                place.quiet().await;
            }
        });
        let sample = Sample::take(round * each * CALLERS);
        let rate = (each * CALLERS) as f64 / round_begin.elapsed().as_secs_f64();
        let Sample { commands, resident, files, threads } = sample;
        let seconds = begin.elapsed().as_secs();
        println!("{commands:>9} {seconds:>8} {rate:>9.0} {:>9} {files:>6} {threads:>8}", resident >> 10);
        samples.push(sample);
    }
    report(&samples[WARM_UP..], wrong.load(Ordering::Relaxed))
}

fn report(samples: &[Sample], wrong: usize) -> ExitCode {
    let grown = sample::growth(samples);
    let spread = |of: fn(&Sample) -> usize| {
        let values = samples.iter().map(of);
        (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
    };
    let (files, threads) = (spread(|sample| sample.files), spread(|sample| sample.threads));
    let is_flat = grown < GROWTH && files.1 - files.0 <= 8 && threads.1 - threads.0 <= 2 * CALLERS;
    println!(
        "\nafter the first fifth: memory by trend {:+.0} KiB, open files {} to {}, threads {} to {}; {wrong} wrong answers",
        grown / 1024.0,
        files.0,
        files.1,
        threads.0,
        threads.1
    );
    println!("{}", if is_flat && wrong == 0 { "flat" } else { "NOT FLAT" });
    ExitCode::from(u8::from(!is_flat || wrong > 0))
}
