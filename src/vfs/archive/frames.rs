//! The outer format: a sequence of zstd frames, and the digest in a skippable frame.

use std::io::{self, Read, Write};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sha2::{Digest as _, Sha256};

use super::{ArchiveError, Digest, Result, into_io};

/// Bytes of tar in a frame. Each frame is compressed on its own, so this much is in memory at once. Smaller frames
/// compress worse.
const FRAME: usize = 4 << 20;
/// The start of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The start of the frame with the digest: one of the magic numbers of skippable frames.
const SKIPPED: [u8; 4] = [0x5a, 0x2a, 0x4d, 0x18];
/// The tag in front of the digest.
const TAG: &[u8; 17] = b"isopod-snapshot-1";
/// Bytes of the tag and the digest.
const TRAILER: usize = TAG.len() + 32;

/// A writer that compresses.
pub(super) struct FrameWriter<W> {
    to: W,
    pending: Vec<u8>,
    hash: Sha256,
}

impl<W: Write> FrameWriter<W> {
    pub(super) fn new(to: W) -> FrameWriter<W> {
        FrameWriter { to, pending: Vec::with_capacity(FRAME), hash: Sha256::new() }
    }

    /// Writes the rest, and the digest of everything.
    pub(super) fn finish(mut self) -> io::Result<Digest> {
        self.write_frame()?;
        let digest: [u8; 32] = self.hash.finalize().into();
        self.to.write_all(&SKIPPED)?;
        self.to.write_all(&(TRAILER as u32).to_le_bytes())?;
        self.to.write_all(TAG)?;
        self.to.write_all(&digest)?;
        self.to.flush()?;
        Ok(Digest(digest))
    }

    fn write_frame(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut frame = compress_to_vec(self.pending.as_slice(), CompressionLevel::Fastest);
        // The compressor is new and may have faults. A frame that does not decompress to its input is stored
        // uncompressed.
        if decompress(frame.as_slice()).ok().as_ref() != Some(&self.pending) {
            frame = compress_to_vec(self.pending.as_slice(), CompressionLevel::Uncompressed);
        }
        self.hash.update(&frame);
        self.to.write_all(&frame)?;
        self.pending.clear();
        Ok(())
    }
}

impl<W: Write> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == FRAME {
            self.write_frame()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader that decompresses, up to a limit. It reports the end only if the digest is right and nothing follows.
pub(super) struct FrameReader<R> {
    from: HashingReader<R>,
    frame: io::Cursor<Vec<u8>>,
    /// Remaining bytes before the limit, and the limit.
    room: u64,
    limit: u64,
    /// Set after a frame that is not full. Only the last frame may be short.
    is_last: bool,
    digest: Option<Digest>,
}

impl<R: Read> FrameReader<R> {
    pub(super) fn new(from: R, limit: u64) -> FrameReader<R> {
        let from = HashingReader { from, hash: Sha256::new() };
        FrameReader { from, frame: io::Cursor::default(), room: limit, limit, is_last: false, digest: None }
    }

    /// Returns the digest, after the end.
    pub(super) fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// Returns the next frame, or none after the last one.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let before = self.from.hash.clone();
        let mut magic = [0; 4];
        self.from.read_exact(&mut magic).map_err(super::from_io)?;
        match magic {
            ZSTD => {
                let bytes = decompress(magic.as_slice().chain(&mut self.from))?;
                if bytes.is_empty() || self.is_last {
                    return Err(ArchiveError::Malformed("a short frame before the end"));
                }
                self.is_last = bytes.len() < FRAME;
                self.room = self.room.checked_sub(bytes.len() as u64).ok_or(ArchiveError::TooLarge(self.limit))?;
                Ok(Some(bytes))
            }
            SKIPPED => {
                let mut trailer = [0; 4 + TRAILER];
                self.from.read_exact(&mut trailer).map_err(super::from_io)?;
                let (len, rest) = trailer.split_at(4);
                let (tag, digest) = rest.split_at(TAG.len());
                if len != (TRAILER as u32).to_le_bytes() || tag != TAG {
                    return Err(ArchiveError::Malformed("the digest is missing"));
                }
                let found: [u8; 32] = before.finalize().into();
                if digest != found {
                    return Err(ArchiveError::Malformed("the content is damaged"));
                }
                if self.from.read(&mut [0]).map_err(super::from_io)? != 0 {
                    return Err(ArchiveError::Malformed("data after the digest"));
                }
                self.digest = Some(Digest(found));
                Ok(None)
            }
            _ => Err(ArchiveError::Malformed("not a zstd frame")),
        }
    }
}

