//! Decompression.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::{LzmaReader, XzReader};

use super::Format;
use super::zstd::ZstdReader;
use crate::stream::Source;

/// The memory that a decoder may use. A file that needs more was made to exhaust it.
const MEMORY_KIB: u32 = 192 << 10;

/// A reader of decompressed data, and a flag for trailing garbage.
pub(crate) struct Decoder {
    reader: Box<dyn Read>,
    garbage: Rc<Cell<bool>>,
}

/// Returns a reader that decompresses a source.
pub(crate) fn decoder(format: Format, source: Source) -> io::Result<Decoder> {
    any(format, source)
}

pub(super) fn any<R: BufRead + 'static>(format: Format, source: R) -> io::Result<Decoder> {
    let garbage = Rc::new(Cell::new(false));
    let reader: Box<dyn Read> = match format {
        Format::Gzip => Box::new(Members::<GzDecoder<R>, R>::new(source, garbage.clone())),
        Format::Bzip2 => Box::new(Members::<BzDecoder<R>, R>::new(source, garbage.clone())),
        Format::Xz => Box::new(XzReader::new_mem_limit(source, true, MEMORY_KIB)),
        Format::Lzma => Box::new(LzmaReader::new_mem_limit(source, MEMORY_KIB, None)?),
        Format::Zstd => Box::new(ZstdReader::new(source)),
    };
    Ok(Decoder { reader, garbage })
}

impl Decoder {
    /// Returns true if other data follows the compressed data. It is not read.
    pub(crate) fn has_garbage(&self) -> bool {
        self.garbage.get()
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// A decoder of one of the members that follow each other in a file.
trait Member<R>: Read {
    /// The first bytes of every member.
    const MAGIC: &'static [u8];
    fn start(source: R) -> Self;
    fn end(self) -> R;
}

impl<R: BufRead> Member<R> for GzDecoder<R> {
    const MAGIC: &'static [u8] = &[0x1f, 0x8b];

    fn start(source: R) -> Self {
        GzDecoder::new(source)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Member<R> for BzDecoder<R> {
    const MAGIC: &'static [u8] = b"BZh";

    fn start(source: R) -> Self {
        BzDecoder::new(source)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

/// A reader of all members of a file.
struct Members<D, R> {
    member: Option<D>,
    source: Option<R>,
    garbage: Rc<Cell<bool>>,
}

impl<D: Member<R>, R: BufRead> Members<D, R> {
    fn new(source: R, garbage: Rc<Cell<bool>>) -> Members<D, R> {
        // The first member must exist; its decoder checks the first bytes itself.
        Members { member: Some(D::start(source)), source: None, garbage }
    }

    /// Returns true if another member follows. Zeros are padding; anything else is garbage.
    fn is_next(&mut self, source: &mut R) -> io::Result<bool> {
        loop {
            let bytes = source.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            match bytes.get(zeros) {
                None if bytes.is_empty() => return Ok(false),
                None => source.consume(zeros),
                Some(first) if zeros == 0 && *first == D::MAGIC[0] => return Ok(true),
                Some(_) => {
                    self.garbage.set(true);
                    return Ok(false);
                }
            }
        }
    }
}

impl<D: Member<R>, R: BufRead> Read for Members<D, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let count = member.read(buffer)?;
            if count > 0 {
                self.member = Some(member);
                return Ok(count);
            }
            let mut source = member.end();
            if self.is_next(&mut source)? {
                self.member = Some(D::start(source));
            } else {
                self.source = Some(source);
            }
        }
        Ok(0)
    }
}
