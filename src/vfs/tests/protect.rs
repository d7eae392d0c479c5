//! The layer that protects files which programs of the host obey.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::vfs::{AtomicWrite, Protect, Rules};

/// A repository of the host with the usual files, behind the layer.
struct Repository {
    host: Host,
    vfs: Vfs,
}

fn repository(change: impl Fn(HostDir) -> HostDir, rules: Rules) -> Repository {
    let host = Host::new();
    for dir in [".git/hooks", ".git/objects", ".vscode", "src", "lib/.git/hooks", "plain"] {
        std::fs::create_dir_all(host.inside(dir)).unwrap();
    }
    for file in [".git/config", ".git/HEAD", ".git/hooks/pre-push", ".bashrc", "src/main", "lib/.git/config", "lib/f"] {
        std::fs::write(host.inside(file), "host").unwrap();
    }
    let dir = change(HostDir::open(&host.inside("")).unwrap());
    let vfs = mount(Arc::new(Protect::host(dir, rules)));
    Repository { host, vfs }
}

fn on_repositories(test: impl Fn(&Repository)) {
    for change in [|dir| dir, HostDir::without_openat2] {
        let repository = repository(change, Rules::standard());
        test(&repository);
        for file in [".git/config", ".git/hooks/pre-push", ".bashrc", "lib/.git/config"] {
            let at = repository.host.inside(file);
            assert_eq!(std::fs::read_to_string(&at).unwrap(), "host", "{file}");
        }
        repository.host.check_outside();
    }
}

#[test]
fn attack_98_protected_files_can_be_read_and_not_changed() {
    on_repositories(|repository| {
        for at in ["/.git/config", "/.git/hooks/pre-push", "/.bashrc", "/lib/.git/config"] {
            for call in [
                "put w @ x",
                "put wa @ x",
                "put wct @ x",
                "put wc @ x",
                "open rt @",
                "open rw @",
                "truncate 0 @",
                "rm @",
                "chmod 777 @",
                "touch 1 @",
                "chown 1000 @",
                "mv @ /x",
                "mv /src/main @",
                "ln @ /x",
                "ln-L @ /x",
            ] {
                repository.vfs.check(&format!("{} => NotPermitted", call.replace('@', at)));
            }
            repository.vfs.check(&format!("cat {at} => host\nopen rc {at} => file\nstat {at} => file 644 4 1"));
            let write = repository.vfs.write_atomic(&path(at), b"x", &AtomicWrite::default());
            assert_eq!(write, Err(Errno::NotPermitted), "{at}");
            let Opened::File(file) = repository.vfs.open(&path(at), &how("r")).unwrap() else { panic!() };
            assert_eq!(file.set_times(SetTime::Now, SetTime::Now), Err(Errno::NotPermitted));
        }
        repository.vfs.check(
            "ls /.git/hooks => [pre-push]
            rmdir /.git/hooks => NotPermitted
            rmdir /.vscode => NotPermitted
            chmod 700 /.vscode => NotPermitted
            mv /.vscode /x => NotPermitted
            mkdir /.vscode => Exist
            mkdir /.git => Exist
            put w /.git/HEAD ref
            put wc /.git/objects/x y
            put w /src/main new",
        );
    });
}

#[test]
fn attack_98_protected_files_cannot_be_created() {
    on_repositories(|repository| {
        for at in [
            "/.git/hooks/post-checkout",
            "/.git/commondir",
            "/.gitmodules",
            "/src/.profile",
            "/.zshrc",
            "/.vscode/tasks.json",
            "/.idea",
            "/.mcp.json",
            "/.envrc",
            "/.claude",
            "/plain/.git",
        ] {
            for call in
                ["put wc @ x", "open rc @", "open wcx @", "ln-s /src/main @", "ln /src/main @", "mv /src/main @"]
            {
                repository.vfs.check(&format!("{} => NotPermitted", call.replace('@', at)));
            }
            if at != "/plain/.git" {
                repository.vfs.check(&format!("mkdir {at} => NotPermitted"));
                repository.vfs.check(&format!("mv /src {at} => NotPermitted"));
            }
            let write = repository.vfs.write_atomic(&path(at), b"x", &AtomicWrite::default());
            assert_eq!(write, Err(Errno::NotPermitted), "{at}");
        }
        // Through a link of the sandbox, which is just another path.
        repository.vfs.check(
            "ln-s .git /g
            ln-s .git/hooks /h
            ln-s /.git/hooks/new /n
            put wc /g/hooks/x y => NotPermitted
            put wc /h/x y => NotPermitted
            put wc /n x => NotPermitted
            mkdir /g/hooks/d => NotPermitted
            put w /g/../.git/config x => NotPermitted
            mv /src/main /h/x => NotPermitted
            cat /g/config => host",
        );
    });
}

