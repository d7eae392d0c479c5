//! Promises about the source that are read off it.

use std::path::{Path, PathBuf};

/// The Rust files below a directory of this repository, with their text.
fn sources(below: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut todo, mut files): (Vec<PathBuf>, Vec<_>) = (vec![root.join(below)], Vec::new());
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!files.is_empty(), "there is nothing in {below}");
    files.sort();
    files
}

/// The files that hold one of these in a line that is not a comment.
fn holding(below: &[&str], words: &[&str]) -> Vec<String> {
    let holds = |text: &str| {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter().any(|line| words.iter().any(|word| line.contains(word)))
    };
    let files = below.iter().flat_map(|below| sources(below)).filter(|(_, text)| holds(text));
    files.map(|(name, _)| name).collect()
}

#[test]
fn unsafe_code_is_in_one_file_of_the_host() {
    // The lint denies it; this tells where the lint is lifted.
    let words = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe(", "(unsafe_code)"];
    assert_eq!(holding(&["src"], &words), ["src/runtime/load.rs"]);
    assert_eq!(holding(&["images", "precompile"], &words), ["precompile/src/main.rs"]);
    // In the guest, where it endangers the guest alone: libc's calls, and what the linker has to find. What means harm
    // is there for nothing else.
    let mut guest = holding(&["guest"], &words);
    guest.retain(|file| !file.starts_with("guest/hostile/"));
    assert_eq!(guest, ["guest/sys/src/entry.rs", "guest/sys/src/fs.rs", "guest/sys/src/native.rs"]);
    // The bytes of a typed array, once: the engine's binding has no other way to them.
    let view = "interpreters/node/src/natives/view.rs";
    assert_eq!(holding(&["interpreters"], &words), [view]);
    let calls = sources(view).remove(0).1.matches("unsafe {").count();
    assert_eq!(calls, 1);
    let lints = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(lints.contains("unsafe_code = \"deny\""));
}

#[test]
fn what_ends_a_command_goes_by_the_clock_that_does_not_jump() {
    let parts = ["src/kernel", "src/runtime", "src/sandbox", "src/backend", "src/worker"];
    // Times of files, and of records.
    let expected = ["src/backend/layer/audit.rs", "src/backend/store/file_system.rs"];
    assert_eq!(holding(&parts, &["SystemTime::now"]), expected);
}

#[test]
fn every_dependency_is_pinned_by_its_digest_and_comes_from_one_registry() {
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    let lock: toml::Table = toml::from_str(&lock).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let sources: Vec<(&str, &str)> = packages
        .iter()
        .filter_map(|package| Some((package["name"].as_str().unwrap(), package.get("source")?.as_str().unwrap())))
        .collect();
    assert!(sources.len() > 100);
    for (name, source) in &sources {
        assert!(source.starts_with("registry+") && *source == sources[0].1, "{name} comes from {source}");
    }
    // What has no source is ours.
    for package in packages.iter().filter(|package| package.get("source").is_some()) {
        assert_eq!(package["checksum"].as_str().map(str::len), Some(64), "{package:?}");
    }
}
