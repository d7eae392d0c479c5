//! `isopod python add` is killed at one system call after another: the packages of a user are either the old ones or
//! the new ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use isopod::Sandbox;

use crate::faults::calls;

/// Calls at which the process is killed.
const CALLS: &str = "?mkdir,?mkdirat,?openat,?openat2,?copy_file_range,?pwrite64,?syncfs,?flock,?rename,?renameat2,?rmdir,\
                     ?unlinkat";
/// Kills in the short form.
const TRIALS: usize = 6;

/// Makes a wheel in the sandbox: a package of a hundred files, each with the version in it.
const WHEEL: &str = "
import base64, hashlib, sys, zipfile
name, version = sys.argv[1:]
info = f'{name}-{version}.dist-info'
files = {f'{name}/part{n}.py': f'version = {version!r}\\n' * 100 for n in range(100)}
files[f'{name}/__init__.py'] = ''
files[f'{info}/METADATA'] = f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n'
files[f'{info}/WHEEL'] = 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'
sums = {p: base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode() for p, t in files.items()}
record = ''.join(f'{p},sha256={sums[p]},{len(t)}\\n' for p, t in files.items())
files[f'{info}/RECORD'] = record + f'{info}/RECORD,,\\n'
with zipfile.ZipFile(f'{name}-{version}-py3-none-any.whl', 'w') as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
";

fn wheel(directory: &Path, version: &str) -> String {
    let sandbox = Sandbox::builder().mount(directory, "/workspace").build().unwrap();
    let made = sandbox.execute_blocking(isopod::Command::program(["python3", "-c", WHEEL, "one", version])).unwrap();
    assert_eq!(made.exit_code, 0, "{}", String::from_utf8_lossy(&made.output));
    directory.join(format!("one-{version}-py3-none-any.whl")).to_str().unwrap().to_owned()
}

/// Adds a wheel, under a tracer if one is given.
fn add(data: &Path, wheel: &str, tracer: &[&str]) -> Option<Output> {
    let mut words = tracer.to_vec();
    words.extend([env!("CARGO_BIN_EXE_isopod"), "python", "add", wheel]);
    Command::new(words[0]).args(&words[1..]).env("XDG_DATA_HOME", data).output().ok()
}

/// Returns the files of the packages.
fn packages(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let site = data.join("isopod-python/site-packages");
    let (mut files, mut todo) = (BTreeMap::new(), vec![site.clone()]);
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(&site).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn names(data: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(data.join("isopod-python")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_kill_at_any_call_of_an_added_package_leaves_it_whole() {
    let wheels = tempfile::tempdir().unwrap();
    let [old, new] = ["1.0", "2.0"].map(|version| wheel(wheels.path(), version));
    let with_old = || {
        let data = tempfile::tempdir().unwrap();
        let added = add(data.path(), &old, &[]).unwrap();
        assert!(added.status.success(), "{added:?}");
        data
    };
    let data = with_old();
    let before = packages(data.path());
    let log = data.path().join("strace");
    let trace = format!("trace={CALLS}");
    let tracer = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", &trace];
    let Some(traced) = add(data.path(), &new, &tracer).filter(|traced| traced.status.success()) else {
        println!("left out: strace is not installed, or may not trace");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&traced.stdout), "Successfully installed one-2.0\n");
    let after = packages(data.path());
    assert!(before.len() > 100 && before != after);
    assert_eq!(names(data.path()), ["before", "site-packages"]);

    let all = calls(&std::fs::read_to_string(&log).unwrap());
    let stride = if std::env::var_os("ISOPOD_LONG").is_some() { 1 } else { all.len().div_ceil(TRIALS) };
    let (mut trials, mut changed) = (0, 0);
    // The last call of each kind is always tried: one of them exchanges the directories.
    let last = |at: usize| all.get(at + 1).is_none_or(|next| next.0 != all[at].0);
    for (call, n) in all.iter().enumerate().filter(|(at, _)| at % stride == 0 || last(*at)).map(|(_, call)| call) {
        let data = with_old();
        let inject = format!("inject={call}:signal=KILL:when={n}");
        let killed = add(data.path(), &new, &["strace", "-f", "-o", "/dev/null", "-e", &trace, "-e", &inject]).unwrap();
        let found = packages(data.path());
        assert!(found == before || found == after, "{inject}: {} files, {killed:?}", found.len());
        changed += usize::from(found == after);
        // The next `add` succeeds and removes all leftovers.
        let added = add(data.path(), &new, &[]).unwrap();
        assert!(added.status.success(), "{inject}: {added:?}");
        assert_eq!(packages(data.path()), after, "{inject}");
        assert_eq!(names(data.path()), ["before", "site-packages"], "{inject}");
        trials += 1;
    }
    println!("{trials} kills at {} calls: {changed} times it was added before, never by half", all.len());
}
