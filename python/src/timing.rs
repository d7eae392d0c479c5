//! The time of an execution without Python, for `bench.py`: measured in the same process, so that the figures are
//! comparable.

use std::time::Instant;

use pyo3::prelude::*;

use crate::call::runtime;
use crate::errors::raised;
use crate::sandbox::Sandbox;

/// Returns the seconds of each of `count` executions.
#[pyfunction]
pub(crate) fn time_execute(py: Python<'_>, sandbox: &Sandbox, command: &str, count: usize) -> PyResult<Vec<f64>> {
    let (sandbox, runtime) = (sandbox.open()?, runtime()?);
    py.detach(|| {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = Instant::now();
            runtime.block_on(sandbox.execute(command)).map_err(raised)?;
            times.push(began.elapsed().as_secs_f64());
        }
        Ok(times)
    })
}
