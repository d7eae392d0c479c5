//! A sandbox inside this process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use isopod::backend::{self, Isopod};
use isopod::vfs::{Overlay, Rules};
use pyo3::prelude::*;

use crate::backend::{Backend, Handle};
use crate::call::{Call, runtime};
use crate::errors::{Raised, error, raised};
use crate::layer::{Layer, Wrap};
use crate::limits::Limits;
use crate::session::Session;
use crate::snapshot::Snapshot;
use crate::values::Change;

/// A sandbox and the layers around it.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Sandbox {
    id: String,
    /// `None` after it is closed.
    sandbox: Mutex<Option<isopod::Sandbox>>,
    layers: Vec<Wrap>,
    handle: Handle,
}

impl Sandbox {
    pub(crate) fn new(id: String, sandbox: isopod::Sandbox, layers: Vec<Wrap>) -> PyResult<Sandbox> {
        let inner: Arc<dyn backend::Backend> = Arc::new(Isopod::new(id.clone(), sandbox.clone()).map_err(raised)?);
        let wrapped = layers.iter().try_fold(inner, |inner, wrap| wrap(inner)).map_err(raised)?;
        let handle = Handle::new(wrapped, sandbox.limits().output);
        Ok(Sandbox { id, sandbox: Mutex::new(Some(sandbox)), layers, handle })
    }

    pub(crate) fn open(&self) -> PyResult<isopod::Sandbox> {
        let sandbox = self.sandbox.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sandbox.ok_or_else(|| error("ClosedError", "the sandbox is closed"))
    }

    /// Returns the overlay at a path, or the only one.
    fn overlay(&self, path: Option<&str>) -> PyResult<Overlay> {
        let mut overlays = self.open()?.overlays();
        let chosen = match path {
            Some(path) => overlays.into_iter().find(|(at, _)| at == path),
            None if overlays.len() == 1 => overlays.pop(),
            None => return Err(error("RequestError", format!("there are {} overlays: say which", overlays.len()))),
        };
        let missing = || error("RequestError", format!("there is no overlay at {path:?}"));
        chosen.map(|(_, overlay)| overlay).ok_or_else(missing)
    }
}

#[pymethods]
impl Sandbox {
    #[new]
    #[pyo3(signature = (*, id, mounts, read_only, overlays, env, cwd, limits, layers, snapshot, allow, allow_programs,
                        deny_programs))]
    #[allow(clippy::too_many_arguments, reason = "the keywords of one Python constructor")]
    fn make(
        py: Python<'_>,
        id: String,
        mounts: BTreeMap<String, PathBuf>,
        read_only: BTreeMap<String, PathBuf>,
        overlays: BTreeMap<String, PathBuf>,
        env: BTreeMap<String, String>,
        cwd: Option<String>,
        limits: Option<&Limits>,
        layers: Vec<PyRef<'_, Layer>>,
        snapshot: Option<&Snapshot>,
        allow: Vec<String>,
        allow_programs: Option<Vec<String>>,
        deny_programs: Option<Vec<String>>,
    ) -> PyResult<Sandbox> {
        runtime()?;
        if allow_programs.is_some() && deny_programs.is_some() {
            return Err(error("RequestError", "either allow_programs or deny_programs"));
        }
        for pattern in &allow {
            Rules::check_standard(pattern).map_err(|fault| error("RequestError", format!("allow: {fault}")))?;
        }
        let mut builder = isopod::Sandbox::builder().protect(Rules::standard_but(&allow));
        builder = limits.into_iter().fold(builder, |builder, limits| builder.limits(limits.0.clone()));
        builder = mounts.iter().fold(builder, |builder, (guest, host)| builder.mount(host, guest));
        builder = read_only.iter().fold(builder, |builder, (guest, host)| builder.mount_read_only(host, guest));
        builder = overlays.iter().fold(builder, |builder, (guest, host)| builder.mount_overlay(host, guest));
        builder = env.into_iter().fold(builder, |builder, (name, value)| builder.env(name, value));
        builder = cwd.into_iter().fold(builder, |builder, cwd| builder.cwd(cwd));
        builder = snapshot.into_iter().fold(builder, |builder, snapshot| builder.snapshot(snapshot.files()));
        builder = allow_programs.into_iter().fold(builder, |builder, names| builder.allow_programs(names));
        builder = deny_programs.into_iter().fold(builder, |builder, names| builder.deny_programs(names));
        let layers = layers.iter().map(|layer| layer.wrap()).collect();
        let sandbox = py.detach(|| builder.build()).map_err(raised)?;
        Sandbox::new(id, sandbox, layers)
    }

    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    #[getter]
    fn backend(&self) -> Backend {
        Backend::new(self.handle.clone())
    }

    #[getter]
    fn limits(&self) -> PyResult<Limits> {
        Ok(Limits(self.open()?.limits().clone()))
    }

    /// Starts a live shell. Refused with layers: they see single commands and could not look into a session.
    fn session(&self) -> PyResult<Session> {
        if !self.layers.is_empty() {
            return Err(error("UnsupportedError", "a session of a sandbox with layers"));
        }
        let sandbox = self.open()?;
        let _within = runtime()?.enter();
        Ok(Session::new(sandbox.session().map_err(raised)?, self.handle.clone()))
    }

    fn snapshot(&self) -> PyResult<Snapshot> {
        Ok(Snapshot::new(self.open()?.snapshot(), self.layers.clone()))
    }

    /// Returns the paths of the overlays.
    fn overlays(&self) -> PyResult<Vec<String>> {
        Ok(self.open()?.overlays().into_iter().map(|(at, _)| at).collect())
    }

    /// Returns the changes of an overlay, and the patch.
    fn diff(&self, path: Option<String>) -> PyResult<Call> {
        let overlay = self.overlay(path.as_deref())?;
        Ok(Call::blocking(move || {
            let diff = overlay.diff()?;
            let changes: Vec<Change> = diff.changes().iter().map(Change::from).collect();
            Ok::<_, isopod::error::Errno>((changes, diff.patch()?))
        }))
    }

    fn commit(&self, path: Option<String>) -> PyResult<Call> {
        let overlay = self.overlay(path.as_deref())?;
        Ok(Call::blocking(move || overlay.commit()))
    }

    fn discard(&self, path: Option<String>) -> PyResult<Call> {
        let overlay = self.overlay(path.as_deref())?;
        Ok(Call::blocking(move || overlay.discard().map_err(Raised::from)))
    }

    fn close(&self) {
        self.handle.close();
        drop(self.sandbox.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
