//! A full disk: a small file system, mounted for the test if this user may mount.

use std::path::{Path, PathBuf};
use std::process::Command;

use isopod::Sandbox;
use isopod::backend::{Backend, SandboxBackend, Store, WriteRequest};
use isopod::error::Errno;
use isopod::provider::{Config, Provider};

use crate::run;

/// A file system of two megabytes.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<SmallDisk> {
        let at = tempfile::Builder::new().prefix("small").tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "small"]).arg(at.path()).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            println!("left out: only root can mount a small disk");
            return None;
        }
        Some(SmallDisk(at))
    }

    fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Fills the disk except for `but` bytes.
    fn fill(&self, but: usize) {
        let path = self.0.path().join("filler");
        let _ = std::fs::write(&path, vec![0; 4 << 20]);
        let size = path.metadata().unwrap().len();
        std::fs::File::options().write(true).open(path).unwrap().set_len(size.saturating_sub(but as u64)).unwrap();
    }

    fn free(&self) {
        std::fs::remove_file(self.0.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn names(at: &Path) -> Vec<String> {
    let names = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // Without the file that marks a living sandbox.
    let mut names: Vec<_> = names.filter(|name| !name.ends_with("leases")).collect();
    names.sort();
    names
}

#[test]
fn a_command_on_a_full_disk_hears_so_and_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::new() else { return };
    let work = disk.dir("work");
    std::fs::write(work.join("file"), "old").unwrap();
    disk.fill(256 << 10);
    let sandbox = Sandbox::builder().mount(&work, "/workspace").build().unwrap();
    let answer = sandbox.execute_blocking("yes | head -c 1000000 > large; echo $?; cat file").unwrap();
    assert_eq!(String::from_utf8_lossy(&answer.stdout), "1\nold");
    let said = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(said.contains("No space left on device"), "{said}");
    // A write by the embedder is all or nothing.
    sandbox.execute_blocking("rm large").unwrap();
    let error = sandbox.fs().write("file", vec![b'n'; 1 << 20]).unwrap_err();
    assert_eq!((error.errno, std::fs::read_to_string(work.join("file")).unwrap().as_str()), (Errno::NoSpace, "old"));
    assert_eq!(sandbox.execute_blocking("ls -A; echo $(cat file)").unwrap().stdout, b"file\nold\n");
    disk.free();
    sandbox.fs().write("file", vec![b'n'; 1 << 20]).unwrap();
    drop(sandbox);
    assert_eq!(names(&work), ["file"]);
}

#[test]
fn a_commit_to_a_full_disk_changes_nothing() {
    let Some(disk) = SmallDisk::new() else { return };
    let work = disk.dir("work");
    for name in ["a", "b"] {
        std::fs::write(work.join(name), name).unwrap();
    }
    disk.fill(256 << 10);
    let sandbox = Sandbox::builder().mount_overlay(&work, "/workspace").build().unwrap();
    let line = "rm a; echo small > c; yes | head -c 1000000 > large; echo changed > b";
    assert_eq!(sandbox.execute_blocking(line).unwrap().exit_code, 0);
    let (_, overlay) = sandbox.overlays().remove(0);
    assert_eq!(overlay.commit().unwrap_err().errno, Errno::NoSpace);
    assert_eq!(names(&work), ["a", "b"]);
    assert_eq!(std::fs::read_to_string(work.join("b")).unwrap(), "b");
    // The overlay is intact and can be committed later.
    disk.free();
    overlay.commit().unwrap();
    drop((overlay, sandbox));
    assert_eq!(names(&work), ["b", "c", "large"]);
}

#[test]
fn a_store_on_a_full_disk_keeps_what_it_has() {
    let Some(disk) = SmallDisk::new() else { return };
    let at = disk.dir("store").join("store.redb");
    let limits = isopod::Limits::default();
    let store = match Store::open(&at, &limits) {
        Ok(store) => store,
        // An empty store already needs more than this disk has.
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    run(async {
        store.write(WriteRequest::new("/file", "old")).await.unwrap();
        let mut refused = None;
        for n in 0..40 {
            if let Err(error) = store.write(WriteRequest::new(format!("/{n}"), vec![b'x'; 100 << 10])).await {
                refused = Some(error.to_string());
                break;
            }
        }
        assert!(refused.is_some_and(|text| !text.contains('\n')), "it was never full");
    });
    drop(store);
    let store = Store::open(&at, &limits).unwrap();
    assert_eq!(run(store.download(vec!["/file".to_owned()])).remove(0).unwrap(), b"old");
}

#[test]
fn a_provider_on_a_full_disk_says_so_and_recovers() {
    let Some(disk) = SmallDisk::new() else { return };
    let root = disk.dir("root");
    run(async {
        let provider = Provider::open(Config::new(&root)).unwrap();
        let id = provider.acquire("first", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        lease.write(WriteRequest::new("file", "old")).await.unwrap();
        disk.fill(0);
        let refused = provider.acquire("second", None).await.map(drop);
        let full = lease.write(WriteRequest::new("file", vec![b'n'; 64 << 10])).await.unwrap_err();
        assert_eq!(full.errno(), Some(Errno::NoSpace));
        assert_eq!(lease.execute("cat file".into()).await.unwrap().stdout, b"old");
        disk.free();
        match refused {
            // A tmpfs has room for directory entries when it is full, so the creation may succeed.
            Ok(()) => {}
            Err(error) => assert!(error.to_string().contains("No space left on device"), "{error}"),
        }
        lease.write(WriteRequest::new("file", "new")).await.unwrap();
        drop(lease);
        provider.release(id).await.unwrap();
        provider.acquire("third", None).await.unwrap();
        assert!(provider.list(None).await.unwrap().items.iter().all(|info| info.damage.is_none()));
        provider.shutdown().await;
    });
}
