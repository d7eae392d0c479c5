//! Where sandboxes are kept, and where files are.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use isopod::backend::{Backend, Directory};
use isopod::provider::{Config, Provider, SandboxId};
use isopod::{Limits, Runtime};

use super::NO_SANDBOX;
use super::answer::Failure;

/// Where sandboxes are kept.
#[derive(Args)]
pub(super) struct Place {
    /// Where sandboxes are kept: else $ISOPOD_ROOT, else what the file says, else the user's data
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Limits, mounts, times: a TOML file, else $ISOPOD_CONFIG. Variables ISOPOD_… go before it
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Place {
    /// What file, variables and options say.
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

    /// Opens the root.
    pub(super) fn open(&self) -> Result<Provider, Failure> {
        open(self.config()?)
    }
}

/// Opens a root.
pub(super) fn open(config: Config) -> Result<Provider, Failure> {
    // One command: a pool would cost more than it gives.
    let runtime = Runtime::on_demand().map_err(|error| Failure { code: NO_SANDBOX, why: error.to_string() })?;
    Ok(Provider::builder(config).runtime(runtime).open()?)
}

/// Whose files.
#[derive(Args)]
pub(super) struct Whose {
    /// The files of this sandbox
    #[arg(long, global = true, value_name = "ID", conflicts_with = "dir")]
    sandbox: Option<SandboxId>,

    /// The files of this directory, which is the root of all paths: none leads out of it
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    place: Place,
}

/// Files that are at hand.
pub(super) struct Files {
    pub(super) backend: Arc<dyn Backend>,
    provider: Option<Provider>,
}

impl Whose {
    /// Leases the sandbox, or opens the directory.
    pub(super) async fn open(&self) -> Result<Files, Failure> {
        match (self.sandbox, &self.dir) {
            (Some(id), _) => {
                let provider = self.place.open()?;
                let backend = provider.get_or_create(Some(id)).await?;
                Ok(Files { backend, provider: Some(provider) })
            }
            (None, Some(dir)) => {
                let named = |error| Failure::usage(format!("{}: {error}", dir.display()));
                let backend = Directory::open(dir, &Limits::default()).map_err(named)?;
                Ok(Files { backend: Arc::new(backend), provider: None })
            }
            (None, None) => Err(Failure::usage("whose files? --sandbox ID or --dir DIR says")),
        }
    }
}

impl Files {
    /// Lets go of them.
    pub(super) async fn close(self) {
        if let Some(provider) = self.provider {
            provider.shutdown().await;
        }
    }
}
