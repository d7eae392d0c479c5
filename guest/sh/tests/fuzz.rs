//! Fuzzing without a tool: texts from a seeded generator go through the parser, the printer, the expansion, patterns,
//! regular expressions and arithmetic. None may panic, hang, or grow without bound.
//!
//! One second of it runs with the other tests. `ISOPOD_FUZZ_SECONDS=300` runs it longer, `ISOPOD_FUZZ_SEED` with other
//! texts. The texts are the shell's cases, cut, spliced and distorted, and random pieces. `fuzz/bodies/shell.rs` has
//! the steps.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, missing_docs, reason = "a test")]

use std::time::{Duration, Instant};

#[allow(dead_code, reason = "a fuzzer hands over bytes, this a text")]
#[path = "../../../fuzz/bodies/shell.rs"]
mod body;

/// Time limit for one text. It takes milliseconds; even without optimisation on a busy machine, a text that takes this
/// long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest text. Errors that need a longer one are errors of size, which have tests of their own.
const LONGEST: usize = 2000;

#[test]
fn no_text_breaks_the_shell() {
    // Natively a level of nesting takes more stack than in the program, and the thread of a test has little.
    let fuzzing = std::thread::Builder::new().stack_size(256 << 20).spawn(fuzz).unwrap();
    fuzzing.join().unwrap();
}

fn fuzz() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = Duration::from_secs(number("ISOPOD_FUZZ_SECONDS").unwrap_or(1));
    let mut random = Random(number("ISOPOD_FUZZ_SEED").unwrap_or(1));
    let corpus = corpus();
    let begin = Instant::now();
    let mut count = 0u64;
    while begin.elapsed() < time {
        let text = random.text(&corpus);
        let started = Instant::now();
        let tried = std::panic::catch_unwind(|| body::try_text(&text));
        let took = started.elapsed();
        assert!(tried.is_ok(), "panic, text {count}: {text:?}");
        assert!(took < PATIENCE, "{took:?}, text {count}: {text:?}");
        count += 1;
    }
    assert!(count > 0);
}

/// The scripts of the cases.
fn corpus() -> Vec<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/shell");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    // The TOML around a script is good noise too.
    texts.flat_map(|text| text.split("[[case]]").map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Pieces that are special to the shell.
const PIECES: [&str; 64] = [
    "$",
    "${",
    "$(",
    "$((",
    "))",
    "}",
    "{",
    "(",
    ")",
    "'",
    "\"",
    "`",
    "\\",
    "\n",
    ";",
    "&",
    "|",
    "<",
    ">",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<(",
    ">&",
    "[[ ",
    " ]]",
    "=~",
    "==",
    "[",
    "]",
    "*",
    "?",
    "@(",
    "!(",
    "+(",
    ":-",
    ":=",
    "//",
    "##",
    "%%",
    "^^",
    "@Q",
    "#",
    "!",
    "~",
    "=",
    "+=",
    "x=(",
    "a[",
    "{1..9}",
    "{a,b}",
    ",",
    "..",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    "f() { ",
    "time ",
    "\u{e9}",
];

/// A generator that repeats its texts for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    fn text(&mut self, corpus: &[String]) -> String {
        let mut text = match self.next(8) {
            0 => (0..self.next(60)).map(|_| PIECES[self.next(PIECES.len())]).collect(),
            1 => (0..self.next(200)).map(|_| char::from(self.next(128) as u8)).collect(),
            2 => PIECES[self.next(PIECES.len())].repeat(1 + self.next(300)),
            // The beginning of one and the end of another.
            3 => {
                let (one, other) = (&corpus[self.next(corpus.len())], &corpus[self.next(corpus.len())]);
                let (cut, join) = (self.boundary(one), self.boundary(other));
                format!("{}{}", &one[..cut], &other[join..])
            }
            _ => corpus[self.next(corpus.len())].clone(),
        };
        for _ in 0..self.next(12) {
            self.mutate(&mut text);
        }
        text.truncate(boundary_before(&text, LONGEST));
        text
    }

    fn mutate(&mut self, text: &mut String) {
        let (from, to) = (self.boundary(text), self.boundary(text));
        let (from, to) = (from.min(to), from.max(to));
        match self.next(5) {
            0 => text.insert_str(from, PIECES[self.next(PIECES.len())]),
            1 => text.replace_range(from..to.min(boundary_before(text, from + 20)).max(from), ""),
            2 if to - from < LONGEST => {
                let piece = text[from..to].to_owned();
                text.insert_str(from, &piece);
            }
            3 => text.insert(from, char::from(self.next(256) as u8)),
            _ => text.truncate(to),
        }
    }

    /// Returns a random position between two characters.
    fn boundary(&mut self, text: &str) -> usize {
        boundary_before(text, self.next(text.len() + 1))
    }
}

fn boundary_before(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
