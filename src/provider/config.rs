//! The configuration of a provider: in Rust, in a TOML file, and in environment variables. `docs/provider.md` has a
//! file with every field.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::limits::Limits;
use crate::limits::server::provider;
use crate::sandbox::{Sandbox, SandboxBuilder};
use crate::units;
use crate::vfs::Rules;

/// The prefix of environment variables.
const PREFIX: &str = "ISOPOD_";
/// Fields that a variable may set, in addition to all limits.
const VARIABLES: [&str; 6] = ["root", "max_count", "idle_timeout", "ttl", "lease_timeout", "isolate"];

/// The configuration of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Config {
    /// The directory of the sandboxes.
    pub root: PathBuf,
    /// Sandboxes in the memory of this process, leased and warm. Each has some open files.
    pub max_count: usize,
    /// The time that a warm sandbox stays in memory.
    pub idle_timeout: Option<Duration>,
    /// The time after which an unused sandbox is deleted.
    pub ttl: Option<Duration>,
    /// The time after which an unused lease ends.
    pub lease_timeout: Option<Duration>,
    /// The process in which a server runs its sandboxes.
    pub isolate: Isolation,
    /// The limits of a sandbox.
    pub limits: Limits,
    /// Directories of the host in every sandbox.
    pub mounts: Vec<HostMount>,
    /// Environment variables of every command.
    pub env: BTreeMap<String, String>,
    /// Protected paths that may be changed all the same: patterns of [`Rules::standard`], or `all`.
    pub allow: Vec<String>,
    /// The only programs that may be started.
    pub allow_programs: Option<Vec<String>>,
    /// Programs that may not be started.
    pub deny_programs: Option<Vec<String>>,
}

/// The process in which a server runs its sandboxes. A provider ignores it: its own are always in its process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// In the server's process.
    #[default]
    None,
    /// Each in a process of its own. A crash ends one of them.
    Process,
}

/// A directory of the host in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostMount {
    /// The path on the host.
    pub host: PathBuf,
    /// The path in the sandbox.
    pub guest: String,
    /// The access that the sandbox has.
    #[serde(default)]
    pub access: HostAccess,
}

/// The access of a sandbox to a directory of the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostAccess {
    /// Read only.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
    /// Read; writes stay in memory.
    Overlay,
}

/// An error in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// The name of the file.
        file: String,
        /// The host's error.
        reason: String,
    },
    /// A field of the file is not valid.
    #[error("{file}:{line}: {fault}")]
    Field {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The field and its fault.
        fault: String,
    },
    /// An environment variable is not valid.
    #[error("{name}: {fault}")]
    Variable {
        /// The name of the variable.
        name: String,
        /// Its fault.
        fault: String,
    },
    /// Neither the file nor the environment names a root.
    #[error("no root directory: set ISOPOD_ROOT, or root in the configuration file")]
    NoRoot,
}

impl Config {
    /// Makes a configuration of defaults with this root.
    pub fn new(root: impl Into<PathBuf>) -> Config {
        Config {
            root: root.into(),
            max_count: provider::DEFAULT_COUNT,
            idle_timeout: Some(provider::DEFAULT_IDLE_TIMEOUT),
            ttl: None,
            lease_timeout: None,
            isolate: Isolation::None,
            limits: Limits::default(),
            mounts: Vec::new(),
            env: BTreeMap::new(),
            allow: Vec::new(),
            allow_programs: None,
            deny_programs: None,
        }
    }

