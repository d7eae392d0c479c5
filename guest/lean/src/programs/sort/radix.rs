//! Lines in the order of their bytes.
//!
//! Seven bytes of each line are sorted as one number, and for equal numbers the next seven. So lines are never compared
//! with each other: each is visited once for every seven bytes that it shares with another, and all other work is on
//! numbers that lie side by side in memory.

use super::lines::Line;

/// Bytes of a line in a number. The eighth byte is their count, or `MORE`.
const DIGITS: usize = 7;
/// The last byte of a number if the line goes on.
const MORE: u64 = DIGITS as u64 + 1;

/// Sorts lines of `bytes`.
pub(super) fn sort(bytes: &[u8], lines: &mut [Line]) {
    let shared = shared_start(bytes, lines);
    for line in lines.iter_mut() {
        line.hint = number(bytes, line, shared);
    }
    // A list in place of recursion: lines may be alike for megabytes.
    let mut todo = vec![(0, lines.len(), shared)];
    while let Some((start, end, depth)) = todo.pop() {
        lines[start..end].sort_unstable_by_key(|line| line.hint);
        let mut first = start;
        while first < end {
            let hint = lines[first].hint;
            let count = lines[first..end].iter().take_while(|line| line.hint == hint).count();
            if count > 1 && hint & 0xff == MORE {
                let depth = depth + DIGITS;
                for line in &mut lines[first..first + count] {
                    line.hint = number(bytes, line, depth);
                }
                todo.push((first, first + count, depth));
            }
            first += count;
        }
    }
}

/// Returns the length of the common start of all lines.
fn shared_start(bytes: &[u8], lines: &[Line]) -> usize {
    let text = |line: &Line| &bytes[line.start as usize..][..line.length as usize];
    let Some(mut shared) = lines.first().map(text) else { return 0 };
    for line in lines {
        let line = text(line);
        if !line.starts_with(shared) {
            let same = shared.iter().zip(line).take_while(|(a, b)| a == b).count();
            shared = &shared[..same];
        }
    }
    shared.len()
}

/// Returns seven bytes of a line from `depth` on, and their count, as a number. It orders lines with a common start.
fn number(bytes: &[u8], line: &Line, depth: usize) -> u64 {
    let rest = &bytes[line.start as usize + depth..];
    let length = line.length as usize - depth;
    let digits = match rest.first_chunk() {
        Some(digits) => u64::from_be_bytes(*digits),
        None => {
            let mut digits = [0; 8];
            digits[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(digits)
        }
    };
    match length {
        0 => 0,
        1..=DIGITS => digits >> (64 - 8 * length) << (64 - 8 * length) | length as u64,
        _ => digits & !0xff | MORE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_in_the_order_of_their_bytes() {
        let long = "x".repeat(50);
        let words = ["", "\0", "\0\0", "a", "a\0", "ab", "abcdefg", "abcdefgh", "abcdefg\0", "\u{7f}", "é", &long];
        for shared in ["", "same start ", &long] {
            let mut expected: Vec<String> =
                words.iter().flat_map(|a| words.map(|b| format!("{shared}{a}{b}"))).collect();
            let text = expected.join("\n");
            let mut start = 0;
            let mut lines: Vec<Line> = text
                .split('\n')
                .map(|line| {
                    let length = line.len() as u32;
                    start += length + 1;
                    Line { start: start - length - 1, length, hint: 0 }
                })
                .collect();
            sort(text.as_bytes(), &mut lines);
            expected.sort();
            let sorted: Vec<&str> =
                lines.iter().map(|line| &text[line.start as usize..][..line.length as usize]).collect();
            assert_eq!(sorted, expected);
        }
    }
}
