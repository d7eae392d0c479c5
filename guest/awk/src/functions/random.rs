//! `rand`: the sequence of BSD's additive feedback generator, so that a seed gives the numbers that gawk gives.

/// The generator adds the number that is this far back to the one before that.
const DEGREE: usize = 63;
const DISTANCE: usize = 1;
/// One more than the greatest number.
const RANGE: f64 = 2_147_483_648.0;

pub(crate) struct Random {
    state: [u32; DEGREE],
    front: usize,
    rear: usize,
    seed: f64,
    /// Making the state takes longer than many programs run.
    is_ready: bool,
}

impl Random {
    pub(crate) fn new(seed: u32) -> Random {
        Random { state: [0; DEGREE], front: 0, rear: 0, seed: f64::from(seed), is_ready: false }
    }

    /// Sets the seed and returns the one before.
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
        for _ in 0..10 * DEGREE {
            self.word();
        }
        self.is_ready = true;
    }

    fn word(&mut self) -> u32 {
        self.state[self.front] = self.state[self.front].wrapping_add(self.state[self.rear]);
        let word = self.state[self.front] >> 1;
        self.front = (self.front + 1) % DEGREE;
        self.rear = (self.rear + 1) % DEGREE;
        word
    }

    /// A number from 0 up to 1.
    pub(crate) fn next(&mut self) -> f64 {
        if !self.is_ready {
            // The seed that gawk starts with is shown as 0 and is 1.
            let seed = if self.seed == 0.0 { 1 } else { self.seed as i64 as u32 };
            self.prepare(seed);
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

/// 16807 times the number, modulo 2^31 - 1.
fn following(word: u32) -> u32 {
    let word = u64::from(word) % 0x7fff_fffe + 1;
    ((word * 16807 % 0x7fff_ffff) - 1) as u32
}