    /// Reads a file, if one is given, and environment variables, which take precedence. If neither names a root, it is
    /// `isopod` in the user's data directory.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let Some(path) = file else {
            return Config::parse("", "", variables);
        };
        let name = path.display().to_string();
        let read = || -> std::io::Result<String> {
            let mut text = String::new();
            let file = cap_std::fs::File::open_ambient(path, cap_std::ambient_authority())?;
            file.take(provider::CONFIG_BYTES).read_to_string(&mut text)?;
            Ok(text)
        };
        let text = read().map_err(|error| ConfigError::File { file: name.clone(), reason: error.to_string() })?;
        Config::parse(&text, &name, variables)
    }

    /// Does the same as [`load`](Config::load), from the text of a file and the name that errors have.
    pub fn parse(
        text: &str,
        file: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let field = |error: toml::de::Error| in_file(text, file, &error);
        // Parsed once for errors that know their line, and once as a table that variables can override.
        toml::from_str::<Fields>(text).map_err(field)?;
        let mut table: Table = toml::from_str(text).map_err(field)?;
        let mut home = None;
        for (name, value) in variables {
            match name.as_str() {
                "XDG_DATA_HOME" if value.starts_with('/') => home = Some(PathBuf::from(value)),
                "HOME" if home.is_none() && value.starts_with('/') => {
                    home = Some(Path::new(&value).join(".local/share"));
                }
                _ => override_field(&mut table, &name, value)?,
            }
        }
        let fields: Fields = Value::Table(table).try_into().map_err(field)?;
        let root = fields.root.clone().or_else(|| home.map(|home| home.join("isopod"))).ok_or(ConfigError::NoRoot)?;
        Ok(fields.over(Config::new(root)))
    }

    /// Makes all paths absolute, for a process with another working directory.
    pub(crate) fn made_absolute(mut self) -> Config {
        let paths = self.mounts.iter_mut().map(|mount| &mut mount.host).chain([&mut self.root]);
        for path in paths {
            // An empty path has no absolute form. Opening it fails later, with an error of its own.
            *path = std::path::absolute(&*path).unwrap_or_default();
        }
        self
    }

    /// Returns the builder of a sandbox of this configuration. With `is_dry`, changes in directories of the host are
    /// discarded.
    pub(crate) fn builder(&self, is_dry: bool) -> SandboxBuilder {
        let mut builder = Sandbox::builder().limits(self.limits.clone());
        for HostMount { host, guest, access } in &self.mounts {
            builder = match access {
                HostAccess::ReadOnly => builder.mount_read_only(host, guest),
                HostAccess::ReadWrite if !is_dry => builder.mount(host, guest),
                HostAccess::ReadWrite | HostAccess::Overlay => builder.mount_overlay(host, guest),
            };
        }
        for (name, value) in &self.env {
            builder = builder.env(name, value);
        }
        builder = builder.protect(Rules::standard_but(&self.allow));
        if let Some(names) = &self.allow_programs {
            builder = builder.allow_programs(names);
        }
        if let Some(names) = &self.deny_programs {
            builder = builder.deny_programs(names);
        }
        builder
    }
}

/// Overrides a field by the value of a variable, if the variable is one of ours.
fn override_field(table: &mut Table, name: &str, value: String) -> Result<(), ConfigError> {
    let Some(field) = name.strip_prefix(PREFIX).map(str::to_lowercase) else {
        return Ok(());
    };
    let fault = |error: toml::de::Error| ConfigError::Variable { name: name.to_owned(), fault: one_line(&error) };
    let value = Value::String(value);
    let alone = |field: &str| Table::from_iter([(field.to_owned(), value.clone())]);
    if let Some(limit) = field.strip_prefix("limits_") {
        Value::Table(alone(limit)).try_into::<LimitFields>().map_err(fault)?;
        let limits = table.entry("limits").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(limits) = limits {
            limits.insert(limit.to_owned(), value);
        }
    } else if VARIABLES.contains(&field.as_str()) {
        Value::Table(alone(&field)).try_into::<Fields>().map_err(fault)?;
        table.insert(field, value);
    }
    Ok(())
}

fn in_file(text: &str, file: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let before = &text.as_bytes()[..start];
    let line = before.iter().filter(|byte| **byte == b'\n').count();
    let key = text.lines().nth(line).and_then(|line| line.split_once('=')).map_or("", |(key, _)| key.trim());
    let message = one_line(error);
    let fault = match key.is_empty() || message.contains(key) {
        true => message,
        false => format!("{key}: {message}"),
    };
    ConfigError::Field { file: file.to_owned(), line: line + 1, fault }
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The fields of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    root: Option<PathBuf>,
    max_count: Option<Number>,
    idle_timeout: Option<Span>,
    ttl: Option<Span>,
    lease_timeout: Option<Span>,
    #[serde(default)]
    isolate: Isolation,
    #[serde(default)]
    limits: LimitFields,
    #[serde(default)]
    mount: Vec<HostMount>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    allow: Vec<Unprotected>,
    allow_programs: Option<Vec<String>>,
    deny_programs: Option<Vec<String>>,
}

