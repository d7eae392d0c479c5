//! Handles of directories that are kept: whatever the host does to a directory or to the way to it, the next look says
//! what a walk would say.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

/// A tree with `/a/b/file`, `/a/b/link` and some more, on which handles are kept from the first look on.
struct Tried {
    host: Host,
    dir: HostDir,
    /// The same directory, walked each time.
    walked: Vfs,
}

/// What is looked at: names in what is kept, and where things are moved to.
const LOOKS: [&str; 12] = [
    "/a/b/file",
    "/a/b/none",
    "/a/b/link",
    "/a/b/c/deep",
    "/a/b/c",
    "/a/b",
    "/a/moved/file",
    "/x/b/file",
    "/other/file",
    "/other/link",
    "/a/b/canary",
    "/a/b/c/canary",
];

impl Tried {
    fn new() -> Tried {
        let host = Host::new();
        for name in ["a", "a/b", "a/b/c", "a/empty", "other", "other/c", "far", "far/away"] {
            std::fs::create_dir(host.inside(name)).unwrap();
        }
        for name in ["a/b/file", "a/b/c/deep", "other/file", "far/away/file"] {
            std::fs::write(host.inside(name), name).unwrap();
        }
        symlink("file", host.inside("a/b/link")).unwrap();
        symlink("../../outside", host.inside("evil")).unwrap();
        let dir = HostDir::open(&host.inside("")).unwrap().keeping_eagerly();
        // Name by name, so that nothing is kept.
        let walked = HostDir::open(&host.inside("")).unwrap().without_openat2();
        let (walked, vfs) = (mount(Arc::new(walked)), mount(Arc::new(dir.clone())));
        Tried { host: Host { vfs, ..host }, dir, walked }
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.host.inside(name)
    }

    /// Looks until the directory is kept: what other tests do in this process may have everything forgotten.
    fn keep(&self) {
        for _ in 0..100_000 {
            self.host.vfs.run("stat /a/b/file");
            if self.dir.keeps("a/b") {
                return;
            }
        }
        panic!("nothing is kept");
    }

    /// Compares each look with that of a walk.
    fn compare(&self, after: &str) {
        for _ in 0..2 {
            for at in LOOKS {
                for call in ["stat", "lstat"] {
                    let line = format!("{call} {at}");
                    assert_eq!(self.host.vfs.run(&line), self.walked.run(&line), "{line}, after: {after}");
                }
            }
        }
    }
}

fn exchange(a: &Path, b: &Path) {
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
}

/// Files beside the directory, of two names in turn: the host tells the same change once, if it is made twice over.
fn come_and_go(it: &Tried, times: u32) {
    for number in 0..times {
        let at = it.at(&format!("a/{}", number % 2));
        std::fs::write(&at, "x").unwrap();
        std::fs::remove_file(&at).unwrap();
    }
}

