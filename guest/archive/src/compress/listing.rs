//! `gzip -l`: facts from the headers and trailers of compressed files.

use std::io::{self, Read};

use isopod_gnu::calendar::Date;
use isopod_gnu::output::Out;
use isopod_sys::files::Attributes;

use super::job::Job;
use crate::stream::Source;

/// The lines of a listing.
pub(super) struct Listing {
    out: Out,
    is_verbose: bool,
    is_quiet: bool,
    count: u64,
    packed: u64,
    unpacked: u64,
    overhead: u64,
}

impl Listing {
    pub(super) fn new(is_verbose: bool, is_quiet: bool) -> Listing {
        Listing { out: Out::new(), is_verbose, is_quiet, count: 0, packed: 0, unpacked: 0, overhead: 0 }
    }

    /// Adds a file.
    pub(super) fn add(
        &mut self,
        source: &mut Source,
        name: &str,
        job: &Job,
        attributes: Option<&Attributes>,
    ) -> io::Result<()> {
        let start = source.peek(4096)?.to_vec();
        let overhead = header_length(&start).ok_or_else(|| {
            let kind = if start.is_empty() { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData };
            io::Error::new(kind, "invalid header")
        })? + 8;
        let packed = match source.size() {
            Some(size) if size >= 8 => {
                source.seek(size - 8)?;
                size
            }
            // A pipe has to be read to its end to see the last bytes.
            _ => 0,
        };
        let (tail, read) = tail(source)?;
        let packed = if packed == 0 { read } else { packed };
        let word = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
        let (crc, unpacked) = (word(0), u64::from(word(4)));
        if self.count == 0 && !self.is_quiet {
            let lead = if self.is_verbose { "method  crc     date  time  " } else { "" };
            self.out
                .push(format!("{lead}         compressed        uncompressed  ratio uncompressed_name\n").as_bytes());
        }
        if self.is_verbose {
            let stored = u64::from(u32::from_le_bytes([start[4], start[5], start[6], start[7]])) * 1_000_000_000;
            let time = if stored == 0 { attributes.map_or(0, |found| found.modified) } else { stored };
            let date = Date::new(time).format("%b %e %H:%M").unwrap_or_default();
            self.out.push(format!("defla {crc:08x} {date} ").as_bytes());
        }
        let shown = match attributes {
            Some(_) => job.unpacked_name(name).unwrap_or_else(|| name.to_owned()),
            None => "stdout".to_owned(),
        };
        self.line(packed, unpacked, overhead, &shown);
        self.count += 1;
        self.packed += packed;
        self.unpacked += unpacked;
        self.overhead = overhead;
        Ok(())
    }

    /// Ends the listing, with totals if there is more than one file.
    pub(super) fn finish(&mut self) {
        if self.count > 1 && !self.is_quiet {
            if self.is_verbose {
                self.out.push(b"                            ");
            }
            self.line(self.packed, self.unpacked, self.overhead, "(totals)");
        }
        self.out.flush();
    }

    fn line(&mut self, packed: u64, unpacked: u64, overhead: u64, name: &str) {
        let ratio = ratio(unpacked, packed.saturating_sub(overhead));
        self.out.push(format!("{packed:>19} {unpacked:>19} {ratio} {name}\n").as_bytes());
    }
}

/// Returns the reduction in size, in percent.
pub(super) fn ratio(large: u64, small: u64) -> String {
    let saved = if large == 0 { 0.0 } else { 100.0 * (large as f64 - small as f64) / large as f64 };
    format!("{saved:5.1}%")
}

/// Returns the length of the header: ten bytes, and a name, a comment and other fields by its flags.
fn header_length(bytes: &[u8]) -> Option<u64> {
    let [0x1f, 0x8b, 8, flags, ..] = bytes else {
        return None;
    };
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            at += bytes.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at <= bytes.len()).then_some(at as u64)
}

/// Returns the last eight bytes, and the number of all bytes.
fn tail(source: &mut Source) -> io::Result<([u8; 8], u64)> {
    let (mut tail, mut total) = ([0; 8], 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = source.read(&mut buffer)?;
        if count == 0 {
            return if total >= 8 { Ok((tail, total)) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        total += count as u64;
        let joined: Vec<u8> = tail.iter().chain(&buffer[..count]).copied().collect();
        tail.copy_from_slice(&joined[joined.len() - 8..]);
    }
}
