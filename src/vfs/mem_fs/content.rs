//! The content of a file, in chunks. A chunk that was never written does not exist and costs nothing.
//!
//! The charge is the stored data in whole blocks, not the length of the file: `truncate -s 90M` is free. Blocks are
//! counted because a chunk with one byte costs the host far more than a byte.
//!
//! In an overlay a chunk that was never written shows the content of the lower file. The first write to it copies that
//! chunk only: changing a byte in a file of 100 MB costs 64 KiB.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::error::Result;
use crate::vfs::File;

use super::chunk::Chunk;
use super::shared_map::SharedMap;

/// Bytes of a chunk. As large as the largest write, so that a copy through the kernel touches one or two chunks, and
/// small enough that copying a shared chunk is cheap.
pub(super) const CHUNK: u64 = 64 << 10;

/// Bytes of a block, the unit of `st_blocks`. More than the overhead of a chunk on the host.
const BLOCK: u64 = 512;

/// The content of a file. A copy shares the chunks until one side writes to them.
#[derive(Clone, Default)]
pub(super) struct Content {
    len: u64,
    /// Chunks by index. A chunk may be shorter than `CHUNK`; the missing bytes read as zeros.
    chunks: SharedMap<u64, Arc<Chunk>>,
    charged: u64,
    /// The lower file that shows where there is no chunk.
    below: Option<LowerContent>,
}

/// A lower file whose start shows through.
#[derive(Clone)]
struct LowerContent {
    path: Arc<str>,
    /// Number of its bytes that show. Truncated bytes do not come back.
    len: u64,
    /// Length of the lower file.
    whole: u64,
}

impl Content {
    /// Creates the content of a lower file.
    pub(super) fn below(path: Arc<str>, len: u64) -> Content {
        Content { len, below: (len > 0).then_some(LowerContent { path, len, whole: len }), ..Content::default() }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the stored bytes, in whole blocks.
    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    /// Returns the path of the lower file, as long as some of it shows.
    pub(super) fn origin(&self) -> Option<&Arc<str>> {
        self.below.as_ref().map(|below| &below.path)
    }

    /// Returns true if the content is exactly that of the lower file.
    pub(super) fn is_untouched(&self) -> bool {
        let is_whole = |below: &LowerContent| below.len == below.whole && below.len == self.len;
        self.chunks.is_empty() && self.below.as_ref().is_some_and(is_whole)
    }

    /// Reads from the chunks and from `below`, the lower file that shows through, if any.
    pub(super) fn read(&self, offset: u64, max: usize, below: Option<&dyn File>) -> Result<Bytes> {
        let end = offset.saturating_add(max as u64).min(self.len);
        if offset >= end {
            return Ok(Bytes::new());
        }
        // Most reads are inside one chunk.
        let (index, from) = (offset / CHUNK, (offset % CHUNK) as usize);
        if let Some(bytes) = self.chunks.get(&index).and_then(|chunk| chunk.get(from..from + (end - offset) as usize)) {
            return Ok(Bytes::copy_from_slice(bytes));
        }
        let mut bytes = BytesMut::zeroed((end - offset) as usize);
        let mut put = |at: u64, from: &[u8]| {
            let at = (at - offset) as usize;
            bytes[at..at + from.len()].copy_from_slice(from);
        };
        let mut reached = offset;
        let chunks = self.chunks.iter_from(&(offset / CHUNK));
        for (&index, chunk) in chunks.take_while(|(index, _)| **index <= (end - 1) / CHUNK) {
            let start = index * CHUNK;
            self.read_lower(reached, start, below, &mut put)?;
            let from = offset.max(start);
            let to = end.min(start + chunk.len() as u64);
            if from < to {
                put(from, &chunk[(from - start) as usize..(to - start) as usize]);
            }
            reached = start + CHUNK;
        }
        self.read_lower(reached, end, below, &mut put)?;
        Ok(bytes.freeze())
    }

    /// Passes the bytes of the lower file between `from` and `to` to `put`. If the lower file has become shorter, it
    /// was changed under the overlay, and the missing bytes read as zeros.
    fn read_lower(
        &self,
        mut from: u64,
        to: u64,
        below: Option<&dyn File>,
        put: &mut impl FnMut(u64, &[u8]),
    ) -> Result<()> {
        let to = to.min(self.below.as_ref().map_or(0, |below| below.len));
        let Some(below) = below else { return Ok(()) };
        while from < to {
            let bytes = below.read_at(from, (to - from).min(CHUNK) as usize)?;
            if bytes.is_empty() {
                break;
            }
            put(from, &bytes);
            from += bytes.len() as u64;
        }
        Ok(())
    }

    /// Returns the additional charge of a write of `len` bytes at `offset`.
    pub(super) fn growth(&self, offset: u64, len: u64) -> u64 {
        pieces(offset, len)
            .map(|(index, _, to)| match self.chunks.get(&index) {
                Some(chunk) => blocks(to).saturating_sub(blocks(chunk.len() as u64)),
                None => blocks(to.max(self.lower_len(index))),
            })
            .sum()
    }

    /// Returns how many bytes of such a write, in whole blocks, cost at most `room`.
    pub(super) fn fit(&self, offset: u64, len: u64, room: u64) -> u64 {
        let mut rest = room;
        for (index, from, to) in pieces(offset, len) {
            let start = index * CHUNK;
            let growth = self.growth(start + from, to - from);
            if growth <= rest {
                rest -= growth;
                continue;
            }
            // The existing part of the chunk is paid for; a copy of lower content is not.
            let there = self.chunks.get(&index).map_or(0, |chunk| blocks(chunk.len() as u64));
            let end = block_before(there.saturating_add(rest) + 1).min(to);
            let is_paid = there > 0 || blocks(self.lower_len(index)) <= rest;
            let end = if is_paid { end.max(from) } else { from };
            return (start + end).saturating_sub(offset);
        }
        len
    }

    /// Writes. The caller has reserved the growth. It fails only if the lower file fails; the charge then matches the
    /// bytes written so far.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8], below: Option<&dyn File>) -> Result<()> {
        let mut rest = bytes;
        for (index, from, to) in pieces(offset, bytes.len() as u64) {
            let (piece, after) = rest.split_at((to - from) as usize);
            rest = after;
            let growth = self.growth(index * CHUNK + from, to - from);
            match self.chunks.get_mut(&index) {
                // A shared chunk that is overwritten completely need not be copied.
                Some(chunk) if from == 0 && to >= chunk.len() as u64 && Arc::strong_count(chunk) > 1 => {
                    *chunk = Arc::new(piece.into());
                }
                Some(chunk) => Arc::make_mut(chunk).put(from, to, piece),
                None => {
                    let mut chunk = if from > 0 || to < self.lower_len(index) {
                        self.copy_lower(index, below)?
                    } else if self.is_filled_in_order(index) {
                        Chunk::whole()
                    } else {
                        Chunk::default()
                    };
                    chunk.put(from, to, piece);
                    self.chunks.insert(index, Arc::new(chunk));
                }
            }
            self.charged += growth;
            self.len = self.len.max(index * CHUNK + to);
        }
        Ok(())
    }

