//! `isopod sandbox snapshot`, and the loading of a snapshot.
#![allow(clippy::disallowed_methods, reason = "the caller names a file of their own")]

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use isopod::provider::SandboxId;
use isopod::{Limits, Snapshot};
use serde_json::json;

use crate::cli::answer::{Answer, Failure};
use crate::cli::location::RootOptions;

/// Save all files of a sandbox to one file, and print its digest
///
/// The file is a tar in zstd with the digest behind it: `zstd -dc FILE | tar -tv` lists it.
///
/// Example:
///   isopod sandbox snapshot 1a2b3c4d backup.tar.zst
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Take {
    /// The sandbox
    id: SandboxId,

    /// The file to make; one that is there is not overwritten
    file: PathBuf,
}

impl Take {
    pub(super) async fn run(&self, place: &RootOptions) -> Result<Answer, Failure> {
        let provider = place.open()?;
        let named = |error: std::io::Error| Failure::refused(format!("{}: {error}", self.file.display()));
        // First, so that a name that is no id makes no file.
        provider.info(self.id).await?;
        let file = File::create_new(&self.file).map_err(named)?;
        let to = file.try_clone().map_err(named)?;
        let saved = provider.snapshot(self.id, to).await;
        let digest = saved.inspect_err(|_| drop(std::fs::remove_file(&self.file)))?;
        file.sync_all().map_err(named)?;
        let bytes = file.metadata().map_err(named)?.len();
        let (digest, file) = (digest.to_string(), self.file.to_string_lossy());
        Ok(Answer::new(format!("{digest}\n"), json!({ "id": self.id, "file": file, "digest": digest, "bytes": bytes })))
    }
}

/// Reads a snapshot.
pub(super) fn load(file: &Path, limits: &Limits) -> Result<Snapshot, Failure> {
    let named = |why: String| Failure::refused(format!("{}: {why}", file.display()));
    let open = File::open(file).map_err(|error| named(error.to_string()))?;
    let loaded = Snapshot::load(std::io::BufReader::new(open), limits, None);
    loaded.map(|(snapshot, _)| snapshot).map_err(|error| named(error.to_string()))
}
