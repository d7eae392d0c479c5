//! The programs that the suites compare with, and the interpreters that the build and the clients need.

use crate::Result;
use crate::process::{command, succeeds};

/// The oracles of the recorded cases and the peers of the benchmarks.
const ORACLES: &str = "bash dash coreutils busybox-static bubblewrap grep ripgrep sed gawk findutils diffutils patch jq bc dc \
    xxd bsdextrautils binutils file tree zip unzip bzip2 xz-utils zstd cpio procps ncal uuid-runtime gettext-base \
    strace sudo tzdata curl";

/// Installs with apt-get, where that exists. A missing program is not an error here: the suite that needs it names it.
pub(crate) fn run(_: &[String]) -> Result {
    if !succeeds("apt-get --version") {
        println!("left out: there is no apt-get; install these by hand: {ORACLES}");
        return Ok(());
    }
    if !(succeeds("apt-get update -qq") && install(ORACLES)) {
        println!("some programs could not be installed; each suite names the ones that it misses");
    }
    if !succeeds("python3 -m ensurepip --version") && !install("python3 python3-pip python3-venv") {
        println!("there is no pip: Python and JavaScript cannot be built");
    }
    if !succeeds("npm --version") && !install("nodejs npm") {
        println!("there is no npm");
    }
    Ok(())
}

fn install(packages: &str) -> bool {
    let mut install = command(&format!("apt-get install -y -qq --no-install-recommends {packages}"));
    install.env("DEBIAN_FRONTEND", "noninteractive").stdout(std::process::Stdio::null());
    install.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
}