#[test]
fn attack_98_a_directory_is_not_moved_into_or_out_of_protection() {
    on_repositories(|repository| {
        repository.vfs.check(
            "mkdir /evil
            mkdir /evil/hooks
            put wc /evil/hooks/post-checkout boom
            put wc /evil/config boom
            mv /evil /plain/.git => NotPermitted
            mv /evil/hooks /.git/hooks => NotPermitted
            mv /evil/config /.git/config => NotPermitted
            mv /.git /x => NotPermitted
            mv /.git /.git2 => NotPermitted
            mv /.git/hooks /h => NotPermitted
            mkdir /.git/modules
            mv /evil /.git/modules/evil => NotPermitted
            mkdir /deep
            mv /evil /deep/evil
            mv /deep /.git/modules/deep => NotPermitted
            mv /deep /plain/deep
            mv /lib /library
            cat /library/.git/config => host
            put w /library/.git/config x => NotPermitted
            mv /library /lib
            mkdir /new
            mv /new /plain/.git
            put wc /plain/.git/HEAD ref
            put wc /plain/.git/config x => NotPermitted
            mkdir /plain/.git/hooks => NotPermitted
            mv /plain/.git /plain/git
            mkdir /plain/git/hooks
            mv /plain/git /plain/.git => NotPermitted",
        );
    });
}

#[test]
fn git_is_not_pointed_to_another_directory() {
    on_repositories(|repository| {
        std::fs::write(repository.host.inside("plain/.git"), "gitdir: ../x").unwrap();
        repository.vfs.check(
            "put wc /src/.git gitdir => NotPermitted
            ln-s evil /src/.git => NotPermitted
            ln /src/main /src/.git => NotPermitted
            mv /src/main /src/.git => NotPermitted
            put w /plain/.git gitdir => NotPermitted
            rm /plain/.git => NotPermitted
            mv /plain/.git /x => NotPermitted
            mv /plain/.git /src/.git => NotPermitted
            mkdir /src/.git
            rmdir /src/.git",
        );
    });
}

#[test]
fn attack_68_twins_in_case_and_in_unicode_are_denied() {
    on_repositories(|repository| {
        for name in [
            "/.GIT/config",
            "/.Git/HOOKS/x",
            "/.git/Hooks/x",
            "/.BASHRC",
            "/.ba\u{200b}shrc",
            "/.ｂashrc",
            "/.baſhrc",
            "/.vsCode",
            "/.MCP.json",
            "/.bashrc.",
            "/.bashrc::$DATA",
            "/bashrc~1",
            "/git~1/config",
            "/.g\u{200c}it/hooks/x",
        ] {
            repository.vfs.check(&format!("mkdir {name} => NotPermitted\nput wc {name} x => NotPermitted"));
            repository.vfs.check(&format!("ln-s x {name} => NotPermitted"));
            // Nothing can be renamed to a path that cannot be reached.
            let outcome = repository.vfs.run(&format!("mv /src {name}"));
            assert!(outcome == "NotPermitted" || outcome == "NoEntry", "{name}: {outcome}");
        }
        repository.vfs.check("mkdir /.gitignore.d\nput wc /bashrc x\nput wc /.bashrc.md x");
    });
}

#[test]
fn allowed_paths_can_be_changed() {
    let rules = Rules::standard().allow(".vscode").allow(".git/hooks").allow(".bashrc");
    let repository = repository(|dir| dir, rules);
    repository.vfs.check(
        "put wc /.vscode/tasks.json x
        put wc /.git/hooks/x y
        put w /.bashrc x
        put w /.git/config x => NotPermitted
        rm /.git/hooks/x",
    );
    let free = mount(Arc::new(Protect::new(host_dir(&repository.host.inside("")), Rules::none())));
    free.check("put w /.git/config x\nmv /.git /x\nput wc /.git gitdir");
}

