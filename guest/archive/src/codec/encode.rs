//! Compression.

use std::io::{self, Write};

use bzip2::write::BzEncoder;
use flate2::GzBuilder;
use flate2::write::GzEncoder;
use lzma_rust2::{LzmaOptions, LzmaWriter, XzOptions, XzWriter};

use super::Format;
use super::zstd::ZstdWriter;

/// The largest dictionary. An xz encoder needs eleven times as much memory: level 9 would need 700 MB, more than a
/// process of a sandbox may have. This is the dictionary of level 6; a larger one only matters for larger files.
const LARGEST_DICTIONARY: u32 = 8 << 20;

/// Facts about the original file that are stored in the compressed one.
#[derive(Default)]
pub(crate) struct Header {
    /// The name, for gzip.
    pub(crate) name: Option<String>,
    /// The modification time in seconds since 1970, for gzip.
    pub(crate) modified: u32,
}

/// A writer that compresses.
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Bzip2(BzEncoder<W>),
    Xz(Box<XzWriter<W>>),
    Lzma(Box<LzmaWriter<W>>),
    Zstd(ZstdWriter<W>),
}

impl<W: Write> Encoder<W> {
    /// Creates a writer of this format, or of plain data; `level` is from 0 or 1 to 9.
    pub(crate) fn new(format: Option<Format>, sink: W, level: u32, header: &Header) -> io::Result<Encoder<W>> {
        Ok(match format {
            None => Encoder::Plain(sink),
            Some(Format::Gzip) => {
                let mut builder = GzBuilder::new().mtime(header.modified).operating_system(3);
                if let Some(name) = &header.name {
                    builder = builder.filename(name.as_bytes());
                }
                Encoder::Gzip(builder.write(sink, flate2::Compression::new(level)))
            }
            Some(Format::Bzip2) => Encoder::Bzip2(BzEncoder::new(sink, bzip2::Compression::new(level.clamp(1, 9)))),
            Some(Format::Xz) => {
                let mut options = XzOptions::with_preset(level);
                options.lzma_options.dict_size = options.lzma_options.dict_size.min(LARGEST_DICTIONARY);
                Encoder::Xz(Box::new(XzWriter::new(sink, options)?))
            }
            Some(Format::Lzma) => {
                let mut options = LzmaOptions::with_preset(level);
                options.dict_size = options.dict_size.min(LARGEST_DICTIONARY);
                Encoder::Lzma(Box::new(LzmaWriter::new_use_header(sink, &options, None)?))
            }
            Some(Format::Zstd) => Encoder::Zstd(ZstdWriter::new(sink)),
        })
    }

    /// Ends the compressed data and returns the writer below.
    pub(crate) fn finish(self) -> io::Result<W> {
        let mut sink = match self {
            Encoder::Plain(sink) => sink,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Bzip2(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
            Encoder::Lzma(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        sink.flush()?;
        Ok(sink)
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(sink) => sink,
            Encoder::Gzip(encoder) => encoder,
            Encoder::Bzip2(encoder) => encoder,
            Encoder::Xz(encoder) => encoder,
            Encoder::Lzma(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}
