//! Writes an archive.

use std::io::{self, Read, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use isopod_sys::files::{self, Whence};

use super::entry::{DEFLATED, Entry, STORED, UTF8, dos_time};
use crate::stream::{Sink, Source, failure};

/// The largest file that is compressed in memory, so that it can be stored plainly if it gets no smaller.
const SMALL: u64 = 1 << 20;

/// The limit of 32-bit sizes and offsets in the usual format. Files of a sandbox are far smaller.
const LARGEST: u64 = u32::MAX as u64;

/// An archive under construction.
pub(super) struct Writer {
    sink: Sink,
    /// True if the sink is a file, in which a header can be rewritten.
    can_seek: bool,
    entries: Vec<Entry>,
    has_extra: bool,
}

impl Writer {
    pub(super) fn new(sink: Sink, can_seek: bool, has_extra: bool) -> Writer {
        Writer { sink, can_seek, entries: Vec::new(), has_extra }
    }

    /// Adds a file's data under an entry, and sets the entry's sizes.
    pub(super) fn add(&mut self, mut entry: Entry, data: &mut dyn Read, level: u32) -> io::Result<Entry> {
        entry.offset = self.sink.written();
        if entry.size <= SMALL {
            self.small(&mut entry, data, level)?;
        } else {
            self.large(&mut entry, data, level)?;
        }
        if entry.offset > LARGEST || entry.size > LARGEST || entry.packed > LARGEST {
            return Err(io::Error::other("files and archives over 4 GiB are not supported"));
        }
        self.entries.push(entry.clone());
        Ok(entry)
    }

    /// Copies an entry of another archive unchanged.
    pub(super) fn copy(&mut self, mut entry: Entry, source: &mut Source) -> io::Result<()> {
        super::directory::seek_data(source, &entry)?;
        entry.offset = self.sink.written();
        // The sizes are known, so they need not follow the data.
        entry.flags &= UTF8;
        self.sink.write_all(&self.local_header(&entry))?;
        let copied = io::copy(&mut source.take(entry.packed), &mut self.sink)?;
        if copied < entry.packed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.entries.push(entry);
        Ok(())
    }

    fn small(&mut self, entry: &mut Entry, data: &mut dyn Read, level: u32) -> io::Result<()> {
        let mut plain = Vec::new();
        data.read_to_end(&mut plain)?;
        let mut crc = Crc::new();
        crc.update(&plain);
        (entry.crc, entry.size) = (crc.sum(), plain.len() as u64);
        let mut packed = Vec::new();
        if level > 0 && !plain.is_empty() {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
            encoder.write_all(&plain)?;
            packed = encoder.finish()?;
        }
        let is_smaller = !packed.is_empty() && packed.len() < plain.len();
        entry.method = if is_smaller { DEFLATED } else { STORED };
        let bytes = if is_smaller { packed } else { plain };
        entry.packed = bytes.len() as u64;
        self.sink.write_all(&self.local_header(entry))?;
        self.sink.write_all(&bytes)
    }

    fn large(&mut self, entry: &mut Entry, data: &mut dyn Read, level: u32) -> io::Result<()> {
        entry.method = if level > 0 { DEFLATED } else { STORED };
        if !self.can_seek {
            // A flag in the header says that the sizes follow the data.
            entry.flags |= 1 << 3;
        }
        (entry.size, entry.packed, entry.crc) = (0, 0, 0);
        self.sink.write_all(&self.local_header(entry))?;
        let start = self.sink.written();
        let mut counted = CountingReader { inner: data, crc: Crc::new(), count: 0 };
        if level > 0 {
            let mut encoder = DeflateEncoder::new(&mut self.sink, Compression::new(level));
            io::copy(&mut counted, &mut encoder)?;
            encoder.finish()?;
        } else {
            io::copy(&mut counted, &mut self.sink)?;
        }
        (entry.crc, entry.size) = (counted.crc.sum(), counted.count);
        entry.packed = self.sink.written() - start;
        if self.can_seek {
            return self.rewrite_header(entry);
        }
        let mut follows = b"PK\x07\x08".to_vec();
        follows.extend(entry.crc.to_le_bytes());
        follows.extend((entry.packed as u32).to_le_bytes());
        follows.extend((entry.size as u32).to_le_bytes());
        self.sink.write_all(&follows)
    }

    fn rewrite_header(&mut self, entry: &Entry) -> io::Result<()> {
        let header = self.local_header(entry);
        let end = self.sink.written();
        if let Some(number) = self.sink.raw()? {
            let seek = |to: u64| files::seek(number, to as i64, Whence::Start).map_err(failure);
            seek(entry.offset)?;
            isopod_sys::write_all(number, &header).map_err(failure)?;
            seek(end)?;
        }
        Ok(())
    }

    /// Writes the list of entries and ends the archive.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let start = self.sink.written();
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            let extra = self.extra(entry);
            let (time, date) = dos_time(entry.modified);
            let mut record = b"PK\x01\x02".to_vec();
            // Made by version 3.0 on Unix.
            for number in [0x031e, version(entry), entry.flags, entry.method, time, date] {
                record.extend(number.to_le_bytes());
            }
            for number in [entry.crc, entry.packed as u32, entry.size as u32] {
                record.extend(number.to_le_bytes());
            }
            for number in [entry.name.len() as u16, extra.len() as u16, 0, 0, 0] {
                record.extend(number.to_le_bytes());
            }
            let directory_bit = if entry.is_directory() { 0x10 } else { 0 };
            record.extend((entry.mode << 16 | directory_bit).to_le_bytes());
            record.extend((entry.offset as u32).to_le_bytes());
            record.extend(entry.name.as_bytes());
            record.extend(extra);
            self.sink.write_all(&record)?;
        }
        let length = self.sink.written() - start;
        let count = u16::try_from(entries.len())
            .map_err(|_| io::Error::other("archives of more than 65535 files are not supported"))?;
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(count.to_le_bytes());
        end.extend(count.to_le_bytes());
        end.extend((length as u32).to_le_bytes());
        end.extend((start as u32).to_le_bytes());
        end.extend([0, 0]);
        self.sink.write_all(&end)?;
        self.sink.flush()
    }

    fn local_header(&self, entry: &Entry) -> Vec<u8> {
        let extra = self.extra(entry);
        let (time, date) = dos_time(entry.modified);
        let mut header = b"PK\x03\x04".to_vec();
        for number in [version(entry), entry.flags, entry.method, time, date] {
            header.extend(number.to_le_bytes());
        }
        for number in [entry.crc, entry.packed as u32, entry.size as u32] {
            header.extend(number.to_le_bytes());
        }
        for number in [entry.name.len() as u16, extra.len() as u16] {
            header.extend(number.to_le_bytes());
        }
        header.extend(entry.name.as_bytes());
        header.extend(extra);
        header
    }

    /// Returns the extra field with the Unix time, which is more exact than MS-DOS's.
    fn extra(&self, entry: &Entry) -> Vec<u8> {
        if !self.has_extra {
            return Vec::new();
        }
        let mut extra = b"UT\x05\0\x01".to_vec();
        extra.extend((entry.modified as u32).to_le_bytes());
        extra
    }
}

/// Returns the version that is needed to extract: 2.0 for deflated entries and directories.
fn version(entry: &Entry) -> u16 {
    if entry.method == DEFLATED || entry.is_directory() { 20 } else { 10 }
}

/// A reader that counts the bytes and computes their checksum.
struct CountingReader<'a> {
    inner: &'a mut dyn Read,
    crc: Crc,
    count: u64,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.crc.update(&buffer[..count]);
        self.count += count as u64;
        Ok(count)
    }
}
