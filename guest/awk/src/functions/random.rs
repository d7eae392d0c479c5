//! `rand`: BSD's additive feedback generator with a shuffle table. A seed gives the same sequence as in gawk.

/// The size of the generator's state, and the distance of the two numbers that it adds.
const DEGREE: usize = 63;
const DISTANCE: usize = 1;
/// The size of the shuffle table. Each number returned selects the next one.
const SHUFFLED: usize = 512;
/// One more than the largest number.
const RANGE: f64 = 2_147_483_648.0;

pub(crate) struct Random {
    state: [u32; DEGREE],
    front: usize,
    rear: usize,
    /// The shuffle table, and the position of the next number in it.
    table: Vec<u32>,
    position: usize,
    seed: f64,
    /// The state is computed on first use, since that takes longer than many programs run.
    is_ready: bool,
}

impl Random {
    pub(crate) fn new(seed: u32) -> Random {
        Random {
            state: [0; DEGREE],
            front: 0,
            rear: 0,
            table: Vec::new(),
            position: 0,
            seed: f64::from(seed),
            is_ready: false,
        }
    }

    /// Sets the seed and returns the previous one.
    pub(crate) fn seed(&mut self, seed: f64) -> f64 {
        self.is_ready = false;
        std::mem::replace(&mut self.seed, seed)
    }

    fn prepare(&mut self, seed: u32) {
        let mut word = seed;
        self.state[0] = word;
        for slot in &mut self.state[1..] {
            word = following(word);
            *slot = word;
        }
        (self.front, self.rear) = (DISTANCE, 0);
        self.table = (0..SHUFFLED).map(|_| self.raw()).collect();
        self.position = self.raw() as usize % SHUFFLED;
        for _ in 0..10 * DEGREE {
            self.word();
        }
        self.is_ready = true;
    }

    fn word(&mut self) -> u32 {
        let fresh = self.raw();
        let word = std::mem::replace(&mut self.table[self.position], fresh);
        self.position = word as usize % SHUFFLED;
        word
    }

    fn raw(&mut self) -> u32 {
        self.state[self.front] = self.state[self.front].wrapping_add(self.state[self.rear]);
        let word = self.state[self.front] >> 1;
        self.front = (self.front + 1) % DEGREE;
        self.rear = (self.rear + 1) % DEGREE;
        word
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub(crate) fn next(&mut self) -> f64 {
        if !self.is_ready {
            self.prepare(self.seed as i64 as u32);
        }
        loop {
            let low = f64::from(self.word()) / RANGE;
            let number = 0.5 + (low + f64::from(self.word())) / RANGE - 0.5;
            if number < 1.0 {
                return number;
            }
        }
    }
}

/// Returns 16807 times the number modulo 2^31 - 1. Zero is replaced, since it would stay zero.
fn following(word: u32) -> u32 {
    let word = if word == 0 { 123_459_876 } else { i64::from(word as i32) };
    let next = 16807 * (word % 127_773) - 2836 * (word / 127_773);
    (if next < 0 { next + 0x7fff_ffff } else { next }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from gawk 5.2.
    #[test]
    fn seeds_give_known_numbers() {
        let mut random = Random::new(1);
        assert!((random.next() - 0.924_045_815_399_125).abs() < 1e-15);
        assert!((random.next() - 0.593_908_619_295_878).abs() < 1e-15);
        assert_eq!(random.seed(42.0), 1.0);
        assert!((random.next() - 0.24632).abs() < 1e-5);
    }
}
