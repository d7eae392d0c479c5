//! `isopod python`: Python packages that every sandbox of this user sees.
//!
//! The host's pip only finds and fetches wheels. The sandbox's pip checks and unpacks them, in a sandbox that sees only the
//! wheels and the directory of packages. So no code of a package runs on the host, and nothing is unpacked there.

#![allow(clippy::disallowed_methods, reason = "it fetches packages with the host's pip, as its caller asked")]

use std::path::{Path, PathBuf};
use std::process::{Command as HostCommand, ExitCode, Stdio};

use clap::{Args, Subcommand};
use isopod::provider::{HostAccess, HostMount};
use isopod::vfs::Rules;
use isopod::{Command, Runtime, Sandbox};

use super::answer::Failure;
use super::packages::{Change, Packages};
use super::{NO_SANDBOX, block_on_host, print, refuse};

/// The mount point of the packages in sandboxes. Python looks there after the packages of the sandbox itself.
const LAYER: &str = "/usr/lib/python3/site-packages";
/// The directory in which the sandbox's pip installs and removes.
const SITE: &str = "/usr/local/lib/python3.14/site-packages";
/// The directory of the wheels for it.
const WHEELS: &str = "/wheels";
/// The version of Python that packages are for.
const VERSION: &str = "3.14";

/// Python packages for all sandboxes
///
/// They are kept with the user's data ($XDG_DATA_HOME/isopod-python) and are there in every sandbox, read-only. Only
/// packages of pure Python can be added: a sandbox runs no native code.
#[derive(Args)]
pub(super) struct Python {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Add packages with their requirements: from the package index by this machine's pip, or wheel files
    Add {
        /// Take packages from this directory of wheels, and not from the package index
        #[arg(long, value_name = "DIR")]
        find_links: Option<PathBuf>,

        /// Do not add the requirements of the packages
        #[arg(long)]
        no_deps: bool,

        /// Names, such as `requests` or `attrs==24.2`, or paths of wheel files
        #[arg(required = true, value_name = "PACKAGE")]
        packages: Vec<String>,
    },
    /// List the packages
    List,
    /// Remove packages
    Remove {
        /// Their names
        #[arg(required = true, value_name = "PACKAGE")]
        packages: Vec<String>,
    },
}

impl Python {
    pub(super) fn run(self) -> ExitCode {
        let done = match self.verb {
            Verb::Add { find_links, no_deps, packages } => add(find_links.as_deref(), no_deps, &packages),
            Verb::List => match site() {
                Some(site) => pip(&site, None, vec!["list".to_owned()]),
                None => Ok(String::new()),
            },
            Verb::Remove { packages } => remove(packages),
        };
        match done {
            Ok(said) => print(said.as_bytes(), 0),
            Err(failure) => refuse(failure.code, failure.why),
        }
    }
}

/// Returns the mount of the packages, if there are any.
pub(super) fn layer() -> Option<HostMount> {
    site().map(|host| HostMount { host, guest: LAYER.to_owned(), access: HostAccess::ReadOnly })
}

/// Returns the directory of the packages on the host, if there are any.
fn site() -> Option<PathBuf> {
    Packages::of_user()?.site()
}

fn begin() -> Result<Change, Failure> {
    let packages = Packages::of_user();
    let packages =
        packages.ok_or_else(|| Failure::usage("no place for packages: neither XDG_DATA_HOME nor HOME is set"))?;
    packages.change().map_err(failed)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::refused(format!("cannot change the packages: {error}"))
}

fn add(find_links: Option<&Path>, no_deps: bool, packages: &[String]) -> Result<String, Failure> {
    let change = begin()?;
    let fetched = change.fetched();
    let (files, names): (Vec<&String>, Vec<&String>) = packages.iter().partition(|package| package.ends_with(".whl"));
    for file in files {
        let file = Path::new(file);
        let name = file.file_name().unwrap_or_default();
        std::fs::copy(file, fetched.join(name))
            .map_err(|error| Failure::refused(format!("{}: {error}", file.display())))?;
    }
    if !names.is_empty() {
        fetch(&fetched, find_links, no_deps, &names)?;
    }
    let mut wheels = Vec::new();
    for entry in std::fs::read_dir(&fetched).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        wheels.extend(name.into_string().ok().map(|name| format!("{WHEELS}/{name}")));
    }
    wheels.sort();
    let options = if no_deps { vec!["install", "--no-deps", "-U"] } else { vec!["install", "-U"] };
    let arguments = options.into_iter().map(str::to_owned).chain(wheels).collect();
    let said = pip(&change.next(), Some(&fetched), arguments)?;
    change.make().map_err(failed)?;
    Ok(said)
}

