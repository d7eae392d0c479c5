//! BLAKE2b without a key, as RFC 7693 describes it.

/// A hash that is being made.
pub(super) struct Blake2b {
    state: [u64; 8],
    block: [u8; 128],
    filled: usize,
    total: u128,
    length: usize,
}

const IV: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

impl Blake2b {
    /// A hash of so many bytes, 1 to 64.
    pub(super) fn new(length: usize) -> Blake2b {
        let mut state = IV;
        state[0] ^= 0x0101_0000 ^ length as u64;
        Blake2b { state, block: [0; 128], filled: 0, total: 0, length }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            // The last block is told apart, so that a full one waits until there is more.
            if self.filled == 128 {
                self.total += 128;
                let block = self.block;
                self.compress(&block, false);
                self.filled = 0;
            }
            let count = bytes.len().min(128 - self.filled);
            self.block[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.total += self.filled as u128;
        let mut block = self.block;
        block[self.filled..].fill(0);
        self.compress(&block, true);
        let mut bytes: Vec<u8> = self.state.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.length);
        bytes
    }

    fn compress(&mut self, block: &[u8; 128], last: bool) {
        let mut words = [0u64; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        let mut v = [0u64; 16];
        v[..8].copy_from_slice(&self.state);
        v[8..].copy_from_slice(&IV);
        v[12] ^= self.total as u64;
        v[13] ^= (self.total >> 64) as u64;
        if last {
            v[14] = !v[14];
        }
        for round in 0..12 {
            let s = &SIGMA[round % 10];
            mix(&mut v, [0, 4, 8, 12], words[s[0]], words[s[1]]);
            mix(&mut v, [1, 5, 9, 13], words[s[2]], words[s[3]]);
            mix(&mut v, [2, 6, 10, 14], words[s[4]], words[s[5]]);
            mix(&mut v, [3, 7, 11, 15], words[s[6]], words[s[7]]);
            mix(&mut v, [0, 5, 10, 15], words[s[8]], words[s[9]]);
            mix(&mut v, [1, 6, 11, 12], words[s[10]], words[s[11]]);
            mix(&mut v, [2, 7, 8, 13], words[s[12]], words[s[13]]);
            mix(&mut v, [3, 4, 9, 14], words[s[14]], words[s[15]]);
        }
        for (index, word) in self.state.iter_mut().enumerate() {
            *word ^= v[index] ^ v[index + 8];
        }
    }
}

#[inline(always)]
fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], x: u64, y: u64) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}
