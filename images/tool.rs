//! Tools of the build that come from the Python package index, pinned by digest.
//!
//! They lie in the guest's target directory by the digest of what they are made of, as does what they make: both are
//! there once, and what is there is whole.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::Result;

/// Where the packages of a list of requirements lie. They are fetched if they are not there yet; `what` of the sandbox
/// needs them.
pub(crate) fn fetch(place: &Path, requirements: &Path, what: &str) -> Result<PathBuf> {
    let tool = place.join(format!("tool-{:016x}", digest([requirements])?));
    if tool.exists() {
        return Ok(tool);
    }
    in_place(&tool, |fresh| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]);
        pip.args(["--only-binary", ":all:", "--target"]).arg(fresh).arg("--requirement").arg(requirements);
        // When pip builds the package of ours for Python, it has hidden itself by this variable.
        pip.env_remove("PYTHONPATH");
        succeed(&mut pip).map_err(|why| {
            format!(
                "{what} in the sandbox needs python3 with pip and a package index to build, or build with \
                 --no-default-features for a sandbox without it ({why})"
            )
            .into()
        })
    })?;
    Ok(tool)
}

/// Runs a command, or says in one line what it complained of.
pub(crate) fn succeed(command: &mut Command) -> std::result::Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Makes a directory beside its place and moves it there when it is whole: what is there was not interrupted.
pub(crate) fn in_place(place: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fresh = place.with_extension(format!("{}.tmp", std::process::id()));
    fs::create_dir_all(&fresh)?;
    make(&fresh)?;
    Ok(fs::rename(&fresh, place)?)
}

/// Of the files' names and contents, and of the machine that makes something of them.
pub(crate) fn digest<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut digest = DefaultHasher::new();
    env::var("HOST")?.hash(&mut digest);
    for file in files {
        (file, fs::read(file)?).hash(&mut digest);
    }
    Ok(digest.finish())
}
