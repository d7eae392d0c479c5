//! The targets of `fuzz/` on a stable compiler, with a number of inputs from a seeded generator.
//!
//! `ISOPOD_FUZZ_SECONDS=60` runs each target for that long; `ISOPOD_FUZZ_SEED` sets another seed. A failing input is
//! printed as bytes, and `cargo +nightly fuzz run TARGET FILE` runs it again.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]
#![allow(unreachable_pub, reason = "tests")]

#[path = "../fuzz/bodies/mod.rs"]
mod bodies;
#[path = "../fuzz/bodies/mutant.rs"]
mod mutant;

use std::time::{Duration, Instant};

use mutant::Mutant;

/// An input that takes longer, without optimisation and on a busy machine, hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Byte sequences with a meaning for one of the targets; 0xff separates texts.
const PIECES: [&[u8]; 44] = [
    b"/",
    b"..",
    b".",
    b"//",
    b"a",
    b"b",
    b"*",
    b"**",
    b"?",
    b"[",
    b"]",
    b"[!a-z]",
    b"{a,b}",
    b"{",
    b"}",
    b"\\",
    b"\xff",
    b"\xff",
    b"\0",
    b"\n",
    b"\r\n",
    b"$",
    b"${",
    b"$(",
    b")",
    b"(",
    b"'",
    b"\"",
    b"`",
    b";",
    b"|",
    b"&&",
    b"<<E\n",
    b"E\n",
    b"if ",
    b"then ",
    b"fi",
    b"while ",
    b"do ",
    b"done",
    b"case x in ",
    b"esac",
    b"\xe2\x80\xae",
    b"\x28\xb5\x2f\xfd",
];

fn smoke(name: &str) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (_, body) = bodies::BODIES.iter().find(|(known, _)| *known == name).unwrap();
    let mut random = Random(number("ISOPOD_FUZZ_SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut mutant = Mutant::new(random.0);
    let time = number("ISOPOD_FUZZ_SECONDS").map(Duration::from_secs);
    // Each input of these targets takes a directory, a thread or a whole conversation.
    let least = if ["vfs", "shell", "edit", "http", "mcp"].contains(&name) { 300 } else { 5_000 };
    let (begin, mut count) = (Instant::now(), 0u64);
    while count < least || time.is_some_and(|time| begin.elapsed() < time) {
        let data = match seeds(name) {
            Some(seeds) if random.below(4) > 0 => [&[0], &mutant.disturb(seeds)[..]].concat(),
            _ => random.data(),
        };
        let started = Instant::now();
        let tried = std::panic::catch_unwind(|| body(&data));
        assert!(tried.is_ok(), "{name}, input {count}: {:?}", data.escape_ascii().to_string());
        assert!(started.elapsed() < PATIENCE, "{name} hangs, input {count}: {:?}", data.escape_ascii().to_string());
        count += 1;
    }
    println!("{name}: {count} executions, 0 findings");
}

/// Returns valid messages for targets that read messages.
fn seeds(name: &str) -> Option<&'static [&'static [u8]]> {
    match name {
        #[cfg(feature = "http")]
        "http" => Some(bodies::REQUESTS),
        #[cfg(feature = "mcp")]
        "mcp" => Some(bodies::MESSAGES),
        _ => None,
    }
}

macro_rules! smoke {
    ($($(#[$only:meta])? $test:ident $name:literal;)*) => {
        $($(#[$only])? #[test] fn $test() { smoke($name) })*

        #[test]
        fn every_target_is_tried() {
            let mut targets: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/fuzz_targets"))
                .unwrap()
                .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            targets.sort();
            assert_eq!(targets, [$($name),*]);
            let built: Vec<&str> = bodies::BODIES.iter().map(|(name, _)| *name).collect();
            targets.retain(|name| (cfg!(feature = "http") || name != "http") && (cfg!(feature = "mcp") || name != "mcp"));
            assert_eq!(targets, built);
        }
    };
}

smoke! {
    no_bytes_break_a_snapshot "archive";
    no_edit_does_other_than_it_says "edit";
    no_text_breaks_the_frames_of_a_shell "frames";
    no_pattern_breaks_a_search "glob";
    no_text_leads_a_path_above_the_root "guest_path";
    #[cfg(feature = "http")]
    no_request_breaks_the_http_server "http";
    #[cfg(feature = "mcp")]
    no_frame_breaks_the_mcp_server "mcp";
    no_text_breaks_what_is_planned "plan";
    no_bytes_break_the_shell_s_language "shell";
    no_calls_tell_memory_from_a_directory_of_the_host "vfs";
}

/// A generator that gives the same bytes for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    fn data(&mut self) -> Vec<u8> {
        let mut data = match self.below(4) {
            0 => (0..self.below(300)).map(|_| self.below(256) as u8).collect(),
            1 => (0..self.below(100)).map(|_| b" abc/.*$(){}'\"\n;=x0"[self.below(19)]).collect(),
            _ => (0..self.below(40)).flat_map(|_| PIECES[self.below(PIECES.len())]).copied().collect::<Vec<u8>>(),
        };
        for _ in 0..self.below(4) {
            let at = self.below(data.len() + 1);
            match self.below(3) {
                0 => data.insert(at, self.below(256) as u8),
                1 => data.truncate(at),
                _ => data.extend_from_within(at..),
            }
        }
        data.truncate(4096);
        data
    }
}
