//! Tar entries: the POSIX pax format, restricted to the entries that this module writes.

use std::io::{Read, Write};

use crate::limits::{NAME_BYTES, PATH_DEPTH};

use super::{ArchiveError, Result, from_io};

/// Bytes of a block, the unit of a tar.
const BLOCK: usize = 512;
/// Maximum bytes of the pax records of an entry: room for the two longest possible paths and the rest.
const RECORDS: u64 = 2 * (PATH_DEPTH * (NAME_BYTES + 1)) as u64 + 1024;
const NANOS: u64 = 1_000_000_000;

/// One file, directory or link. The content of a file follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Names joined by `/`; empty for the root.
    pub(super) path: String,
    pub(super) kind: EntryKind,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Nanoseconds since 1970.
    pub(super) modified: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A file of this many bytes.
    File(u64),
    Directory,
    /// A symbolic link and its target.
    Symlink(String),
    /// Another name of the file with this path.
    Name(String),
}

impl Entry {
    /// Writes everything but the content of a file.
    pub(super) fn write(&self, to: &mut impl Write) -> Result<()> {
        let path = self.shown_path();
        let (kind, link, size) = match &self.kind {
            EntryKind::File(size) => (b'0', "", *size),
            EntryKind::Name(path) => (b'1', path.as_str(), 0),
            EntryKind::Symlink(target) => (b'2', target.as_str(), 0),
            EntryKind::Directory => (b'5', "", 0),
        };
        // The header holds truncated values for old readers; the records hold them in full.
        let mut records = Vec::new();
        record(&mut records, "path", &path);
        if !link.is_empty() {
            record(&mut records, "linkpath", link);
        }
        record(&mut records, "mtime", &format!("{}.{:09}", self.modified / NANOS, self.modified % NANOS));
        for (key, value) in [("uid", self.uid.into()), ("gid", self.gid.into()), ("size", size)] {
            record(&mut records, key, &value.to_string());
        }
        let len = records.len() as u64;
        to.write_all(&header(b'x', "", "", len, self).to_bytes())?;
        to.write_all(&records)?;
        pad(to, len)?;
        to.write_all(&header(kind, &path, link, size, self).to_bytes())?;
        Ok(())
    }

    fn shown_path(&self) -> String {
        match (&self.kind, self.path.as_str()) {
            (_, "") => "./".to_owned(),
            (EntryKind::Directory, path) => format!("{path}/"),
            (_, path) => path.to_owned(),
        }
    }

    /// Reads an entry; none at the end.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Entry>> {
        let block = read_block(from)?;
        if block == [0; BLOCK] {
            return end(from).map(|()| None);
        }
        let first = Header::parse(&block)?;
        let wrong = ArchiveError::Malformed;
        if first.kind != b'x' || first.size > RECORDS {
            return Err(wrong("an entry without records"));
        }
        let mut text = vec![0; first.size as usize];
        from.read_exact(&mut text).map_err(from_io)?;
        skip_padding(from, first.size)?;
        let records = Records::parse(&text)?;
        let own = Header::parse(&read_block(from)?)?;
        let path = records.path.ok_or(wrong("an entry without a path"))?;
        let size = records.size.ok_or(wrong("an entry without a size"))?;
        if size != 0 && own.kind != b'0' {
            return Err(wrong("a size of an entry without content"));
        }
        let link = records.link.ok_or(wrong("a link without a target"));
        let kind = match own.kind {
            b'0' => EntryKind::File(size),
            b'1' => EntryKind::Name(link?),
            b'2' => EntryKind::Symlink(link?),
            b'5' => EntryKind::Directory,
            _ => return Err(wrong("an entry of an unsupported kind")),
        };
        let path = match (&kind, path.as_str()) {
            (EntryKind::Directory, "./") => String::new(),
            (EntryKind::Directory, path) => {
                path.strip_suffix('/').ok_or(wrong("a directory without a slash"))?.to_owned()
            }
            (_, path) => path.to_owned(),
        };
        let (uid, gid) = (records.uid.unwrap_or(0), records.gid.unwrap_or(0));
        Ok(Some(Entry { path, kind, mode: own.mode, uid, gid, modified: records.modified.unwrap_or(0) }))
    }
}

