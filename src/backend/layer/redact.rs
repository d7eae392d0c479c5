//! Removing secrets from results.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use regex::bytes::{Regex, RegexBuilder};

use super::super::execute::OutputStream;
use super::super::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed, Page,
    PatternFault, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written, bounds,
};
use crate::kernel::Channel;
use crate::sandbox::{Chunk, Command, Completion};

/// Replaces all matches of the patterns in results: pages, bytes, found lines, output of commands. Streamed output is
/// searched line by line, so a pattern has to match within a line there; a line longer than 64 KiB is searched in
/// parts. This keeps secrets out of logs and contexts. It does not keep them from an attacker: a command can print a
/// secret backwards.
#[derive(Clone)]
pub struct Redact {
    inner: Arc<dyn Backend>,
    patterns: Arc<[Regex]>,
    with: String,
}

impl Redact {
    /// Wraps a backend. `patterns` are regular expressions, and `with` replaces their matches.
    pub fn around(inner: Arc<dyn Backend>, patterns: &[&str], with: impl Into<String>) -> Result<Redact> {
        let compile = |pattern: &&str| {
            let built = RegexBuilder::new(pattern).size_limit(bounds::REGEX_BYTES).build();
            built.map_err(|error| BackendError::pattern(*pattern, PatternFault::of_regex(&error)))
        };
        let patterns = patterns.iter().map(compile).collect::<Result<_>>()?;
        Ok(Redact { inner, patterns, with: with.into() })
    }

    fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.patterns.iter().fold(bytes, |bytes, pattern| {
            let with = regex::bytes::NoExpand(self.with.as_bytes());
            match pattern.replace_all(&bytes, with) {
                std::borrow::Cow::Borrowed(_) => bytes,
                std::borrow::Cow::Owned(bytes) => bytes,
            }
        })
    }

    fn text(&self, text: String) -> String {
        String::from_utf8_lossy(&self.bytes(text.into_bytes())).into_owned()
    }
}

#[async_trait]
impl Backend for Redact {
    async fn ls(&self, path: &str) -> Result<Listed> {
        self.inner.ls(path).await
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        Ok(match self.inner.read(request).await? {
            Content::Text(page) => Content::Text(Page { text: self.text(page.text), ..page }),
            Content::Bytes(bytes) => Content::Bytes(self.bytes(bytes)),
            content => content,
        })
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        self.inner.write(request).await
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        self.inner.edit(request).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.inner.delete(path).await
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        self.inner.glob(request).await
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        let mut grepped = self.inner.grep(request).await?;
        for found in &mut grepped.matches {
            found.text = self.text(std::mem::take(&mut found.text));
            for line in found.before.iter_mut().chain(&mut found.after) {
                *line = self.text(std::mem::take(line));
            }
        }
        Ok(grepped)
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        self.inner.upload(files).await
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let answers = self.inner.download(paths).await;
        answers.into_iter().map(|answer| answer.map(|bytes| self.bytes(bytes))).collect()
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        self.inner.resolve(path).await
    }

    fn largest_file(&self) -> u64 {
        self.inner.largest_file()
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(Redact { inner: self.inner.fork()?, ..self.clone() }))
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.inner.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl SandboxBackend for Redact {
    fn id(&self) -> String {
        self.inner.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    /// All ways to execute a command use this one. Output is redacted before its middle is cut out, or the cut could
    /// leave a part of a secret.
    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let stream = self.inner.sandbox().ok_or(BackendError::ExecutesNothing)?.stream(command).await?;
        Ok(Box::new(RedactedStream { stream, redact: self.clone(), pending: None, ready: VecDeque::new() }))
    }
}

/// Redacts output line by line.
struct RedactedStream {
    stream: Box<dyn OutputStream>,
    redact: Redact,
    /// The start of a line. A piece of the other output flushes it, so that the order of writing is kept.
    pending: Option<(Channel, Vec<u8>)>,
    ready: VecDeque<Chunk>,
}

impl RedactedStream {
    fn give(&mut self, channel: Channel, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.ready.push_back(Chunk { channel, bytes: self.redact.bytes(bytes).into() });
        }
    }

    fn take(&mut self, chunk: &Chunk) {
        let mut bytes = match self.pending.take() {
            Some((channel, bytes)) if channel == chunk.channel => bytes,
            Some((channel, bytes)) => {
                self.give(channel, bytes);
                Vec::new()
            }
            None => Vec::new(),
        };
        bytes.extend_from_slice(&chunk.bytes);
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = bytes.split_off(end);
        self.give(chunk.channel, bytes);
        if rest.len() > bounds::REDACT_LINE_BYTES {
            self.give(chunk.channel, rest);
        } else if !rest.is_empty() {
            self.pending = Some((chunk.channel, rest));
        }
    }
}

#[async_trait]
impl OutputStream for RedactedStream {
    async fn next(&mut self) -> Option<Chunk> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(chunk);
            }
            match self.stream.next().await {
                Some(chunk) => self.take(&chunk),
                None => {
                    let (channel, bytes) = self.pending.take()?;
                    self.give(channel, bytes);
                }
            }
        }
    }

    async fn finish(self: Box<Self>) -> Completion {
        self.stream.finish().await
    }
}
