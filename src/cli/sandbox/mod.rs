//! `isopod sandbox`: sandboxes that last.

mod change;
mod exec;
mod list;
mod snapshot;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use isopod::provider::{Metadata, SandboxInfo, SandboxState};
use serde_json::{Value, json};

use super::answer::{Answer, Failure, show};
use super::location::RootOptions;
use super::{block_on_host, values};

/// Make, use and remove sandboxes that last
///
/// A sandbox has an id. Its /workspace lasts until it is removed; all other files are new for each
/// command. Only one process at a time can use it; others get an error.
///
/// Examples:
///   id=$(isopod sandbox create)
///   isopod sandbox exec $id -- 'echo hello > greeting'
///   isopod sandbox exec $id -- cat greeting
///   isopod sandbox fork $id
///   isopod sandbox snapshot $id backup.tar.zst
///   isopod sandbox list
///   isopod sandbox rm $id
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(in super::super) struct Sandbox {
    #[command(subcommand)]
    verb: Verb,

    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,

    #[command(flatten)]
    place: RootOptions,
}

#[derive(Subcommand)]
enum Verb {
    Create(change::Create),
    List(list::List),
    Exec(exec::Exec),
    Snapshot(snapshot::Take),
    Fork(change::Fork),
    Rm(change::Remove),
}

impl Sandbox {
    pub(in super::super) fn run(self) -> ExitCode {
        let Sandbox { verb, json, place } = self;
        match &verb {
            Verb::Exec(exec) => exec.run(&place, json),
            Verb::Create(create) => answer(create.run(&place), json),
            Verb::List(list) => answer(list.run(&place), json),
            Verb::Snapshot(take) => answer(take.run(&place), json),
            Verb::Fork(fork) => answer(fork.run(&place), json),
            Verb::Rm(remove) => answer(remove.run(&place), json),
        }
    }
}

fn answer(work: impl Future<Output = Result<Answer, Failure>>, json: bool) -> ExitCode {
    block_on_host(async { show(work.await, json, false) })
}

/// The options for the metadata of a sandbox.
#[derive(Args)]
struct Words {
    /// Metadata of the sandbox, which `list` shows. Repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::variable)]
    meta: Vec<(String, String)>,
}

impl Words {
    fn metadata(&self) -> Metadata {
        self.meta.iter().cloned().collect()
    }
}

/// The description of a sandbox for `--json`.
fn as_json(info: &SandboxInfo) -> Value {
    json!({
        "id": info.id,
        "state": state(info.state),
        "thread": info.thread,
        "user": info.user,
        "created_ms": info.created / 1_000_000,
        "last_used_ms": info.last_used / 1_000_000,
        "metadata": info.metadata,
        "damage": info.damage,
    })
}

fn state(state: SandboxState) -> &'static str {
    match state {
        SandboxState::Leased => "leased",
        SandboxState::Warm => "warm",
        _ => "stored",
    }
}

/// The answer for a new sandbox: its id.
fn made(info: &SandboxInfo) -> Result<Answer, Failure> {
    Ok(Answer::new(format!("{}\n", info.id), as_json(info)))
}
