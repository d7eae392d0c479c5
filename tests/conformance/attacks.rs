//! The attacks on file operations, on every backend that they apply to. After each one everything outside the root is
//! unchanged, and no answer contains any of it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use isopod::backend::{
    Backend, BackendError, Content, Cut, Directory, EditRequest, GlobRequest, GrepRequest, Isopod, LocalShell, Memory,
    ReadRequest, Upload, WriteRequest,
};
use isopod::error::Errno;
use isopod::{Limits, Sandbox};

use crate::runtime;
use crate::subject::{self, Subject, fingerprint, succeeds};

const SECRET: &str = "CANARY-9f3b1c";

/// Makes every operation on a path. Returns all answers.
async fn everything(backend: &Arc<dyn Backend>, path: &str) -> String {
    let mut said = String::new();
    let mut say = |answer: &dyn Debug| said += &format!("{answer:?}\n");
    say(&backend.ls(path).await);
    say(&backend.read(ReadRequest::lines(path, 0, 10)).await);
    say(&backend.read(ReadRequest::bytes(path)).await.map(text));
    say(&backend
        .download(vec![path.to_owned()])
        .await
        .remove(0)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    say(&backend.glob(GlobRequest::new("*", path)).await);
    say(&backend.glob(GlobRequest::new("**/*", path)).await);
    say(&backend.grep(GrepRequest::literal("CANARY", path)).await);
    say(&backend.edit(EditRequest::new(path, SECRET, "changed")).await);
    say(&backend.write(WriteRequest::new(path, "changed")).await);
    say(&backend.upload(vec![Upload::new(path, "changed")]).await);
    say(&backend.delete(path).await);
    say(&backend.resolve(path).await);
    said
}

fn text(content: Content) -> String {
    match content {
        Content::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        content => format!("{content:?}"),
    }
}

/// Paths that lead out, or would lead out if they were decoded.
fn paths(root: &str, outside: &str) -> Vec<String> {
    let up = "../".repeat(50);
    let below = |path: &str| format!("{root}/{path}");
    vec![
        format!("{root}/{up}{}", outside.trim_start_matches('/')),
        format!("{outside}/secret"),
        outside.to_owned(),
        below("a/../../x/../secret"),
        below("./..//..//./secret"),
        format!("//{outside}//secret"),
        below("a//..//..//secret"),
        below("a\0b"),
        below("to-outside"),
        below("to-outside/"),
        below("to-outside/."),
        below("to-outside/.."),
        below("to-outside/secret"),
        below("to-secret"),
        below("to-secret/"),
        below("relative-out"),
        below("through-root"),
        below("through-fd"),
        below("to-stdin"),
        below("chain0"),
        below("loop"),
        below("loop/x"),
        below("dangling-out"),
        below("%2e%2e/%2e%2e/secret"),
        below("..\\..\\secret"),
        below("\u{ff0e}\u{ff0e}/secret"),
        below("C:\\Windows"),
        below("\\\\?\\C:\\x"),
        below("CON"),
        below("COM¹"),
        below("a:b"),
        format!("/proc/self/root{outside}/secret"),
        format!("/proc/self/cwd/../../..{outside}/secret"),
        "/etc/shadow".to_owned(),
        String::new(),
        "x".repeat(5000),
        below(&"d/".repeat(400)),
    ]
}

/// Puts links that lead out into a directory below the root.
fn plant(subject: &Subject, below: &str, outside: &str) {
    if !subject.can_link() {
        return;
    }
    let up = "../".repeat(40);
    let links = [
        (outside.to_owned(), "to-outside".to_owned()),
        (format!("{outside}/secret"), "to-secret".to_owned()),
        (format!("{up}{}/secret", outside.trim_start_matches('/')), "relative-out".to_owned()),
        (format!("/proc/self/root{outside}/secret"), "through-root".to_owned()),
        ("/proc/self/fd/0".to_owned(), "through-fd".to_owned()),
        ("/dev/stdin".to_owned(), "to-stdin".to_owned()),
        ("loop".to_owned(), "loop".to_owned()),
        (format!("{outside}/made"), "dangling-out".to_owned()),
    ];
    let chain = (0..50).map(|n| match n {
        49 => (format!("{outside}/secret"), format!("chain{n}")),
        _ => (format!("chain{}", n + 1), format!("chain{n}")),
    });
    for (target, name) in links.into_iter().chain(chain) {
        assert!(subject.link(&target, &format!("{below}/{name}")));
    }
}

fn stays_inside(subject: Option<Subject>) {
    let Some(subject) = subject else { return };
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), SECRET).unwrap();
    let (before, outer) = (fingerprint(outside.path()), outside.path().to_str().unwrap());
    let count = paths("", outer).len();
    runtime().block_on(async {
        // Each path has a directory of its own, so that the effects of one do not disturb the next.
        for number in 0..count {
            let (below, root) = (format!("a{number}"), format!("{}/a{number}", subject.root));
            subject.backend.write(WriteRequest::new(format!("{root}/keep"), "")).await.unwrap();
            plant(&subject, &below, outer);
            let path = paths(&root, outer).remove(number);
            let said = everything(&subject.backend, &path).await;
            assert!(!said.contains(SECRET), "{}: {path:?} told: {said}", subject.name);
            assert_eq!(fingerprint(outside.path()), before, "{}: {path:?} changed what is outside", subject.name);
            let host = subject.host.as_ref().filter(|_| !subject.root.starts_with("/tmp"));
            if let Some(host) = host {
                assert!(!said.contains(host.to_str().unwrap()), "{}: {path:?} told of the host: {said}", subject.name);
            }
        }
        let found = subject.backend.grep(GrepRequest::literal("CANARY", &subject.root)).await.unwrap();
        assert_eq!(found.matches, [], "{}", subject.name);
        subject.backend.write(WriteRequest::new(format!("{}/alive", subject.root), "yes")).await.unwrap();
    });
}

