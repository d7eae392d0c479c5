//! A C compiler for the engine of `interpreters/node`, which is C in a Rust crate.
//!
//! Zig is clang with wasi-libc's headers in one package, so that a machine with Rust and pip needs nothing more. Only
//! the engine's C is compiled with it; Rust's linker links it, with the libc of the target.
//!
//! The compiler is always called by a script that passes it the repaired engine. The script calls this build's own
//! program for the repair: it sees the very file that is compiled, and needs no other tool.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::engine::FILE;
use super::{Result, tool};

/// The header that is included before the engine's files.
const BEFORE: &str = "../interpreters/node/engine.h";
const REQUIREMENTS: &str = "../interpreters/node/requirements.txt";
/// The variable in which the crate that compiles C looks for a compiler.
const COMPILER: &str = "CC_wasm32_wasip2";

/// The argument by which the script asks for a repair.
pub(crate) const REPAIR: &str = "repair";

/// Lets a build of the guest compile C, with the compiler that the caller names or with a downloaded one.
pub(crate) fn prepare(shared: &Path, guest: &mut Command) -> Result<()> {
    // The engine's crate would download an SDK of its own otherwise.
    guest.env("RQUICKJS_SYS_NO_WASI_SDK", "1");
    println!("cargo::rerun-if-env-changed={COMPILER}");
    let place = shared.join("node");
    fs::create_dir_all(&place)?;
    let (compiler, archiver) = (place.join("cc"), place.join("ar"));
    if let Ok(named) = env::var(COMPILER) {
        write_script(&compiler, &format!("{}exec {named} \"$@\"\n", repaired("")))?;
    } else {
        let zig = tool::fetch(&place, Path::new(REQUIREMENTS), "JavaScript")?.join("ziglang/zig");
        let (zig, cache) = (quoted(&zig), quoted(&place.join("cache")));
        let zig = format!("export ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}\nexec {zig}");
        // Zig has its own name for the target, and adds checks to the code by default.
        let options = "-target wasm32-wasi -fno-sanitize=undefined";
        write_script(&compiler, &format!("{}{zig} cc {options} \"$@\"\n", repaired("--target=*) ;;\n")))?;
        write_script(&archiver, &format!("{zig} ar \"$@\"\n"))?;
        guest.env("AR_wasm32_wasip2", archiver);
    }
    // In the environment and not in the script: each profile has its own program, and they share the engine.
    guest.env("ISOPOD_REPAIR", env::current_exe()?);
    // The crate that compiles C looks at these flags to decide whether to compile again.
    let before = env::current_dir()?.join(BEFORE);
    let made_of = tool::digest([Path::new(BEFORE), Path::new("engine.rs"), &compiler])?;
    let flags = format!("-include {} -DISOPOD_MADE_OF=0x{made_of:x}", quoted(&before));
    guest.env("CC_SHELL_ESCAPED_FLAGS", "1").env("CFLAGS_wasm32_wasip2", flags).env(COMPILER, compiler);
    Ok(())
}

/// Returns the begin of a script, which replaces the engine's file among its arguments by the repaired one. `cases`
/// handle other arguments.
fn repaired(cases: &str) -> String {
    let copy = "\"${one%.c}-repaired.c\"";
    format!(
        "for one do shift; case $one in\n{cases}*/{FILE}) \"$ISOPOD_REPAIR\" {REPAIR} \"$one\" {copy} || exit; \
         set -- \"$@\" {copy} ;;\n*) set -- \"$@\" \"$one\" ;;\nesac; done\n"
    )
}

fn write_script(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("#!/bin/sh\n{text}");
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
