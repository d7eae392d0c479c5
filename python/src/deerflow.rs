//! The interface of DeerFlow: the library's profile over a backend.

use std::collections::BTreeMap;

use isopod::CommandLine;
use isopod::backend::profile::deerflow as profile;
use isopod::backend::{ReadRequest, WriteRequest};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::backend::{Backend, Handle, command, executing};
use crate::call::Call;
use crate::errors::Raised;
use crate::values::Bytes;

/// The operations of a DeerFlow sandbox.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct DeerFlow(Handle);

#[pymethods]
impl DeerFlow {
    #[new]
    fn new(backend: &Backend) -> DeerFlow {
        DeerFlow(backend.handle().clone())
    }

    fn execute_command(
        &self,
        line: String,
        env: Option<BTreeMap<String, String>>,
        timeout: Option<f64>,
    ) -> PyResult<Call> {
        let command = command(CommandLine::Shell(line), timeout, None, env, None)?;
        self.0.call(|backend| async move {
            let answer = match executing(&backend) {
                Ok(executing) => executing.execute(command).await,
                Err(error) => Err(error),
            };
            Ok::<_, Raised>(profile::execute_text(answer))
        })
    }

    fn read_file(&self, path: String, start_line: Option<u64>, end_line: Option<u64>) -> PyResult<Call> {
        self.0.call(move |backend| async move {
            let answer = backend.read(profile::read_request(&path, start_line, end_line)).await;
            profile::read_text(&path, answer)
        })
    }

    fn download_file(&self, path: String) -> PyResult<Call> {
        self.0.call(|backend| async move {
            let request = ReadRequest::bytes(path);
            match backend.read(request).await.map_err(|error| profile::exception(&error))? {
                isopod::backend::Content::Bytes(bytes) => Ok::<_, profile::Exception>(Bytes(bytes)),
                _ => Ok(Bytes(Vec::new())),
            }
        })
    }

    fn list_dir(&self, path: String, max_depth: usize) -> PyResult<Call> {
        self.0.call(move |backend| async move {
            let found = backend.glob(profile::list_request(&path, max_depth)).await;
            found.map(profile::list_lines).map_err(|error| profile::exception(&error))
        })
    }

    fn write_file(&self, path: &str, content: &str, append: bool) -> PyResult<Call> {
        self.write(profile::write_request(path, content, append))
    }

    fn update_file(&self, path: String, content: PyBackedBytes) -> PyResult<Call> {
        self.write(WriteRequest::new(path, content.to_vec()))
    }

    fn glob(&self, path: &str, pattern: &str, include_dirs: bool, max_results: usize) -> PyResult<Call> {
        let request = profile::glob_request(path, pattern, include_dirs, max_results);
        self.0.call(|backend| async move {
            let found = backend.glob(request).await;
            found.map(profile::glob_answer).map_err(|error| profile::exception(&error))
        })
    }

    /// Returns path, number and text of each line, and true if there are more.
    fn grep(
        &self,
        path: &str,
        pattern: &str,
        glob: Option<&str>,
        literal: bool,
        case_sensitive: bool,
        max_results: usize,
    ) -> PyResult<Call> {
        let request = profile::grep_request(path, pattern, glob, literal, case_sensitive, max_results);
        self.0.call(|backend| async move {
            let found = backend.grep(request).await.map_err(|error| profile::exception(&error))?;
            let (matches, is_cut) = profile::grep_answer(found);
            let rows: Vec<_> = matches.into_iter().map(|found| (found.path, found.line_number, found.line)).collect();
            Ok::<_, profile::Exception>((rows, is_cut))
        })
    }
}

impl DeerFlow {
    fn write(&self, request: WriteRequest) -> PyResult<Call> {
        self.0.call(|backend| async move {
            backend.write(request).await.map(drop).map_err(|error| profile::exception(&error))
        })
    }
}
