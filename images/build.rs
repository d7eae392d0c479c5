//! Builds the guest for wasm32-wasip2, compiles it to native code, and lists the images for the library.
//!
//! The guest and the build tool have a target directory of their own, `guest` beside the profiles: they are optimised
//! in every profile of the host, and a debug and a release build of the host share them.

#![allow(clippy::disallowed_methods, reason = "a build reaches the host: that is its work")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

mod engine;
mod node;
mod python;
mod tool;

use python::Python;

const TARGET: &str = "wasm32-wasip2";

/// The interpreters that a build can leave out, each a directory of `interpreters`.
const INTERPRETERS: [&str; 2] = ["node", "python"];

/// All inputs of the guest's build.
const INPUTS: [&str; 13] = [
    "build.rs",
    "engine.rs",
    "node.rs",
    "python.rs",
    "tool.rs",
    "../interpreters",
    "../guest",
    "../precompile",
    "../wit",
    "../src/runtime/tunables.rs",
    "../Cargo.toml",
    "../Cargo.lock",
    "../rust-toolchain.toml",
];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    // The compiler's wrapper calls this program while the guest is built.
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == node::REPAIR) {
        let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
        let [from, to] = files.as_slice() else { return fail("repair: which file, and where to?") };
        return engine::repair(from, to).unwrap_or_else(fail);
    }
    for input in INPUTS {
        println!("cargo::rerun-if-changed={input}");
    }
    if let Err(error) = build() {
        println!("cargo::error={error}");
        // Cargo shows the compiler's output only for a failed build.
        std::process::exit(1);
    }
}

fn fail(why: impl std::fmt::Display) {
    eprintln!("{why}");
    std::process::exit(1);
}

fn build() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    if env::var_os("CARGO_FEATURE_EMPTY").is_some() {
        let mut source = describe(&[], "", &out)?;
        describe_library(&mut source, None)?;
        return Ok(fs::write(out.join("images.rs"), source)?);
    }
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let shared = out.ancestors().nth(4).ok_or("OUT_DIR is not below a target directory")?.join("guest");
    add_target()?;

    let is_benchmark = env::var_os("CARGO_FEATURE_BENCH").is_some();
    let components = components()?;
    let crates: Vec<String> = components.iter().map(|name| format!("isopod-{name}")).collect();
    let mut guest = cargo(&shared)?;
    guest.args(["--profile", "guest", "--target", TARGET]);
    // memchr and the like are fast with SIMD, and every CPU that the code is compiled for has it.
    guest.env("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS", "-C target-feature=+simd128");
    for name in &crates {
        guest.args(["-p", name]);
    }
    if components.iter().any(|name| name == "node") {
        node::prepare(&shared, &mut guest)?;
    }
    run(&mut guest, "building the guest")?;
    let host = env::var("HOST")?;
    let tool = ["--profile", "tool", "-p", "isopod-precompile", "--target", &host];
    run(cargo(&shared)?.args(tool), "building the precompiler")?;

    if is_benchmark {
        // The same programs for this machine, as the base line that the sandbox is compared with.
        let mut natives = cargo(&shared)?;
        natives.args(["--profile", "guest", "--target", &host]);
        for name in ["bench", "find", "text"].iter().filter(|name| components.iter().any(|known| known == *name)) {
            natives.args(["-p", &format!("isopod-{name}")]);
        }
        run(&mut natives, "building programs for this machine")?;
        println!("cargo::rustc-env=ISOPOD_NATIVE={}", shared.join(&host).join("guest").display());
    }

    let images = shared.join("images");
    let precompiler = shared.join(&host).join("tool/isopod-precompile");
    let precompile = |metering: &str, components: &[PathBuf]| -> Result<String> {
        let mut precompile = Command::new(&precompiler);
        precompile.arg(env::var("TARGET")?).arg(&images).arg(metering).args(components);
        run(&mut precompile, "precompiling the guest")
    };
    let guests = crates.iter().map(|name| shared.join(TARGET).join("guest").join(format!("{name}.wasm")));
    let mut lines = precompile("both", &guests.collect::<Vec<_>>())?;
    let mut images_of = components;
    if !images_of.iter().any(|name| name == "node") {
        images_of.push("node".to_owned());
        lines.push_str("node\n");
    }
    images_of.push("python".to_owned());
    let with_python = env::var_os("CARGO_FEATURE_PYTHON").is_some();
    let python = if with_python { Some(python::build(&shared, &precompiler)?) } else { None };
    lines += &match &python {
        Some(python) => precompile("plain", std::slice::from_ref(&python.component))?,
        None => "python\n".to_owned(),
    };
    let mut source = describe(&images_of, &lines, &images)?;
    describe_library(&mut source, python.as_ref())?;
    fs::write(out.join("images.rs"), source)?;
    Ok(())
}

