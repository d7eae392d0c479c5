//! The tests that run behind the wall.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

use isopod::backend::SandboxBackend;
use isopod::provider::{Config, Provider};
use isopod::wall::{Coverage, Wall, WallError};
use isopod::{Limits, Sandbox};
use rustix::io::Errno;

pub fn play(role: &str, args: &[String]) {
    match role {
        "files" => files(Path::new(&args[0])),
        "network" => network(args[0].parse().unwrap(), args[1].parse().unwrap()),
        "server" => server(args[0].parse().unwrap(), args[1].parse().unwrap()),
        "calls" => calls(),
        "threads" => threads(),
        "strict" => strict(),
        "missing" => missing(),
        "provider" => provider(Path::new(&args[0])),
        role => panic!("nobody plays {role}"),
    }
}

fn refused<T>(what: std::io::Result<T>) -> i32 {
    what.err().expect("it is refused").raw_os_error().unwrap()
}

/// Checks that all kinds of commands still work behind the wall, on all cores.
fn sandboxes_work(mount: Option<&Path>) {
    let builder = Sandbox::builder().limits(Limits::hardened());
    let sandbox = mount.into_iter().fold(builder, |builder, dir| builder.mount(dir, "/workspace")).build().unwrap();
    let line = "printf 'b\\na\\n' > plain; sort plain > sorted; cat sorted | wc -l; (sleep 9 & kill $!); ls | head -1 > /dev/null";
    let answer = sandbox.execute_blocking(line).unwrap();
    assert_eq!((answer.stdout.as_slice(), answer.exit_code), (&b"2\n"[..], 0), "{:?}", answer);
    let tidy = sandbox
        .execute_blocking("mkdir -p a/b; mv plain a/b; chmod 700 a; ln -s a/b/plain link; cat link; rm -r a link");
    assert_eq!(tidy.unwrap().stdout, b"b\na\n");
    sandbox.fs().write("atomic", "content").unwrap();
    assert_eq!(sandbox.fs().read("atomic").unwrap(), b"content");
}

fn files(root: &Path) {
    let [inside, read, outside] = ["inside", "read", "outside"].map(|name| root.join(name));
    let open = std::fs::File::open(outside.join("file")).unwrap();
    let report = Wall::new().read_write(&inside).read_only(&read).raise().unwrap();
    assert_eq!(report.seccomp, Coverage::Whole);
    let (access, across) = (Errno::ACCESS.raw_os_error(), Errno::XDEV.raw_os_error());
    for path in ["/etc/passwd", "/proc/1/environ", "/proc/self/root/etc/passwd", "/", "/proc"] {
        assert_eq!(refused(std::fs::File::open(path)), access, "{path}");
    }
    for path in [outside.join("file"), inside.join("out/file"), inside.join("../outside/file")] {
        assert_eq!(refused(std::fs::read(&path)), access, "{path:?}");
        assert_eq!(refused(std::fs::write(&path, "gone")), access, "{path:?}");
        assert_eq!(refused(std::fs::remove_file(&path)), access, "{path:?}");
    }
    assert_eq!(refused(std::fs::read_dir(&outside)), access);
    assert_eq!(refused(std::fs::create_dir(outside.join("new"))), access);
    assert!([access, across].contains(&refused(std::fs::rename(inside.join("file"), outside.join("moved")))));
    assert!([access, across].contains(&refused(std::fs::hard_link(outside.join("file"), inside.join("linked")))));
    // An open file outside the wall cannot be opened again through its descriptor.
    let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    assert_eq!(refused(std::fs::read(again)), access);
    assert_eq!(std::fs::read_to_string(read.join("file")).unwrap(), "read");
    assert_eq!(refused(std::fs::write(read.join("file"), "gone")), access);
    assert_eq!(refused(std::fs::write(read.join("new"), "")), access);
    assert_eq!(std::fs::read_to_string(inside.join("file")).unwrap(), "inside");
    std::fs::write(inside.join("file"), "changed").unwrap();
    sandboxes_work(Some(&inside));
}