/// Something that the host does to the tree.
type Change = (&'static str, fn(&Tried));

const CHANGES: &[Change] = &[
    ("nothing", |_| ()),
    ("the directory is moved", |it| std::fs::rename(it.at("a/b"), it.at("a/moved")).unwrap()),
    ("the way to it is moved", |it| std::fs::rename(it.at("a"), it.at("x")).unwrap()),
    ("the directory is moved out", |it| std::fs::rename(it.at("a/b"), it.at("../out")).unwrap()),
    ("it is moved out, and a link leads there", |it| {
        std::fs::rename(it.at("a/b"), it.at("../out")).unwrap();
        symlink(it.at("../out"), it.at("a/b")).unwrap();
    }),
    ("the way is moved out, and a link leads there", |it| {
        std::fs::rename(it.at("a"), it.at("../out")).unwrap();
        symlink("../out", it.at("a")).unwrap();
    }),
    ("the directory and a link change places", |it| exchange(&it.at("a/b"), &it.at("evil"))),
    ("the way and a link change places", |it| exchange(&it.at("a"), &it.at("evil"))),
    ("the directory and another change places", |it| exchange(&it.at("a/b"), &it.at("other"))),
    ("a link is the directory that is inside", |it| exchange(&it.at("a/b/c"), &it.at("a/b/link"))),
    ("the directory is removed", |it| std::fs::remove_dir_all(it.at("a/b")).unwrap()),
    ("it is removed, and a link is there", |it| {
        std::fs::remove_dir_all(it.at("a/b")).unwrap();
        symlink("../../outside", it.at("a/b")).unwrap();
    }),
    ("it is removed and made again", |it| {
        std::fs::remove_dir_all(it.at("a/b")).unwrap();
        std::fs::create_dir(it.at("a/b")).unwrap();
        std::fs::write(it.at("a/b/file"), "another one").unwrap();
    }),
    ("it is removed and made again while someone has it open", |it| {
        let _open = std::fs::File::open(it.at("a/b")).unwrap();
        std::fs::remove_dir_all(it.at("a/b")).unwrap();
        std::fs::create_dir(it.at("a/b")).unwrap();
        std::fs::write(it.at("a/b/file"), "another one").unwrap();
        it.compare("while it is open");
    }),
    ("it is empty, and another takes its place", |it| {
        std::fs::remove_dir_all(it.at("a/b")).unwrap();
        std::fs::create_dir(it.at("a/b")).unwrap();
        it.keep();
        std::fs::rename(it.at("far/away"), it.at("a/b")).unwrap();
    }),
    ("it is empty, and another takes the place of its way", |it| {
        std::fs::remove_dir_all(it.at("a/b")).unwrap();
        std::fs::remove_dir(it.at("a/empty")).unwrap();
        std::fs::create_dir(it.at("a/b")).unwrap();
        std::fs::create_dir_all(it.at("far/off/b")).unwrap();
        it.keep();
        let _open = std::fs::File::open(it.at("a")).unwrap();
        std::fs::remove_dir(it.at("a/b")).unwrap();
        std::fs::rename(it.at("far/off"), it.at("a")).unwrap();
        std::fs::rename(it.at("far/away"), it.at("a/b")).unwrap();
    }),
    ("it goes and comes back", |it| {
        std::fs::rename(it.at("a"), it.at("../out")).unwrap();
        it.compare("it is gone");
        std::fs::rename(it.at("../out"), it.at("a")).unwrap();
    }),
    ("files in it change", |it| {
        std::fs::write(it.at("a/b/none"), "new").unwrap();
        std::fs::remove_file(it.at("a/b/file")).unwrap();
        std::fs::rename(it.at("a/b/link"), it.at("a/b/file")).unwrap();
        std::fs::set_permissions(it.at("a/b/c/deep"), PermissionsExt::from_mode(0o600)).unwrap();
    }),
    ("files beside it come and go", |it| come_and_go(it, 300)),
    ("files beside it come and go, and it is moved", |it| {
        come_and_go(it, 300);
        std::fs::rename(it.at("a/b"), it.at("a/moved")).unwrap();
    }),
    ("it is moved, and files beside it come and go", |it| {
        std::fs::rename(it.at("a/b"), it.at("a/moved")).unwrap();
        come_and_go(it, 300);
    }),
    ("it is moved after more than the host remembers", |it| {
        let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap_or_default();
        let most: u32 = text.trim().parse().unwrap_or(16_384);
        come_and_go(it, most.min(100_000) + 10);
        std::fs::rename(it.at("a/b"), it.at("a/moved")).unwrap();
    }),
    ("the guest moves it", |it| assert_eq!(it.host.vfs.run("mv /a/b /a/moved"), "ok")),
    ("the guest moves it under another name of the same directory", |it| {
        assert_eq!(it.walked.run("mv /a /x"), "ok");
    }),
    ("the guest links it elsewhere", |it| {
        assert_eq!(it.host.vfs.run("mv /a/b /x"), "ok");
        assert_eq!(it.host.vfs.run("ln-s ../../outside /a/b"), "ok");
    }),
];

#[test]
fn a_directory_that_is_kept_is_looked_at_as_a_walk_would() {
    for (after, change) in CHANGES {
        let tried = Tried::new();
        tried.keep();
        change(&tried);
        tried.compare(after);
    }
}

/// Something mounted for a test, until that ends, however it does.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH).unwrap();
    }
}

#[test]
fn what_is_mounted_over_a_directory_that_is_kept_is_seen() {
    for name in ["a/b", "a"] {
        let tried = Tried::new();
        tried.keep();
        let at = tried.at(name);
        // Only root may, and not in every container.
        if rustix::mount::mount_bind(tried.at("other"), &at).is_err() {
            return;
        }
        let mounted = Mounted(at);
        tried.compare(&format!("a mount over {name}"));
        drop(mounted);
        tried.compare(&format!("no mount over {name}"));
    }
}

/// Nobody tells of what is mounted in there.
#[test]
fn nothing_is_kept_of_a_directory_in_no_namespace_of_ours() {
    let host = Host::new();
    host.vfs.check("mkdir /m\nmkdir /m/a\nmkdir /m/a/b\nput wc /m/a/b/file x");
    if rustix::mount::mount_bind(host.inside("m"), host.inside("m")).is_err() {
        return;
    }
    let mounted = Mounted(host.inside("m"));
    let dir = HostDir::open(&host.inside("m")).unwrap().keeping_eagerly();
    drop(mounted);
    let vfs = mount(Arc::new(dir.clone()));
    for _ in 0..100 {
        assert_eq!(vfs.run("stat /a/b/file"), "file 644 1 1");
        assert!(!dir.keeps("a/b"));
    }
}

