//! The interface of Deep Agents: the library's profile over a backend.

use isopod::CommandLine;
use isopod::backend::profile::deepagents::{self as profile, Version};
use isopod::backend::{BackendError, EditRequest, Upload};
use isopod::error::Errno;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::backend::{Backend, Handle, command, executing};
use crate::call::Call;
use crate::errors::Raised;
use crate::values::{Bytes, Shape};

/// The operations of Deep Agents. Each returns the fields of its result, with any error among them.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct DeepAgents {
    handle: Handle,
    version: Version,
}

#[pymethods]
impl DeepAgents {
    #[new]
    fn new(backend: &Backend, legacy: bool) -> DeepAgents {
        let version = if legacy { Version::V06 } else { Version::V07 };
        DeepAgents { handle: backend.handle().clone(), version }
    }

    fn ls(&self, path: String) -> PyResult<Call> {
        self.handle.call(|backend| async move {
            let answer = backend.ls(&path).await;
            Ok::<_, Raised>(Shape(profile::ls_result(&path, answer)))
        })
    }

    fn read(&self, path: String, offset: i64, limit: i64) -> PyResult<Call> {
        self.handle.call(move |backend| async move {
            let answer = backend.read(profile::read_request(&path, offset, limit)).await;
            Ok::<_, Raised>(Shape(profile::read_result(&path, answer)))
        })
    }

    fn write(&self, path: String, content: &str) -> PyResult<Call> {
        let request = profile::write_request(&path, content, self.version);
        self.handle.call(|backend| async move {
            let answer = backend.write(request).await;
            Ok::<_, Raised>(Shape(profile::write_result(&path, answer)))
        })
    }

    fn edit(&self, path: String, old: String, new: String, replace_all: bool) -> PyResult<Call> {
        let request = EditRequest { replace_all, ..EditRequest::new(path, old, new) };
        self.handle.call(|backend| async move {
            let answer = backend.edit(request.clone()).await;
            Ok::<_, Raised>(Shape(profile::edit_result(&request, answer)))
        })
    }

    fn delete(&self, path: String) -> PyResult<Call> {
        self.handle.call(|backend| async move {
            let answer = backend.delete(&path).await;
            Ok::<_, Raised>(Shape(profile::delete_result(&path, answer)))
        })
    }

    fn grep(&self, pattern: &str, path: Option<String>, glob: Option<&str>, max_count: Option<u64>) -> PyResult<Call> {
        let request = profile::grep_request(pattern, path.as_deref(), glob, max_count);
        self.handle.call(|backend| async move {
            let answer = backend.grep(request).await;
            Ok::<_, Raised>(Shape(profile::grep_result(path.as_deref(), answer)))
        })
    }

    fn glob(&self, pattern: &str, path: Option<&str>) -> PyResult<Call> {
        let (version, request) = (self.version, profile::glob_request(pattern, path, self.version));
        self.handle.call(move |backend| async move {
            let answer = backend.glob(request.clone()).await;
            Ok::<_, Raised>(Shape(profile::glob_result(&request, answer, version)))
        })
    }

    fn upload_files(&self, files: Vec<(String, PyBackedBytes)>) -> PyResult<Call> {
        self.handle.call(|backend| async move {
            let mut answers = Vec::with_capacity(files.len());
            for (path, content) in files {
                let answer = only(&path, || backend.upload(vec![Upload::new(path.clone(), content.to_vec())])).await;
                answers.push(profile::upload_response(&path, answer));
            }
            Ok::<_, Raised>(Shape(answers))
        })
    }

    fn download_files(&self, paths: Vec<String>) -> PyResult<Call> {
        self.handle.call(|backend| async move {
            let mut answers = Vec::with_capacity(paths.len());
            for path in paths {
                let answer = only(&path, || backend.download(vec![path.clone()])).await;
                let response = profile::download_response(&path, answer);
                answers.push((response.path, response.content.map(Bytes), response.error));
            }
            Ok::<_, Raised>(answers)
        })
    }

    fn execute(&self, line: String, timeout: Option<f64>) -> PyResult<Call> {
        let command = command(CommandLine::Shell(line), timeout, None, None, None)?;
        self.handle.call(|backend| async move {
            let answer = match executing(&backend) {
                Ok(executing) => executing.execute(command).await,
                Err(error) => Err(error),
            };
            Ok::<_, Raised>(Shape(profile::execute_response(answer)))
        })
    }

    fn execute_with_offload(
        &self,
        line: String,
        capture_path: &str,
        max_inline_bytes: u64,
        max_capture_bytes: Option<u64>,
        timeout: Option<f64>,
    ) -> PyResult<Call> {
        let command = command(CommandLine::Shell(line), timeout, None, None, None)?;
        let offload = profile::offload(capture_path, max_inline_bytes, max_capture_bytes);
        self.handle.call(|backend| async move {
            let answer = match executing(&backend) {
                Ok(executing) => executing.execute_with_offload(command, offload).await,
                Err(error) => Err(error),
            };
            Ok::<_, Raised>(Shape(profile::offload_result(answer)))
        })
    }
}

/// Transfers a single path. A path that the profile refuses is not tried.
async fn only<T, F: Future<Output = Vec<Result<T, BackendError>>>>(
    path: &str,
    transfer: impl FnOnce() -> F,
) -> Result<T, BackendError> {
    match profile::transfer_fault(path) {
        Some(_) => Err(BackendError::file(path, Errno::Invalid)),
        None => transfer().await.pop().unwrap_or_else(|| Err(BackendError::file(path, Errno::Io))),
    }
}