fn network(port: u16, parent: i32) {
    Wall::new().raise().unwrap();
    let not_permitted = Errno::PERM.raw_os_error();
    assert_eq!(refused(TcpStream::connect(("127.0.0.1", port))), not_permitted);
    assert_eq!(refused(TcpListener::bind("127.0.0.1:0")), not_permitted);
    assert_eq!(refused(std::net::UdpSocket::bind("127.0.0.1:0")), not_permitted);
    assert_eq!(refused(std::os::unix::net::UnixStream::connect("/run/none")), not_permitted);
    assert_eq!(refused(std::os::unix::net::UnixDatagram::pair()), not_permitted);
    std::os::unix::net::UnixStream::pair().unwrap();
    assert_eq!(refused(Command::new("/bin/true").spawn()), not_permitted);
    let parent = rustix::process::Pid::from_raw(parent).unwrap();
    let signalled = rustix::process::test_kill_process(parent);
    assert!(signalled == Err(Errno::PERM) || Wall::new().raise().unwrap().landlock_abi < 6, "{signalled:?}");
    assert_eq!(rustix::process::chroot("/"), Err(Errno::PERM));
    assert_eq!(rustix::system::sethostname(b"other"), Err(Errno::PERM));
    // A second wall can only remove rights.
    Wall::new().exec().bind(port).raise().unwrap();
    assert_eq!(refused(Command::new("/bin/true").spawn()), not_permitted);
    sandboxes_work(None);
    // New threads are behind the wall too.
    let elsewhere = std::thread::spawn(|| refused(Command::new("/bin/true").spawn())).join().unwrap();
    assert_eq!(elsewhere, not_permitted);
}

fn server(port: u16, other: u16) {
    let report = Wall::around(&Config::new(tempfile::tempdir().unwrap().path())).unwrap().bind(port).raise().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    if report.landlock_abi >= 4 {
        assert_eq!(TcpListener::bind(("127.0.0.1", other)).err().unwrap().kind(), ErrorKind::PermissionDenied);
    }
    assert_eq!(TcpStream::connect(("127.0.0.1", port)).err().unwrap().kind(), ErrorKind::PermissionDenied);
    assert_eq!(std::net::UdpSocket::bind("127.0.0.1:0").err().unwrap().kind(), ErrorKind::PermissionDenied);
    println!("listening");
    let (mut stream, _) = listener.accept().unwrap();
    let mut line = String::new();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
    let answer = Sandbox::builder().build().unwrap().execute_blocking(line.trim()).unwrap();
    stream.write_all(&answer.stdout).unwrap();
}

/// Makes system calls by number, in a program started behind the wall: none of them may have an effect.
const CALLS: &str = r#"
import ctypes, os, platform, sys
arm = platform.machine() == "aarch64"
# name: x86-64, aarch64, arguments
table = """ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; process_madvise 440 440; pidfd_getfd 438 438
kcmp 312 272; move_pages 279 239; migrate_pages 256 238; perf_event_open 298 241; mount 165 40; umount2 166 39
pivot_root 155 41; chroot 161 51; move_mount 429 429; open_tree 428 428; fsopen 430 430; fsconfig 431 431; fsmount 432 432
fspick 433 433; mount_setattr 442 442; name_to_handle_at 303 264; open_by_handle_at 304 265; fanotify_init 300 262
quotactl 179 60; swapon 167 224; swapoff 168 225; acct 163 89; setns 308 268; unshare 272 97; setuid 105 146; setgid 106 144
setreuid 113 145; setregid 114 143; setresuid 117 147; setresgid 119 149; setfsuid 122 151; setfsgid 123 152
setgroups 116 159; capset 126 91; personality 135 92; bpf 321 280; userfaultfd 323 282; add_key 248 217; request_key 249 218
keyctl 250 219; init_module 175 105; finit_module 313 273; delete_module 176 106; kexec_load 246 104; kexec_file_load 320 294
reboot 169 142; syslog 103 116; vhangup 153 58; sethostname 170 161; setdomainname 171 162; settimeofday 164 170
clock_settime 227 112; clock_adjtime 305 266; adjtimex 159 171; connect 42 203; socket 41 198"""
rows = [row.split() for row in table.replace("\n", ";").split(";") if row.strip()]
calls = [(name, int(b if arm else a), ()) for name, a, b in rows]
calls += [("ioctl TIOCSTI", 29 if arm else 16, (0, 0x5412, 0)), ("sendto", 206 if arm else 44, (0, 0, 0, 0, 1)),
          ("sendmsg fast open", 211 if arm else 46, (0, 0, 0x20000000)), ("socketpair", 199 if arm else 53, (1, 2, 0, 0))]
flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
calls += [(f"clone {flag:#x}", 220 if arm else 56, (flag,)) for flag in flags]
if not arm:
    calls += [("iopl", 172, ()), ("ioperm", 173, ()), ("modify_ldt", 154, ())]
absent = [("clone3", 435, ()), ("io_uring_setup", 425, ()), ("io_uring_enter", 426, ()), ("io_uring_register", 427, ())]
libc = ctypes.CDLL(None, use_errno=True)
def answer(number, arguments):
    words = [ctypes.c_long(word) for word in (tuple(arguments) + (0,) * 6)[:6]]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *words) < 0 else 0
wrong = [name for name, number, arguments in calls if answer(number, arguments) != 1]
wrong += [name for name, number, arguments in absent if answer(number, arguments) != 38]
if not arm:
    wrong += ["x32 " + name for name, number, _ in calls if answer(number | 0x40000000, ()) not in (1, 38)]
    wrong += [f"x32 {number}" for number in range(512, 548) if answer(number | 0x40000000, ()) not in (1, 38)]
print(f"{len(calls) + len(absent)} calls tried, {len(wrong)} not refused", *wrong)
sys.exit(bool(wrong))
"#;

fn calls() {
    let system = ["/usr", "/lib", "/lib64", "/bin", "/etc"].into_iter().filter(|path| Path::new(path).exists());
    let wall = system.fold(Wall::new().exec(), |wall, path| wall.read_only(path));
    wall.read_write("/dev/null").raise().unwrap();
    let status = Command::new("python3").args(["-I", "-c", CALLS]).status().unwrap();
    assert!(status.success());
    // A file that may not be read may not be executed either.
    assert_eq!(Command::new("/proc/self/exe").spawn().err().unwrap().kind(), ErrorKind::PermissionDenied);
}

fn threads() {
    let (_wait, waits) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || waits.recv());
    assert!(matches!(Wall::new().raise(), Err(WallError::Threads(2))));
    drop(_wait);
    assert!(other.join().unwrap().is_err());
    std::fs::read("/etc/passwd").unwrap();
}

fn strict() {
    match Wall::new().strict().raise() {
        Ok(report) => assert!(report.is_whole(), "{report}"),
        Err(WallError::Missing(why)) => {
            println!("not on this machine: {why}");
            std::fs::read("/etc/passwd").unwrap();
        }
        Err(error) => panic!("{error}"),
    }
}

fn missing() {
    let error = Wall::new().read_only("/none/such").raise().unwrap_err();
    assert_eq!(error.to_string(), "/none/such: No such file or directory (os error 2)");
    std::fs::read("/etc/passwd").unwrap();
    assert!(Command::new("true").status().unwrap().success());
}

fn provider(root: &Path) {
    let config = Config::new(root.join("made/when/needed"));
    Wall::around(&config).unwrap().raise().unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    tokio.block_on(async {
        let provider = Provider::open(config).unwrap();
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        let executed = lease.execute("echo kept > file; cat file | tr a-z A-Z".into()).await.unwrap();
        assert_eq!(executed.stdout, b"KEPT\n");
        drop(lease);
        let fork = provider.fork(id, Default::default()).await.unwrap();
        provider.release(id).await.unwrap();
        assert!(provider.delete(id).await.unwrap());
        let lease = provider.get_or_create(Some(fork)).await.unwrap();
        assert_eq!(lease.execute("cat file".into()).await.unwrap().stdout, b"kept\n");
        drop(lease);
        provider.shutdown().await;
    });
}
