//! The changes to be disturbed: preparation, action, and a check of the result.

use std::collections::BTreeMap;
use std::path::Path;

use isopod::backend::{Backend, EditRequest, ReadRequest, SandboxBackend, Store, Upload, WriteRequest};
use isopod::error::Errno;
use isopod::provider::{Config, Metadata, Provider};
use isopod::vfs::RESERVED;
use isopod::{Limits, Sandbox};

use crate::run;

/// A change to files below a directory.
pub struct Change {
    pub name: &'static str,
    pub prepare: fn(&Path),
    /// The action, run in a process of its own.
    pub act: fn(&Path) -> Result<(), String>,
    /// Checks the files. The outcome is `None` if the process was killed.
    pub check: fn(&Path, Option<&Result<(), String>>),
    /// True if the action uses more than one thread. Its `read` and `write` calls are then left alone, because threads
    /// wake one another with them.
    pub has_threads: bool,
}

pub const CHANGES: &[Change] = &[
    Change { name: "write", prepare: before, act: write, check: written, has_threads: false },
    Change { name: "commit", prepare: before, act: commit, check: committed, has_threads: false },
    Change { name: "backend", prepare: before, act: backend, check: changed, has_threads: true },
    Change { name: "store", prepare: store_before, act: store, check: stored, has_threads: true },
    Change { name: "provider", prepare: provider_before, act: provider, check: provided, has_threads: true },
];

fn old(name: &str) -> String {
    format!("old {name}\n").repeat(20_000)
}

fn new(name: &str) -> String {
    format!("new {name}\n").repeat(30_000)
}

/// Returns all files below a directory with their contents.
fn tree(at: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut todo = vec![at.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
                files.insert(path.strip_prefix(at).unwrap().to_str().unwrap().to_owned(), text);
            }
        }
    }
    files
}

fn sandbox(at: &Path) -> Result<Sandbox, String> {
    Sandbox::builder().mount(at.join("work"), "/workspace").build().map_err(|error| error.to_string())
}

/// Returns the files that a new sandbox on the directory finds. Temporary files of killed processes must be gone.
fn found(at: &Path) -> BTreeMap<String, String> {
    sandbox(at).unwrap().fs().read_dir("/workspace").unwrap();
    let found = tree(&at.join("work"));
    let left: Vec<_> = found.keys().filter(|name| name.contains(RESERVED)).collect();
    assert!(left.is_empty(), "{left:?}");
    found
}

