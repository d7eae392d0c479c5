//! Commands and files of a backend: a sandbox with its layers, or a lease of a provider.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use isopod::Command;
use isopod::CommandLine;
use isopod::backend::{
    self, BackendError, Content, EditRequest, GlobRequest, GrepRequest, ReadAs, ReadRequest, SandboxBackend, Upload,
    WriteMode, WriteRequest,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::call::{Call, seconds};
use crate::closing::Closing;
use crate::errors::{Raised, error};
use crate::stream::Stream;
use crate::values::{Bytes, Entry, Line, Match, Output, cut};

/// The commands and file operations of a backend.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Backend(Handle);

/// A backend that can be closed. Clones are handles to the same one.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Shared>);

struct Shared {
    /// `None` after it is closed.
    backend: Mutex<Option<Arc<dyn backend::Backend>>>,
    closing: Closing,
    /// Maximum bytes of output in the result of a command.
    output: u64,
}

impl Handle {
    pub(crate) fn new(backend: Arc<dyn backend::Backend>, output: u64) -> Handle {
        let backend = Mutex::new(Some(backend));
        Handle(Arc::new(Shared { backend, closing: Closing::new(), output }))
    }

    /// Ends all running operations and refuses new ones.
    pub(crate) fn close(&self) {
        let backend = self.0.backend.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.0.closing.close();
        drop(backend);
    }

    pub(crate) fn output(&self) -> u64 {
        self.0.output
    }

    /// Returns an operation that ends when the backend is closed.
    pub(crate) fn call<T, E, F>(&self, work: impl FnOnce(Arc<dyn backend::Backend>) -> F) -> PyResult<Call>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: for<'py> IntoPyObject<'py> + Send + 'static,
        E: Into<Raised> + Send + 'static,
    {
        let backend = self.0.backend.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let backend = backend.ok_or_else(|| error("ClosedError", CLOSED))?;
        Ok(Call::new(self.clone().until_closed(work(backend))))
    }

    /// Runs an operation until the backend is closed.
    pub(crate) async fn until_closed<T, E: Into<Raised>>(
        self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Raised> {
        match self.0.closing.clone().until(work).await {
            Some(answer) => answer.map_err(Into::into),
            None => Err(Raised::of("ClosedError", CLOSED)),
        }
    }
}

/// Message of operations on a closed sandbox.
const CLOSED: &str = "the sandbox is closed";

/// Returns the interface for commands, if the backend has one.
pub(crate) fn executing(backend: &Arc<dyn backend::Backend>) -> Result<&dyn SandboxBackend, BackendError> {
    backend.sandbox().ok_or(BackendError::ExecutesNothing)
}

/// Makes a command from Python's arguments. An empty standard input counts as none.
pub(crate) fn command(
    line: impl Into<CommandLine>,
    timeout: Option<f64>,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    stdin: Option<PyBackedBytes>,
) -> PyResult<Command> {
    let mut command = Command::new(line.into());
    command.timeout = seconds("timeout", timeout)?;
    command.cwd = cwd;
    command.env = env.unwrap_or_default().into_iter().collect();
    command.stdin = stdin.filter(|bytes| !bytes.is_empty()).map(|bytes| bytes.to_vec().into());
    Ok(command)
}

impl Backend {
    pub(crate) fn new(handle: Handle) -> Backend {
        Backend(handle)
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.0
    }
}

#[pymethods]
impl Backend {
    #[pyo3(signature = (line, timeout=None, cwd=None, env=None, stdin=None))]
    fn execute(
        &self,
        line: Line,
        timeout: Option<f64>,
        cwd: Option<String>,
        env: Option<BTreeMap<String, String>>,
        stdin: Option<PyBackedBytes>,
    ) -> PyResult<Call> {
        let command = command(line, timeout, cwd, env, stdin)?;
        self.0.call(|backend| async move {
            let output = executing(&backend)?.execute(command).await?;
            Ok::<_, BackendError>(Output::from(output))
        })
    }

    #[pyo3(signature = (line, timeout=None, cwd=None, env=None, stdin=None))]
    fn stream(
        &self,
        line: Line,
        timeout: Option<f64>,
        cwd: Option<String>,
        env: Option<BTreeMap<String, String>>,
        stdin: Option<PyBackedBytes>,
    ) -> PyResult<Call> {
        let command = command(line, timeout, cwd, env, stdin)?;
        let handle = self.0.clone();
        self.0.call(|backend| async move {
            let stream = executing(&backend)?.stream(command).await?;
            Ok::<_, BackendError>(Stream::new(stream, handle))
        })
    }

    fn ls(&self, path: String) -> PyResult<Call> {
        self.0.call(|backend| async move {
            let listed = backend.ls(&path).await?;
            let entries: Vec<Entry> = listed.entries.into_iter().map(Entry::from).collect();
            Ok::<_, BackendError>((entries, cut(listed.cut)))
        })
    }

    /// Reads lines of text, without the end of the last one.
    fn read(&self, path: String, offset: u64, limit: Option<u64>) -> PyResult<Call> {
        self.0.call(move |backend| async move {
            let limit = limit.unwrap_or(u64::MAX);
            let r#as = ReadAs::Text { offset, limit, most: backend.largest_file(), universal_newlines: false };
            match backend.read(ReadRequest { path: path.clone(), r#as }).await? {
                Content::Empty | Content::NoLines => Ok(String::new()),
                Content::Text(page) => Ok(page.text),
                Content::Bytes(_) => Err(BackendError::NotText(path)),
            }
        })
    }

    fn write(&self, path: String, content: PyBackedBytes, mode: &str) -> PyResult<Call> {
        let mode = match mode {
            "replace" => WriteMode::Replace,
            "create" => WriteMode::Create,
            "append" => WriteMode::Append,
            _ => return Err(error("RequestError", format!("mode {mode:?}: expected replace, create or append"))),
        };
        let request = WriteRequest::new(path, content.to_vec()).mode(mode);
        self.0.call(|backend| async move { backend.write(request).await.map(|written| written.bytes) })
    }

    fn edit(&self, path: String, old: String, new: String, replace_all: bool) -> PyResult<Call> {
        let request = EditRequest { replace_all, ..EditRequest::new(path, old, new) };
        self.0.call(|backend| async move { backend.edit(request).await.map(|edited| edited.occurrences) })
    }

    fn delete(&self, path: String) -> PyResult<Call> {
        self.0.call(|backend| async move { backend.delete(&path).await })
    }

    fn glob(
        &self,
        pattern: String,
        path: String,
        directories: bool,
        hidden: bool,
        most: Option<usize>,
    ) -> PyResult<Call> {
        let all = GlobRequest::new(pattern, path);
        let request = GlobRequest { directories, hidden, most: most.unwrap_or(all.most), ..all };
        self.0.call(|backend| async move {
            let found = backend.glob(request).await?;
            let entries: Vec<Entry> = found.matches.into_iter().map(Entry::from).collect();
            Ok::<_, BackendError>((entries, cut(found.cut)))
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the keywords of one Python method")]
    fn grep(
        &self,
        pattern: String,
        path: String,
        regex: bool,
        ignore_case: bool,
        include: Option<String>,
        before: usize,
        after: usize,
        most: Option<usize>,
    ) -> PyResult<Call> {
        let all = GrepRequest::literal(pattern, path);
        let most = most.unwrap_or(all.most);
        let request = GrepRequest { literal: !regex, ignore_case, include, before, after, most, ..all };
        self.0.call(|backend| async move {
            let found = backend.grep(request).await?;
            let matches: Vec<Match> = found.matches.into_iter().map(Match::from).collect();
            Ok::<_, BackendError>((matches, cut(found.cut)))
        })
    }

    /// Writes all files. Raises the first error.
    fn upload(&self, files: Vec<(String, PyBackedBytes)>) -> PyResult<Call> {
        let files = files.into_iter().map(|(path, content)| Upload::new(path, content.to_vec())).collect();
        self.0.call(|backend| async move {
            let answers: Result<Vec<_>, BackendError> = backend.upload(files).await.into_iter().collect();
            answers.map(drop)
        })
    }

    /// Reads all files. Raises the first error.
    fn download(&self, paths: Vec<String>) -> PyResult<Call> {
        self.0.call(|backend| async move {
            let answers: Result<Vec<_>, BackendError> = backend.download(paths).await.into_iter().collect();
            Ok::<Vec<Bytes>, BackendError>(answers?.into_iter().map(Bytes).collect())
        })
    }
}
