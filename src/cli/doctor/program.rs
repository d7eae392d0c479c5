//! The program: its code, its features, and its root directory of sandboxes.

use std::path::Path;
use std::time::{Duration, Instant};

use isopod::backend::SandboxBackend;
use isopod::provider::Config;
use isopod::worker::Worker;
use isopod::{Runtime, Sandbox};
use rustix::fs::Access;
use rustix::io::Errno;

use super::{Finding, RootOptions};

pub(super) fn findings(place: &RootOptions) -> Vec<Finding> {
    vec![images(), command(), worker(), python(), data(place)]
}

fn images() -> Finding {
    match Runtime::verify() {
        Ok(()) => Finding::ok("programs", "their code is as it was built"),
        Err(error) => Finding::problem("programs", error.to_string()),
    }
}

fn command() -> Finding {
    let answer = Runtime::on_demand()
        .map_err(|error| error.to_string())
        .and_then(|runtime| Sandbox::builder().runtime(runtime).build().map_err(|error| error.to_string()))
        .and_then(|sandbox| sandbox.execute_blocking("echo works | cat").map_err(|error| error.to_string()));
    match answer {
        Ok(answer) if answer.stdout == b"works\n" => {
            Finding::ok("a command", format!("runs in {:.1} ms, the first one", answer.usage.wall.as_secs_f64() * 1e3))
        }
        Ok(answer) => Finding::problem("a command", format!("answers with exit code {}", answer.exit_code)),
        Err(why) => Finding::problem("a command", why),
    }
}

/// Checks `--isolate process`.
fn worker() -> Finding {
    let answer = || -> Result<Duration, String> {
        let text = |error: std::io::Error| error.to_string();
        let program = std::env::current_exe().map_err(text)?;
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text)?;
        let began = Instant::now();
        tokio.block_on(async {
            let worker =
                Worker::start(program, ["worker"], &Config::new("")).await.map_err(|error| error.to_string())?;
            let started = began.elapsed();
            match worker.execute("echo works".into()).await {
                Ok(answer) if answer.stdout == b"works\n" => Ok(started),
                Ok(answer) => Err(format!("answers with exit code {}", answer.exit_code)),
                Err(error) => Err(error.to_string()),
            }
        })
    };
    match answer() {
        Ok(time) => {
            let text = "--isolate process has a sandbox in a process of its own";
            Finding::ok("a worker", format!("starts in {:.1} ms: {text}", time.as_secs_f64() * 1e3))
        }
        Err(why) => Finding::note("a worker", format!("{why}: --isolate process does not work")),
    }
}

fn python() -> Finding {
    let has_python = Runtime::on_demand().is_ok_and(|it| it.programs().iter().any(|program| program.name == "python3"));
    match has_python {
        true => Finding::ok("python", "in this build"),
        false => Finding::note("python", "not in this build: python3 answers so"),
    }
}

/// Checks the root directory of sandboxes, without making it.
fn data(place: &RootOptions) -> Finding {
    let root = match place.config() {
        Ok(config) => config.root,
        Err(failure) => return Finding::problem("data", failure.why),
    };
    let writable = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    let mut at: &Path = &root;
    loop {
        match (rustix::fs::access(at, writable), at.parent()) {
            (Ok(()), _) if at == root => return Finding::ok("data", format!("{} is there", root.display())),
            (Ok(()), _) => return Finding::ok("data", format!("{} can be made", root.display())),
            // The last parent of a relative path is empty, which means the working directory.
            (Err(Errno::NOENT), Some(parent)) if !parent.as_os_str().is_empty() => at = parent,
            (Err(Errno::NOENT), Some(_)) if at != Path::new(".") => at = Path::new("."),
            (Err(error), _) => {
                let text =
                    format!("{}: {}: sandboxes that last have no place", root.display(), std::io::Error::from(error));
                return Finding::problem("data", text);
            }
        }
    }
}