#[test]
fn a_way_that_is_closed_to_us_is_closed_to_what_is_kept() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    // For this thread, so that a mode says something to root too.
    let mut sets = capabilities(None).unwrap();
    sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, sets).unwrap();
    let tried = Tried::new();
    for at in ["", "a", "a/b"] {
        tried.keep();
        std::fs::set_permissions(tried.at(at), PermissionsExt::from_mode(0o600)).unwrap();
        tried.compare("it is closed");
        assert_eq!(tried.host.vfs.run("stat /a/b/file"), "Access");
        std::fs::set_permissions(tried.at(at), PermissionsExt::from_mode(0o755)).unwrap();
        tried.compare("it is open again");
    }
}

/// What a walk finds on its way is replaced while its way is not yet watched, and then moved out.
#[test]
fn what_takes_a_directory_s_place_while_that_is_found_is_heard_of() {
    let tried = Tried::new();
    let (here, out) = (tried.at("race"), tried.at("../out"));
    for _ in 0..300 {
        std::fs::create_dir(&here).unwrap();
        std::fs::create_dir_all(tried.at("far/race/b")).unwrap();
        std::fs::write(tried.at("far/race/b/file"), "inside").unwrap();
        // So that the one that is replaced does not go before this does.
        let _open = std::fs::File::open(&here).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| std::fs::rename(tried.at("far/race"), &here).unwrap());
            while tried.host.vfs.run("stat /race/b/file") == "NoEntry" {}
        });
        tried.host.vfs.run("stat /race/b/file");
        std::fs::rename(here.join("b"), &out).unwrap();
        assert_eq!(tried.host.vfs.run("stat /race/b/file"), "NoEntry");
        std::fs::remove_dir_all(&out).unwrap();
        std::fs::remove_dir_all(&here).unwrap();
    }
}

#[test]
fn a_mounted_directory_that_goes_takes_its_handles_along() {
    let open_below = |at: &Path| {
        let handles = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        handles.filter(|handle| std::fs::read_link(handle.path()).is_ok_and(|to| to.starts_with(at))).count()
    };
    let tried = Tried::new();
    tried.keep();
    let at = tried.at("");
    let Tried { host: Host { temp: _temp, vfs }, dir, walked } = tried;
    drop((vfs, dir, walked));
    assert_eq!(open_below(&at), 0);
}

#[test]
fn a_process_that_looks_at_many_names_keeps_their_directories() {
    let host = Host::new();
    host.vfs.check("mkdir /a\nmkdir /a/b\nput wc /a/b/file x");
    let dir = HostDir::open(&host.inside("")).unwrap();
    let vfs = mount(Arc::new(dir.clone()));
    assert!((0..1_000_000).any(|_| {
        assert_eq!(vfs.run("stat /a/b/file"), "file 644 1 1");
        dir.keeps("a/b")
    }));
}

/// All directories of a process are heard of in one place.
#[test]
fn nobody_misses_what_another_has_heard() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tried = Tried::new();
                let (here, there) = (tried.at("a/b"), tried.at("a/moved"));
                for _ in 0..2000 {
                    assert_eq!(tried.host.vfs.run("stat /a/b/file"), "file 644 8 1");
                    std::fs::rename(&here, &there).unwrap();
                    assert_eq!(tried.host.vfs.run("stat /a/b/file"), "NoEntry");
                    assert_eq!(tried.host.vfs.run("stat /a/moved/file"), "file 644 8 1");
                    std::fs::rename(&there, &here).unwrap();
                }
            });
        }
    });
}

/// The directory that they are all in is watched anew by each of them.
#[test]
fn nothing_is_missed_while_others_begin_to_listen() {
    let tried = Tried::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let tried = &tried;
            scope.spawn(move || {
                let (here, there) = (format!("t{number}"), format!("m{number}"));
                std::fs::create_dir_all(tried.at(&here).join("b")).unwrap();
                std::fs::write(tried.at(&here).join("b/file"), "x").unwrap();
                let look = format!("stat /{here}/b/file");
                for _ in 0..2000 {
                    assert_eq!(tried.host.vfs.run(&look), "file 644 1 1");
                    std::fs::rename(tried.at(&here), tried.at(&there)).unwrap();
                    assert_eq!(tried.host.vfs.run(&look), "NoEntry");
                    std::fs::rename(tried.at(&there), tried.at(&here)).unwrap();
                }
            });
        }
    });
}

/// There are more than are watched at one time.
#[test]
fn many_directories_are_looked_at_in_turn() {
    // Which of them take the place of which is left to chance.
    for _ in 0..8 {
        let tried = Tried::new();
        tried.keep();
        for number in 0..60 {
            let name = format!("{number}/b/c/d/e/f/g/h/i/j/k/l");
            std::fs::create_dir_all(tried.at(&name)).unwrap();
            std::fs::write(tried.at(&name).join("file"), number.to_string()).unwrap();
            for line in [format!("stat /{name}/file"), format!("stat /{name}/none")] {
                assert_eq!(tried.host.vfs.run(&line), tried.walked.run(&line), "{line}");
            }
        }
        std::fs::rename(tried.at("a/b"), tried.at("a/moved")).unwrap();
        tried.compare("many others were looked at");
    }
}
