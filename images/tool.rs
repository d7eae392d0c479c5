//! Tools of the build that come from the Python package index, pinned by digest.
//!
//! Tools and their results are in the guest's target directory, under the digest of their inputs. Each is made once,
//! and a directory that exists is complete.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::Result;

/// Returns the directory with the packages of a list of requirements, and downloads them the first time. `what` is the
/// part of the sandbox that needs them, for messages.
pub(crate) fn fetch(place: &Path, requirements: &Path, what: &str) -> Result<PathBuf> {
    let tool = place.join(format!("tool-{:016x}", digest([requirements])?));
    if tool.exists() {
        return Ok(tool);
    }
    in_place(&tool, |fresh| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]);
        pip.args(["--only-binary", ":all:", "--target"]).arg(fresh).arg("--requirement").arg(requirements);
        // While pip builds our Python package, it hides itself by this variable.
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

/// Runs a command. An error is one line of its complaints.
pub(crate) fn succeed(command: &mut Command) -> std::result::Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Makes a directory beside its final path and renames it when it is complete, so that an interrupted build leaves no
/// partial one.
pub(crate) fn in_place(place: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fresh = place.with_extension(format!("{}.tmp", std::process::id()));
    fs::create_dir_all(&fresh)?;
    make(&fresh)?;
    Ok(fs::rename(&fresh, place)?)
}

/// Returns a digest of the files' names and contents, and of the machine.
pub(crate) fn digest<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut digest = DefaultHasher::new();
    env::var("HOST")?.hash(&mut digest);
    for file in files {
        (file, fs::read(file)?).hash(&mut digest);
    }
    Ok(digest.finish())
}
