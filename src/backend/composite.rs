//! Several backends under one root, chosen by path prefix.

use std::sync::Arc;

use async_trait::async_trait;

use super::execute::{Offload, Offloaded, OutputStream};
use super::{
    Backend, BackendError, Content, Cut, EditRequest, Edited, Entry, GlobRequest, Globbed, GrepRequest, Grepped,
    Listed, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::sandbox::{Command, Output};
use crate::vfs::Kind;

/// Routes operations by path prefix, the longest first: for example `/memories` to a store and the rest to a sandbox. A
/// backend sees paths without the prefix. Commands go to the backend of the rest and see only its files.
#[derive(Clone)]
pub struct Composite {
    rest: Arc<dyn Backend>,
    /// Prefixes without a trailing slash, longest first.
    routes: Vec<(String, Arc<dyn Backend>)>,
}

/// The backend of a path.
struct Route<'a> {
    backend: &'a Arc<dyn Backend>,
    /// The prefix that the backend's paths lack.
    prefix: &'a str,
    path: String,
}

impl Composite {
    /// Makes a composite that routes everything to `rest`.
    pub fn new(rest: Arc<dyn Backend>) -> Composite {
        Composite { rest, routes: Vec::new() }
    }

    /// Routes all paths below `prefix`, an absolute path, to `backend`.
    pub fn route(mut self, prefix: &str, backend: Arc<dyn Backend>) -> Result<Composite> {
        let path = GuestPath::parse(&GuestPath::root(), prefix).map_err(|errno| BackendError::file(prefix, errno))?;
        if !prefix.starts_with('/') || path.is_root() || path.components().any(|name| name == "..") {
            return Err(BackendError::file(prefix, Errno::Invalid));
        }
        self.routes.push((path.as_str().to_owned(), backend));
        self.routes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Ok(self)
    }

    /// Finds the backend of a path. A `..` is resolved here, by the text: it could lead from one backend to another,
    /// and neither would know.
    fn find(&self, text: &str) -> Result<Route<'_>> {
        let rest = Route { backend: &self.rest, prefix: "", path: text.to_owned() };
        if !text.starts_with('/') {
            return Ok(rest);
        }
        let clean = clean(text)?;
        for (prefix, backend) in &self.routes {
            match clean.strip_prefix(prefix.as_str()) {
                Some("") => return Ok(Route { backend, prefix, path: "/".to_owned() }),
                Some(below) if below.starts_with('/') => {
                    let slash = if text.ends_with('/') { "/" } else { "" };
                    return Ok(Route { backend, prefix, path: format!("{below}{slash}") });
                }
                _ => {}
            }
        }
        // Unchanged: the backend follows links before a `..`.
        Ok(rest)
    }

    /// The routes below a directory. A search through it includes them.
    fn below<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a (String, Arc<dyn Backend>)> {
        let directory = clean(directory).unwrap_or_default();
        let directory = directory.trim_end_matches('/').to_owned();
        self.routes.iter().filter(move |(prefix, _)| {
            prefix.strip_prefix(&directory).is_some_and(|below| below.len() > 1 && below.starts_with('/'))
        })
    }
}

impl Route<'_> {
    /// Adds the prefix to a path of the backend.
    fn outer(&self, path: &str) -> String {
        if self.prefix.is_empty() { path.to_owned() } else { format!("{}{}", self.prefix, path.trim_end_matches('/')) }
    }

    fn error(&self, error: BackendError) -> BackendError {
        error.map_path(|path| self.outer(path))
    }
}

