//! Special files in a mounted directory: refused at once, never opened.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use isopod::Sandbox;
use isopod::backend::{Backend, EditRequest, GlobRequest, GrepRequest, Isopod, ReadRequest};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::Attack;
use crate::arena::{self, Arena, count, text};
use crate::host::flipping;

pub const ATTACKS: &[Attack] = &[
    ("attack_78_a_fifo_is_refused_at_once", |a| {
        node(&a.host("fifo"), FileType::Fifo, 0).unwrap();
        refused_at_once(a, "fifo");
    }),
    ("attack_79_a_device_is_refused", |a| {
        // Without the right to make a device, one of the host's is used.
        match node(&a.host("zero"), FileType::CharacterDevice, makedev(1, 5)) {
            Ok(()) => refused_at_once(a, "zero"),
            Err(_) => {
                if let Ok(sandbox) = Sandbox::builder().mount_read_only("/dev", "/host").build() {
                    assert!(sandbox.fs().read("/host/zero").is_err());
                    assert!(sandbox.fs().read("/host/null").is_err());
                }
            }
        }
    }),
    ("attack_80_a_socket_is_refused", |a| {
        let path = a.host("socket");
        let listener = UnixListener::bind(path).unwrap();
        refused_at_once(a, "socket");
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "someone connected");
    }),
    ("attack_81_files_of_the_host_s_kernel_are_refused", |a| {
        let sandbox = a.build(Sandbox::builder().mount_read_only("/", "/host"));
        for path in [
            "/host/proc/self/environ",
            "/host/proc/self/root/etc/passwd",
            "/host/proc/1/cmdline",
            "/host/sys/kernel/mm",
        ] {
            let is_there = fs::exists(path.trim_start_matches("/host")).unwrap_or(false);
            assert!(!is_there || (sandbox.fs().read(path).is_err() && sandbox.fs().read_dir(path).is_err()), "{path}");
        }
        let output = a.run("cat /host/proc/self/environ /host/proc/self/maps; ls /host/proc /host/sys; true");
        assert!(output.stdout.is_empty(), "{}", text(&output));
        for place in ["/proc", "/sys"] {
            assert!(
                Sandbox::builder().mount_read_only(place, "/p").build().is_err()
                    || !Path::new(place).join("self").exists()
            );
        }
    }),
    ("attack_82_a_directory_of_very_many_names_is_listed_in_pieces", |a| {
        let names = count(10_000, 1_000_000);
        a.limit(|limits| limits.inodes = 2_000_000);
        for number in 0..names {
            fs::write(a.host(&number.to_string()), "").unwrap();
        }
        a.prints("ls | wc -l; find . -type f | wc -l", &format!("{names}\n{names}\n"));
        let backend = Isopod::new("i", a.sandbox()).unwrap();
        arena::tokio().block_on(async {
            let globbed = backend.glob(GlobRequest::new("*", "/workspace")).await.unwrap();
            assert!(globbed.matches.len() <= 10_000);
        });
    }),
    ("attack_83_a_file_that_becomes_a_fifo_after_it_was_looked_at_is_refused", |a| {
        fs::write(a.host("f"), "inside").unwrap();
        node(&a.host("fifo"), FileType::Fifo, 0).unwrap();
        let (mut files, mut refused) = (0, 0);
        flipping(&a.host("f"), &a.host("fifo"), count(5_000, 100_000), || {
            let output = a.run("for i in {1..20}; do cat f; echo x > f; grep x f; done 2>&1");
            files += text(&output).matches("inside").count() + text(&output).matches('x').count();
            refused += text(&output).matches("No such device").count();
        });
        assert!(files > 0 && refused > 0, "{files} files, {refused} refused");
    }),
];

fn node(path: &Path, kind: FileType, device: u64) -> rustix::io::Result<()> {
    mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device)
}

/// Runs every operation that opens a file; none may wait.
fn refused_at_once(a: &mut Arena, name: &str) {
    let begin = Instant::now();
    for command in [
        "cat P",
        "head -c 1 P",
        "echo x > P",
        "cp P copy",
        "grep x P",
        "read x < P",
        "wc -c P",
        "source P",
        "tar -cf - P | cat > t",
    ] {
        let output = a.run(command.replace('P', name).as_str());
        assert!(output.exit_code != 0 || command.starts_with("tar"), "{command}: {}", text(&output));
    }
    let backend = Isopod::new("i", a.sandbox()).unwrap();
    arena::tokio().block_on(async {
        assert!(backend.read(ReadRequest::lines(name, 0, 1)).await.is_err());
        assert!(backend.read(ReadRequest::bytes(name)).await.is_err());
        assert!(backend.edit(EditRequest::new(name, "a", "b")).await.is_err());
        assert!(backend.download(vec![name.into()]).await[0].is_err());
        assert!(backend.grep(GrepRequest::literal("x", ".")).await.unwrap().matches.is_empty());
    });
    // 50 ms for each of the fourteen operations.
    a.note_time(begin.elapsed(), Duration::from_millis(50 * 14));
}
