//! `isopod fs`: the files of a sandbox or of a directory, without a command.

mod change;
mod look;
mod search;
mod transfer;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use isopod::backend::Backend;

use super::answer::{Answer, Failure, show};
use super::block_on_host;
use super::location::FilesOptions;

/// Work with the files of a sandbox, or of a directory
///
/// --sandbox ID or --dir DIR says whose files. A path of a sandbox starts at /workspace, unless it
/// starts with `/`. Exit code 1 means that it was refused, and grep that nothing was found.
///
/// Examples:
///   isopod fs ls --sandbox 1a2b3c4d
///   echo hello | isopod fs write --sandbox 1a2b3c4d greeting
///   isopod fs edit --dir . README.md --old colour --new color --all
///   isopod fs grep --dir . --regex 'fn \w+' src --include '*.rs'
///   isopod fs upload --sandbox 1a2b3c4d *.csv data/
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(in super::super) struct Fs {
    #[command(subcommand)]
    verb: Verb,

    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,

    #[command(flatten)]
    location: FilesOptions,
}

#[derive(Subcommand)]
enum Verb {
    Ls(look::Ls),
    Read(look::Read),
    Write(change::Write),
    Edit(change::Edit),
    Rm(change::Remove),
    Glob(search::Glob),
    Grep(search::Grep),
    Upload(transfer::Upload),
    Download(transfer::Download),
}

impl Fs {
    pub(in super::super) fn run(self) -> ExitCode {
        let raw = matches!(&self.verb, Verb::Read(read) if read.raw);
        block_on_host(async {
            let files = match self.location.open().await {
                Ok(files) => files,
                Err(failure) => return show(Err(failure), self.json, raw),
            };
            let answer = self.verb.run(&*files.backend).await;
            files.close().await;
            show(answer, self.json, raw)
        })
    }
}

impl Verb {
    async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        match self {
            Verb::Ls(ls) => ls.run(backend).await,
            Verb::Read(read) => read.run(backend).await,
            Verb::Write(write) => write.run(backend).await,
            Verb::Edit(edit) => edit.run(backend).await,
            Verb::Rm(remove) => remove.run(backend).await,
            Verb::Glob(glob) => glob.run(backend).await,
            Verb::Grep(grep) => grep.run(backend).await,
            Verb::Upload(upload) => upload.run(backend).await,
            Verb::Download(download) => download.run(backend).await,
        }
    }
}
