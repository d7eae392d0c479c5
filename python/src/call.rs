//! An operation that Python waits for or awaits.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{IntoPyObjectExt, intern, wrap_pyfunction};
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use crate::errors::{Raised, error};
use crate::interpreter::attached;

/// Interval at which a blocking call checks for signals such as Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// An operation that has not started. It runs once, when it is waited for or awaited; an abandoned wait ends it.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Call(Mutex<Option<Work>>);

type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The result of an operation. It becomes a Python object only while the interpreter is held.
type Answer = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

impl Call {
    pub(crate) fn new<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Call
    where
        T: for<'py> IntoPyObject<'py> + Send + 'static,
        E: Into<Raised> + Send + 'static,
    {
        let work = async move {
            let answer = work.await;
            Box::new(move |py: Python<'_>| match answer {
                Ok(value) => value.into_py_any(py),
                Err(error) => Err(error.into().exception(py)),
            }) as Answer
        };
        Call(Mutex::new(Some(Box::pin(work))))
    }

    /// Returns an operation that blocks its thread.
    pub(crate) fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Call
    where
        T: for<'py> IntoPyObject<'py> + Send + 'static,
        E: Into<Raised> + Send + 'static,
    {
        Call::new(async move {
            match tokio::task::spawn_blocking(work).await {
                Ok(answer) => answer.map_err(Into::into),
                Err(failed) => Err(Raised::of("Error", failed.to_string())),
            }
        })
    }

    fn take(&self) -> PyResult<Work> {
        let work = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.ok_or_else(|| PyRuntimeError::new_err("a call can be waited for once"))
    }
}

#[pymethods]
impl Call {
    /// Runs the operation on this thread, with the interpreter released.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (work, runtime) = (self.take()?, runtime()?);
        let answer = py.detach(|| runtime.block_on(interruptible(work)))?;
        answer(py)
    }

    /// Runs the operation while the event loop goes on.
    fn __await__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let (work, runtime) = (self.take()?, runtime()?);
        let event_loop = RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()?;
        let future = event_loop.call_method0(intern!(py, "create_future"))?;
        let (its_loop, its_future) = (event_loop.unbind(), future.clone().unbind());
        let task = runtime.spawn(async move {
            let answer = work.await;
            attached(|py| deliver_soon(py, &its_loop, its_future, answer));
        });
        // A cancelled future is done as well, and its callback aborts the task.
        future.call_method1(intern!(py, "add_done_callback"), (Abort(task.abort_handle()),))?;
        Ok(future.call_method0(intern!(py, "__await__"))?.unbind())
    }
}

/// Returns the one runtime of the process. Its threads do not survive a fork.
pub(crate) fn runtime() -> PyResult<&'static Runtime> {
    static SHARED: OnceLock<Result<(u32, Runtime), String>> = OnceLock::new();
    let make = || {
        let built = Builder::new_multi_thread().enable_time().thread_name("isopod").build();
        built.map(|runtime| (std::process::id(), runtime)).map_err(|error| error.to_string())
    };
    match SHARED.get_or_init(make) {
        Ok((process, runtime)) if *process == std::process::id() => Ok(runtime),
        Ok(_) => Err(PyRuntimeError::new_err(
            "isopod was used before this process was forked: start processes with multiprocessing's \"spawn\" method",
        )),
        Err(reason) => Err(PyRuntimeError::new_err(reason.clone())),
    }
}

/// Checks for signals while the work runs: Python runs its signal handlers only on request, on the main thread. An
/// exception in a handler drops the work.
async fn interruptible(mut work: Work) -> PyResult<Answer> {
    loop {
        tokio::select! {
            biased;
            answer = &mut work => return Ok(answer),
            () = tokio::time::sleep(LOOK) => attached(|py| py.check_signals()).unwrap_or(Ok(()))?,
        }
    }
}

/// Passes an answer to the thread of its event loop.
fn deliver_soon(py: Python<'_>, event_loop: &Py<PyAny>, future: Py<PyAny>, answer: Answer) {
    let (value, is_error) = match answer(py) {
        Ok(value) => (value, false),
        Err(error) => (error.into_value(py).into_any(), true),
    };
    let delivered = wrap_pyfunction!(deliver, py).and_then(|deliver| {
        event_loop.call_method1(py, intern!(py, "call_soon_threadsafe"), (deliver, future, value, is_error))
    });
    // The call fails if the loop is closed, and then nothing waits for the answer.
    drop(delivered);
}

#[pyfunction]
fn deliver(future: &Bound<'_, PyAny>, value: Py<PyAny>, is_error: bool) -> PyResult<()> {
    let py = future.py();
    if future.call_method0(intern!(py, "done"))?.is_truthy()? {
        return Ok(());
    }
    let how = if is_error { intern!(py, "set_exception") } else { intern!(py, "set_result") };
    future.call_method1(how, (value,)).map(drop)
}

/// Aborts an operation whose future is done.
#[pyclass(frozen)]
struct Abort(AbortHandle);

#[pymethods]
impl Abort {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.abort();
    }
}

/// Converts a number of seconds.
pub(crate) fn seconds(what: &str, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let time = seconds.map(|number| {
        Duration::try_from_secs_f64(number).map_err(|fault| error("RequestError", format!("{what}: {fault}")))
    });
    time.transpose()
}
