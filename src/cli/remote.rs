//! Executing by way of a backend, for `sandbox exec` and `run --isolate`: what is asked and how it is answered.

use std::ffi::OsString;
use std::process::ExitCode;

use isopod::backend::{BackendError, ExecuteRequest, Executed, SandboxBackend};
use serde_json::{Value, json};

use super::BROKEN_PIPE;
use super::answer::Failure;
use super::outlet::Outlets;
use super::run::limits_json;

/// A command line: one argument is it, several are a program and its arguments.
pub(super) fn line(command: &[OsString]) -> Result<String, Failure> {
    let words = command.iter().map(|word| word.clone().into_string());
    let words: Vec<String> = words.collect::<Result<_, _>>().map_err(|_| Failure::usage("the command is not UTF-8"))?;
    Ok(match words.as_slice() {
        [line] => line.clone(),
        words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    })
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Writes the command's output as it comes.
pub(super) async fn pass_on(
    backend: &dyn SandboxBackend,
    request: ExecuteRequest,
    raw: bool,
) -> Result<ExitCode, BackendError> {
    let mut stream = backend.stream(request).await?;
    let mut outlets = Outlets::new(raw);
    while let Some(chunk) = stream.next().await {
        if outlets.write(&chunk).await.is_err() {
            return Ok(ExitCode::from(BROKEN_PIPE));
        }
    }
    match outlets.finish().await {
        Ok(()) => Ok(ExitCode::from(stream.finish().await.exit_code)),
        Err(_) => Ok(ExitCode::from(BROKEN_PIPE)),
    }
}

/// The answer, as `--json` has it.
pub(super) fn report(executed: &Executed) -> Value {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let output = executed.output();
    json!({
        "exit_code": executed.exit_code(),
        "stdout": text(executed.stdout()),
        "stderr": text(executed.stderr()),
        // Bytes that are not UTF-8 are shown as U+FFFD.
        "lossy": std::str::from_utf8(&output).is_err(),
        "output": text(output),
        "truncated": executed.is_truncated(),
        "timed_out": executed.ending.timed_out,
        "limits": limits_json(&executed.ending.limits),
        "usage": { "wall_ms": executed.ending.wall.as_secs_f64() * 1e3 },
    })
}