/// Returns the guest's components: the directories that list programs, and the JavaScript interpreter unless it is left
/// out. No program may be in two of them. Some components are not for users, and only built with the feature of their
/// name.
fn components() -> Result<Vec<String>> {
    let mut components = Vec::new();
    for entry in fs::read_dir("../guest")? {
        let entry = entry?;
        if entry.path().join("programs.txt").exists() {
            components.push(entry.file_name().into_string().map_err(|name| format!("{name:?} is no name"))?);
        }
    }
    let is_asked_for = |name: &str| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    components.retain(|name| !["bench", "hostile"].contains(&name.as_str()) || is_asked_for(name));
    components.sort();
    let mut owners = BTreeMap::new();
    for component in components.iter().map(String::as_str).chain(INTERPRETERS) {
        for program in programs(component)?.lines() {
            if let Some(other) = owners.insert(program.to_owned(), component) {
                return Err(format!("{program} is in {other} and in {component}").into());
            }
        }
    }
    if env::var_os("CARGO_FEATURE_NODE").is_some() {
        components.push("node".to_owned());
    }
    Ok(components)
}

fn programs(component: &str) -> Result<String> {
    let place = if INTERPRETERS.contains(&component) { "interpreters" } else { "guest" };
    Ok(fs::read_to_string(format!("../{place}/{component}/programs.txt"))?)
}

/// Returns a cargo command without the flags, wrappers and directories of this build.
fn cargo(shared: &Path) -> Result<Command> {
    let mut cargo = Command::new(env::var("CARGO")?);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_ENCODED_", "RUSTC_WORKSPACE_"];
        if text == "CARGO_TARGET_DIR"
            || text.ends_with("RUSTFLAGS")
            || ours.iter().any(|prefix| text.starts_with(prefix))
        {
            cargo.env_remove(&name);
        }
    }
    cargo.args(["build", "--locked", "--target-dir"]).arg(shared);
    Ok(cargo)
}

/// Installs the guest's target if it is missing.
fn add_target() -> Result<()> {
    let rustc = env::var("RUSTC")?;
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    if Path::new(String::from_utf8(output.stdout)?.trim()).exists() {
        return Ok(());
    }
    match Command::new("rustup").args(["target", "add", TARGET]).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("the guest needs Rust's {TARGET} target: run `rustup target add {TARGET}`").into()),
    }
}

/// Runs a command and returns its output.
fn run(command: &mut Command, what: &str) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{what}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{what} failed: see above").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes the list of images as Rust: the lines of the precompiler and the programs of each component.
fn describe(components: &[String], lines: &str, images: &Path) -> Result<String> {
    let mut source = String::from("/// All of them.\npub static IMAGES: &[Image] = &[\n");
    for (line, name) in lines.lines().zip(components) {
        let programs = programs(name)?;
        let programs: Vec<&str> = programs.lines().collect();
        writeln!(source, "    Image {{ name: {name:?}, programs: &{programs:?},")?;
        // Digest and sum of the code for each kind of metering that was compiled.
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        for (field, code) in ["plain", "fuel"].into_iter().zip([words.get(..2), words.get(2..4)]) {
            let Some([digest, sum]) = code else {
                writeln!(source, "        {field}: None,")?;
                continue;
            };
            let file = images.join(format!("{digest}.cwasm"));
            // A removed image is compiled again.
            println!("cargo::rerun-if-changed={}", file.display());
            let bytes = format!("&Aligned(*include_bytes!({file:?})).0");
            writeln!(source, "        {field}: Some(Code {{ digest: {digest:?}, sum: {sum:?}, bytes: {bytes} }}),")?;
        }
        source.push_str("    },\n");
    }
    source.push_str("];\n");
    Ok(source)
}

/// Writes Python's library as Rust.
fn describe_library(source: &mut String, python: Option<&Python>) -> Result<()> {
    let library = match python {
        Some(Python { index, files, .. }) => {
            format!("Some(Library {{ index: include_str!({index:?}), bytes: include_bytes!({files:?}) }})")
        }
        None => "None".to_owned(),
    };
    Ok(writeln!(source, "/// Python's.\npub static PYTHON_LIBRARY: Option<Library> = {library};")?)
}
