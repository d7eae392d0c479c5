//! `gzip`, `bzip2`, `xz`, `zstd` and the programs that undo them.
//!
//! They differ in their messages, suffixes and habits (`zstd` keeps its input), and are one program otherwise.
//!
//! # Layout
//! - `tool`: the differences between them
//! - `job`: the options
//! - `run`: the work on each file
//! - `listing`: `gzip -l`

mod job;
mod listing;
mod run;
mod tool;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Program, Syntax};

macro_rules! levels {
    ($($rest:expr),* $(,)?) => {
        &[
            Opt::letter('1', "1", "compress faster"),
            Opt::letter('2', "2", ""),
            Opt::letter('3', "3", ""),
            Opt::letter('4', "4", ""),
            Opt::letter('5', "5", ""),
            Opt::letter('6', "6", ""),
            Opt::letter('7', "7", ""),
            Opt::letter('8', "8", ""),
            Opt::letter('9', "9", "compress better"),
            Opt::flag('c', "stdout", "write on standard output, keep original files unchanged"),
            Opt::flag('d', "decompress", "decompress"),
            Opt::long("uncompress", ""),
            Opt::flag('f', "force", "force overwrite of output file and compress links"),
            Opt::flag('k', "keep", "keep (don't delete) input files"),
            Opt::flag('q', "quiet", "suppress all warnings"),
            Opt::flag('t', "test", "test compressed file integrity"),
            Opt::flag('v', "verbose", "verbose mode"),
            Opt::letter('V', "version", ""),
            Opt::letter('h', "help", ""),
            $($rest),*
        ]
    };
}

const GZIP_OPTIONS: &[Opt] = levels![
    Opt::long("to-stdout", ""),
    Opt::flag('l', "list", "list compressed file contents"),
    Opt::flag('n', "no-name", "do not save or restore the original name and timestamp"),
    Opt::flag('N', "name", "save or restore the original name and timestamp"),
    Opt::flag('r', "recursive", "operate recursively on directories"),
    Opt::long("rsyncable", "(no effect on what is inside)"),
    Opt::flag('S', "suffix", "use suffix SUF on compressed files").takes("SUF"),
    Opt::long("fast", "same as -1"),
    Opt::long("best", "same as -9"),
];

const BZIP2_OPTIONS: &[Opt] = levels![
    Opt::flag('z', "compress", "force compression"),
    Opt::flag('s', "small", "(memory is bounded anyway)"),
    Opt::long("fast", "same as -1"),
    Opt::long("best", "same as -9"),
];

const XZ_OPTIONS: &[Opt] = levels![
    Opt::letter('0', "0", ""),
    Opt::long("to-stdout", ""),
    Opt::flag('z', "compress", "force compression"),
    Opt::flag('e', "extreme", "(the level alone decides)"),
    Opt::flag('F', "format", "file format to encode or decode: auto, xz, lzma").takes("FMT"),
    Opt::flag('S', "suffix", "use the suffix '.SUF' on compressed files").takes("SUF"),
    Opt::flag('T', "threads", "(there is one thread)").takes("NUM"),
    Opt::long("fast", ""),
    Opt::long("best", ""),
];

const ZSTD_OPTIONS: &[Opt] = levels![
    Opt::letter('0', "0", ""),
    Opt::long("to-stdout", ""),
    Opt::flag('z', "compress", "force compression"),
    Opt::letter('o', "output", "write output to a single file, OUTPUT").takes("OUTPUT"),
    Opt::long("rm", "remove input files after success"),
    Opt::letter('T', "threads", "(there is one thread)").takes("NUM"),
    Opt::long("ultra", "(there is one level)"),
    Opt::long("fast", "(there is one level)").may_take("NUM"),
    Opt::long("long", "(windows are as large as they are)").may_take("NUM"),
    Opt::long("no-progress", "(there is none)"),
];

const fn program(name: &'static str, about: &'static str, options: &'static [Opt]) -> Program {
    Program {
        name,
        operands: &["[OPTION]... [FILE]..."],
        about,
        syntax: Syntax::Mixed,
        options,
        failure: 1,
        run: run::run,
    }
}

/// `gzip`.
pub(crate) const GZIP: Program =
    program("gzip", "Compress or uncompress FILEs (by default, compress in place).", GZIP_OPTIONS);
/// `gunzip`.
pub(crate) const GUNZIP: Program = program("gunzip", "Uncompress FILEs in place.", GZIP_OPTIONS);
/// `zcat`.
pub(crate) const ZCAT: Program = program("zcat", "Uncompress FILEs to standard output.", GZIP_OPTIONS);
/// `bzip2`.
pub(crate) const BZIP2: Program =
    program("bzip2", "Compress or uncompress FILEs (by default, compress in place).", BZIP2_OPTIONS);
/// `bunzip2`.
pub(crate) const BUNZIP2: Program = program("bunzip2", "Uncompress FILEs in place.", BZIP2_OPTIONS);
/// `bzcat`.
pub(crate) const BZCAT: Program = program("bzcat", "Uncompress FILEs to standard output.", BZIP2_OPTIONS);
/// `xz`.
pub(crate) const XZ: Program = program("xz", "Compress or decompress FILEs in the .xz format.", XZ_OPTIONS);
/// `unxz`.
pub(crate) const UNXZ: Program = program("unxz", "Decompress FILEs in place.", XZ_OPTIONS);
/// `xzcat`.
pub(crate) const XZCAT: Program = program("xzcat", "Decompress FILEs to standard output.", XZ_OPTIONS);
/// `lzma`.
pub(crate) const LZMA: Program = program("lzma", "Compress or decompress FILEs in the .lzma format.", XZ_OPTIONS);
/// `unlzma`.
pub(crate) const UNLZMA: Program = program("unlzma", "Decompress FILEs in place.", XZ_OPTIONS);
/// `lzcat`.
pub(crate) const LZCAT: Program = program("lzcat", "Decompress FILEs to standard output.", XZ_OPTIONS);
/// `zstd`.
pub(crate) const ZSTD: Program = program("zstd", "Compress or decompress FILEs in the .zst format.", ZSTD_OPTIONS);
/// `unzstd`.
pub(crate) const UNZSTD: Program = program("unzstd", "Decompress FILEs.", ZSTD_OPTIONS);
/// `zstdcat`.
pub(crate) const ZSTDCAT: Program = program("zstdcat", "Decompress FILEs to standard output.", ZSTD_OPTIONS);
