//! What only few files may name.

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
    assert_eq!(naming(&["src/kernel", "src/runtime", "src/vfs"], &words), Vec::<String>::new());
}

#[test]
fn only_files_that_are_named_touch_the_file_system_of_the_host() {
    // clippy.toml forbids std::fs; these files lift that lint, each with its reason.
    let lifted = naming(&["src"], &["clippy::disallowed_methods"]);
    let handles = naming(&["src"], &["cap_std::", "rustix::fs"]);
    assert_eq!((lifted, handles), (Vec::new(), Vec::new()));
}

#[test]
fn deadlines_use_the_monotonic_clock() {
    let parts = ["src/kernel", "src/runtime", "src/sandbox", "src/backend", "src/worker"];
    // Times of files, and of records.
    let expected = ["src/backend/layer/audit.rs", "src/backend/store/file_system.rs"];
    assert_eq!(naming(&parts, &["SystemTime::now"]), expected);
}
