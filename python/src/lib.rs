//! The native half of the Python package `isopod`.
//!
//! It exposes the library's own types and nothing else: names, defaults and user documentation are in
//! `python/package/isopod`. Three rules keep it small.
//!
//! - **An operation is written once.** It is a [`call::Call`], which Python waits for (`wait`, with the interpreter
//!   released) or awaits (on asyncio). So a method and its async twin cannot differ.
//! - **Answers for frameworks come from the library's profiles**, and cross over as plain dictionaries.
//! - **One table makes exceptions** from the library's errors: `errors`.
//!
//! # Layout
//! `interpreter`, `call`, `closing` and `errors` are used by all others; `values` are the answers. `backend` has
//! commands and files, `stream` has output as it arrives. `sandbox`, `snapshot` and `session` wrap the library's own
//! types; `limits` and `layer` are their arguments. `provider` leases sandboxes; `deepagents` and `deerflow` are
//! profiles; `timing` is for the benchmark.

mod backend;
mod call;
mod closing;
mod deepagents;
mod deerflow;
mod errors;
mod interpreter;
mod layer;
mod limits;
mod provider;
mod sandbox;
mod session;
mod snapshot;
mod stream;
mod timing;
mod values;

/// The module that Python imports as `isopod._isopod`.
#[pyo3::pymodule]
mod _isopod {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::backend::Backend;
    #[pymodule_export]
    use super::call::Call;
    #[pymodule_export]
    use super::deepagents::DeepAgents;
    #[pymodule_export]
    use super::deerflow::DeerFlow;
    #[pymodule_export]
    use super::layer::{Layer, Request};
    #[pymodule_export]
    use super::limits::Limits;
    #[pymodule_export]
    use super::provider::Provider;
    #[pymodule_export]
    use super::sandbox::Sandbox;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::snapshot::Snapshot;
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::timing::time_execute;
    #[pymodule_export]
    use super::values::{Change, Chunk, Entry, LimitHit, Match, Output, Usage};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let farewell = wrap_pyfunction!(super::interpreter::farewell, module)?;
        module.py().import("atexit")?.call_method1("register", (farewell,)).map(drop)
    }
}
