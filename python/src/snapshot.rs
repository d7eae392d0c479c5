//! The files of a sandbox at one moment.
#![allow(clippy::disallowed_methods, reason = "the caller names a file of their own")]

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use isopod::vfs::Digest;
use pyo3::prelude::*;

use crate::call::Call;
use crate::errors::{Raised, raised};
use crate::layer::Wrap;
use crate::limits::Limits;
use crate::sandbox::Sandbox;

/// The files of a sandbox at the time of the snapshot.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Snapshot {
    files: Arc<isopod::Snapshot>,
    layers: Vec<Wrap>,
}

impl Snapshot {
    pub(crate) fn new(files: isopod::Snapshot, layers: Vec<Wrap>) -> Snapshot {
        Snapshot { files: Arc::new(files), layers }
    }

    pub(crate) fn files(&self) -> &isopod::Snapshot {
        &self.files
    }
}

#[pymethods]
impl Snapshot {
    /// Makes a sandbox that starts from here, with the same layers.
    fn fork(&self, id: String) -> PyResult<Sandbox> {
        Sandbox::new(id, self.files.fork().map_err(raised)?, self.layers.clone())
    }

    /// Writes a new file. Returns the digest.
    fn save(&self, path: PathBuf) -> Call {
        let files = self.files.clone();
        Call::blocking(move || {
            let file = File::create_new(&path).map_err(|error| Raised::host(Some(path.clone()), &error))?;
            let saved = files.save(&file).map_err(Raised::from).and_then(|digest| {
                file.sync_all().map_err(|error| Raised::host(Some(path.clone()), &error))?;
                Ok(digest.to_string())
            });
            // A partial snapshot is useless.
            saved.inspect_err(|_| drop(std::fs::remove_file(&path)))
        })
    }

    /// Reads a file that `save` wrote.
    #[staticmethod]
    fn load(path: PathBuf, limits: Option<&Limits>, digest: Option<&str>) -> PyResult<Call> {
        let limits = limits.map(|limits| limits.0.clone()).unwrap_or_default();
        let digest: Option<Digest> = digest.map(str::parse).transpose().map_err(raised)?;
        Ok(Call::blocking(move || {
            let file = File::open(&path).map_err(|error| Raised::host(Some(path), &error))?;
            let (files, _) = isopod::Snapshot::load(BufReader::new(file), &limits, digest.as_ref())?;
            Ok::<_, Raised>(Snapshot::new(files, Vec::new()))
        }))
    }
}
