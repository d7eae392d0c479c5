//! Random numbers from a file of random bytes, drawn as GNU's tools draw them: the same source gives the same result.

use std::collections::HashMap;

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd};

/// The numbers that a table of 64 MiB holds.
const DENSE: u64 = 16 << 20;

/// A source of random numbers.
pub(crate) struct Random {
    file: Fd,
    buffer: Vec<u8>,
    at: usize,
    /// A number that is left from the last draw, and the largest it could be.
    left: (u64, u64),
}

impl Random {
    pub(crate) fn open(path: &str) -> Result<Random, Errno> {
        let file = Fd::open(path, OpenFlags::READ, 0)?;
        Ok(Random { file, buffer: Vec::new(), at: 0, left: (0, 0) })
    }

    /// Draws a byte.
    pub(crate) fn byte(&mut self) -> Result<u8, Errno> {
        if self.at == self.buffer.len() {
            self.buffer = self.file.read(4096)?;
            self.at = 0;
            if self.buffer.is_empty() {
                return Err(Errno::Io);
            }
        }
        self.at += 1;
        Ok(self.buffer[self.at - 1])
    }

    /// Draws a number below `count`, all equally likely.
    pub(crate) fn below(&mut self, count: u64) -> Result<u64, Errno> {
        let most = count.saturating_sub(1);
        let (mut number, mut largest) = self.left;
        loop {
            while largest < most {
                number = number << 8 | u64::from(self.byte()?);
                largest = largest << 8 | 255;
            }
            if largest == most {
                self.left = (0, 0);
                return Ok(number);
            }
            // Values beyond the last whole multiple of `count` are not used, or some numbers would be likelier.
            let over = (largest - most) % count;
            let reduced = number % count;
            if number <= largest - over {
                self.left = (number / count, (largest - most) / count);
                return Ok(reduced);
            }
            (number, largest) = (reduced, over - 1);
        }
    }

    /// Returns the numbers below `count` in random order, to be drawn one by one.
    pub(crate) fn order(&self, count: u64, wanted: u64) -> Order {
        // A table of all is quicker if a good part of it is used.
        let places = if count <= DENSE && wanted > count / 32 { (0..count as u32).collect() } else { Vec::new() };
        Order { count, drawn: 0, places, moved: HashMap::new() }
    }
}

/// A permutation, as far as it was drawn. Only numbers that moved are kept, so that a few of many cost little.
pub(crate) struct Order {
    count: u64,
    drawn: u64,
    /// All places, if they are kept as a table.
    places: Vec<u32>,
    moved: HashMap<u64, u64>,
}

impl Order {
    pub(crate) fn next(&mut self, random: &mut Random) -> Result<u64, Errno> {
        let here = self.drawn;
        let other = here + random.below(self.count - here)?;
        self.drawn += 1;
        if !self.places.is_empty() {
            self.places.swap(here as usize, other as usize);
            return Ok(self.places[here as usize].into());
        }
        let value = self.moved.get(&other).copied().unwrap_or(other);
        let first = self.moved.remove(&here).unwrap_or(here);
        if other != here {
            self.moved.insert(other, first);
        }
        Ok(value)
    }
}