#[test]
fn attack_70_every_operation_stays_inside_isopod() {
    stays_inside(runtime().block_on(subject::isopod()));
}

#[test]
fn attack_70_every_operation_stays_inside_isopod_over_a_directory_of_the_host() {
    stays_inside(runtime().block_on(subject::isopod_host()));
}

#[test]
fn attack_70_every_operation_stays_inside_isopod_over_an_overlay() {
    stays_inside(runtime().block_on(subject::isopod_overlay()));
}

#[test]
fn attack_70_every_operation_stays_inside_memory_and_store() {
    stays_inside(runtime().block_on(subject::memory()));
    stays_inside(runtime().block_on(subject::store()));
}

#[test]
fn attack_70_every_operation_stays_inside_a_directory() {
    stays_inside(runtime().block_on(subject::directory()));
}

/// Its commands are not confined; its file operations are.
#[test]
fn attack_70_every_operation_of_the_local_shell_stays_inside() {
    stays_inside(runtime().block_on(subject::local_shell()));
}

#[test]
fn attack_70_every_operation_stays_inside_layers_and_a_composite() {
    stays_inside(runtime().block_on(subject::layered()));
    stays_inside(runtime().block_on(subject::composite()));
    stays_inside(runtime().block_on(subject::dry_run()));
}

#[test]
fn attack_57_58_chains_and_loops_of_links_end() {
    let subject = runtime().block_on(subject::directory()).unwrap();
    plant(&subject, "links", "/nowhere");
    runtime().block_on(async {
        for name in ["chain0", "loop", "loop/x"] {
            let error = subject.backend.read(ReadRequest::lines(format!("/w/links/{name}"), 0, 1)).await.unwrap_err();
            assert_eq!(error.errno(), Some(Errno::Loop), "{name}");
        }
    });
}

fn many_files(count: usize) -> Memory {
    let memory = Memory::new(&Limits::default()).unwrap();
    runtime().block_on(async {
        let file = |n: usize| Upload::new(format!("/d{}/f{n}", n % 100), "some text\nmore text\n");
        for answer in memory.upload((0..count).map(file).collect()).await {
            answer.unwrap();
        }
    });
    memory
}

