//! The values that Python gets and gives.

use isopod::Chunk as Piece;
use isopod::CommandLine;
use isopod::backend;
use isopod::backend::{Cut, Found, GrepMatch, LimitJson, OutputJson, UsageJson};
use isopod::kernel::Channel;
use isopod::vfs::{self, Kind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

/// The result of a command.
#[pyclass(frozen, module = "isopod")]
pub(crate) struct Output(isopod::Output);

impl From<isopod::Output> for Output {
    fn from(output: isopod::Output) -> Output {
        Output(output)
    }
}

/// A limit that a command hit.
#[pyclass(frozen, eq, get_all, module = "isopod", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct LimitHit {
    limit: String,
    value: u64,
    message: String,
}

#[pymethods]
impl LimitHit {
    fn __str__(&self) -> &str {
        &self.message
    }

    fn __repr__(&self) -> String {
        format!("LimitHit({:?}, {})", self.limit, self.value)
    }
}

/// The resources that a command used.
#[pyclass(frozen, get_all, module = "isopod")]
pub(crate) struct Usage {
    wall_ms: f64,
    cpu_ms: f64,
    peak_memory: u64,
    processes: u32,
    bytes_read: u64,
    bytes_written: u64,
    fuel: Option<u64>,
}

#[pymethods]
impl Usage {
    fn __repr__(&self) -> String {
        format!("Usage(wall_ms={:.3}, cpu_ms={:.3}, processes={})", self.wall_ms, self.cpu_ms, self.processes)
    }
}

#[pymethods]
impl Output {
    #[getter]
    fn exit_code(&self) -> u8 {
        self.0.exit_code
    }

    #[getter]
    fn stdout(&self) -> String {
        lossy(&self.0.stdout)
    }

    #[getter]
    fn stderr(&self) -> String {
        lossy(&self.0.stderr)
    }

    #[getter]
    fn output(&self) -> String {
        lossy(&self.0.output)
    }

    #[getter]
    fn output_bytes(&self) -> &[u8] {
        &self.0.output
    }

    #[getter]
    fn stdout_bytes(&self) -> &[u8] {
        &self.0.stdout
    }

    #[getter]
    fn stderr_bytes(&self) -> &[u8] {
        &self.0.stderr
    }

    #[getter]
    fn truncated(&self) -> bool {
        self.0.truncated
    }

    #[getter]
    fn timed_out(&self) -> bool {
        self.0.timed_out
    }

    #[getter]
    fn limits(&self, py: Python<'_>) -> PyResult<Vec<LimitHit>> {
        let hit = |exceeded: &isopod::Exceeded| -> PyResult<LimitHit> {
            let LimitJson { limit, value, message, .. } = LimitJson::from(exceeded);
            Ok(LimitHit { limit: pythonize::pythonize(py, &limit)?.extract()?, value, message })
        };
        self.0.limits.iter().map(hit).collect()
    }

    #[getter]
    fn usage(&self) -> Usage {
        let UsageJson { wall_ms, cpu_ms, peak_memory, processes, bytes_read, bytes_written, fuel, .. } =
            self.0.usage.into();
        Usage { wall_ms, cpu_ms, peak_memory, processes, bytes_read, bytes_written, fuel }
    }

    #[getter]
    fn ok(&self) -> bool {
        self.0.exit_code == 0
    }

    /// Returns the result in the JSON form of the command line, HTTP and MCP.
    fn as_dict(&self) -> Shape<OutputJson> {
        Shape(OutputJson::from(self.0.clone()))
    }

    fn __repr__(&self) -> String {
        let text: String = lossy(&self.0.output).chars().take(60).collect();
        format!("Output(exit_code={}, output={text:?}…)", self.0.exit_code)
    }
}

/// A command as Python passes it: a text for the shell, or a program and its arguments.
#[derive(FromPyObject)]
pub(crate) enum Line {
    Shell(String),
    Program(Vec<String>),
}

impl From<Line> for CommandLine {
    fn from(line: Line) -> CommandLine {
        match line {
            Line::Shell(text) => CommandLine::Shell(text),
            Line::Program(argv) => CommandLine::Program(argv),
        }
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

/// The answer of a profile, converted to a dictionary of its fields.
pub(crate) struct Shape<T>(pub(crate) T);

impl<'py, T: Serialize> IntoPyObject<'py> for Shape<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0)?)
    }
}

/// Returns the name of the reason why an answer is incomplete.
pub(crate) fn cut(cut: Option<Cut>) -> Option<&'static str> {
    cut.map(|cut| match cut {
        Cut::Count => "count",
        Cut::Unreadable => "unreadable",
        Cut::Transport => "transport",
        _ => "budget",
    })
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
