//! Checksums and digests.

use blake2::Blake2bVarCore;
use blake2::digest::block_api::{Buffer, UpdateCore, VariableOutputCore};
use isopod_gnu::input::Input;
use isopod_sys::Errno;
use sha2::Digest;

/// A checksum or digest algorithm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Bsd,
    SystemV,
    Crc,
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Blake2b,
}

/// The digests, with their names for `cksum -a` and in tagged lines, and their bytes.
const DIGESTS: [(Algorithm, &str, &str, usize); 7] = [
    (Algorithm::Md5, "md5", "MD5", 16),
    (Algorithm::Sha1, "sha1", "SHA1", 20),
    (Algorithm::Sha224, "sha224", "SHA224", 28),
    (Algorithm::Sha256, "sha256", "SHA256", 32),
    (Algorithm::Sha384, "sha384", "SHA384", 48),
    (Algorithm::Sha512, "sha512", "SHA512", 64),
    (Algorithm::Blake2b, "blake2b", "BLAKE2b", 64),
];

/// A checksum or digest.
pub(super) enum Sum {
    /// A number, and the count of bytes.
    Number(u32, u64),
    Digest(Vec<u8>),
}

impl Algorithm {
    /// Returns the algorithm of a name of `cksum -a`.
    pub(super) fn named(name: &str) -> Option<Algorithm> {
        match name {
            "bsd" => Some(Algorithm::Bsd),
            "sysv" => Some(Algorithm::SystemV),
            "crc" => Some(Algorithm::Crc),
            name => DIGESTS.iter().find(|(_, known, ..)| *known == name).map(|(algorithm, ..)| *algorithm),
        }
    }

    /// Returns the algorithm of a name in tagged lines.
    pub(super) fn tagged(tag: &str) -> Option<Algorithm> {
        DIGESTS.iter().find(|(_, _, known, _)| *known == tag).map(|(algorithm, ..)| *algorithm)
    }

    /// Returns the name in tagged lines.
    pub(super) fn tag(self) -> &'static str {
        DIGESTS.iter().find(|(algorithm, ..)| *algorithm == self).map_or("", |(_, _, tag, _)| tag)
    }

    /// Returns the bytes of a whole digest; 0 for numbers.
    pub(super) fn length(self) -> usize {
        DIGESTS.iter().find(|(algorithm, ..)| *algorithm == self).map_or(0, |(.., length)| *length)
    }

    /// Computes the sum of an input; `length` is for BLAKE2b.
    pub(super) fn sum(self, input: &Input, length: usize) -> Result<Sum, Errno> {
        Ok(Sum::Digest(match self {
            Algorithm::Bsd => return bsd(input),
            Algorithm::SystemV => return system_v(input),
            Algorithm::Crc => return crc(input),
            Algorithm::Md5 => digest::<md5::Md5>(input)?,
            Algorithm::Sha1 => digest::<sha1::Sha1>(input)?,
            Algorithm::Sha224 => digest::<sha2::Sha224>(input)?,
            Algorithm::Sha256 => digest::<sha2::Sha256>(input)?,
            Algorithm::Sha384 => digest::<sha2::Sha384>(input)?,
            Algorithm::Sha512 => digest::<sha2::Sha512>(input)?,
            Algorithm::Blake2b => blake2b(input, length)?,
        }))
    }
}

fn each(input: &Input, mut take: impl FnMut(&[u8])) -> Result<(), Errno> {
    loop {
        let piece = input.read()?;
        if piece.is_empty() {
            return Ok(());
        }
        take(&piece);
    }
}

fn digest<D: Digest>(input: &Input) -> Result<Vec<u8>, Errno> {
    let mut hash = D::new();
    each(input, |piece| hash.update(piece))?;
    Ok(hash.finalize().as_slice().to_vec())
}

/// Computes BLAKE2b of 1 to 64 bytes. The length is part of the hash, and the crate's own types fix it at compile time,
/// so the core is driven here.
fn blake2b(input: &Input, length: usize) -> Result<Vec<u8>, Errno> {
    let mut core = Blake2bVarCore::new(length).map_err(|_| Errno::Invalid)?;
    let mut buffer = Buffer::<Blake2bVarCore>::default();
    each(input, |piece| buffer.digest_blocks(piece, |blocks| core.update_blocks(blocks)))?;
    let mut digest = Default::default();
    core.finalize_variable_core(&mut buffer, &mut digest);
    Ok(digest[..length].to_vec())
}

fn bsd(input: &Input) -> Result<Sum, Errno> {
    let (mut sum, mut total) = (0u16, 0);
    each(input, |piece| {
        total += piece.len() as u64;
        piece.iter().for_each(|byte| sum = sum.rotate_right(1).wrapping_add(u16::from(*byte)));
    })?;
    Ok(Sum::Number(sum.into(), total))
}

fn system_v(input: &Input) -> Result<Sum, Errno> {
    let (mut sum, mut total) = (0u32, 0);
    each(input, |piece| {
        total += piece.len() as u64;
        sum = piece.iter().fold(sum, |sum, byte| sum.wrapping_add(u32::from(*byte)));
    })?;
    let folded = (sum & 0xffff) + (sum >> 16);
    Ok(Sum::Number((folded & 0xffff) + (folded >> 16), total))
}

/// Tables for eight bytes at a time: table `n` is for a byte with `n` more after it.
const CRC: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            value = if value >> 31 == 1 { value << 1 ^ 0x04c1_1db7 } else { value << 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before: u32 = tables[table - 1][byte];
            tables[table][byte] = before << 8 ^ tables[0][(before >> 24) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
};

fn crc(input: &Input) -> Result<Sum, Errno> {
    let (mut crc, mut total) = (0u32, 0u64);
    let one = |crc: u32, byte: u8| crc << 8 ^ CRC[0][((crc >> 24) as u8 ^ byte) as usize];
    each(input, |piece| {
        total += piece.len() as u64;
        let mut chunks = piece.chunks_exact(8);
        for chunk in &mut chunks {
            let head = crc ^ u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            crc = CRC[7][(head >> 24) as usize]
                ^ CRC[6][(head >> 16 & 255) as usize]
                ^ CRC[5][(head >> 8 & 255) as usize]
                ^ CRC[4][(head & 255) as usize]
                ^ CRC[3][usize::from(chunk[4])]
                ^ CRC[2][usize::from(chunk[5])]
                ^ CRC[1][usize::from(chunk[6])]
                ^ CRC[0][usize::from(chunk[7])];
        }
        crc = chunks.remainder().iter().fold(crc, |crc, byte| one(crc, *byte));
    })?;
    let mut length = total;
    while length > 0 {
        crc = one(crc, length as u8);
        length >>= 8;
    }
    Ok(Sum::Number(!crc, total))
}
