//! A live shell.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::backend::{Handle, command};
use crate::call::Call;
use crate::errors::Raised;
use crate::stream::Stream;
use crate::values::{Line, Output};

/// A shell that keeps its state from one call to the next.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Session {
    session: isopod::Session,
    handle: Handle,
}

impl Session {
    pub(crate) fn new(session: isopod::Session, handle: Handle) -> Session {
        Session { session, handle }
    }
}

#[pymethods]
impl Session {
    #[pyo3(signature = (line, timeout=None, stdin=None))]
    fn execute(&self, line: Line, timeout: Option<f64>, stdin: Option<PyBackedBytes>) -> PyResult<Call> {
        let (session, command) = (self.session.clone(), command(line, timeout, None, None, stdin)?);
        let work = async move { session.execute(command).await.map(Output::from) };
        Ok(Call::new(self.handle.clone().until_closed(work)))
    }

    #[pyo3(signature = (line, timeout=None, stdin=None))]
    fn stream(&self, line: Line, timeout: Option<f64>, stdin: Option<PyBackedBytes>) -> PyResult<Call> {
        let (session, command, handle) =
            (self.session.clone(), command(line, timeout, None, None, stdin)?, self.handle.clone());
        let work = async move {
            let execution = session.stream(command).await?;
            Ok::<_, Raised>(Stream::new(Box::new(execution), handle))
        };
        Ok(Call::new(self.handle.clone().until_closed(work)))
    }

    fn interrupt(&self) {
        self.session.interrupt();
    }

    #[getter]
    fn cwd(&self) -> Option<String> {
        self.session.cwd()
    }

    #[getter]
    fn is_open(&self) -> bool {
        self.session.is_open()
    }

    fn close(&self) -> Call {
        let session = self.session.clone();
        Call::new(async move {
            session.close().await;
            Ok::<_, Raised>(())
        })
    }
}
