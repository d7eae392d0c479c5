//! The Rust files of this repository.

use std::path::{Path, PathBuf};

/// A source file.
pub(crate) struct Source {
    /// The path below the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// Parses the file.
    pub(crate) fn syntax(&self) -> syn::File {
        syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The lines that are not comments.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.trim_start().starts_with("//"))
    }
}

/// Reads the files below some directories, or files, in the order of their names.
pub(crate) fn sources(below: &[&str]) -> Vec<Source> {
    let root = root();
    let mut todo: Vec<PathBuf> = below.iter().map(|name| root.join(name)).collect();
    let mut files = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            todo.extend(entries.filter(|path| !path.ends_with("target")));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push(Source { name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
    assert!(!files.is_empty(), "no source in {below:?}");
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// The files that have one of these words in a line that is not a comment.
pub(crate) fn naming(below: &[&str], words: &[&str]) -> Vec<String> {
    let holds = |source: &Source| source.code().any(|line| words.iter().any(|word| line.contains(word)));
    sources(below).into_iter().filter(holds).map(|source| source.name).collect()
}

/// Reads a file of the repository.
pub(crate) fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
