//! bashkit as a program for `benches/versus`, which sends a line of JSON and gets a line of JSON.
//!
//! It measures its own calls, so the pipe between the two programs is not measured. Its limits are as high as possible,
//! because the comparison is about work and not about refusals.
//!
//! `{"command": "echo hi"}` runs in the live interpreter; with `"new": true` it runs in a new one. `{"at_once": 100}`
//! creates that many side by side, each of which runs an echo. `{"idle": 100}` answers with the memory of that many
//! idle ones.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use bashkit::{Bash, ExecutionLimits, FsLimits, MemoryLimits, SessionLimits};
use serde_json::{Value, json};

/// Timeout of a command, which is then answered as an error.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut live = interpreter(directory.as_deref());
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = if let Some(count) = request["at_once"].as_u64() {
            runtime.block_on(at_once(count))
        } else if let Some(count) = request["idle"].as_u64() {
            runtime.block_on(idle(count))?
        } else {
            let command = request["command"].as_str().unwrap_or_default();
            let begin = Instant::now();
            let answer = if request["new"].as_bool() == Some(true) {
                runtime.block_on(async { interpreter(None).exec(command).await })
            } else {
                runtime.block_on(live.exec(command))
            };
            let nanos = begin.elapsed().as_nanos() as u64;
            match answer {
                Ok(answer) => json!({
                    "nanos": nanos, "stdout": answer.stdout.to_string(), "stderr": answer.stderr.to_string(),
                    "exit_code": answer.exit_code,
                }),
                Err(error) => json!({ "error": error.to_string() }),
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn interpreter(directory: Option<&str>) -> Bash {
    let (most, bytes) = (usize::MAX / 4, u64::MAX / 4);
    let limits = ExecutionLimits::cli()
        .max_work_units(bytes)
        .max_aggregate_input_bytes(bytes)
        .max_live_intermediate_bytes(bytes)
        .max_input_bytes(most)
        .max_parser_operations(most)
        .max_stdout_bytes(100 << 20)
        .max_word_split_fields(most)
        .max_word_split_bytes(most)
        .timeout(PATIENCE);
    let builder = Bash::builder()
        .limits(limits)
        .session_limits(SessionLimits::unlimited())
        .memory_limits(MemoryLimits::unlimited())
        .filesystem_limits(FsLimits::unlimited())
        .env("LC_ALL", "C");
    match directory {
        Some(directory) => builder.mount_real_readonly_at(directory, "/workspace").cwd("/workspace").build(),
        None => builder.build(),
    }
}

async fn at_once(count: u64) -> Value {
    let begin = Instant::now();
    let echo = || async {
        let answer = interpreter(None).exec("echo hi").await;
        answer.is_ok_and(|answer| answer.stdout.to_string() == "hi\n")
    };
    let tasks: Vec<_> = (0..count).map(|_| tokio::spawn(echo())).collect();
    let mut right = 0;
    for task in tasks {
        right += u64::from(task.await.unwrap_or(false));
    }
    json!({ "nanos": begin.elapsed().as_nanos() as u64, "right": right })
}

/// Measures idle interpreters. One is used before, so that shared memory is not counted.
async fn idle(count: u64) -> Result<Value, Box<dyn std::error::Error>> {
    interpreter(None).exec("echo hi").await?;
    let before = resident()?;
    let all: Vec<Bash> = (0..count).map(|_| interpreter(None)).collect();
    let bytes = resident()?.saturating_sub(before) / all.len() as u64;
    Ok(json!({ "bytes": bytes }))
}

fn resident() -> Result<u64, Box<dyn std::error::Error>> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    // Pages of 4 KiB, as on every machine that the comparison runs on.
    Ok(statm.split(' ').nth(1).unwrap_or_default().parse::<u64>()? * 4096)
}
