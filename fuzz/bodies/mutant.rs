//! Almost valid messages: valid ones, mutated by a seeded generator. Each run is the same.

/// Byte sequences with a meaning in JSON or HTTP.
const PIECES: [&[u8]; 20] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\u0000",
    b"\xff",
    b"null",
    b"1e999",
    b"-1",
    b"\"id\":",
    b"\r\n",
    b": ",
    b"../",
    b"%00",
    b"Content-Length: 99999999999",
    b"Transfer-Encoding: chunked",
    b" HTTP/1.1",
];

/// A generator of mutated messages (xorshift64*).
pub struct Mutant(u64);

impl Mutant {
    pub fn new(seed: u64) -> Mutant {
        Mutant(seed | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % bound.max(1)
    }

    /// Returns one of these messages with some bytes changed, removed, doubled or inserted.
    pub fn disturb(&mut self, messages: &[&[u8]]) -> Vec<u8> {
        let mut message = messages[self.below(messages.len())].to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(message.len());
            let end = (at + self.below(12)).min(message.len());
            match self.below(4) {
                0 if at < message.len() => message[at] = self.below(256) as u8,
                1 => drop(message.drain(at..end)),
                2 => message.splice(at..at, PIECES[self.below(PIECES.len())].to_vec()).for_each(drop),
                _ => {
                    let piece = message[at..end].to_vec();
                    message.splice(at..at, piece).for_each(drop);
                }
            }
        }
        message
    }
}
