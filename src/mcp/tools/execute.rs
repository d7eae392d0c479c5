//! The tool `execute`.

use std::time::Duration;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Call, Effect, Refusal, Reply, Tool};
use crate::backend::{CommandLineJson, OutputJson};
use crate::kernel::Transcript;
use crate::limits::server::mcp as limits;
use crate::mcp::progress::LastLine;
use crate::mcp::session::RunningCommand;
use crate::sandbox::{Command, Output};

pub(super) struct Execute;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A command line for bash: pipes, redirections, loops, here-documents, several lines. Or an array of a program and
    /// its arguments, which no shell reads.
    command: CommandLineJson,
    /// Seconds after which the command is ended with exit code 124. By default the server's own limit (30 unless it was
    /// set), at most 300.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 300.0))]
    timeout_seconds: Option<f64>,
    /// Standard input of the command, empty by default.
    #[serde(default)]
    stdin: Option<String>,
    /// Start a new shell first, with the initial directory, variables and functions. Background jobs end. Files stay.
    #[serde(default)]
    restart: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Answer {
    /// The result, with the output of background jobs since the last call.
    #[serde(flatten)]
    result: OutputJson,
    /// The shell's directory now; null if the shell has ended.
    cwd: Option<String>,
    /// `new` if the shell was started for this command, `ended` if the command ended the shell: the next command gets a
    /// new one.
    shell: Shell,
}

#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[schemars(crate = "rmcp::schemars")]
#[serde(rename_all = "lowercase")]
enum Shell {
    Same,
    New,
    Ended,
}

impl Tool for Execute {
    const NAME: &'static str = "execute";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = "Run a command in the sandbox's bash shell. The shell lives on between calls: \
        its directory, variables, functions and background jobs stay. There are the GNU programs (grep, sed, awk, \
        find, tar, jq, diff, …), but no network and nothing to install. Calls that come at the same time run one \
        after the other. A command that fails is a normal answer: look at exit_code.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, call: Call) -> Result<Reply<Answer>, Refusal> {
        let Arguments { command, timeout_seconds, stdin, restart } = arguments;
        let timeout = timeout_seconds.map(Duration::try_from_secs_f64).transpose();
        let timeout = timeout.map_err(|_| Refusal("timeout_seconds: not a time".to_owned()))?;
        let workspace = call.session.workspace();
        if restart {
            workspace.close().await;
        }
        let started = workspace.start(|| {
            let mut command = Command::new(command.clone().into());
            if let Some(text) = &stdin {
                command = command.stdin(text.clone());
            }
            if let Some(time) = timeout {
                command = command.timeout(time);
            }
            command
        });
        let RunningCommand { shell, mut execution, is_new } = started.await?;

        let mut transcript = Transcript::new(workspace.sandbox.limits().output);
        let mut last_line = LastLine::default();
        let mut ticks = interval_at(Instant::now() + limits::PROGRESS_PERIOD, limits::PROGRESS_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                chunk = execution.next() => match chunk {
                    Some(chunk) => {
                        transcript.push(chunk.channel, &chunk.bytes);
                        last_line.push(&chunk.bytes);
                    }
                    None => break,
                },
                _ = ticks.tick(), if call.progress.is_wanted() => call.progress.tell(&last_line.get()).await,
            }
        }
        let result = Output::new(transcript, execution.finish().await);
        let text = String::from_utf8_lossy(&result.output).into_owned();
        let answer = Answer {
            result: result.into(),
            cwd: shell.cwd(),
            shell: match (shell.is_open(), is_new) {
                (false, _) => Shell::Ended,
                (true, true) => Shell::New,
                (true, false) => Shell::Same,
            },
        };
        let shown = shown(&answer, text);
        Ok(Reply::text(answer, shown))
    }
}

/// Returns the text for the model: the output, and the exit code unless it is 0.
fn shown(answer: &Answer, mut output: String) -> String {
    let mut note = |text: &str| {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(text);
    };
    if answer.result.exit_code != 0 {
        note(&format!("[exit code {}]", answer.result.exit_code));
    }
    if answer.shell == Shell::Ended {
        note("[the shell has ended; the next command gets a new one]");
    }
    if output.is_empty() { "(no output)".to_owned() } else { output }
}
