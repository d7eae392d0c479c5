//! The suites of `cargo test`, and those that run the guest's crates on this machine.

use crate::Result;
use crate::lint::HOST_PACKAGES;
use crate::process::{check, command, output, passed, run as run_line};

/// Attacks in the ledger of THREATS.md.
const ATTACKS: usize = 104;

/// Runs the README's test command, then checks the table of attacks that it wrote.
pub(crate) fn run(_: &[String]) -> Result {
    run_line("cargo test")?;
    let table =
        std::fs::read_to_string("target/tmp/attacks.md").map_err(|error| format!("target/tmp/attacks.md: {error}"))?;
    let summary = |line: &&str| line.starts_with("attacks contained") || line.starts_with("timeout overshoot");
    table.lines().filter(summary).for_each(|line| println!("{line}"));
    // A count, so that an attack cannot leave the table unnoticed.
    match table.contains(&format!("attacks contained {ATTACKS}/{ATTACKS}")) {
        true => Ok(()),
        false => Err(format!("not all of {ATTACKS} attacks were contained:\n{table}")),
    }
}

/// Compares the recorded cases with the bash and the GNU programs of this machine.
pub(crate) fn cases(_: &[String]) -> Result {
    check(command("cargo test --test all cases:: -- --nocapture").env("ISOPOD_ORACLE", "1"))
}

/// Tests the guest's crates. coreutils checks its table of programs when it is compiled; node's engine would need a C
/// compiler of this machine.
pub(crate) fn guest(_: &[String]) -> Result {
    run_line(&format!(
        "cargo test --workspace {HOST_PACKAGES} --exclude isopod-coreutils --exclude isopod-node --quiet"
    ))
}

/// Runs each fuzz target for a moment. `cargo +nightly fuzz run TARGET` is the long form, with libFuzzer.
pub(crate) fn fuzz(_: &[String]) -> Result {
    let text = output(&mut command("cargo test --test fuzz -- --nocapture --test-threads=1"))?;
    text.lines()
        .filter(|line| line.contains("executions") || line.contains("test result"))
        .for_each(|line| println!("{line}"));
    Ok(())
}

/// Compiles the examples together and runs them one by one.
pub(crate) fn examples(_: &[String]) -> Result {
    run_line("cargo build --quiet --examples")?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir("examples").map_err(|error| error.to_string())?.flatten() {
        names.extend(entry.file_name().to_str().and_then(|name| name.strip_suffix(".rs")).map(str::to_owned));
    }
    names.sort();
    for name in &names {
        println!("-- {name}");
        run_line(&format!("cargo run --quiet --example {name}"))?;
    }
    passed(names.len());
    Ok(())
}
