//! Names that only few files may use.

use crate::tree::{naming, read, sources};

#[test]
fn unsafe_code_is_in_one_file_of_the_host() {
    // The lint denies it; this lists the files in which the lint is lifted.
    let words = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe(", "(unsafe_code)"];
    assert_eq!(naming(&["src"], &words), ["src/runtime/load.rs"]);
    assert_eq!(naming(&["images", "precompile"], &words), ["precompile/src/main.rs"]);
    // In the guest it endangers the guest alone: libc's calls, and symbols that the linker has to find. `hostile` exists
    // to misbehave.
    let mut guest = naming(&["guest"], &words);
    guest.retain(|file| !file.starts_with("guest/hostile/"));
    assert_eq!(guest, ["guest/sys/src/entry.rs", "guest/sys/src/fs.rs", "guest/sys/src/native.rs"]);
    // The bytes of a typed array, once: the engine's binding has no other way to them.
    let view = "interpreters/node/src/natives/view.rs";
    assert_eq!(naming(&["interpreters"], &words), [view]);
    assert_eq!(sources(&[view])[0].text.matches("unsafe {").count(), 1);
    assert!(read("Cargo.toml").contains("unsafe_code = \"deny\""));
}

#[test]
fn only_the_runtime_names_wasmtime() {
    let files = naming(&["src"], &["wasmtime::", "wasmtime_wasi::"]);
    let others: Vec<_> = files.iter().filter(|file| !file.starts_with("src/runtime/")).collect();
    assert_eq!(others, Vec::<&String>::new());
    assert!(!files.is_empty());
}

#[test]
fn the_kernel_knows_no_shell() {
    let words = ["/bin/sh", "/bin/bash", "\"sh\"", "\"bash\"", "isopod_syntax"];
    assert_eq!(naming(&["src/kernel", "src/runtime"], &words), Vec::<String>::new());
}

#[test]
fn only_files_that_are_named_touch_the_file_system_of_the_host() {
    // The command line opens the files that its caller names, and tests look at the host from outside.
    let library = |files: Vec<String>| -> Vec<String> {
        files.into_iter().filter(|file| !file.starts_with("src/cli/") && !file.contains("/tests")).collect()
    };
    // clippy.toml forbids std::fs and the like. These files lift the lint, each with its reason.
    let expected = [
        "src/runtime/ticker.rs",   // sleeps in a thread of its own
        "src/wall/calls.rs",       // reads the machine's kernel settings
        "src/wall/files.rs",       // opens the directories that the wall leaves open
        "src/wall/mod.rs",         // reads the number of threads
        "src/worker/bootstrap.rs", // a worker's process starts here
        "src/worker/spawner.rs",   // starts workers
    ];
    assert_eq!(library(naming(&["src"], &["clippy::disallowed_methods"])), expected);
    // Handles of the host: guests reach them through vfs/host_dir; a provider works on its own root.
    let mut handles = library(naming(&["src"], &["cap_std::", "rustix::fs"]));
    handles.retain(|file| !file.starts_with("src/vfs/host_dir/"));
    let expected = [
        "src/provider/config.rs",
        "src/provider/remove.rs",
        "src/provider/root.rs",
        "src/provider/sandbox_dir.rs",
        "src/sandbox/builder.rs", // opens the directories that the embedder mounts
    ];
    assert_eq!(handles, expected);
}

#[test]
fn deadlines_use_the_monotonic_clock() {
    let parts = ["src/kernel", "src/runtime", "src/sandbox", "src/backend", "src/worker"];
    // Times of files, and of records.
    let expected = ["src/backend/layer/audit.rs", "src/backend/store/file_system.rs"];
    assert_eq!(naming(&parts, &["SystemTime::now"]), expected);
}