/// Returns an absolute path without `.`, `..` and empty names.
pub(super) fn clean(text: &str) -> Result<String> {
    let path = GuestPath::parse(&GuestPath::root(), text).map_err(|errno| BackendError::file(text, errno))?;
    let mut names: Vec<&str> = Vec::new();
    for name in path.components() {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    Ok(format!("/{}", names.join("/")))
}

#[async_trait]
impl Backend for Composite {
    async fn ls(&self, path: &str) -> Result<Listed> {
        let route = self.find(path)?;
        let listed = route.backend.ls(&route.path).await.map_err(|error| route.error(error));
        let mut below: Vec<&str> = Vec::new();
        let root = clean(path).unwrap_or_default();
        for (prefix, _) in self.below(path) {
            below.extend(prefix[root.trim_end_matches('/').len() + 1..].split('/').next());
        }
        let mut listed = match listed {
            Err(error) if error.errno() == Some(Errno::NoEntry) && !below.is_empty() => {
                Listed { entries: Vec::new(), cut: None }
            }
            listed => listed?,
        };
        listed.entries.iter_mut().for_each(|entry| entry.path = route.outer(&entry.path));
        for name in below {
            listed.entries.retain(|entry| entry.name != name);
            let path = format!("{}/{name}", root.trim_end_matches('/'));
            listed.entries.push(Entry { name: name.to_owned(), path, kind: Kind::Directory, size: 0, modified: 0 });
        }
        listed.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    async fn read(&self, mut request: ReadRequest) -> Result<Content> {
        let route = self.find(&request.path)?;
        request.path = route.path.clone();
        route.backend.read(request).await.map_err(|error| route.error(error))
    }

    async fn write(&self, mut request: WriteRequest) -> Result<Written> {
        let route = self.find(&request.path)?;
        request.path = route.path.clone();
        route.backend.write(request).await.map_err(|error| route.error(error))
    }

    async fn edit(&self, mut request: EditRequest) -> Result<Edited> {
        let route = self.find(&request.path)?;
        request.path = route.path.clone();
        route.backend.edit(request).await.map_err(|error| route.error(error))
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let route = self.find(path)?;
        // The backend of the rest has none of the routed files: it could only delete files that the route hides.
        if route.path == "/" || self.below(path).next().is_some() {
            return Err(BackendError::file(path, Errno::Busy));
        }
        route.backend.delete(&route.path).await.map_err(|error| route.error(error))
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        let pattern = super::Pattern::new(&request.pattern, request.hidden)?;
        let route = self.find(&request.path)?;
        let inner = GlobRequest { path: route.path.clone(), ..request.clone() };
        let mut globbed = route.backend.glob(inner).await.map_err(|error| route.error(error))?;
        globbed.matches.iter_mut().for_each(|found| found.path = route.outer(&found.path));
        if request.path.starts_with('/') {
            let root = clean(&request.path)?;
            let root = root.trim_end_matches('/');
            globbed.matches.retain(|found| !self.below(root).any(|(prefix, _)| is_within(&found.path, prefix)));
            for (prefix, backend) in self.below(root) {
                // The pattern is matched here: it is relative to the root of the search, which the backend does not
                // know.
                let (pattern_of_all, path) = ("/**".to_owned(), "/".to_owned());
                let inner = GlobRequest { pattern: pattern_of_all, hidden: true, path, ..request.clone() };
                let found = backend.glob(inner).await?;
                globbed.cut = globbed.cut.or(found.cut);
                for mut found in found.matches {
                    found.path = format!("{prefix}{}", found.path);
                    found.relative = found.path[root.len() + 1..].to_owned();
                    if pattern.matches(&found.relative) {
                        globbed.matches.push(found);
                    }
                }
            }
        }
        globbed.matches.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        if globbed.matches.len() > request.most {
            globbed.matches.truncate(request.most);
            globbed.cut = Some(Cut::Count);
        }
        Ok(globbed)
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        let route = self.find(&request.path)?;
        let inner = GrepRequest { path: route.path.clone(), ..request.clone() };
        let mut grepped = route.backend.grep(inner).await.map_err(|error| route.error(error))?;
        grepped.matches.iter_mut().for_each(|found| found.path = route.outer(&found.path));
        if request.path.starts_with('/') {
            let root = clean(&request.path)?;
            let root = root.trim_end_matches('/');
            let include = request.include.as_deref().map(|glob| super::Pattern::new(glob, false)).transpose()?;
            grepped.matches.retain(|found| !self.below(root).any(|(prefix, _)| is_within(&found.path, prefix)));
            for (prefix, backend) in self.below(root) {
                let inner = GrepRequest { path: "/".to_owned(), include: None, ..request.clone() };
                let found = backend.grep(inner).await?;
                grepped.cut = grepped.cut.or(found.cut);
                for mut found in found.matches {
                    found.path = format!("{prefix}{}", found.path);
                    if include.as_ref().is_none_or(|include| include.matches(&found.path[root.len() + 1..])) {
                        grepped.matches.push(found);
                    }
                }
            }
        }
        if grepped.matches.len() > request.most {
            grepped.matches.truncate(request.most);
            grepped.cut = Some(Cut::Count);
        }
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
            answers.push(match self.find(&path) {
                Err(error) => Err(error),
                Ok(route) => match route.backend.download(vec![route.path.clone()]).await.pop() {
                    Some(answer) => answer.map_err(|error| route.error(error)),
                    None => Err(BackendError::file(path, Errno::Io)),
                },
            });
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let route = self.find(path)?;
        let resolved = route.backend.resolve(&route.path).await.map_err(|error| route.error(error))?;
        Ok(route.outer(&resolved))
    }

    fn largest_file(&self) -> u64 {
        self.routes.iter().map(|(_, backend)| backend.largest_file()).fold(self.rest.largest_file(), u64::max)
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        let routes = self.routes.iter().map(|(prefix, backend)| Ok((prefix.clone(), backend.fork()?)));
        Ok(Arc::new(Composite { rest: self.rest.fork()?, routes: routes.collect::<Result<_>>()? }))
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.rest.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl SandboxBackend for Composite {
    fn id(&self) -> String {
        self.rest.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        self.rest.sandbox().ok_or(BackendError::ExecutesNothing)?.stream(command).await
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        self.rest.sandbox().ok_or(BackendError::ExecutesNothing)?.execute(command).await
    }

    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        // Written by the composite: the file may be on another backend than the command.
        let stream = self.stream(command).await?;
        super::execute::offload(stream, &offload, |request| self.write(request)).await
    }
}

fn is_within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
