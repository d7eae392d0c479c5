//! What a sandbox looks like from inside: its mounts, and the few files that every program expects.

use std::sync::Arc;

use super::builder::{BuildError, HostMount, WORKSPACE};
use crate::error::{Errno, Result};
use crate::path::GuestPath;
use crate::runtime::Runtime;
use crate::vfs::{Dev, FileSystem, HostDir, MemFs, OpenHow, Opened, Quota, Vfs, VfsBuilder};

/// Directories of the sandbox's own, with their modes; parents first.
const DIRECTORIES: [(&str, u32); 5] =
    [("/etc", 0o755), ("/home", 0o755), ("/home/user", 0o755), ("/tmp", 0o1777), (WORKSPACE, 0o755)];

/// Files of the sandbox's own. There is no resolv.conf: there is no network.
const FILES: [(&str, &str); 4] = [
    ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/bash\n"),
    ("/etc/group", "root:x:0:\nuser:x:1000:\n"),
    ("/etc/hostname", "isopod\n"),
    ("/etc/os-release", "NAME=\"Isopod\"\nID=isopod\nPRETTY_NAME=\"Isopod\"\n"),
];

/// The files of a new sandbox.
pub(super) fn tree(
    runtime: &Runtime,
    quota: &Arc<Quota>,
    mounts: &[HostMount],
) -> std::result::Result<Vfs, BuildError> {
    let root: Arc<dyn FileSystem> = Arc::new(MemFs::new(quota.clone()));
    furnish(&Vfs::builder().mount(GuestPath::root(), root.clone(), false).build()?)?;

    let programs: Arc<dyn FileSystem> = runtime.program_files().clone();
    let own = |builder: VfsBuilder| -> Result<VfsBuilder> {
        Ok(builder
            .mount(GuestPath::root(), root.clone(), false)
            .mount(at("/bin")?, programs.clone(), true)
            .mount(at("/usr/bin")?, programs.clone(), true)
            .mount(at("/dev")?, Arc::new(Dev::new()), false))
    };
    let hosts: Vec<Arc<dyn FileSystem>> = mounts.iter().map(open_host).collect::<std::result::Result<_, _>>()?;
    let with = |count: usize| -> Result<Vfs> {
        let mut builder = own(Vfs::builder())?;
        for (mount, host) in mounts.iter().zip(&hosts).take(count) {
            builder = builder.mount(at(&mount.guest)?, host.clone(), mount.read_only);
        }
        builder.build()
    };
    with(mounts.len()).map_err(|errno| {
        // Which one is at fault? The first without which it would have worked.
        match (1..=mounts.len()).find(|count| with(*count).is_err()) {
            Some(count) => BuildError::Guest(mounts[count - 1].guest.clone(), errno),
            None => BuildError::Tree(errno),
        }
    })
}

fn open_host(mount: &HostMount) -> std::result::Result<Arc<dyn FileSystem>, BuildError> {
    match HostDir::open(&mount.host) {
        Ok(directory) => Ok(Arc::new(directory)),
        Err(error) => Err(BuildError::Host { host: mount.host.clone(), error }),
    }
}

fn at(path: &str) -> Result<GuestPath> {
    if !path.starts_with('/') {
        return Err(Errno::Invalid);
    }
    GuestPath::parse(&GuestPath::root(), path)
}

fn furnish(vfs: &Vfs) -> Result<()> {
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
