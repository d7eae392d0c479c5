//! Layers around a sandbox, as arguments of its constructor.
#![allow(clippy::disallowed_methods, reason = "the caller names a file of their own")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use isopod::backend::layer::{
    AllowList, Approval, Approver, Audit, AuditSink, Call, Decision, DenyList, PathMap, Redact, WriteQuota,
};
use isopod::backend::{self, Backend, CommandLineJson};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::interpreter::attached;
use crate::values::Shape;

/// Puts a layer around a backend.
pub(crate) type Wrap = Arc<dyn Fn(Arc<dyn Backend>) -> backend::Result<Arc<dyn Backend>> + Send + Sync>;

/// A function that puts a layer around a backend.
#[pyclass(frozen, module = "isopod")]
pub(crate) struct Layer(Wrap);

impl Layer {
    fn new(wrap: impl Fn(Arc<dyn Backend>) -> backend::Result<Arc<dyn Backend>> + Send + Sync + 'static) -> Layer {
        Layer(Arc::new(wrap))
    }

    pub(crate) fn wrap(&self) -> Wrap {
        self.0.clone()
    }
}

/// The destination of audit records.
#[derive(FromPyObject)]
enum Sink {
    #[pyo3(transparent)]
    File(PathBuf),
    #[pyo3(transparent)]
    Function(Py<PyAny>),
}

#[pymethods]
impl Layer {
    #[staticmethod]
    #[pyo3(signature = (sink, *, actor="agent"))]
    fn audit(sink: Sink, actor: &str) -> PyResult<Layer> {
        let actor = actor.to_owned();
        let sink: Arc<dyn AuditSink> = match sink {
            Sink::File(path) => {
                let file = OpenOptions::new().append(true).create(true).open(&path);
                let refused = |error: io::Error| crate::errors::raised(Raised::host(Some(path), &error));
                Arc::new(Mutex::new(file.map_err(refused)?))
            }
            Sink::Function(function) => Arc::new(Record(function)),
        };
        Ok(Layer::new(move |inner| Ok(Arc::new(Audit::around(inner, Shared(sink.clone()), actor.clone())))))
    }

    #[staticmethod]
    #[pyo3(signature = (patterns, *, only_writes=false, with_commands=false))]
    fn deny(patterns: Vec<String>, only_writes: bool, with_commands: bool) -> Layer {
        Layer::new(move |inner| {
            let mut list = DenyList::new(&strs(&patterns))?;
            list = if only_writes { list.only_writes() } else { list };
            list = if with_commands { list.with_commands() } else { list };
            Ok(Arc::new(list.around(inner)))
        })
    }

    #[staticmethod]
    #[pyo3(signature = (patterns, *, only_writes=false, with_commands=false))]
    fn allow(patterns: Vec<String>, only_writes: bool, with_commands: bool) -> Layer {
        Layer::new(move |inner| {
            let mut list = AllowList::new(&strs(&patterns))?;
            list = if only_writes { list.only_writes() } else { list };
            list = if with_commands { list.with_commands() } else { list };
            Ok(Arc::new(list.around(inner)))
        })
    }

    #[staticmethod]
    fn write_quota(bytes: u64) -> Layer {
        Layer::new(move |inner| Ok(Arc::new(WriteQuota::around(inner, bytes))))
    }

    #[staticmethod]
    #[pyo3(signature = (patterns, *, replacement="[redacted]"))]
    fn redact(patterns: Vec<String>, replacement: &str) -> Layer {
        let replacement = replacement.to_owned();
        Layer::new(move |inner| Ok(Arc::new(Redact::around(inner, &strs(&patterns), replacement.clone())?)))
    }

    #[staticmethod]
    fn path_map(names: BTreeMap<String, String>) -> Layer {
        Layer::new(move |inner| {
            let names: Vec<(&str, &str)> = names.iter().map(|(outer, inner)| (&**outer, &**inner)).collect();
            Ok(Arc::new(PathMap::around(inner, &names)?))
        })
    }

    #[staticmethod]
    fn approval(decide: Py<PyAny>) -> Layer {
        let decide = Arc::new(decide);
        Layer::new(move |inner| Ok(Arc::new(Approval::around(inner, Decide(decide.clone())))))
    }
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// A sink that the layers of a sandbox and its forks share.
struct Shared(Arc<dyn AuditSink>);

impl AuditSink for Shared {
    fn record(&self, line: &[u8]) -> io::Result<()> {
        self.0.record(line)
    }
}

/// A Python function that takes a record as text.
struct Record(Py<PyAny>);

impl AuditSink for Record {
    fn record(&self, line: &[u8]) -> io::Result<()> {
        let line = String::from_utf8_lossy(line).into_owned();
        let called = attached(|py| self.0.call1(py, (line,)).map(drop));
        let called = called.ok_or_else(|| io::Error::other("the program ends"))?;
        called.map_err(|error| io::Error::other(error.to_string()))
    }
}

/// An operation that needs an approval.
#[pyclass(frozen, get_all, module = "isopod")]
pub(crate) struct Request {
    operation: &'static str,
    path: Option<String>,
    pattern: Option<String>,
    command: Option<Py<PyAny>>,
    cwd: Option<String>,
    bytes: Option<u64>,
    /// The programs that the command would run.
    plan: Option<Py<PyAny>>,
}

/// A Python function that approves or denies.
struct Decide(Arc<Py<PyAny>>);

#[async_trait]
impl Approver for Decide {
    async fn decide(&self, call: &Call) -> Decision {
        let (decide, call) = (self.0.clone(), call.clone());
        // On a blocking thread, because a person may take long to answer.
        let asked = tokio::task::spawn_blocking(move || attached(|py| ask(py, &decide, call)));
        match asked.await {
            Ok(Some(Ok(verdict))) => verdict,
            Ok(Some(Err(error))) => Decision::Deny(error.to_string()),
            Ok(None) => Decision::Deny("the program ends".to_owned()),
            Err(error) => Decision::Deny(error.to_string()),
        }
    }
}

/// Calls the function. True approves; a text denies, with that reason.
fn ask(py: Python<'_>, decide: &Py<PyAny>, call: Call) -> PyResult<Decision> {
    let plan = call.plan().map(|plan| Shape(plan).into_pyobject(py)).transpose()?;
    let Call { operation, path, pattern, command, cwd, bytes, .. } = call;
    let plan = plan.map(Bound::unbind);
    // A text for the shell becomes a string, a program with its arguments a list.
    let command = command.map(|line| Shape(CommandLineJson::from(line)).into_pyobject(py)).transpose()?;
    let command = command.map(Bound::unbind);
    let request = Request { operation: operation.name(), path, pattern, command, cwd, bytes, plan };
    let said = decide.bind(py).call1((request,))?;
    if let Ok(reason) = said.extract::<String>() {
        return Ok(Decision::Deny(reason));
    }
    Ok(if said.is_truthy()? { Decision::Approve } else { Decision::Deny("it was not approved".to_owned()) })
}
