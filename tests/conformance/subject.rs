//! The tested backends.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use isopod::backend::layer::{Audit, DryRun, PathMap, WriteQuota};
use isopod::backend::{
    Backend, Bubblewrap, Composite, Directory, Docker, ExecFiles, Isopod, LocalShell, Memory, SandboxBackend, Store,
};
use isopod::provider::{Config, HostAccess, HostMount, Provider};
use isopod::vfs::Rules;
use isopod::worker::Worker;
use isopod::{Limits, Sandbox};

/// A backend and how to prepare it from outside.
pub struct Subject {
    pub name: &'static str,
    pub backend: Arc<dyn Backend>,
    /// The directory of the cases, as a path of the backend.
    pub root: String,
    /// The same directory as a path of the host, if it has one.
    pub host: Option<PathBuf>,
    /// The sandbox that shares its files with the backend.
    pub sandbox: Option<Sandbox>,
    /// True if file operations are confined to a root.
    pub is_confined: bool,
    /// True if commands and file operations use the same paths for the same files.
    pub names_are_the_same: bool,
    /// True if the operations are made with shell commands.
    pub is_by_commands: bool,
    /// Directories that have to live as long as the backend.
    _keep: Vec<tempfile::TempDir>,
    _provider: Option<Provider>,
}

impl Subject {
    fn new(name: &'static str, backend: Arc<dyn Backend>, root: &str) -> Subject {
        Subject {
            name,
            backend,
            root: root.to_owned(),
            host: None,
            sandbox: None,
            is_confined: true,
            names_are_the_same: true,
            is_by_commands: false,
            _keep: Vec::new(),
            _provider: None,
        }
    }

    fn on(mut self, host: tempfile::TempDir) -> Subject {
        self.host = Some(host.path().to_owned());
        self._keep.push(host);
        self
    }

    pub fn executing(&self) -> Option<&dyn SandboxBackend> {
        self.backend.sandbox()
    }

    /// Makes a link. Returns false if the backend has no way to do so.
    pub fn link(&self, target: &str, below: &str) -> bool {
        let (Some(sandbox), path) = (&self.sandbox, format!("{}/{below}", self.root)) else {
            return self.host.as_ref().is_some_and(|host| {
                let path = host.join(below);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, path).is_ok()
            });
        };
        sandbox.fs().create_dir_all(path.rsplit_once('/').unwrap().0).unwrap();
        sandbox.fs().symlink(target, &path).is_ok()
    }

    pub fn can_link(&self) -> bool {
        self.host.is_some() || self.sandbox.is_some()
    }
}

fn sandbox() -> Sandbox {
    Sandbox::builder().build().unwrap()
}

fn temp() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("conformance").tempdir().unwrap()
}

pub async fn isopod() -> Option<Subject> {
    let sandbox = sandbox();
    let backend = Arc::new(Isopod::new("iso-1", sandbox.clone()).unwrap());
    Some(Subject { sandbox: Some(sandbox), ..Subject::new("isopod", backend, "/workspace") })
}

pub async fn isopod_host() -> Option<Subject> {
    let host = temp();
    let sandbox = Sandbox::builder().mount(host.path(), "/workspace").protect(Rules::none()).build().unwrap();
    let backend = Arc::new(Isopod::new("iso-2", sandbox).unwrap());
    Some(Subject::new("isopod, host directory", backend, "/workspace").on(host))
}

pub async fn isopod_overlay() -> Option<Subject> {
    let host = temp();
    let sandbox = Sandbox::builder().mount_overlay(host.path(), "/workspace").protect(Rules::none()).build().unwrap();
    let backend = Arc::new(Isopod::new("iso-3", sandbox.clone()).unwrap());
    Some(Subject { sandbox: Some(sandbox), ..Subject::new("isopod, overlay", backend, "/workspace") })
}

pub async fn leased() -> Option<Subject> {
    let root = temp();
    let mut config = Config::new(root.path());
    config.allow = vec!["all".to_owned()];
    let provider = Provider::open(config).unwrap();
    let id = provider.acquire("thread", Some("user")).await.unwrap();
    let host = root.path().join(id.to_string()).join("files");
    let subject = Subject::new("leased", provider.get(id).unwrap(), "/workspace").on(root);
    Some(Subject { host: Some(host), _provider: Some(provider), ..subject })
}

pub async fn local_shell() -> Option<Subject> {
    let host = temp();
    let backend = Arc::new(LocalShell::unconfined(host.path()).unwrap());
    let root = host.path().to_str().unwrap().to_owned();
    Some(Subject::new("local shell", backend, &root).on(host))
}

pub async fn memory() -> Option<Subject> {
    Some(Subject::new("memory", Arc::new(Memory::new(&Limits::default()).unwrap()), "/w"))
}

pub async fn directory() -> Option<Subject> {
    let host = temp();
    std::fs::create_dir(host.path().join("w")).unwrap();
    let backend = Arc::new(Directory::open_with(host.path(), &Limits::default(), Rules::none()).unwrap());
    let inner = host.path().join("w");
    let subject = Subject::new("directory", backend, "/w").on(host);
    Some(Subject { host: Some(inner), ..subject })
}

pub async fn store() -> Option<Subject> {
    let host = temp();
    let backend = Arc::new(Store::open(host.path().join("store.redb"), &Limits::default()).unwrap());
    let subject = Subject::new("store", backend, "/w").on(host);
    Some(Subject { host: None, ..subject })
}

pub async fn exec_local() -> Option<Subject> {
    let host = temp();
    let shell = LocalShell::unconfined(host.path()).unwrap();
    let root = host.path().to_str().unwrap().to_owned();
    let backend = Arc::new(ExecFiles::new(Arc::new(shell)));
    let subject = Subject::new("exec files, local shell", backend, &root).on(host);
    Some(Subject { is_confined: false, is_by_commands: true, ..subject })
}

