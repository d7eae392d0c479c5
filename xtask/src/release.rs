//! The optimised build: the README's promise, the archive and the release notes.

use crate::Result;
use crate::process::{command, output, passed, run};

/// Builds the command line.
pub(crate) fn build(_: &[String]) -> Result {
    run("cargo build --release")
}

/// Runs the README's first command, then checks that a second build finds nothing to do.
pub(crate) fn main_command(_: &[String]) -> Result {
    let answer = output(command("cargo run --quiet --release -- run --").arg("echo hello | tr a-z A-Z"))?;
    if answer != "HELLO\n" {
        return Err(format!("the README's command printed {answer:?}"));
    }
    let again = std::process::Command::new("cargo").args(["build", "--release"]).output();
    let log = String::from_utf8_lossy(&again.map_err(|error| error.to_string())?.stderr).into_owned();
    if ["Compiling", "warning"].iter().any(|word| log.contains(word)) {
        return Err(format!("a second build did something:\n{log}"));
    }
    passed(2);
    Ok(())
}

/// Packs the binary with licences, documents and release notes.
pub(crate) fn archive(arguments: &[String]) -> Result {
    build(&[])?;
    let version = output(&mut command("target/release/isopod --version"))?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    let name = format!("isopod-{version}-{}-linux", std::env::consts::ARCH);
    let directory = format!("target/release-archive/{name}");
    run(&format!("mkdir -p {directory}"))?;
    run(&format!(
        "cp target/release/isopod README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT SECURITY.md {directory}"
    ))?;
    let notes = section(arguments.first().map_or("Unreleased", String::as_str))?;
    std::fs::write(format!("{directory}/NOTES.md"), notes).map_err(|error| error.to_string())?;
    run(&format!("tar -C target/release-archive -czf target/release-archive/{name}.tar.gz {name}"))?;
    println!("target/release-archive/{name}.tar.gz");
    Ok(())
}

/// Prints the notes of a version.
pub(crate) fn notes(arguments: &[String]) -> Result {
    print!("{}", section(arguments.first().map_or("Unreleased", String::as_str))?);
    Ok(())
}

/// The section of a version in CHANGELOG.md, without its heading.
fn section(version: &str) -> Result<String> {
    let changelog = std::fs::read_to_string("CHANGELOG.md").map_err(|error| format!("CHANGELOG.md: {error}"))?;
    let heading = |line: &str| line.strip_prefix("## ").map(|rest| rest.trim_start_matches('[').to_owned());
    let is_start = |line: &&str| heading(line).is_some_and(|title| title.starts_with(version));
    let mut lines = changelog.lines().skip_while(|line| !is_start(line));
    lines.next().ok_or(format!("CHANGELOG.md has no section {version:?}"))?;
    let body: Vec<&str> = lines.take_while(|line| heading(line).is_none()).collect();
    Ok(format!("{}\n", body.join("\n").trim()))
}