    /// Truncates or extends, and returns the bytes that are no longer charged.
    pub(super) fn set_len(&mut self, len: u64) -> u64 {
        let before = self.charged;
        if len == 0 {
            *self = Content::default();
            return before;
        }
        while let Some(&last) = self.chunks.last_key()
            && last >= len.div_ceil(CHUNK)
        {
            if let Some(chunk) = self.chunks.remove(&last) {
                self.charged -= blocks(chunk.len() as u64);
            }
        }
        let keep = len % CHUNK;
        // Checks first, because `get_mut` copies shared nodes.
        if let Some(chunk) = self.chunks.get(&(len / CHUNK))
            && chunk.len() as u64 > keep
        {
            self.charged -= blocks(chunk.len() as u64) - blocks(keep);
            // A new vector instead of `truncate`, which would keep the memory that is no longer charged.
            let kept = Arc::new(chunk[..keep as usize].into());
            self.chunks.insert(len / CHUNK, kept);
        }
        if let Some(below) = &mut self.below {
            below.len = below.len.min(len);
        }
        self.len = len;
        before - self.charged
    }

    /// Returns true if a new chunk is likely to become a whole one. A file that is written from its start gets whole
    /// chunks; a chunk that grows piece by piece is copied five times. A whole chunk behind a whole chunk at most
    /// doubles the memory that is charged. Elsewhere, one byte in each of many files must not cost a chunk each.
    fn is_filled_in_order(&self, index: u64) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.chunks.get(&before));
        before.is_some_and(|chunk| chunk.len() as u64 == CHUNK)
    }

    /// Returns how many bytes of the lower file show in a chunk that was never written.
    fn lower_len(&self, index: u64) -> u64 {
        let shown = self.below.as_ref().map_or(0, |below| below.len);
        shown.saturating_sub(index * CHUNK).min(CHUNK)
    }

    /// Returns a copy of the lower content of a chunk that was never written.
    fn copy_lower(&self, index: u64, below: Option<&dyn File>) -> Result<Chunk> {
        let (start, len) = (index * CHUNK, self.lower_len(index));
        let mut bytes = vec![0; len as usize];
        self.read_lower(start, start + len, below, &mut |at, piece| {
            let at = (at - start) as usize;
            bytes[at..at + piece.len()].copy_from_slice(piece);
        })?;
        Ok(bytes.as_slice().into())
    }
}

/// Returns `len` rounded up to whole blocks.
pub(in crate::vfs) fn blocks(len: u64) -> u64 {
    len.div_ceil(BLOCK) * BLOCK
}

/// Returns the last block boundary before `end`.
pub(in crate::vfs) fn block_before(end: u64) -> u64 {
    end.saturating_sub(1) / BLOCK * BLOCK
}

