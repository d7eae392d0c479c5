//! The guest's programs: components compiled to native code by the build.
//!
//! This is a crate of its own so that a change of a program does not recompile the library. `src/runtime/image.rs`
//! loads the code.

/// A component and the programs it contains.
pub struct Image {
    /// The name of the component's directory.
    pub name: &'static str,
    /// The names of its programs.
    pub programs: &'static [&'static str],
    /// The code for processes that a clock interrupts; none if it was left out of this build.
    pub plain: Option<Code>,
    /// The code for processes that count instructions.
    pub fuel: Option<Code>,
}

/// The files that an interpreter reads at run time.
pub struct Library {
    /// A line `offset length path` for each file, by path.
    pub index: &'static str,
    /// Their bytes.
    pub bytes: &'static [u8],
}

/// Native code of a component.
pub struct Code {
    /// The digest of the component, the engine's settings and the CPU it was compiled for.
    pub digest: &'static str,
    /// The SHA-256 of the bytes, computed by the build.
    pub sum: &'static str,
    /// The output of the precompiler.
    pub bytes: &'static [u8],
}

/// The directory of the programs that were compiled for this machine, in a build for benchmarks.
pub const NATIVE: Option<&str> = option_env!("ISOPOD_NATIVE");

/// Page-aligned bytes: memory is made executable by the page, and 64 KiB is the largest page in use.
#[repr(C, align(65536))]
struct Aligned<T: ?Sized>(T);

include!(concat!(env!("OUT_DIR"), "/images.rs"));