/// Writes the end of a tar.
pub(super) fn finish(to: &mut impl Write) -> Result<()> {
    Ok(to.write_all(&[0; 2 * BLOCK])?)
}

/// Writes the padding after `len` bytes.
pub(super) fn pad(to: &mut impl Write, len: u64) -> Result<()> {
    Ok(to.write_all(&[0; BLOCK][..padding(len)])?)
}

/// Reads the padding after `len` bytes, which must be zeros.
pub(super) fn skip_padding(from: &mut impl Read, len: u64) -> Result<()> {
    let mut rest = [0; BLOCK];
    let rest = &mut rest[..padding(len)];
    from.read_exact(rest).map_err(from_io)?;
    if rest.iter().any(|byte| *byte != 0) {
        return Err(ArchiveError::Malformed("the padding is not zero"));
    }
    Ok(())
}

fn padding(len: u64) -> usize {
    (len.next_multiple_of(BLOCK as u64) - len) as usize
}

fn read_block(from: &mut impl Read) -> Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    from.read_exact(&mut block).map_err(from_io)?;
    Ok(block)
}

/// Checks that a second block of zeros follows the first, and then nothing.
fn end(from: &mut impl Read) -> Result<()> {
    let is_end = read_block(from)? == [0; BLOCK] && from.read(&mut [0]).map_err(from_io)? == 0;
    if is_end { Ok(()) } else { Err(ArchiveError::Malformed("data after the end")) }
}

/// A header block.
struct Header {
    kind: u8,
    mode: u32,
    size: u64,
    name: Vec<u8>,
    link: Vec<u8>,
    seconds: u64,
}

/// Creates a header. Most of its values are repeated in full in the records.
fn header(kind: u8, name: &str, link: &str, size: u64, entry: &Entry) -> Header {
    let cut = |text: &str| text.bytes().take(100).collect();
    Header { kind, mode: entry.mode, size, name: cut(name), link: cut(link), seconds: entry.modified / NANOS }
}

impl Header {
    fn to_bytes(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        let octal = |width: usize, value: u64| {
            let most = 8_u64.pow(width as u32) - 1;
            format!("{:0width$o}", value.min(most))
        };
        put(0, &self.name);
        put(100, octal(7, self.mode.into()).as_bytes());
        put(108, octal(7, 0).as_bytes());
        put(116, octal(7, 0).as_bytes());
        put(124, octal(11, self.size).as_bytes());
        put(136, octal(11, self.seconds).as_bytes());
        put(156, &[self.kind]);
        put(157, &self.link);
        put(257, b"ustar\x0000");
        let sum = checksum(&block);
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        block
    }

    fn parse(block: &[u8; BLOCK]) -> Result<Header> {
        let wrong = ArchiveError::Malformed;
        if &block[257..265] != b"ustar\x0000" {
            return Err(wrong("not a tar"));
        }
        let sum = std::str::from_utf8(&block[148..154]).ok().and_then(|text| u64::from_str_radix(text, 8).ok());
        if sum != Some(checksum(block)) {
            return Err(wrong("a wrong checksum"));
        }
        let octal = |from: usize, to: usize| {
            let text = std::str::from_utf8(&block[from..to]).map_err(|_| wrong("an invalid number"))?;
            u64::from_str_radix(text, 8).map_err(|_| wrong("an invalid number"))
        };
        let mode = u32::try_from(octal(100, 107)?).ok().filter(|mode| mode & !0o7777 == 0);
        Ok(Header {
            kind: block[156],
            mode: mode.ok_or(wrong("an invalid mode"))?,
            size: octal(124, 135)?,
            name: Vec::new(),
            link: Vec::new(),
            seconds: 0,
        })
    }
}