#[test]
fn attack_13_a_search_keeps_its_time_and_ends_when_nobody_waits() {
    let memory = many_files(20_000);
    // One thread for blocking calls: it becomes free only if the abandoned search has ended.
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        // Too short for so many files on any machine.
        let time = Duration::from_micros(200);
        let begin = Instant::now();
        let grepped = memory.grep(GrepRequest { time, ..GrepRequest::literal("nothing", "/") }).await.unwrap();
        assert_eq!(grepped.cut, Some(Cut::Budget));
        let globbed = memory.glob(GlobRequest { time, ..GlobRequest::new("**/nothing", "/") }).await.unwrap();
        assert_eq!(globbed.cut, Some(Cut::Budget));
        assert!(begin.elapsed() < Duration::from_millis(2 * 250), "{:?}", begin.elapsed());

        let long = GrepRequest { time: Duration::from_secs(60), ..GrepRequest::literal("nothing", "/") };
        let dropped = tokio::time::timeout(Duration::from_millis(1), memory.grep(long)).await;
        assert!(dropped.is_err(), "the search was too fast to be dropped");
        let begin = Instant::now();
        memory.ls("/d1").await.unwrap();
        assert!(begin.elapsed() < Duration::from_millis(1000), "{:?}", begin.elapsed());
    });
}

#[test]
fn a_search_whose_time_is_over_while_it_lists_a_directory_says_so() {
    let memory = many_files(100);
    runtime().block_on(async {
        let time = Duration::from_nanos(1);
        let globbed = memory.glob(GlobRequest { time, ..GlobRequest::new("*", "/") }).await.unwrap();
        assert_eq!(globbed.cut, Some(Cut::Budget), "{} found", globbed.matches.len());
        let grepped = memory.grep(GrepRequest { time, ..GrepRequest::literal("text", "/") }).await.unwrap();
        assert_eq!(grepped.cut, Some(Cut::Budget));
    });
}

#[test]
fn attack_24_a_file_that_is_too_large_is_refused() {
    let mut limits = Limits::default();
    limits.file = 1 << 20;
    let memory = Memory::new(&limits).unwrap();
    let isopod = Isopod::new("i", Sandbox::builder().limits(limits.clone()).build().unwrap()).unwrap();
    runtime().block_on(async {
        for backend in [&memory as &dyn Backend, &isopod] {
            assert_eq!(backend.largest_file(), 1 << 20);
            let large = vec![0; (1 << 20) + 1];
            let answers = backend.upload(vec![Upload::new("/tmp/a", large), Upload::new("/tmp/b", "small")]).await;
            let size = (1 << 20) + 1;
            assert_eq!(answers[0], Err(BackendError::TooLarge { path: "/tmp/a".into(), size, limit: 1 << 20 }));
            assert!(answers[1].is_ok());
            assert!(backend.read(ReadRequest::bytes("/tmp/a")).await.is_err());
        }
    });
}

#[test]
fn attack_25_a_sparse_file_of_10_gb_is_no_trouble() {
    let host = tempfile::tempdir().unwrap();
    std::fs::File::create(host.path().join("sparse")).unwrap().set_len(10 << 30).unwrap();
    let directory = Directory::open(host.path(), &Limits::default()).unwrap();
    runtime().block_on(async {
        let begin = Instant::now();
        let edit = directory.edit(EditRequest::new("/sparse", "a", "b")).await.unwrap_err();
        assert_eq!(edit.errno(), Some(Errno::FileTooLarge));
        let download = directory.download(vec!["/sparse".into()]).await.remove(0).unwrap_err();
        assert_eq!(download.errno(), Some(Errno::FileTooLarge));
        let bytes = directory.read(ReadRequest::bytes("/sparse")).await.unwrap_err();
        assert_eq!(bytes.errno(), Some(Errno::FileTooLarge));
        // A page of a sparse file can be read like any other.
        match directory.read(ReadRequest::lines("/sparse", 0, 10)).await.unwrap() {
            Content::Text(page) => assert!(page.is_cut && page.text.len() <= 500 << 10),
            content => panic!("{content:?}"),
        }
        let time = Duration::from_millis(300);
        let grep = directory.grep(GrepRequest { time, ..GrepRequest::literal("x", "/") }).await.unwrap();
        assert_eq!(grep.matches, []);
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    });
}