#[test]
fn a_directory_that_is_protected_itself_is_so_when_it_is_mounted() {
    let repository = repository(|dir| dir, Rules::standard());
    let inside = |at: &str| {
        let dir = HostDir::open(&repository.host.inside(at)).unwrap();
        mount(Arc::new(Protect::host(dir, Rules::standard())))
    };
    inside(".git").check("put w /config x => NotPermitted\nput wc /hooks/x y => NotPermitted\nput w /HEAD x");
    inside(".git/hooks").check("put wc /x y => NotPermitted\ncat /pre-push => host");
    std::os::unix::fs::symlink(".git/hooks", repository.host.inside("link")).unwrap();
    inside("link").check("put wc /x y => NotPermitted");
}

#[test]
fn an_overlay_and_a_fork_are_protected_too() {
    let repository = repository(|dir| dir, Rules::standard());
    let quota = || Arc::new(Quota::new(&Limits::default()));
    let dir = HostDir::open(&repository.host.inside("")).unwrap();
    let overlay = Overlay::over_host(dir, quota()).unwrap();
    let vfs = mount(Arc::new(Protect::new(overlay.files(), Rules::standard())));
    let attempts = "put w /.git/config x => NotPermitted
        put wc /.git/hooks/x y => NotPermitted
        mv /.git /x => NotPermitted
        put wc /.envrc x => NotPermitted";
    vfs.check(attempts);
    vfs.check("put wt /src/main new");
    let fork = vfs.snapshot().fork(&quota()).unwrap();
    fork.check(attempts);
    fork.check("cat /src/main => new");
    let changes = fork.overlay_at("/").diff().unwrap();
    assert_eq!(changes.changes().len(), 1);
    assert_eq!(vfs.overlay_at("/").diff().unwrap().changes(), changes.changes());
}

/// The host has linked a hook to a name that is not protected; in an overlay both are one file.
#[test]
fn attack_98_a_protected_file_is_not_committed_by_way_of_another_name() {
    let repository = repository(|dir| dir, Rules::standard());
    let hook = repository.host.inside(".git/hooks/pre-push");
    std::fs::hard_link(&hook, repository.host.inside("other")).unwrap();
    let dir = HostDir::open(&repository.host.inside("")).unwrap();
    let overlay = Overlay::over_host(dir, Arc::new(Quota::new(&Limits::default()))).unwrap();
    let vfs = mount(Arc::new(Protect::new(overlay.files(), Rules::standard())));
    vfs.check("put w /other evil\nput w /src/main new");
    let overlay = vfs.overlay_at("/");
    let error = overlay.commit().unwrap_err();
    assert_eq!((error.path.as_str(), error.errno), (".git/hooks/pre-push", Errno::NotPermitted));
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "host");
    assert_eq!(std::fs::read_to_string(repository.host.inside("src/main")).unwrap(), "host");
    // Unprotected changes can be committed once the other one is gone.
    vfs.check("rm /other");
    overlay.commit().unwrap_err();
    overlay.discard().unwrap();
    vfs.check("put wt /src/main new");
    overlay.commit().unwrap();
    assert_eq!(std::fs::read_to_string(repository.host.inside("src/main")).unwrap(), "new");
}

#[test]
fn nothing_slips_into_a_directory_while_it_is_moved() {
    let repository = repository(|dir| dir, Rules::standard());
    let (vfs, stop) = (&repository.vfs, AtomicBool::new(false));
    vfs.check("mkdir /w");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    vfs.run("mkdir /w/a/hooks");
                    vfs.run("put wc /w/a/config x");
                    vfs.run("rmdir /w/a/hooks");
                    vfs.run("rm /w/a/config");
                }
            });
        }
        let mut moved = 0;
        for _ in 0..5000 {
            vfs.run("mkdir /w/a");
            moved += u32::from(vfs.run("mv /w/a /w/.git") == "ok");
            assert_eq!(vfs.run("ls /w/.git").replace("[]", "NoEntry"), "NoEntry");
            vfs.run("rmdir /w/.git");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(moved > 0);
    });
}
