//! Archives and compressed files, in one component.
//!
//! No archive is held in memory as a whole: bytes go from a reader through a codec to a writer, a piece at a time.
//!
//! # Layout
//! - `stream`: files as readers and writers
//! - `codec`: gzip, bzip2, xz, lzma and zstd, both ways
//! - `compress`: the programs that work on one compressed file
//! - `tar`, `zip`: the archives
//! - `target`: the paths at which files of an archive may be written

mod codec;
mod compress;
mod stream;
mod tar;
mod target;
mod zip;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
const PROGRAMS: &[&Program] = &[
    &compress::BUNZIP2,
    &compress::BZCAT,
    &compress::BZIP2,
    &compress::GUNZIP,
    &compress::GZIP,
    &compress::LZCAT,
    &compress::LZMA,
    &tar::PROGRAM,
    &compress::UNLZMA,
    &compress::UNXZ,
    &zip::UNZIP,
    &compress::UNZSTD,
    &compress::XZ,
    &compress::XZCAT,
    &compress::ZCAT,
    &zip::ZIP,
    &compress::ZSTD,
    &compress::ZSTDCAT,
];

isopod_gnu::component!(PROGRAMS);
