//! The bytes of a file, in chunks; a chunk that was never written is not there and costs nothing.
//!
//! What is charged is what is stored, in whole blocks, not the file's length: `truncate -s 90M` is free. Blocks are
//! counted because a chunk with one byte in it costs the host far more than a byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

/// Bytes of a chunk: as large as the largest write, so that a copy through the kernel touches one or two chunks, and
/// small enough that copying a shared one is cheap.
const CHUNK: u64 = 64 << 10;

/// Bytes of a block, the unit of `st_blocks`. It is more than the host spends on keeping a chunk.
const BLOCK: u64 = 512;

/// The content of a file.
#[derive(Clone, Default)]
pub(super) struct Content {
    len: u64,
    /// Chunks by their index. One may be shorter than `CHUNK`; what is missing reads as zeros. Shared, so that a copy
    /// of a file system need not copy them.
    chunks: BTreeMap<u64, Arc<Vec<u8>>>,
    charged: u64,
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes that are stored, in whole blocks.
    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    pub(super) fn read(&self, offset: u64, max: usize) -> Bytes {
        let end = offset.saturating_add(max as u64).min(self.len);
        if offset >= end {
            return Bytes::new();
        }
        let mut bytes = BytesMut::zeroed((end - offset) as usize);
        for (&index, chunk) in self.chunks.range(offset / CHUNK..=(end - 1) / CHUNK) {
            let start = index * CHUNK;
            let from = offset.max(start);
            let to = end.min(start + chunk.len() as u64);
            if from < to {
                bytes[(from - offset) as usize..(to - offset) as usize]
                    .copy_from_slice(&chunk[(from - start) as usize..(to - start) as usize]);
            }
        }
        bytes.freeze()
    }

    /// How many more bytes will be charged after a write of `len` bytes at `offset`.
    pub(super) fn growth(&self, offset: u64, len: u64) -> u64 {
        pieces(offset, len).map(|(index, _, to)| blocks(to).saturating_sub(blocks(self.chunk_len(index)))).sum()
    }

    /// Writes; the caller has reserved the growth.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.charged += self.growth(offset, bytes.len() as u64);
        let mut rest = bytes;
        for (index, from, to) in pieces(offset, bytes.len() as u64) {
            let (piece, after) = rest.split_at((to - from) as usize);
            rest = after;
            let chunk = Arc::make_mut(self.chunks.entry(index).or_default());
            if (chunk.len() as u64) < to {
                reserve(chunk, to as usize);
                chunk.resize(to as usize, 0);
            }
            chunk[from as usize..to as usize].copy_from_slice(piece);
        }
        self.len = self.len.max(offset + bytes.len() as u64);
    }

    /// Cuts or extends; answers how many bytes are no longer charged.
    pub(super) fn set_len(&mut self, len: u64) -> u64 {
        let before = self.charged;
        for chunk in self.chunks.split_off(&len.div_ceil(CHUNK)).values() {
            self.charged -= blocks(chunk.len() as u64);
        }
        let keep = len % CHUNK;
        if let Some(chunk) = self.chunks.get_mut(&(len / CHUNK))
            && chunk.len() as u64 > keep
        {
            self.charged -= blocks(chunk.len() as u64) - blocks(keep);
            // A new vector and not `truncate`: that would keep the memory which is no longer charged.
            *chunk = Arc::new(chunk[..keep as usize].to_vec());
        }
        self.len = len;
        before - self.charged
    }

    fn chunk_len(&self, index: u64) -> u64 {
        self.chunks.get(&index).map_or(0, |chunk| chunk.len() as u64)
    }
}

/// `len` in whole blocks.
pub(super) fn blocks(len: u64) -> u64 {
    len.div_ceil(BLOCK) * BLOCK
}

/// The last border between two blocks that is before `end`.
pub(super) fn block_before(end: u64) -> u64 {
    end.saturating_sub(1) / BLOCK * BLOCK
}

/// The parts of a range that lie in one chunk each: the chunk's index, and where the part starts and ends in it.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let end = offset + len;
    let indices = if len == 0 { 0..0 } else { offset / CHUNK..(end - 1) / CHUNK + 1 };
    indices.map(move |index| {
        let start = index * CHUNK;
        (index, offset.max(start) - start, end.min(start + CHUNK) - start)
    })
}

/// Makes room for `len` bytes. Twice as much as before, so that a file written line by line is not copied at each
/// line; never more than a chunk.
fn reserve(chunk: &mut Vec<u8>, len: usize) {
    if chunk.capacity() < len {
        let capacity = len.max(chunk.capacity() * 2).min(CHUNK as usize);
        chunk.reserve_exact(capacity - chunk.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_read_as_zeros_and_cost_nothing() {
        let mut content = Content::default();
        assert_eq!(content.set_len(90 << 20), 0);
        assert_eq!((content.len(), content.charged()), (90 << 20, 0));
        assert_eq!(content.read(80 << 20, 5).as_ref(), [0; 5]);
        content.write(3 * CHUNK - 2, b"abcd");
        assert_eq!(content.charged(), CHUNK + BLOCK);
        assert_eq!(content.read(3 * CHUNK - 4, 8).as_ref(), b"\0\0abcd\0\0");
        assert_eq!(content.read((90 << 20) - 3, 100).as_ref(), [0; 3]);
        assert_eq!(content.read(90 << 20, 100).len(), 0);
        assert_eq!(content.read(u64::MAX, 100).len(), 0);
    }

    #[test]
    fn what_is_cut_off_does_not_come_back() {
        let mut content = Content::default();
        content.write(0, &[7; 3 * CHUNK as usize]);
        assert_eq!(content.charged(), 3 * CHUNK);
        assert_eq!(content.set_len(CHUNK + 1), 2 * CHUNK - BLOCK);
        content.set_len(3 * CHUNK);
        assert_eq!(content.read(CHUNK - 1, 4).as_ref(), [7, 7, 0, 0]);
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
            content.write(offset, &vec![1; len as usize]);
            assert_eq!(content.charged(), charged, "{offset} {len}");
            assert_eq!(charged, content.chunks.values().map(|chunk| blocks(chunk.len() as u64)).sum::<u64>());
        }
    }

    #[test]
    fn a_copy_shares_chunks_until_one_side_writes() {
        let mut content = Content::default();
        content.write(0, &[1; 2 * CHUNK as usize]);
        let copy = content.clone();
        content.write(0, b"x");
        assert_eq!((copy.read(0, 1).as_ref(), content.read(0, 1).as_ref()), (&[1][..], &b"x"[..]));
        assert!(!Arc::ptr_eq(&copy.chunks[&0], &content.chunks[&0]));
        assert!(Arc::ptr_eq(&copy.chunks[&1], &content.chunks[&1]));
    }
}
