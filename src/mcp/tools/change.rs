//! `write`, `edit` and `delete`.

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Refusal, Reply, Tool};
use crate::backend::{Backend, EditRequest, WriteMode, WriteRequest};

pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct WriteArguments {
    /// The file: an absolute path, or one below /workspace. Missing directories are created.
    path: String,
    /// The whole content.
    content: String,
    /// If the file exists: `replace` its content, refuse (`create`), or add to its end (`append`).
    #[serde(default)]
    mode: Mode,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[schemars(crate = "rmcp::schemars", inline)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Create,
    Append,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct WriteAnswer {
    /// Bytes written.
    pub(super) bytes: u64,
}

impl Tool for Write {
    const NAME: &'static str = "write";
    const TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Put text into a file, in one step: a reader sees the old content or the new \
        one. An existing file is replaced unless mode says otherwise. `edit` changes a part, `upload` writes bytes.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = WriteArguments;
    type Answer = WriteAnswer;

    async fn call(arguments: WriteArguments, call: Call) -> Result<Reply<WriteAnswer>, Refusal> {
        let WriteArguments { path, content, mode } = arguments;
        let mode = match mode {
            Mode::Replace => WriteMode::Replace,
            Mode::Create => WriteMode::Create,
            Mode::Append => WriteMode::Append,
        };
        let written = call.session.workspace().files.write(WriteRequest::new(&path, content).mode(mode)).await?;
        let answer = WriteAnswer { bytes: written.bytes };
        Ok(Reply::text(answer, format!("wrote {} bytes to {path}", written.bytes)))
    }
}

pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct EditArguments {
    /// The file: an absolute path, or one below /workspace.
    path: String,
    /// The text to look for, exactly as it is in the file, with blanks and line ends. It must occur once, unless
    /// replace_all is true: lines around it make it unique.
    old: String,
    /// The text to put in its place. Empty removes the old text.
    new: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct EditAnswer {
    /// The number of replaced occurrences.
    occurrences: usize,
    /// Bytes of the file after the edit.
    bytes: u64,
}

impl Tool for Edit {
    const NAME: &'static str = "edit";
    const TITLE: &'static str = "Replace text in a file";
    const DESCRIPTION: &'static str = "Replace a text in a file by another, in one step. If the text does not occur, \
        or occurs several times, nothing changes and the answer says so.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = EditArguments;
    type Answer = EditAnswer;

    async fn call(arguments: EditArguments, call: Call) -> Result<Reply<EditAnswer>, Refusal> {
        let EditArguments { path, old, new, replace_all } = arguments;
        let files = &call.session.workspace().files;
        let mut request = EditRequest::new(&path, old, new);
        (request.replace_all, request.most) = (replace_all, files.largest_file());
        let edited = files.edit(request).await?;
        let answer = EditAnswer { occurrences: edited.occurrences, bytes: edited.bytes };
        let places = if edited.occurrences == 1 { "place" } else { "places" };
        Ok(Reply::text(answer, format!("replaced in {} {places} of {path}", edited.occurrences)))
    }
}

pub(super) struct Delete;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteArguments {
    /// The file, link or directory: an absolute path, or one below /workspace.
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct DeleteAnswer {
    /// The path that was deleted.
    path: String,
}

impl Tool for Delete {
    const NAME: &'static str = "delete";
    const TITLE: &'static str = "Delete a file or directory";
    const DESCRIPTION: &'static str = "Delete a file, a link, or a directory with all its entries. Links are not \
        followed.";
    const EFFECT: Effect = Effect::ChangesOnce;
    type Arguments = DeleteArguments;
    type Answer = DeleteAnswer;

    async fn call(DeleteArguments { path }: DeleteArguments, call: Call) -> Result<Reply<DeleteAnswer>, Refusal> {
        call.session.workspace().files.delete(&path).await?;
        let shown = format!("deleted {path}");
        Ok(Reply::text(DeleteAnswer { path }, shown))
    }
}
