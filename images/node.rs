//! A C compiler for the engine of `interpreters/node`, which is C in a Rust crate.
//!
//! Zig is clang with wasi-libc's headers in one package, so that a machine with Rust and pip needs nothing more. Only
//! the engine's C is compiled with it; what links is Rust's, with the libc that comes with the target.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::{Result, tool};

const REQUIREMENTS: &str = "../interpreters/node/requirements.txt";
/// What the crate that compiles C looks for.
const COMPILER: &str = "CC_wasm32_wasip2";

/// Lets a build of the guest compile C, with the compiler that its caller names or with one that is fetched.
pub(crate) fn prepare(shared: &Path, guest: &mut Command) -> Result<()> {
    // The engine's crate would fetch an SDK of its own otherwise.
    guest.env("RQUICKJS_SYS_NO_WASI_SDK", "1");
    let before = quoted(&env::current_dir()?.join("../interpreters/node/engine.h"));
    guest.env("CC_SHELL_ESCAPED_FLAGS", "1").env("CFLAGS_wasm32_wasip2", format!("-include {before}"));
    println!("cargo::rerun-if-env-changed={COMPILER}");
    if env::var_os(COMPILER).is_some() {
        return Ok(());
    }
    let place = shared.join("node");
    let zig = tool::fetch(&place, Path::new(REQUIREMENTS), "JavaScript")?.join("ziglang/zig");
    let cache = place.join("cache");
    // Zig has a name of its own for the target, and checks in the code unless it is told not to.
    let compiler = place.join("cc");
    let arguments = "for one do shift; case $one in --target=*) ;; *) set -- \"$@\" \"$one\" ;; esac; done\n";
    write_script(&compiler, &zig, &cache, arguments, "cc -target wasm32-wasi -fno-sanitize=undefined")?;
    let archiver = place.join("ar");
    write_script(&archiver, &zig, &cache, "", "ar")?;
    guest.env(COMPILER, compiler).env("AR_wasm32_wasip2", archiver);
    Ok(())
}

fn write_script(path: &Path, zig: &Path, cache: &Path, arguments: &str, command: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let (zig, cache) = (quoted(zig), quoted(cache));
    let text = format!(
        "#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}\n{arguments}exec {zig} {command} \"$@\"\n"
    );
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