#[test]
fn attack_75_of_parallel_edits_none_is_lost_unnoticed() {
    for subject in [
        runtime().block_on(subject::isopod()),
        runtime().block_on(subject::isopod_host()),
        runtime().block_on(subject::directory()),
        runtime().block_on(subject::memory()),
        runtime().block_on(subject::store()),
    ] {
        let subject = Arc::new(subject.unwrap());
        runtime().block_on(async {
            let path = format!("{}/edited", subject.root);
            let lines: String = (0..16).map(|n| format!("line {n:02}\n")).collect();
            subject.backend.write(WriteRequest::new(&*path, lines)).await.unwrap();
            let tasks: Vec<_> = (0..16)
                .map(|n| {
                    let (subject, path) = (subject.clone(), path.clone());
                    let request = EditRequest::new(path, format!("line {n:02}"), format!("done {n:02}"));
                    tokio::spawn(async move { subject.backend.edit(request).await })
                })
                .collect();
            let mut done = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(_) => done += 1,
                    Err(error) => assert_eq!(error, BackendError::Conflict(path.clone())),
                }
            }
            let content = subject.backend.download(vec![path.clone()]).await.remove(0).unwrap();
            let found = String::from_utf8(content).unwrap().matches("done").count();
            assert!(done >= 1);
            assert_eq!(found, done, "{}: an edit that was answered is lost", subject.name);
        });
    }
}

#[test]
fn attack_78_a_pipe_is_refused_at_once() {
    let host = tempfile::tempdir().unwrap();
    let fifo = host.path().join("fifo");
    assert!(succeeds(&["mkfifo", fifo.to_str().unwrap()]));
    let directory = Directory::open(host.path(), &Limits::default()).unwrap();
    let shell = LocalShell::unconfined(host.path()).unwrap();
    runtime().block_on(async {
        for (backend, path) in [(&directory as &dyn Backend, "/fifo"), (&shell, fifo.to_str().unwrap())] {
            let begin = Instant::now();
            assert_eq!(backend.read(ReadRequest::lines(path, 0, 1)).await, Err(BackendError::NotRegular(path.into())));
            assert!(backend.edit(EditRequest::new(path, "a", "b")).await.is_err());
            assert!(backend.download(vec![path.into()]).await[0].is_err());
            assert!(backend.grep(GrepRequest::literal("x", path)).await.is_err());
            let around = path.rsplit_once('/').unwrap().0;
            let around = if around.is_empty() { "/" } else { around };
            assert_eq!(backend.grep(GrepRequest::literal("x", around)).await.unwrap().matches, []);
            assert_eq!(backend.glob(GlobRequest::new("*", around)).await.unwrap().matches, []);
            assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
        }
    });
}

#[test]
fn attack_65_66_what_cannot_be_changed_says_so() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("f"), "text").unwrap();
    let sandbox = Sandbox::builder().mount_read_only(host.path(), "/ro").build().unwrap();
    let isopod = Isopod::new("i", sandbox).unwrap();
    runtime().block_on(async {
        let errno = |answer: Result<(), BackendError>| answer.unwrap_err().errno();
        for path in ["/ro/f", "/ro/new"] {
            assert_eq!(errno(isopod.write(WriteRequest::new(path, "x")).await.map(drop)), Some(Errno::ReadOnly));
        }
        assert_eq!(errno(isopod.write(WriteRequest::new("/ro/a/b", "x")).await.map(drop)), Some(Errno::ReadOnly));
        assert_eq!(
            errno(isopod.edit(EditRequest::new("/ro/f", "t", "T").everywhere()).await.map(drop)),
            Some(Errno::ReadOnly)
        );
        assert_eq!(errno(isopod.delete("/ro/f").await), Some(Errno::ReadOnly));
        for path in ["/", "//", "/ro", "/ro/", "/proc", "/dev"] {
            let found = errno(isopod.delete(path).await);
            assert!(matches!(found, Some(Errno::Busy | Errno::ReadOnly)), "{path}: {found:?}");
        }
        assert_eq!(errno(isopod.delete("/tmp/..").await), Some(Errno::Invalid));
        assert_eq!(errno(isopod.delete("/tmp/.").await), Some(Errno::Invalid));
        assert_eq!(std::fs::read(host.path().join("f")).unwrap(), b"text");
    });
}

