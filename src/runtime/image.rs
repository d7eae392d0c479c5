//! The guest's programs: components compiled to native code when the library was built, and carried in it.
//!
//! The code is part of the binary, as trusted as the rest of it: there is no file to be missing, stale, half
//! written or swapped, and the first start is as fast as the next. It is loaded where it lies, so a program that
//! is not used costs nothing but address space. For the same reason its sum is not checked at every start, only when
//! someone asks: a binary whose bytes have changed has no more reason to trust its check than its code.

use isopod_images::IMAGES;
pub(super) use isopod_images::{Code, Image};
use sha2::{Digest, Sha256};

use super::tunables::Metering;

/// The code of a component for one kind of metering.
pub(super) fn code(image: &Image, metering: Metering) -> &Code {
    match metering {
        Metering::Epoch => &image.plain,
        Metering::Fuel => &image.fuel,
    }
}

/// Whether the code of a component is as it was built.
pub(super) fn is_whole(code: &Code) -> bool {
    let sum = Sha256::digest(code.bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == code.sum
}

/// All images.
pub(super) fn images() -> &'static [Image] {
    IMAGES
}
