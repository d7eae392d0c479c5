//! `isopod sandbox create`, `fork` and `rm`.

use std::path::PathBuf;

use clap::Args;
use isopod::provider::{ProviderError, SandboxId};
use serde_json::json;

use super::{Words, made, snapshot};
use crate::cli::answer::{Answer, Failure};
use crate::cli::location::{RootOptions, open};

/// Make a sandbox and print its id
///
/// Examples:
///   isopod sandbox create --meta project=website
///   isopod sandbox create --thread 42 --user ann        # the same id each time
///   isopod sandbox create --snapshot backup.tar.zst     # with the files of its /workspace
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Create {
    /// The sandbox of this thread of conversation, which is made only if it is not there
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,

    /// The user whose thread it is
    #[arg(long, value_name = "NAME", requires = "thread")]
    user: Option<String>,

    /// Start with the files that a snapshot has in /workspace
    #[arg(long, value_name = "FILE", conflicts_with = "thread")]
    snapshot: Option<PathBuf>,

    #[command(flatten)]
    words: Words,
}

impl Create {
    pub(super) async fn run(&self, place: &RootOptions) -> Result<Answer, Failure> {
        let config = place.config()?;
        let limits = config.limits.clone();
        let (provider, words) = (open(config)?, self.words.metadata());
        let id = match (&self.thread, &self.snapshot) {
            (Some(thread), _) => provider.acquire_with(thread, self.user.as_deref(), words).await?,
            (None, Some(file)) => provider.create_from(&snapshot::load(file, &limits)?, words).await?,
            (None, None) => provider.create(words).await?,
        };
        provider.shutdown().await;
        made(&provider.info(id).await?)
    }
}

/// Make a copy of a sandbox's /workspace in a new one, and print its id
///
/// Example:
///   isopod sandbox fork 1a2b3c4d --meta branch=experiment
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Fork {
    /// The sandbox to copy
    id: SandboxId,

    #[command(flatten)]
    words: Words,
}

impl Fork {
    pub(super) async fn run(&self, place: &RootOptions) -> Result<Answer, Failure> {
        let provider = place.open()?;
        let id = provider.fork(self.id, self.words.metadata()).await?;
        made(&provider.info(id).await?)
    }
}

/// Remove sandboxes with their files
///
/// Example:
///   isopod sandbox rm 1a2b3c4d 5e6f7a8b
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Remove {
    /// The sandboxes
    #[arg(required = true, value_name = "ID")]
    ids: Vec<SandboxId>,
}

impl Remove {
    pub(super) async fn run(&self, place: &RootOptions) -> Result<Answer, Failure> {
        let provider = place.open()?;
        let (mut removed, mut errors, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for &id in &self.ids {
            let error = match provider.delete(id).await {
                Ok(true) => {
                    removed.push(id);
                    continue;
                }
                Ok(false) => ProviderError::NotFound(id),
                Err(error) => error,
            };
            errors.push(json!({ "id": id, "error": error.to_string() }));
            lines.push(error.to_string());
        }
        Ok(Answer::new("", json!({ "removed": removed, "errors": errors })).refused(lines))
    }
}