impl<R: Read> Read for FrameReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.frame.read(bytes)?;
            if read > 0 || bytes.is_empty() || self.digest.is_some() {
                return Ok(read);
            }
            match self.next().map_err(into_io)? {
                Some(frame) => self.frame = io::Cursor::new(frame),
                None => return Ok(0),
            }
        }
    }
}

/// Decompresses one frame, which must not be larger than those that the writer produces.
fn decompress(from: impl Read) -> Result<Vec<u8>> {
    let broken = ArchiveError::Malformed("the content cannot be decompressed");
    let Ok(decoder) = StreamingDecoder::new_with_max_window_size(from, 2 * FRAME as u64) else {
        return Err(broken);
    };
    let mut bytes = Vec::new();
    match decoder.take(FRAME as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() <= FRAME => Ok(bytes),
        _ => Err(broken),
    }
}

/// A reader that hashes all bytes it reads.
struct HashingReader<R> {
    from: R,
    hash: Sha256,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(bytes: &[u8]) -> (Vec<u8>, Digest) {
        let mut file = Vec::new();
        let mut writer = FrameWriter::new(&mut file);
        writer.write_all(bytes).unwrap();
        let digest = writer.finish().unwrap();
        (file, digest)
    }

    #[test]
    fn bytes_are_read_as_written_and_the_digest_is_the_same() {
        let mut random = 1_u64;
        let mut noise = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 32) as u8
        };
        let mixed: Vec<u8> = (0..2 * FRAME + 5).map(|at| if at % 7 < 3 { noise() } else { 7 }).collect();
        for bytes in [Vec::new(), vec![0; FRAME], mixed, b"text".to_vec()] {
            let (file, digest) = compressed(&bytes);
            let mut reader = FrameReader::new(file.as_slice(), 1 << 30);
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert!(read == bytes);
            assert_eq!(reader.digest(), Some(digest));
            assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        }
    }

    #[test]
    fn frames_that_the_writer_never_makes_are_refused() {
        let forged = |pieces: &[&[u8]]| {
            let mut file = Vec::new();
            let mut writer = FrameWriter::new(&mut file);
            for piece in pieces {
                let frame = compress_to_vec(*piece, CompressionLevel::Fastest);
                writer.hash.update(&frame);
                writer.to.write_all(&frame).unwrap();
            }
            writer.finish().unwrap();
            let mut read = Vec::new();
            FrameReader::new(file.as_slice(), 1 << 30).read_to_end(&mut read).map(|_| read)
        };
        assert_eq!(forged(&[b"abc"]).unwrap(), b"abc");
        assert_eq!(forged(&[&[7; FRAME], b"abc"]).unwrap().len(), FRAME + 3);
        // A million empty frames would cost a decoder each and no byte of the limit.
        for pieces in [&[&b""[..]][..], &[b"", b"abc"], &[b"abc", b""], &[b"ab", b"c"], &[&[7; FRAME + 1]]] {
            assert!(forged(pieces).is_err(), "{}", pieces.len());
        }
    }

    #[test]
    fn a_file_that_expands_beyond_its_limit_is_refused() {
        let (file, _) = compressed(&vec![0; 20 << 20]);
        assert!(file.len() < 100_000);
        let mut reader = FrameReader::new(file.as_slice(), 10 << 20);
        let error = super::super::from_io(reader.read_to_end(&mut Vec::new()).unwrap_err());
        assert!(matches!(error, ArchiveError::TooLarge(limit) if limit == 10 << 20), "{error}");
    }
}
