//! The guest's programs: components compiled to native code when the library was built, and carried in it.
//!
//! The code is part of the binary, as trusted as the rest of it: there is no file to be missing, stale, half
//! written or swapped, and the first start is as fast as the next. It is loaded where it lies, so a program that
//! is not used costs nothing but address space. For the same reason its sum is not checked at every start, only when
//! someone asks: a binary whose bytes have changed has no more reason to trust its check than its code.

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

/// Whether a program needs a deep stack: an interpreter recurses as deeply as what it runs.
pub(super) fn is_interpreter(image: usize) -> bool {
    ["node", "python"].contains(&IMAGES[image].name)
}

/// Whether a program of an image can run, or why it cannot.
pub(super) fn available(image: usize, metering: Metering) -> Result<(), &'static str> {
    let image = &IMAGES[image];
    match (code(image, metering), metering) {
        (Some(_), _) => Ok(()),
        (None, Metering::Fuel) if image.plain.is_some() => Err("not in a sandbox that counts instructions"),
        (None, _) => Err("not in this build"),
    }
}

/// Whether the code of a component is as it was built.
pub(super) fn is_whole(code: &Code) -> bool {
    let sum = Sha256::digest(code.bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == code.sum
}

/// The libraries that interpreters read at run time, and where they look for them.
pub(super) fn libraries() -> impl Iterator<Item = (&'static str, Arc<Library>)> {
    let python = PYTHON_LIBRARY.as_ref().map(|library| ("/usr/lib/python3.14", library));
    python.into_iter().map(|(place, library)| (place, Arc::new(Library::new(library.index, library.bytes))))
}

/// All images.
pub(super) fn images() -> &'static [Image] {
    IMAGES
}
