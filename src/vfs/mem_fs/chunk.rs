//! A chunk of file content, and the free list of whole chunks.
//!
//! Fresh memory costs a page fault for each 4 KiB, which is more than copying those bytes. A file of 1 MiB that was
//! written, truncated and written again spent two thirds of its time on faults, because the allocator returns memory of
//! that size to the host at once. Therefore a few whole chunks stay allocated. They carry no bytes from one file to the
//! next: a buffer from the list is empty, and every byte it grows by is written first.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::content::CHUNK;

/// Number of whole chunks in the free list: 4 MiB for all sandboxes of the host together.
const FREE_CHUNKS: usize = 64;

/// Guards the free buffers. Each is empty and has the capacity of a whole chunk. No other lock is taken under it.
static FREE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// At most `CHUNK` bytes of a file.
#[derive(Default)]
pub(super) struct Chunk(Vec<u8>);

impl Chunk {
    /// Returns an empty chunk with the capacity of a whole one.
    pub(super) fn whole() -> Chunk {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Chunk(free.unwrap_or_else(|| Vec::with_capacity(CHUNK as usize)))
    }

    /// Writes a piece from `from` to `to`; the chunk grows if necessary. Its capacity doubles, so that a file written
    /// line by line is not copied at each line, but never exceeds a whole chunk.
    pub(super) fn put(&mut self, from: u64, to: u64, piece: &[u8]) {
        let (from, to) = (from as usize, to as usize);
        if self.0.capacity() < to {
            self.grow(to.max(self.0.capacity() * 2));
        }
        if from >= self.0.len() {
            self.0.resize(from, 0);
            self.0.extend_from_slice(piece);
        } else {
            self.0.resize(self.0.len().max(to), 0);
            self.0[from..to].copy_from_slice(piece);
        }
    }

    fn grow(&mut self, capacity: usize) {
        if capacity < CHUNK as usize {
            self.0.reserve_exact(capacity - self.0.len());
        } else {
            let mut whole = Chunk::whole();
            whole.0.extend_from_slice(&self.0);
            *self = whole;
        }
    }
}

impl From<&[u8]> for Chunk {
    fn from(bytes: &[u8]) -> Chunk {
        let mut chunk = Chunk::default();
        chunk.put(0, bytes.len() as u64, bytes);
        chunk
    }
}

impl Clone for Chunk {
    fn clone(&self) -> Chunk {
        Chunk::from(&**self)
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if self.0.capacity() == CHUNK as usize {
            let mut bytes = std::mem::take(&mut self.0);
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            if free.len() < FREE_CHUNKS {
                bytes.clear();
                free.push(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_what_was_put_there_and_zeros() {
        let mut chunk = Chunk::default();
        chunk.put(3, 5, b"ab");
        chunk.put(4, 7, b"cde");
        assert_eq!(&*chunk, b"\0\0\0acde");
        chunk.put(CHUNK - 1, CHUNK, b"z");
        assert_eq!((chunk.len() as u64, &chunk[..8]), (CHUNK, &b"\0\0\0acde\0"[..]));
    }

    #[test]
    fn nothing_of_a_chunk_is_seen_in_the_next() {
        for _ in 0..2 * FREE_CHUNKS {
            drop(Chunk::from(&[7; CHUNK as usize][..]));
            let mut next = Chunk::whole();
            assert_eq!(next.len(), 0);
            next.put(CHUNK - 1, CHUNK, b"x");
            assert!(next[..CHUNK as usize - 1].iter().all(|&byte| byte == 0));
        }
    }
}
