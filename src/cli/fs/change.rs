//! `isopod fs write`, `edit` and `rm`.

use clap::Args;
use isopod::backend::{Backend, EditRequest, WriteMode, WriteRequest};
use serde_json::json;

use crate::cli::answer::{Answer, Failure};
use crate::cli::read_input;

/// Put standard input into a file, in one step
///
/// Directories that are not there are made.
///
/// Examples:
///   isopod fs write --sandbox 1a2b3c4d src/main.py < main.py
///   isopod fs write --dir . notes.txt --append --content 'one more line
///   '
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Write {
    /// The file
    path: String,

    /// The content, instead of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,

    /// Add to its end
    #[arg(long)]
    append: bool,

    /// Refuse if it is there
    #[arg(long, conflicts_with = "append")]
    create: bool,
}

impl Write {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let content = match &self.content {
            Some(text) => text.clone().into_bytes(),
            None => read_input(backend.largest_file())?,
        };
        let mode = match (self.append, self.create) {
            (true, _) => WriteMode::Append,
            (_, true) => WriteMode::Create,
            _ => WriteMode::Replace,
        };
        let written = backend.write(WriteRequest::new(&self.path, content).mode(mode)).await?;
        Ok(Answer::new("", json!({ "path": self.path, "bytes": written.bytes })))
    }
}

/// Replace a text in a file
///
/// The text has to be there once; --all replaces it wherever it is.
///
/// Example:
///   isopod fs edit --sandbox 1a2b3c4d config.toml --old 'debug = true' --new 'debug = false'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Edit {
    /// The file
    path: String,

    /// The text to look for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    old: String,

    /// The text to put in its place
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    new: String,

    /// Replace it wherever it is
    #[arg(long)]
    all: bool,
}

impl Edit {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let mut request = EditRequest::new(&self.path, &self.old, &self.new);
        (request.replace_all, request.most) = (self.all, backend.largest_file());
        let edited = backend.edit(request).await?;
        let json = json!({ "path": self.path, "occurrences": edited.occurrences, "bytes": edited.bytes });
        Ok(Answer::new("", json))
    }
}

/// Remove files, and directories with all that is in them
///
/// Example:
///   isopod fs rm --sandbox 1a2b3c4d build old.log
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Remove {
    /// The files and directories
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
}

impl Remove {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let (mut files, mut lines) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let error = backend.delete(path).await.err().map(|error| error.to_string());
            files.push(json!({ "path": path, "error": error }));
            lines.extend(error);
        }
        Ok(Answer::new("", json!({ "files": files })).refused(lines))
    }
}
