//! Makes a component of CPython and of `interpreters/python`.
//!
//! CPython for WASI comes from PyPI, inside the tool that makes components of it, pinned by digest. Both the tool and
//! what it makes lie in the guest's target directory by the digest of what they are made of: they are fetched and made
//! once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::Result;

const SOURCE: &str = "../interpreters/python";

/// What was made.
pub(crate) struct Python {
    /// The component.
    pub(crate) component: PathBuf,
    /// The standard library's files: a line `offset length path` for each, and their bytes.
    pub(crate) index: PathBuf,
    pub(crate) files: PathBuf,
}

/// Makes the component, or finds it made.
pub(crate) fn build(shared: &Path) -> Result<Python> {
    let requirements = Path::new(SOURCE).join("requirements.txt");
    let tool = shared.join("python").join(format!("tool-{:016x}", digest([requirements.as_path()])?));
    if !tool.exists() {
        install(&requirements, &tool)?;
    }
    let mut inputs = files_below(Path::new(SOURCE))?;
    inputs.push("../wit/kernel.wit".into());
    let place = shared.join("python").join(format!("made-{:016x}", digest(inputs.iter().map(PathBuf::as_path))?));
    if !place.exists() {
        componentize(&tool, &place)?;
    }
    let made = |name: &str| place.join(name);
    Ok(Python { component: made("python.wasm"), index: made("library.txt"), files: made("library.bin") })
}

fn install(requirements: &Path, tool: &Path) -> Result<()> {
    in_place(tool, |fresh| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]);
        pip.args(["--only-binary", ":all:", "--target"]).arg(fresh).arg("--requirement").arg(requirements);
        // When pip builds this very package, it has hidden itself by this variable.
        pip.env_remove("PYTHONPATH");
        succeed(&mut pip).map_err(|why| {
            format!(
                "Python in the sandbox needs python3 with pip and a package index to build, or build with \
                 --no-default-features for a sandbox without it ({why})"
            )
            .into()
        })
    })
}

fn componentize(tool: &Path, place: &Path) -> Result<()> {
    in_place(place, |fresh| {
        // A copy: Python leaves its caches beside what it imports, and writes the library where it was started.
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
        // An environment without packages: the tool would take those of this machine along.
        let nothing = fresh.join("nothing");
        fs::create_dir_all(nothing.join("lib/python3/site-packages"))?;
        python.env("VIRTUAL_ENV", &nothing).env("RUST_BACKTRACE", "0");
        succeed(&mut python).map_err(|why| format!("making a component of Python: {why}"))?;
        for name in ["library.txt", "library.bin"] {
            fs::rename(out.join(name), fresh.join(name))?;
        }
        [out, app, nothing].iter().try_for_each(|made| Ok(fs::remove_dir_all(made)?))
    })
}

/// Runs a command, or says in one line what it complained of.
fn succeed(command: &mut Command) -> std::result::Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Makes a directory beside its place and moves it there when it is whole: what is there was not interrupted.
fn in_place(place: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fresh = place.with_extension(format!("{}.tmp", std::process::id()));
    fs::create_dir_all(&fresh)?;
    make(&fresh)?;
    Ok(fs::rename(&fresh, place)?)
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

/// Of the files' names and contents, and of the interpreter that makes something of them.
fn digest<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut digest = DefaultHasher::new();
    env::var("HOST")?.hash(&mut digest);
    for file in files {
        (file, fs::read(file)?).hash(&mut digest);
    }
    Ok(digest.finish())
}