/// Splits a range into parts of one chunk each: the index of the chunk, and the start and end within it.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let end = offset + len;
    let indices = if len == 0 { 0..0 } else { offset / CHUNK..(end - 1) / CHUNK + 1 };
    indices.map(move |index| {
        let start = index * CHUNK;
        (index, offset.max(start) - start, end.min(start + CHUNK) - start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &Content, offset: u64, max: usize) -> Bytes {
        content.read(offset, max, None).unwrap()
    }

    fn write(content: &mut Content, offset: u64, bytes: &[u8]) {
        content.write(offset, bytes, None).unwrap();
    }

    #[test]
    fn holes_read_as_zeros_and_cost_nothing() {
        let mut content = Content::default();
        assert_eq!(content.set_len(90 << 20), 0);
        assert_eq!((content.len(), content.charged()), (90 << 20, 0));
        assert_eq!(read(&content, 80 << 20, 5).as_ref(), [0; 5]);
        write(&mut content, 3 * CHUNK - 2, b"abcd");
        assert_eq!(content.charged(), CHUNK + BLOCK);
        assert_eq!(read(&content, 3 * CHUNK - 4, 8).as_ref(), b"\0\0abcd\0\0");
        assert_eq!(read(&content, (90 << 20) - 3, 100).as_ref(), [0; 3]);
        assert_eq!(read(&content, 90 << 20, 100).len(), 0);
        assert_eq!(read(&content, u64::MAX, 100).len(), 0);
    }

    #[test]
    fn truncated_bytes_do_not_come_back() {
        let mut content = Content::default();
        write(&mut content, 0, &[7; 3 * CHUNK as usize]);
        assert_eq!(content.charged(), 3 * CHUNK);
        assert_eq!(content.set_len(CHUNK + 1), 2 * CHUNK - BLOCK);
        content.set_len(3 * CHUNK);
        assert_eq!(read(&content, CHUNK - 1, 4).as_ref(), [7, 7, 0, 0]);
        assert_eq!(content.charged(), CHUNK + BLOCK);
        assert_eq!(content.set_len(0), CHUNK + BLOCK);
        assert_eq!((content.charged(), content.chunks.len()), (0, 0));
    }

    #[test]
    fn growth_tells_what_a_write_will_charge() {
        let mut content = Content::default();
        let mut charged = 0;
        for (offset, len) in [(0, 1), (1, 600), (CHUNK - 1, 2), (5 * CHUNK, CHUNK), (100, 100), (0, 0)] {
            charged += content.growth(offset, len);
            write(&mut content, offset, &vec![1; len as usize]);
            assert_eq!(content.charged(), charged, "{offset} {len}");
            let stored = content.chunks.iter();
            let stored = stored.map(|(_, chunk)| blocks(chunk.len() as u64));
            assert_eq!(charged, stored.sum::<u64>());
        }
    }

    #[test]
    fn a_write_fits_as_many_blocks_as_there_is_room_for() {
        let mut content = Content::below("f".into(), 2 * CHUNK + 700);
        content.write(5 * CHUNK + 3, &[1; 2000], None).unwrap();
        content.write(7 * CHUNK, &[1; CHUNK as usize], None).unwrap();
        for offset in [0, 1, CHUNK - 1, 2 * CHUNK + 600, 5 * CHUNK, 5 * CHUNK + 1500, 5 * CHUNK + 4000, 7 * CHUNK] {
            for len in [1, 511, 3000, CHUNK, 3 * CHUNK + 5] {
                for room in (0..200).map(|n| n * 900).chain([3 * CHUNK, 9 * CHUNK]) {
                    let fit = content.fit(offset, len, room);
                    assert!(fit <= len && content.growth(offset, fit) <= room, "{offset} {len} {room}: {fit}");
                    let more = ((offset + fit) / BLOCK * BLOCK + BLOCK - offset).min(len);
                    assert!(fit == len || content.growth(offset, more) > room, "{offset} {len} {room}: {fit}");
                }
            }
        }
    }

    #[test]
    fn a_copy_shares_chunks_until_one_side_writes() {
        let mut content = Content::default();
        write(&mut content, 0, &[1; 3 * CHUNK as usize]);
        let copy = content.clone();
        write(&mut content, 0, b"x");
        write(&mut content, CHUNK, &[2; CHUNK as usize]);
        assert_eq!((read(&copy, 0, 1).as_ref(), read(&content, 0, 1).as_ref()), (&[1][..], &b"x"[..]));
        assert_eq!(read(&copy, CHUNK, 1).as_ref(), [1]);
        let is_shared = |index: u64| {
            let chunk = |content: &Content| Arc::clone(content.chunks.get(&index).unwrap());
            Arc::ptr_eq(&chunk(&copy), &chunk(&content))
        };
        assert_eq!([0, 1, 2].map(is_shared), [false, false, true]);
    }
}
