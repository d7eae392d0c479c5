//! The images of the guest's programs: components that were compiled to native code when the library was built.
//!
//! The code is part of the binary and as trusted as the rest of it. No file can be missing, stale, half written or
//! swapped, and the first start is as fast as the next. The code is loaded in place, so a program that is not used
//! costs nothing but address space. The digest is not checked at every start, only on request: in a binary whose bytes
//! have changed, the check is no more trustworthy than the code.

use std::sync::Arc;

pub(super) use isopod_images::{Code, Image};
use isopod_images::{IMAGES, PYTHON_LIBRARY};
use sha2::{Digest, Sha256};

use super::tunables::Metering;
use crate::vfs::Library;

/// The code of a component for one kind of metering, if this build has it.
pub(super) fn code(image: &'static Image, metering: Metering) -> Option<&'static Code> {
    match metering {
        Metering::Epoch => image.plain.as_ref(),
        Metering::Fuel => image.fuel.as_ref(),
    }
}

/// Returns true if an image needs a deep stack: an interpreter recurses as deeply as the program that it runs.
pub(super) fn is_interpreter(image: usize) -> bool {
    ["node", "python"].contains(&IMAGES[image].name)
}

/// Checks that the programs of an image can run. The error is the reason why they cannot.
pub(super) fn available(image: usize, metering: Metering) -> Result<(), &'static str> {
    let image = &IMAGES[image];
    match (code(image, metering), metering) {
        (Some(_), _) => Ok(()),
        (None, Metering::Fuel) if image.plain.is_some() => Err("not in a sandbox that counts instructions"),
        (None, _) => Err("not in this build"),
    }
}

/// Returns true if the code of a component matches the digest of its build.
pub(super) fn matches_digest(code: &Code) -> bool {
    let sum = Sha256::digest(code.bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == code.sum
}

/// The libraries that interpreters read at run time, with the directories in which they look for them.
pub(super) fn libraries() -> impl Iterator<Item = (&'static str, Arc<Library>)> {
    let python = PYTHON_LIBRARY.as_ref().map(|library| ("/usr/lib/python3.14", library));
    python.into_iter().map(|(directory, library)| (directory, Arc::new(Library::new(library.index, library.bytes))))
}

/// All images.
pub(super) fn images() -> &'static [Image] {
    IMAGES
}
