//! `isopod fs upload` and `download`: files from here to there and back, byte for byte.
#![allow(clippy::disallowed_methods, reason = "the caller names files of their own")]

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use isopod::backend::{self, Backend};
use serde_json::json;

use crate::cli::answer::{Answer, Failure};

/// Copy files of this machine into the sandbox or the directory
///
/// The last argument is the destination: a file, or a directory if it ends in `/` or there are several
/// files.
///
/// Examples:
///   isopod fs upload --sandbox 1a2b3c4d report.pdf report.pdf
///   isopod fs upload --sandbox 1a2b3c4d *.csv data/
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Upload {
    /// The files of this machine
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The destination
    #[arg(value_name = "TO")]
    to: String,
}

/// Copy files of the sandbox or the directory to this machine
///
/// The last argument is the destination: a file, or a directory if it is one, ends in `/` or there are
/// several files. What is there is overwritten.
///
/// Examples:
///   isopod fs download --sandbox 1a2b3c4d chart.png .
///   isopod fs download --sandbox 1a2b3c4d out/a.csv out/b.csv results/
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Download {
    /// The files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,

    /// The destination
    #[arg(value_name = "TO")]
    to: PathBuf,
}

/// The result for one file.
struct Copied {
    from: String,
    to: String,
    outcome: Result<u64, String>,
}

impl Upload {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let into = self.files.len() > 1 || self.to.ends_with('/');
        let mut all = Vec::new();
        for file in &self.files {
            let from = file.to_string_lossy().into_owned();
            let to = match (into, file.file_name().and_then(|name| name.to_str())) {
                (false, _) => self.to.clone(),
                (true, Some(name)) => format!("{}/{name}", self.to.trim_end_matches('/')),
                (true, None) => return Err(Failure::usage(format!("{from}: has no name to give to the copy"))),
            };
            // One after the other, so that only one file is in memory.
            let outcome = match read_file(file, backend.largest_file()) {
                Ok(content) => {
                    let upload = backend::Upload::new(&to, content);
                    let written = backend.upload(vec![upload]).await.remove(0);
                    written.map(|written| written.bytes).map_err(|error| error.to_string())
                }
                Err(why) => Err(format!("{from}: {why}")),
            };
            all.push(Copied { from, to, outcome });
        }
        Ok(report(all))
    }
}

impl Download {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let ends_in_slash = self.to.as_os_str().as_encoded_bytes().ends_with(b"/");
        let into = self.paths.len() > 1 || ends_in_slash || self.to.is_dir();
        let mut all = Vec::new();
        for path in &self.paths {
            // Only the last name of the path, because a guest chose the path.
            let to = match (into, path.rsplit('/').find(|name| !name.is_empty())) {
                (false, _) => self.to.clone(),
                (true, Some(name)) if name != ".." && name != "." => self.to.join(name),
                _ => return Err(Failure::usage(format!("{path}: has no name to give to the copy"))),
            };
            let outcome = match backend.download(vec![path.clone()]).await.remove(0) {
                Ok(bytes) => match write_file(&to, &bytes) {
                    Ok(()) => Ok(bytes.len() as u64),
                    Err(error) => Err(format!("{}: {error}", to.display())),
                },
                Err(error) => Err(error.to_string()),
            };
            all.push(Copied { from: path.clone(), to: to.to_string_lossy().into_owned(), outcome });
        }
        Ok(report(all))
    }
}

fn read_file(file: &Path, most: u64) -> Result<Bytes, String> {
    let mut content = Vec::new();
    let read = std::fs::File::open(file).and_then(|open| open.take(most.saturating_add(1)).read_to_end(&mut content));
    match read {
        Ok(size) if size as u64 > most => Err(format!("more than {most} bytes")),
        Ok(_) => Ok(content.into()),
        Err(error) => Err(error.to_string()),
    }
}

fn write_file(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(file, bytes)
}

fn report(all: Vec<Copied>) -> Answer {
    let (mut files, mut lines) = (Vec::new(), Vec::new());
    for Copied { from, to, outcome } in all {
        let (bytes, error) = match outcome {
            Ok(bytes) => (Some(bytes), None),
            Err(why) => (None, Some(why)),
        };
        files.push(json!({ "from": from, "to": to, "bytes": bytes, "error": error }));
        lines.extend(error);
    }
    Answer::new("", json!({ "files": files })).refused(lines)
}
