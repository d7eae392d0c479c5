//! A random generator that gives the same values for the same seed, and prefers the ends of ranges.

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // Zero would stay zero.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns any number, and those at the ends of ranges more often than others.
    pub(crate) fn number(&mut self) -> u64 {
        const ENDS: [u64; 12] =
            [0, 1, 2, 7, 255, 4096, 65_535, 65_536, i32::MAX as u64, u32::MAX as u64, i64::MAX as u64, u64::MAX];
        match self.below(3) {
            0 => self.next(),
            1 => self.below(16),
            _ => ENDS[self.below(ENDS.len() as u64) as usize],
        }
    }

    /// Returns one of these.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}