/// Needs several programs in the sandbox; missing ones are printed.
pub async fn exec_isopod() -> Option<Subject> {
    let sandbox = sandbox();
    let isopod = Isopod::new("iso-4", sandbox.clone()).unwrap();
    let probe = "for p in find grep stat base64 cksum readlink dirname head tail wc tr mv rm mkdir chmod; do \
                 command -v $p >/dev/null || echo $p; done";
    let missing = isopod.execute(probe.into()).await.unwrap().stdout;
    let missing = String::from_utf8_lossy(&missing).split_whitespace().collect::<Vec<_>>().join(" ");
    if !missing.is_empty() {
        println!("exec files, isopod: the sandbox has no {missing}");
        return None;
    }
    let backend = Arc::new(ExecFiles::new(Arc::new(isopod)));
    let subject = Subject::new("exec files, isopod", backend, "/workspace");
    Some(Subject { sandbox: Some(sandbox), is_by_commands: true, ..subject })
}

/// Uses any image that exists already: nothing is fetched.
pub async fn docker() -> Option<Subject> {
    let client = ["docker", "podman"].into_iter().find(|client| succeeds(&[client, "info"]))?;
    let images = output(&[client, "images", "-q"])?;
    let image = images.lines().next()?.to_owned();
    let container = output(&[client, "run", "-d", "--rm", &image, "sleep", "600"])?.trim().to_owned();
    let backend = Arc::new(Docker::new(client, container).backend());
    Some(Subject { is_confined: false, is_by_commands: true, ..Subject::new("docker", backend, "/tmp/w") })
}

/// A script in place of the docker client, which runs its command on the host. It tests the arguments without a daemon.
pub async fn docker_client() -> Option<Subject> {
    use std::os::unix::fs::PermissionsExt;
    let (host, client) = (temp(), temp());
    let path = client.path().join("docker");
    let script = "#!/bin/sh\n[ \"$1\" = exec ] || exit 1\nshift\nwhile :; do case $1 in -i) shift;; -w) cd \"$2\" || exit 1; \
                  shift 2;; -e) export \"$2\"; shift 2;; *) break;; esac; done\n[ \"$1\" = box ] || exit 1\nshift\nexec \"$@\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let backend = Arc::new(Docker::new(path.to_str().unwrap(), "box").backend());
    let root = host.path().to_str().unwrap().to_owned();
    let mut subject = Subject::new("docker, a script in place of the client", backend, &root).on(host);
    subject._keep.push(client);
    Some(Subject { is_confined: false, is_by_commands: true, ..subject })
}

pub async fn bubblewrap() -> Option<Subject> {
    if !succeeds(&["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]) {
        return None;
    }
    let host = temp();
    let backend = Arc::new(Bubblewrap::new(host.path()).backend());
    let subject = Subject::new("bubblewrap", backend, "/workspace").on(host);
    Some(Subject { is_by_commands: true, is_confined: false, ..subject })
}

/// The cases are on the route to the second backend.
pub async fn composite() -> Option<Subject> {
    let memory = Arc::new(Memory::new(&Limits::default()).unwrap());
    let isopod = Arc::new(Isopod::new("iso-5", sandbox()).unwrap());
    let backend = Composite::new(isopod).route("/memories/", memory).unwrap();
    let subject = Subject::new("composite", Arc::new(backend), "/memories/w");
    Some(Subject { names_are_the_same: false, ..subject })
}

pub async fn layered() -> Option<Subject> {
    let sandbox = sandbox();
    let isopod = Arc::new(Isopod::new("iso-6", sandbox.clone()).unwrap());
    let audited = Arc::new(Audit::around(isopod, Mutex::new(std::io::sink()), "suite"));
    let limited = Arc::new(WriteQuota::around(audited, 1 << 30));
    let mapped = PathMap::around(limited, &[("/mnt/user-data/workspace", "/workspace")]).unwrap();
    let subject = Subject::new("layers", Arc::new(mapped), "/mnt/user-data/workspace");
    Some(Subject { names_are_the_same: false, ..subject })
}

pub async fn dry_run() -> Option<Subject> {
    let isopod = Arc::new(Isopod::new("iso-7", sandbox()).unwrap());
    Some(Subject::new("dry run", Arc::new(DryRun::around(isopod).unwrap()), "/workspace"))
}

async fn worker_with(change: impl FnOnce(&mut Config)) -> Arc<Worker> {
    let mut config = Config::new("/none");
    change(&mut config);
    Arc::new(Worker::start(env!("CARGO_BIN_EXE_isopod"), ["worker"], &config).await.unwrap())
}

pub async fn worker() -> Option<Subject> {
    Some(Subject::new("worker", worker_with(|_| {}).await, "/workspace"))
}

pub async fn worker_host() -> Option<Subject> {
    let host = temp();
    let mount =
        HostMount { host: host.path().to_owned(), guest: "/workspace".to_owned(), access: HostAccess::ReadWrite };
    let worker = worker_with(|config| {
        config.mounts.push(mount);
        config.allow = vec!["all".to_owned()];
    });
    Some(Subject::new("worker, host directory", worker.await, "/workspace").on(host))
}

pub fn succeeds(argv: &[&str]) -> bool {
    output(argv).is_some()
}

fn output(argv: &[&str]) -> Option<String> {
    let output = Command::new(argv[0]).args(&argv[1..]).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns names, bytes and times of a directory of the host, to be compared later.
pub fn fingerprint(directory: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut entries: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let bytes = if metadata.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            (path, bytes, metadata.modified().unwrap())
        })
        .collect();
    entries.sort();
    entries
}
