//! The list of entries at the end of an archive.

use std::io::{self, Read};

use super::entry::{Entry, from_dos_time};
use crate::stream::Source;

/// The largest list of entries that is read into memory.
const LARGEST_LIST: u64 = 256 << 20;

/// The length of the end record with the longest comment after it.
const LONGEST_END: u64 = 22 + 65_535;

/// Reads the list. The error's kind is `NotFound` for a file that is not an archive.
pub(super) fn read(source: &mut Source) -> io::Result<Vec<Entry>> {
    let no_archive = || io::Error::from(io::ErrorKind::NotFound);
    let size = source.size().ok_or_else(no_archive)?;
    let start = size.saturating_sub(LONGEST_END);
    let tail = part(source, start, size - start)?;
    let at = tail.windows(4).rposition(|window| window == b"PK\x05\x06").ok_or_else(no_archive)?;
    let end = Fields(tail.get(at..).unwrap_or_default());
    let (mut count, mut length, mut offset) =
        (u64::from(end.u16(10)?), u64::from(end.u32(12)?), u64::from(end.u32(16)?));
    let mut position = start + at as u64;
    // Numbers that do not fit are in a second record before this one.
    if (count == 0xffff || offset == 0xffff_ffff) && at >= 20 && tail[at - 20..].starts_with(b"PK\x06\x07") {
        let record = Fields(&tail[at - 20..]).u64(8)?;
        let large = part(source, record, 56)?;
        let large = Fields(&large);
        (count, length, offset) = (large.u64(32)?, large.u64(40)?, large.u64(48)?);
        position = record;
    }
    if length > LARGEST_LIST || length > position {
        return Err(corrupt());
    }
    // Other data may precede the archive, such as a program that extracts it.
    let shift = (position - length).checked_sub(offset).ok_or_else(corrupt)?;
    let list = part(source, position - length, length)?;
    let mut entries = Vec::new();
    let mut rest = list.as_slice();
    for _ in 0..count {
        let (mut entry, after) = entry(rest)?;
        entry.offset += shift;
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

/// Seeks to the data of an entry.
pub(super) fn seek_data(source: &mut Source, entry: &Entry) -> io::Result<()> {
    let header = part(source, entry.offset, 30)?;
    let header = Fields(&header);
    if !header.0.starts_with(b"PK\x03\x04") {
        return Err(corrupt());
    }
    source.seek(entry.offset + 30 + u64::from(header.u16(26)?) + u64::from(header.u16(28)?))
}

fn entry(bytes: &[u8]) -> io::Result<(Entry, &[u8])> {
    let fields = Fields(bytes);
    if !bytes.starts_with(b"PK\x01\x02") {
        return Err(corrupt());
    }
    let lengths = (usize::from(fields.u16(28)?), usize::from(fields.u16(30)?), usize::from(fields.u16(32)?));
    let name = bytes.get(46..46 + lengths.0).ok_or_else(corrupt)?;
    let extra = bytes.get(46 + lengths.0..46 + lengths.0 + lengths.1).ok_or_else(corrupt)?;
    let rest = bytes.get(46 + lengths.0 + lengths.1 + lengths.2..).ok_or_else(corrupt)?;
    let is_unix = fields.u16(4)? >> 8 == 3;
    let mut entry = Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        method: fields.u16(10)?,
        flags: fields.u16(8)?,
        crc: fields.u32(16)?,
        packed: fields.u32(20)?.into(),
        size: fields.u32(24)?.into(),
        offset: fields.u32(42)?.into(),
        mode: if is_unix { fields.u32(38)? >> 16 } else { 0 },
        modified: from_dos_time(fields.u16(12)?, fields.u16(14)?),
    };
    read_extra(extra, &mut entry);
    Ok((entry, rest))
}

/// Reads extra fields: sizes that need 64 bits, and Unix times.
fn read_extra(mut extra: &[u8], entry: &mut Entry) {
    while extra.len() >= 4 {
        let (kind, length) =
            (u16::from_le_bytes([extra[0], extra[1]]), usize::from(u16::from_le_bytes([extra[2], extra[3]])));
        let Some(body) = extra.get(4..4 + length) else {
            return;
        };
        match kind {
            1 => {
                let mut numbers = body.chunks_exact(8).map(|bytes| Fields(bytes).u64(0).unwrap_or(0));
                for field in [&mut entry.size, &mut entry.packed, &mut entry.offset] {
                    if *field == 0xffff_ffff {
                        *field = numbers.next().unwrap_or(*field);
                    }
                }
            }
            0x5455 if body.first().is_some_and(|flags| flags & 1 != 0) => {
                if let Ok(seconds) = Fields(body).u32(1) {
                    entry.modified = seconds.into();
                }
            }
            _ => {}
        }
        extra = &extra[4 + length..];
    }
}

fn part(source: &mut Source, at: u64, length: u64) -> io::Result<Vec<u8>> {
    source.seek(at)?;
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn corrupt() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the list of files is damaged")
}

/// The bytes of a record, read as numbers.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(&self, at: usize) -> io::Result<u16> {
        self.0.get(at..at + 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).ok_or_else(corrupt)
    }

    fn u32(&self, at: usize) -> io::Result<u32> {
        Ok(u32::from(self.u16(at)?) | u32::from(self.u16(at + 2)?) << 16)
    }

    fn u64(&self, at: usize) -> io::Result<u64> {
        Ok(u64::from(self.u32(at)?) | u64::from(self.u32(at + 4)?) << 32)
    }
}
