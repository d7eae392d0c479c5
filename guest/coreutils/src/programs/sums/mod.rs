//! `md5sum`, `sha1sum`, `sha224sum`, `sha256sum`, `sha384sum`, `sha512sum`, `b2sum`, `cksum` and `sum`.

mod algorithm;
mod check;

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;

use crate::lines::complain;
use algorithm::{Algorithm, Sum};

/// The options of all programs that check digests, after those of each.
macro_rules! checking {
    ($($own:expr,)*) => { &[
        $($own,)*
        Opt::flag('c', "check", "read checksums from the FILEs and check them"),
        Opt::flag('z', "zero", "end each output line with NUL, not newline, and disable file name escaping"),
        Opt::long("ignore-missing", "don't fail or report status for missing files"),
        Opt::long("quiet", "don't print OK for each successfully verified file"),
        Opt::long("status", "don't output anything, status code shows success"),
        Opt::long("strict", "exit non-zero for improperly formatted checksum lines"),
        Opt::flag('w', "warn", "warn about improperly formatted checksum lines"),
    ] };
}

/// The options of all programs of one digest.
macro_rules! digesting {
    ($($own:expr,)*) => { checking![
        Opt::flag('b', "binary", "read in binary mode"),
        $($own,)*
        Opt::long("tag", "create a BSD-style checksum"),
        Opt::flag('t', "text", "read in text mode (default)"),
    ] };
}

const OPTIONS: &[Opt] = digesting![];

const B2_OPTIONS: &[Opt] =
    digesting![Opt::flag('l', "length", "digest length in bits; a multiple of 8").takes("BITS"),];

const CKSUM_OPTIONS: &[Opt] = checking![
    Opt::flag('a', "algorithm", "select the digest: sysv, bsd, crc, md5, sha1, sha224 ... sha512, blake2b")
        .takes("TYPE"),
    Opt::flag('l', "length", "digest length in bits; a multiple of 8, for blake2b only").takes("BITS"),
    Opt::long("tag", "create a BSD-style checksum (default)"),
    Opt::long("untagged", "create a reversed style checksum, without digest type"),
];

const SHASUM_OPTIONS: &[Opt] =
    digesting![Opt::flag('a', "algorithm", "1 (default), 224, 256, 384, 512").takes("BITS"),];

const SUM_OPTIONS: &[Opt] = &[
    Opt::letter('r', "bsd", "use BSD sum algorithm (the default), use 1K blocks"),
    Opt::flag('s', "sysv", "use System V sum algorithm, use 512 bytes blocks"),
];

const fn program(name: &'static str, about: &'static str, options: &'static [Opt], run: fn(&Call) -> u8) -> Program {
    Program { name, operands: &["[OPTION]... [FILE]..."], about, syntax: Syntax::Mixed, options, failure: 1, run }
}

macro_rules! digests {
    ($($constant:ident $name:literal $bits:literal $options:ident $algorithm:ident)*) => { $(
        #[doc = concat!("`", $name, "`.")]
        pub(crate) const $constant: Program = program(
            $name,
            concat!("Print or check ", $bits, " checksums.\nWith no FILE, or when FILE is -, read standard input."),
            $options,
            |call| digests(call, Algorithm::$algorithm, false).unwrap_or_else(|code| code),
        );
    )* };
}

digests! {
    MD5 "md5sum" "MD5 (128-bit)" OPTIONS Md5
    SHA1 "sha1sum" "SHA1 (160-bit)" OPTIONS Sha1
    SHA224 "sha224sum" "SHA224 (224-bit)" OPTIONS Sha224
    SHA256 "sha256sum" "SHA256 (256-bit)" OPTIONS Sha256
    SHA384 "sha384sum" "SHA384 (384-bit)" OPTIONS Sha384
    SHA512 "sha512sum" "SHA512 (512-bit)" OPTIONS Sha512
    B2 "b2sum" "BLAKE2b (512-bit)" B2_OPTIONS Blake2b
}

/// `cksum`.
pub(crate) const CKSUM: Program = program(
    "cksum",
    "Print or verify checksums.  By default use the 32 bit CRC algorithm.\n\
     With no FILE, or when FILE is -, read standard input.",
    CKSUM_OPTIONS,
    |call| cksum(call).unwrap_or_else(|code| code),
);

/// `shasum`, which comes with Perl and stands in for the others on other systems.
pub(crate) const SHASUM: Program = program(
    "shasum",
    "Print or check SHA checksums.\nWith no FILE, or when FILE is -, read standard input.",
    SHASUM_OPTIONS,
    |call| {
        let algorithm = call.value("algorithm").unwrap_or("1");
        match Algorithm::named(&format!("sha{algorithm}")) {
            Some(algorithm) => digests(call, algorithm, false).unwrap_or_else(|code| code),
            None => call.failed(&format!("invalid argument {} for '--algorithm'", plain(algorithm))),
        }
    },
);

/// `sum`.
pub(crate) const SUM: Program = program(
    "sum",
    "Print or check BSD (16-bit) checksums.\nWith no FILE, or when FILE is -, read standard input.",
    SUM_OPTIONS,
    |call| {
        let last = call.options.last().map(|found| found.option);
        numbers(call, if last == Some("sysv") { Algorithm::SystemV } else { Algorithm::Bsd })
    },
);

