//! The servers and the bindings, each tested by real clients of its protocol.

use crate::Result;
use crate::process::{check, command, run, succeeds, virtual_environment};

const BINARY: &str = "target/release/isopod";

/// Tests the MCP server with the official client from PyPI.
pub(crate) fn mcp(_: &[String]) -> Result {
    virtual_environment("target/mcp-venv", "--requirement tests/mcp/requirements.txt")?;
    check(
        command("target/mcp-venv/bin/python -B -m pytest tests/mcp --quiet -p no:cacheprovider")
            .env("ISOPOD", binary()?),
    )
}

/// Lets Schemathesis make requests from /openapi.json. Its closing line counts operations, not tests.
pub(crate) fn http(_: &[String]) -> Result {
    virtual_environment("target/schemathesis", "schemathesis==4.32.5")?;
    let tools = std::env::current_dir().map_err(|error| error.to_string())?.join("target/schemathesis/bin");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    check(command(".ci/schemathesis 12").env("ISOPOD", binary()?).env("PATH", path))
}

/// Builds and tests the client, where there is a Node of version 20 or later.
pub(crate) fn typescript(_: &[String]) -> Result {
    let mut node = command("node -e");
    let is_recent = node.arg("process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)").status();
    if !is_recent.is_ok_and(|status| status.success()) {
        println!("left out: there is no Node 20");
        return Ok(());
    }
    let directory = "typescript";
    check(command("npm install --no-package-lock --no-audit --no-fund --silent").current_dir(directory))?;
    check(command("npm test --silent").current_dir(directory).env("ISOPOD", binary()?))
}

/// Builds the package with pip and runs its tests, also with the older Deep Agents whose standard suite differs.
pub(crate) fn python(_: &[String]) -> Result {
    virtual_environment("target/venv", "--requirement python/tests/requirements.txt ./python")?;
    let pip = "target/venv/bin/pip install --quiet --disable-pip-version-check --no-deps";
    run(&format!("{pip} deepagents-code==0.1.57"))?;
    check(command("../target/venv/bin/mypy").current_dir("python"))?;
    check(command("target/venv/bin/python -m pytest --quiet python/tests").env("ISOPOD", binary()?))?;
    run(&format!("{pip} --upgrade --target target/deepagents-0.6 deepagents==0.6.12"))?;
    let legacy = "target/venv/bin/python -m pytest --quiet python/tests/test_standard.py -k TestLegacy";
    check(command(legacy).env("PYTHONPATH", "target/deepagents-0.6").env("ISOPOD", binary()?))?;
    run("target/venv/bin/python python/bench.py --quick")
}

/// The optimised command line as an absolute path; built first if it is not there.
fn binary() -> Result<std::path::PathBuf> {
    if !succeeds(&format!("{BINARY} --version")) {
        run("cargo build --release --quiet")?;
    }
    std::env::current_dir().map(|root| root.join(BINARY)).map_err(|error| error.to_string())
}
