//! A chunk of a file's bytes, and the free list that whole ones come from and go back to.
//!
//! Fresh memory costs a page fault for each 4 KiB, which is more than copying those bytes: a file of 1 MiB that is
//! written, cut and written again spent two thirds of its time on faults, because the allocator gives memory of that
//! size back to the host at once. A few whole chunks are kept instead. They carry no bytes from one file to the next:
//! a buffer from the list is empty, and what it grows by is written first.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::content::CHUNK;

/// Whole chunks that are kept: 4 MiB for all sandboxes of the host together.
const KEPT: usize = 64;

/// Guards the free buffers, each empty and with room for exactly a whole chunk. Nothing else is locked under it.
static FREE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Some bytes of a file, at most `CHUNK`.
#[derive(Default)]
pub(super) struct Chunk(Vec<u8>);

impl Chunk {
    /// An empty chunk that will be filled to its end.
    pub(super) fn whole() -> Chunk {
        let kept = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Chunk(kept.unwrap_or_else(|| Vec::with_capacity(CHUNK as usize)))
    }

    /// Puts a piece between `from` and `to`; the chunk grows if it has to. Its room grows to twice as much as before, so
    /// that a file written line by line is not copied at each line; never to more than a whole chunk.
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
            if free.len() < KEPT {
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
        for _ in 0..2 * KEPT {
            drop(Chunk::from(&[7; CHUNK as usize][..]));
            let mut next = Chunk::whole();
            assert_eq!(next.len(), 0);
            next.put(CHUNK - 1, CHUNK, b"x");
            assert!(next[..CHUNK as usize - 1].iter().all(|&byte| byte == 0));
        }
    }
}
