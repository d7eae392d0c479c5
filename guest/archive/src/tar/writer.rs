//! Writing an archive, member by member.

use std::io::{self, Read, Write};

use isopod_gnu::output::PIECE;

use super::header::{BLOCK, Header, Type};
use super::pax::Records;
use crate::codec::{Encoder, Format, Header as PackedHeader};
use crate::stream::Sink;

/// The form of values that do not fit a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Gnu,
    Pax,
    Ustar,
}

/// An archive that is written.
pub(super) struct Builder {
    output: Encoder<Sink>,
    dialect: Dialect,
    /// The number of bytes written, for the padding at the end.
    written: u64,
    /// The size of a record. The archive is padded to a multiple of it.
    record: u64,
    /// The buffer that data passes through. It is kept from file to file: clearing a new one costs more than a small
    /// file.
    buffer: Vec<u8>,
}

/// The longest name that fits its field in a header.
const FIELD: usize = 100;

impl Builder {
    /// Starts an archive, or continues one after `written` bytes.
    pub(super) fn new(
        sink: Sink,
        format: Option<Format>,
        level: u32,
        dialect: Dialect,
        record: u64,
        written: u64,
    ) -> io::Result<Builder> {
        let output = Encoder::new(format, sink, level, &PackedHeader::default())?;
        Ok(Builder { output, dialect, written, record, buffer: vec![0; PIECE] })
    }

    /// Writes a header, and the extensions before it.
    pub(super) fn header(&mut self, header: &Header) -> io::Result<()> {
        match self.dialect {
            Dialect::Gnu => {
                for (kind, text) in [(Type::LongLink, &header.link), (Type::LongName, &header.name)] {
                    if text.len() > FIELD {
                        let mut long = Header::new(b"././@LongLink".to_vec(), kind);
                        (long.size, long.user, long.group) = (text.len() as u64 + 1, "root".into(), "root".into());
                        self.put(&long.write(false))?;
                        let mut bytes = text.clone();
                        bytes.push(0);
                        self.padded(&bytes)?;
                    }
                }
                self.put(&header.write(false))
            }
            Dialect::Pax => {
                let mut records = Records::default();
                if header.name.len() > FIELD || !header.name.is_ascii() {
                    records.add("path", &header.name);
                }
                if header.link.len() > FIELD || !header.link.is_ascii() {
                    records.add("linkpath", &header.link);
                }
                if header.size >= 1 << 33 {
                    records.add("size", header.size.to_string().as_bytes());
                }
                if header.nanos != 0 {
                    let text = format!("{}.{:09}", header.modified, header.nanos);
                    records.add("mtime", text.trim_end_matches('0').as_bytes());
                }
                if !records.is_empty() {
                    let bytes = records.write();
                    let last = header.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                    let mut extension = Header::new([b"./PaxHeaders/", last].concat(), Type::Extended);
                    extension.size = bytes.len() as u64;
                    self.put(&extension.write(true))?;
                    self.padded(&bytes)?;
                }
                self.put(&header.write(true))
            }
            Dialect::Ustar => self.ustar(header),
        }
    }

    fn ustar(&mut self, header: &Header) -> io::Result<()> {
        let mut block = header.write(true);
        if header.link.len() > FIELD {
            return Err(io::Error::other("link name is too long (cannot be split)"));
        }
        if header.name.len() > FIELD {
            let fits = |at: &usize| *at <= 155 && header.name.len() - at - 1 <= FIELD && *at + 1 < header.name.len();
            let slashes = header.name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let Some(split) = slashes.rev().find(|at| fits(at)) else {
                return Err(io::Error::other("file name is too long (cannot be split)"));
            };
            let mut short = header.clone();
            short.name = header.name[split + 1..].to_vec();
            block = short.write(true);
            block[345..345 + split].copy_from_slice(&header.name[..split]);
            // The checksum covers the prefix too.
            let sum: u32 = block
                .iter()
                .enumerate()
                .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
                .sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        self.put(&block)
    }

    /// Writes exactly `size` bytes of a member's data. Returns the number of missing bytes, which are written as zeros.
    pub(super) fn data(&mut self, source: &mut dyn Read, size: u64) -> io::Result<u64> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut left = size;
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = source.read(&mut buffer[..most])?;
            if count == 0 {
                break;
            }
            self.put(&buffer[..count])?;
            left -= count as u64;
        }
        let missing = left;
        if missing > 0 {
            buffer.fill(0);
        }
        while left > 0 {
            let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.put(&buffer[..count])?;
            left -= count as u64;
        }
        self.buffer = buffer;
        self.pad(BLOCK as u64)?;
        Ok(missing)
    }

    /// Ends the archive with two blocks of zeros, and more up to a whole record.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.put(&[0; 2 * BLOCK])?;
        self.pad(self.record)?;
        self.output.finish().map(drop)
    }

    fn padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(bytes)?;
        self.pad(BLOCK as u64)
    }

    fn pad(&mut self, to: u64) -> io::Result<()> {
        let mut left = self.written.next_multiple_of(to) - self.written;
        let zeros = [0; BLOCK];
        while left > 0 {
            let count = left.min(BLOCK as u64);
            self.put(&zeros[..count as usize])?;
            left -= count;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.output.write_all(bytes)
    }
}
