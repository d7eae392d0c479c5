//! Dry runs: operations on a copy of a backend.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use similar::TextDiff;

use super::super::execute::{Offload, Offloaded, OutputStream};
use super::super::{
    Backend, BackendError, Content, EditRequest, Edited, Found, GlobRequest, Globbed, GrepRequest, Grepped, Listed,
    ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written, bounds,
};
use crate::limits::{DIFF_BYTES, DIFF_MILLIS};
use crate::sandbox::{Command, Output, StdinReader};

/// A copy of a backend that takes all operations: reads and commands see earlier writes, and the backend itself does
/// not change. [`DryRun::diff`] returns the changes that the operations would have made.
///
/// The copy is a fork or an overlay, so the files that it holds cost nothing. A backend that supports neither cannot be
/// run dry: [`DryRun::around`] fails.
pub struct DryRun {
    before: Arc<dyn Backend>,
    after: Arc<dyn Backend>,
}

/// The changes of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The changed files, in the order of their paths.
    pub changes: Vec<Change>,
}

/// A file that would have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path of the file.
    pub path: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The change as a unified diff. Empty if the file is not text, or too large to compare.
    pub patch: String,
}

/// The kind of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum ChangeKind {
    Added,
    Changed,
    Removed,
}

impl DryRun {
    /// Starts a dry run of a backend.
    pub fn around(inner: Arc<dyn Backend>) -> Result<DryRun> {
        Ok(DryRun { after: inner.fork()?, before: inner })
    }

    /// Returns the changes below `root`.
    pub async fn diff(&self, root: &str) -> Result<Diff> {
        let (mut before, after) = (files(&self.before, root).await?, files(&self.after, root).await?);
        let mut changes = Vec::new();
        for (path, new) in after {
            match before.remove(&path) {
                // Each version of a file has its own time, so a file with the same size and time is unchanged.
                Some(old) if old.size == new.size && old.modified == new.modified => {}
                old => changes.extend(self.change(path, old.is_some(), true).await?),
            }
        }
        for path in before.into_keys() {
            changes.extend(self.change(path, true, false).await?);
        }
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Diff { changes })
    }

    async fn change(&self, path: String, was: bool, is: bool) -> Result<Option<Change>> {
        let old = content(&self.before, &path, was).await?;
        let new = content(&self.after, &path, is).await?;
        let kind = match (was, is) {
            (true, true) if old == new => return Ok(None),
            (true, true) => ChangeKind::Changed,
            (false, _) => ChangeKind::Added,
            (true, false) => ChangeKind::Removed,
        };
        let patch = patch(&path, kind, &old, &new);
        Ok(Some(Change { path, kind, patch }))
    }

    fn executing(&self) -> Result<&dyn SandboxBackend> {
        self.after.sandbox().ok_or(BackendError::ExecutesNothing)
    }
}

impl Diff {
    /// All changes as one patch.
    pub fn patch(&self) -> String {
        self.changes.iter().map(|change| change.patch.as_str()).collect()
    }
}

/// All files below a directory, by path.
async fn files(backend: &Arc<dyn Backend>, root: &str) -> Result<BTreeMap<String, Found>> {
    let all = GlobRequest {
        hidden: true,
        most: bounds::WALK_ENTRIES,
        time: bounds::FILE_TIME,
        ..GlobRequest::new("/**", root)
    };
    let found = backend.glob(all).await?;
    if found.cut.is_some() {
        return Err(BackendError::Unsupported("a comparison of more files than can be listed".to_owned()));
    }
    Ok(found.matches.into_iter().map(|found| (found.path.clone(), found)).collect())
}

async fn content(backend: &Arc<dyn Backend>, path: &str, is_there: bool) -> Result<Vec<u8>> {
    if !is_there {
        return Ok(Vec::new());
    }
    backend.download(vec![path.to_owned()]).await.pop().unwrap_or(Ok(Vec::new()))
}

fn patch(path: &str, kind: ChangeKind, old: &[u8], new: &[u8]) -> String {
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return String::new();
    };
    if old.len().max(new.len()) as u64 > DIFF_BYTES || old.contains('\0') || new.contains('\0') {
        return String::new();
    }
    let name = |side: &str, is_there: bool| if is_there { format!("{side}{path}") } else { "/dev/null".to_owned() };
    let (from, to) = (name("a", kind != ChangeKind::Added), name("b", kind != ChangeKind::Removed));
    let deadline = std::time::Duration::from_millis(DIFF_MILLIS);
    let diff = TextDiff::configure().timeout(deadline).diff_lines(old, new);
    diff.unified_diff().context_radius(3).header(&from, &to).to_string()
}

#[async_trait]
impl Backend for DryRun {
    async fn ls(&self, path: &str) -> Result<Listed> {
        self.after.ls(path).await
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        self.after.read(request).await
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        self.after.write(request).await
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        self.after.edit(request).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.after.delete(path).await
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        self.after.glob(request).await
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        self.after.grep(request).await
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        self.after.upload(files).await
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        self.after.download(paths).await
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        self.after.resolve(path).await
    }

    fn largest_file(&self) -> u64 {
        self.after.largest_file()
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        self.after.fork()
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.after.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl SandboxBackend for DryRun {
    fn id(&self) -> String {
        self.after.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        self.executing()?.stream(command).await
    }

    async fn stream_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        self.executing()?.stream_with_stdin(command, stdin).await
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        self.executing()?.execute(command).await
    }

    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        self.executing()?.execute_with_offload(command, offload).await
    }
}