fn remove(names: Vec<String>) -> Result<String, Failure> {
    if site().is_none() {
        return Err(Failure::refused("there are no packages to remove"));
    }
    let change = begin()?;
    let arguments = ["uninstall", "-y"].map(str::to_owned).into_iter().chain(names).collect();
    let said = pip(&change.next(), None, arguments)?;
    change.make().map_err(failed)?;
    Ok(said)
}

/// Lets the host's pip fetch wheels of pure Python.
fn fetch(into: &Path, find_links: Option<&Path>, no_deps: bool, names: &[&String]) -> Result<(), Failure> {
    let mut pip = HostCommand::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]);
    pip.args(["--only-binary", ":all:", "--implementation", "py", "--abi", "none", "--platform", "any"]);
    pip.args(["--python-version", VERSION, "--dest"]).arg(into);
    if let Some(directory) = find_links {
        pip.args(["--no-index", "--find-links"]).arg(directory);
    }
    if no_deps {
        pip.arg("--no-deps");
    }
    pip.arg("--").args(names);
    let output = pip.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::refused("there is no python3 on this machine to fetch packages with"),
        _ => Failure::refused(format!("python3: {error}")),
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::refused(complaint(&String::from_utf8_lossy(&output.stderr))))
}

/// Returns the complaint of pip in one line.
fn complaint(said: &str) -> String {
    const UNREACHABLE: [&str; 4] = ["NewConnectionError", "NameResolutionError", "ConnectTimeout", "ProxyError"];
    const MISSING: &str = "No matching distribution found for ";
    if said.contains("No module named pip") {
        return "this machine's python3 has no pip to fetch packages with".to_owned();
    }
    if UNREACHABLE.iter().any(|word| said.contains(word)) {
        return "the package index cannot be reached".to_owned();
    }
    let errors = || said.lines().filter_map(|line| line.strip_prefix("ERROR: "));
    if let Some(name) = errors().find_map(|line| line.strip_prefix(MISSING)) {
        return format!("there is no wheel of pure Python for {name}: a sandbox runs no native code");
    }
    let last = errors().next_back().or_else(|| said.lines().next_back());
    format!("pip: {}", last.unwrap_or("failed without a word"))
}

/// Runs the sandbox's pip on the packages, and returns its output.
fn pip(site: &Path, wheels: Option<&Path>, arguments: Vec<String>) -> Result<String, Failure> {
    let no_sandbox = |error: String| Failure { code: NO_SANDBOX, why: error };
    let runtime = Runtime::on_demand().map_err(|error| no_sandbox(error.to_string()))?;
    // The directory is not one that programs of the host obey.
    let mut builder = Sandbox::builder().runtime(runtime).protect(Rules::none()).mount(site, SITE);
    if let Some(wheels) = wheels {
        builder = builder.mount_read_only(wheels, WHEELS);
    }
    let sandbox = builder.build().map_err(|error| no_sandbox(error.to_string()))?;
    let mut answer = Err(Failure::refused("pip did not run"));
    block_on_host(async {
        let command: Vec<String> = ["pip".to_owned()].into_iter().chain(arguments).collect();
        answer = match sandbox.execute(Command::program(command)).await {
            // pip only warns of a package that is not installed.
            Ok(output) if output.exit_code == 0 && output.stderr.is_empty() => {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.trim().replace("ERROR: ", "").replace("WARNING: ", "").replace('\n', "; ");
                Err(Failure::refused(said.replace(&format!("{WHEELS}/"), "")))
            }
            Err(error) => Err(Failure::refused(error.to_string())),
        };
        ExitCode::SUCCESS
    });
    answer
}
