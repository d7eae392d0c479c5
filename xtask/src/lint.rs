//! Everything that is checked without running a test.

use std::time::SystemTime;

use crate::Result;
use crate::process::{self, check, command};

/// Workspace members that are not programs of the guest.
pub(crate) const HOST_PACKAGES: &str =
    "--exclude isopod --exclude isopod-images --exclude isopod-precompile --exclude isopod-python --exclude xtask";

/// Formats nothing and changes nothing: every check fails on the first finding.
pub(crate) fn run(_: &[String]) -> Result {
    process::run("cargo fmt --all --check")?;
    // Fails if Cargo.lock does not pin every dependency.
    process::run("cargo fetch --locked --quiet")?;
    process::run("cargo clippy --all-targets --features bench --quiet -- -D warnings")?;
    process::run("cargo clippy --package isopod-python --features isopod/bench --quiet -- -D warnings")?;
    process::run("cargo clippy --package xtask --target-dir target/xtask --quiet -- -D warnings")?;
    guest()?;
    check(command("cargo doc --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings"))
}

/// Lints the guest for its own target. The host's build has fetched the C compiler of isopod-node, and repairs its C.
fn guest() -> Result {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let repair = newest_build_script()?;
    let line =
        format!("cargo clippy --workspace {HOST_PACKAGES} --target wasm32-wasip2 --target-dir target/guest --quiet");
    let mut clippy = command(&line);
    clippy.args(["--", "-D", "warnings"]);
    clippy.env("RQUICKJS_SYS_NO_WASI_SDK", "1").env("ISOPOD_REPAIR", repair);
    for (variable, tool) in [("CC_wasm32_wasip2", "cc"), ("AR_wasm32_wasip2", "ar")] {
        clippy.env(variable, root.join("target/guest/node").join(tool));
    }
    check(&mut clippy)
}

/// The build script of isopod-images that the last build compiled.
fn newest_build_script() -> Result<std::path::PathBuf> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let builds = std::fs::read_dir(root.join("target/debug/build")).map_err(|error| error.to_string())?;
    let scripts = builds.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("isopod-images-"));
    let scripts = scripts.map(|entry| entry.path().join("build-script-build"));
    let age =
        |path: &std::path::PathBuf| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    scripts.filter(|path| path.is_file()).max_by_key(age).ok_or("isopod-images was not built".to_owned())
}
