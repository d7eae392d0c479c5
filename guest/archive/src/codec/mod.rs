//! Compressed formats, both ways.
//!
//! All of it is Rust: zlib-rs, libbz2-rs, lzma-rust2 and ruzstd. The compressed bytes differ from those of the C
//! programs, and each reads the other's.

mod decode;
mod encode;
mod zstd;

pub(crate) use decode::{Decoder, decoder};
pub(crate) use encode::{Encoder, Header};

/// A compressed format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Bzip2,
    Xz,
    Lzma,
    Zstd,
}

impl Format {
    /// Returns the format that the first bytes of a file show. An .lzma file has no magic number, so it is never
    /// guessed.
    pub(crate) fn detect(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Format::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Format::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Format::Zstd),
            _ => None,
        }
    }

    /// Returns the format that the suffix of a name shows, for `tar -a`.
    pub(crate) fn by_name(path: &str) -> Option<Format> {
        const SUFFIXES: [(&str, Format); 14] = [
            (".gz", Format::Gzip),
            (".tgz", Format::Gzip),
            (".taz", Format::Gzip),
            (".bz2", Format::Bzip2),
            (".tbz2", Format::Bzip2),
            (".tbz", Format::Bzip2),
            (".tz2", Format::Bzip2),
            (".xz", Format::Xz),
            (".txz", Format::Xz),
            (".lzma", Format::Lzma),
            (".tlz", Format::Lzma),
            (".zst", Format::Zstd),
            (".tzst", Format::Zstd),
            (".zstd", Format::Zstd),
        ];
        SUFFIXES.iter().find(|(suffix, _)| path.ends_with(suffix)).map(|(_, format)| *format)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn magic_numbers_and_names_tell_the_format() {
        assert_eq!(Format::detect(b"BZh91AY"), Some(Format::Bzip2));
        assert_eq!(Format::detect(b"BZ"), None);
        assert_eq!(Format::by_name("a.tar.zst"), Some(Format::Zstd));
        assert_eq!(Format::by_name("a.tar"), None);
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let mut text = Vec::new();
        for number in 0..200_000u32 {
            text.extend_from_slice(&(number.wrapping_mul(2_654_435_761) >> 20).to_le_bytes());
        }
        for format in [Format::Gzip, Format::Bzip2, Format::Xz, Format::Lzma, Format::Zstd] {
            let mut encoder = Encoder::new(Some(format), Vec::new(), 1, &Header::default()).unwrap();
            encoder.write_all(&text).unwrap();
            let packed = encoder.finish().unwrap();
            let mut back = Vec::new();
            decode::any(format, std::io::Cursor::new(packed)).unwrap().read_to_end(&mut back).unwrap();
            assert!(back == text, "{format:?}");
        }
    }
}
