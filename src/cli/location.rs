//! The options that name a root directory of sandboxes, or the files to work on.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use isopod::backend::{Backend, Directory};
use isopod::provider::{Config, Provider, SandboxId};
use isopod::{Limits, Runtime};

use super::NO_SANDBOX;
use super::answer::Failure;

/// The options for the root directory of sandboxes.
#[derive(Args)]
pub(super) struct RootOptions {
    /// The directory of sandboxes [default: $ISOPOD_ROOT, the file's, or the user's data]
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Limits, mounts, times: a TOML file, else $ISOPOD_CONFIG. Variables ISOPOD_… go before it
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl RootOptions {
    /// Reads the configuration from file, variables and options.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let mut variables = Vec::new();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => variables.push((name, value)),
                Err(_) if name.starts_with("ISOPOD_") => return Err(Failure::usage(format!("{name}: not UTF-8"))),
                Err(_) => {}
            }
        }
        let named = variables.iter().find(|(name, _)| name == "ISOPOD_CONFIG").map(|(_, file)| PathBuf::from(file));
        if let Some(root) = &self.root {
            let root = root.to_str().ok_or_else(|| Failure::usage("--root: not UTF-8"))?;
            variables.push(("ISOPOD_ROOT".to_owned(), root.to_owned()));
        }
        let mut config = Config::load(self.config.clone().or(named).as_deref(), variables)?;
        config.mounts.extend(super::python::layer());
        Ok(config)
    }

    /// Opens the provider of the root directory.
    pub(super) fn open(&self) -> Result<Provider, Failure> {
        open(self.config()?)
    }
}

/// Opens the provider of a configuration.
pub(super) fn open(config: Config) -> Result<Provider, Failure> {
    // For one command a pool costs more than it saves.
    let runtime = Runtime::on_demand().map_err(|error| Failure { code: NO_SANDBOX, why: error.to_string() })?;
    Ok(Provider::builder(config).runtime(runtime).open()?)
}

/// The options that name the files to work on.
#[derive(Args)]
pub(super) struct FilesOptions {
    /// The files of this sandbox
    #[arg(long, global = true, value_name = "ID", conflicts_with = "dir")]
    sandbox: Option<SandboxId>,

    /// The files of this directory, which is the root of all paths: none leads out of it
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    place: RootOptions,
}

/// The files of a leased sandbox or of a directory.
pub(super) struct OpenFiles {
    pub(super) backend: Arc<dyn Backend>,
    provider: Option<Provider>,
}

impl FilesOptions {
    /// Leases the sandbox, or opens the directory.
    pub(super) async fn open(&self) -> Result<OpenFiles, Failure> {
        match (self.sandbox, &self.dir) {
            (Some(id), _) => {
                let provider = self.place.open()?;
                let backend = provider.get_or_create(Some(id)).await?;
                Ok(OpenFiles { backend, provider: Some(provider) })
            }
            (None, Some(dir)) => {
                let named = |error| Failure::usage(format!("{}: {error}", dir.display()));
                let backend = Directory::open(dir, &Limits::default()).map_err(named)?;
                Ok(OpenFiles { backend: Arc::new(backend), provider: None })
            }
            (None, None) => Err(Failure::usage("whose files? --sandbox ID or --dir DIR says")),
        }
    }
}

impl OpenFiles {
    /// Ends the lease.
    pub(super) async fn close(self) {
        if let Some(provider) = self.provider {
            provider.shutdown().await;
        }
    }
}
