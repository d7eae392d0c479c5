//! Sandboxes for conversation threads, which last over restarts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use isopod::provider::{self, Config, HostAccess, HostMount, ProviderError, SandboxId, SandboxState};
use pyo3::prelude::*;

use crate::backend::{Backend, Handle};
use crate::call::{Call, runtime, seconds};
use crate::errors::raised;
use crate::limits::Limits;

/// Keeps sandboxes under one directory.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Provider {
    provider: provider::Provider,
    limits: isopod::Limits,
}

/// Id, state, thread, user and metadata of a sandbox.
type Item = (String, &'static str, Option<String>, Option<String>, BTreeMap<String, String>);

#[pymethods]
impl Provider {
    /// Opens a provider. Arguments take precedence over variables, and variables over the configuration file.
    #[new]
    #[pyo3(signature = (*, root, file, variables, max_count, idle_timeout, limits, mounts, read_only, overlays, env))]
    #[allow(clippy::too_many_arguments, reason = "the keywords of one Python constructor")]
    fn open(
        py: Python<'_>,
        root: Option<PathBuf>,
        file: Option<PathBuf>,
        variables: BTreeMap<String, String>,
        max_count: Option<usize>,
        idle_timeout: Option<f64>,
        limits: Option<&Limits>,
        mounts: BTreeMap<String, PathBuf>,
        read_only: BTreeMap<String, PathBuf>,
        overlays: BTreeMap<String, PathBuf>,
        env: BTreeMap<String, String>,
    ) -> PyResult<Provider> {
        let mut config = Config::load(file.as_deref(), variables).map_err(raised)?;
        config.root = root.unwrap_or(config.root);
        config.max_count = max_count.unwrap_or(config.max_count);
        config.idle_timeout = seconds("idle_timeout", idle_timeout)?.or(config.idle_timeout);
        config.limits = limits.map_or(config.limits, |limits| limits.0.clone());
        config.env.extend(env);
        for (access, places) in
            [(HostAccess::ReadWrite, mounts), (HostAccess::ReadOnly, read_only), (HostAccess::Overlay, overlays)]
        {
            config.mounts.extend(places.into_iter().map(|(guest, host)| HostMount { host, guest, access }));
        }
        let (runtime, limits) = (runtime()?, config.limits.clone());
        let provider = py.detach(|| provider::Provider::open(config)).map_err(raised)?;
        runtime.spawn(provider.tend());
        Ok(Provider { provider, limits })
    }

    #[getter]
    fn limits(&self) -> Limits {
        Limits(self.limits.clone())
    }

    fn acquire(&self, thread: String, user: Option<String>) -> Call {
        let provider = self.provider.clone();
        Call::new(async move { provider.acquire(&thread, user.as_deref()).await.map(|id| id.to_string()) })
    }

    /// Leases the sandbox of this id, or a new one. Returns its id and its backend.
    fn get_or_create(&self, id: Option<&str>) -> PyResult<Call> {
        let (provider, id, output) = (self.provider.clone(), id.map(parse).transpose()?, self.limits.output);
        Ok(Call::new(async move {
            let lease = provider.get_or_create(id).await?;
            Ok::<_, ProviderError>((lease.sandbox_id().to_string(), Backend::new(Handle::new(lease, output))))
        }))
    }

    /// Returns the backend of a lease of this provider.
    fn get(&self, id: &str) -> PyResult<Backend> {
        Ok(Backend::new(Handle::new(self.provider.get(parse(id)?).map_err(raised)?, self.limits.output)))
    }

    fn release(&self, id: &str) -> PyResult<Call> {
        let (provider, id) = (self.provider.clone(), parse(id)?);
        Ok(Call::new(async move { provider.release(id).await }))
    }

    fn delete(&self, id: &str) -> PyResult<Call> {
        let (provider, id) = (self.provider.clone(), parse(id)?);
        Ok(Call::new(async move { provider.delete(id).await }))
    }

    /// Returns a page of sandboxes, and the cursor of the next page.
    fn list(&self, cursor: Option<&str>) -> PyResult<Call> {
        let (provider, cursor) = (self.provider.clone(), cursor.map(parse).transpose()?);
        Ok(Call::new(async move {
            let listing = provider.list(cursor).await?;
            let items: Vec<Item> = listing.items.into_iter().map(item).collect();
            Ok::<_, ProviderError>((items, listing.cursor.map(|id| id.to_string())))
        }))
    }

    fn shutdown(&self) -> Call {
        let provider = self.provider.clone();
        Call::new(async move {
            provider.shutdown().await;
            Ok::<_, ProviderError>(())
        })
    }
}

fn item(info: provider::SandboxInfo) -> Item {
    let state = match info.state {
        SandboxState::Leased => "leased",
        SandboxState::Warm => "warm",
        _ => "stored",
    };
    (info.id.to_string(), state, info.thread, info.user, info.metadata.into_iter().collect())
}

fn parse(id: &str) -> PyResult<SandboxId> {
    id.parse().map_err(|fault: ProviderError| raised(fault))
}
