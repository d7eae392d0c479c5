//! Other names for directories, such as `/mnt/user-data/workspace` for `/workspace`.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::composite::clean;
use super::super::execute::{Offload, Offloaded, OutputStream};
use super::super::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed,
    ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::error::Errno;
use crate::sandbox::{Command, ExecuteError, Output};

/// Shows directories of a backend under other names, and nothing else of it: a path outside of them does not exist, and
/// no result contains an inner name. The output of commands is not changed. If paths in commands matter, mount the
/// directory under its outer name instead.
#[derive(Clone)]
pub struct PathMap {
    inner: Arc<dyn Backend>,
    /// The outer and the inner prefix of each directory, without a trailing slash, the longest outer one first.
    names: Vec<(String, String)>,
}

impl PathMap {
    /// Wraps a backend. `names` are pairs of an outer and an inner directory, both absolute.
    pub fn around(inner: Arc<dyn Backend>, names: &[(&str, &str)]) -> Result<PathMap> {
        let absolute = |path: &str| match clean(path) {
            Ok(text) if path.starts_with('/') => Ok(text.trim_end_matches('/').to_owned()),
            _ => Err(BackendError::file(path, Errno::Invalid)),
        };
        let names = names.iter().map(|(outer, inner)| Ok((absolute(outer)?, absolute(inner)?)));
        let mut names: Vec<(String, String)> = names.collect::<Result<_>>()?;
        names.sort_by_key(|(outer, _)| std::cmp::Reverse(outer.len()));
        Ok(PathMap { inner, names })
    }

    /// Translates an outer path. A `..` is resolved by the text, so that it cannot leave the directories that are
    /// shown.
    fn inward(&self, path: &str) -> Result<String> {
        let missing = || BackendError::file(path, Errno::NoEntry);
        if !path.starts_with('/') {
            return Err(missing());
        }
        let text = clean(path)?;
        let (rest, inner) =
            self.names.iter().find_map(|(outer, inner)| Some((below(&text, outer)?, inner))).ok_or_else(missing)?;
        let slash = if path.ends_with('/') { "/" } else { "" };
        Ok(if inner.is_empty() && rest.is_empty() { "/".to_owned() } else { format!("{inner}{rest}{slash}") })
    }

    /// Translates an inner path. `None` if it has no outer path.
    fn outward(&self, path: &str) -> Option<String> {
        let names = self.names.iter().filter_map(|(outer, inner)| Some((inner.len(), below(path, inner)?, outer)));
        let (_, rest, outer) = names.max_by_key(|(len, ..)| *len)?;
        Some(if outer.is_empty() && rest.is_empty() { "/".to_owned() } else { format!("{outer}{rest}") })
    }

    fn error(&self, error: BackendError) -> BackendError {
        error.map_path(|path| self.outward(path).unwrap_or_else(|| "?".to_owned()))
    }

    fn executing(&self) -> Result<&dyn SandboxBackend> {
        self.inner.sandbox().ok_or(BackendError::ExecutesNothing)
    }

    fn inward_command(&self, mut command: Command) -> Result<Command> {
        if let Some(cwd) = &mut command.cwd {
            let inner = self.inward(cwd);
            *cwd = inner.map_err(|_| ExecuteError::Cwd(cwd.clone(), Errno::NoEntry))?;
        }
        Ok(command)
    }
}

/// The part of a path after a prefix.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let path = if path == "/" { "" } else { path };
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[async_trait]
impl Backend for PathMap {
    async fn ls(&self, path: &str) -> Result<Listed> {
        let mut listed = self.inner.ls(&self.inward(path)?).await.map_err(|error| self.error(error))?;
        listed.entries.retain_mut(|entry| self.outward(&entry.path).map(|path| entry.path = path).is_some());
        Ok(listed)
    }

    async fn read(&self, mut request: ReadRequest) -> Result<Content> {
        request.path = self.inward(&request.path)?;
        self.inner.read(request).await.map_err(|error| self.error(error))
    }

    async fn write(&self, mut request: WriteRequest) -> Result<Written> {
        request.path = self.inward(&request.path)?;
        self.inner.write(request).await.map_err(|error| self.error(error))
    }

    async fn edit(&self, mut request: EditRequest) -> Result<Edited> {
        request.path = self.inward(&request.path)?;
        self.inner.edit(request).await.map_err(|error| self.error(error))
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let inner = self.inward(path)?;
        // A directory that is shown cannot be deleted, nor one that contains it.
        if self.names.iter().any(|(_, shown)| below(shown, inner.trim_end_matches('/')).is_some()) {
            return Err(BackendError::file(path, Errno::Busy));
        }
        self.inner.delete(&inner).await.map_err(|error| self.error(error))
    }

    async fn glob(&self, mut request: GlobRequest) -> Result<Globbed> {
        request.path = self.inward(&request.path)?;
        let mut globbed = self.inner.glob(request).await.map_err(|error| self.error(error))?;
        globbed.matches.retain_mut(|found| self.outward(&found.path).map(|path| found.path = path).is_some());
        Ok(globbed)
    }

    async fn grep(&self, mut request: GrepRequest) -> Result<Grepped> {
        request.path = self.inward(&request.path)?;
        let mut grepped = self.inner.grep(request).await.map_err(|error| self.error(error))?;
        grepped.matches.retain_mut(|found| self.outward(&found.path).map(|path| found.path = path).is_some());
        Ok(grepped)
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for Upload { path, content } in files {
            answers.push(self.write(WriteRequest::new(path, content)).await);
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let mut answers = Vec::with_capacity(paths.len());
        for path in paths {
            answers.push(match self.inward(&path) {
                Err(error) => Err(error),
                Ok(inner) => match self.inner.download(vec![inner]).await.pop() {
                    Some(answer) => answer.map_err(|error| self.error(error)),
                    None => Err(BackendError::file(path, Errno::Io)),
                },
            });
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let resolved = self.inner.resolve(&self.inward(path)?).await.map_err(|error| self.error(error))?;
        self.outward(&resolved).ok_or_else(|| BackendError::file(path, Errno::NoEntry))
    }

    fn largest_file(&self) -> u64 {
        self.inner.largest_file()
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(PathMap { inner: self.inner.fork()?, names: self.names.clone() }))
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.inner.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl SandboxBackend for PathMap {
    fn id(&self) -> String {
        self.inner.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        self.executing()?.stream(self.inward_command(command)?).await.map_err(|error| self.error(error))
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        self.executing()?.execute(self.inward_command(command)?).await.map_err(|error| self.error(error))
    }

    async fn execute_with_offload(&self, command: Command, mut offload: Offload) -> Result<Offloaded> {
        offload.path = self.inward(&offload.path)?;
        let command = self.inward_command(command)?;
        self.executing()?.execute_with_offload(command, offload).await.map_err(|error| self.error(error))
    }
}