fn before(at: &Path) {
    for name in ["file", "keep", "d/inner", "gone/1", "gone/2"] {
        let path = at.join("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, old(name)).unwrap();
    }
}

fn is_whole(name: &str, text: &str) {
    assert!(text == old(name) || text == new(name), "{name} is torn: {} bytes", text.len());
}

fn write(at: &Path) -> Result<(), String> {
    let sandbox = sandbox(at)?;
    sandbox.fs().write("file", new("file")).map_err(|error| error.to_string())
}

fn written(at: &Path, outcome: Option<&Result<(), String>>) {
    let found = found(at);
    assert_eq!(found.len(), 5, "{:?}", found.keys());
    is_whole("file", &found["file"]);
    match outcome {
        Some(Ok(())) => assert_eq!(found["file"], new("file")),
        Some(Err(why)) => assert_eq!(found["file"], old("file"), "it said: {why}"),
        None => {}
    }
}

fn commit(at: &Path) -> Result<(), String> {
    let sandbox = Sandbox::builder().mount_overlay(at.join("work"), "/workspace").build();
    let sandbox = sandbox.map_err(|error| error.to_string())?;
    let files = sandbox.fs();
    let changed = files
        .write("file", new("file"))
        .and_then(|()| files.write("d/inner", new("d/inner")))
        .and_then(|()| match files.stat("gone") {
            // The commit is repeated, and the directory is already removed.
            Err(error) if error.errno == Errno::NoEntry => Ok(()),
            Err(error) => Err(error),
            Ok(_) => files.remove_dir_all("gone"),
        })
        .and_then(|()| files.create_dir_all("made/deep"))
        .and_then(|()| files.write("made/deep/3", new("made/deep/3")))
        .and_then(|()| files.write("made/4", new("made/4")));
    changed.map_err(|error| error.to_string())?;
    let (_, overlay) = sandbox.overlays().remove(0);
    overlay.commit().map_err(|error| error.to_string())
}

/// Checks a commit. It may be partial, but no file may be torn, and a repeated commit completes it.
fn committed(at: &Path, outcome: Option<&Result<(), String>>) {
    let all: Vec<&str> = vec!["d/inner", "file", "keep", "made/4", "made/deep/3"];
    let check = |is_done: bool| {
        let found = found(at);
        found.iter().for_each(|(name, text)| is_whole(name, text));
        for name in ["file", "keep", "d/inner"] {
            assert!(found.contains_key(name), "{name} is lost");
        }
        assert_eq!(found["keep"], old("keep"));
        if is_done {
            assert_eq!(found.keys().collect::<Vec<_>>(), all);
            for name in all.iter().filter(|name| **name != "keep") {
                assert_eq!(found[*name], new(name));
            }
        }
    };
    check(outcome == Some(&Ok(())));
    commit(at).unwrap();
    check(true);
}

/// Runs the operations of a backend, one after another.
fn backend(at: &Path) -> Result<(), String> {
    let backend = isopod::backend::Isopod::new("chaos", sandbox(at)?).map_err(|error| error.to_string())?;
    run(async {
        backend.write(WriteRequest::new("file", new("file"))).await?;
        backend.edit(EditRequest::new("d/inner", "old", "new").everywhere()).await?;
        backend.upload(vec![Upload::new("made/4", new("made/4"))]).await.remove(0)?;
        backend.delete("gone").await
    })
    .map_err(|error: isopod::backend::BackendError| error.to_string())
}

fn changed(at: &Path, outcome: Option<&Result<(), String>>) {
    let found = found(at);
    let edited = old("d/inner").replace("old", "new");
    for (name, text) in &found {
        if name != "d/inner" || *text != edited {
            is_whole(name, text);
        }
    }
    for name in ["file", "keep", "d/inner"] {
        assert!(found.contains_key(name), "{name} is lost");
    }
    // A later operation is never there without the earlier ones.
    let done = [found["file"] == new("file"), found["d/inner"] == edited, found.contains_key("made/4")];
    assert!(done.is_sorted_by(|first, then| first >= then), "{done:?}");
    if outcome == Some(&Ok(())) {
        assert_eq!(done, [true; 3]);
        assert!(!found.contains_key("gone/1") && !found.contains_key("gone/2"));
    }
}

fn open_store(at: &Path) -> Result<Store, String> {
    Store::open(at.join("store.redb"), &Limits::default()).map_err(|error| error.to_string())
}

fn store_before(at: &Path) {
    let store = open_store(at).unwrap();
    run(store.write(WriteRequest::new("/file", old("file")))).unwrap();
}

fn store(at: &Path) -> Result<(), String> {
    let store = open_store(at)?;
    run(store.write(WriteRequest::new("/file", new("file")))).map(drop).map_err(|error| error.to_string())
}

fn stored(at: &Path, outcome: Option<&Result<(), String>>) {
    let store = open_store(at).unwrap();
    let content = run(store.download(vec!["/file".to_owned()])).remove(0).unwrap();
    let text = String::from_utf8(content).unwrap();
    is_whole("file", &text);
    match outcome {
        Some(Ok(())) => assert_eq!(text, new("file")),
        Some(Err(why)) => assert_eq!(text, old("file"), "it said: {why}"),
        None => {}
    }
    // The store can be written again.
    run(store.write(WriteRequest::new("/file", new("file")))).unwrap();
}

/// A word for metadata.
const WORD: &str = "word ";

fn provider_before(at: &Path) {
    run(async {
        let provider = Provider::open(Config::new(at.join("root"))).unwrap();
        let id = provider.acquire("thread", None).await.unwrap();
        provider.get(id).unwrap().write(WriteRequest::new("file", old("file"))).await.unwrap();
        provider.release(id).await.unwrap();
    });
}

fn provider(at: &Path) -> Result<(), String> {
    run(async {
        let provider = Provider::open(Config::new(at.join("root")))?;
        let id = provider.acquire("thread", None).await?;
        let lease = provider.get(id)?;
        lease.write(WriteRequest::new("file", new("file"))).await?;
        drop(lease);
        provider.set_metadata(id, Metadata::from([("word".to_owned(), WORD.repeat(100))])).await?;
        let fork = provider.fork(id, Metadata::new()).await?;
        provider.release(id).await?;
        provider.delete(fork).await?;
        provider.acquire("another thread", None).await?;
        provider.shutdown().await;
        Ok(())
    })
    .map_err(|error: isopod::provider::ProviderError| error.to_string())
}

fn provided(at: &Path, outcome: Option<&Result<(), String>>) {
    run(async {
        let root = at.join("root");
        let provider = Provider::open(Config::new(&root)).unwrap();
        let infos = provider.list(None).await.unwrap().items;
        let damaged: Vec<_> = infos.iter().filter(|info| info.damage.is_some()).collect();
        assert!(damaged.is_empty(), "{damaged:?}");
        let words = infos.iter().filter_map(|info| info.metadata.get("word"));
        assert!(words.clone().all(|word| *word == WORD.repeat(100)));
        if outcome == Some(&Ok(())) {
            assert_eq!((infos.len(), words.count()), (2, 1));
        }
        let id = provider.acquire("thread", None).await.unwrap();
        let lease = provider.get(id).unwrap();
        assert!(lease.read(ReadRequest::bytes("file")).await.is_ok());
        let executed = lease.execute("head -c 3 file; sed -n '$=' file".into()).await.unwrap();
        let text = String::from_utf8(executed.stdout).unwrap();
        assert!(["old20000\n", "new30000\n"].contains(&text.as_str()), "{text}");
        drop(lease);
        provider.release(id).await.unwrap();
        for info in infos {
            assert!(provider.delete(info.id).await.unwrap());
        }
        drop(provider);
        let left: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == ".lock"), "{left:?}");
    });
}