fn cksum(call: &Call) -> Result<u8, u8> {
    let algorithm = match call.value("algorithm") {
        None => Algorithm::Crc,
        Some(name) => Algorithm::named(name)
            .ok_or_else(|| call.misused(&format!("invalid argument {} for '--algorithm'", plain(name))))?,
    };
    if call.has("length") && algorithm != Algorithm::Blake2b {
        return Err(call.misused("--length is only supported with --algorithm=blake2b"));
    }
    match algorithm {
        Algorithm::Crc if call.has("check") && !call.has("algorithm") => check::run(call, None),
        algorithm if algorithm.length() == 0 && call.has("check") => {
            Err(call.failed("--check is not supported with --algorithm={bsd,sysv,crc}"))
        }
        algorithm if algorithm.length() == 0 => Ok(numbers(call, algorithm)),
        algorithm => digests(call, algorithm, !call.has("untagged")),
    }
}

/// Prints numbers: `sum`, and `cksum` without a digest.
fn numbers(call: &Call, algorithm: Algorithm) -> u8 {
    let mut out = Out::new();
    let mut code = 0;
    let named = !call.operands.is_empty();
    for path in or_standard_input(&call.operands) {
        match Input::open(path).and_then(|input| algorithm.sum(&input, 0)) {
            Ok(Sum::Number(number, bytes)) => {
                let text = match algorithm {
                    Algorithm::Bsd => format!("{number:05} {:5}", bytes.div_ceil(1024)),
                    Algorithm::SystemV => format!("{number} {}", bytes.div_ceil(512)),
                    _ => format!("{number} {bytes}"),
                };
                out.push(text.as_bytes());
                // Some versions of `sum -r` do not name a single file; this one always does.
                if named {
                    out.byte(b' ');
                    out.push(path.as_bytes());
                }
                out.byte(if call.has("zero") { 0 } else { b'\n' });
            }
            Ok(Sum::Digest(_)) => {}
            Err(errno) => {
                code = complain(call, path, errno);
            }
        }
    }
    call.finish(out, code)
}

fn digests(call: &Call, algorithm: Algorithm, tagged: bool) -> Result<u8, u8> {
    let length = length(call, algorithm)?;
    let tagged = tagged || call.has("tag");
    let checks = call.has("check");
    let lone = ["ignore-missing", "status", "warn", "quiet", "strict"];
    if let Some(option) = lone.iter().find(|option| call.has(option) && !checks) {
        return Err(call.misused(&format!("the --{option} option is meaningful only when verifying checksums")));
    }
    if checks && call.has("tag") {
        return Err(call.misused("the --tag option is meaningless when verifying checksums"));
    }
    if checks && (call.has("binary") || call.has("text")) {
        return Err(call.misused("the --binary and --text options are meaningless when verifying checksums"));
    }
    if checks {
        return check::run(call, Some(algorithm));
    }
    // The last of the two decides.
    let mode = call.options.iter().rev().find(|found| matches!(found.option, "binary" | "text"));
    let binary = mode.is_some_and(|found| found.option == "binary");
    let mut out = Out::new();
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        match hash(algorithm, path, length) {
            Ok(digest) => line(&digest, path, algorithm, tagged, binary, call.has("zero"), &mut out),
            Err(errno) => {
                code = complain(call, path, errno);
            }
        }
    }
    Ok(call.finish(out, code))
}

fn length(call: &Call, algorithm: Algorithm) -> Result<usize, u8> {
    let Some(text) = call.value("length") else { return Ok(algorithm.length()) };
    let bits: usize = text.parse().map_err(|_| call.failed(&format!("invalid length: {}", plain(text))))?;
    if !bits.is_multiple_of(8) {
        call.complain(&format!("invalid length: {}", plain(text)));
        return Err(call.failed("length is not a multiple of 8"));
    }
    if bits > 512 {
        call.complain(&format!("invalid length: {}", plain(text)));
        return Err(call.failed("maximum digest length for 'BLAKE2b' is 512 bits"));
    }
    Ok(if bits == 0 { 64 } else { bits / 8 })
}

/// Returns the digest of a file in hexadecimal.
fn hash(algorithm: Algorithm, path: &str, length: usize) -> Result<String, Errno> {
    match algorithm.sum(&Input::open(path)?, length)? {
        Sum::Digest(bytes) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        Sum::Number(..) => Ok(String::new()),
    }
}

fn line(digest: &str, path: &str, algorithm: Algorithm, tagged: bool, binary: bool, zero: bool, out: &mut Out) {
    let escaped = !zero && path.contains(['\\', '\n', '\r']);
    let name =
        if escaped { path.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r") } else { path.to_owned() };
    if escaped {
        out.byte(b'\\');
    }
    if tagged {
        let bits = match algorithm {
            Algorithm::Blake2b if digest.len() < 128 => format!("-{}", digest.len() * 4),
            _ => String::new(),
        };
        out.push(format!("{}{bits} ({name}) = {digest}", algorithm.tag()).as_bytes());
    } else {
        out.push(format!("{digest} {}{name}", if binary { '*' } else { ' ' }).as_bytes());
    }
    out.byte(if zero { 0 } else { b'\n' });
}
