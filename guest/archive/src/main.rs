//! Archives and compressed files, in one component.
//!
//! Nothing here holds a whole archive: bytes go from a reader through a codec to a writer, a piece at a time.
//!
//! # Layout
//! - `stream`: files as readers and writers
//! - `codec`: gzip, bzip2, xz, lzma and zstd, both ways
//! - `compress`: the programs that work on one compressed file
//! - `tar`, `zip`: the archives
//! - `target`: where files of an archive may be written, and where not

mod codec;
mod compress;
mod stream;
mod tar;
mod target;
mod zip;

use isopod_gnu::program::{Program, main_of};

/// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
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

fn main() {
    main_of(PROGRAMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_for_the_host_names_these_programs() {
        let listed: Vec<&str> = include_str!("../programs.txt").lines().collect();
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        assert_eq!(names, listed);
        assert!(names.is_sorted());
    }
}
