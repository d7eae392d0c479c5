//! Compiles the guest's components to native code, with the settings of the library that will run it.
//!
//! `isopod-precompile TRIPLE OUT_DIR both|plain COMPONENT.wasm…` writes `OUT_DIR/<digest>.cwasm` for each component,
//! once for each kind of metering or without fuel alone, and prints a line `name digest sum [digest sum]` for each. The
//! digest is that of the component, the settings and the CPU, so existing code is not compiled again; the sum is that
//! of the code.
//!
//! `isopod-precompile immortal COMPONENT.wasm OBJECTS` changes CPython's initial memory: see `immortal`.

#![allow(clippy::disallowed_methods, reason = "a build tool reaches the host: that is its work")]

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sha2::{Digest, Sha256};
use tunables::{Metering, X86_64_BASELINE};
use wasmtime::Engine;

mod immortal;
#[path = "../../src/runtime/tunables.rs"]
mod tunables;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("isopod-precompile: {error}");
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stdout, reason = "its answer to the build script")]
fn run() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let triple = args.next().ok_or("no target triple")?;
    if triple == "immortal" {
        let (component, objects) = (args.next().ok_or("no component")?, args.next().ok_or("no list of objects")?);
        let mut wasm = fs::read(&component)?;
        let done = immortal::make_immortal(&mut wasm, &fs::read(objects)?)?;
        fs::write(component, wasm)?;
        println!("{done}");
        return Ok(());
    }
    let out = PathBuf::from(args.next().ok_or("no output directory")?);
    fs::create_dir_all(&out)?;
    let engines = match args.next().as_deref() {
        Some("both") => vec![engine(&triple, Metering::Epoch)?, engine(&triple, Metering::Fuel)?],
        Some("plain") => vec![engine(&triple, Metering::Epoch)?],
        _ => return Err("neither both nor plain".into()),
    };
    for component in args {
        let component = PathBuf::from(component);
        let name = component.file_stem().and_then(|stem| stem.to_str()).ok_or("a component without a name")?;
        let wasm = fs::read(&component).map_err(|e| format!("{}: {e}", component.display()))?;
        let codes = engines.iter().map(|engine| compile(engine, &triple, &wasm, &out));
        println!("{name} {}", codes.collect::<Result<Vec<_>, _>>()?.join(" "));
    }
    Ok(())
}

fn engine(triple: &str, metering: Metering) -> Result<Engine, Box<dyn Error>> {
    let mut config = tunables::config(metering)?;
    // Naming a target, even the host's own, keeps Cranelift from detecting this machine's CPU.
    config.target(triple)?;
    if triple.starts_with("x86_64") {
        for flag in X86_64_BASELINE {
            // SAFETY: these are CPU features of the stated baseline; the engine that loads the code checks
            // that its CPU has them.
            #[allow(unsafe_code)]
            unsafe {
                config.cranelift_flag_enable(flag);
            }
        }
    }
    Ok(Engine::new(&config)?)
}

/// Compiles a component unless its code exists, and returns its digest and its sum.
fn compile(engine: &Engine, triple: &str, wasm: &[u8], out: &Path) -> Result<String, Box<dyn Error>> {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    let mut digest = Sha256::new();
    digest.update(settings.finish().to_le_bytes());
    digest.update(triple);
    digest.update(wasm);
    let digest = hex(digest);
    let path = out.join(format!("{digest}.cwasm"));
    if !path.exists() {
        // Written to a temporary file and renamed: an interrupted build leaves no partial file under a final name.
        let fresh = path.with_extension(format!("{}.tmp", std::process::id()));
        let code = engine.precompile_component(wasm).map_err(|error| format!("{error:#}"))?;
        fs::write(&fresh, code)?;
        fs::rename(&fresh, &path)?;
    }
    Ok(format!("{digest} {}", hex(Sha256::new_with_prefix(fs::read(&path)?))))
}

fn hex(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
