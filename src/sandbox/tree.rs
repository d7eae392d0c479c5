//! The file tree of a sandbox: its mounts, and the few files that every program expects.

use std::sync::{Arc, OnceLock};

use super::builder::{BuildError, HostMount, MountAccess, WORKSPACE};
use crate::error::{Errno, Result};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::runtime::Runtime;
use crate::vfs::{
    Dev, FileSystem, HostDir, MemFs, MemSnapshot, OpenHow, Opened, Overlay, Proc, ProcFacts, Protect, Quota, Rules,
    Vfs, VfsBuilder,
};

/// The host name that programs in a sandbox see.
const HOSTNAME: &str = "isopod";

/// Directories of a new sandbox with their modes, parents first. Fixed mount points are here too, so that mounting changes
/// nothing.
const DIRECTORIES: [(&str, u32); 11] = [
    ("/bin", 0o755),
    ("/dev", 0o755),
    ("/etc", 0o755),
    ("/home", 0o755),
    ("/home/user", 0o755),
    ("/proc", 0o755),
    ("/tmp", 0o1777),
    ("/usr", 0o755),
    ("/usr/bin", 0o755),
    ("/usr/lib", 0o755),
    (WORKSPACE, 0o755),
];

/// Files of a new sandbox. There is no resolv.conf, because there is no network.
const FILES: [(&str, &str); 4] = [
    ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/bash\n"),
    ("/etc/group", "root:x:0:\nuser:x:1000:\n"),
    ("/etc/hostname", "isopod\n"),
    ("/etc/os-release", "NAME=\"Isopod\"\nID=isopod\nPRETTY_NAME=\"Isopod\"\n"),
];

/// Returns the files of a new sandbox. They are made once; each sandbox gets a fork, which copies nothing.
pub(super) fn base() -> Result<&'static MemSnapshot> {
    static BASE: OnceLock<Result<MemSnapshot>> = OnceLock::new();
    let made = BASE.get_or_init(|| {
        let files = MemFs::new(Arc::new(Quota::unlimited()));
        mount_builtins(&alone(&files)?)?;
        Ok(files.snapshot())
    });
    made.as_ref().map_err(|errno| *errno)
}

/// Makes a tree of one file system, without mounts.
pub(super) fn alone(root: &MemFs) -> Result<Vfs> {
    Vfs::builder().mount(GuestPath::root(), Arc::new(root.clone()), false).build()
}

/// Makes the tree of a sandbox: its own files, and the mounts.
pub(super) fn tree(
    runtime: &Runtime,
    quota: &Arc<Quota>,
    root: &MemFs,
    mounts: &[HostMount],
    rules: Option<&Rules>,
    limits: &Limits,
) -> std::result::Result<Vfs, BuildError> {
    let root: Arc<dyn FileSystem> = Arc::new(root.clone());
    let programs: Arc<dyn FileSystem> = runtime.program_files().clone();
    let machine: Arc<dyn FileSystem> = Arc::new(Proc::new(facts(limits)));
    let own = |builder: VfsBuilder| -> Result<VfsBuilder> {
        let builder = builder
            .mount(GuestPath::root(), root.clone(), false)
            .mount(at("/bin")?, programs.clone(), true)
            .mount(at("/usr/bin")?, programs.clone(), true)
            .mount(at("/proc")?, machine.clone(), true)
            .mount(at("/dev")?, Arc::new(Dev::new()), false);
        let mut libraries = runtime.libraries().iter();
        libraries.try_fold(builder, |builder, (place, files)| Ok(builder.mount(at(place)?, files.clone(), true)))
    };
    let hosts = mounts.iter().map(|mount| open_host(mount, quota, rules));
    let hosts: Vec<Arc<dyn FileSystem>> = hosts.collect::<std::result::Result<_, _>>()?;
    let with = |count: usize| -> Result<Vfs> {
        let mut builder = own(Vfs::builder())?;
        for (mount, host) in mounts.iter().zip(&hosts).take(count) {
            let is_read_only = mount.access == MountAccess::ReadOnly;
            builder = builder.mount(at(&mount.guest)?, host.clone(), is_read_only);
        }
        builder.build()
    };
    with(mounts.len()).map_err(|errno| {
        // The error is of the first mount without which it would have worked.
        match (1..=mounts.len()).find(|count| with(*count).is_err()) {
            Some(count) => BuildError::Guest(mounts[count - 1].guest.clone(), errno),
            None => BuildError::Tree(errno),
        }
    })
}

/// Opens a directory of the host with the access that the sandbox has.
fn open_host(
    mount: &HostMount,
    quota: &Arc<Quota>,
    rules: Option<&Rules>,
) -> std::result::Result<Arc<dyn FileSystem>, BuildError> {
    // Made here, because most sandboxes have no directory of the host and the list is long.
    let rules = || rules.cloned().unwrap_or_else(Rules::standard);
    if mount.access == MountAccess::Tracked {
        let nothing = MemFs::new(Arc::clone(quota)).snapshot();
        return Ok(Overlay::over_snapshot(&nothing, Arc::clone(quota))?.files());
    }
    let refused = |error| BuildError::Host { host: mount.host.clone(), error };
    let is_read_only = mount.access == MountAccess::ReadOnly;
    let dir = match &mount.dir {
        Some(dir) => dir.try_clone().and_then(|dir| HostDir::new(dir, is_read_only)),
        None if is_read_only => HostDir::open_read_only(&mount.host),
        None => HostDir::open(&mount.host),
    };
    let dir = dir.map_err(refused)?;
    Ok(match mount.access {
        MountAccess::ReadOnly => Arc::new(dir),
        MountAccess::ReadWrite(count) => {
            let dir = dir.charged_to(quota.clone(), count).map_err(refused)?;
            Arc::new(Protect::host(dir, rules()))
        }
        MountAccess::Overlay | MountAccess::Tracked => {
            let names = dir.names_on_host();
            let overlay = Overlay::over_host(dir, quota.clone());
            let overlay = overlay.map_err(|errno| refused(std::io::Error::other(errno)))?;
            // Protected too: programs of the host obey committed files as well.
            Arc::new(Protect::below(overlay.files(), rules(), names.iter().map(String::as_str)))
        }
    })
}

/// The facts that `/proc` shows.
fn facts(limits: &Limits) -> ProcFacts {
    ProcFacts {
        memory: limits.sandbox_memory,
        // A process has no threads.
        processors: 1,
        hostname: HOSTNAME.to_owned(),
        limits: vec![
            ("Max cpu time", limits.wall.as_secs(), "seconds"),
            ("Max file size", limits.file, "bytes"),
            ("Max processes", limits.processes.into(), "processes"),
            ("Max open files", limits.open_files.into(), "files"),
            ("Max address space", limits.process_memory, "bytes"),
        ],
    }
}

fn at(path: &str) -> Result<GuestPath> {
    if !path.starts_with('/') {
        return Err(Errno::Invalid);
    }
    GuestPath::parse(&GuestPath::root(), path)
}

fn mount_builtins(vfs: &Vfs) -> Result<()> {
    for (path, mode) in DIRECTORIES {
        vfs.mkdir(&at(path)?, mode)?;
    }
    for (path, text) in FILES {
        let how = OpenHow { write: true, create: true, mode: 0o644, ..OpenHow::default() };
        if let Opened::File(file) = vfs.open(&at(path)?, &how)? {
            file.append(text.as_bytes())?;
        }
    }
    Ok(())
}
