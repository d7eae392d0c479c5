//! Reading an archive, member by member.

use std::io::{self, Read};

use super::header::{BLOCK, Header, HeaderError, Type};
use super::pax::Records;
use crate::codec::{Decoder, Format, decoder};
use crate::stream::Source;

/// The longest name and the longest records that are accepted. Paths are 4 KiB at most.
const LONGEST_EXTENSION: u64 = 1 << 20;

/// An archive that is read.
pub(super) struct Archive {
    input: Input,
    /// The rest of the member's data, and the padding after it.
    left: u64,
    padding: u64,
    globals: Records,
    ignores_zeros: bool,
    /// The position of the next header.
    position: u64,
    has_members: bool,
}

enum Input {
    Plain(Source),
    Packed(Box<Decoder>),
}

/// A member.
pub(super) struct Member {
    pub(super) header: Header,
    /// True if it is stored with holes.
    pub(super) is_sparse: bool,
}

/// The reason why an archive cannot be read any further.
pub(super) enum ReadError {
    /// It is not an archive.
    NotTar,
    /// It ends too early.
    Short,
    /// It is compressed, but not in the requested format.
    WrongFormat,
    /// An error of the file or of the compressed data.
    Read(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        if error.kind() == io::ErrorKind::UnexpectedEof { ReadError::Short } else { ReadError::Read(error) }
    }
}

impl Archive {
    /// Opens an archive. Without a format, the first bytes tell it.
    pub(super) fn new(mut source: Source, format: Option<Format>, ignores_zeros: bool) -> Result<Archive, ReadError> {
        let found = Format::detect(source.peek(6)?);
        let format = match format {
            // An .lzma file has no magic number.
            Some(Format::Lzma) => Some(Format::Lzma),
            Some(wanted) if found != Some(wanted) => return Err(ReadError::WrongFormat),
            _ => found,
        };
        let input = match format {
            Some(format) => Input::Packed(Box::new(decoder(format, source)?)),
            None => Input::Plain(source),
        };
        let globals = Records::default();
        Ok(Archive { input, left: 0, padding: 0, globals, ignores_zeros, position: 0, has_members: false })
    }

    /// Skips the rest of the current member and returns the next one.
    pub(super) fn next(&mut self) -> Result<Option<Member>, ReadError> {
        self.skip_data()?;
        let (mut name, mut link, mut records) = (None, None, Records::default());
        loop {
            let Some(block) = self.block()? else {
                return if self.has_members { Ok(None) } else { Err(ReadError::NotTar) };
            };
            let mut header = match Header::read(&block) {
                Ok(header) => header,
                Err(HeaderError::Zeros) if self.ignores_zeros => continue,
                Err(HeaderError::Zeros) => return Ok(None),
                Err(HeaderError::Wrong) => return Err(ReadError::NotTar),
            };
            self.has_members = true;
            match header.kind {
                Type::LongName => name = Some(self.extension(&header)?),
                Type::LongLink => link = Some(self.extension(&header)?),
                Type::Extended => records = Records::read(&self.raw_extension(&header)?),
                Type::Global => self.globals = Records::read(&self.raw_extension(&header)?),
                kind => {
                    self.globals.apply(&mut header);
                    if let Some(name) = name {
                        header.name = name;
                    }
                    if let Some(link) = link {
                        header.link = link;
                    }
                    records.apply(&mut header);
                    // A link has no data, even if its header has a size.
                    let has_data = matches!(kind, Type::File | Type::Unknown(_) | Type::Directory);
                    self.left = if has_data { header.size } else { 0 };
                    self.padding = self.left.next_multiple_of(BLOCK as u64) - self.left;
                    if header.kind == Type::File && header.name.ends_with(b"/") {
                        header.kind = Type::Directory;
                    }
                    return Ok(Some(Member { header, is_sparse: records.is_sparse() || kind == Type::Unknown(b'S') }));
                }
            }
        }
    }

    /// Returns the position to append at, once there are no more members.
    pub(super) fn end(&self) -> u64 {
        self.position
    }

    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, ReadError> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.input.reader().read(&mut block[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(if self.has_members { ReadError::Short } else { ReadError::NotTar }),
                count => filled += count,
            }
        }
        // The end of the archive is before the zeros.
        if block.iter().any(|byte| *byte != 0) {
            self.position += BLOCK as u64;
        }
        Ok(Some(block))
    }

    fn raw_extension(&mut self, header: &Header) -> Result<Vec<u8>, ReadError> {
        if header.size > LONGEST_EXTENSION {
            return Err(ReadError::Read(io::Error::other("an extended header is too long")));
        }
        let mut bytes = vec![0; (header.size as usize).next_multiple_of(BLOCK)];
        self.input.reader().read_exact(&mut bytes)?;
        self.position += bytes.len() as u64;
        bytes.truncate(header.size as usize);
        Ok(bytes)
    }

    fn extension(&mut self, header: &Header) -> Result<Vec<u8>, ReadError> {
        let mut bytes = self.raw_extension(header)?;
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            bytes.truncate(end);
        }
        Ok(bytes)
    }

    fn skip_data(&mut self) -> Result<(), ReadError> {
        let count = std::mem::take(&mut self.left) + std::mem::take(&mut self.padding);
        self.position += count;
        // The data in a file need not be read to be skipped, but it must exist.
        if let Input::Plain(source) = &mut self.input
            && count > 1 << 16
            && let Some(size) = source.size()
        {
            let to = source.position() + count;
            if to > size {
                return Err(ReadError::Short);
            }
            return source.seek(to).map_err(ReadError::Read);
        }
        if io::copy(&mut self.input.reader().take(count), &mut io::sink())? < count {
            return Err(ReadError::Short);
        }
        Ok(())
    }
}

impl Input {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Input::Plain(source) => source,
            Input::Packed(decoder) => decoder,
        }
    }
}

/// The data of the member.
impl Read for Archive {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let count = self.input.reader().read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        self.position += count as u64;
        Ok(count)
    }
}
