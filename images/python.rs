//! Makes a component of CPython and of `interpreters/python`.
//!
//! CPython for WASI comes from PyPI, inside the tool that makes components of it. The result is cached (`tool`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Result;
use super::tool::{digest, fetch, in_place, succeed};

const SOURCE: &str = "../interpreters/python";

/// The result of the build.
pub(crate) struct Python {
    /// The component.
    pub(crate) component: PathBuf,
    /// The standard library's files: a line `offset length path` for each, and their bytes.
    pub(crate) index: PathBuf,
    pub(crate) files: PathBuf,
}

/// Makes the component, unless it is cached. `precompile` is the build's own tool.
pub(crate) fn build(shared: &Path, precompile: &Path) -> Result<Python> {
    let python = shared.join("python");
    let tool = fetch(&python, &Path::new(SOURCE).join("requirements.txt"), "Python")?;
    let mut inputs = files_below(Path::new(SOURCE))?;
    inputs.extend(["../wit/kernel.wit", "../precompile/src/immortal.rs", "python.rs"].map(PathBuf::from));
    let place = python.join(format!("made-{:016x}", digest(inputs.iter().map(PathBuf::as_path))?));
    if !place.exists() {
        componentize(&tool, precompile, &place)?;
    }
    let made = |name: &str| place.join(name);
    Ok(Python { component: made("python.wasm"), index: made("library.txt"), files: made("library.bin") })
}

fn componentize(tool: &Path, precompile: &Path, place: &Path) -> Result<()> {
    in_place(place, |fresh| {
        // A copy, because Python writes its caches beside the modules, and the library to the directory it was started
        // in.
        let app = fresh.join("app");
        for file in files_below(&Path::new(SOURCE).join("app"))? {
            let copy = app.join(file.strip_prefix(Path::new(SOURCE).join("app"))?);
            fs::create_dir_all(copy.parent().unwrap_or(&app))?;
            fs::copy(&file, copy)?;
        }
        let out = fresh.join("out");
        fs::create_dir_all(&out)?;
        let mut python = Command::new("python3");
        python.args([
            "-I",
            "-S",
            "-c",
            "import sys; sys.path.insert(0, sys.argv.pop(1)); import componentize_py as c; c.script()",
        ]);
        python.arg(tool).arg("-q");
        python.args(["-d", "../wit/kernel.wit", "-d"]).arg(Path::new(SOURCE).join("world.wit"));
        python
            .args(["-w", "isopod:python/python", "componentize", "python_component", "-p"])
            .arg(&out)
            .arg("-p")
            .arg(&app);
        python.arg("-o").arg(fresh.join("python.wasm"));
        // An environment without packages: the tool would include those of this machine otherwise.
        let nothing = fresh.join("nothing");
        fs::create_dir_all(nothing.join("lib/python3/site-packages"))?;
        python.env("VIRTUAL_ENV", &nothing).env("RUST_BACKTRACE", "0");
        succeed(&mut python).map_err(|why| format!("making a component of Python: {why}"))?;
        let mut immortal = Command::new(precompile);
        immortal.arg("immortal").arg(fresh.join("python.wasm")).arg(out.join("objects.bin"));
        succeed(&mut immortal).map_err(|why| format!("making Python's objects immortal: {why}"))?;
        for name in ["library.txt", "library.bin"] {
            fs::rename(out.join(name), fresh.join(name))?;
        }
        [out, app, nothing].iter().try_for_each(|made| Ok(fs::remove_dir_all(made)?))
    })
}

fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}
