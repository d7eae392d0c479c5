//! What Python is answered.

use std::fmt::Display;

use isopod::Chunk as Piece;
use isopod::backend;
use isopod::backend::{Cut, Executed, Found, GrepMatch};
use isopod::kernel::Channel;
use isopod::vfs::{self, Kind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

/// What a command left behind.
#[pyclass(frozen, module = "isopod")]
pub(crate) struct Output {
    output: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    #[pyo3(get)]
    exit_code: u8,
    #[pyo3(get)]
    truncated: bool,
    #[pyo3(get)]
    timed_out: bool,
    #[pyo3(get)]
    limits: Vec<String>,
    #[pyo3(get)]
    wall: f64,
}

impl From<Executed> for Output {
    fn from(executed: Executed) -> Output {
        Output {
            output: executed.output(),
            stdout: executed.stdout(),
            stderr: executed.stderr(),
            exit_code: executed.exit_code(),
            truncated: executed.is_truncated(),
            timed_out: executed.ending.timed_out,
            limits: texts(&executed.ending.limits),
            wall: executed.ending.wall.as_secs_f64(),
        }
    }
}

impl From<isopod::Output> for Output {
    fn from(output: isopod::Output) -> Output {
        Output {
            exit_code: output.exit_code,
            truncated: output.truncated,
            timed_out: output.timed_out,
            limits: texts(&output.limits),
            wall: output.wall.as_secs_f64(),
            output: output.output,
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }
}

#[pymethods]
impl Output {
    #[getter]
    fn output(&self) -> String {
        lossy(&self.output)
    }

    #[getter]
    fn stdout(&self) -> String {
        lossy(&self.stdout)
    }

    #[getter]
    fn stderr(&self) -> String {
        lossy(&self.stderr)
    }

    #[getter]
    fn output_bytes(&self) -> &[u8] {
        &self.output
    }

    #[getter]
    fn stdout_bytes(&self) -> &[u8] {
        &self.stdout
    }

    #[getter]
    fn stderr_bytes(&self) -> &[u8] {
        &self.stderr
    }

    #[getter]
    fn ok(&self) -> bool {
        self.exit_code == 0
    }

    fn __repr__(&self) -> String {
        let text: String = lossy(&self.output).chars().take(60).collect();
        format!("Output(exit_code={}, output={text:?}…)", self.exit_code)
    }
}

/// A piece of output.
#[pyclass(frozen, module = "isopod")]
pub(crate) struct Chunk {
    #[pyo3(get)]
    channel: &'static str,
    data: Vec<u8>,
}

impl From<Piece> for Chunk {
    fn from(piece: Piece) -> Chunk {
        let channel = if piece.channel == Channel::Stderr { "stderr" } else { "stdout" };
        Chunk { channel, data: piece.bytes.to_vec() }
    }
}

#[pymethods]
impl Chunk {
    #[getter]
    fn data(&self) -> &[u8] {
        &self.data
    }

    fn __repr__(&self) -> String {
        format!("Chunk({:?}, {} bytes)", self.channel, self.data.len())
    }
}

/// A name in a directory, or a file that was found.
#[pyclass(frozen, get_all, module = "isopod")]
pub(crate) struct Entry {
    path: String,
    kind: &'static str,
    size: u64,
    modified: f64,
}

impl From<backend::Entry> for Entry {
    fn from(entry: backend::Entry) -> Entry {
        Entry { path: entry.path, kind: kind(entry.kind), size: entry.size, modified: nanos(entry.modified) }
    }
}

impl From<Found> for Entry {
    fn from(found: Found) -> Entry {
        Entry { path: found.path, kind: kind(found.kind), size: found.size, modified: nanos(found.modified) }
    }
}

#[pymethods]
impl Entry {
    fn __repr__(&self) -> String {
        format!("Entry({:?}, {}, {} bytes)", self.path, self.kind, self.size)
    }
}

/// A line that matches.
#[pyclass(frozen, get_all, module = "isopod")]
pub(crate) struct Match {
    path: String,
    line: u64,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl From<GrepMatch> for Match {
    fn from(found: GrepMatch) -> Match {
        let GrepMatch { path, line, text, before, after } = found;
        Match { path, line, text, before, after }
    }
}

#[pymethods]
impl Match {
    fn __repr__(&self) -> String {
        format!("Match({:?}, {}, {:?})", self.path, self.line, self.text)
    }
}

/// A path that an overlay has changed.
#[pyclass(frozen, get_all, module = "isopod")]
pub(crate) struct Change {
    path: String,
    what: &'static str,
    kind: &'static str,
    text: String,
}

impl From<&vfs::Change> for Change {
    fn from(change: &vfs::Change) -> Change {
        let what = match change.change {
            vfs::ChangeKind::Created { .. } => "created",
            vfs::ChangeKind::Changed { .. } => "changed",
            vfs::ChangeKind::Deleted => "deleted",
        };
        Change { path: change.path.clone(), what, kind: kind(change.kind), text: change.to_string() }
    }
}

#[pymethods]
impl Change {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Change({:?})", self.text)
    }
}

/// Bytes as Python's `bytes`.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'py> IntoPyObject<'py> for Bytes {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}

/// What a profile answers, as the dictionary that its fields make.
pub(crate) struct Shape<T>(pub(crate) T);

impl<'py, T: Serialize> IntoPyObject<'py> for Shape<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0)?)
    }
}

/// Why an answer is not all there is.
pub(crate) fn cut(cut: Option<Cut>) -> Option<&'static str> {
    cut.map(|cut| match cut {
        Cut::Count => "count",
        Cut::Unreadable => "unreadable",
        Cut::Transport => "transport",
        _ => "budget",
    })
}

fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn nanos(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        _ => "other",
    }
}
