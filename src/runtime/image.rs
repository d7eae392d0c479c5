//! The guest's programs: components compiled to native code when the library was built, and carried in it.
//!
//! The code is part of the binary, as trusted as the rest of it: there is no file to be missing, stale, half
//! written or swapped, and the first start is as fast as the next. It is loaded where it lies, so a program that
//! is not used costs nothing but address space. For the same reason its sum is not checked at every start, only when
//! someone asks: a binary whose bytes have changed has no more reason to trust its check than its code.

use sha2::{Digest, Sha256};

use super::tunables::Metering;

/// A component and the programs it contains.
pub(super) struct Image {
    /// Its name in the guest's tree.
    pub(super) name: &'static str,
    /// The programs it answers to, by `argv[0]`.
    pub(super) programs: &'static [&'static str],
    plain: Code,
    fuel: Code,
}

/// Native code of a component.
pub(super) struct Code {
    /// Of the component, the engine's settings and the CPU it was compiled for.
    pub(super) digest: &'static str,
    /// SHA-256 of the bytes, as they were built.
    pub(super) sum: &'static str,
    /// What the precompiler made.
    pub(super) bytes: &'static [u8],
}

impl Image {
    /// The code for one kind of metering.
    pub(super) fn code(&self, metering: Metering) -> &Code {
        match metering {
            Metering::Epoch => &self.plain,
            Metering::Fuel => &self.fuel,
        }
    }
}

impl Code {
    /// Whether the bytes are as they were built.
    pub(super) fn is_whole(&self) -> bool {
        let sum = Sha256::digest(self.bytes);
        sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == self.sum
    }
}

/// All images.
pub(super) fn images() -> &'static [Image] {
    IMAGES
}

/// Page-aligned bytes: code can only be made executable by the page, and 64 KiB is the largest page in use.
#[repr(C, align(65536))]
struct Aligned<T: ?Sized>(T);

include!(concat!(env!("OUT_DIR"), "/images.rs"));
