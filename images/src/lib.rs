//! The guest's programs: components compiled to native code when this was built.
//!
//! It is a crate of its own so that a change of a program does not compile the library anew. What is done with the code
//! is said in `src/runtime/image.rs`.

/// A component and the programs it contains.
pub struct Image {
    /// Its name in the guest's tree.
    pub name: &'static str,
    /// The programs it answers to.
    pub programs: &'static [&'static str],
    /// Its code for processes that a clock interrupts; none if it was left out of this build.
    pub plain: Option<Code>,
    /// Its code for processes that count instructions.
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
    /// Of the component, the engine's settings and the CPU it was compiled for.
    pub digest: &'static str,
    /// SHA-256 of the bytes, as they were built.
    pub sum: &'static str,
    /// What the precompiler made.
    pub bytes: &'static [u8],
}

/// Where some of the programs are that were compiled for this machine, if this was built for benchmarks.
pub const NATIVE: Option<&str> = option_env!("ISOPOD_NATIVE");

/// Page-aligned bytes: code can only be made executable by the page, and 64 KiB is the largest page in use.
#[repr(C, align(65536))]
struct Aligned<T: ?Sized>(T);

include!(concat!(env!("OUT_DIR"), "/images.rs"));
