//! Texts that make the parser read the same bytes repeatedly, or nest without end. Each takes a fraction of a second;
//! if the time were worse than linear in the length, it would take minutes.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::time::{Duration, Instant};

use isopod_syntax::Parser;

/// Bytes of a text. Large enough that quadratic time shows without optimisation.
const SIZE: usize = 200_000;

/// Time limit without optimisation, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prefix and text; the text is repeated to `SIZE`.
const REPEATED: [(&str, &str); 26] = [
    ("", "((a) # ((((\n)\n"),
    ("", "((a) '(' "),
    ("", "$((a) # ((((\n)\n"),
    ("", "echo $((x) # (((\n) "),
    ("", "((' "),
    ("export ", "a[ "),
    ("x=(", "[ "),
    ("x=(", "['' "),
    ("", "a[\n"),
    ("echo ", "{"),
    ("", "{x} "),
    ("", "{x[ "),
    ("echo ", "${a["),
    ("echo ", "${#a["),
    ("[[ ", "a && "),
    ("", "<<E "),
    ("", "cat <<E $(x) "),
    ("", "\\\n"),
    ("", "`a` "),
    ("", "1"),
    ("", "! "),
    ("", "if "),
    ("", "x() "),
    ("function x ", "function x "),
    ("", "coproc "),
    ("case x in ", "a) ;; "),
];

/// Opening and closing text, which is put around itself.
const NESTED: [(&str, &str); 12] = [
    ("export a={$(", ")}"),
    ("coproc $(", ") x"),
    ("${#x[", "]y}"),
    ("${x[", "]y}"),
    ("((a); echo $(", "))"),
    ("$((1+$(", ")))"),
    ("x=([$(", ")]=1)"),
    ("\"${x-\"$(", ")\"}\""),
    ("<(", ")"),
    ("[[ $(", ") == x ]]"),
    ("f() { echo '' $(", "); }"),
    ("case $(", ") in x) y;; esac"),
];

fn parse(text: String) {
    let mut parser = Parser::new(text, 1);
    while let Ok(Some(_)) = parser.next_command() {}
}

/// Runs the work with more stack: natively a level of nesting takes more than in the program, and the thread of a test
/// has little.
fn with_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

fn timed(what: String, text: String) {
    let begin = Instant::now();
    parse(text);
    let took = begin.elapsed();
    assert!(took < PATIENCE, "{took:?} for {what}");
}

#[test]
fn repetition_costs_linear_time() {
    with_stack(|| {
        for (before, piece) in REPEATED {
            timed(format!("{before:?} {piece:?}"), format!("{before}{}", piece.repeat(SIZE / piece.len())));
        }
        let braces = SIZE / 2;
        timed("braces in braces".to_owned(), format!("echo {}{}", "{".repeat(braces), "}".repeat(braces)));
    });
}

#[test]
fn nesting_costs_linear_time_and_bounded_stack() {
    with_stack(|| {
        for (open, close) in NESTED {
            for depth in [30, 150, SIZE / open.len()] {
                timed(format!("{open:?} {depth}"), format!("{}{}", open.repeat(depth), close.repeat(depth)));
            }
        }
    });
}
