//! `isopod shell`: a live session at a terminal, or with commands from a pipe.

mod editor;
mod keyboard;
mod source;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;
use isopod::{BuildError, Command, ExecuteError, Sandbox, Session};
use tokio::io::AsyncWriteExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::command::{as_json, code_of, print_output};
use super::overlay::OverlayOptions;
use super::run::finish_overlays;
use super::settings::Settings;
use super::{BROKEN_PIPE, NO_SANDBOX, USAGE, block_on, block_on_host, refuse};
use editor::{Editor, Line};
use keyboard::Keyboard;
use source::Source;

/// Talk to a shell in a sandbox
///
/// Directory, variables, functions and background jobs last until `exit` or Ctrl-D; Ctrl-C
/// interrupts a command. Lines can be edited and found again, and Tab completes programs and files.
/// Without a terminal the commands are read from standard input, and the exit code is that of the
/// last.
///
/// Examples:
///   isopod shell --dir .
///   isopod shell --overlay . --diff
///   printf 'cd /tmp\npwd\n' | isopod shell
///   printf 'x=1\necho $x\n' | isopod shell --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Shell {
    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    overlay: OverlayOptions,

    /// Read commands from standard input; answer each with one line of JSON, as `run --json` does
    #[arg(long)]
    json: bool,

    /// Do not escape control characters when the output goes to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

impl Shell {
    pub(super) fn run(self) -> ExitCode {
        match self.settings.has_mounts() {
            true => block_on_host(self.talk()),
            false => block_on(self.talk()),
        }
    }

    async fn talk(self) -> ExitCode {
        let sandbox = match self.settings.sandbox(None) {
            Ok(sandbox) => sandbox,
            Err(error @ BuildError::Runtime(_)) => return refuse(NO_SANDBOX, error),
            Err(error) => return refuse(USAGE, error),
        };
        let started = sandbox.session().map_err(|error| error.to_string());
        let keys = signal(SignalKind::interrupt()).map_err(|error| error.to_string());
        let (session, keys) = match (started, keys) {
            (Ok(session), Ok(keys)) => (session, keys),
            (Err(why), _) | (_, Err(why)) => return refuse(NO_SANDBOX, why),
        };
        let mut dialogue = Dialogue {
            sandbox: &sandbox,
            session,
            keys,
            settings: &self.settings,
            json: self.json,
            raw: self.raw,
            status: 0,
        };
        let ended = match !self.json && io::stdin().is_terminal() && io::stdout().is_terminal() {
            true => dialogue.with_person().await,
            false => dialogue.with_pipe().await,
        };
        let status = dialogue.status;
        match ended {
            Ok(()) => finish_overlays(&sandbox, self.overlay.action(), self.raw, status),
            Err(End::Unread) => ExitCode::from(BROKEN_PIPE),
            Err(End::Because(why)) => refuse(NO_SANDBOX, why),
        }
    }
}

/// The reason for which the shell cannot go on.
enum End {
    /// The reader of the output has gone.
    Unread,
    Because(String),
}

struct Dialogue<'a> {
    sandbox: &'a Sandbox,
    session: Session,
    keys: Signal,
    settings: &'a Settings,
    json: bool,
    raw: bool,
    status: u8,
}

impl Dialogue<'_> {
    async fn with_person(&mut self) -> Result<(), End> {
        let because = |error: &dyn std::fmt::Display| End::Because(error.to_string());
        let mut editor = Editor::new(self.sandbox, &self.session).map_err(|error| because(&error))?;
        while self.session.is_open() {
            let prompt = format!("isopod:{}$ ", self.session.cwd().unwrap_or_default());
            // The editor waits for keys; background jobs run on.
            match tokio::task::block_in_place(|| editor.line(&prompt)).map_err(|error| because(&error))? {
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) => {
                    let keyboard = Keyboard::listen().map_err(|error| because(&error))?;
                    self.execute(Command::shell(text), Some(keyboard)).await?;
                }
                // Ctrl-C at the prompt gives up the line.
                Line::Interrupted => self.status = super::INTERRUPTED,
                Line::End => break,
            }
        }
        Ok(())
    }

    async fn with_pipe(&mut self) -> Result<(), End> {
        for text in Source::new() {
            let text = text.map_err(|error| End::Because(format!("standard input: {error}")))?;
            self.execute(Command::shell(text), None).await?;
            if !self.session.is_open() {
                break;
            }
        }
        Ok(())
    }

    async fn execute(&mut self, command: Command, stdin: Option<Keyboard>) -> Result<(), End> {
        // A person sees that a command takes long, and has Ctrl-C.
        let time = self.settings.timeout().unwrap_or(self.sandbox.limits().wall_max);
        let mut work = std::pin::pin!(answer(&self.session, command.timeout(time), stdin, self.json, self.raw));
        loop {
            tokio::select! {
                done = &mut work => {
                    match done {
                        Ok(status) => self.status = status.map_err(|_| End::Unread)?,
                        Err(ExecuteError::Ended) => {}
                        Err(error) => {
                            super::say(&error);
                            self.status = code_of(&error);
                        }
                    }
                    return Ok(());
                }
                _ = self.keys.recv() => self.session.interrupt(),
            }
        }
    }
}

/// Executes a command, prints its output or its result in JSON, and returns its exit code.
async fn answer(
    session: &Session,
    command: Command,
    stdin: Option<Keyboard>,
    json: bool,
    raw: bool,
) -> Result<io::Result<u8>, ExecuteError> {
    if !json {
        let execution = match stdin {
            Some(stdin) => session.stream_with_stdin(command, stdin).await?,
            None => session.stream(command).await?,
        };
        return Ok(print_output(Box::new(execution), raw).await);
    }
    let output = session.execute(command).await?;
    let exit_code = output.exit_code;
    let line = format!("{}\n", as_json(output));
    let mut stdout = tokio::io::stdout();
    let written = async { stdout.write_all(line.as_bytes()).await.and(stdout.flush().await) };
    Ok(written.await.map(|()| exit_code))
}