/// The limits, by their names in [`Limits`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitFields {
    hardened: Option<Flag>,
    wall: Option<Time>,
    wall_max: Option<Time>,
    fuel: Option<Number>,
    process_memory: Option<Size>,
    sandbox_memory: Option<Size>,
    processes: Option<Small>,
    open_files: Option<Small>,
    output: Option<Size>,
    command: Option<Size>,
    arguments: Option<Size>,
    disk: Option<Size>,
    file: Option<Size>,
    inodes: Option<Number>,
    clock_step: Option<Time>,
}

impl Fields {
    fn over(self, config: Config) -> Config {
        Config {
            max_count: self.max_count.map_or(config.max_count, |n| usize::try_from(n.0).unwrap_or(usize::MAX)),
            idle_timeout: self.idle_timeout.map_or(config.idle_timeout, |span| span.0),
            ttl: self.ttl.map_or(config.ttl, |span| span.0),
            lease_timeout: self.lease_timeout.map_or(config.lease_timeout, |span| span.0),
            isolate: self.isolate,
            limits: self.limits.limits(),
            mounts: self.mount,
            env: self.env,
            allow: self.allow.into_iter().map(|path| path.0).collect(),
            allow_programs: self.allow_programs,
            deny_programs: self.deny_programs,
            ..config
        }
    }
}

impl LimitFields {
    fn limits(self) -> Limits {
        let base = match self.hardened {
            Some(Flag(true)) => Limits::hardened(),
            _ => Limits::default(),
        };
        let size = |field: Option<Size>, base: u64| field.map_or(base, |size| size.0);
        Limits {
            wall: self.wall.map_or(base.wall, |time| time.0),
            wall_max: self.wall_max.map_or(base.wall_max, |time| time.0),
            fuel: self.fuel.map(|number| number.0).or(base.fuel),
            process_memory: size(self.process_memory, base.process_memory),
            sandbox_memory: size(self.sandbox_memory, base.sandbox_memory),
            processes: self.processes.map_or(base.processes, |number| number.0),
            open_files: self.open_files.map_or(base.open_files, |number| number.0),
            output: size(self.output, base.output),
            command: size(self.command, base.command),
            arguments: size(self.arguments, base.arguments),
            disk: size(self.disk, base.disk),
            file: size(self.file, base.file),
            inodes: self.inodes.map_or(base.inodes, |number| number.0),
            clock_step: self.clock_step.map_or(base.clock_step, |time| time.0),
        }
    }
}

/// A value of the file, or the text of a variable.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or a text")]
enum Scalar {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text,
        }
    }
}

/// Makes a type that is parsed from the text of a scalar.
macro_rules! scalar {
    ($(#[$doc:meta])* $name:ident($inner:ty) = $read:expr) => {
        $(#[$doc])*
        #[derive(Deserialize)]
        #[serde(try_from = "Scalar")]
        struct $name($inner);

        impl TryFrom<Scalar> for $name {
            type Error = String;

            fn try_from(scalar: Scalar) -> Result<$name, String> {
                let read: fn(&str) -> Result<$inner, String> = $read;
                read(&scalar.text()).map($name)
            }
        }
    };
}

scalar! {
    /// A time; `never` is none.
    Span(Option<Duration>) = |text| if text == "never" { Ok(None) } else { units::time(text).map(Some) }
}
scalar! {
    /// A time.
    Time(Duration) = units::time
}
scalar! {
    /// A number of bytes.
    Size(u64) = units::bytes
}
scalar! {
    /// A count, at least one.
    Number(u64) = count
}
scalar! {
    /// A count of 32 bits, at least one.
    Small(u32) = count
}
scalar! {
    /// A boolean.
    Flag(bool) = |text| text.parse().map_err(|_| "expected true or false".to_owned())
}
scalar! {
    /// A pattern of a protected path.
    Unprotected(String) = |text| Rules::check_standard(text).map(|()| text.to_owned())
}

fn count<T: std::str::FromStr + From<u8> + PartialOrd>(text: &str) -> Result<T, String> {
    let number = text.parse::<T>().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| "expected a number from 1 up".to_owned())
}
