//! Licences, sources and advisories of everything that is built in.

use crate::Result;
use crate::process::{check, command, succeeds};

/// The database of advisories: a repository that not every machine can reach.
const ADVISORIES: &str = "https://github.com/rustsec/advisory-db";

/// A tool and its version.
type Tool = (&'static str, &'static str);

const DENY: Tool = ("cargo-deny", "0.20.2");
const AUDIT: Tool = ("cargo-audit", "0.22.2");

/// Checks with cargo-deny, and with cargo-audit where the advisories are in reach. Missing tools are built once, without
/// optimisation, into `target/tools`. `--install-only` stops there, so that a run of all tasks can build them beside its
/// lints.
pub(crate) fn run(arguments: &[String]) -> Result {
    let with_advisories = succeeds(&format!("timeout 20 git ls-remote --quiet --exit-code {ADVISORIES} HEAD"));
    tool(DENY)?;
    if with_advisories {
        tool(AUDIT)?;
    }
    if arguments.iter().any(|argument| argument == "--install-only") {
        return Ok(());
    }
    cargo("deny --all-features check licenses bans sources")?;
    if !with_advisories {
        println!("left out: cargo deny check advisories, cargo audit: their database is out of reach");
        return Ok(());
    }
    cargo("deny --all-features check advisories")?;
    cargo("audit --deny warnings")
}

/// Builds a tool unless the machine has it. `nice`, because it may be built beside other work.
fn tool((name, version): Tool) -> Result {
    if succeeds(&format!("{name} --version")) || succeeds(&format!("target/tools/bin/{name} --version")) {
        return Ok(());
    }
    let build = "--quiet --locked --debug --root target/tools --target-dir target/tools/build";
    let mut install = command(&format!("nice -n 19 cargo install {build} {name}@{version}"));
    check(install.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    // Some gigabytes that are not needed again.
    std::fs::remove_dir_all("target/tools/build").map_err(|error| error.to_string())
}

/// Runs a subcommand of cargo that may be in `target/tools`.
fn cargo(arguments: &str) -> Result {
    let tools = std::env::current_dir().map_err(|error| error.to_string())?.join("target/tools/bin");
    let path = format!("{}:{}", std::env::var("PATH").unwrap_or_default(), tools.display());
    check(command(&format!("cargo {arguments}")).env("PATH", path))
}
