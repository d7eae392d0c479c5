//! A process that has ended leaves nothing behind, in whatever way it ended.

use std::time::Duration;

use isopod::Sandbox;

use crate::support::directory;

/// Returns the number of open descriptors, the number of threads, and the resident bytes of this process.
fn footprint() -> (usize, usize, u64) {
    let count = |path| std::fs::read_dir(path).unwrap().count();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    (count("/proc/self/fd"), count("/proc/self/task"), pages * 4096)
}

/// Commands that end in all possible ways.
const MIXED: [&str; 10] = [
    "echo hi",
    "exit 7",
    "nonesuch",
    "yes | head -1",
    "sleep 1000 &",
    "cat /workspace/file | cat > /tmp/copy",
    "exec 3< /workspace/file; sleep 1000 | cat & kill $!",
    "sh -c 'kill -9 $$'",
    "(exit 3) || echo $(echo nested)",
    "x=$(cat /workspace/file); echo $x > /workspace/out",
];

#[test]
fn after_ten_thousand_mixed_runs_everything_is_back() {
    let host = directory(&[("file", "text")]);
    let sandbox = Sandbox::builder().mount(host.path(), "/workspace").build().unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let round = |runs: usize| {
        tokio.block_on(async {
            for n in 0..runs {
                let command = sandbox.execute(MIXED[n % MIXED.len()]);
                // Every thirteenth command is cancelled at an arbitrary moment.
                if n % 13 == 12 {
                    let _ = tokio::time::timeout(Duration::from_micros(n as u64 % 300), command).await;
                } else {
                    command.await.unwrap();
                }
            }
            // Killed processes may still be ending.
            while sandbox.kernel().processes() > 0 {
                tokio::task::yield_now().await;
            }
        });
    };
    round(500);
    let (files, threads, resident) = footprint();
    round(10_000);
    let (files_after, threads_after, resident_after) = footprint();
    assert_eq!(sandbox.kernel().memory().held(), 0);
    // Other tests run in the same process and change the figures a little; ten thousand leaks would exceed the margin.
    assert!(files_after < files + 100, "{files} open files before, {files_after} after");
    assert!(threads_after < threads + 100, "{threads} threads before, {threads_after} after");
    assert!(resident_after < resident + (64 << 20), "{resident} bytes before, {resident_after} after");
}

/// The runtime is an embedder's, without a bound on its threads. Its threads have a name of their own and are counted
/// by it.
#[test]
fn a_thousand_file_operations_at_once_take_a_bounded_number_of_threads() {
    use isopod::backend::{Backend, Directory, GrepRequest, ReadRequest};
    const NAME: &str = "an embedder's";
    let host = directory(&[]);
    for n in 0..50 {
        std::fs::write(host.path().join(format!("f{n}")), vec![b'x'; 1 << 20]).unwrap();
    }
    let files = Directory::open(host.path(), &isopod::Limits::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).thread_name(NAME).enable_all().build().unwrap();
    runtime.block_on(async {
        let reads =
            futures::future::join_all((0..1000).map(|n| files.read(ReadRequest::bytes(format!("/f{}", n % 50)))));
        let searches = futures::future::join_all((0..100).map(|_| files.grep(GrepRequest::literal("nothing", "/"))));
        let (reads, searches) = tokio::join!(reads, searches);
        assert!(reads.iter().all(|read| read.is_ok()) && searches.iter().all(|search| search.is_ok()));
    });
    // Idle threads live for ten seconds, so this is the maximum so far.
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let threads = names.filter(|name| name.trim_end() == NAME).count();
    let cores = std::thread::available_parallelism().unwrap().get();
    let most = (isopod::limits::FILE_THREADS.0 * cores).max(isopod::limits::FILE_THREADS.1);
    // Two threads run the tasks. A thread that has just finished may not yet count as idle when the next work arrives,
    // so a few more are allowed.
    let most = most + 2 + most / 4;
    assert!((3..=most).contains(&threads), "{threads} threads, {most} are allowed");
    println!("{threads} threads for 1,100 file operations at once");
}