#[test]
fn a_search_from_the_root_leaves_out_what_has_no_end() {
    let isopod = runtime().block_on(subject::isopod()).unwrap();
    runtime().block_on(async {
        let globbed = isopod.backend.glob(GlobRequest { hidden: true, ..GlobRequest::new("**/*", "/") }).await.unwrap();
        let is_pruned = |path: &str| ["/proc/", "/dev/", "/sys/"].iter().any(|root| path.starts_with(root));
        assert!(globbed.matches.iter().all(|found| !is_pruned(&found.path)));
        assert!(globbed.matches.iter().any(|found| found.path == "/etc/passwd"));
        assert_eq!(globbed.cut, None);
    });
}

#[test]
fn attack_89_bytes_that_are_not_text_are_mapped_and_kept() {
    for subject in [
        runtime().block_on(subject::isopod()),
        runtime().block_on(subject::isopod_host()),
        runtime().block_on(subject::memory()),
        runtime().block_on(subject::store()),
        runtime().block_on(subject::local_shell()),
        runtime().block_on(subject::exec_local()),
        runtime().block_on(subject::exec_isopod()),
        runtime().block_on(subject::bubblewrap()),
    ] {
        let Some(subject) = subject else { continue };
        runtime().block_on(async {
            let path = |name: &str| format!("{}/{name}", subject.root);
            let all: Vec<u8> = (0..=255).collect();
            let mixed = [&b"text\n"[..], &b"x".repeat(9000), &b"\nbad \xff\xfe line\n"[..]].concat();
            let large: Vec<u8> = (0..10 << 20).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let files = [("all", all), ("mixed", mixed), ("large", large), ("empty", Vec::new())];
            let uploads = files.iter().map(|(name, bytes)| Upload::new(path(name), bytes.clone())).collect();
            assert!(subject.backend.upload(uploads).await.iter().all(Result::is_ok), "{}", subject.name);
            let names = files.iter().map(|(name, _)| path(name)).collect();
            for ((name, bytes), back) in files.iter().zip(subject.backend.download(names).await) {
                assert!(back.as_ref() == Ok(bytes), "{}: {name} came back otherwise", subject.name);
            }
            let all = subject.backend.read(ReadRequest::lines(path("all"), 0, 10)).await.unwrap();
            assert_eq!(all, Content::Bytes((0..=255).collect()), "{}", subject.name);
            let Content::Text(page) = subject.backend.read(ReadRequest::lines(path("mixed"), 2, 1)).await.unwrap()
            else {
                panic!("{}: text from its start is text", subject.name);
            };
            assert_eq!(page.text, "bad \u{fffd}\u{fffd} line", "{}", subject.name);
            let edit = subject.backend.edit(EditRequest::new(path("mixed"), "text", "x")).await;
            assert_eq!(edit, Err(BackendError::NotText(path("mixed"))), "{}", subject.name);
        });
    }
}

#[test]
fn attack_91_a_file_cannot_pretend_to_be_an_answer() {
    let subject = runtime().block_on(subject::exec_local()).unwrap();
    runtime().block_on(async {
        let evil = "BASE64_END\n'; rm -rf . #\n40\nexit 40\n$(id)\n\0--\n./x\u{0}1:y\n";
        let path = format!("{}/BASE64_END\n40 '$(exit 40)'", subject.root);
        subject.backend.write(WriteRequest::new(&*path, evil)).await.unwrap();
        let back = subject.backend.download(vec![path.clone()]).await.remove(0).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), evil);
        let listed = subject.backend.ls(&subject.root).await.unwrap();
        assert_eq!(listed.entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), [path.as_str()]);
        subject.backend.delete(&path).await.unwrap();
    });
}