/// Returns the sum of all bytes, with the bytes of the checksum itself counted as blanks.
fn checksum(block: &[u8; BLOCK]) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    sum(&block[..148]) + 8 * u64::from(b' ') + sum(&block[156..])
}

/// Appends a record `length key=value`. The length includes itself.
fn record(records: &mut Vec<u8>, key: &str, value: &str) {
    let rest = key.len() + value.len() + 3;
    let mut len = rest + rest.to_string().len();
    len = rest + len.to_string().len();
    records.extend_from_slice(format!("{len} {key}={value}\n").as_bytes());
}

/// The records of an entry.
#[derive(Default)]
struct Records {
    path: Option<String>,
    link: Option<String>,
    modified: Option<u64>,
    uid: Option<u32>,
    gid: Option<u32>,
    size: Option<u64>,
}

impl Records {
    fn parse(bytes: &[u8]) -> Result<Records> {
        let wrong = || ArchiveError::Malformed("an invalid record");
        let mut rest = std::str::from_utf8(bytes).map_err(|_| wrong())?;
        let mut records = Records::default();
        while !rest.is_empty() {
            let (len, _) = rest.split_once(' ').ok_or_else(wrong)?;
            let line = len.parse().ok().and_then(|end: usize| rest.get(..end)).ok_or_else(wrong)?;
            rest = &rest[line.len()..];
            let line = line.strip_prefix(len).and_then(|line| line.strip_prefix(' '));
            let line = line.and_then(|line| line.strip_suffix('\n')).ok_or_else(wrong)?;
            let (key, value) = line.split_once('=').ok_or_else(wrong)?;
            match key {
                "path" => records.path = Some(value.to_owned()),
                "linkpath" => records.link = Some(value.to_owned()),
                "mtime" => records.modified = Some(time(value).ok_or_else(wrong)?),
                "uid" => records.uid = Some(value.parse().map_err(|_| wrong())?),
                "gid" => records.gid = Some(value.parse().map_err(|_| wrong())?),
                "size" => records.size = Some(value.parse().map_err(|_| wrong())?),
                _ => return Err(wrong()),
            }
        }
        Ok(records)
    }
}

/// Parses seconds with nine decimal places.
fn time(text: &str) -> Option<u64> {
    let (seconds, nanos) = text.split_once('.')?;
    let nanos = if nanos.len() == 9 { nanos.parse::<u64>().ok()? } else { return None };
    seconds.parse::<u64>().ok()?.checked_mul(NANOS)?.checked_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let long = "long/".repeat(60) + "name";
        for (path, kind) in [
            ("", EntryKind::Directory),
            ("d", EntryKind::Directory),
            ("d/f", EntryKind::File(1000)),
            (long.as_str(), EntryKind::File(0)),
            ("d/=\n\"é", EntryKind::Symlink("../x y".to_owned())),
            ("d/g", EntryKind::Name(long.clone())),
        ] {
            let entry = Entry {
                path: path.to_owned(),
                kind,
                mode: 0o4751,
                uid: u32::MAX,
                gid: 0,
                modified: 1_700_000_000_123_456_789,
            };
            let mut bytes = Vec::new();
            entry.write(&mut bytes).unwrap();
            assert_eq!(bytes.len() % BLOCK, 0);
            assert_eq!(Entry::read(&mut bytes.as_slice()).unwrap(), Some(entry));
        }
        let mut bytes = Vec::new();
        finish(&mut bytes).unwrap();
        assert_eq!(Entry::read(&mut bytes.as_slice()).unwrap(), None);
    }

    #[test]
    fn a_record_counts_its_own_length() {
        for len in 0..1200 {
            let mut records = Vec::new();
            record(&mut records, "path", &"x".repeat(len));
            let text = String::from_utf8(records.clone()).unwrap();
            assert_eq!(text.split_once(' ').unwrap().0.parse(), Ok(records.len()));
            assert_eq!(Records::parse(&records).unwrap().path.unwrap().len(), len);
        }
    }
}
