//! `echo`: a line of text.

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};

/// `echo`.
pub(crate) const PROGRAM: Program = Program {
    name: "echo",
    operands: &["[SHORT-OPTION]... [STRING]...", "LONG-OPTION"],
    about: "Write the STRINGs to standard output, separated by spaces and ended by a newline.\n\n  \
            -n   without the newline\n  \
            -e   with backslash escapes: \\\\ \\a \\b \\c \\e \\f \\n \\r \\t \\v \\0NNN \\xHH\n  \
            -E   without backslash escapes (default)",
    syntax: Syntax::Plain,
    options: &[],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let (mut newline, mut escapes) = (true, false);
    let mut strings = call.operands.as_slice();
    // An argument with any other letter is text, not a wrong option.
    while let Some((first, rest)) = strings.split_first() {
        let letters = match first.strip_prefix('-') {
            Some(letters) if !letters.is_empty() && letters.bytes().all(|b| b"neE".contains(&b)) => letters,
            _ => break,
        };
        for letter in letters.bytes() {
            match letter {
                b'n' => newline = false,
                letter => escapes = letter == b'e',
            }
        }
        strings = rest;
    }
    let mut out = Out::new();
    for (index, string) in strings.iter().enumerate() {
        if index > 0 {
            out.byte(b' ');
        }
        if !escapes {
            out.push(string.as_bytes());
        } else if !expand(string.as_bytes(), &mut out) {
            return call.finish(out, 0);
        }
    }
    if newline {
        out.byte(b'\n');
    }
    call.finish(out, 0)
}

/// Writes a string with its escapes replaced. Returns false at `\c`, which ends all output.
fn expand(mut rest: &[u8], out: &mut Out) -> bool {
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escape = match (byte, after.first()) {
            (b'\\', Some(&escape)) => escape,
            _ => {
                out.byte(byte);
                continue;
            }
        };
        rest = &after[1..];
        match escape {
            b'\\' => out.byte(b'\\'),
            b'a' => out.byte(7),
            b'b' => out.byte(8),
            b'c' => return false,
            b'e' => out.byte(27),
            b'f' => out.byte(12),
            b'n' => out.byte(b'\n'),
            b'r' => out.byte(b'\r'),
            b't' => out.byte(b'\t'),
            b'v' => out.byte(11),
            b'0' => out.byte(number(&mut rest, 8, 3).unwrap_or(0)),
            // GNU's reads `\1` to `\7` as octal too.
            b'1'..=b'7' => {
                rest = after;
                out.byte(number(&mut rest, 8, 3).unwrap_or(0));
            }
            b'x' => match number(&mut rest, 16, 2) {
                Some(byte) => out.byte(byte),
                None => out.push(b"\\x"),
            },
            other => out.push(&[b'\\', other]),
        }
    }
    true
}

/// Takes up to `most` digits. A number over 255 keeps its low eight bits.
fn number(rest: &mut &[u8], base: u32, most: usize) -> Option<u8> {
    let length = rest.iter().take(most).take_while(|&&byte| (byte as char).is_digit(base)).count();
    let (digits, after) = rest.split_at(length);
    *rest = after;
    let add = |value: u32, &byte: &u8| value * base + (byte as char).to_digit(base).unwrap_or(0);
    (length > 0).then(|| digits.iter().fold(0, add) as u8)
}
